"""Heat maps as inline SVG: a gain over two inputs in at most twelve labelled steps of one colour scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.axes import UNITS, ChartAxis, path, step_size
from experiments.report.drawing.html import Html, element, join, svg
from experiments.report.drawing.numbers import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.report.records.results import Array

STEPS = 12  # colours h0 ... h11 of the style sheet, dark to bright
SHADES = 6  # l1 ... l6 below zero, g1 ... g6 above, pale to full
LEFT, TOP, SIDE, SCALE = 46.0, 18.0, 240.0, 16.0


@dataclass(frozen=True, eq=False)
class Surface:
    """A gain over two inputs.

    Attributes
    ----------
    gain, gain_unit : str
        For example "kp" and "N/m".
    x_name, x_unit, y_name, y_unit : str
        Horizontal and vertical input, for example e [m] and e_rate [m/s].
    x, y : array [n_x], [n_y]
        Evenly spaced values, in the units.
    values : array [n_y, n_x]
        The gain.
    taught : (x low, x high, y low, y high) or None
        The taught range, drawn as a dashed frame.
    scale : array or None
        Values whose range the colours span, where several surfaces share them; None: the surface's own.
    signed : bool
        Whether colours say on which side of zero a value is, and how far.
    """

    gain: str
    x_name: str
    y_name: str
    x: Array
    y: Array
    values: Array
    gain_unit: str = ""
    x_unit: str = ""
    y_unit: str = ""
    taught: tuple[float, float, float, float] | None = None
    scale: Array | None = None
    signed: bool = False

    def __post_init__(self) -> None:
        """Check the grid."""
        expected = (len(self.y), len(self.x))
        if np.shape(self.values) != expected:
            raise ValueError(
                f"values of the surface of {self.gain!r} must have shape {expected}, got {self.values.shape}"
            )


def heat_map(surface: Surface, visited: tuple[tuple[Array, Array], ...] = ()) -> Html:
    """The surface with its colour scale; `visited` are curves (x, y) of where the loop went."""
    x, y = _axis(surface.x, SIDE, False), _axis(surface.y, SIDE, True)
    edges = _edges(surface.values if surface.scale is None else surface.scale)
    colours = _colours(edges, surface.signed)
    place = {"x": f"{LEFT:g}", "y": f"{TOP:g}", "width": f"{SIDE:g}", "height": f"{SIDE:g}"}
    size = f"0 0 {len(surface.x)} {len(surface.y)}"
    cells = _cells(surface.values, edges, colours)
    field = element("svg", *cells, **place, viewBox=size, preserveAspectRatio="none", class_="cells")
    lines = [_track(path(x.place(a), y.place(b))) for a, b in visited]
    tracks = element("svg", *lines, **place, viewBox=f"0 0 {SIDE * UNITS:g} {SIDE * UNITS:g}")
    title = f"{surface.gain} [{surface.gain_unit}]" if surface.gain_unit else surface.gain
    drawing = [
        field,
        _taught(surface, x, y),
        tracks,
        *_labels(surface, x, y),
        _scale(edges, colours),
        _text(title, LEFT, TOP - 6, "label strong"),
    ]
    name = f"{title} over {surface.x_name} and {surface.y_name}"
    return svg(LEFT + SIDE + 92, TOP + SIDE + 36, name, *drawing, style="chart map")


def _taught(surface: Surface, x: ChartAxis, y: ChartAxis) -> Html:
    """A dashed frame around the taught range."""
    if surface.taught is None:
        return Html("")
    left, right, bottom, top = (axis.pixel(value) for axis, value in zip((x, x, y, y), surface.taught, strict=True))
    title = element("title", "taught range")
    return element(
        "rect", title, x=f"{LEFT + left:g}", y=f"{TOP + top:g}", width=f"{right - left:g}", height=f"{bottom - top:g}",
        class_="taught",
    )  # fmt: skip


def _track(d: str) -> Html:
    """A white line in a dark casing, to be seen on every colour."""
    return join(element("path", d=d, class_=style) for style in ("casing", "visited"))


def _axis(values: Array, length: float, downwards: bool) -> ChartAxis:
    """Axis whose cells are centred on the values: half a cell is added at each end."""
    half = 0.5 * float(values[-1] - values[0]) / max(len(values) - 1, 1) or 0.5
    return ChartAxis(float(values[0]) - half, float(values[-1]) + half, length, downwards=downwards)


def _edges(values: Array) -> Array:
    """Edges [n_steps + 1] of the colour steps at nice values."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-12):
        return np.array([low, high])
    step = step_size(high - low, STEPS - 1)
    for factor in (1.0, 2.0, 2.5, 4.0, 5.0):
        first, last = np.floor(low / (factor * step) + 1e-9), np.ceil(high / (factor * step) - 1e-9)
        if last - first <= STEPS:
            break
    return np.arange(first, last + 1) * factor * step


