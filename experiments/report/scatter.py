"""Scatter charts as inline SVG: dots and diamonds over two axes, a few of them named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.axes import Axis, data_range
from experiments.report.charts import BOTTOM, LEFT, RIGHT, TOP, LineChart, grid, labels
from experiments.report.markup import Html, element

if TYPE_CHECKING:
    from experiments.report.situations import Array

_LETTER = 6.0  # pixels of a letter in a name


@dataclass(frozen=True, eq=False)
class Dots:
    """Points of one kind.

    Attributes
    ----------
    x, y : array [n]
    radius : array [n]
        Pixels.
    style : str
        CSS classes of their colour.
    titles : tuple of str
        What each is, for pointer and screen reader.
    diamonds : bool
        Drawn as diamonds; else as dots.
    sets_range : bool
        False: points far outside the others' range are left out of the chart.
    """

    x: Array
    y: Array
    radius: Array
    style: str
    titles: tuple[str, ...]
    diamonds: bool = False
    sets_range: bool = True


@dataclass(frozen=True, eq=False)
class Scatter:
    """What to draw: axis labels, dots in this order (the last on top), and names at points (x, y, name)."""

    x_label: str
    y_label: str
    dots: tuple[Dots, ...]
    names: tuple[tuple[float, float, str], ...] = ()
    remark: str = ""
    width: float = 820.0
    height: float = 380.0


def scatter(chart: Scatter) -> Html:
    """The chart as one SVG element."""
    x, y = _axes(chart)
    frame = LineChart(
        chart.y_label, (), x_label=chart.x_label, x_unit="", width=chart.width, height=chart.height,
        remark=chart.remark,
    )  # fmt: skip
    groups = [_group(dots, x, y) for dots in chart.dots]
    inner = element("g", *groups, *_names(chart, x, y), transform=f"translate({LEFT:g} {TOP:g})")
    return element(
        "svg", grid(x, y), inner, labels(frame, x, y), viewBox=f"0 0 {chart.width:g} {chart.height:g}", class_="chart",
        role="img", aria_label=f"{chart.y_label} over {chart.x_label}{chart.remark}",
    )  # fmt: skip


def _axes(chart: Scatter) -> tuple[Axis, Axis]:
    shown = [d for d in chart.dots if d.sets_range] or list(chart.dots)
    lows_highs = []
    for pick in ("x", "y"):
        core = data_range([getattr(d, pick) for d in shown])
        # A mark near the front is worth a wider chart, one far away would press the front into a corner.
        reach = (core[0] - 0.5 * (core[1] - core[0]), core[1] + 0.5 * (core[1] - core[0]))
        near = [v for d in chart.dots for v in np.asarray(getattr(d, pick), float) if reach[0] <= v <= reach[1]]
        lows_highs.append(data_range([np.array(near)]))
    (x_low, x_high), (y_low, y_high) = lows_highs
    width, height = chart.width - LEFT - RIGHT, chart.height - TOP - BOTTOM
    return Axis(x_low, x_high, width), Axis(y_low, y_high, height, downwards=True)


def _group(dots: Dots, x: Axis, y: Axis) -> Html:
    inside = (dots.x >= x.low) & (dots.x <= x.high) & (dots.y >= y.low) & (dots.y <= y.high)
    shapes = [
        _shape(
            x.pixel(float(dots.x[i])), y.pixel(float(dots.y[i])), float(dots.radius[i]), dots.titles[i], dots.diamonds
        )
        for i in np.flatnonzero(inside)
    ]
    return element("g", *shapes, class_=f"mark {dots.style}".strip())


def _shape(x: float, y: float, r: float, title: str, diamond: bool) -> Html:
    name = element("title", title)
    if diamond:
        return element(
            "path", name, d=f"M{x:g} {y - r:g}l{r:g} {r:g}l{-r:g} {r:g}l{-r:g} {-r:g}z", class_="dot diamond"
        )
    return element("circle", name, cx=f"{x:g}", cy=f"{y:g}", r=f"{r:.1f}", class_="dot")


def _names(chart: Scatter, x: Axis, y: Axis) -> list[Html]:
    """Names beside their points, with a ring around the point; at the left where there is no room at the right."""
    found = []
    for at_x, at_y, name in chart.names:
        px, py = x.pixel(at_x), y.pixel(at_y)
        right = px + 14.0 + _LETTER * len(name) < x.length
        anchor = "label named" if right else "label named end"
        found.append(element("circle", cx=f"{px:g}", cy=f"{py:g}", r="10", class_="ring"))
        found.append(element("text", name, x=f"{px + (14.0 if right else -14.0):g}", y=f"{py - 9.0:g}", class_=anchor))
    return found
