"""The compiled part of the margins: one gain set after the other on the prepared responses of one operating point.

One pass builds L and counts the turns of R (1 + L) about 0; a second looks for dips, crossovers and crossings and
refines each one on cubics in ln(frequency). What is interpolated are R, R L and R (1 + L): smooth also where L has a
pole on the stability boundary, a zero near it, or 1 / (1 + L) a sharp peak. Every function is in this file, so that the
cache on disk cannot serve an old one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_OPTIONS = {"fastmath": {"contract"}, "error_model": "numpy"}
_PARTS = 16  # of a step of the grid that is taken closely
_FAR = 0.1  # of the squared distance from 0: a way as long as that may pass near it
_EVEN = 0.1  # of squares: more than a curve between two points of the grid can add
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


@njit(**_OPTIONS)
def _point(v, k):
    """Entry k of rows of real and imaginary parts."""
    return complex(v[0, k], v[1, k])


@njit(**_OPTIONS)
def _differences(x, v, j):
    """Divided differences of v[j : j + 4] (Newton's form of the cubic through them)."""
    a, b, c = (v[j + 1] - v[j]) / (x[j + 1] - x[j]), (v[j + 2] - v[j + 1]) / (x[j + 2] - x[j + 1]), v[j + 3] - v[j + 2]
    d, e = (b - a) / (x[j + 2] - x[j]), (c / (x[j + 3] - x[j + 2]) - b) / (x[j + 3] - x[j + 1])
    return v[j], a, d, (e - d) / (x[j + 3] - x[j])


@njit(**_OPTIONS)
def _fit(x, v, k):
    """Cubic through four neighbours about the step from k to k + 1: its first index and coefficients."""
    j = min(max(k - 1, 0), len(x) - 4)
    a, b, c, d = _differences(x, v[0], j)
    e, f, g, h = _differences(x, v[1], j)
    return j, complex(a, e), complex(b, f), complex(c, g), complex(d, h)


@njit(**_OPTIONS)
def _at(x, cubic, t):
    """Value and two derivatives of a cubic at t."""
    j, c0, c1, c2, c3 = cubic
    a0, a1, a2 = t - x[j], t - x[j + 1], t - x[j + 2]
    value = c0 + a0 * (c1 + a1 * (c2 + a2 * c3))
    slope = c1 + c2 * (a0 + a1) + c3 * (a0 * a1 + a0 * a2 + a1 * a2)
    return value, slope, 2.0 * (c2 + c3 * (a0 + a1 + a2))


@njit(**_OPTIONS)
def _passage(re0, im0, re1, im1):
    """Signed passage of a step over the negative real axis; 1: counter-clockwise."""
    cross = re0 * im1 - re1 * im0
    if im0 >= 0.0 > im1 and cross > 0.0:
        return 1
    return -1 if im0 < 0.0 <= im1 and cross < 0.0 else 0


@njit(**_OPTIONS)
def _ends(re, im, first, last):
    """Turns at the two real ends, where the mirrored lower half joins, and whether they are in doubt."""
    n, turns = len(re) - 1, 0
    if first < 0.0:
        turns += 1 if im[0] < 0.0 else -1
    if last < 0.0:
        turns += 1 if im[n] >= 0.0 else -1
    doubt = (first == 0.0) | ((first * re[0] < 0.0) & (abs(re[0]) > abs(im[0])))
    return turns, doubt | ((last * re[n] < 0.0) & (abs(re[n]) > abs(im[n])))


@njit(**_OPTIONS)
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


@njit(**_OPTIONS)
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


@njit(**_OPTIONS)
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


@njit(**_OPTIONS)
def _growth(x, rates, rings, kp, ki, kd, work):
    """Growth rate of an unstable loop: bracketed by two rings, interpolated by how near each comes to a zero."""
    low, high = -1, len(rates)
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


@njit(**_OPTIONS)
def _quotient(x, top, bottom, t):
    """Value and two derivatives of the quotient of two cubics at t."""
    a, da, dda = _at(x, top, t)
    b, db, ddb = _at(x, bottom, t)
    size = b.real * b.real + b.imag * b.imag
    inverse = complex(b.real / size, -b.imag / size)  # a complex division would raise at 0
    value = a * inverse
    slope = (da - value * db) * inverse
    return value, slope, (dda - 2.0 * slope * db - value * ddb) * inverse


@njit(**_OPTIONS)
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


@njit(**_OPTIONS)
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


@njit(**_OPTIONS)
def _crossings(x, open_loop, regular, loop, level, start, end, sample_time, full, out):
    """Phase and delay margins where |L| = 1 (level: |L|^2 on the grid), gain margins where L is real and negative."""
    re, im = loop[0], loop[1]
    more, reduction, phase = np.inf, np.inf, np.inf
    delay = sample_time if abs(end) > 1.0 else np.inf  # one more sample turns the sign of L at the Nyquist frequency
    for value in (start, end):
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


@njit(**_OPTIONS)
def _factors(value, more, reduction):
    """Factors above 1 that bring crossings of the negative real axis to -1: from inside, and from outside."""
    if value > -1.0:
        return min(more, -1.0 / value), reduction
    return more, min(reduction, -value)


@njit(**_OPTIONS)
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


@njit(cache=True, nogil=True, **_OPTIONS)
def evaluate(gains, x, basis, regular, at_rest, at_nyquist, ring_x, rates, rings, sample_time, level, enough, out):
    """Fill `out` [n, len(COLUMNS)] for `gains` [n, 3] at one operating point.

    The other arrays are those of a LoopResponse, x its log_frequency. Of stable loops `level` FULL gives all,
    DELAY neither the complementary sensitivity nor the gain margins, SENSITIVITY the sensitivity alone. A sensitivity
    below 1 / `enough` may be given too small: its peaks are not refined. `out` starts at 0.
    """
    n = len(x)
    loop, open_loop, closed, work = np.empty((2, n)), np.empty((2, n)), np.empty((2, n)), np.empty((3, n))
    ring_work = np.empty((2, len(ring_x)))
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


# ------------------------------------------------------------------------------------------ several channels together


@njit(**_OPTIONS)
def _determinant(matrix, n):
    """Determinant of the first n rows and columns, by elimination with row pivots; the matrix is used up."""
    value = complex(1.0, 0.0)
    for c in range(n):
        best, most = c, 0.0
        for r in range(c, n):
            size = matrix[r, c].real ** 2 + matrix[r, c].imag ** 2
            if size > most:
                best, most = r, size
        if most == 0.0:
            return complex(0.0, 0.0)
        if best != c:
            value = -value
            for j in range(c, n):
                matrix[c, j], matrix[best, j] = matrix[best, j], matrix[c, j]
        pivot = matrix[c, c]
        value *= pivot
        inverse = complex(pivot.real / most, -pivot.imag / most)
        for r in range(c + 1, n):
            share = matrix[r, c] * inverse
            for j in range(c + 1, n):
                matrix[r, j] -= share * matrix[c, j]
    return value


@njit(**_OPTIONS)
def _returned(gains, answers, integrator, out):
    """I + L of all channels at one point, from what their laws make of unit commands [2, channel, channel]."""
    n = out.shape[0]
    for i in range(n):
        of_output = gains[3 * i] + gains[3 * i + 1] * integrator
        for j in range(n):
            out[i, j] = of_output * answers[0, i, j] + gains[3 * i + 2] * answers[1, i, j]
        out[i, i] += 1.0


@njit(**_OPTIONS)
def _minor(matrix, channel, work):
    """Determinant of a matrix without the row and column of a channel; of no channel (-1): of all."""
    n, m = matrix.shape[0], matrix
    if n == 2:
        return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0] if channel < 0 else m[1 - channel, 1 - channel]
    if n == 3 and channel >= 0:
        i, j = (channel + 1) % 3, (channel + 2) % 3
        return m[i, i] * m[j, j] - m[i, j] * m[j, i]
    if n == 3:
        first, second = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1], m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0]
        return m[0, 0] * first - m[0, 1] * second + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    row = 0
    for i in range(n):
        column = 0
        for j in range(n):
            if channel not in (i, j):
                work[row, column] = matrix[i, j]
            column += j != channel
        row += i != channel
    return _determinant(work, row)