def _colours(edges: Array, signed: bool) -> list[str]:
    """Style of each step of colour, from the lowest."""
    count = max(len(edges) - 1, 1)
    if not signed:
        return ["h5"] if count == 1 else [f"h{round(k * (STEPS - 1) / (count - 1))}" for k in range(count)]
    below = min(int(np.searchsorted(edges, 0.0, side="left")), count)  # steps that end at zero or below
    most = max(below, count - below, 2) - 1  # both sides alike: as far from zero is as dark
    shades = [1 + round(k * (SHADES - 1) / most) for k in range(count)]
    return [f"l{shade}" for shade in shades[:below]][::-1] + [f"g{shade}" for shade in shades[: count - below]]


def _cells(values: Array, edges: Array, colours: Sequence[str]) -> list[Html]:
    """One path per colour step, made of the horizontal runs of its cells; the lowest row of the drawing is y[0]."""
    upper = edges[1:-1]
    levels = np.where(np.isfinite(values), np.searchsorted(upper, values, side="right"), -1)[::-1]
    runs: dict[int, list[str]] = {}
    for row, line in enumerate(levels):
        starts = np.flatnonzero(np.concatenate(([True], line[1:] != line[:-1])))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(line)], strict=True):
            runs.setdefault(int(line[start]), []).append(f"M{start} {row}h{stop - start}v1h{start - stop}z")
    return [_step(level, cells, edges, colours[level]) for level, cells in sorted(runs.items()) if level >= 0]


def _step(level: int, cells: list[str], edges: Array, colour: str) -> Html:
    title = element("title", f"{plain(float(edges[level]))} … {plain(float(edges[level + 1]))}")
    return element("path", title, d="".join(cells), class_=colour)


def _labels(surface: Surface, x: ChartAxis, y: ChartAxis) -> list[Html]:
    bottom = TOP + SIDE
    out = [_text(n, LEFT + p, bottom + 13, "tick mid") for p, n in x.ticks(4)]
    out += [_text(n, LEFT - 5, TOP + p + 3.5, "tick end") for p, n in y.ticks(4)]
    x_name = f"{surface.x_name} [{surface.x_unit}] →" if surface.x_unit else f"{surface.x_name} →"
    y_name = f"↑ {surface.y_name} [{surface.y_unit}]" if surface.y_unit else f"↑ {surface.y_name}"
    out.append(_text(x_name, LEFT + SIDE, bottom + 29, "label end"))
    out.append(_text(y_name, LEFT, bottom + 29, "label"))
    return out


def _scale(edges: Array, colours: Sequence[str]) -> Html:
    """Colour scale at the right, one box per step, every edge that has room labelled."""
    count = len(edges) - 1
    left, side = LEFT + SIDE + 14, SIDE / count
    out = []
    for i in range(count):
        at = TOP + SIDE - (i + 1) * side
        size = {"width": f"{SCALE:g}", "height": f"{side:.1f}"}
        out.append(element("rect", x=f"{left:g}", y=f"{at:.1f}", **size, class_=colours[i]))
    for i, edge in enumerate(edges if edges[0] != edges[-1] else edges[:1]):
        at = TOP + SIDE - i * side if edges[0] != edges[-1] else TOP + 0.5 * SIDE
        out.append(_text(plain(float(edge)), left + SCALE + 5, at + 3.5, "tick"))
    return join(out)


def _text(content: str, x: float, y: float, style: str) -> Html:
    return element("text", content, x=f"{x:g}", y=f"{y:.1f}", class_=style)
