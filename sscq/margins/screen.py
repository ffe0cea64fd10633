"""A quick look at frozen loops: which of them keep a limit on Ms beyond doubt, sixteen side by side.

A search asks of many thousand gain sets whether they keep Ms, and most do. This pass says so for those where a lower
bound of the distance from -1 tells, without looking for the dips themselves; the others, and all that it cannot judge,
go through :mod:`sscq.margins.kernel`. So what a search pays is the same to the last bit.

Between two points of the grid L = top / R - 1 is taken to come no nearer to -1 than straight ways of the full length of
the step would lead, as there. The lanes are the innermost loop and hold no branch, so that the compiler vectorises
across gain sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.cache import prepared
from plants.core.kernel.kernel import written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sscq.margins.frequency_response import LoopResponse

    Array = NDArray[np.float64]

LANES = 16
OCTAGON = 0.4142135623730951  # larger part + this * smaller part: never below the length, at most 8.3 % above


def _all(gains, own, ends, basis, factor, at_rest, at_nyquist, distance, out, memory):
    """Fill `out` [n_loops, n] with 1 or 0; see :meth:`Screened.kept`. Memory [9 * LANES].

    Gains [n, 3] of all loops, or with `own` 1 [n_loops * n, 3], one loop's behind the other's.
    """
    for loop in range(len(ends) - 1):
        if ends[loop] < ends[loop + 1]:
            at = own * loop * out.shape[1]
            _rows(
                gains, at, ends[loop], ends[loop + 1], basis, factor, at_rest, at_nyquist, loop, distance, out, memory
            )


def _rows(gains, at, begin, end, basis, factor, at_rest, at_nyquist, loop, distance, out, memory):
    """Fill `out[loop]` from the grid's points `begin` to `end`, for the gains from row `at` on."""
    n, many = end - begin, out.shape[1]
    S = memory.reshape(9, LANES)
    kp, ki, kd, re_before, im_before = S[0], S[1], S[2], S[3], S[4]
    first_re, first_im, turns, doubt = S[5], S[6], S[7], S[8]
    for start in range(0, many, LANES):
        for lane in range(LANES):
            row = at + min(start + lane, many - 1)
            kp[lane], ki[lane], kd[lane] = gains[row, 0], gains[row, 1], gains[row, 2]
            turns[lane], doubt[lane] = 0.0, 0.0
        for k in range(n):
            b0, b1, b2 = basis[0, begin + k], basis[2, begin + k], basis[4, begin + k]
            c0, c1, c2 = basis[1, begin + k], basis[3, begin + k], basis[5, begin + k]
            fr, fi = factor[0, begin + k], factor[1, begin + k]
            reach = distance * np.sqrt(fr * fr + fi * fi)
            before = begin + max(k - 1, 0)
            reach_before = distance * np.sqrt(factor[0, before] ** 2 + factor[1, before] ** 2)
            for lane in range(LANES):
                loop_re = kp[lane] * b0 + ki[lane] * b1 + kd[lane] * b2
                loop_im = kp[lane] * c0 + ki[lane] * c1 + kd[lane] * c2
                re = fr + fr * loop_re - fi * loop_im
                im = fi + fi * loop_re + fr * loop_im
                old_re = re if k == 0 else re_before[lane]
                old_im = im if k == 0 else im_before[lane]
                along, across = abs(re - old_re), abs(im - old_im)
                way = max(along, across) + OCTAGON * min(along, across)
                size, old_size = re * re + im * im, old_re * old_re + old_im * old_im
                near = (size <= (way + reach) ** 2) | (old_size <= (way + reach_before) ** 2)
                long = re * old_re + im * old_im < 0.0
                cross = old_re * im - re * old_im
                up = (old_im >= 0.0) & (im < 0.0) & (cross > 0.0)
                down = (old_im < 0.0) & (im >= 0.0) & (cross < 0.0)
                turns[lane] += 2.0 if up else (-2.0 if down else 0.0)
                doubt[lane] = 1.0 if near | long else doubt[lane]
                re_before[lane], im_before[lane] = re, im
            if k == 0:
                for lane in range(LANES):
                    first_re[lane], first_im[lane] = re_before[lane], im_before[lane]
        for lane in range(min(LANES, many - start)):
            top = kp[lane] * at_nyquist[loop, 0] + ki[lane] * at_nyquist[loop, 1] + kd[lane] * at_nyquist[loop, 2]
            first, last = ki[lane] * at_rest[loop, 1], at_nyquist[loop, 3] * (1.0 + top)
            total, sure = with_ends(
                turns[lane], first, last, first_re[lane], first_im[lane], re_before[lane], im_before[lane]
            )
            sure &= (doubt[lane] == 0.0) & (ki[lane] != 0.0) & (abs(1.0 + top) > distance)
            out[loop, start + lane] = 1 if sure and total == 0.0 else 0


