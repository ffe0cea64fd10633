"""Line charts as inline SVG: axes with units, limits as dashed lines, curves that keep their extremes.

Colours are CSS classes (k0, k1, ...), so that light and dark pages share one drawing. Every plot carries its data
ranges, from which the page's script reads values off the curves under the pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.axes import UNITS, ChartAxis, data_range, keep_extremes, path
from experiments.report.drawing.html import Html, element, join, svg
from experiments.report.drawing.numbers import superscript

if TYPE_CHECKING:
    from experiments.report.records.results import Array

LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 17.0, 30.0
_DIGITS = 6  # of a number left of the axis


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve: finite or broken by NaN; `style` is its CSS class; `sets_range` false: may leave the chart."""

    x: Array
    y: Array
    name: str
    style: str = ""
    sets_range: bool = True


@dataclass(frozen=True, eq=False)
class LineChart:
    """What to draw.

    Attributes
    ----------
    label, unit : str
        What the vertical axis shows.
    curves : tuple of Curve
        Drawn in this order, the last on top.
    limits : tuple of float
        Dashed lines across the chart; the range includes them.
    x_label, x_unit : str
        Horizontal axis; an empty label leaves its numbers out (the chart below carries them).
    width, height : float
        Pixels of the whole drawing.
    log, log_x : bool
        Logarithmic vertical, horizontal axis.
    points : int
        At most so many points per curve.
    y_range : pair of float or None
        Fixed vertical range.
    remark : str
        Follows the label.
    notes : tuple of (x, text)
        Words above the chart at horizontal positions, in place of the label.
    """

    label: str
    curves: tuple[Curve, ...]
    unit: str = ""
    limits: tuple[float, ...] = ()
    x_label: str = "t"
    x_unit: str = "s"
    width: float = 400.0
    height: float = 150.0
    log: bool = False
    log_x: bool = False
    points: int = 600
    y_range: tuple[float, float] | None = None
    remark: str = ""
    notes: tuple[tuple[float, str], ...] = ()


def line_chart(chart: LineChart) -> Html:
    """The chart as one SVG element."""
    bottom = BOTTOM if chart.x_label else 8.0
    x, y = _axes(chart, chart.width - LEFT - RIGHT, chart.height - TOP - bottom)
    drawing = [grid(x, y), _plot(chart, x, y), labels(chart, x, y)]
    name = f"{_with_unit(chart.label, chart.unit)} over {_with_unit(chart.x_label or 't', chart.x_unit)}"
    return svg(chart.width, chart.height, name, *drawing)


def _with_unit(label: str, unit: str) -> str:
    return f"{label} [{unit}]" if unit else label


def _axes(chart: LineChart, width: float, height: float) -> tuple[ChartAxis, ChartAxis]:
    shown = [c for c in chart.curves if c.sets_range] or list(chart.curves)
    x_low, x_high = data_range([c.x for c in chart.curves], pad=0.0)
    values = [c.y[c.y > 0] if chart.log else c.y for c in shown]
    if all(c.style == "reference" for c in shown):
        values += [_begin(c) for c in chart.curves if not c.sets_range]
    low, high = chart.y_range or data_range(values, chart.limits, pad=0.0 if chart.log else 0.06)
    log = chart.log and low > 0
    if log:
        low, high = 0.93 * low, 1.07 * high
    return ChartAxis(x_low, x_high, width, log=chart.log_x), ChartAxis(low, high, height, log=log, downwards=True)


