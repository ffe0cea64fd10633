"""Scatter charts as inline SVG: dots and diamonds over two axes, a few of them named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.axes import Axis, data_range
from experiments.report.charts import BOTTOM, LEFT, RIGHT, TOP, LineChart, grid, labels
from experiments.report.label_places import Place, places
from experiments.report.markup import Html, element

if TYPE_CHECKING:
    from experiments.report.situations import Array


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
    joined : bool
        Steps between the points, in order of x: what is reached, where less is better on both axes.
    """

    x: Array
    y: Array
    radius: Array
    style: str
    titles: tuple[str, ...]
    diamonds: bool = False
    sets_range: bool = True
    joined: bool = False


@dataclass(frozen=True, eq=False)
class Scatter:
    """What to draw: axis labels and units, dots in this order (the last on top), and names at points (x, y, name).

    Names of rings are points that are looked for; the others are told by name alone.
    """

    x_label: str
    y_label: str
    dots: tuple[Dots, ...]
    names: tuple[tuple[float, float, str], ...] = ()
    rings: tuple[tuple[float, float, str], ...] = ()
    remark: str = ""
    x_unit: str = ""
    y_unit: str = ""
    width: float = 820.0
    height: float = 380.0


def scatter(chart: Scatter) -> Html:
    """The chart as one SVG element."""
    x, y = _axes(chart)
    frame = LineChart(
        chart.y_label, (), unit=chart.y_unit, x_label=chart.x_label, x_unit=chart.x_unit, width=chart.width,
        height=chart.height, remark=chart.remark,
    )  # fmt: skip
    groups = [_steps(dots, x, y) for dots in chart.dots if dots.joined and len(dots.x) > 1]
    groups += [_group(dots, x, y) for dots in chart.dots]
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


def _steps(dots: Dots, x: Axis, y: Axis) -> Html:
    """A staircase through the points: along the worse side, as nothing better is known between two of them."""
    order = np.lexsort((dots.y, dots.x))
    across, down = [[axis.pixel(float(v)) for v in values[order]] for axis, values in ((x, dots.x), (y, dots.y))]
    way = f"M{across[0]:.1f} {down[0]:.1f}" + "".join(
        f"H{px:.1f}V{py:.1f}" for px, py in zip(across[1:], down[1:], strict=True)
    )
    return element("path", d=way, class_=f"curve front {dots.style}".strip())


def _names(chart: Scatter, x: Axis, y: Axis) -> list[Html]:
    """Names beside their points, a line to those that stand apart, a ring around the points that are looked for."""
    inside = [
        (px, py, name)
        for at_x, at_y, name in (*chart.rings, *chart.names)
        if 0.0 <= (px := x.pixel(at_x)) <= x.length and 0.0 <= (py := y.pixel(at_y)) <= y.length
    ]
    dots = np.array([(x.pixel(float(a)), y.pixel(float(b))) for d in chart.dots for a, b in zip(d.x, d.y, strict=True)])
    rings = [
        element("circle", cx=f"{x.pixel(at_x):g}", cy=f"{y.pixel(at_y):g}", r="10", class_="ring")
        for at_x, at_y, _ in chart.rings
    ]
    found = places(inside, dots.reshape(-1, 2), x.length, y.length)
    return rings + [_lead(place) for _, place in found if place.led] + [_text(name, place) for name, place in found]


def _lead(place: Place) -> Html:
    px, py = place.point
    return element("path", d=f"M{px:.1f} {py:.1f}L{place.x:.1f} {place.y - 3.0:.1f}", class_="leads")


def _text(name: str, place: Place) -> Html:
    style = "label named end" if place.ends else "label named"
    return element("text", name, x=f"{place.x:.1f}", y=f"{place.y:.1f}", class_=style)
