"""The comparison of the unicycle's regions: taught is a disc of pushes, so the region of survived pushes is searched.

    python -m experiments.unicycle_region_study              # both designs, into runs/unicycle_region, and the page
    python -m experiments.unicycle_region_study design-0     # one design, its tables printed only
    python -m experiments.unicycle_region_study folder=X budget.evaluations=2000    # other words go to `sscq design`

Designs are runs of `sscq design experiment=unicycle_region_study`: a finished one is not repeated. What is taught,
drawn and measured is declared in configs/unicycle_region_study.yaml, whose hash is printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import configs
from experiments import unicycle_region_tables as tables
from experiments.comparison import study
from experiments.comparison.survival import quality, survival
from experiments.unicycle_declaration import Declaration, declaration
from experiments.unicycle_tables import by_speed, finer
from experiments.unicycle_verdict import Verdict, judged, rides_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DECLARED = Path(configs.__file__).parent / "unicycle_region_study.yaml"


def section(verdict: Verdict, declared: Declaration) -> list[str]:
    """Return what one design found as Markdown lines."""
    largest, grip = declared.grid.largest, declared.region["grip"]
    speeds = [ride.speed for ride in rides_of(declared)]
    return [
        f"## {verdict.design}", "", "### Region of survived pushes", "",
        *tables.regions(verdict, (largest, tables.BETWEEN, grip)), "",
        f"By speed, area of {largest:g} N all around:", "", *by_speed(verdict, speeds, largest), "",
        finer(verdict), "",
        "### Survival in the drawn situations", "", *survival(verdict.stood, verdict.titles), "",
        "### Quality in the drawn situations", "",
        *quality(verdict.quality, verdict.stood, verdict.titles, tables.TITLES), "",
    ]  # fmt: skip


def page(verdicts: Sequence[Verdict], declared: Declaration, chosen: study.Options) -> str:
    """Return the whole page."""
    words, grid, region = " ".join(chosen.overrides), declared.grid, declared.region
    head = [
        "# The unicycle's region of survived pushes", "",
        f"Written by `python -m experiments.unicycle_region_study{' ' + words if words else ''}`.", "",
        *tables.conclusion(verdicts), "",
        f"The aim, a region larger by {100 * declared.aim:g} % than the largest one of any fixed gains:", "",
        *tables.aim(verdicts, declared.aim, grid.largest), "",
        f"Region: the largest push that is survived from each of {grid.directions} directions, lasting",
        f"{grid.lasting:g} s, in {region['rides']} rides at speeds from {region['speed'][0]:g} to",
        f"{region['speed'][1]:g} m/s, other crank angles and heights than taught, up to {grid.largest:g} N, to",
        f"{grid.resolution:.0f} N; its area is half the integral of the radius squared. The model's tyre never slips:",
        f"a real one would from about the weight on, {region['grip']:g} N. Drawn situations:",
        f"{declared.drawn['number']} of 8 s; in each a push of any direction, slope, rider's mass, frictions, noise,",
        "delay, speed and start are drawn. Heat: of all frictions, T0 times the entropy they produce. Motor",
        "load: root mean square of the more loaded motor's torque, as a share of its largest. Intervals hold 95 % of",
        "resampled situations or rides, pairs together. What schedules could win, searched on the region itself:",
        "[unicycle_head_room.md](unicycle_head_room.md). With other taught situations and the source's two channels:",
        "[unicycle_study.md](unicycle_study.md).", "",
        *declared.lines(),
    ]  # fmt: skip
    parts = [line for verdict in verdicts for line in section(verdict, declared)]
    costs = ["## What a design costs", "", *study.costs(chosen, tables.TIMED, tables.times)]
    return "\n".join([*head, *parts, *costs]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    study.command(_COMMAND, arguments)


_COMMAND = study.Command(
    text=__doc__, file=DECLARED, declaration=lambda: declaration(DECLARED), folder="runs/unicycle_region",
    experiment="unicycle_region_study", page=Path("docs/unicycle_region_study.md"),
    found=lambda folders, declared: [judged(folder, declared) for folder in folders.values()],
    told=lambda verdicts, declared: [line for one in verdicts for line in section(one, declared)],
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
