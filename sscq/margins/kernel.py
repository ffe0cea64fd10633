"""The compiled part of the margins: one gain set after the other on the prepared responses of one operating point.

One pass builds L and counts the turns of R (1 + L) about 0; a second looks for dips, crossovers and crossings and
refines each one on cubics in ln(frequency). What is interpolated are R, R L and R (1 + L): smooth also where L has a
pole on the stability boundary, a zero near it, or 1 / (1 + L) a sharp peak.

The functions are in the small Python of generated kernels (:mod:`plants.core.compiler`): their text is compiled, and a
change of it is another kernel. Plain Python they are as well.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.cache import prepared
from plants.core.kernel.kernel import written

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

STABLE, UNSTABLE, DOUBTFUL = 1.0, 0.0, 2.0
SENSITIVITY, DELAY, FULL = 0, 1, 2
COLUMNS = (
    "verdict",
    "growth",
    "sensitivity",
    "complementary",
    "gain_margin",
    "gain_reduction",
    "phase_margin",
    "delay_margin",
)


def _point(v, k):
    """Entry k of rows of real and imaginary parts."""
    return complex(v[0, k], v[1, k])


def _differences(x, v, j):
    """Divided differences of v[j : j + 4] (Newton's form of the cubic through them)."""
    a, b, c = (v[j + 1] - v[j]) / (x[j + 1] - x[j]), (v[j + 2] - v[j + 1]) / (x[j + 2] - x[j + 1]), v[j + 3] - v[j + 2]
    d, e = (b - a) / (x[j + 2] - x[j]), (c / (x[j + 3] - x[j + 2]) - b) / (x[j + 3] - x[j + 1])
    return v[j], a, d, (e - d) / (x[j + 3] - x[j])


def _fit(x, v, k):
    """Cubic through four neighbours about the step from k to k + 1: its first index and coefficients."""
    j = min(max(k - 1, 0), len(x) - 4)
    a, b, c, d = _differences(x, v[0], j)
    e, f, g, h = _differences(x, v[1], j)
    return j, complex(a, e), complex(b, f), complex(c, g), complex(d, h)


def _at(x, cubic, t):
    """Value and two derivatives of a cubic at t."""
    j, c0, c1, c2, c3 = cubic
    a0, a1, a2 = t - x[j], t - x[j + 1], t - x[j + 2]
    value = c0 + a0 * (c1 + a1 * (c2 + a2 * c3))
    slope = c1 + c2 * (a0 + a1) + c3 * (a0 * a1 + a0 * a2 + a1 * a2)
    return value, slope, 2.0 * (c2 + c3 * (a0 + a1 + a2))


def _passage(re0, im0, re1, im1):
    """Signed passage of a step over the negative real axis; 1: counter-clockwise."""
    cross = re0 * im1 - re1 * im0
    if im0 >= 0.0 > im1 and cross > 0.0:
        return 1
    return -1 if im0 < 0.0 <= im1 and cross < 0.0 else 0


def _ends(re, im, first, last):
    """Turns at the two real ends, where the mirrored lower half joins, and whether they are in doubt."""
    n, turns = len(re) - 1, 0
    if first < 0.0:
        turns += 1 if im[0] < 0.0 else -1
    if last < 0.0:
        turns += 1 if im[n] >= 0.0 else -1
    doubt = (first == 0.0) | ((first * re[0] < 0.0) & (abs(re[0]) > abs(im[0])))
    return turns, doubt | ((last * re[n] < 0.0) & (abs(re[n]) > abs(im[n])))


def _closely(x, values, k):
    """Passages of the step from k to k + 1, taken in 16 along the cubic, and whether one of these is still long."""
    cubic = _fit(x, values, k)
    turns, long, before = 0, False, _point(values, k)
    for i in range(1, 17):
        now = _at(x, cubic, x[k] + (x[k + 1] - x[k]) * i / 16.0)[0]
        turns += _passage(before.real, before.imag, now.real, now.imag)
        long |= before.real * now.real + before.imag * now.imag < 0.0
        before = now
    return turns, long


def _outside(x, values, first, last):
    """Zeros outside the circle, from the turns of the values on its upper half; whether a step was too long to tell.

    A step that turns by over 90 degrees is long and taken again, closely.
    """
    re, im = values[0], values[1]
    turns, doubt = _ends(re, im, first, last)
    for k in range(len(re) - 1):
        if re[k] * re[k + 1] + im[k] * im[k + 1] < 0.0:
            passed, long = _closely(x, values, k)
            doubt |= long
        elif (im[k] < 0.0) != (im[k + 1] < 0.0):
            passed = _passage(re[k], im[k], re[k + 1], im[k + 1])
        else:
            continue
        turns += 2 * passed  # the lower half mirrors the upper one
    return -turns, doubt


def _ring(x, ring, kp, ki, kd, work):
    """Zeros outside one ring, and the least squared distance from 0 on it; x belongs to its points between the ends."""
    n = ring.shape[1] - 2
    re, im = work[0], work[1]
    for k in range(n):
        re[k] = ring[0, k + 1] + kp * ring[2, k + 1] + ki * ring[4, k + 1] + kd * ring[6, k + 1]
        im[k] = ring[1, k + 1] + kp * ring[3, k + 1] + ki * ring[5, k + 1] + kd * ring[7, k + 1]
    first = ring[0, 0] + kp * ring[2, 0] + ki * ring[4, 0] + kd * ring[6, 0]
    last = ring[0, n + 1] + kp * ring[2, n + 1] + ki * ring[4, n + 1] + kd * ring[6, n + 1]
    least = min(first * first, last * last)
    for k in range(n):
        least = min(least, re[k] * re[k] + im[k] * im[k])
    return _outside(x, work, first, last)[0], least


def _growth(x, rates, rings, kp, ki, kd, work):
    """Growth rate of an unstable loop: bracketed by two rings, interpolated by how near each comes to a zero.

    Infinite where no rings were prepared: then it is not asked for.
    """
    low, high = -1, len(rates)
    if high == 0:
        return np.inf
    near, far = 0.0, 1.0
    while high - low > 1:
        i = (low + high) // 2
        count, least = _ring(x, rings[i], kp, ki, kd, work)
        if count > 0:
            low, near = i, math.sqrt(least)
        else:
            high, far = i, math.sqrt(least)
    if high == len(rates):
        return rates[high - 1]
    if low < 0:
        return 0.5 * rates[0]
    return rates[low] * (rates[high] / rates[low]) ** (near / (near + far))


def _quotient(x, top, bottom, t):
    """Value and two derivatives of the quotient of two cubics at t."""
    a, da, dda = _at(x, top, t)
    b, db, ddb = _at(x, bottom, t)
    size = b.real * b.real + b.imag * b.imag
    inverse = complex(b.real / size, -b.imag / size)  # a complex division would raise at 0
    value = a * inverse
    slope = (da - value * db) * inverse
    return value, slope, (dda - 2.0 * slope * db - value * ddb) * inverse


def _closest(x, top, bottom, size, ratio, least, enough):
    """Smallest of `least` and |top / bottom|^2, refined by Newton about each dip of it and of |top| on the grid.

    `size` and `ratio` are |top|^2 and |top / bottom|^2 there. A dip of the quotient alone can hide between two points
    where `bottom` dips beside it. Dips that stay above `enough` are not refined.
    """
    n = len(x)
    for k in range(n):
        least = min(least, ratio[k])
    for k in range(n):
        i, after = max(k - 1, 0), min(k + 1, n - 1)
        if (size[k] > size[i] or size[k] > size[after]) and (ratio[k] > ratio[i] or ratio[k] > ratio[after]):
            continue
        way = max(
            (top[0, k] - top[0, i]) ** 2 + (top[1, k] - top[1, i]) ** 2,
            (top[0, k] - top[0, after]) ** 2 + (top[1, k] - top[1, after]) ** 2,
        )
        if math.sqrt(ratio[k]) * (1.0 - math.sqrt(way / size[k])) > math.sqrt(min(least, enough)):
            continue  # not even straight towards 0 would the way to the neighbours lead that near
        side = k if size[after] < size[i] else k - 1
        upper, lower, t = _fit(x, top, side), _fit(x, bottom, side), x[k]
        for _ in range(3):  # to the dip of |top|, which is smooth and where a sharp one of the quotient is
            v, dv, _ddv = _at(x, upper, t)
            bend = dv.real * dv.real + dv.imag * dv.imag
            t = min(max(t - (v.real * dv.real + v.imag * dv.imag) / bend, x[i]), x[after])
        for _ in range(7):
            v, dv, ddv = _quotient(x, upper, lower, t)
            least = min(least, v.real * v.real + v.imag * v.imag)
            slope, bend = v.real * dv.real + v.imag * dv.imag, dv.real * dv.real + dv.imag * dv.imag
            bend = max(bend + v.real * ddv.real + v.imag * ddv.imag, 0.1 * bend)  # Newton's own may point uphill
            before, t = t, min(max(t - slope / bend, x[i]), x[after])
            if abs(t - before) < 1e-3 * (x[after] - x[i]):
                break
    return least


def _meet(x, top, bottom, k, share, unit, rising):
    """Newton bracketed between points k and k + 1: ln(frequency) and L = top / bottom where |L| = 1 or L is real."""
    upper, lower, v = _fit(x, top, k), _fit(x, bottom, k), complex(0.0, 0.0)
    low, high = x[k], x[k + 1]
    t = low + share * (high - low)
    for _ in range(8):
        v, dv, _ddv = _quotient(x, upper, lower, t)
        miss, slope = v.imag, dv.imag
        if unit:
            miss, slope = 0.5 * (v.real * v.real + v.imag * v.imag - 1.0), v.real * dv.real + v.imag * dv.imag
        if (miss < 0.0) == rising:
            low = t
        else:
            high = t
        before, t = t, t - miss / slope
        if not low <= t <= high:
            t = 0.5 * (low + high)
        if abs(t - before) < 1e-5:
            break
    return t, v


def _crossings(x, open_loop, regular, loop, level, start, end, sample_time, full, out):
    """Phase and delay margins where |L| = 1 (level: |L|^2 on the grid), gain margins where L is real and negative."""
    re, im = loop[0], loop[1]
    more, reduction, phase = np.inf, np.inf, np.inf
    delay = sample_time if abs(end) > 1.0 else np.inf  # one more sample turns the sign of L at the Nyquist frequency
    for last in range(2):
        value = end if last else start
        if value < 0.0:
            more, reduction = _factors(value, more, reduction)
    for k in range(len(x) - 1):
        unit = (level[k] >= 1.0) != (level[k + 1] >= 1.0)
        real = full and (im[k] >= 0.0) != (im[k + 1] >= 0.0) and (re[k] < 0.0) and (re[k + 1] < 0.0)
        if unit or real:  # real: not through infinity, at an undamped pole
            for asked in range(2):
                if asked == 0 and unit:
                    share = math.log(level[k]) / (math.log(level[k]) - math.log(level[k + 1]))
                elif asked == 1 and real:
                    share = im[k] / (im[k] - im[k + 1])
                else:
                    continue
                t, v = _meet(x, open_loop, regular, k, share, asked == 0, level[k] < 1.0 if asked == 0 else im[k] < 0.0)
                if asked == 0:
                    lag = math.atan2(-v.imag, -v.real)
                    lag += 2.0 * math.pi if lag < 0.0 else 0.0
                    delay = min(delay, lag / math.exp(t))
                    phase = min(phase, lag, 2.0 * math.pi - lag)
                elif v.real < 0.0:
                    more, reduction = _factors(v.real, more, reduction)
    out[4], out[5], out[6], out[7] = more, reduction, phase, delay


def _factors(value, more, reduction):
    """Factors above 1 that bring crossings of the negative real axis to -1: from inside, and from outside."""
    if value > -1.0:
        return min(more, -1.0 / value), reduction
    return more, min(reduction, -value)


def _margins(x, closed, open_loop, regular, loop, start, end, sample_time, level, enough, work, out):
    """Everything of a stable loop: R (1 + L), R L, R and L on the grid, and L at rest and at the Nyquist frequency."""
    size, ratio, square = work[0], work[1], work[2]
    for part in range(2 if level == FULL else 1):
        bottom = open_loop if part else regular  # L / (1 + L) or 1 / (1 + L)
        for k in range(len(x)):
            size[k] = closed[0, k] * closed[0, k] + closed[1, k] * closed[1, k]
            ratio[k] = size[k] / (bottom[0, k] * bottom[0, k] + bottom[1, k] * bottom[1, k])
        nearest = min((1.0 + start) ** 2, (1.0 + end) ** 2)
        if part:
            nearest = min(1.0 if math.isinf(start) else (1.0 + 1.0 / start) ** 2, (1.0 + 1.0 / end) ** 2)
        out[2 + part] = 1.0 / math.sqrt(_closest(x, closed, bottom, size, ratio, nearest, enough))
    if level == SENSITIVITY:
        return
    for k in range(len(x)):
        square[k] = loop[0, k] * loop[0, k] + loop[1, k] * loop[1, k]
    _crossings(x, open_loop, regular, loop, square, start, end, sample_time, level == FULL, out)


def _rows(
    gains, x, basis, regular, at_rest, at_nyquist, ring_x, rates, rings, sample_time, level, enough, out, pairs, work,
    ring_work,
):  # fmt: skip
    """Fill `out`; see :class:`Evaluation`. Memory: pairs [3, 2, n_x], work [3, n_x], ring_work [2, n_ring]."""
    n = len(x)
    loop, open_loop, closed = pairs[0], pairs[1], pairs[2]
    for row in range(len(gains)):
        kp, ki, kd = gains[row, 0], gains[row, 1], gains[row, 2]
        factor = regular[1 if ki == 0.0 else 0]
        for k in range(n):
            re = kp * basis[0, k] + ki * basis[2, k] + kd * basis[4, k]
            im = kp * basis[1, k] + ki * basis[3, k] + kd * basis[5, k]
            loop[0, k], loop[1, k] = re, im
            open_loop[0, k] = factor[0, k] * re - factor[1, k] * im
            open_loop[1, k] = factor[1, k] * re + factor[0, k] * im
            closed[0, k], closed[1, k] = factor[0, k] + open_loop[0, k], factor[1, k] + open_loop[1, k]
        start, first = -np.inf, ki * at_rest[1]
        if ki == 0.0:
            first = at_rest[0] + kp * at_rest[1] + kd * at_rest[2]
            start = first / at_rest[0] - 1.0 if at_rest[0] != 0.0 else -np.inf
        end = kp * at_nyquist[0] + ki * at_nyquist[1] + kd * at_nyquist[2]
        last = at_nyquist[4 if ki == 0.0 else 3] * (1.0 + end)
        count, doubt = _outside(x, closed, first, last)
        out[row, 0] = DOUBTFUL if doubt else (STABLE if count == 0 else UNSTABLE)
        if count != 0 and not doubt:
            out[row, 1] = _growth(ring_x, rates, rings, kp, ki, kd, ring_work)
            for column in range(2, 8):
                out[row, column] = np.inf if column < 4 else 0.0
        else:
            out[row, 1] = 0.0
            _margins(
                x, closed, open_loop, factor, loop, start, end, sample_time, level, enough * enough, work, out[row]
            )


_ARGUMENTS = (
    "float64[:,::1]", "float64[::1]", "float64[:,::1]", "float64[:,:,::1]", "float64[::1]", "float64[::1]",
    "float64[::1]", "float64[::1]", "float64[:,:,::1]", "float64", "int64", "float64", "float64[:,::1]",
    "float64[:,:,::1]", "float64[:,::1]", "float64[:,::1]",
)  # fmt: skip
FUNCTIONS = (
    _point, _differences, _fit, _at, _passage, _ends, _closely, _outside, _ring, _growth, _quotient, _closest, _meet,
    _crossings, _factors, _margins,
)  # fmt: skip


@cache
def text() -> str:
    """Return the text that is compiled."""
    named = [
        f"{name} = {globals()[name]!r}" for name in ("STABLE", "UNSTABLE", "DOUBTFUL", "SENSITIVITY", "DELAY", "FULL")
    ]
    return written("margins of frozen loops", named, FUNCTIONS, _rows)


class Evaluation:
    """What fills results [n, len(COLUMNS)] for gains [n, 3] at one operating point, ready to be called often.

    Parameters
    ----------
    x, basis, regular, at_rest, at_nyquist, rates, rings : ndarray
        Those of a LoopResponse, x its log_frequency and rates its growth.
    sample_time : float
        [s]
    """

    def __init__(
        self, x: Array, basis: Array, regular: Array, at_rest: Array, at_nyquist: Array, rates: Array, rings: Array,
        sample_time: float,
    ) -> None:  # fmt: skip
        ring_x = x[::2].copy()
        self._sizes = (len(x), len(ring_x))
        static = (x, basis, regular, at_rest, at_nyquist, ring_x, rates, rings, sample_time)
        self._call = prepared(text(), _ARGUMENTS, (None, *static, *(None,) * 6))

    def __call__(self, gains: Array, level: int, enough: float, out: Array) -> None:
        """Fill `out`, which starts at 0.

        Of stable loops `level` FULL gives all, DELAY neither the complementary sensitivity nor the gain margins,
        SENSITIVITY the sensitivity alone. A sensitivity below 1 / `enough` may be given too small: its peaks are not
        refined.
        """
        n, m = self._sizes
        memory = np.empty(9 * n + 2 * m)
        pairs, work, ring_work = memory[: 6 * n], memory[6 * n : 9 * n], memory[9 * n :]
        self._call(
            gains, level, enough, out, pairs.reshape(3, 2, n), work.reshape(3, n), ring_work.reshape(2, m)
        )  # fmt: skip
