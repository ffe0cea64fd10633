"""Curves for paper: fewer points, the same extremes, whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.report.situations import Array


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
