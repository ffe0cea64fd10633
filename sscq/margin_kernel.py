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
    n = ring.shape[1]
    re, im = work[0, :n], work[1, :n]
    least = np.inf
    for k in range(n):
        re[k] = ring[0, k] + kp * ring[2, k] + ki * ring[4, k] + kd * ring[6, k]
        im[k] = ring[1, k] + kp * ring[3, k] + ki * ring[5, k] + kd * ring[7, k]
        least = min(least, re[k] * re[k] + im[k] * im[k])
    return _outside(x, re[1 : n - 1], im[1 : n - 1], re[0], re[n - 1])[0], least


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
def _dip(x, re, im, k, ends):
    """Smallest |1 + L|^2 about the grid point k, and the largest |L / (1 + L)|^2 met on the way (Newton)."""
    n = len(x)
    here = (1.0 + re[k]) ** 2 + im[k] ** 2
    peak = (re[k] ** 2 + im[k] ** 2) / here
    low, high = x[max(k - 1, 0)], x[min(k + 1, n - 1)]
    j = min(max(k - 1 if ends > 0.0 else k - 2, 0), n - 4)
    t = x[k]
    for _ in range(7):
        a, da, dda = _cubic(x, re, j, t)
        b, db, ddb = _cubic(x, im, j, t)
        a += 1.0
        size = a * a + b * b
        here = min(here, size)
        peak = max(peak, ((a - 1.0) ** 2 + b * b) / size)
        slope, bend = a * da + b * db, da * da + db * db
        bend = bend + a * dda + b * ddb if bend + a * dda + b * ddb > 0.1 * bend else bend
        t = min(max(t - slope / bend, low), high)
    return here, peak


@njit(**_OPTIONS)
def _meet(x, re, im, k, t, unit):
    """Newton from t, between the points k and k + 1: ln(frequency) and L where |L| = 1 (`unit`) or where L is real."""
    j = min(max(k - 1, 0), len(x) - 4)
    a, b = 0.0, 0.0
    for _ in range(4):
        a, da, _da = _cubic(x, re, j, t)
        b, db, _db = _cubic(x, im, j, t)
        miss, slope = (0.5 * (a * a + b * b - 1.0), a * da + b * db) if unit else (b, db)
        t = min(max(t - miss / slope, x[k]), x[k + 1])
    return t, a, b


@njit(cache=True, nogil=True, **_OPTIONS)
def evaluate(gains, x, basis, regular, at_rest, at_nyquist, rates, rings, sample_time, full, out):
    """Fill `out` [n, len(COLUMNS)] for `gains` [n, 3] at one operating point.

    The other arrays are those of a LoopResponse, x its log_frequency. Without `full`, gain margins and the phase
    margin are left at their best value and the complementary sensitivity is a grid value.
    """
    n = len(x)
    ring_x = x[::2].copy()
    work = np.empty((5, n + 2))
    re, im, m = work[2, :n], work[3, :n], work[4, :n]
    for row in range(len(gains)):
        kp, ki, kd = gains[row, 0], gains[row, 1], gains[row, 2]
        r = 2 if ki == 0.0 else 0
        for k in range(n):
            re[k] = kp * basis[0, k] + ki * basis[2, k] + kd * basis[4, k]
            im[k] = kp * basis[1, k] + ki * basis[3, k] + kd * basis[5, k]
        fr, fi = work[0, :n], work[1, :n]
        for k in range(n):
            fr[k] = regular[r, k] * (1.0 + re[k]) - regular[r + 1, k] * im[k]
            fi[k] = regular[r + 1, k] * (1.0 + re[k]) + regular[r, k] * im[k]
        rest = at_rest[0] + kp * at_rest[1] + kd * at_rest[2] if ki == 0.0 else ki * at_rest[1]
        end = kp * at_nyquist[0] + ki * at_nyquist[1] + kd * at_nyquist[2]
        last = at_nyquist[4 if ki == 0.0 else 3] * (1.0 + end)
        count, doubt = _outside(x, fr, fi, rest, last)
        out[row, 0] = DOUBTFUL if doubt else (STABLE if count == 0 else UNSTABLE)
        out[row, 1] = 0.0
        if count != 0:
            out[row, 1] = _growth(ring_x, rates, rings, kp, ki, kd, work)
            if not doubt:
                out[row, 2], out[row, 3] = np.inf, np.inf
                out[row, 4:] = 0.0
                continue
        for k in range(n):
            m[k] = re[k] * re[k] + im[k] * im[k]
        _margins(x, re, im, m, end, at_rest, gains[row], sample_time, full, out[row])


@njit(**_OPTIONS)
def _margins(x, re, im, m, end, at_rest, gain, sample_time, full, out):
    """Everything of a stable loop, from L on the grid (m = |L|^2) and its real values at both ends."""
    n = len(x)
    distance = (1.0 + end) ** 2
    peak = end * end / distance
    more, reduction, phase = np.inf, np.inf, np.inf
    delay = sample_time if abs(end) > 1.0 else np.inf  # one more sample turns the sign of L at the Nyquist frequency
    start = np.nan
    if gain[1] == 0.0 and at_rest[0] != 0.0:
        start = (gain[0] * at_rest[1] + gain[2] * at_rest[2]) / at_rest[0]
    for value in (start, end):
        if -1.0 < value < 0.0:
            more = min(more, -1.0 / value)
        elif value <= -1.0:
            reduction = min(reduction, -value)
    for k in range(n):
        here = m[k] + 2.0 * re[k] + 1.0
        before = m[max(k - 1, 0)] + 2.0 * re[max(k - 1, 0)] + 1.0
        after = m[min(k + 1, n - 1)] + 2.0 * re[min(k + 1, n - 1)] + 1.0
        if here <= before and here <= after and (here < 1.0 or here < distance):
            least, top = _dip(x, re, im, k, before - after)
            distance, peak = min(distance, least), max(peak, top)
        peak = max(peak, m[k] / here)
        if k + 1 < n:
            if (m[k] >= 1.0) != (m[k + 1] >= 1.0):
                guess = x[k] + (x[k + 1] - x[k]) * math.log(m[k]) / (math.log(m[k]) - math.log(m[k + 1]))
                t, a, b = _meet(x, re, im, k, guess, True)  # noqa: FBT003
                lag = math.atan2(-b, -a) % (2.0 * math.pi)
                delay = min(delay, lag / math.exp(t))
                phase = min(phase, min(lag, 2.0 * math.pi - lag))
            if full and (im[k] >= 0.0) != (im[k + 1] >= 0.0) and re[k] * re[k + 1] + im[k] * im[k + 1] > 0.0:
                guess = x[k] + (x[k + 1] - x[k]) * im[k] / (im[k] - im[k + 1])
                value = _meet(x, re, im, k, guess, False)[1]  # noqa: FBT003
                if -1.0 < value < 0.0:
                    more = min(more, -1.0 / value)
                elif value <= -1.0:
                    reduction = min(reduction, -value)
    out[2], out[3] = 1.0 / math.sqrt(distance), math.sqrt(peak)
    out[4], out[5], out[6], out[7] = more, reduction, phase, delay
