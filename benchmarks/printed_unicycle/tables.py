"""Tables and sentences of the unicycle's page: counts, corrections, repairs, and where the two forms differ."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.printed_unicycle import against_plant
from benchmarks.printed_unicycle.agreement import CORRECT, INSERTED, LITERAL, REPAIRED, TOLERANCE, WRONG, rightly_read
from benchmarks.printed_unicycle.coefficients import FAMILIES, read
from benchmarks.printed_unicycle.geometry import BODIES, COORDINATES
from benchmarks.printed_unicycle.states import STATES, random_states
from benchmarks.runner.pages import listed, paragraph
from experiments.runtime.tables import markdown_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.printed_unicycle.against_plant import Distances
    from benchmarks.printed_unicycle.agreement import AgreementOfCoefficient, Referred


STATUSES = (LITERAL, REPAIRED, INSERTED, WRONG)
_SYMBOLS = ("α", "γ", "β", "θw", "Ψ", "θ1", "θ2", "θ3", "θ4", "η")
_GREEK = dict(zip(COORDINATES, _SYMBOLS, strict=True))


def counts(found: Sequence[AgreementOfCoefficient]) -> list[str]:
    """Verdicts by family."""
    by = Counter((one.coefficient.family, one.status) for one in found)
    right = Counter(one.coefficient.family for one in found if one.corrected == CORRECT)
    rows = []
    for family, title in FAMILIES.items():
        cells = [by[family, status] for status in STATUSES]
        rows.append([title, sum(cells), sum(cells[:2]), *cells, right[family]])
    total = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    rows.append(["**all**", *(f"**{number}**" for number in total)])
    return table(
        (
            "family",
            "definitions",
            "agree",
            "as printed",
            "repaired",
            "only with rolling inserted",
            "wrong",
            "corrected",
        ),
        rows,
    )


def corrections(found: Sequence[AgreementOfCoefficient]) -> list[str]:
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
        rows.append([_called(one), c.line, place(one), c.note, f"{right}{sense}"])
    return table(("coefficient", "line", "of", "what is wrong", "as it must be"), rows)


def repairs(found: Sequence[AgreementOfCoefficient]) -> list[str]:
    """Every coefficient that agrees once its characters are repaired."""
    rows = [[_called(one), one.coefficient.line, one.coefficient.note] for one in found if one.status == REPAIRED]
    return table(("coefficient", "line", "unreadable"), rows)


def inserted(found: Sequence[AgreementOfCoefficient]) -> list[str]:
    """Every coefficient that agrees only with the rolling condition inserted into the energy."""
    every = [one for one in found if INSERTED in {one.status, one.corrected}]
    rows = [[_called(one), one.coefficient.line, place(one), one.coefficient.body] for one in every]
    return table(("coefficient", "line", "of", "body"), rows)


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
        rows.append([_SYMBOLS[k], product(COORDINATES[i], COORDINATES[j]), bodies, _factors(pairs)])
    return table(("equation", "product of rates", "bodies", "right, as a multiple of inserted"), rows)


def _factors(pairs: Sequence[tuple[float, float]]) -> str:
    """Right values as multiples of inserted ones."""
    if all(abs(inserted) < 1e-12 for _, inserted in pairs):
        return "not 0, where rolling inserted leaves 0"
    factors = {round(right / inserted, 9) + 0.0 for right, inserted in pairs}
    return listed([f"{factor:g} times" for factor in sorted(factors)])


def product(one: str, other: str) -> str:
    """Two rates' product in signs."""
    first, second = _GREEK[one], _GREEK[other]
    return f"{first}′²" if first == second else f"{first}′ {second}′"


def place(one: AgreementOfCoefficient) -> str:
    """Where a coefficient stands."""
    c = one.coefficient
    if c.kind.startswith("closure"):
        square = "″" if c.kind == "closure rate" else ""
        return f"Φ{c.equation.removeprefix('closure')}, {_GREEK[c.rates[0]]}{square}"
    if c.kind == "gravity":
        return f"{_GREEK[c.equation]}, gravity"
    return f"{_GREEK[c.equation]}, {product(*c.rates) if c.kind == 'velocity' else f'{_GREEK[c.rates[0]]}″'}"


