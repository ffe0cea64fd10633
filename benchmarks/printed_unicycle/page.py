"""Write docs/studies/unicycle_agreement.md: ``python -m benchmarks.printed_unicycle.page [--folder X]``.

How many of the printed coefficients of the unicycle's equations hold, which fail and how they must read, and what the
missing nonholonomic term does to the motion. Every number on the page comes from the run that writes it; it takes
seconds, and nothing in it is timed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.printed_unicycle import against_plant, effects, tables
from benchmarks.printed_unicycle.agreement import AgreementOfCoefficient, Referred, referred, verdicts
from benchmarks.runner.pages import paragraph

FOLDER = Path(__file__).parents[2] / "docs" / "studies"
FIGURE = "unicycle_agreement.svg"


@dataclass(frozen=True, eq=False)
class AgreementFindings:
    """All results of one run."""

    verdicts: tuple[AgreementOfCoefficient, ...]
    referred: Referred
    effects: effects.Effects
    plant: against_plant.Distances


def measured() -> AgreementFindings:
    """Judge all coefficients and run the motions."""
    return AgreementFindings(verdicts(), referred(), effects.measured(), against_plant.distances())


def page(found: AgreementFindings) -> str:
    """Return the page's text."""
    lines = [
        "# What holds of the printed unicycle",
        "",
        *paragraph(
            "Written by `python -m benchmarks.printed_unicycle.page`. The source of the plant `unicycle` (US",
            "2004/0039555 A1) prints its equations as lists of coefficients. Here each of them is read as text",
            "(`benchmarks/printed_unicycle/printed`) and compared with a derivation that knows no list: mass centres",
            "and unit vectors of all bodies as functions of ten coordinates, their exact derivatives taken on the",
            "tape, and sums of weighted products of these (`benchmarks/printed_unicycle/geometry.py`, `derived.py`).",
        ),
        "",
        *tables.summary(found.verdicts),
        "",
        "## By family",
        "",
        *tables.counts(found.verdicts),
        "",
        *tables.how(found.verdicts, found.referred, found.plant),
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
        *effects.text(found.effects, FIGURE),
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


def write(found: AgreementFindings, folder: Path) -> None:
    """Write the page and its figure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unicycle_agreement.md").write_text(page(found), encoding="utf-8")
    (folder / FIGURE).write_text(effects.drawing(found.effects), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.printed_unicycle.page", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page goes (default: %(default)s)")
    write(measured(), parser.parse_args(arguments).folder)


if __name__ == "__main__":
    main()
