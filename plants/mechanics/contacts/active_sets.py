"""Motion under one-sided constraints, for any number of gaps: one state at a time, in NumPy.

    minimise (a - a0)' M (a - a0) / 2    with  A a = -gam,  G a + del >= 0  on the closed gaps

and the same in velocities at an impact. M is positive definite, so the motion is unique; contact forces are unique
where the rows of the gaps that push are independent.

With M = L L', y = L' (a - a0) and y = y0 + N z, the columns of N spanning what the two-sided constraints leave free,
what remains of Gauss' principle is the shortest z with H z >= d; the contact forces are its multipliers. Up to four
gaps all active sets are tried in order of size; for more the dual problem says which gaps push.

Sources: Moreau (1966), SIAM J. Control 4, 153; Lawson and Hanson, Solving Least Squares Problems, ch. 23 (the dual).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Matrices

    Array = NDArray[Any]
    Active = tuple[int, ...]


ENUMERATED = 4
"""Up to so many closed gaps all active sets are tried in order of size; for more the dual problem is solved."""

TOLERANCE = 1e-10
"""Share of the problem's largest number that a force may be below 0, or a gap's motion below its bound."""

RANK = 1e-10
"""Share of a row's length below which what is left of it counts as 0: it repeats other rows."""


class ContactError(ArithmeticError):
    """No motion fulfils all constraints, or an event-driven run cannot go on."""


@dataclass(frozen=True, eq=False)
class Contact:
    """Motion under contact.

    Attributes
    ----------
    motion : ndarray [n]
        Accelerations, or velocities after an impact.
    multipliers : ndarray [g]
        Of the two-sided constraints: the shortest ones where these are redundant.
    forces : ndarray [k]
        Contact forces mu >= 0 (impulses at an impact), 0 on gaps that do not push.
    active : tuple of int
        Gaps that push.
    """

    motion: Array
    multipliers: Array
    forces: Array
    active: Active


@dataclass(frozen=True, eq=False)
class Problem:
    """The shortest z with H z >= d, and the way back to motion, multipliers and forces; rows of H are scaled."""

    free: Array
    inverse: Array  # L^-T
    rows: Array  # A L^-T
    pushes: Array  # G L^-T, scaled
    start: Array  # y0
    null: Array  # N
    bounds: Array  # d, scaled
    scale: Array

    @property
    def reduced(self) -> Array:
        """H: the gaps' rows in z."""
        return np.where(np.abs(self.pushes @ self.null) > RANK, self.pushes @ self.null, 0.0)

    def solve(self, closed: Sequence[bool] | Array, first: Active) -> Contact:
        """Return the motion under the closed gaps; the active set `first` is tried before all others."""
        gaps = np.flatnonzero(np.asarray(closed, bool))
        for active in self._candidates(gaps, first):
            shortest, forces = self._on(active)
            if self._accepts(shortest, forces, gaps):
                return self._answer(*self._shared(shortest, forces, gaps), active)
        raise ContactError(
            f"no motion fulfils the two-sided constraints and keeps the closed gaps {tuple(map(int, gaps))} from "
            "closing further: they contradict each other; look for gaps that cannot be open at the same time"
        )

    def on(self, held: Active) -> Contact:
        """Return the motion that keeps the gaps `held` closed."""
        return self._answer(*self._on(held), held)

    def _on(self, active: Active) -> tuple[Array, Array]:
        shortest = np.linalg.pinv(self.reduced[list(active)], RANK) @ self.bounds[list(active)]
        return shortest, self._carried(shortest, list(active))

    def _carried(self, z: Array, gaps: Any) -> Array:
        """Return scaled forces of `gaps` that give z; where these are dependent, the forces themselves are shortest."""
        forces, scale = np.zeros(len(self.bounds)), self.scale[gaps]
        forces[gaps] = scale * (np.linalg.pinv((self.reduced[gaps] * scale[:, None]).T, RANK) @ z)
        return forces

    def _accepts(self, z: Array, forces: Array, gaps: Array) -> bool:
        slack = self._slack(z, gaps)
        return bool(np.all(forces >= -slack) and np.all((self.reduced @ z - self.bounds)[gaps] >= -slack))

    def _shared(self, z: Array, forces: Array, gaps: Array) -> tuple[Array, Array]:
        """Spread the forces over all gaps that stay closed where these are dependent: the shortest, if none pulls."""
        slack = self._slack(z, gaps)
        tight = gaps[np.abs((self.reduced @ z - self.bounds)[gaps]) <= slack]
        spread = self._carried(z, tight)
        if len(tight) > np.linalg.matrix_rank(self.reduced[tight], RANK) and np.all(spread >= -slack):
            forces = spread
        return z, np.where(forces > slack, forces, 0.0)

    def _slack(self, z: Array, gaps: Array) -> float:
        return float(TOLERANCE * (1.0 + np.abs(self.bounds[gaps]).max(initial=0.0) + np.abs(z).max(initial=0.0)))

    def _candidates(self, gaps: Array, first: Active) -> Iterator[Active]:
        yield tuple(k for k in first if k in gaps)
        if len(gaps) > ENUMERATED:
            yield self._by_dual(gaps)
            return
        for size in range(len(gaps) + 1):
            yield from combinations(map(int, gaps), size)

    def _by_dual(self, gaps: Array) -> Active:
        """Lawson and Hanson's least distance problem: where the dual's non-negative unknowns are above 0."""
        bounds = self.bounds[gaps] / max(np.abs(self.bounds[gaps]).max(), 1e-300)
        matrix = np.vstack([self.reduced[gaps].T, bounds])
        dual, _ = nnls(matrix, np.append(np.zeros(len(matrix) - 1), 1.0))
        return tuple(int(k) for k in gaps[dual > 0.0])

    def _answer(self, shortest: Array, forces: Array, active: Active) -> Contact:
        moved = self.start + self.null @ shortest
        multipliers = np.linalg.pinv(self.rows.T, RANK) @ (moved - self.pushes.T @ forces)
        pushing = tuple(int(k) for k in np.flatnonzero(forces)) if len(active) else ()
        return Contact(self.free + self.inverse @ moved, multipliers, forces / self.scale, pushing)


