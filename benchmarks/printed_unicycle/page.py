"""Write docs/studies/unicycle_agreement.md: ``python -m benchmarks.printed_unicycle.page [--folder X]``.

How many of the printed coefficients of the unicycle's equations hold, which fail and how they must read, and what the
missing nonholonomic term does to the motion. Every number on the page comes from the run that writes it; it takes
seconds, and nothing in it is timed.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner import pages
from benchmarks.runner.pages import listed
from experiments.reproduce.printed_unicycle import agreement, effects
from experiments.reproduce.printed_unicycle.agreement import (
    CORRECT,
    INSERTED,
    LITERAL,
    REPAIRED,
    WRONG,
    random_states,
    rightly_read,
)
from experiments.reproduce.printed_unicycle.coefficients import FAMILIES, read
from experiments.reproduce.printed_unicycle.geometry import BODIES, COORDINATES
from experiments.runtime.tables import markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchmarks.runner.size import Size
    from experiments.reproduce.printed_unicycle.agreement import AgreementOfCoefficient, Distances, Referred

    Verdicts = Sequence[AgreementOfCoefficient]

FIGURE = "unicycle_agreement.svg"
STATUSES = (LITERAL, REPAIRED, INSERTED, WRONG)
_SYMBOLS = ("α", "γ", "β", "θw", "Ψ", "θ1", "θ2", "θ3", "θ4", "η")
_GREEK = dict(zip(COORDINATES, _SYMBOLS, strict=True))


@dataclass(frozen=True, eq=False)
class AgreementFindings:
    """All results of one run."""

    verdicts: tuple[AgreementOfCoefficient, ...]
    referred: Referred
    effects: effects.Effects
    plant: Distances


def measured(size: Size | None = None) -> AgreementFindings:  # noqa: ARG001  (one size: it takes seconds)
    """Judge all coefficients and run the motions."""
    return AgreementFindings(agreement.verdicts(), agreement.referred(), effects.measured(), agreement.distances())


def page(found: AgreementFindings) -> str:
    """Return the page's text."""
    verdicts, of = found.verdicts, found.referred
    number = Counter(one.status for one in verdicts)
    notes = [(one.coefficient.name, one.coefficient.note) for one in verdicts]
    values = {
        "number": len(verdicts),
        "agree": number[LITERAL] + number[REPAIRED],
        "literal": number[LITERAL],
        "repaired": number[REPAIRED],
        "rolling": number[INSERTED],
        "wrong": number[WRONG],
        "corrected": sum(one.corrected == CORRECT for one in verdicts),
        "otherwise": sum(one.corrected == INSERTED for one in verdicts),
        "tolerance": f"1e{round(math.log10(agreement.TOLERANCE))}",
        "states": agreement.STATES,
        "close": max(one.distance for one in verdicts if one.status in {LITERAL, REPAIRED}),
        "far": min(one.distance for one in verdicts if one.status in {INSERTED, WRONG}),
        "referring": _counted(name for name, note in notes if note.startswith("by reference")),
        "misread": _counted(name for name, note in notes if "i read as t" in note),
        "cut": _counted(name for name, note in notes if note == "truncated"),
        "definitions": len(of.hold) + len(of.nowhere) + len(of.fail),
        "hold": len(of.hold),
        "fail": len(of.fail),
        "nowhere": listed(of.nowhere),
        "drawn": agreement.DRAWN,
        "plant": found.plant,
        "counts": counts(verdicts),
        "corrections": corrections(verdicts),
        "inserted": inserted(verdicts),
        "differences": differences(),
        "repairs": repairs(verdicts),
    }
    return pages.filled(pages.TEMPLATES / "unicycle_agreement.md", {}, values | effects.told(found.effects))


def _counted(names: Iterable[str]) -> tuple[int, str]:
    every = list(names)
    return len(every), listed(every)


def counts(found: Verdicts) -> list[str]:
    """Verdicts by family."""
    by = Counter((one.coefficient.family, one.status) for one in found)
    right = Counter(one.coefficient.family for one in found if one.corrected == CORRECT)
    rows = []
    for family, title in FAMILIES.items():
        cells = [by[family, status] for status in STATUSES]
        rows.append([title, sum(cells), sum(cells[:2]), *cells, right[family]])
    total = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    rows.append(["**all**", *(f"**{number}**" for number in total)])
    judged = ("agree", "as printed", "repaired", "only with rolling inserted", "wrong", "corrected")
    return _table(("family", "definitions", *judged), rows)