def with_ends(turns, first, last, first_re, first_im, last_re, last_im):
    """Turns with those at the two real ends, where the mirrored lower half joins; whether there is no doubt of them."""
    if first < 0.0:
        turns += 1.0 if first_im < 0.0 else -1.0
    if last < 0.0:
        turns += 1.0 if last_im >= 0.0 else -1.0
    doubt = (first == 0.0) | ((first * first_re < 0.0) & (abs(first_re) > abs(first_im)))
    return turns, not (doubt | ((last * last_re < 0.0) & (abs(last_re) > abs(last_im))))


_ARGUMENTS = (
    "float64[:,::1]", "int64", "int64[::1]", "float64[:,::1]", "float64[:,::1]", "float64[:,::1]", "float64[:,::1]",
    "float64", "int64[:,::1]", "float64[::1]",
)  # fmt: skip


@cache
def text() -> str:
    """Return the text that is compiled."""
    named = [f"LANES = {LANES}", f"OCTAGON = {OCTAGON!r}"]
    return written("which frozen loops keep a limit on Ms", named, (with_ends, _rows), _all)


@dataclass(frozen=True)
class Screened:
    """Several loops as one table, so that all of them are looked at in one call.

    Attributes
    ----------
    ends : ndarray of int [n_loops + 1]
        Where the points of each loop's grid begin in the table; a loop without points is never sure.
    basis, factor : ndarray [6, n_points], [2, n_points]
        `basis` and R with the law's integrator, of all loops.
    at_rest, at_nyquist : ndarray [n_loops, ...]
    """

    ends: NDArray[np.int64]
    basis: Array
    factor: Array
    at_rest: Array
    at_nyquist: Array

    @classmethod
    def of(cls, responses: Sequence[LoopResponse]) -> Screened:
        """Return the table; a hidden mode that grows lets no loop be sure."""
        seen = [one if one.sampled.hidden_growth <= 0.0 else None for one in responses]
        sizes = [0 if one is None else len(one.frequency) for one in seen]
        kept = [one for one in seen if one is not None]
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.ascontiguousarray(np.hstack([np.zeros((6, 0)), *(one.basis for one in kept)])),
            np.ascontiguousarray(np.hstack([np.zeros((2, 0)), *(one.regular[0] for one in kept)])),
            np.array([one.at_rest for one in responses]),
            np.array([one.at_nyquist for one in responses]),
        )

    def kept(self, gains: Array, distance: float) -> NDArray[np.bool_]:
        """Return for which gains a loop is stable and stays `distance` from -1 [n_loops, n]; False: not sure.

        Loops without integral action are never sure.

        Parameters
        ----------
        gains : array [n, 3] or [n_loops, n, 3]
            The same for all loops, or each loop's own.
        distance : float
        """
        own = gains.ndim == 3
        out = np.zeros((len(self.ends) - 1, gains.shape[-2]), np.int64)
        self._call(gains.reshape(-1, 3), int(own), distance, out, np.empty(9 * LANES))
        return out > 0

    @cached_property
    def _call(self) -> Callable[..., None]:
        """The compiled function with the table: it is asked often, and of few gains."""
        tables = (self.ends, self.basis, self.factor, self.at_rest, self.at_nyquist)
        return prepared(text(), _ARGUMENTS, (None, None, *tables, None, None, None))
