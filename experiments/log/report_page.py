"""The report beside a sheet: the log as the plants see it, the plants themselves, both loops, and what was left over.

The sheet is what is typed from; this page is where one sees whether to trust it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from experiments.log.report import ensemble_table
from experiments.log.sheet import what_to_do
from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, document, element
from experiments.report.drawing.interval_chart import IntervalRow, Mark, interval_chart
from plants.identification.slow_filter import SKIPPED, filtered, smoothed
from sscq.identification.advice import SENSITIVITY, WORTH, some, told
from sscq.identification.loops import respond, step_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from experiments.log.sheet import CommissioningCase, ProposedChange
    from plants.identification.record import LoopRecord
    from plants.identification.slow_filter import Filtered
    from sscq.identification.ensemble import Ensemble, PlantMembers

    Array = NDArray[np.float64]

_DRAWN, _LINES = 120, 24  # members in bands, and drawn one by one
_BANDS = ((0.05, "k2"), (0.25, "k1"), (0.5, "k0"), (0.75, "k1"), (0.95, "k2"))
_WIDE = 940.0
_TWO = 1.96  # deviations of 95 %


def page(case: CommissioningCase) -> str:
    """Return the report of a log from which plants were identified."""
    ensemble = case.found.ensemble
    assert ensemble is not None  # noqa: S101  (the command asks)
    change = case.change
    parts = [_first(case), _log(case, ensemble), _plants(ensemble, case.found.discrepancy)]
    if change is not None:
        parts.append(_loops(change))
    parts.append(_residuals(ensemble))
    return document("Report of a log", case.log.name, *parts)


def _first(case: CommissioningCase) -> Html:
    """Verdict, the promise on its scale, what to type."""
    parts = [element("h1", f"{case.advice.status}: {case.advice.reason}")]
    promised = case.advice.promise
    if promised is not None:
        mark = Mark(promised.median, told(promised), promised.low, promised.high, "k0")
        edges = tuple(Mark(end, "", hollow=True) for end in (-0.2, 1.0))
        row = IntervalRow("less error", (mark, *edges))
        parts.append(interval_chart((row,), told(promised), zero=WORTH, as_percent=True, width=_WIDE))
    parts.append(element("pre", what_to_do(case)))
    text = "What to type, how to go there and when to stop is on the sheet. The line is where other gains are worth it."
    parts.append(element("p", text, " ", element("a", "sheet.html", href="sheet.html")))
    return element("section", *parts)


# -------------------------------------------------------------------------------------------------------------- the log


def _log(case: CommissioningCase, ensemble: Ensemble) -> Html:
    """What was measured and what the best plant expected a row before, the output, and the load that it takes to be."""
    fit = ensemble.fits[int(ensemble.weights.argmax())]
    charts = []
    for number, record in enumerate(ensemble.records):
        seen = filtered(fit.prior.structure, record, fit.best, ensemble.sense)
        charts += _stretch(record, seen, f", stretch {number + 1}" if len(ensemble.records) > 1 else "")
    missing = sum(int((~record.measured).sum()) for record in ensemble.records)
    text = (
        "Measured value with what the most likely plant expected of each row before it came (95 % of the rows lie in "
        "the band), the output, and the load at the plant's input that all rows together tell, with its band. "
        f"{missing} rows are missing. {len(case.found.findings)} findings are on the sheet."
    )
    return element("section", element("h2", "The log"), element("p", text), *charts)


def _stretch(record: LoopRecord, seen: Filtered, remark: str) -> list[Html]:
    time, rest = record.instants, record.origin[0]
    expected = record.output - seen.innovation
    room = _TWO * np.sqrt(seen.variance)
    room[:SKIPPED] = np.nan  # the filter does not know yet where the loop is
    measured = (
        Curve(time, record.output, "measured", "k0"),
        Curve(time, expected - room, "expected, low", "k2 thin"),
        Curve(time, expected + room, "expected, high", "k2 thin"),
    )
    state, covariance = smoothed(seen)
    load = state[:, 2] + state[:, 3]
    band = _TWO * np.sqrt(np.maximum(covariance[:, 2, 2] + covariance[:, 3, 3] + 2.0 * covariance[:, 2, 3], 0.0))
    level = float(np.median(load))  # the walk has no origin of its own
    loads = tuple(
        Curve(time, load - level + sign * band, name, style)
        for sign, name, style in ((0.0, "load", "k0"), (-1.0, "low", "k2 thin"), (1.0, "high", "k2 thin"))
    )
    output = (Curve(time, record.input, "output", "k1"),)
    return [
        line_chart(LineChart("measured value", measured, remark=remark, limits=(rest,), width=_WIDE, height=190.0)),
        line_chart(LineChart("output", output, width=_WIDE, height=120.0)),
        line_chart(LineChart("estimated load", loads, "output's unit", width=_WIDE, height=130.0)),
    ]


# ----------------------------------------------------------------------------------------------------------- the plants


def _plants(ensemble: Ensemble, discrepancy: float) -> Html:
    """How the output answers a step of the input, and how the parameters go together."""
    members = some(ensemble.spread(discrepancy), _DRAWN)
    slow, late = np.concatenate([np.stack(g.structure.times(g.parameters)) for g in members], axis=1)
    longest = max(record.duration for record in ensemble.records)
    horizon = float(3.0 * np.median(np.minimum(slow, longest / 3.0)) + 2.0 * np.quantile(late, 0.95))
    step = ensemble.records[0].step
    time = np.asarray(step * np.arange(max(4, round(horizon / step))), float)
    answers = np.concatenate([step_answers(group, len(time), step) for group in members])
    fan = LineChart("measured value after a step of the output by 1", _bands(time, answers), width=460.0, height=230.0)
    largest = max(ensemble.members, key=len)
    names = list(largest.structure.parameters[:4])
    pairs = [(names[0], names[1]), (names[2], names[3])]
    dots = [_pairs(largest, *pair) for pair in pairs]
    text = (
        f"Each of {sum(map(len, ensemble.members))} plants could have made the log; curves are 5, 25, 50, 75 and 95 % "
        f"of them, spread by {discrepancy:g}. Parameters that are told poorly one by one go together."
    )
    table = element("pre", ensemble_table(ensemble))
    return element(
        "section",
        element("h2", "The plants"),
        element("p", text),
        element("div", line_chart(fan), *dots, class_="multiples"),
        table,
    )


def _bands(time: Array, values: Array) -> tuple[Curve, ...]:
    return tuple(Curve(time, np.quantile(values, q, axis=0), f"{100 * q:.0f} %", style) for q, style in _BANDS)


def _pairs(group: PlantMembers, first: str, second: str) -> Html:
    """Members as dots: a short stroke each."""
    x, y = group.column(first)[::4], group.column(second)[::4]
    width = 0.004 * float(np.ptp(x) or 1.0)
    strokes = (np.stack([x - width, x + width, x + np.nan], axis=1).ravel(), np.repeat(y, 3))
    names = [name.replace("_", " ") for name in (first, second)]
    dots = Curve(strokes[0], strokes[1], "member", "k0")
    return line_chart(
        LineChart(names[1], (dots,), x_label=names[0], x_unit="", width=460.0, height=230.0, points=len(strokes[0]))
    )


# ---------------------------------------------------------------------------------------------------------- both loops


def _loops(change: ProposedChange) -> Html:
    """What both do in the scenario, and how near their open loops come to -1."""
    given = change.scenario.signals(change.law.sample_time or 1.0)
    members = some(change.ensemble.spread(change.discrepancy), _DRAWN)
    time = np.asarray(given.step * np.arange(len(given)), float)
    charts = []
    for title, gains in (("present", change.present), ("proposed", change.proposed)):
        found = respond(members, change.ensemble.sense, change.law, np.abs(gains.vector), given)
        for label, values in (("measured value, change", found.output), ("output, change", found.command)):
            chart = LineChart(label, _bands(time, values), remark=f", {title} gains", width=460.0, height=190.0)
            charts.append(line_chart(chart))
    charts += [
        line_chart(_nyquist(change, np.abs(gains.vector), title))
        for title, gains in (("present", change.present), ("proposed", change.proposed))
    ]
    text = (
        "A step of the set point at once and a load half way, with noise. Below, the open loop of some plants where "
        f"the log went and their curve is steepest: outside the circle Ms is below {SENSITIVITY:g}. The sampled law is "
        "drawn with half a row's delay."
    )
    return element(
        "section", element("h2", "Both loops"), element("p", text), element("div", *charts, class_="multiples")
    )


def _nyquist(change: ProposedChange, gains: Array, title: str) -> LineChart:
    circle = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200)) / SENSITIVITY - 1.0
    curves = [Curve(circle.real, circle.imag, f"Ms {SENSITIVITY:g}", "reference")]
    step, reach = change.law.sample_time or 1.0, change.ensemble.reach
    for group in some(change.ensemble.spread(change.discrepancy), _LINES):
        curves += [
            Curve(one.real, one.imag, "plant", "k0 thin", sets_range=False)
            for one in (_open_loop(group, k, gains, step, reach) for k in range(len(group)))
        ]
    curves.append(Curve(np.array([-2.2, 1.0]), np.array([0.0, 0.0]), "", "thin"))
    return LineChart(
        "imaginary part",
        tuple(curves),
        x_label="real part",
        x_unit="",
        remark=f", {title} gains",
        width=360.0,
        height=334.0,
        y_range=(-2.0, 1.0),
    )


def _open_loop(group: PlantMembers, k: int, gains: Array, step: float, reach: Sequence[float]) -> Array:
    """C(jw) G(jw) of a member at frequencies about its own; what lies outside of the drawing is not a number."""
    A, b = group.structure.equations(group.parameters[k])
    late = float(group.structure.dead_time(group.parameters[k : k + 1])[0]) + 0.5 * step
    slow, quick = (float(time[0]) for time in group.structure.times(group.parameters[k : k + 1]))
    w = np.geomspace(0.05 / min(slow, 1e3 * quick), np.pi / step, 160)
    steep = np.exp(max(float(group.column("curve")[k]) * end for end in reach))
    plant = np.array([np.linalg.solve(1j * one * np.eye(2) - A, b)[1] for one in w]) * steep * np.exp(-1j * w * late)
    found = plant * (gains[0] + gains[1] / (1j * w) + gains[2] * 1j * w)
    return np.where((found.real > -2.2) & (found.real < 1.0) & (abs(found.imag) < 2.0), found, np.nan + 0j)


# ---------------------------------------------------------------------------------------------------- what is left over


def _residuals(ensemble: Ensemble) -> Html:
    """Correlation of what the most likely plant did not expect, and its quantiles against those of noise."""
    fit = ensemble.fits[int(ensemble.weights.argmax())]
    seen = [filtered(fit.prior.structure, record, fit.best, ensemble.sense) for record in ensemble.records]
    units = np.concatenate([one.innovation / np.sqrt(one.variance) for one in seen])
    units = units[np.isfinite(units)][3:]
    centred = units - units.mean()
    lags = np.arange(1, 21)
    correlation = np.array([(centred[lag:] * centred[:-lag]).sum() for lag in lags]) / (centred**2).sum()
    bound = _TWO / np.sqrt(len(units))
    heights = np.stack([0.0 * lags, correlation, np.nan * lags], axis=1).ravel()
    bars = Curve(np.repeat(lags, 3).astype(float), heights, "", "k0")
    normal = stats.norm.ppf((np.arange(len(units)) + 0.5) / len(units))
    ends = np.array([-4.0, 4.0])
    quantiles = (Curve(ends, ends, "noise", "reference"), Curve(normal, np.sort(units), "residuals", "k0"))
    charts = (
        LineChart(
            "correlation of the residuals",
            (bars,),
            limits=(-bound, bound),
            x_label="lag",
            x_unit="rows",
            width=460.0,
            height=190.0,
        ),
        LineChart("residuals, in deviations", quantiles, x_label="of noise", x_unit="", width=460.0, height=190.0),
    )
    test = ensemble.residuals
    text = (
        f"What the most likely plant did not expect. Ljung-Box of {test.lags} lags {test.portmanteau:.0f} (at most "
        f"60); {100.0 * test.far:.2f} % beyond four deviations (at most 2 %); evidence that the output follows the "
        f"input {ensemble.input_evidence:.1f} (at least 6). Between the lines 95 % of the correlations of noise."
    )
    return element(
        "section",
        element("h2", "What was left over"),
        element("p", text),
        element("div", *(line_chart(chart) for chart in charts), class_="multiples"),
    )
