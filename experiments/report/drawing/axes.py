"""Axes and curves of charts: nice ticks, ranges, the map from values to whole drawing units.

Curves for paper have fewer points than were simulated, but the same extremes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.numbers import tick_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.report.records.results import Array


_SAME = 1e-4  # of the magnitude: over less, numbers of six digits would name several ticks alike
UNITS = 10  # drawing units per pixel: curves are written in whole units


def step_size(span: float, count: int) -> float:
    """The largest of 1, 2, 2.5, 5 times a power of ten that gives at least about `count` ticks over the span."""
    raw = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return max((m * power for m in (1.0, 2.0, 2.5, 5.0) if m * power <= raw * 1.0001), default=power)


def ticks(low: float, high: float, count: int = 4, *, whole: bool = False) -> list[float]:
    """Nice values inside [low, high], whole numbers alone if `whole`."""
    step = step_size(high - low, count)
    if whole:
        step = 2.0 if step == 2.5 else max(1.0, step)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """Ticks for a logarithmic axis: 1, 2, 5 times powers of ten; powers alone over many decades, even values in one."""
    mantissas = (1.0, 2.0, 5.0) if high / low < 200.0 else (1.0,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{m * 10.0**p:.6g}") for p in powers for m in mantissas]
    inside = [v for v in found if low * 0.999 <= v <= high * 1.001]
    return inside if len(inside) > 2 else ticks(low, high)


def data_range(values: Iterable[Array], include: Iterable[float] = (), pad: float = 0.06) -> tuple[float, float]:
    """Smallest and largest finite value of all arrays, a little widened; (0, 1) where there is none."""
    finite = [v[np.isfinite(v)] for v in (np.asarray(v, dtype=float).ravel() for v in (*values, list(include)))]
    joined = np.concatenate(finite) if finite else np.zeros(0)
    if not joined.size:
        return 0.0, 1.0
    low, high = float(joined.min()), float(joined.max())
    if high - low <= max(_SAME * max(abs(low), abs(high)), 1e-18):
        half = 0.5 * max(abs(low) * 0.2, 1e-6) if low or high else 0.5
        return low - half, high + half
    margin = pad * (high - low)
    return low - margin, high + margin


@dataclass(frozen=True)
class ChartAxis:
    """One axis over [low, high], drawn over `length` pixels, linear or logarithmic."""

    low: float
    high: float
    length: float
    log: bool = False
    downwards: bool = False

    def place(self, values: Array | float) -> Array:
        """Position in drawing units, held to three lengths around the chart so that huge values stay writable."""
        v = np.asarray(values, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.log:
                part = (np.log10(v) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
            else:
                part = (v - self.low) / (self.high - self.low)
        part = np.where(np.isfinite(part), np.clip(part, -1.0, 2.0), np.nan)
        return (1.0 - part if self.downwards else part) * self.length * UNITS

    def pixel(self, value: float) -> float:
        """Position of one value in pixels, to a tenth."""
        return self._pixels([value])[0]

    def _pixels(self, values: Sequence[float]) -> list[float]:
        return [round(place / UNITS, 1) for place in self.place(np.array(values, dtype=float)).tolist()]

    @property
    def power(self) -> int:
        """Power of ten that the numbers of a linear axis are to be multiplied with: 0, but for very small and large."""
        largest = max(abs(self.low), abs(self.high))
        if self.log or not largest or 1e-2 <= largest < 1e5:
            return 0
        return 3 * math.floor(math.log10(largest) / 3)

    def ticks(self, count: int = 4, power: int = 0, *, whole: bool = False) -> list[tuple[float, str]]:
        """Pixel and label of each tick, its number over ten to the given power; whole numbers alone if `whole`."""
        values = decades(self.low, self.high) if self.log else ticks(self.low, self.high, count, whole=whole)
        return list(zip(self._pixels(values), (tick_label(value / 10.0**power) for value in values), strict=True))


def keep_extremes(values: Array, limit: int) -> Array:
    """Indices [at most `limit`], increasing, of samples that draw like all of them.

    The samples are cut into buckets of equal count; each keeps its smallest and its largest finite value, and one
    non-finite sample where it has any, so that gaps remain. First and last sample always stay.
    """
    n = len(values)
    if n <= limit:
        return np.arange(n)
    finite = np.isfinite(values)
    gaps = not finite.all()
    edges = np.linspace(0, n, max(1, (limit - 2) // (3 if gaps else 2)) + 1).astype(int)
    starts = edges[:-1][np.diff(edges) > 0]
    bucket = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))
    picks = [np.array([0, n - 1]), _least(values, finite, starts, bucket), _least(-values, finite, starts, bucket)]
    if gaps:
        picks.append(_least(np.zeros(n), ~finite, starts, bucket))
    return np.unique(np.concatenate(picks))


def _least(keys: Array, allowed: Array, starts: Array, bucket: Array) -> Array:
    """Index of the smallest allowed key, the first of equal ones, in each bucket that allows any."""
    least = np.minimum.reduceat(np.where(allowed, keys, np.inf), starts)
    found = np.flatnonzero(allowed & (keys == least[bucket]))
    return found[np.diff(bucket[found], prepend=-1) > 0]


def path(x: Array, y: Array) -> str:
    """SVG path data of a polyline through points given in whole units; non-finite points break it.

    Steps are relative ("l3-4 2 7"), which costs a third of absolute numbers, and exact, because they are differences
    of rounded absolute positions. Points in the middle of a straight horizontal run are left out.
    """
    parts = []
    for run in _runs(np.isfinite(x) & np.isfinite(y)):
        px, py = np.rint(x[run]).astype(np.int64), np.rint(y[run]).astype(np.int64)
        flat = np.zeros(len(px), dtype=bool)
        onward = (px[1:-1] - px[:-2]) * (px[2:] - px[1:-1]) >= 0
        flat[1:-1] = onward & (py[1:-1] == py[:-2]) & (py[1:-1] == py[2:])
        px, py = px[~flat], py[~flat]
        steps = np.column_stack((np.diff(px), np.diff(py))).ravel()
        tail = " ".join(map(str, steps.tolist())).replace(" -", "-")
        parts.append(f"M{px[0]} {py[0]}" + (f"l{tail}" if tail else "h1"))
    return "".join(parts)


def _runs(good: Array) -> list[slice]:
    """Slices of consecutive true samples."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], good, [False])).astype(int)))
    return [slice(a, b) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]
