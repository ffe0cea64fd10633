"""The unicycle's comparison: fixed gains, knowledge base over the speed, LQR; survival, region of survived pushes.

    python -m experiments.studies.unicycle.comparison             # all designs, into runs/unicycle, and the page
    python -m experiments.studies.unicycle.comparison design-0    # one design, its tables printed only
    python -m experiments.studies.unicycle.comparison folder=X budget.evaluations=2000    # others go to `sscq design`

Designs are runs of `sscq design experiment=unicycle_study`: a finished one is not repeated, a stopped one is gone on
with. What is taught, drawn and measured is declared in configs/unicycle_study.yaml, whose hash is printed; other
situations of the plant are refused. Figures: `python -m benchmarks.vehicles.unicycle.figures`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.studies.engine import command
from experiments.studies.engine.outcomes import quality, survival
from experiments.studies.unicycle import tables
from experiments.studies.unicycle.declaration import DECLARED, Declaration, declaration
from experiments.studies.unicycle.verdict import Verdict, judged, rides_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_FIGURES = (
    ("pushes", "Largest pushes survived by direction, mean of the rides; forward is up, left is left"),
    ("map", "The same for single rides: a slow one, one at medium speed, a fast one"),
    ("angles", "A push from ahead of one second at 1 m/s: pitch, roll, speed, torques"),
    ("phase", "The same push: phase portraits of pitch and roll"),
)


def section(verdict: Verdict, declared: Declaration) -> list[str]:
    """Return what one design found as Markdown lines."""
    largest, grip = declared.grid.largest, declared.region["grip"]
    speeds = [ride.speed for ride in rides_of(declared)]
    return [
        f"## {verdict.design}", "", "### Survival in the drawn situations", "",
        *survival(verdict.stood, verdict.titles), "",
        "### Quality in the drawn situations", "",
        *quality(verdict.quality, verdict.stood, verdict.titles, tables.TITLES), "",
        "### Region of survived pushes", "", *tables.regions(verdict, largest, grip), "",
        f"By speed, area of {largest:g} N all around:", "", *tables.by_speed(verdict, speeds, largest), "",
        *tables.notes(verdict), "",
    ]  # fmt: skip


def page(verdicts: Sequence[Verdict], declared: Declaration, chosen: command.Options) -> str:
    """Return the whole page."""
    words, grid, region = " ".join(chosen.overrides), declared.grid, declared.region
    head = [
        "# The unicycle's comparison", "",
        f"Written by `python -m experiments.studies.unicycle.comparison{' ' + words if words else ''}`.", "",
        *tables.conclusion(verdicts), "", f"The aim, a region larger by {100 * declared.aim:g} %:", "",
        *tables.aim(verdicts, declared.aim), "",
        f"Drawn situations: {declared.drawn['number']} of 8 s; in each a push of any direction, slope, rider's mass,",
        "frictions, noise, delay, speed and start are drawn. Region: the largest push that is survived from each of",
        f"{grid.directions} directions, lasting {grid.lasting:g} s, in {region['rides']} rides at speeds from",
        f"{region['speed'][0]:g} to {region['speed'][1]:g} m/s, up to {grid.largest:g} N, to {grid.resolution:.0f} N;",
        "its area is half the integral of the radius squared. The model's tyre never slips: a real one would from",
        f"about the weight on, {region['grip']:g} N. Heat: of all frictions, T0 times the entropy they produce.",
        "Intervals hold 95 % of resampled situations or rides, pairs together. LQR feeds back yaw rate and turntable",
        "rate as well, which the source's law does not use.",
        "What schedules could win at most is searched in [unicycle_head_room.md](unicycle_head_room.md).",
        "", *declared.lines(),
    ]  # fmt: skip
    figures = [line for name, text in _FIGURES for line in (f"![{text}](unicycle/{name}.svg)", "", f"*{text}.*", "")]
    tail = [
        "## Figures", "", "Written by `python -m benchmarks.vehicles.unicycle.figures` from the first design.", "",
        *figures,
        "## What a design costs", "", *command.costs(chosen, tables.TIMED, tables.times), "",
    ]  # fmt: skip
    parts = [line for verdict in verdicts for line in section(verdict, declared)]
    return "\n".join([*head, *parts, *tail]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    command.command(_COMMAND, arguments)


_COMMAND = command.Command(
    text=__doc__, file=DECLARED, declaration=declaration, folder="runs/unicycle", experiment="unicycle_study",
    page=Path("docs/studies/unicycle.md"),
    found=lambda folders, declared: [judged(folder, declared) for folder in folders.values()],
    told=lambda verdicts, declared: [line for one in verdicts for line in section(one, declared)],
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
