"""Scatter charts as inline SVG: dots and diamonds over two axes, a few of them named.

Names stand beside their points, over as few other points as can be, and never over one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.axes import ChartAxis, data_range
from experiments.report.drawing.charts import BOTTOM, LEFT, RIGHT, TOP, LineChart, grid, labels
from experiments.report.drawing.html import Html, element, svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.report.records.results import Array


LETTER, ABOVE, BELOW = 5.9, 9.0, 3.0  # pixels: width of a letter, height of a line above and below its foot
_NEAR = 11.0  # from a point to its name
_REACHES = (_NEAR, 22.0, 36.0, 52.0, 70.0, 92.0, 118.0, 148.0)
_ANGLES = np.deg2rad([-35.0, 35.0, -145.0, 145.0, -90.0, 90.0, 0.0, 180.0, -65.0, 65.0, -115.0, 115.0])
_GAP = 5.0  # pixels between two names side by side, for the halo around them
_SIZE = 5.0  # pixels from the middle of a point to its edge
_COVERED, _FAR = 3.0, 0.08  # costs: of a point that is covered, of a pixel of distance


@dataclass(frozen=True)
class Place:
    """Foot of a name [pixels], whether it ends there, and where its point is."""

    x: float
    y: float
    ends: bool
    point: tuple[float, float]

    @property
    def led(self) -> bool:
        """Whether it stands so far from its point that a line must lead there."""
        return float(np.hypot(self.x - self.point[0], self.y - self.point[1])) > _NEAR + 6.0

    def box(self, name: str) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a name that stands here."""
        width = LETTER * len(name)
        left = self.x - width if self.ends else self.x
        return left, self.y - ABOVE, left + width, self.y + BELOW


def places(
    names: Sequence[tuple[float, float, str]], dots: Array, width: float, height: float
) -> list[tuple[str, Place]]:
    """Return a place for each name, those that find none left out.

    Parameters
    ----------
    names : sequence of (x, y, name)
        Points in pixels, the most important first.
    dots : array [n, 2]
        Points that had better not be covered.
    width, height : float
        Of the chart; names stay inside.
    """
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for x, y, name in names:
        free = [
            (cost, place)
            for place in _candidates(x, y)
            if (cost := _cost(place, name, taken, dots, width, height)) is not None
        ]
        if free:
            place = min(free, key=lambda pair: pair[0])[1]
            taken.append(place.box(name))
            found.append((name, place))
    return found


def _candidates(x: float, y: float) -> Iterable[Place]:
    for reach in _REACHES:
        for angle in _ANGLES:
            across, down = reach * float(np.cos(angle)), reach * float(np.sin(angle))
            yield Place(x + across, y + down + 3.0, bool(across < -1e-9), (x, y))


def _cost(
    place: Place, name: str, taken: Sequence[tuple[float, float, float, float]], dots: Array, width: float,
    height: float,
) -> float | None:  # fmt: skip
    """Points that are covered and distance; None where the name leaves the chart or covers another."""
    left, top, right, bottom = place.box(name)
    if left < 0.0 or top < 0.0 or right > width or bottom > height:
        return None
    if any(left < r + _GAP and right > l - _GAP and top < b and bottom > t for l, t, r, b in taken):
        return None
    x, y = dots[:, 0], dots[:, 1]
    inside = (x > left - _SIZE) & (x < right + _SIZE) & (y > top - _SIZE) & (y < bottom + _SIZE)
    reach = float(np.hypot(place.x - place.point[0], place.y - place.point[1]))
    return _COVERED * float(inside.sum()) + _FAR * reach


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
    name = f"{chart.y_label} over {chart.x_label}{chart.remark}"
    return svg(chart.width, chart.height, name, grid(x, y), inner, labels(frame, x, y))


def _axes(chart: Scatter) -> tuple[ChartAxis, ChartAxis]:
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
    return ChartAxis(x_low, x_high, width), ChartAxis(y_low, y_high, height, downwards=True)


def _group(dots: Dots, x: ChartAxis, y: ChartAxis) -> Html:
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


def _steps(dots: Dots, x: ChartAxis, y: ChartAxis) -> Html:
    """A staircase through the points: along the worse side, as nothing better is known between two of them."""
    order = np.lexsort((dots.y, dots.x))
    across, down = [[axis.pixel(float(v)) for v in values[order]] for axis, values in ((x, dots.x), (y, dots.y))]
    way = f"M{across[0]:.1f} {down[0]:.1f}" + "".join(
        f"H{px:.1f}V{py:.1f}" for px, py in zip(across[1:], down[1:], strict=True)
    )
    return element("path", d=way, class_=f"curve front {dots.style}".strip())


def _names(chart: Scatter, x: ChartAxis, y: ChartAxis) -> list[Html]:
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