@njit(**_OPTIONS)
def _all_determinants(gains, answers, integrator, factor, whole, work, top, bottoms):
    """R det(I + L) and R det(I + L without a channel) on the grid, and both, without R, at the Nyquist frequency."""
    n, points = whole.shape[0], top.shape[1]
    ends = np.empty(n + 1)
    for k in range(points + 1):
        _returned(gains, answers[k], integrator[k], whole)
        for channel in range(-1, n):
            value = _minor(whole, channel, work)
            if k == points:
                ends[channel + 1] = value.real
                continue
            value *= factor[k]
            if channel < 0:
                top[0, k], top[1, k] = value.real, value.imag
            else:
                bottoms[channel, 0, k], bottoms[channel, 1, k] = value.real, value.imag
    return ends


@njit(**_OPTIONS)
def _far(one, other):
    """Whether the way between two points is long beside their distances from 0."""
    way = (one.real - other.real) ** 2 + (one.imag - other.imag) ** 2
    return way > _FAR * min(one.real**2 + one.imag**2, other.real**2 + other.imag**2)


@njit(**_OPTIONS)
def _even(one, other):
    """Whether two numbers are nearly of one size: |L| may pass 1 between two such points, and back again."""
    a, b = one.real**2 + one.imag**2, other.real**2 + other.imag**2
    return abs(a - b) < _EVEN * b


