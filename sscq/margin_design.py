"""PID gains by a margin method: the largest integral gain that keeps the margins at one operating point.

A load that steps leaves an integral of the error of 1 / ki, so the largest ki answers loads best; the limit on the
maximum sensitivity Ms keeps the loop robust. Here the margins are those of the exact sampled loop, with its delays
and filter, and the gains stay in a box. Where the box stops ki before the margins do, its largest value stands and Ms
is made as small as the other two gains can make it. A channel without integral action gets the largest kp instead.

The set of gains that keep the margins is not convex: a grid over the whole box first, then CMA-ES from its best point.

Source: K. J. Astrom, H. Panagopoulos, T. Hagglund, Design of PI controllers based on non-convex optimization,
Automatica 34 (1998) 585-601; H. Panagopoulos, K. J. Astrom, T. Hagglund, Design of PID controllers based on
constrained optimisation, IEE Proc. Control Theory Appl. 149 (2002) 32-40.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sscq.cmaes import CmaEs
from sscq.margins import MarginLimits, loop_margins, penalty
from sscq.search import evolve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sscq.frequency_response import LoopResponse

    Array = NDArray[np.float64]

_PER_AXIS = 20  # of the grid; its points crowd towards the small end of each gain
_POLISH = 3000  # evaluations of CMA-ES
_REACHED = 1e-6  # of the range: so near to its end a gain is at it
_JUST_ABOVE_ONE = 1.0 + 1e-9  # a limit that no loop keeps: the violation is then 1 - 1 / Ms


@dataclass(frozen=True)
class MarginGains:
    """Gains for one operating point.

    Attributes
    ----------
    gains : ndarray [3]
        kp, ki, kd.
    sensitivity : float
        Ms with them; infinite where the loop is unstable.
    kept : bool
        Whether the limits are kept. Where no gains of the box keep them, these violate them least.
    """

    gains: Array
    sensitivity: float
    kept: bool


def margin_gains(response: LoopResponse, low: ArrayLike, high: ArrayLike, limits: MarginLimits) -> MarginGains:
    """Return the gains with the largest ki (in magnitude) that keep the margins.

    Parameters
    ----------
    response : LoopResponse
        Of the loop at the operating point, from :func:`sscq.margins.loop_responses`.
    low, high : array [3]
        Box of kp, ki, kd; a gain with equal ends is fixed.
    limits : MarginLimits

    Returns
    -------
    MarginGains

    Raises
    ------
    ValueError
        If neither ki nor kp is free.
    """
    ends = np.array([np.asarray(low, dtype=float), np.asarray(high, dtype=float)])
    free = ends[1] > ends[0]
    if not free[:2].any():
        raise ValueError(f"ki or kp must be free to be made large, got low = {ends[0]} and high = {ends[1]}")
    design = _Design(response, ends, limits, 1 if free[1] else 0)
    found = design.best(ends)
    if design.at_end(found):  # the margins do not bind: what is left is to be as robust as can be
        fixed = ends.copy()
        fixed[:, design.goal] = found[design.goal]
        if (fixed[1] > fixed[0]).any():
            found = _Robust(response, fixed, limits, design.goal).best(fixed)
    sensitivity = float(loop_margins(found, [response]).sensitivity[0, 0])
    return MarginGains(found, sensitivity, bool(penalty(found, [response], limits) <= 0.0))


@dataclass(frozen=True)
class _Design:
    """Fitness of gain sets: any that keeps the limits before any that does not; `goal` is made large."""

    response: LoopResponse
    ends: Array
    limits: MarginLimits
    goal: int

    def __call__(self, gains: Array) -> Array:
        violation = penalty(gains, [self.response], self.limits)
        return np.asarray(np.where(violation > 0.0, 1.0 + violation, self.aim(gains)))

    def aim(self, gains: Array) -> Array:
        """Value of gains that keep the limits, below 1."""
        return -np.abs(gains[:, self.goal]) / np.abs(self.ends[:, self.goal]).max()

    def best(self, ends: Array) -> Array:
        """Grid, then polish."""
        grid = np.stack(np.meshgrid(*(_axis(*pair) for pair in ends.T), indexing="ij"), axis=-1).reshape(-1, 3)
        start = grid[np.argmin(self(grid))]
        polish = CmaEs(evaluations=_POLISH, sigma=0.05, restarts=2)
        return np.asarray(evolve(self, ends[0], ends[1], polish, 0, start=start[None]).genome)

    def at_end(self, gains: Array) -> bool:
        """Whether the goal's gain is as large as the box lets it be, and the limits are kept."""
        span = self.ends[1, self.goal] - self.ends[0, self.goal]
        largest = np.abs(self.ends[:, self.goal]).max()
        return bool(self(gains[None])[0] < 1.0 and largest - abs(gains[self.goal]) <= _REACHED * span)


@dataclass(frozen=True)
class _Robust(_Design):
    """The same with the smallest Ms as its aim."""

    def aim(self, gains: Array) -> Array:
        return np.asarray(penalty(gains, [self.response], MarginLimits(_JUST_ABOVE_ONE)))


def _axis(low: float, high: float) -> Array:
    if low == high:
        return np.array([low])
    share = np.linspace(0.0, 1.0, _PER_AXIS) ** 2
    return low + (high - low) * (share if abs(low) <= abs(high) else 1.0 - share)
