"""Dots with intervals as inline SVG: one row each, around a marked zero line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.axes import ChartAxis, data_range
from experiments.report.drawing.html import Html, element, join, svg
from experiments.report.drawing.numbers import plain

if TYPE_CHECKING:
    from experiments.report.records.results import Array


_LETTER, _LINE = 6.4, 14.0  # pixels of a letter in a label, of a line
_TICK = 7.0  # pixels of a letter in a tick's name, with its share of the gap between names


@dataclass(frozen=True)
class Mark:
    """A dot with its interval (NaN: none); `hollow` for a weaker kind of value.

    One with `sets_range` false may lie beyond the chart: it then stands at its edge, as a triangle.
    """

    value: float
    name: str
    low: float = float("nan")
    high: float = float("nan")
    style: str = ""
    hollow: bool = False
    sets_range: bool = True


@dataclass(frozen=True)
class IntervalRow:
    """One row of an interval chart: label at the left, marks in the middle, a note (markup allowed) at the right."""

    label: str
    marks: tuple[Mark, ...]
    note: str = ""
    note_style: str = ""


def interval_chart(
    rows: tuple[IntervalRow, ...],
    label: str,
    zero: float | None = None,
    as_percent: bool = False,
    width: float = 460.0,
    pitch: float = 24.0,
    axis: str = "",
) -> Html:
    """Dots with intervals, one row each, with a marked zero line; `label` says it to those who cannot see it.

    Labels too long for their room are broken into lines; `axis` names what the numbers below are.
    """
    left, right = 0.38 * width, 0.27 * width if any(r.note for r in rows) else 10.0
    names = [_lines(row.label, left) for row in rows]
    pitch = max(pitch, _LINE * max(map(len, names), default=1) + 3.0)
    marks = [m for r in rows for m in r.marks]
    values = [np.array([m.value, m.low, m.high]) for m in [m for m in marks if m.sets_range] or marks]
    x, height = _axis(values, zero, width - left - right), pitch * len(rows)
    out = [_interval_grid(x, height, zero, as_percent, left)]
    for i, row in enumerate(rows):
        middle = pitch * (i + 0.5)
        first = middle + 4.0 - 0.5 * _LINE * (len(names[i]) - 1)
        out += [
            element("text", part, x="0", y=f"{first + _LINE * k:g}", class_="row") for k, part in enumerate(names[i])
        ]
        out += [_mark(m, x, left, middle) for m in row.marks if np.isfinite(m.value)]
        note_at = f"{width - right + 10:g}"
        out.append(element("text", row.note, x=note_at, y=f"{middle + 4:g}", class_=f"row {row.note_style}".strip()))
    if axis:
        out.append(element("text", f"{axis} →", x="0", y=f"{height + 13:g}", class_="tick"))
    return svg(width, height + 18, label, *out)


def _axis(values: list[Array], zero: float | None, length: float) -> ChartAxis:
    """Logarithmic where all values are positive and far apart and no zero line is asked for."""
    low, high = data_range(values, () if zero is None else (zero,))
    known = np.concatenate([v[np.isfinite(v)] for v in values]) if values else np.zeros(0)
    if zero is None and known.size and known.min() > 0.0 and known.max() > 6.0 * known.min():
        return ChartAxis(0.9 * float(known.min()), 1.1 * float(known.max()), length, log=True)
    return ChartAxis(low, high, length)


def _interval_grid(x: ChartAxis, height: float, zero: float | None, as_percent: bool, left: float) -> Html:
    names = [
        (p, f"{plain(100.0 * float(n.replace('−', '-')))} %" if as_percent else n)
        for p, n in x.ticks(2 if as_percent else 3)
    ]
    lines = "".join(f"M{left + p:g} 0v{height:g}" for p, _ in names)
    out = [element("path", d=lines, class_="grid")]
    written = names[:: _every(names)]
    out += [element("text", n, x=f"{left + p:g}", y=f"{height + 13:g}", class_="tick mid") for p, n in written]
    if zero is not None:
        out.append(element("path", d=f"M{left + x.pixel(zero):g} 0v{height:g}", class_="zero strong"))
    return join(out)


def _every(names: list[tuple[float, str]]) -> int:
    """Every how many ticks are named, so that names do not run into one another."""
    if len(names) < 2:
        return 1
    gap = min(abs(b - a) for (a, _), (b, _) in pairwise(names))
    return int(_TICK * max(len(n) for _, n in names) / max(gap, 1.0)) + 1


def _mark(mark: Mark, x: ChartAxis, left: float, middle: float) -> Html:
    at, bar = left + x.pixel(mark.value), ""
    if not x.low <= mark.value <= x.high:
        return _beyond(mark, at > left, left + (x.length if at > left else 0.0), middle)
    if np.isfinite(mark.low) and np.isfinite(mark.high):
        d = f"M{left + x.pixel(mark.low):g} {middle:g}H{left + x.pixel(mark.high):g}"
        bar = element("path", d=d, class_="bar")
    dot = element("circle", element("title", mark.name), cx=f"{at:g}", cy=f"{middle:g}", r="4.5", class_="dot")
    return element("g", bar, dot, class_=f"mark {mark.style} {'hollow' if mark.hollow else ''}".strip())


def _beyond(mark: Mark, at_right: bool, edge: float, middle: float) -> Html:
    """A triangle at the edge that points to where the value is."""
    way = 7 if at_right else -7
    d = f"M{edge - way:g} {middle - 4.5:g}l{way} 4.5l{-way} 4.5z"
    shape = element("path", element("title", mark.name), d=d, class_="dot")
    return element("g", shape, class_=f"mark {mark.style}")


def _lines(label: str, room: float) -> list[str]:
    """A label in as many lines as it needs; a word longer than a line is broken."""
    return wrap(label, max(int(room / _LETTER), 4)) or [""]
