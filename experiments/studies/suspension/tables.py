"""The car's words for the tables of its comparison: measures, groups of situations, sections of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.studies.engine import paired_rollouts, tables
from experiments.studies.engine.tables import Column, Told

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.studies.engine.declaration import Declaration

RIDE, TYRE = "ride_comfort", "tyre_load_variation"
TITLES = {RIDE: "weighted acceleration, m/s^2", TYRE: "tyre-load variation"}
WORDS = {RIDE: "weighted acceleration", TYRE: "tyre-load variation"}
SHORT = {RIDE: "acceleration", TYRE: "tyre load"}
OURS = ("knowledge_base", "knowledge_base_free", "fixed", "rival_modified_sky_hook")
GROUPS = {
    "taught": "Taught situations",
    "listed": "Unforeseen situations, listed",
    "drawn": "Unforeseen situations, drawn",
}
_BY_SITUATION = ("fixed", "knowledge_base", "rival_modified_sky_hook")
_COLUMNS = (
    Column("stroke", "largest stroke, m", ".3f"),
    Column("stroke_beyond", "time beyond 0.08 m", ".2f", 100.0, " %"),
    Column("lift_off", "wheel off the road", ".2f", 100.0, " %"),
    Column("entropy_plant", "heat of dampers and tyres, J"),
)


def group_of(kind: str, situation: str) -> str:
    """Return the group of a situation: what is not foreseen was listed or drawn."""
    if kind == "taught":
        return kind
    return "drawn" if situation.startswith("drawn: ") else "listed"


def section(title: str, folders: Sequence[Path], declared: Declaration) -> list[str]:
    """Return what designs of one plant found as Markdown lines."""
    told = Told(paired_rollouts.read(folders, group_of), declared.aim, GROUPS, WORDS)
    lines = [f"## {title}", "", tables.conclusion(told, OURS), ""]
    lines += [*tables.designs(told), *tables.by_fitness(told), ""]
    lines += ["The aim:", "", *tables.outcomes(told, OURS), ""]
    lines += ["Situations in which the fixed PID is reliably worse than that law:", ""]
    lines += [*tables.lost(told, "fixed"), ""]
    for group, words in GROUPS.items():
        lines += [f"### {words}", "", f"Changes are against {told.title(told.base(group))}.", ""]
        lines += [*tables.table(told, group, TITLES, _COLUMNS), ""]
    lines += ["### By situation", "", "Against the same law; what is reliably higher is bold.", ""]
    return [*lines, *tables.by_situation(told, _BY_SITUATION, SHORT), ""]
