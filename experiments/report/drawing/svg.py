"""Figures of the benchmarks: line charts and bars on linear or logarithmic axes, as SVG files that stand alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.axes import UNITS, ChartAxis, data_range
from experiments.report.drawing.html import Html, element, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_COLOURS = ("#1f5fa8", "#d1661b", "#2b8a3e", "#a02c5a", "#6b4fa0", "#8a6d1f", "#3a8f98", "#555555")
LEFT, RIGHT, TOP, BOTTOM, KEY = 72.0, 14.0, 30.0, 44.0, 16.0  # pixels
LETTER = 7.0  # pixels, a letter's or digit's width at most
STYLE = (
    "text{font:12px sans-serif;fill:#222} .title{font-weight:bold} .axis{fill:#555} .grid{stroke:#ddd}"
    " .frame{fill:none;stroke:#888}"
)


def colour_of(number: int) -> str:
    """Colour of a curve's or bar's number; they begin again after eight."""
    return _COLOURS[number % len(_COLOURS)]


def words(written: str, x: float, y: float, anchor: str = "start", style: str = "axis") -> Html:
    """Words at a place [pixels]."""
    return element("text", written, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=style)


def key_lines(names: Sequence[str], width: float) -> list[list[tuple[int, str, float]]]:
    """Names of curves with their numbers and places, broken into lines that fit."""
    lines: list[list[tuple[int, str, float]]] = [[]]
    at = LEFT
    for number, name in enumerate(names):
        if lines[-1] and at + 26.0 + LETTER * len(name) > width:
            lines.append([])
            at = LEFT
        lines[-1].append((number, name, at))
        at += 34.0 + LETTER * len(name)
    return lines


def key(lines: list[list[tuple[int, str, float]]], colours: Sequence[int]) -> Html:
    """Lines of a key: a stroke in the colour and the name."""
    parts = []
    for k, line in enumerate(lines):
        y = TOP + KEY * k
        for number, name, at in line:
            colour = colour_of(colours[number])
            parts += [element("path", d=f"M{at:g} {y:g}h18", stroke=colour, stroke_width="3")]
            parts.append(words(name, at + 23.0, y + 4.0))
    return join(parts)


def bar_value(value: float, middle: float, top: float, room: float) -> Html:
    """A bar's value above it, turned where its room [pixels] is narrower than the figure."""
    written = f"{value:.3g}" if abs(value) < 1e3 else f"{value:.0f}"
    if LETTER * len(written) <= room:
        return words(written, middle, top - 4.0, "middle")
    turned = f"translate({middle + 4.0:.1f} {top - 4.0:g}) rotate(-90)"
    return element("text", written, transform=turned, class_="axis")


@dataclass(frozen=True, eq=False)
class SvgLine:
    """Points joined by lines, with a dot at each point where `dots`; one of `colour` numbers counts colours on."""

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    dots: bool = False
    dashed: bool = False
    colour: int | None = None


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves in one pair of axes; a logarithmic axis leaves out what is not positive."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[SvgLine, ...]
    log_x: bool = False
    log_y: bool = False
    width: float = 460.0
    height: float = 320.0


@dataclass(frozen=True, eq=False)
class Bars:
    """Groups of bars: for each group a value by name."""

    title: str
    y_label: str
    groups: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    width: float = 940.0
    height: float = 360.0


def figure(panels: Sequence[Chart | Bars], columns: int = 2) -> str:
    """Return one SVG file with the panels side by side."""
    drawn, at, bottom, right = [], 0.0, 0.0, 0.0
    for start in range(0, len(panels), columns):
        row, x = panels[start : start + columns], 0.0
        for panel in row:
            drawing = _bars(panel) if isinstance(panel, Bars) else _chart(panel)
            drawn.append(element("g", drawing, transform=f"translate({x:g} {at:g})"))
            x += panel.width
        right, at = max(right, x), at + max(panel.height for panel in row)
        bottom = at
    size = {"width": f"{right:g}", "height": f"{bottom:g}", "viewBox": f"0 0 {right:g} {bottom:g}"}
    paper = element("rect", width="100%", height="100%", fill="white")
    return element("svg", element("style", STYLE), paper, *drawn, xmlns="http://www.w3.org/2000/svg", **size) + "\n"


def _axis(values: list[np.ndarray], length: float, *, log: bool, downwards: bool = False) -> ChartAxis:
    if not log:
        return ChartAxis(*data_range(values), length, downwards=downwards)
    low, high = data_range([v[v > 0.0] for v in values], pad=0.0)
    return ChartAxis(low / 1.3, high * 1.3, length, log=True, downwards=downwards)


