"""The car's comparison: passive dampers, sky-hook and its relatives, fixed PID and knowledge base, equally well tuned.

    python -m experiments.studies suspension

Figures: `python -m benchmarks.vehicles.figures suspension`. The animation: `python -m experiments.studies
suspension_animation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plants
from experiments.runtime.run_folder import read_record
from experiments.studies.engine import comparison as text
from experiments.studies.engine.changes import Aim
from experiments.studies.engine.comparison import Column, ComparisonText
from experiments.studies.engine.declaration import check_aim
from experiments.studies.engine.study import Study
from experiments.studies.suspension import contributions
from experiments.studies.suspension.families import GROUPS, at_equal_tyre_load, families, group_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.studies.engine.declaration import Declaration
    from experiments.studies.engine.study import Options


def aim_of(declared: Declaration) -> Aim:
    """Return the declared aim."""
    return Aim.of(declared.own["aim"])


class SuspensionStudy(Study):
    """Designs of one plant are pooled."""

    name = "suspension"
    own = {"aim": Aim.names()}  # noqa: RUF012  (read only)

    def declaration(self, path: Path | None = None) -> Declaration:
        """Read the declaration; an aim of what the plants do not have is refused, too."""
        declared = super().declaration(path)
        check_aim(aim_of(declared), [plants.find(plant) for plant in declared.situations], declared.file)
        return declared

    def findings(self, folders: Mapping[str, Path], declared: Declaration) -> list[tuple[str, ComparisonText]]:
        """Return each plant's title and comparison."""
        by_plant: dict[str, list[Path]] = {}
        for name, folder in folders.items():
            by_plant.setdefault(declared.designs[name]["plant"], []).append(folder)
        found = []
        for plant, several in by_plant.items():
            title = f"{self.head['titles'].get(plant, plant)} ({plant}; designs: {len(several)})"
            rollouts = text.read(several, group_of)
            found.append((title, ComparisonText(rollouts, aim_of(declared), GROUPS, self.head["words"])))
        return found

    def section(self, found: tuple[str, ComparisonText], declared: Declaration) -> list[str]:  # noqa: ARG002
        """Return what designs of one plant found as Markdown lines."""
        title, told = found
        columns, tables = [Column(**one) for one in self.head["columns"]], []
        for group, words in GROUPS.items():
            tables += [f"### {words}", "", f"Changes are against {told.title(told.base(group))}.", ""]
            tables += [*text.table(told, group, self.head["measures"], columns), ""]
        ours = self.head["ours"]
        return self.template.lines("plant", {
            "title": title, "conclusion": text.conclusion(told, ours), "designs": text.designs(told),
            "by_fitness": text.by_fitness(told), "outcomes": text.outcomes(told, ours),
            "lost": text.lost(told, "fixed"), "tables": tables,
            "by_situation": text.by_situation(told, self.head["by_situation"], self.head["short"]),
        })  # fmt: skip

    def values(self, found: object, declared: Declaration, chosen: Options) -> dict[str, Any]:  # noqa: ARG002
        """Return what else the page's places hold; families of settings and parts are of the first design."""
        first = chosen.folder / chosen.designs[0]
        return {
            "first": first, "budget": read_record(first)["config"]["budget"],
            "families": at_equal_tyre_load(families(first), aim_of(declared).best_of),
            "evaluations": contributions.EVALUATIONS, "parts": contributions.table(contributions.parts(first)),
        }  # fmt: skip
