"""The comparison of the unicycle's regions: taught is a disc of pushes, so the region of survived pushes is searched.

    python -m experiments.studies.unicycle.regions              # both designs, into runs/unicycle_region, and the page
    python -m experiments.studies.unicycle.regions design-0     # one design, its tables printed only
    python -m experiments.studies.unicycle.regions folder=X budget.evaluations=2000    # other words go to `sscq design`

Designs are runs of `sscq design experiment=unicycle_region_study`: a finished one is not repeated. What is taught,
drawn and measured is declared in configs/unicycle_region_study.yaml, whose hash is printed. Tables are against the
largest region of any fixed gains.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import configs
from experiments.studies.engine import command
from experiments.studies.engine.outcomes import BASE, lines_of, quality, survival
from experiments.studies.unicycle.contenders import NAME as BEGUN
from experiments.studies.unicycle.declaration import Declaration, declaration
from experiments.studies.unicycle.pushes import areas
from experiments.studies.unicycle.tables import by_speed, finer, ratio
from experiments.studies.unicycle.verdict import Verdict, judged, rides_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


CONSTANT = (BASE, "own", "two_degree", "lqr")
"""Contenders whose gains are fixed, the simplest first."""
BETWEEN = 340.0  # N: how far the other comparison's region reaches
TITLES = {
    "iae": "error, s", "entropy_plant": "heat of all frictions, J", "motor_effort": "effort, (N m)² s",
    "motor_travel": "travel, N m", "motor_limit_time": "time at a limit, s", "motor_load": "motor load",
}  # fmt: skip


def best_constant(verdict: Verdict, largest: float = math.inf) -> str:
    """Return which contender with fixed gains has the largest region, up to `largest` [N]."""
    known = [name for name in CONSTANT if name in verdict.sizes]
    return max(known, key=lambda name: float(areas(verdict.sizes[name], largest).sum()))


def said(verdict: Verdict, name: str, base: str, largest: float = math.inf) -> str:
    """Return by how much a contender's region is larger than another's, with its interval."""
    value, low, high = (100.0 * (v - 1.0) for v in ratio(verdict.sizes[name], verdict.sizes[base], largest))
    return f"{value:+.1f} % [{low:+.1f}, {high:+.1f}]"


def regions(verdict: Verdict, ends: Sequence[float]) -> list[str]:
    """Return areas of the regions up to several sizes, and changes against the largest one of any fixed gains there."""
    best = {end: best_constant(verdict, end) for end in ends}
    head = ["controller"]
    for end in ends:
        head += [f"area, of {end:g} N all around", "against the best fixed gains"]
    rows = []
    for name, sizes in verdict.sizes.items():
        row = [verdict.titles[name]]
        for end in ends:
            share = areas(sizes, end).mean() / (math.pi * end**2)
            row += [f"{100 * share:.1f} %", "the best" if name == best[end] else said(verdict, name, best[end], end)]
        rows.append(row)
    return lines_of(tuple(head), rows)


def aim(verdicts: Sequence[Verdict], share: float, largest: float) -> list[str]:
    """Return what became of the aim, a sentence for each design and contender with gains over the speed."""
    lines = []
    for verdict in verdicts:
        base = best_constant(verdict)
        for name in (one for one in verdict.sizes if one not in CONSTANT):
            value, low, _ = ratio(verdict.sizes[name], verdict.sizes[base])
            met = "met on the mean, not reliably" if value >= 1.0 + share else "not met"
            met = "met" if low >= 1.0 + share else met
            nearer = best_constant(verdict, BETWEEN)
            lines.append(
                f"- {verdict.design}, {verdict.titles[name]}: **{met}**, {said(verdict, name, base)} of the region up "
                f"to {largest:g} N of {verdict.titles[base]}; up to {BETWEEN:g} N "
                f"{said(verdict, name, nearer, BETWEEN)} of that of {verdict.titles[nearer]}"
            )
    return lines


def conclusion(verdicts: Sequence[Verdict]) -> list[str]:
    """Return who has the largest region and who stands most often, means of all designs."""
    names, titles = list(verdicts[0].sizes), verdicts[0].titles
    region = {n: float(np.mean([areas(v.sizes[n]).mean() / areas(v.sizes[best_constant(v)]).mean() for v in verdicts]))
              for n in names}  # fmt: skip
    stands = {n: float(np.mean([v.stood[n].mean() for v in verdicts])) for n in names}
    best, safest = max(names, key=region.__getitem__), max(names, key=stands.__getitem__)
    constant = max((n for n in CONSTANT if n in stands), key=stands.__getitem__)
    gain = f"{100 * (region[best] - 1):+.1f} % against the best fixed gains"
    told = f"Largest region of survived pushes: {titles[best]}, {gain}"
    if BEGUN in region and best != BEGUN:
        told += f" ({titles[BEGUN]}: {100 * (region[BEGUN] - 1):+.1f} %)"
    upright = (
        f"Most often upright in the drawn situations: {titles[safest]}, {100 * stands[safest]:.1f} %; of the "
        f"fixed gains {titles[constant]}, {100 * stands[constant]:.1f} %."
    )
    return [f"**{told}. {upright}**"]


_PARTS = {
    "fixed PID": ("fixed_genetic", "fixed_cmaes"), "two degrees of freedom": ("two_degree",),
    "teaching and imitation": ("teaching_signal", "imitation"),
    "knowledge bases": ("knowledge_base_equal", "knowledge_base_free"), "LQR": ("lqr", "lqr_scheduled"),
    "knowledge base begun at LQR's": (BEGUN,),
}  # fmt: skip
TIMED = tuple(f"{part}, s" for part in (*_PARTS, "all of it, without the verdict"))


def times(seconds: Mapping[str, float]) -> list[str]:
    """Return the times of a design's parts, and of all of it, as cells."""
    parts = [sum(seconds.get(stage, 0.0) for stage in stages) for stages in _PARTS.values()]
    return [f"{value:.0f}" for value in (*parts, sum(v for stage, v in seconds.items() if stage != "pushes"))]


