"""Tables of the comparison of the unicycle's regions: against the largest region of any fixed gains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from experiments.comparison.survival import BASE, lines_of
from experiments.unicycle_knowledge import NAME as BEGUN
from experiments.unicycle_pushes import areas
from experiments.unicycle_tables import ratio

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.unicycle_verdict import Verdict

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
