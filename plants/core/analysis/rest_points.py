"""A plant about a point of rest with many parameter sets at once: where each stands still, and its slopes there.

Another parameter set is another plant, and a declared state need not be one of its states of rest. Where no input holds
the state, the plant's own state of rest with the same controlled outputs takes its place; where there is none, that is
said. What :func:`plants.core.analysis.linearise.linearise` says of one parameter set is said here of hundreds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.linearise import linearise
from plants.core.analysis.slopes import Slopes, changes
from plants.core.blocks import allocate_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from plants.core.analysis.slopes import Local
    from plants.core.plant import Plant

    Array = NDArray[np.float64]
    Equations = Callable[[Array, NDArray[np.intp]], tuple[Array, Array, Array]]

_ROUNDS, _HALVINGS = 20, 8
_LESS = 0.999  # of what was left: a step that brings less is no progress
_TOLERANCE = 1e-9  # of 1 and the sum of the magnitudes of the linear terms: what counts as at rest


@dataclass(frozen=True)
class RestPoints:
    """One operating point of a plant with many parameter sets; rows that are not at rest hold no meaning.

    Attributes
    ----------
    at_rest : array of bool [n]
        Whether a state of rest was reached, inside the bounds of states and inputs.
    moved : array of bool [n]
        Whether it is another state than the declared one.
    state, input : arrays [n, n_x], [n, n_u]
        The inputs are the channels' commands.
    local : Local
        Rates, outputs and slopes [n, ...].
    """

    at_rest: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    state: Array
    input: Array
    local: Local


class RestPointSearch:
    """States of rest of a plant for any number of parameter sets; its program is traced once."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.slopes = plant, Slopes(plant, commands=True)
        self.w = np.array(plant.calm(), float)
        self.outputs = [plant.index("measurements", channel.output) for channel in plant.channels]
        self.n_x = len(plant.states)

    def at(self, state: Sequence[float], nominal: Array, parameters: Array) -> RestPoints:
        """Return where the plant stands still.

        Parameters
        ----------
        state : sequence of float [n_x]
            Declared, a state of rest for the nominal parameters.
        nominal : array [n_p]
            With them the declared state has the controlled outputs that a state which takes its place must have.
        parameters : array [n, n_p]
        """
        p = np.vstack([nominal, parameters])
        x = np.tile(np.asarray(state, float), (len(p), 1))
        u = np.tile(self._holding(state, nominal), (len(p), 1))
        u, held = self._solve(u, p, lambda v, rows: self._held(x[rows], v, p[rows]))
        reference = self._local(x[:1], u[:1], p[:1]).output[0, self.outputs]
        lost = np.flatnonzero(~held)
        if lost.size and held[0]:
            start = np.hstack([x[lost], u[lost]])
            v, found = self._solve(start, p[lost], lambda v, rows: self._on(reference, v, p[lost][rows]))
            x[lost[found]], u[lost[found]] = v[found, : self.n_x], v[found, self.n_x :]
            held[lost] = found
        moved = np.zeros(len(p), bool)
        moved[lost] = held[lost]
        held &= self._inside(x, u)
        if self.plant.after_step is not None:
            held &= np.array([h and not self._changed(*row) for h, *row in zip(held, x, u, p, strict=True)])
        return RestPoints(held[1:], moved[1:], x[1:], u[1:], self._local(x[1:], u[1:], p[1:]))

    def _holding(self, state: Sequence[float], nominal: Array) -> Array:
        """The input that holds the declared state nominally: where the search begins."""
        try:
            return linearise(self.plant, state, nominal.tolist(), commands=True).input
        except ValueError:  # a point that only other parameters hold
            return self.slopes.nominal_input()

    def _local(self, x: Array, u: Array, p: Array) -> Local:
        with np.errstate(all="ignore"):  # a step of the search may leave where the model has numbers
            w = np.tile(self.w[:, None], (1, len(x)))
            return self.slopes.at(np.zeros(len(x)), x.T, u.T, w, p.T)

    def _held(self, x: Array, u: Array, p: Array) -> tuple[Array, Array, Array]:
        """What is left of the equations of a held state, their slopes in the input, and what counts as nothing."""
        now = self._local(x, u, p)
        return now.rates, now.B, _TOLERANCE * _terms(now, x, u)

    def _on(self, reference: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
        """The same for a state at rest with given controlled outputs; both state and input are sought."""
        x, u = v[:, : self.n_x], v[:, self.n_x :]
        now = self._local(x, u, p)
        left = np.hstack([now.rates, now.output[:, self.outputs] - reference])
        slopes = np.concatenate(
            [np.concatenate([now.A, now.B], 2), np.concatenate([now.C, now.D], 2)[:, self.outputs]], 1
        )
        size = np.hstack([_terms(now, x, u), np.broadcast_to(1.0 + np.abs(reference), (len(v), len(reference)))])
        return left, slopes, _TOLERANCE * size

    def _solve(self, start: Array, p: Array, equations: Equations) -> tuple[Array, NDArray[np.bool_]]:
        """Newton's method for all rows at once, with steps halved until what is left becomes less."""
        v, found = start.copy(), np.zeros(len(p), bool)
        rows = np.arange(len(p))
        for _ in range(_ROUNDS):
            left, slopes, nothing = equations(v[rows], rows)
            finite = np.isfinite(left).all(1) & np.isfinite(slopes).all((1, 2))
            with np.errstate(invalid="ignore"):
                done = finite & (np.abs(left) <= nothing).all(1)
            found[rows[done]] = True
            go = finite & ~done
            rows, left, slopes = rows[go], left[go], slopes[go]
            if not rows.size:
                break
            steps = -np.einsum("nij,nj->ni", np.linalg.pinv(slopes), left)
            rows = self._shortened(v, rows, steps, np.linalg.norm(left, axis=1), equations)
        return v, found

    def _shortened(
        self, v: Array, rows: NDArray[np.intp], steps: Array, before: Array, equations: Equations
    ) -> NDArray[np.intp]:
        """Move `rows` of v on; return those that could be moved."""
        open_rows, share = np.arange(len(rows)), 1.0
        gone = np.zeros(len(rows), bool)
        for _ in range(_HALVINGS):
            tried = v[rows[open_rows]] + share * steps[open_rows]
            left, _, _ = equations(tried, rows[open_rows])
            better = np.linalg.norm(left, axis=1) < _LESS * before[open_rows]  # false for NaN
            v[rows[open_rows[better]]], gone[open_rows[better]] = tried[better], True
            open_rows, share = open_rows[~better], 0.5 * share
            if not open_rows.size:
                break
        return rows[gone]

    def _inside(self, x: Array, u: Array) -> NDArray[np.bool_]:
        inside = np.ones(len(x), bool)
        for values, quantities in ((x, self.plant.states), (u, self.slopes.inputs)):
            for column, quantity in zip(values.T, quantities, strict=True):
                slack = _TOLERANCE * (1.0 + np.abs(column))
                inside &= (quantity.low - slack <= column) & (column <= quantity.high + slack)
        return inside

    def _changed(self, x: Array, u: Array, p: Array) -> str:
        inputs = tuple(u.tolist())
        if self.slopes.commands:
            inputs = allocate_inputs(self.plant, 0.0, tuple(x.tolist()), inputs, tuple(p.tolist()))
        return changes(self.plant, 0.0, x, inputs, self.w, p)


def _terms(local: Local, x: Array, u: Array) -> Array:
    """1 and the sum of the magnitudes of the linear terms of each rate [n, n_x]."""
    return (
        1.0 + np.einsum("nij,nj->ni", np.abs(local.A), np.abs(x)) + np.einsum("nij,nj->ni", np.abs(local.B), np.abs(u))
    )
