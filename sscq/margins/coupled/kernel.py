"""The compiled part of the margins of several channels: determinants on a grid, then the margins loop by loop.

With L the matrix of all loops, 1 + L_i = det(I + L) / det(I + L without channel i). Both determinants times R are
smooth, so peaks and crossings are refined on their cubics as for a single loop (:mod:`sscq.margins.kernel`, whose
functions are part of the text). Complex numbers in arrays are pairs: their last axis is [2].
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.cache import function
from plants.core.kernel.kernel import written
from sscq.margins import kernel
from sscq.margins.kernel import STABLE, _at, _fit, _margins, _point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PARTS = 16  # of a step of the grid that is taken closely
FAR = 0.1  # of the squared distance from 0: a way as long as that may pass near it
EVEN = 0.1  # of squares: more than a curve between two points of the grid can add
_PIECES = 6  # of the closer grid's memory


def _entry(m, i, j):
    """Entry of a complex matrix [n, n, 2]."""
    return complex(m[i, j, 0], m[i, j, 1])


def _determinant(m, n):
    """Determinant of the first n rows and columns, by elimination with row pivots; the matrix is used up."""
    value = complex(1.0, 0.0)
    for c in range(n):
        best, most = c, 0.0
        for r in range(c, n):
            size = m[r, c, 0] * m[r, c, 0] + m[r, c, 1] * m[r, c, 1]
            if size > most:
                best, most = r, size
        if most == 0.0:
            return complex(0.0, 0.0)
        if best != c:
            value = complex(-value.real, -value.imag)
            for j in range(c, n):
                for part in range(2):
                    kept = m[c, j, part]
                    m[c, j, part] = m[best, j, part]
                    m[best, j, part] = kept
        pivot = _entry(m, c, c)
        value = value * pivot
        inverse = complex(pivot.real / most, -pivot.imag / most)
        for r in range(c + 1, n):
            share = _entry(m, r, c) * inverse
            for j in range(c + 1, n):
                rest = _entry(m, r, j) - share * _entry(m, c, j)
                m[r, j, 0], m[r, j, 1] = rest.real, rest.imag
    return value


def _returned(gains, answers, integrator, out):
    """I + L of all channels at one point, from what their laws make of unit commands [2, channel, channel, 2]."""
    n = out.shape[0]
    for i in range(n):
        re = gains[3 * i] + gains[3 * i + 1] * integrator[0]
        of_output = complex(re, gains[3 * i + 1] * integrator[1])
        for j in range(n):
            known = of_output * complex(answers[0, i, j, 0], answers[0, i, j, 1])
            out[i, j, 0] = known.real + gains[3 * i + 2] * answers[1, i, j, 0]
            out[i, j, 1] = known.imag + gains[3 * i + 2] * answers[1, i, j, 1]
        out[i, i, 0] += 1.0


def _minor(m, channel, work):
    """Determinant of a matrix without the row and column of a channel; of no channel (-1): of all."""
    n = m.shape[0]
    if n == 2:
        if channel >= 0:
            return _entry(m, 1 - channel, 1 - channel)
        return _entry(m, 0, 0) * _entry(m, 1, 1) - _entry(m, 0, 1) * _entry(m, 1, 0)
    if n == 3:
        i, j = max(channel, 0) + 1, max(channel, 0) + 2
        i, j = i - 3 * (i // 3), j - 3 * (j // 3)
        first = _entry(m, i, i) * _entry(m, j, j) - _entry(m, i, j) * _entry(m, j, i)
        if channel >= 0:
            return first
        second = _entry(m, 1, 0) * _entry(m, 2, 2) - _entry(m, 1, 2) * _entry(m, 2, 0)
        third = _entry(m, 1, 0) * _entry(m, 2, 1) - _entry(m, 1, 1) * _entry(m, 2, 0)
        return _entry(m, 0, 0) * first - _entry(m, 0, 1) * second + _entry(m, 0, 2) * third
    row = 0
    for i in range(n):
        column = 0
        for j in range(n):
            if (i != channel) & (j != channel):
                work[row, column, 0], work[row, column, 1] = m[i, j, 0], m[i, j, 1]
            if j != channel:
                column += 1
        if i != channel:
            row += 1
    return _determinant(work, row)


def _all_determinants(gains, answers, integrator, factor, whole, work, top, bottoms, ends):
    """R det(I + L) and R det(I + L without a channel) on the grid; both, without R, at the Nyquist frequency."""
    n, points = whole.shape[0], top.shape[1]
    for k in range(points + 1):
        _returned(gains, answers[k], integrator[k], whole)
        for place in range(n + 1):
            value = _minor(whole, place - 1, work)
            if k == points:
                ends[place] = value.real
            else:
                value = value * complex(factor[k, 0], factor[k, 1])
                if place == 0:
                    top[0, k], top[1, k] = value.real, value.imag
                else:
                    bottoms[place - 1, 0, k], bottoms[place - 1, 1, k] = value.real, value.imag


def _far(one, other):
    """Whether the way between two points is long beside their distances from 0."""
    way = (one.real - other.real) ** 2 + (one.imag - other.imag) ** 2
    return way > FAR * min(one.real**2 + one.imag**2, other.real**2 + other.imag**2)


def _even(one, other):
    """Whether two numbers are nearly of one size: |L| may pass 1 between two such points, and back again."""
    a, b = one.real**2 + one.imag**2, other.real**2 + other.imag**2
    return abs(a - b) < EVEN * b


def _close(top, bottom, k):
    """Whether the step from k to k + 1 is to be taken closely: L = top / bottom - 1 may peak or dip within it.

    There the other loops alone have a lightly damped mode, or L a zero: it may pass |L| = 1 twice.
    """
    a, b = _point(bottom, k), _point(bottom, k + 1)
    c, d = _point(top, k) - a, _point(top, k + 1) - b
    return _far(a, b) | _far(c, d) | (_even(a, c) & _even(b, d))


def _size_of(top, bottom):
    """How many points the closer grid has."""
    m = top.shape[1]
    for k in range(top.shape[1] - 1):
        if _close(top, bottom, k):
            m += PARTS - 1
    return m


def _closer(x, top, bottom, fine_x, fine_top, fine_bottom):
    """Copy the grid, with points on the cubics in the steps that are taken closely."""
    n, m = len(x), 0
    for k in range(n):
        parts = 1
        if k < n - 1:
            parts = PARTS if _close(top, bottom, k) else 1
        fine_x[m] = x[k]
        fine_top[0, m], fine_top[1, m] = top[0, k], top[1, k]
        fine_bottom[0, m], fine_bottom[1, m] = bottom[0, k], bottom[1, k]
        m += 1
        if parts > 1:
            upper, lower = _fit(x, top, k), _fit(x, bottom, k)
            for part in range(1, parts):
                t = x[k] + (x[k + 1] - x[k]) * part / PARTS
                above, _da, _dda = _at(x, upper, t)
                below, _db, _ddb = _at(x, lower, t)
                fine_x[m] = t
                fine_top[0, m], fine_top[1, m] = above.real, above.imag
                fine_bottom[0, m], fine_bottom[1, m] = below.real, below.imag
                m += 1


def _one_of_several(x, top, bottom, start, end, sample_time, level, enough, opened, loop, work, out):
    """Margins of one channel from R det(I + L) and R det(I + L of the others) on the closer grid."""
    for k in range(len(x)):
        size = bottom[0, k] ** 2 + bottom[1, k] ** 2
        opened[0, k], opened[1, k] = top[0, k] - bottom[0, k], top[1, k] - bottom[1, k]
        loop[0, k] = (opened[0, k] * bottom[0, k] + opened[1, k] * bottom[1, k]) / size
        loop[1, k] = (opened[1, k] * bottom[0, k] - opened[0, k] * bottom[1, k]) / size
    out[0], out[1] = STABLE, 0.0
    _margins(x, top, opened, bottom, loop, start, end, sample_time, level, enough, work, out)


def _rows(
    gains, x, answers, integrator, regular, rest, starts, sample_time, level, enough, far, out, whole, work, factor,
    top, bottoms, ends, room,
):  # fmt: skip
    """Fill `out`; see :func:`evaluate_together`."""
    channels = whole.shape[0]
    for row in range(len(gains)):
        for k in range(len(x)):
            value = complex(regular[k, 0], regular[k, 1])
            for i in range(channels):
                if gains[row, 3 * i + 1] != 0.0:
                    value = value * complex(rest[k, 0], rest[k, 1])
            factor[k, 0], factor[k, 1] = value.real, value.imag
        _all_determinants(gains[row], answers, integrator, factor, whole, work, top, bottoms, ends)
        for i in range(channels):
            if far[row, i] > 0:
                out[row, i, 0], out[row, i, 2] = STABLE, 1.0
                continue
            m = _size_of(top, bottoms[i])
            fine_x, fine_top, fine_bottom = room[0][:m], room[1][: 2 * m].reshape(2, m), room[2][: 2 * m].reshape(2, m)
            opened, loop = room[3][: 2 * m].reshape(2, m), room[4][: 2 * m].reshape(2, m)
            more = room[5][: 3 * m].reshape(3, m)
            _closer(x, top, bottoms[i], fine_x, fine_top, fine_bottom)
            _one_of_several(
                fine_x, fine_top, fine_bottom, starts[row, i], ends[0] / ends[i + 1] - 1.0, sample_time, level,
                enough * enough, opened, loop, more, out[row, i],
            )  # fmt: skip


_ARGUMENTS = (
    "float64[:,::1]", "float64[::1]", "float64[:,:,:,:,::1]", "float64[:,::1]", "float64[:,::1]", "float64[:,::1]",
    "float64[:,::1]", "float64", "int64", "float64", "int64[:,::1]", "float64[:,:,::1]", "float64[:,:,::1]",
    "float64[:,:,::1]",
    "float64[:,::1]", "float64[:,::1]", "float64[:,:,::1]", "float64[::1]", "float64[:,::1]",
)  # fmt: skip
_FUNCTIONS = (
    _entry, _determinant, _returned, _minor, _all_determinants, _far, _even, _close, _size_of, _closer,
    _one_of_several,
)  # fmt: skip


@cache
def text() -> str:
    """Return the text that is compiled."""
    names = ("STABLE", "UNSTABLE", "DOUBTFUL", "SENSITIVITY", "DELAY", "FULL")
    named = [f"{name} = {getattr(kernel, name)!r}" for name in names]
    named += [f"PARTS = {PARTS}", f"FAR = {FAR}", f"EVEN = {EVEN}"]
    return written("margins of several channels", named, (*kernel.FUNCTIONS, *_FUNCTIONS), _rows)


def evaluate_together(
    gains: Array, x: Array, answers: Array, integrator: Array, regular: Array, rest: Array, starts: Array,
    sample_time: float, level: int, enough: float, far: NDArray[np.int64], out: Array,
) -> None:  # fmt: skip
    """Fill `out` [n, n_channels, len(COLUMNS)] for stable loops of all channels with `gains` [n, 3 n_channels].

    One channel's loop is opened, the others are closed. The arrays are those of a
    :class:`sscq.margins.coupled.frequency_response.CoupledResponse`, x its log_frequency, `starts` [n, n_channels] is L
    at rest; `level` and `enough` as in :class:`sscq.margins.kernel.Evaluation`. Loops that are known to be `far` enough
    from -1 [n, n_channels] are passed over.
    """
    n, channels, memory = len(x), answers.shape[2], np.empty
    function(text(), _ARGUMENTS)(
        gains, x, answers, integrator, regular, rest, starts, sample_time, level, enough, far, out,
        memory((channels, channels, 2)), memory((channels, channels, 2)), memory((n, 2)), memory((2, n)),
        memory((channels, 2, n)), memory(channels + 1), memory((_PIECES, 3 * PARTS * n)),
    )  # fmt: skip