def corrections(found: Verdicts) -> list[str]:
    """Every wrong coefficient with what it must be."""
    names = sorted(random_states(1)[0].printed)
    others = rightly_read([one.coefficient for one in found], names)
    rows = []
    for one in found:
        if one.status != WRONG:
            continue
        c = one.coefficient
        right = read(c.name, c.right, names, {k: v for k, v in others.items() if k != c.name}).written
        sense = " (with rolling inserted; the right one is 0)" if one.corrected == INSERTED else ""
        rows.append([_called(one), c.line, _place(one), c.note, f"{right}{sense}"])
    return _table(("coefficient", "line", "of", "what is wrong", "as it must be"), rows)


def repairs(found: Verdicts) -> list[str]:
    """Every coefficient that agrees once its characters are repaired."""
    rows = [[_called(one), one.coefficient.line, one.coefficient.note] for one in found if one.status == REPAIRED]
    return _table(("coefficient", "line", "unreadable"), rows)


def inserted(found: Verdicts) -> list[str]:
    """Every coefficient that agrees only with the rolling condition inserted into the energy."""
    every = [one for one in found if INSERTED in {one.status, one.corrected}]
    rows = [[_called(one), one.coefficient.line, _place(one), one.coefficient.body] for one in every]
    return _table(("coefficient", "line", "of", "body"), rows)


def differences() -> list[str]:
    """All terms in which the two forms differ, whether or not the source prints a coefficient for them.

    They differ in the shares of mass centres alone, in each body's by the same factor.
    """
    state = random_states(1)[0]
    right, printed = (getattr(state.terms, name)[:, 0] for name in ("velocity", "inserted"))
    rows = []
    for k, i, j in zip(*np.nonzero(np.abs(right - printed).max(axis=0) > 1e-12), strict=True):
        if i > j:
            continue
        differs = [b for b in range(len(BODIES)) if abs(right[b, k, i, j] - printed[b, k, i, j]) > 1e-12]
        pairs = [(right[b, k, i, j], printed[b, k, i, j]) for b in differs]
        bodies = listed([BODIES[b] for b in differs])
        rows.append([_SYMBOLS[k], _product(COORDINATES[i], COORDINATES[j]), bodies, _factors(pairs)])
    return _table(("equation", "product of rates", "bodies", "right, as a multiple of inserted"), rows)


def _factors(pairs: Sequence[tuple[float, float]]) -> str:
    """Right values as multiples of inserted ones."""
    if all(abs(inserted) < 1e-12 for _, inserted in pairs):
        return "not 0, where rolling inserted leaves 0"
    factors = {round(right / inserted, 9) + 0.0 for right, inserted in pairs}
    return listed([f"{factor:g} times" for factor in sorted(factors)])


def _product(one: str, other: str) -> str:
    """Two rates' product in signs."""
    first, second = _GREEK[one], _GREEK[other]
    return f"{first}′²" if first == second else f"{first}′ {second}′"


def _place(one: AgreementOfCoefficient) -> str:
    """Where a coefficient stands."""
    c = one.coefficient
    if c.kind.startswith("closure"):
        square = "″" if c.kind == "closure rate" else ""
        return f"Φ{c.equation.removeprefix('closure')}, {_GREEK[c.rates[0]]}{square}"
    if c.kind == "gravity":
        return f"{_GREEK[c.equation]}, gravity"
    return f"{_GREEK[c.equation]}, {_product(*c.rates) if c.kind == 'velocity' else f'{_GREEK[c.rates[0]]}″'}"


def _called(one: AgreementOfCoefficient) -> str:
    c = one.coefficient
    return f"{c.name} (printed as {c.label})" if c.label else c.name


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    return markdown_table(head, [[str(cell) for cell in row] for row in rows])


def write(found: AgreementFindings, about: dict[str, Any], folder: Path) -> None:  # noqa: ARG001  (nothing is timed)
    """Write the page and its figure into a folder."""
    (folder / "unicycle_agreement.md").write_text(page(found), encoding="utf-8")
    (folder / FIGURE).write_text(effects.drawing(found.effects), encoding="utf-8")


if __name__ == "__main__":
    pages.run("printed_unicycle.page", __doc__, measured, write, folder=pages.STUDIES)
