"""Motion under at most two one-sided constraints, by cases and selects: on floats, arrays and traced numbers alike.

In terms of the contact forces mu alone, Gauss' principle with gaps is a linear complementarity problem:

    W mu >= r,  mu >= 0,  mu'(W mu - r) = 0,    W = G M_A^-1 G',  r = what the gaps lack without contact forces

with M_A^-1 the mobility that the two-sided constraints leave. Two gaps have four active sets: none, either, both. All
four are evaluated and one is chosen; for positive definite W exactly one is right. Straight-line, so lanes carry it.

Source: Cottle, Pang and Stone, The Linear Complementarity Problem, ch. 3 (positive definite W).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import maximum, quotient, where
from plants.core.linear_solve import solve_symmetric
from plants.mechanics.forms.solving import DEPENDENT, dot, solve_semidefinite

if TYPE_CHECKING:
    from collections.abc import Sequence

    Numbers = Sequence[Any]
    Matrix = Sequence[Numbers]
    Motion = tuple[list[Any], tuple[Any, ...], tuple[Any, ...]]

MOST = 2
"""Gaps that are solved by cases; more need :mod:`plants.mechanics.contacts.active_sets`."""


class Mobility:
    """How a mechanism gives way to its contacts.

    Parameters
    ----------
    mass, rows, gap_rows : [n][n], [g][n], [k][n]
        M, A, G.

    Attributes
    ----------
    moves : list [k] of (list [n], tuple [g])
        Motion by a unit force of each contact, and the reactions of the two-sided constraints.
    """

    def __init__(self, mass: Matrix, rows: Matrix, gap_rows: Matrix) -> None:
        self.rows, self.gap_rows = rows, gap_rows
        self._answers = [solve_symmetric(mass, row) for row in rows]
        self._compliance = [[dot(row, answer) for answer in self._answers] for row in rows]
        pushes = [solve_symmetric(mass, row) for row in gap_rows]
        self.moves = [self.hold(push, [0.0] * len(rows)) for push in pushes]
        self._mobility = [[dot(row, move) for move, _ in self.moves] for row in gap_rows]
        self._unheld = [dot(row, push) for row, push in zip(gap_rows, pushes, strict=True)]

    def hold(self, motion: Numbers, target: Numbers) -> tuple[list[Any], tuple[Any, ...]]:
        """Return the nearest motion [n] with A a = target, and the multipliers [g]."""
        lacking = [b - dot(row, motion) for row, b in zip(self.rows, target, strict=True)]
        multipliers = solve_semidefinite(self._compliance, lacking)
        return _plus(motion, self._answers, multipliers), multipliers

    def nearest(self, free: Numbers, target: Numbers, gap_target: Numbers, closed: Numbers) -> Motion:
        """Minimise Gauss' function under A a = target and G a >= gap_target on the closed gaps.

        Parameters
        ----------
        free : [n]
            The motion without any constraint.
        target : [g]
            -gam; rows that repeat others are left out.
        gap_target : [k], k <= 2
            -del; of rows that repeat each other one pushes.
        closed : [k]
            Above 0 for a closed gap.

        Returns
        -------
        list [n], tuple [g], tuple [k]
            The motion nearest to `free` in the measure of M, multipliers, contact forces.
        """
        start, multipliers = self.hold(free, target)
        lacking = [b - dot(row, start) for row, b in zip(self.gap_rows, gap_target, strict=True)]
        forces = complementarity(self._mobility, lacking, closed, self._unheld)
        reactions = _plus(multipliers, [reaction for _, reaction in self.moves], forces)
        return _plus(start, [move for move, _ in self.moves], forces), tuple(reactions), forces


def complementarity(mobility: Matrix, lacking: Numbers, closed: Numbers, scale: Numbers) -> tuple[Any, ...]:
    """Solve W mu >= r, mu >= 0 with one of each pair at its bound, for at most two gaps.

    Parameters
    ----------
    mobility : [k][k]
        W, symmetric, positive semidefinite.
    lacking : [k]
        r.
    closed : [k]
        Above 0 where the gap takes part; elsewhere mu = 0.
    scale : [k]
        Against which W's diagonal is judged: a contact that the two-sided constraints do not let yield cannot push.

    Returns
    -------
    tuple [k]
        mu.
    """
    if len(lacking) > MOST:
        raise ValueError(
            f"contacts are solved by cases for at most {MOST} gaps, got {len(lacking)}; use simulate_contacts"
        )
    alone, yields = [], []
    for k, r in enumerate(lacking):
        free = where(mobility[k][k] - DEPENDENT * scale[k], closed[k], 0.0)
        yields.append(free)
        alone.append(where(free, quotient(maximum(r, 0.0), where(free, mobility[k][k], 1.0)), 0.0))
    if len(lacking) < MOST:
        return tuple(alone)
    return _two(mobility, lacking, alone, yields)


def _two(mobility: Matrix, lacking: Numbers, alone: Numbers, yields: Numbers) -> tuple[Any, ...]:
    """Choose among the active sets none or {0}, none or {1}, both; `alone` are the forces of one pushing gap."""
    (w00, w01), (_, w11) = mobility
    short1 = where(yields[1], lacking[1] - w01 * alone[0], 0.0)  # what the other gap still lacks
    short0 = where(yields[0], lacking[0] - w01 * alone[1], 0.0)
    determinant = w00 * w11 - w01 * w01
    independent = determinant - DEPENDENT * w00 * w11
    by = where(independent, determinant, 1.0)
    # Dependent gaps: the one that lacks more pushes, and serves both.
    both0 = where(independent, quotient(maximum(w11 * lacking[0] - w01 * lacking[1], 0.0), by), 0.0)
    both1 = where(independent, quotient(maximum(w00 * lacking[1] - w01 * lacking[0], 0.0), by), alone[1])
    only1 = where(short0, both0, 0.0), where(short0, both1, alone[1])
    return where(short1, only1[0], alone[0]), where(short1, only1[1], 0.0)


def _plus(start: Numbers, columns: Matrix, factors: Numbers) -> list[Any]:
    return [a + dot([column[i] for column in columns], factors) if factors else a for i, a in enumerate(start)]