@njit(**_OPTIONS)
def _closer(x, top, bottom, fine_x, fine_top, fine_bottom):
    """Copy the grid, with points on the cubics between where L = top / bottom - 1 peaks or dips; return their number.

    There the other loops alone have a lightly damped mode, or L a zero: between two points it may pass |L| = 1 twice.
    """
    n, m = len(x), 0
    for k in range(n):
        fine_x[m] = x[k]
        fine_top[0, m], fine_top[1, m] = top[0, k], top[1, k]
        fine_bottom[0, m], fine_bottom[1, m] = bottom[0, k], bottom[1, k]
        m += 1
        if k == n - 1:
            break
        a, b = _point(bottom, k), _point(bottom, k + 1)
        c, d = _point(top, k) - a, _point(top, k + 1) - b
        if _far(a, b) or _far(c, d) or (_even(a, c) and _even(b, d)):
            upper, lower = _fit(x, top, k), _fit(x, bottom, k)
            for part in range(1, _PARTS):
                t = x[k] + (x[k + 1] - x[k]) * part / _PARTS
                above, below = _at(x, upper, t)[0], _at(x, lower, t)[0]
                fine_x[m] = t
                fine_top[0, m], fine_top[1, m] = above.real, above.imag
                fine_bottom[0, m], fine_bottom[1, m] = below.real, below.imag
                m += 1
    return m


@njit(**_OPTIONS)
def _one_of_several(x, top, bottom, start, end, sample_time, level, enough, room, out):
    """Margins of one channel from R det(I + L) and R det(I + L of the others), on the grid or a closer one."""
    n = len(x)
    opened, loop, work = room[0:2, :n], room[2:4, :n], room[4:7, :n]
    for k in range(n):
        size = bottom[0, k] ** 2 + bottom[1, k] ** 2
        opened[0, k], opened[1, k] = top[0, k] - bottom[0, k], top[1, k] - bottom[1, k]
        loop[0, k] = (opened[0, k] * bottom[0, k] + opened[1, k] * bottom[1, k]) / size
        loop[1, k] = (opened[1, k] * bottom[0, k] - opened[0, k] * bottom[1, k]) / size
    out[0], out[1] = STABLE, 0.0
    _margins(x, top, opened, bottom, loop, start, end, sample_time, level, enough, work, out)


@njit(cache=True, nogil=True, **_OPTIONS)
def evaluate_together(gains, x, answers, integrator, regular, rest, starts, sample_time, level, enough, out):
    """Fill `out` [n, n_channels, len(COLUMNS)] for stable loops of all channels with `gains` [n, 3 n_channels].

    One channel's loop is opened, the others are closed: L = det(I + L_all) / det(I + L_others) - 1. The arrays are
    those of a :class:`sscq.coupled_response.CoupledResponse`, `starts` [n, n_channels] is L at rest; `level` and
    `enough` as in :func:`evaluate`.
    """
    n, channels = len(x), answers.shape[2]
    whole, minor = np.empty((channels, channels), np.complex128), np.empty((channels, channels), np.complex128)
    top, bottoms, factor = np.empty((2, n)), np.empty((channels, 2, n)), np.empty(n, np.complex128)
    fine_x, fine, room = np.empty(_PARTS * n), np.empty((4, _PARTS * n)), np.empty((7, _PARTS * n))
    for row in range(len(gains)):
        factor[:] = regular
        for i in range(channels):
            if gains[row, 3 * i + 1] != 0.0:
                factor *= rest
        ends = _all_determinants(gains[row], answers, integrator, factor, whole, minor, top, bottoms)
        for i in range(channels):
            m = _closer(x, top, bottoms[i], fine_x, fine[0:2], fine[2:4])
            _one_of_several(
                fine_x[:m], fine[0:2, :m], fine[2:4, :m], starts[row, i], ends[0] / ends[i + 1] - 1.0, sample_time,
                level, enough * enough, room, out[row, i],
            )  # fmt: skip
