"""What the comparison of the printed coefficients found, in sentences."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.prose import listed, paragraph
from benchmarks.unicycle import against_plant
from benchmarks.unicycle.agreement import CORRECT, INSERTED, LITERAL, REPAIRED, TOLERANCE, WRONG
from benchmarks.unicycle.states import STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.unicycle.against_plant import Distances
    from benchmarks.unicycle.agreement import Referred, Verdict


def summary(verdicts: Sequence[Verdict]) -> list[str]:
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


def how(verdicts: Sequence[Verdict], of: Referred, plant: Distances) -> list[str]:
    """Return what agreement means, how the counts are made, and what else was compared, as Markdown lines."""
    parts = (_agreement(verdicts), _counting(verdicts), _cut(verdicts), _references(of), _plant(plant))
    return [line for part in parts for line in (*part, "")][:-1]


def _agreement(verdicts: Sequence[Verdict]) -> list[str]:
    close = max(one.distance for one in verdicts if one.status in {LITERAL, REPAIRED})
    far = min(one.distance for one in verdicts if one.status in {INSERTED, WRONG})
    return paragraph(
        f"Agreement means a relative distance of at most 1e{round(math.log10(TOLERANCE))} at {STATES} random states",
        "with unequal random parameters. The verdicts do not depend on it: the largest distance of those that agree",
        f"is {close:.0e}, the smallest of the others {far:.2g}.",
    )


def _counting(verdicts: Sequence[Verdict]) -> list[str]:
    referring = [one.coefficient.name for one in verdicts if one.coefficient.note.startswith("by reference")]
    misread = [one.coefficient.name for one in verdicts if "i read as t" in one.coefficient.note]
    return paragraph(
        "The specification counts 257 as printed and 35 repaired; the sum is the same, in every family. It takes the",
        f"{len(referring)} that refer to another coefficient ({listed(referring)}) as repaired, here they are read;",
        f"and {len(misread)} in which Tt is printed Ti ({listed(misread)}) as printed, here they are repaired.",
    )


def _cut(verdicts: Sequence[Verdict]) -> list[str]:
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