def problem(at: Matrices, free: Array, target: Array, gap_target: Array) -> Problem:
    """Return the problem of the motion nearest to `free` with A a = target and G a >= gap_target."""
    inverse = np.linalg.inv(np.linalg.cholesky(at.mass)).T
    rows, pushes = at.jacobian @ inverse, at.gap_jacobian @ inverse
    scale = np.linalg.norm(pushes, axis=1)
    scale = np.where(scale > 0.0, scale, 1.0)
    pushes = pushes / scale[:, None]
    start = np.linalg.pinv(rows, RANK) @ (target - at.jacobian @ free)
    bounds = (gap_target - at.gap_jacobian @ free) / scale - pushes @ start
    return Problem(free, inverse, rows, pushes, start, _null(rows), bounds, scale)


def _null(rows: Array) -> Array:
    """Return an orthonormal basis of the null space."""
    _, sizes, right = np.linalg.svd(rows)
    rank = int(np.sum(sizes > RANK * sizes.max(initial=0.0)))
    return np.asarray(right[rank:].T)


def contact_accelerations(at: Matrices, closed: Sequence[bool] | Array, first: Active = ()) -> Contact:
    """Return accelerations and contact forces by Gauss' principle.

    Parameters
    ----------
    at : Matrices
        Blocks at the state.
    closed : sequence of bool [k]
        Gaps with psi <= eps_q and psi' <= eps_v.
    first : tuple of int
        Gaps to try as the active set before all others: those of the last step.

    Raises
    ------
    ContactError
        Where no acceleration fulfils all constraints.
    """
    return problem(at, np.linalg.solve(at.mass, at.load), -at.curvature, -at.gap_curvature).solve(closed, first)


def holding(at: Matrices, held: Active) -> Contact:
    """Return the motion that keeps the gaps `held` closed; their forces may have either sign."""
    return problem(at, np.linalg.solve(at.mass, at.load), -at.curvature, -at.gap_curvature).on(held)


def impact(
    at: Matrices, velocity: Array, closed: Sequence[bool] | Array, restitutions: Sequence[float] | Array
) -> Contact:
    """Return velocities after a frictionless impact, by Newton's restitution; the forces are impulses.

    Parameters
    ----------
    at : Matrices
        Blocks before the impact.
    velocity : ndarray [n]
        Before the impact.
    closed : sequence of bool [k]
        Gaps with psi <= eps_q.
    restitutions : sequence of float [k]
        e of psi'+ >= -e psi'-; a gap that opens is only kept from closing.
    """
    approach = np.minimum(at.gap_speeds, 0.0)
    wanted = -np.asarray(restitutions, float) * approach - (at.gap_speeds - at.gap_jacobian @ velocity)
    return problem(at, velocity, -at.drift, wanted).solve(closed, ())


def shift(at: Matrices, held: Active) -> Array:
    """Return the smallest move of the coordinates [n] that brings constraints and the gaps `held` to 0, linearised."""
    n_rows = len(at.residuals)
    rows = np.vstack([at.jacobian[:n_rows], at.gap_jacobian[list(held)]])
    return _shortest(at.mass, rows, -np.concatenate([at.residuals, at.gaps[list(held)]]))


def still(at: Matrices, held: Active) -> Array:
    """Return the smallest change of the velocities [n] that makes the constraints' and held gaps' speeds 0."""
    rows = np.vstack([at.jacobian, at.gap_jacobian[list(held)]])
    return _shortest(at.mass, rows, -np.concatenate([at.speeds, at.gap_speeds[list(held)]]))


def _shortest(mass: Array, rows: Array, target: Array) -> Array:
    inverse = np.linalg.inv(np.linalg.cholesky(mass)).T
    return np.asarray(inverse @ (np.linalg.pinv(rows @ inverse, RANK) @ target))
