"""Margins of the contenders at the plant's operating points, the worst over gain sets and taught plants."""

from __future__ import annotations

from math import degrees
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline.judging import keeps_margins
from experiments.report.records.results import MarginPoint, PointMargins
from experiments.report.records.situations import NotAvailable

if TYPE_CHECKING:
    from experiments.report.builders.case import Array, FinishedDesign
    from sscq.baselines.tuned import Tuned
    from sscq.margins.margins import LoopMargins


def of(case: FinishedDesign, contender: Tuned) -> PointMargins | NotAvailable:
    """Return the margins at every operating point, or why there are none."""
    if case.bench.margins is None:
        if not case.plant.operating_points:
            return NotAvailable("the plant declares no operating points")
        return NotAvailable("no margins were asked for (fitness.max_sensitivity=null)")
    found = case.judgement.margins.get(contender.name)
    if found is None:
        if contender.plant is not None:
            return NotAvailable("it feeds back all states: margins here are those of a PID")
        return NotAvailable("no feedback" if not contender.theta.any() else "its gains differ in every situation")
    several = len(found) > 1
    points = tuple(
        point
        for channel, margins in zip(case.plant.channels, found, strict=True)
        for point in _points(case, margins, f"{channel.output}: " if several else "")
    )
    return PointMargins(points, _over(case, found[0]))


def kept(case: FinishedDesign, contender: Tuned) -> bool | None:
    """Return whether all gain sets that a contender may give keep the margins; None where that was not asked."""
    return keeps_margins(case.bench, contender)


def _over(case: FinishedDesign, margins: LoopMargins) -> str:
    n_sets, n_points = margins.sensitivity.shape
    n_plants = n_points // len(case.plant.operating_points)
    over = [] if n_sets == 1 else [f"{n_sets} gain sets (rules or nodes, reference gains, mixtures of them)"]
    over += [f"{n_plants} taught plants"] if n_plants > 1 else []
    parts = [f"Worst over {' and '.join(over)}."] if over else []
    if len(case.plant.channels) > 1:
        parts += ["One channel's loop is opened at a time, the others are closed."]
    return " ".join(parts)


def _points(case: FinishedDesign, margins: LoopMargins, prefix: str) -> list[MarginPoint]:
    """Worst margins of each operating point; several taught plants share the points."""
    names = [point.name for point in case.plant.operating_points]

    def worst(values: Array, reduce: np.ufunc) -> list[float]:
        shaped = values.reshape(len(values), -1, len(names))  # [gain set, plant, operating point]
        return reduce.reduce(reduce.reduce(shaped, axis=0), axis=0).tolist()

    columns = zip(
        names,
        worst(margins.sensitivity, np.maximum),
        worst(margins.delay_margin, np.minimum),
        worst(margins.phase_margin, np.minimum),
        worst(margins.gain_margin, np.minimum),
        strict=True,
    )
    return [MarginPoint(prefix + name, ms, delay, degrees(phase), gain) for name, ms, delay, phase, gain in columns]