def _chart(chart: Chart) -> Html:
    keys = key_lines([curve.name for curve in chart.curves], chart.width)
    top = TOP + KEY * len(keys)
    width, height = chart.width - LEFT - RIGHT, chart.height - top - BOTTOM
    x = _axis([np.asarray(c.x, float) for c in chart.curves], width, log=chart.log_x)
    y = _axis([np.asarray(c.y, float) for c in chart.curves], height, log=chart.log_y, downwards=True)
    colours = [k if c.colour is None else c.colour for k, c in enumerate(chart.curves)]
    curves = [_curve(c, x, y, colour_of(k)) for c, k in zip(chart.curves, colours, strict=True)]
    across = _across(x, chart.curves)
    plot = element("g", _grid(y, width, [p for p, _ in across]), *curves, transform=f"translate({LEFT:g} {top:g})")
    labels = _axis_labels(chart, across, x.length, y, top)
    return join([words(chart.title, LEFT, 18.0, style="title"), key(keys, colours), plot, labels])


def _across(x: ChartAxis, curves: tuple[SvgLine, ...]) -> list[tuple[float, str]]:
    """Ticks of the horizontal axis: as many as stand beside one another, whole numbers where all values are."""
    whole = all(np.all(np.mod(np.asarray(c.x, float), 1.0) == 0.0) for c in curves)
    for count in (5, 4, 3, 2):
        found = x.ticks(count, whole=whole)
        if sum(LETTER * (len(label) + 1) for _, label in found) <= x.length:
            break
    return found


def _curve(curve: SvgLine, x: ChartAxis, y: ChartAxis, colour: str) -> Html:
    across, down = (axis.place(np.asarray(v, float)) / UNITS for axis, v in ((x, curve.x), (y, curve.y)))
    points = [(a, b) for a, b in zip(across, down, strict=True) if math.isfinite(a) and math.isfinite(b)]
    if not points:
        return Html("")
    d = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
    dash = "5 3" if curve.dashed else None
    line = element("path", d=d, fill="none", stroke=colour, stroke_width="1.6", stroke_dasharray=dash)
    dots = [element("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r="3", fill=colour) for a, b in points if curve.dots]
    return join([line, *dots])


def _grid(y: ChartAxis, width: float, places: Iterable[float] = ()) -> Html:
    """Lines at the ticks of the vertical axis and at horizontal places [pixels], and a frame."""
    lines = [f"M0 {p:g}h{width:g}" for p, _ in y.ticks()] + [f"M{p:g} 0v{y.length:g}" for p in places]
    frame = element("rect", width=f"{width:g}", height=f"{y.length:g}", class_="frame")
    return join([element("path", d="".join(lines), class_="grid"), frame])


def _axis_labels(chart: Chart, across: list[tuple[float, str]], width: float, y: ChartAxis, top: float) -> Html:
    bottom = top + y.length
    parts = [words(label, LEFT + p, bottom + 16.0, "middle") for p, label in across]
    numbers, label = _vertical(chart.y_label, y, top)
    return join([*parts, *numbers, words(chart.x_label, LEFT + 0.5 * width, bottom + 34.0, "middle"), label])


def _vertical(label: str, y: ChartAxis, top: float) -> tuple[list[Html], Html]:
    """Numbers and label of the vertical axis."""
    turned = f"translate(14 {top + 0.5 * y.length:g}) rotate(-90)"
    numbers = [words(number, LEFT - 6.0, top + p + 4.0, "end") for p, number in y.ticks()]
    return numbers, element("text", label, transform=turned, text_anchor="middle", class_="axis")


def _bars(bars: Bars) -> Html:
    names = list(dict.fromkeys(name for group in bars.groups.values() for name in group))
    keys = key_lines(names, bars.width)
    top = TOP + KEY * len(keys)
    width, height = bars.width - LEFT - RIGHT, bars.height - top - BOTTOM
    highest = max((v for group in bars.groups.values() for v in group.values() if math.isfinite(v)), default=1.0)
    y = ChartAxis(0.0, 1.12 * highest, height, downwards=True)
    room = width / max(1, len(bars.groups))
    parts = [_grid(y, width)]
    for k, (group, values) in enumerate(bars.groups.items()):
        parts.append(_group(values, names, y, room * k, room))
        parts.append(words(group, room * (k + 0.5), height + 18.0, "middle"))
    plot = element("g", *parts, transform=f"translate({LEFT:g} {top:g})")
    numbers, label = _vertical(bars.y_label, y, top)
    title = words(bars.title, LEFT, 18.0, style="title")
    return join([title, key(keys, range(len(names))), plot, *numbers, label])


def _group(values: Mapping[str, float], names: list[str], y: ChartAxis, left: float, room: float) -> Html:
    each, parts = 0.86 * room / max(1, len(names)), []
    for name, value in values.items():
        number = names.index(name)
        x, top = left + 0.07 * room + each * number, y.pixel(value)
        size = {"x": f"{x:.1f}", "y": f"{top:g}", "width": f"{0.9 * each:.1f}", "height": f"{y.length - top:.1f}"}
        parts.append(element("rect", fill=colour_of(number), **size))
        parts.append(bar_value(value, x + 0.45 * each, top, each))
    return join(parts)