def _called(one: AgreementOfCoefficient) -> str:
    c = one.coefficient
    return f"{c.name} (printed as {c.label})" if c.label else c.name


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Rows as a table."""
    return markdown_table(head, [[str(cell) for cell in row] for row in rows])


def summary(verdicts: Sequence[AgreementOfCoefficient]) -> list[str]:
    """Return how many coefficients agree, and in what sense, as Markdown lines."""
    number = Counter(one.status for one in verdicts)
    literal, repaired, rolling, wrong = (number[status] for status in (LITERAL, REPAIRED, INSERTED, WRONG))
    right, other = (sum(one.corrected == sense for one in verdicts) for sense in (CORRECT, INSERTED))
    return paragraph(
        f"**{literal + repaired} of {len(verdicts)} printed coefficients agree** with the derivation: {literal} as",
        f"they are printed, {repaired} once characters that cannot be read are repaired. **{rolling} agree only with",
        "equations in which the rolling condition was inserted into the kinetic energy**, which is not admissible for",
        f"a rolling wheel. **{wrong} carry a wrong sign, index or factor**; each has a correction below, with which",
        f"{right} agree and {other} agrees in the sense of the {rolling}. Some of this may come from the conversion to",
        "text rather than from the authors.",
    )


def how(verdicts: Sequence[AgreementOfCoefficient], of: Referred, plant: Distances) -> list[str]:
    """Return what agreement means, how the counts are made, and what else was compared, as Markdown lines."""
    parts = (_agreement(verdicts), _counting(verdicts), _cut(verdicts), _references(of), _plant(plant))
    return [line for part in parts for line in (*part, "")][:-1]


def _agreement(verdicts: Sequence[AgreementOfCoefficient]) -> list[str]:
    close = max(one.distance for one in verdicts if one.status in {LITERAL, REPAIRED})
    far = min(one.distance for one in verdicts if one.status in {INSERTED, WRONG})
    return paragraph(
        f"Agreement means a relative distance of at most 1e{round(math.log10(TOLERANCE))} at {STATES} random states",
        "with unequal random parameters. The verdicts do not depend on it: the largest distance of those that agree",
        f"is {close:.0e}, the smallest of the others {far:.2g}.",
    )


def _counting(verdicts: Sequence[AgreementOfCoefficient]) -> list[str]:
    referring = [one.coefficient.name for one in verdicts if one.coefficient.note.startswith("by reference")]
    misread = [one.coefficient.name for one in verdicts if "i read as t" in one.coefficient.note]
    return paragraph(
        "The specification counts 257 as printed and 35 repaired; the sum is the same, in every family. It takes the",
        f"{len(referring)} that refer to another coefficient ({listed(referring)}) as repaired, here they are read;",
        f"and {len(misread)} in which Tt is printed Ti ({listed(misread)}) as printed, here they are repaired.",
    )


def _cut(verdicts: Sequence[AgreementOfCoefficient]) -> list[str]:
    names = [one.coefficient.name for one in verdicts if one.coefficient.note == "truncated"]
    return paragraph(
        f"{len(names)} of the repaired ones are cut off in print ({listed(names)}): they are completed as their",
        "neighbours read, so that they show less than the others.",
    )


def _references(of: Referred) -> list[str]:
    several = len(of.hold) + len(of.nowhere) + len(of.fail)
    return paragraph(
        f"Of the {several} definitions by reference (GW01 = AW02 and so on) {len(of.hold)} hold and {len(of.fail)}",
        f"fail; {listed(of.nowhere)} refer to BL308 and BL409, for which nothing is printed: they must be 0.",
    )


def _plant(plant: Distances) -> list[str]:
    return paragraph(
        "The plant's own equations of motion, written by other means, and this derivation agree: relative distances",
        f"at {against_plant.STATES} random states with random parameters, torques, pushes and slopes are at most",
        f"{plant.mass:.0e} (mass matrix), {plant.force:.0e} (forces) and {plant.energy:.0e} (energy).",
    )
