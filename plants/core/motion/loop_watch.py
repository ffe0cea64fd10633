"""Watch on the gain of the algebraic loop while loop-free rollouts run: the largest value met, lane by lane.

A loop-free form whose loop gain reaches 1 gives results that mean nothing, and does not always diverge: the
record of one rollout shows that afterwards (:mod:`plants.core.algebraic_loop.report`), a search over thousands of
them keeps no records. So the gain is taken at the beginning of every step, where the form takes its derivative,
from the tape's derivative.

One or two accelerations: the spectral radius itself. From three on a bound that is never below it,

    rho(G) <= rho(|G|) <= max_i (|G| v)_i / v_i      for any v > 0,

the infinity norm in scales v of the accelerations. One step of the power method a step of the run keeps v by the
eigenvector that makes the second bound an equality. The plain norm (v = 1) depends on the units: it gives 2.0 to
the cart with a double pendulum of the tests, whose gain is 0.51; this one 0.511.
Source: Horn and Johnson, Matrix Analysis, 2nd ed., sec. 8.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.algebraic_loop.gain import EvaluationPoints, gain_matrices, loop_slopes, slopes_of
from plants.core.algebraic_loop.loop_free import SHARES, LoopFree
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, sqrt, where
from plants.core.kernel.kernel import ALIVE
from plants.core.kernel.lanes import Lane, LaneLoop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.kernel.kernel import KernelDesign
    from plants.core.motion.step import Motion

    Array = NDArray[np.float64]

GAIN, FACTOR, SCALES = "loop_gain", "loop_factor", "loop_scales"
_EXACT = 2  # accelerations up to which the spectral radius is a formula
_MEANING = {"loop_free_relaxed": "errors of the accelerations fade slowly there, and grow beyond 3"}
_LEAST = 1e-6  # of the largest scale: what takes no part in the loop keeps some
_SETTLED = 200  # steps of the power method for the scales to start from


class LoopWatch:
    """Rows and lane loop of the watch; only loop-free kernels have one.

    Parameters
    ----------
    motion : Motion
        In a loop-free mode.

    Attributes
    ----------
    results : tuple of str
        Row groups that the kernel gives back: the largest gain, and where gains above 1 can be borne (the filtered
        form) also the largest factor by which a step multiplies an error of the accelerations.
    exact : bool
        Whether the gain is the spectral radius, not a bound above it.
    """

    def __init__(self, motion: Motion, form: LoopFree) -> None:
        self.motion, self.form, self.plant, self.mode = motion, form, motion.plant, motion.mode
        self.exact = form.n <= _EXACT
        self.results = (GAIN, FACTOR) if self.mode == "loop_free_filtered" else (GAIN,)
        self._slopes = loop_slopes(motion.plant)

    def add_rows(self, design: KernelDesign) -> None:
        """Give the watch its rows, the last of the kernel's results."""
        for name in self.results:
            design.rows.add(name)
        if not self.exact:
            design.rows.add(SCALES, self.form.n)
        design.results = (*design.results, *self.results)

    def start(self, x: Sequence[float], p: Sequence[float]) -> dict[str, Sequence[float]]:
        """Return initial rows: scales that are settled where the run begins, with the inputs at rest."""
        if self.exact:
            return {}
        u, w = tuple(q.nominal for q in self.plant.inputs), self.plant.calm()
        return {SCALES: settled_scales(gain_matrices(self.plant, EvaluationPoints(0.0, x, u, w, p))[0])}

    def loop(self) -> LaneLoop:
        """Return the loop that watches; it stands before the motion's."""
        return LaneLoop("watch", (self._look,))

    def _look(self, lane: Lane) -> None:
        t, alive = lane.uniform("t"), lane.one(ALIVE)
        u, w, p = self.motion.block(lane, t, t)
        a = self.form.rebuilt(lane, lane.uniform("h"))
        values = self._gain_and_factor(lane, slopes_of(self._slopes, t, lane["x"], a, u, w, p))
        for name, value in zip(self.results, values, strict=False):
            old = lane.one(name)
            lane[name] = (where(alive, maximum(value, old), old),)  # NaN: old

    def _gain_and_factor(self, lane: Lane, matrix: list[list[Any]]) -> tuple[Any, Any]:
        share = SHARES[self.mode]
        if self.exact:
            n = range(self.form.n)
            mixed = [[(1.0 - share if i == j else 0.0) + share * matrix[i][j] for j in n] for i in n]
            return radius(matrix), radius(mixed)
        gain, lane[SCALES] = bound(matrix, lane[SCALES])
        if self.plant.acceleration is None:
            # Of a mass matrix: the eigenvalues of G are real and below 1, so only the negative ones can be too large.
            return gain, share * gain - (1.0 - share)
        return gain, share * gain + (1.0 - share)

    def caution(self, met: Array, situations: Sequence[str]) -> str:
        """Return what is to be said of the gains that rollouts met; empty where the form bears them.

        Parameters
        ----------
        met : array [situation, candidate, result]
            Largest values, in the order of `results`.
        situations : sequence of str
        """
        lost = met[..., -1] >= 1.0
        if not lost.any():
            return ""
        situation, candidate = divmod(int(np.argmax(met[..., -1])), lost.shape[1])
        verb = "is" if self.exact else "may be"
        return (
            f"the gain of the algebraic loop of plant {self.plant.name!r} {verb} {met[situation, candidate, 0]:.4g} in "
            f"situation {situations[situation]!r} (candidate {candidate}): {_beyond(self.mode)} "
            f"with {lost.any(axis=0).sum()} of {lost.shape[1]} candidates, in {lost.any(axis=1).sum()} of "
            f"{lost.shape[0]} situations; {_MEANING.get(self.mode, 'their results may mean nothing')}, "
            "use algebraic_loop='solved'"
        )


def _beyond(mode: str) -> str:
    return "above the raw form's 1" if mode == "loop_free_relaxed" else f"too large for algebraic_loop={mode!r}"


def radius(matrix: list[list[Any]]) -> Any:
    """Return the spectral radius of a matrix [1][1] or [2][2]."""
    if len(matrix) == 1:
        return magnitude(matrix[0][0])
    (a, b), (c, d) = matrix
    middle, half = 0.5 * (a + d), 0.5 * (a - d)
    apart = half * half + b * c  # below 0: a complex pair
    root = sqrt(where(apart, apart, middle * middle - apart))
    return where(apart, magnitude(middle) + root, root)


def bound(matrix: list[list[Any]], scales: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return a bound of the spectral radius of a matrix [n][n] in positive scales [n], and better scales."""
    moved = [sum((magnitude(g) * v for g, v in zip(row, scales, strict=True)), 0.0) for row in matrix]
    largest: Any = 0.0
    for one, v in zip(moved, scales, strict=True):
        largest = maximum(one / v, largest)
    over = 1.0 / where(largest, largest, 1.0)
    better = [v + one * over for one, v in zip(moved, scales, strict=True)]  # half a step: periodic ones settle too
    top: Any = 0.0
    for v in better:
        top = maximum(v, top)
    per_top = 1.0 / top
    return largest, tuple(maximum(v * per_top, _LEAST) for v in better)


def settled_scales(matrix: Array) -> tuple[float, ...]:
    """Return scales [n] in which the infinity norm of |matrix| is close to its spectral radius."""
    scales = (1.0,) * len(matrix)
    if np.isfinite(matrix).all():
        for _ in range(_SETTLED):
            _, scales = bound(matrix.tolist(), scales)
    return scales
