"""The method as it was published beside today's: what each criterion chooses, and what that does in fresh situations.

    python -m experiments.studies published                # all designs, and the page
    python -m experiments.studies published van_der_pol    # one plant, printed only

Designs are runs of `sscq design experiment=as_published`, with other criteria in place of the published one, and of
the default design of the same plant: a finished one is not repeated, a stopped one is gone on with. All are judged by
the same measures, in the situations that each verdict draws from the plant's declared ranges: the same for one seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.afterwards.fresh import StudyCase, named
from experiments.studies.engine.template import Template
from plants.core import atomic_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEASURES = ("iae", "entropy_difference_abs", "total_variation")
HEAD = ("criterion", "controller", "IAE", "∫|ΔṠ| dt", "travel", "loops lost", "recommended")


@dataclass(frozen=True)
class Rung:
    """What a controller of one criterion came to, a value a seed.

    Attributes
    ----------
    criterion, controller : str
        As the template calls them.
    values : tuple of tuple of float
        For each seed the means of :data:`MEASURES` over the drawn situations in which it survives.
    lost : tuple of int
        Situations in which the loop was lost, for each seed.
    recommended : int
        Seeds whose verdict recommends it.
    """

    criterion: str
    controller: str
    values: tuple[tuple[float | None, ...], ...]
    lost: tuple[int, ...]
    recommended: int

    def row(self) -> list[str]:
        """Return its row of the table: means over the seeds, with their ranges."""
        columns = [_of_seeds(column) for column in zip(*self.values, strict=True)]
        return [
            self.criterion,
            self.controller,
            *columns,
            _of_seeds(self.lost),
            f"{self.recommended} of {len(self.lost)}",
        ]


def _of_seeds(values: Sequence[float | None]) -> str:
    """Mean and range; of seeds that lose every loop there are no numbers."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    mean, low, high = sum(known) / len(known), min(known), max(known)
    return f"{mean:.3g}" if low == high else f"{mean:.3g} [{low:.3g}, {high:.3g}]"


def cases(head: Mapping[str, Any], plant: str) -> list[tuple[str, list[StudyCase]]]:
    """Return each criterion's designs of a plant, one a seed."""
    return [
        (
            criterion,
            [
                StudyCase(
                    f"{plant}-{criterion}",
                    seed,
                    (*(word.format(plant=plant, recipe=head["plants"][plant]) for word in words), *head["words"]),
                    head["draws"],
                )
                for seed in head["seeds"]
            ],
        )
        for criterion, words in head["criteria"].items()
    ]


def rungs(criterion: str, found: Sequence[Mapping[str, Any]], controllers: Mapping[str, str]) -> list[Rung]:
    """Return what some controllers came to, from the metrics of a criterion's designs."""
    return [
        Rung(
            criterion,
            title,
            tuple(tuple(one["controllers"][name]["measures"]["drawn"][m] for m in MEASURES) for one in found),
            tuple(one["controllers"][name]["failures"]["drawn"] for one in found),
            sum(one["recommended"] == name for one in found),
        )
        for name, title in controllers.items()
        if all(name in one["controllers"] for one in found)
    ]


def said(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """Return the numbers of a plant's sentences, from the metrics of each criterion's designs.

    Tracking errors are told in times those of the controller "own", means over the seeds.
    """

    def error(criterion: str, name: str) -> float:
        errors = [one["controllers"][name]["measures"]["drawn"]["iae"] for one in found[criterion]]
        known = [error for error in errors if error is not None]
        return sum(known) / len(known) if known else math.nan

    base = error("signed", "own")
    titles = [one["controllers"][one["recommended"]].get("title", one["recommended"]) for one in found["default"]]
    return {
        **{criterion: f"{error(criterion, 'fixed') / base:.2f}" for criterion in found},
        "network": f"{error('tracking', 'imitation') / base:.2f}",
        "recommended": ", ".join(
            f"the {title} ({titles.count(title)} of {len(titles)})" for title in dict.fromkeys(titles)
        ),
    }


def main(words: Sequence[str]) -> None:
    """Design what is missing, print the tables; without words write the page."""
    template = Template.of("published")
    head = template.head
    sections = []
    for plant in named(words[0], "plant", head["plants"]) if words else head["plants"]:
        rows: list[list[str]] = []
        found = {}
        for criterion, designs in cases(head, plant):
            found[criterion] = [formats.read_json(one.designed(Path(head["runs"])) / "metrics.json") for one in designs]
            told = rungs(head["titles"][criterion], found[criterion], head["controllers"])
            rows += [one.row() for one in told if one.controller != head["controllers"]["own"] or not rows]
        print(f"{plant}\n{text_table(HEAD, rows)}\n", flush=True)
        values = {"plant": plant, "table": markdown_table(HEAD, rows), **said(found)}
        sections += [*template.lines("plant", values, wrap=True), ""]
    if not words:
        values = {"sections": sections, "seeds": len(head["seeds"]), "draws": head["draws"]}
        atomic_files.write(Path(head["page"]), template.page(values, wrap=True))
