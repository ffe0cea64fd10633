"""A quick look at two loops closed together: are they stable, does each keep a limit on Ms? Sixteen gain sets at once.

What :mod:`sscq.margins.screen` is for a single loop, and it saves the eigenvalues of the closed loops as well: they are
stable where R det(I + L) makes no turn about 0 and passes well clear of it. What is answered here with yes pays nothing
by the whole computation; that is asked all the rest. With three channels and more it is asked everything.

Between two points of the grid R det(I + L), and each R (1 + L of the other channel alone), are taken to stay within
three quarters of the step from one of its ends: so they do even where a step is half a circle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.cache import function
from plants.core.kernel.kernel import written
from sscq.margins.coupled.sampled_loops import GAINS
from sscq.margins.screen import LANES, OCTAGON, with_ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sscq.margins.coupled.sampled_loops import SampledLoops

    Array = NDArray[np.float64]

CHANNELS = 2
KEPT = 18  # numbers that a lane keeps from one point of the grid to the next
STRAY = 0.75  # of a step: from half a circle to its nearer end are 0.71
_SLOW = 1e-6  # of what kp and kd do in a sample: slower integrals are left to the whole computation


def _rows(gains, basis, factor, first, at_nyquist, distance, out, memory):
    """Fill `out` [n, 3] with 1 or 0; see :meth:`ScreenedTogether.look`. Memory [KEPT * LANES]."""
    S = memory.reshape(KEPT, LANES)
    kp, ki, kd, other_kp, other_ki, other_kd = S[0], S[1], S[2], S[3], S[4], S[5]
    turns, doubt, old_re, old_im = S[6], S[7], S[8], S[9]
    old_xr, old_xi, old_yr, old_yi, near_x, near_y = S[10], S[11], S[12], S[13], S[16], S[17]
    for start in range(0, len(gains), LANES):
        for lane in range(LANES):
            row = min(start + lane, len(gains) - 1)
            kp[lane], ki[lane], kd[lane] = gains[row, 0], gains[row, 1], gains[row, 2]
            other_kp[lane], other_ki[lane], other_kd[lane] = gains[row, 3], gains[row, 4], gains[row, 5]
            turns[lane], doubt[lane], near_x[lane], near_y[lane] = 0.0, 0.0, 0.0, 0.0
        for k in range(factor.shape[1]):
            fr, fi = factor[0, k], factor[1, k]
            a0, a1, a2, a3, a4, a5 = basis[k, 0], basis[k, 8], basis[k, 16], basis[k, 1], basis[k, 9], basis[k, 17]
            b0, b1, b2, b3, b4, b5 = basis[k, 2], basis[k, 10], basis[k, 18], basis[k, 3], basis[k, 11], basis[k, 19]
            c0, c1, c2, c3, c4, c5 = basis[k, 4], basis[k, 12], basis[k, 20], basis[k, 5], basis[k, 13], basis[k, 21]
            d0, d1, d2, d3, d4, d5 = basis[k, 6], basis[k, 14], basis[k, 22], basis[k, 7], basis[k, 15], basis[k, 23]
            for lane in range(LANES):
                p, i, d = kp[lane], ki[lane], kd[lane]
                q, j, e = other_kp[lane], other_ki[lane], other_kd[lane]
                ar, ai = 1.0 + p * a0 + i * a1 + d * a2, p * a3 + i * a4 + d * a5
                br, bi = p * b0 + i * b1 + d * b2, p * b3 + i * b4 + d * b5
                cr, ci = q * c0 + j * c1 + e * c2, q * c3 + j * c4 + e * c5
                dr, di = 1.0 + q * d0 + j * d1 + e * d2, q * d3 + j * d4 + e * d5
                wr, wi = ar * dr - ai * di - br * cr + bi * ci, ar * di + ai * dr - br * ci - bi * cr
                re, im = fr * wr - fi * wi, fr * wi + fi * wr
                xr, xi, yr, yi = fr * dr - fi * di, fr * di + fi * dr, fr * ar - fi * ai, fr * ai + fi * ar
                last_re, last_im = re if k == 0 else old_re[lane], im if k == 0 else old_im[lane]
                last_xr, last_xi = xr if k == 0 else old_xr[lane], xi if k == 0 else old_xi[lane]
                last_yr, last_yi = yr if k == 0 else old_yr[lane], yi if k == 0 else old_yi[lane]
                size, last_size = re * re + im * im, last_re * last_re + last_im * last_im
                along, across = abs(re - last_re), abs(im - last_im)
                way = STRAY * (max(along, across) + OCTAGON * min(along, across))
                along, across = abs(xr - last_xr), abs(xi - last_xi)
                more = way + distance * STRAY * (max(along, across) + OCTAGON * min(along, across))
                near_first = (size <= (more + distance * np.sqrt(xr * xr + xi * xi)) ** 2) | (
                    last_size <= (more + distance * np.sqrt(last_xr * last_xr + last_xi * last_xi)) ** 2
                )
                along, across = abs(yr - last_yr), abs(yi - last_yi)
                more = way + distance * STRAY * (max(along, across) + OCTAGON * min(along, across))
                near_second = (size <= (more + distance * np.sqrt(yr * yr + yi * yi)) ** 2) | (
                    last_size <= (more + distance * np.sqrt(last_yr * last_yr + last_yi * last_yi)) ** 2
                )
                long = (re * last_re + im * last_im < 0.0) | (min(size, last_size) <= way * way)
                cross = last_re * im - re * last_im
                up = (last_im >= 0.0) & (im < 0.0) & (cross > 0.0)
                down = (last_im < 0.0) & (im >= 0.0) & (cross < 0.0)
                turns[lane] += 2.0 if up else (-2.0 if down else 0.0)
                doubt[lane] = 1.0 if long else doubt[lane]
                near_x[lane] = 1.0 if near_first else near_x[lane]
                near_y[lane] = 1.0 if near_second else near_y[lane]
                old_re[lane], old_im[lane] = re, im
                old_xr[lane], old_xi[lane], old_yr[lane], old_yi[lane] = xr, xi, yr, yi
            if k == 0:
                for lane in range(LANES):
                    S[14, lane], S[15, lane] = old_re[lane], old_im[lane]
        for lane in range(min(LANES, len(gains) - start)):
            _told(S, lane, first[start + lane], at_nyquist, distance, out[start + lane])


def _told(S, lane, first, at_nyquist, distance, out):
    """What a lane was found to be, also at rest and at the Nyquist frequency: stable, and far from -1 in each loop."""
    p, i, d, q, j, e = S[0, lane], S[1, lane], S[2, lane], S[3, lane], S[4, lane], S[5, lane]
    N = at_nyquist
    a, b = 1.0 + p * N[0] + i * N[4] + d * N[8], p * N[1] + i * N[5] + d * N[9]
    c, f = q * N[2] + j * N[6] + e * N[10], 1.0 + q * N[3] + j * N[7] + e * N[11]
    whole = a * f - b * c
    turns, sure = with_ends(S[6, lane], first, whole, S[14, lane], S[15, lane], S[8, lane], S[9, lane])
    # No mode is much slower than the grid begins: it would have turned what the grid begins with.
    settled = (first > 0.0) & (S[14, lane] > abs(S[15, lane]))
    out[0] = 1 if sure & settled & (S[7, lane] == 0.0) & (turns == 0.0) else 0
    out[1] = 1 if (S[16, lane] == 0.0) & (abs(whole) > distance * abs(f)) else 0
    out[2] = 1 if (S[17, lane] == 0.0) & (abs(whole) > distance * abs(a)) else 0


_TABLE = "float64[:,::1]"
_ROW = "float64[::1]"
_ARGUMENTS = (_TABLE, _TABLE, _TABLE, _ROW, _ROW, "float64", "int64[:,::1]", _ROW)


@cache
def text() -> str:
    """Return the text that is compiled."""
    named = [f"LANES = {LANES}", f"OCTAGON = {OCTAGON!r}", f"KEPT = {KEPT}", f"STRAY = {STRAY}"]
    return written("which pairs of loops keep a limit on Ms", named, (with_ends, _told), _rows)


@dataclass(frozen=True, eq=False)
class ScreenedTogether:
    """The loops of a plant with two channels about one operating point, as a table.

    Attributes
    ----------
    sampled : SampledLoops
    basis : ndarray [n_w, 24]
        What kp, ki and kd in turn add to L_11, L_12, L_21, L_22 (real and imaginary part of each) at unit gain.
    factors : tuple of ndarray [2, n_w]
        R with the integrators of none, one and both of the laws.
    rest_sign : float
        Sign with which R det(I + L) begins over that of ki_1 ki_2: at rest no other gain changes it.
    at_nyquist : ndarray [12]
        As `basis`, real, at the Nyquist frequency, where R is above 0.
    """

    sampled: SampledLoops
    basis: Array
    factors: tuple[Array, ...]
    rest_sign: float
    at_nyquist: Array

    @classmethod
    def of(
        cls, sampled: SampledLoops, answers: Array, integrator: Array, regular: Array, rest: Array
    ) -> ScreenedTogether | None:
        """Return the table of a CoupledResponse; None with other than two channels, or if a hidden mode grows."""
        if len(sampled.loops) != CHANNELS or sampled.hidden_growth > 0.0:
            return None
        by_law = _complex(answers)  # [n_w + 1, 2, law, command]
        of_integral = by_law[:, 0] * _complex(integrator)[:, None, None]
        shares = np.stack([by_law[:, 0], of_integral, by_law[:, 1]], axis=1)
        shares = shares.reshape(len(shares), -1)  # [n_w + 1, 3 gains, 4 entries]
        factors = [_complex(regular) * _complex(rest) ** count for count in range(CHANNELS + 1)]
        return cls(
            sampled,
            np.stack([shares[:-1].real, shares[:-1].imag], axis=-1).reshape(len(shares) - 1, -1),
            tuple(np.stack([factor.real, factor.imag]) for factor in factors),
            float(sampled.determinants(np.tile([0.0, 1.0, 0.0], CHANNELS)).sign),
            np.ascontiguousarray(shares[-1].real),
        )

    def look(self, gains: Array, distance: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return what is sure of `gains` [n, 6]: which are stable [n], and which loop then stays far from -1 [n, 2].

        Far is more than `distance`. Of loops with next to no integral action nothing is sure.
        """
        out = np.zeros((len(gains), 1 + CHANNELS), np.int64)
        acting = gains[:, 1::GAINS] != 0.0
        for count, factor in enumerate(self.factors):
            rows = np.flatnonzero(acting.sum(axis=1) == count)
            if not len(rows):
                continue
            of = np.ascontiguousarray(gains[rows])
            first = self.rest_sign * of[:, 1] * of[:, 1 + GAINS] if count == CHANNELS else np.ones(len(rows))
            found = np.zeros((len(rows), 1 + CHANNELS), np.int64)
            tables = (self.basis, factor, first, self.at_nyquist)
            function(text(), _ARGUMENTS)(of, *tables, distance, found, np.empty(KEPT * LANES))
            out[rows] = found
        kp, ki, kd = (np.abs(gains[:, k::GAINS]) for k in range(GAINS))
        h = self.sampled.sample_time
        slow = acting & (ki * h <= _SLOW * (kp + kd / h))
        stable, far = (out[:, 0] > 0) & ~slow.any(axis=1), out[:, 1:] > 0
        still = np.flatnonzero(stable & ~acting.all(axis=1))  # above, R det(I + L) was taken to begin above 0
        if len(still):
            whole = self.sampled.determinants(gains[still])
            stable[still], start = whole.sign > 0.0, self.sampled.at_rest(gains[still], whole)
            far[still] &= np.abs(1.0 + start) > distance
        return stable, far


def _complex(pairs: Array) -> NDArray[np.complex128]:
    return np.asarray(pairs[..., 0] + 1j * pairs[..., 1])
