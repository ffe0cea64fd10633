"""Motion under one-sided constraints, for any number of gaps: one state at a time, in NumPy.

    minimise (a - a0)' M (a - a0) / 2    with  A a = -gam,  G a + del >= 0  on the closed gaps

and the same in velocities at an impact. M is positive definite, so the motion is unique; contact forces are unique
where the rows of the gaps that push are independent. How it is found: :mod:`plants.mechanics.contacts.shortest`.

Source: Moreau (1966), SIAM J. Control 4, 153.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.contacts.shortest import RANK, problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.mechanics.contacts.shortest import Active, Contact
    from plants.mechanics.deriving.full import Matrices

    Array = NDArray[Any]


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