def _begin(curve: Curve) -> Array:
    """The first half of a curve that may leave the chart: where it goes is seen, without how far."""
    known = curve.y[np.isfinite(curve.y)]
    return known[: (len(known) + 1) // 2]


def grid(x: ChartAxis, y: ChartAxis) -> Html:
    """Grid lines, zero line and frame."""
    # One path for all grid lines: charts are many.
    lines = [f"M0 {p:g}h{x.length:g}" for p, _ in _ticks(y)]
    lines += [f"M{p:g} 0v{y.length:g}" for p, _ in x.ticks(5)]
    grid = element("path", d="".join(lines), class_="grid")
    zero = element("path", d=f"M0 {y.pixel(0.0):g}h{x.length:g}", class_="zero") if y.low < 0.0 < y.high else ""
    frame = element("rect", width=f"{x.length:g}", height=f"{y.length:g}", class_="frame")
    return element("g", grid, zero, frame, transform=f"translate({LEFT:g} {TOP:g})")


def _ticks(y: ChartAxis) -> list[tuple[float, str]]:
    """Numbers of the vertical axis: fewer, where they would have more digits than there is room for."""
    count = max(2, int(y.length // 32))
    while max((len(name) for _, name in y.ticks(count, y.power)), default=0) > _DIGITS and count > 3:
        count = max(3, count // 2)
    return list(y.ticks(count, y.power))


def _plot(chart: LineChart, x: ChartAxis, y: ChartAxis) -> Html:
    """Curves in a drawing of their own, which clips them and stretches whole units to pixels."""
    limits = [_limit(v, x, y) for v in chart.limits]
    curves = [_curve(c, x, y, chart.points) for c in chart.curves]
    return element(
        "svg",
        element("rect", width=round(x.length * UNITS), height=round(y.length * UNITS), class_="hit"),
        *limits,
        *curves,
        x=f"{LEFT:g}",
        y=f"{TOP:g}",
        width=f"{x.length:g}",
        height=f"{y.length:g}",
        viewBox=f"0 0 {round(x.length * UNITS)} {round(y.length * UNITS)}",
        preserveAspectRatio="none",
        class_="plot",
        data_x=f"{x.low:.6g} {x.high:.6g}",
        data_y=f"{y.low:.6g} {y.high:.6g}",
        data_log=y.log,
        data_logx=x.log,
        data_units=f"{_with_unit(chart.x_label or 't', chart.x_unit)}|{chart.unit}",
    )


def _limit(value: float, x: ChartAxis, y: ChartAxis) -> Html:
    return element("path", d=f"M0 {round(float(y.place(value)))}h{round(x.length * UNITS)}", class_="limit")


def _curve(curve: Curve, x: ChartAxis, y: ChartAxis, points: int) -> Html:
    placed = y.place(curve.y)
    picks = keep_extremes(placed, points)
    d = path(x.place(np.asarray(curve.x)[picks]), placed[picks])
    return element("path", d=d, class_=f"curve {curve.style}".strip(), data_n=curve.name) if d else Html("")


def labels(chart: LineChart, x: ChartAxis, y: ChartAxis) -> Html:
    """Names and numbers of both axes."""
    bottom = TOP + y.length
    label = (f"10{superscript(y.power)} · " if y.power else "") + _with_unit(chart.label, chart.unit) + chart.remark
    if not chart.x_label:  # the numbers are below the last chart of its column
        label += f" over {_with_unit('t', chart.x_unit)}"
    out = [element("text", label, x=f"{LEFT:g}", y=f"{TOP - 5:g}", class_="label")] if not chart.notes else []
    out += [_tick(name, x.pixel(at), TOP - 5.0, x.length, "label") for at, name in chart.notes]
    out += [
        element("text", name, x=f"{LEFT - 5:g}", y=f"{TOP + p + 3.5:.1f}", class_="tick end") for p, name in _ticks(y)
    ]
    if chart.x_label:
        out += [_tick(name, p, bottom + 13.0, x.length, "tick") for p, name in x.ticks(5)]
        name = _with_unit(chart.x_label, chart.x_unit)
        out.append(element("text", name, x=f"{LEFT + x.length:g}", y=f"{bottom + 26:g}", class_="label end"))
    return join(out)


def _tick(name: str, at: float, y: float, length: float, style: str) -> Html:
    """Words centred on a horizontal position, kept inside the drawing at both ends."""
    half = 3.1 * len(name)
    x, anchor = LEFT + at, "mid"
    if at + half > length + RIGHT:
        x, anchor = LEFT + length + RIGHT - 1.0, "end"
    elif at - half < -LEFT:
        x, anchor = 1.0, ""
    return element("text", name, x=f"{x:.1f}", y=f"{y:g}", class_=f"{style} {anchor}".strip())
