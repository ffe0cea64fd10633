"""The printed coefficients of the unicycle's equations as data, see printed/*.json.

Each has its printed text; beside it, where they are needed, the text with unreadable characters repaired, the text as
it must be, and a note. What a coefficient multiplies is said in words of the model: equation, rates, body, and which
piece of the body's share (its mass or its inertia; without one, both).

Source: US 2004/0039555 A1, "equations of motion of the unicycle"; `line` counts the lines of its list.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.reproduce.printed_unicycle import formula

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FOLDER = Path(__file__).parent / "printed"
FAMILIES = {  # file: what it is called in tables
    "mass_alpha": "mass, yaw α (A01–A10)",
    "mass_gamma": "mass, roll γ (G01–G10)",
    "mass_beta": "mass, pitch β (B01–B07)",
    "mass_wheel": "mass, wheel θw and Ψ (Tw, S)",
    "mass_links_and_rotor": "mass, θ1 to θ4 and η",
    "velocity_alpha": "velocity terms, yaw α",
    "velocity_gamma": "velocity terms, roll γ",
    "velocity_beta": "velocity terms, pitch β",
    "velocity_wheel": "velocity terms, wheel θw and Ψ",
    "velocity_links": "velocity terms, θ1 to θ4",
    "velocity_rotor": "velocity terms, rotor η",
    "gravity": "gravity",
    "closure": "closure",
}
_SEE = re.compile(r"\(see(\w+)\)")


@dataclass(frozen=True)
class Coefficient:
    """One printed definition.

    Attributes
    ----------
    name, label : str
        What it is by its place and use, and how it is labelled in print.
    family : str
        Of :data:`FAMILIES`.
    kind : {"mass", "velocity", "gravity", "closure slope", "closure rate"}
    equation : str
        A coordinate, or ``closure1`` to ``closure4``.
    rates : tuple of str
        What it multiplies: an acceleration, a product of two rates, nothing (gravity).
    body, piece : str
        ``piece`` is empty where mass and inertia are taken together.
    sign : int
        -1 where the source has it on the equation's other side.
    printed, repaired, corrected, note : str
        Empty where there is nothing to say.
    """

    name: str
    line: int
    kind: str
    equation: str
    printed: str
    family: str
    label: str = ""
    rates: tuple[str, ...] = ()
    body: str = ""
    piece: str = ""
    sign: int = 1
    repaired: str = ""
    corrected: str = ""
    note: str = ""

    @property
    def right(self) -> str:
        """The text as it must be."""
        return self.corrected or self.repaired or self.printed


@dataclass(frozen=True)
class ReferenceValue:
    """A definition by another one: `name` is `factor` times `refers_to`."""

    name: str
    line: int
    kind: str
    equation: str
    rates: tuple[str, ...]
    body: str
    refers_to: str
    factor: float
    piece: str = ""
    sign: int = 1


def coefficients(folder: Path = FOLDER) -> tuple[Coefficient, ...]:
    """Return all printed definitions."""
    return tuple(
        Coefficient(family=family, **(entry | {"rates": tuple(entry.get("rates", ()))}))
        for family in FAMILIES
        for entry in json.loads((folder / f"{family}.json").read_text(encoding="utf-8"))
    )


def references(folder: Path = FOLDER) -> tuple[ReferenceValue, ...]:
    """Return all definitions by reference."""
    entries = json.loads((folder / "references.json").read_text(encoding="utf-8"))
    return tuple(ReferenceValue(**(entry | {"rates": tuple(entry["rates"])})) for entry in entries)


def read(
    name: str, text: str, names: Iterable[str], others: Mapping[str, formula.Formula] | None = None
) -> formula.Formula:
    """Read a coefficient's text, in which other coefficients may stand by name.

    Parameters
    ----------
    name, text : str
    names : iterable of str
        Parameters, angles and abbreviations.
    others : mapping by name, optional
        Coefficients it may refer to, ``AL34Gi+...`` or ``(seeAL35Ai)``.

    Raises
    ------
    formula.FormulaError
    """
    known = dict(others or {})
    text = _SEE.sub(r"\1", text)
    used = {other: known[other] for other in known if other in text}
    own = formula.read(name, text, {*names, *used})
    if not used:
        return own
    return replace(own, value=lambda values: own({**values, **{k: f(values) for k, f in used.items()}}))