DECLARED = Path(configs.__file__).parent / "unicycle_region_study.yaml"


def section(verdict: Verdict, declared: Declaration) -> list[str]:
    """Return what one design found as Markdown lines."""
    largest, grip = declared.grid.largest, declared.region["grip"]
    speeds = [ride.speed for ride in rides_of(declared)]
    return [
        f"## {verdict.design}", "", "### Region of survived pushes", "",
        *regions(verdict, (largest, BETWEEN, grip)), "",
        f"By speed, area of {largest:g} N all around:", "", *by_speed(verdict, speeds, largest), "",
        finer(verdict), "",
        "### Survival in the drawn situations", "", *survival(verdict.stood, verdict.titles), "",
        "### Quality in the drawn situations", "",
        *quality(verdict.quality, verdict.stood, verdict.titles, TITLES), "",
    ]  # fmt: skip


def page(verdicts: Sequence[Verdict], declared: Declaration, chosen: command.Options) -> str:
    """Return the whole page."""
    words, grid, region = " ".join(chosen.overrides), declared.grid, declared.region
    head = [
        "# The unicycle's region of survived pushes", "",
        f"Written by `python -m experiments.studies.unicycle.regions{' ' + words if words else ''}`.", "",
        *conclusion(verdicts), "",
        f"The aim, a region larger by {100 * declared.aim:g} % than the largest one of any fixed gains:", "",
        *aim(verdicts, declared.aim, grid.largest), "",
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
        "[unicycle.md](unicycle.md).", "",
        *declared.lines(),
    ]  # fmt: skip
    parts = [line for verdict in verdicts for line in section(verdict, declared)]
    costs = ["## What a design costs", "", *command.costs(chosen, TIMED, times)]
    return "\n".join([*head, *parts, *costs]).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the designs named (all by default), print their tables, and write the page if all were run."""
    command.command(_COMMAND, arguments)


_COMMAND = command.Command(
    text=__doc__, file=DECLARED, declaration=lambda: declaration(DECLARED), folder="runs/unicycle_region",
    experiment="unicycle_region_study", page=Path("docs/studies/unicycle_region.md"),
    found=lambda folders, declared: [judged(folder, declared) for folder in folders.values()],
    told=lambda verdicts, declared: [line for one in verdicts for line in section(one, declared)],
    written=page,
)  # fmt: skip

if __name__ == "__main__":
    main()
