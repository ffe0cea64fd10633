"""Measures of the car's aim, and the groups that its situations are told in."""

from __future__ import annotations

RIDE, TYRE = "ride_comfort", "tyre_load_variation"
GROUPS = {
    "taught": "Taught situations",
    "listed": "Unforeseen situations, listed",
    "drawn": "Unforeseen situations, drawn",
}


def group_of(kind: str, situation: str) -> str:
    """Return the group of a situation: what is not foreseen was listed or drawn."""
    if kind == "taught":
        return kind
    return "drawn" if situation.startswith("drawn: ") else "listed"
