"""Write docs/unicycle_agreement.md: ``python -m benchmarks.unicycle_agreement [--folder X]``.

How many of the printed coefficients of the unicycle's equations hold, which fail and how they must read, and what the
missing nonholonomic term does to the motion. Every number on the page comes from the run that writes it; it takes
seconds, and nothing in it is timed.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

from benchmarks.prose import listed, paragraph
from benchmarks.unicycle import against_plant, effects, effects_page, tables
from benchmarks.unicycle.agreement import (
    CORRECT,
    INSERTED,
    LITERAL,
    REPAIRED,
    TOLERANCE,
    WRONG,
    Referred,
    Verdict,
    referred,
    verdicts,
)
from benchmarks.unicycle.states import STATES

FOLDER = Path(__file__).parents[1] / "docs"
FIGURE = "unicycle_agreement.svg"


@dataclass(frozen=True, eq=False)
class Found:
    """All results of one run."""

    verdicts: tuple[Verdict, ...]
    referred: Referred
    effects: effects.Effects
    plant: against_plant.Distances


def measured() -> Found:
    """Judge all coefficients and run the motions."""
    return Found(verdicts(), referred(), effects.measured(), against_plant.distances())


def page(found: Found) -> str:
    """Return the page's text."""
    lines = [
        "# What holds of the printed unicycle",
        "",
        *paragraph(
            "Written by `python -m benchmarks.unicycle_agreement`. The source of the plant `unicycle` (US",
            "2004/0039555 A1)",
            "prints its equations as lists of coefficients. Here each of them is read as text",
            "(`benchmarks/unicycle/printed`) and compared with a derivation that knows no list: mass centres and unit",
            "vectors of all bodies as functions of ten coordinates, their exact derivatives taken on the tape, and",
            "sums of",
            "weighted products of these (`benchmarks/unicycle/geometry.py`, `derived.py`).",
        ),
        "",
        *_summary(found),
        "",
        "## By family",
        "",
        *tables.counts(found.verdicts),
        "",
        *_how(found),
        "",
        "## Corrections",
        "",
        *paragraph(
            "IL, ML, k1, ... as in the source; ZU = β + θ1, ZZ = β + θ2, PR = Ψ + θ3, PL = Ψ + θ4, ZU2B = ZU + β,",
            "ZZ2B = ZZ + β, P2R = PR + Ψ, P2L = PL + Ψ, Rwe5c = Rw + e5 cos(β), Rwe6 = Rw + e6 cos(β).",
        ),
        "",
        *tables.corrections(found.verdicts),
        "",
        "## The missing nonholonomic term",
        "",
        *effects_page.text(found.effects, FIGURE),
        "",
        "Coefficients that agree only with the rolling condition inserted:",
        "",
        *tables.inserted(found.verdicts),
        "",
        "All terms in which the two forms differ, printed or not, by the shares of the mass centres:",
        "",
        *tables.differences(),
        "",
        "## Repaired characters",
        "",
        *tables.repairs(found.verdicts),
    ]
    return "\n".join(lines) + "\n"


def _number(found: Found, status: str) -> int:
    return sum(one.status == status for one in found.verdicts)


def _summary(found: Found) -> list[str]:
    literal, repaired, rolling, wrong = (_number(found, s) for s in (LITERAL, REPAIRED, INSERTED, WRONG))
    right, other = (sum(one.corrected == sense for one in found.verdicts) for sense in (CORRECT, INSERTED))
    return paragraph(
        f"**{literal + repaired} of {len(found.verdicts)} printed coefficients agree** with the derivation:",
        f"{literal} as",
        f"they are printed, {repaired} once characters that cannot be read are repaired. **{rolling} agree only with",
        "equations in which the rolling condition was inserted into the kinetic energy**, which is not admissible",
        "for a",
        f"rolling wheel. **{wrong} carry a wrong sign, index or factor**; each has a correction below, with which",
        f"{right}",
        f"agree and {other} agrees in the sense of the {rolling}. Some of this may come from the conversion to text",
        "rather",
        "than from the authors.",
    )


def _how(found: Found) -> list[str]:
    close = max(one.distance for one in found.verdicts if one.status in {LITERAL, REPAIRED})
    far = min(one.distance for one in found.verdicts if one.status in {INSERTED, WRONG})
    referring = [one.coefficient.name for one in found.verdicts if one.coefficient.note.startswith("by reference")]
    misread = [one.coefficient.name for one in found.verdicts if "i read as t" in one.coefficient.note]
    cut = [one.coefficient.name for one in found.verdicts if one.coefficient.note == "truncated"]
    of = found.referred
    several = len(of.hold) + len(of.nowhere) + len(of.fail)
    parts = (
        (
            f"Agreement means a relative distance of at most 1e{round(math.log10(TOLERANCE))} at {STATES} random",
            "states with unequal random",
            f"parameters. The verdicts do not depend on it: the largest distance of those that agree is {close:.0e},",
            "the",
            f"smallest of the others {far:.2g}.",
        ),
        (
            "The specification counts 257 as printed and 35 repaired; the sum is the same, in every family. It takes",
            "the",
            f"{len(referring)} that refer to another coefficient ({listed(referring)}) as repaired, here they are",
            "read;",
            f"and {len(misread)} in which Tt is printed Ti ({listed(misread)}) as printed, here they are repaired.",
        ),
        (
            f"{len(cut)} of the repaired ones are cut off in print ({listed(cut)}): they are completed as their",
            "neighbours",
            "read, so that they show less than the others.",
        ),
        (
            f"Of the {several} definitions by reference (GW01 = AW02 and so on) {len(of.hold)} hold and {len(of.fail)}",
            f"fail; {listed(of.nowhere)} refer to BL308 and BL409, for which nothing is printed: they must be 0.",
        ),
        (
            "The plant's own equations of motion, written by other means, and this derivation agree:",
            f"relative distances at {against_plant.STATES} random states with random parameters, torques, pushes and",
            "slopes",
            f"are at most {found.plant.mass:.0e} (mass matrix), {found.plant.force:.0e} (forces) and",
            f"{found.plant.energy:.0e} (energy).",
        ),
    )
    return [line for part in parts for line in (*paragraph(*part), "")][:-1]


def write(found: Found, folder: Path) -> None:
    """Write the page and its figure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unicycle_agreement.md").write_text(page(found), encoding="utf-8")
    (folder / FIGURE).write_text(effects_page.drawing(found.effects), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unicycle_agreement", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page goes (default: %(default)s)")
    write(measured(), parser.parse_args(arguments).folder)


if __name__ == "__main__":
    main()
