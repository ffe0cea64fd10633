"""The search for a common quadratic Lyapunov function: proposals only, which :mod:`sscq.certificate` judges.

States come scaled by powers of two, and are turned into the coordinates in which the mean of the family has the unit
matrix for its own P: there the semidefinite program is easy. Few members bind, so it holds those only, and takes in
others as they are found violated. The decay rate is bisected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, solve_continuous_lyapunov, solve_discrete_lyapunov

from sscq.certificate import MOST_EXACT, decays, excludes
from sscq.semidefinite import widest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_RESOLUTION = 0.02  # of the bound: where the bisection of the decay rate stops
_ROUNDS = 40
_BATCH = 4


def own_decays(matrices: Array, sample_time: float | None = None) -> Array:
    """Return the decay rate of each member by itself [n_members], 1/s: of its slowest mode."""
    poles = np.linalg.eigvals(matrices)
    if sample_time is None:
        return np.asarray(-poles.real.max(axis=1))
    return np.asarray(-np.log(np.maximum(np.abs(poles).max(axis=1), 1e-300)) / sample_time)


@dataclass
class Search:
    """Bisection of the decay rate, and the members that have bound so far.

    Attributes
    ----------
    scaled : array [n_members, n, n]
        Family of stable members.
    sample_time : float or None
    bound : float
        Decay rate of the slowest member [1/s].
    """

    scaled: Array
    sample_time: float | None
    bound: float

    def __post_init__(self) -> None:
        self.active: list[int] = []
        self.root = self._preconditioner()
        turned = np.linalg.solve(self.root, np.swapaxes(self.scaled, 1, 2) @ self.root)
        self.family = np.swapaxes(turned, 1, 2)  # x -> root' x
        self.size = 1.0 if self.sample_time else float(np.linalg.norm(self.family, 2, axis=(1, 2)).max())

    def _preconditioner(self) -> Array:
        """Lower factor L of the P of the family's mean, or of its slowest member where the mean is not stable."""
        mean = self.scaled.mean(axis=0)
        slowest = self.scaled[int(np.argmin(own_decays(self.scaled, self.sample_time)))]
        for A in (mean, slowest):
            if own_decays(A[None], self.sample_time)[0] <= 0.0:
                continue
            solve = solve_continuous_lyapunov if self.sample_time is None else _solve_sampled
            try:
                P = np.asarray(solve(A.T, -np.eye(len(A))))
                return np.linalg.cholesky(0.5 * (P + P.T))
            except LinAlgError:
                continue
        return np.eye(len(mean))

    def largest_decay(self) -> Array | None:
        """Return the P of scaled states with the largest decay found, or None."""
        best = self._proposed(0.0)
        if best is None:
            return None
        low, high = self._decay(best), self.bound
        while high - low > _RESOLUTION * self.bound:
            middle = 0.5 * (low + high)
            P = self._proposed(middle)
            if P is None or self._decay(P) <= low:
                high = middle
            else:
                best, low = P, self._decay(P)
        return best

    def _decay(self, P: Array) -> float:
        return float(decays(self.scaled, P, self.sample_time).min())

    def _proposed(self, decay: float) -> Array | None:
        """Return a P whose decay is more than `decay` with all members, or None where the solver finds none."""
        if not self.active:
            each = decays(self.family, np.eye(len(self.root)), self.sample_time)
            self.active = [int(k) for k in np.argsort(each, kind="stable")[:_BATCH]]
        for _ in range(_ROUNDS):
            answer = widest(self.family[self.active], decay, self.sample_time, self.size)
            if answer.P is None:
                return None
            P = self.root @ answer.P @ self.root.T
            P = 0.5 * (P + P.T)
            each = decays(self.scaled, P, self.sample_time)
            if each.min() > decay:
                return P
            others = [int(k) for k in np.argsort(each, kind="stable")[:_BATCH] if k not in self.active]
            if answer.width <= 0.0 or not others:
                return None
            self.active += others
        return None

    def excluded(self) -> bool:
        """Return whether the dual solution proves that no P exists at all."""
        if len(self.root) > MOST_EXACT:
            return False
        weights = widest(self.family[self.active], 0.0, self.sample_time, self.size).weights
        if weights is None:
            return False
        back = np.linalg.inv(self.root)
        turned = back.T @ weights @ back
        own = 0.5 * (turned + np.swapaxes(turned, 1, 2))
        return excludes(self.scaled[self.active], own, self.sample_time)


def _solve_sampled(A: Array, Q: Array) -> Array:
    return np.asarray(solve_discrete_lyapunov(A, -Q))
