"""The compiled part of the margins: one gain set after the other on the prepared responses of one operating point.

One pass builds L and counts the turns of R (1 + L) about 0; a second looks for dips, crossovers and crossings and refines
each on a cubic through four neighbours in ln(frequency), on which L itself is smooth even where 1 / |1 + L| has a
sharp peak. Every function is in this file, so that the cache cannot serve an old one.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_OPTIONS = {"fastmath": {"contract"}, "error_model": "numpy"}
STABLE, UNSTABLE, DOUBTFUL = 1.0, 0.0, 2.0
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
def _cubic(x, v, j, t):
    """Value and two derivatives at t of the cubic through (x, v)[j : j + 4] (Newton's form)."""
    x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
    d1, d2, d3 = (v[j + 1] - v[j]) / (x1 - x0), (v[j + 2] - v[j + 1]) / (x2 - x1), (v[j + 3] - v[j + 2]) / (x3 - x2)
    e2, e3 = (d2 - d1) / (x2 - x0), (d3 - d2) / (x3 - x1)
    c3 = (e3 - e2) / (x3 - x0)
    a0, a1, a2 = t - x0, t - x1, t - x2
    value = v[j] + a0 * (d1 + a1 * (e2 + a2 * c3))
    first = d1 + e2 * (a0 + a1) + c3 * (a0 * a1 + a0 * a2 + a1 * a2)
    return value, first, 2.0 * (e2 + c3 * (a0 + a1 + a2))


@njit(**_OPTIONS)
def _step(re0, im0, re1, im1):
    """Signed passage over the negative real axis (1: counter-clockwise), and whether the step turns by over 90 degrees."""
    cross = re0 * im1 - re1 * im0
    down = (im0 >= 0.0) & (im1 < 0.0) & (cross > 0.0)
    up = (im0 < 0.0) & (im1 >= 0.0) & (cross < 0.0)
    return int(down) - int(up), int(re0 * re1 + im0 * im1 < 0.0)


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
def _outside(x, re, im, first, last):
    """Zeros outside the circle, from the turns of the values on its upper half; whether a step was too long to tell.

    A step that turns by over 90 degrees is taken again in 16 along the cubic through its neighbours.
    """
    half, long = 0, 0
    for k in range(len(re) - 1):
        turn, doubt = _step(re[k], im[k], re[k + 1], im[k + 1])
        if doubt:
            turn, a, b = 0, re[k], im[k]
            j = min(max(k - 1, 0), len(x) - 4)
            for i in range(1, 17):
                t = x[k] + (x[k + 1] - x[k]) * i / 16.0
                a1, b1 = _cubic(x, re, j, t)[0], _cubic(x, im, j, t)[0]
                passed, doubt = _step(a, b, a1, b1)
                turn += passed
                long += doubt
                a, b = a1, b1
        half += turn
    turns, doubt = _ends(re, im, first, last)
    return -2 * half - turns, doubt | (long > 0)


@njit(**_OPTIONS)
def _ring(x, ring, kp, ki, kd, work):
    """Zeros outside one ring, and the smallest squared distance from 0 on it; x belongs to its points inside the ends."""
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
    return _outside(x, re, im, first, last)[0], least


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
def _quotient(x, top, bottom, j, t):
    """Value and two derivatives at t of top / bottom (rows: real and imaginary part), each a cubic about j."""
    a, da, dda = _cubic(x, top[0], j, t)
    b, db, ddb = _cubic(x, top[1], j, t)
    c, dc, ddc = _cubic(x, bottom[0], j, t)
    d, dd, ddd = _cubic(x, bottom[1], j, t)
    size = c * c + d * d
    inverse, slope = complex(c / size, -d / size), complex(dc, dd)  # a complex division would raise at 0
    value = complex(a, b) * inverse
    first = (complex(da, db) - value * slope) * inverse
    return value, first, (complex(dda, ddb) - 2.0 * first * slope - value * complex(ddc, ddd)) * inverse


@njit(**_OPTIONS)
def _closest(x, top, bottom, least):
    """Smallest of `least` and |top / bottom|^2 over the grid, refined by Newton about each dip of it and of |top|.

    The dip of the quotient alone can hide between two points where `bottom` dips beside it.
    """
    n = len(x)
    size, size_after, here, after = np.inf, np.inf, np.inf, np.inf
    for k in range(n + 1):
        size_before, size, before, here = size, size_after, here, after
        size_after, after = np.inf, np.inf
        if k < n:
            size_after = top[0, k] ** 2 + top[1, k] ** 2
            after = size_after / (bottom[0, k] ** 2 + bottom[1, k] ** 2)
        if k == 0 or ((here > before or here > after) and (size > size_before or size > size_after)):
            continue
        i = k - 1
        least = min(least, here)
        j = min(max(i - 1 if size_after < size_before else i - 2, 0), n - 4)
        t, low, high = x[i], x[max(i - 1, 0)], x[min(i + 1, n - 1)]
        for _ in range(6):
            v, dv, ddv = _quotient(x, top, bottom, j, t)
            least = min(least, v.real * v.real + v.imag * v.imag)
            slope, bend = v.real * dv.real + v.imag * dv.imag, dv.real * dv.real + dv.imag * dv.imag
            bend = max(bend + v.real * ddv.real + v.imag * ddv.imag, 0.1 * bend)  # Newton's own may point uphill
            t = min(max(t - slope / bend, low), high)
    return least


@njit(**_OPTIONS)
def _meet(x, top, bottom, k, t, unit):
    """Newton from t, between the points k and k + 1: ln(frequency) and L = top / bottom where |L| = 1, or L is real."""
    j = min(max(k - 1, 0), len(x) - 4)
    v = complex(0.0, 0.0)
    for _ in range(4):
        v, dv, _ddv = _quotient(x, top, bottom, j, t)
        miss, slope = v.imag, dv.imag
        if unit:
            miss, slope = 0.5 * (v.real * v.real + v.imag * v.imag - 1.0), v.real * dv.real + v.imag * dv.imag
        t = min(max(t - miss / slope, x[k]), x[k + 1])
    return t, v


@njit(**_OPTIONS)
def _gain_margins(x, loop, open_loop, regular, start, end):
    """Least factors above 1 that bring a crossing of the negative real axis to -1: from inside, and from outside."""
    more, reduction = np.inf, np.inf
    re, im = loop[0], loop[1]
    for k in range(-2, len(x) - 1):
        value = start if k == -2 else end
        if k >= 0:
            if (im[k] >= 0.0) == (im[k + 1] >= 0.0) or re[k] * re[k + 1] + im[k] * im[k + 1] <= 0.0:
                continue  # no crossing, or one through infinity at an undamped pole
            guess = x[k] + (x[k + 1] - x[k]) * im[k] / (im[k] - im[k + 1])
            value = _meet(x, open_loop, regular, k, guess, False)[1].real  # noqa: FBT003
        if -1.0 < value < 0.0:
            more = min(more, -1.0 / value)
        elif value <= -1.0:
            reduction = min(reduction, -value)
    return more, reduction


@njit(**_OPTIONS)
def _margins(x, closed, open_loop, regular, loop, start, end, sample_time, full, out):
    """Everything of a stable loop: R (1 + L), R L, R and L on the grid, and L at rest and at the Nyquist frequency."""
    out[2] = 1.0 / math.sqrt(_closest(x, closed, regular, min((1.0 + start) ** 2, (1.0 + end) ** 2)))
    phase = np.inf
    delay = sample_time if abs(end) > 1.0 else np.inf  # one more sample turns the sign of L at the Nyquist frequency
    after = loop[0, 0] ** 2 + loop[1, 0] ** 2
    for k in range(len(x) - 1):
        here = after
        after = loop[0, k + 1] ** 2 + loop[1, k + 1] ** 2
        if (here >= 1.0) != (after >= 1.0):
            guess = x[k] + (x[k + 1] - x[k]) * math.log(here) / (math.log(here) - math.log(max(after, 1e-290)))
            t, v = _meet(x, open_loop, regular, k, guess, True)  # noqa: FBT003
            lag = math.atan2(-v.imag, -v.real) % (2.0 * math.pi)
            delay = min(delay, lag / math.exp(t))
            phase = min(phase, min(lag, 2.0 * math.pi - lag))
    out[6], out[7] = phase, delay
    if full:
        around = 1.0 if math.isinf(start) else (1.0 + 1.0 / start) ** 2
        out[3] = 1.0 / math.sqrt(_closest(x, closed, open_loop, min(around, (1.0 + 1.0 / end) ** 2)))
        out[4], out[5] = _gain_margins(x, loop, open_loop, regular, start, end)


@njit(cache=True, nogil=True, **_OPTIONS)
def evaluate(gains, x, basis, regular, at_rest, at_nyquist, rates, rings, sample_time, full, out):
    """Fill `out` [n, len(COLUMNS)] for `gains` [n, 3] at one operating point.

    The other arrays are those of a LoopResponse, x its log_frequency. Without `full`, the complementary sensitivity
    and the gain margins of stable loops are not computed.
    """
    n = len(x)
    ring_x = x[::2].copy()
    loop, open_loop, closed, work = np.empty((2, n)), np.empty((2, n)), np.empty((2, n)), np.empty((2, len(ring_x)))
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
        count, doubt = _outside(x, closed[0], closed[1], first, last)
        out[row, 0] = DOUBTFUL if doubt else (STABLE if count == 0 else UNSTABLE)
        out[row, 1] = _growth(ring_x, rates, rings, kp, ki, kd, work) if count != 0 and not doubt else 0.0
        if count != 0 and not doubt:
            out[row, 2:4] = np.inf
            out[row, 4:] = 0.0
        else:
            _margins(x, closed, open_loop, factor, loop, start, end, sample_time, full, out[row])
