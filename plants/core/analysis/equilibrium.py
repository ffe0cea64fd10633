"""The equilibrium that belongs to a set point: the state and the commands at which every channel is on its reference.

Newton's method with the tape's exact slopes. A set point that cannot be reached at once is approached along the
straight way from an operating point, then from starts all over the bounds; one without equilibrium is replaced by the
last one on that way that has it. A state that the plant's `after_step` changes is none, nor is one outside its bounds
or one that only commands outside their limits hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.slopes import Slopes, changes
from plants.core.analysis.starts import TRIED, bounds, fewest_left, starts
from plants.core.blocks import allocate_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants.core.plant import Plant

    Array = NDArray[np.float64]

_ROUNDS, _HALVINGS = 40, 12
_TOLERANCE = 1e-10  # of the terms of each equation: what rounding leaves
_SMALL = 1e-3  # rate that counts as one where all terms are 0, as at rest in the origin
_SLACK = 1e-9  # of 1 and the command: a rest at a limit counts
_SHORTEST = 2.0**-8  # of the way to a set point: a last part as short as this is not pursued


@dataclass(frozen=True)
class Equilibrium:
    """A state of rest.

    Attributes
    ----------
    state : ndarray [n_x]
    commands : ndarray [n_channels]
    reached : float
        Share of the way to the set point at which it lies: 1 on the set point itself.
    loss : float
        Loss rate T0 dS/dt there [W].
    """

    state: NDArray[np.float64]
    commands: NDArray[np.float64]
    reached: float
    loss: float


class Equilibria:
    """Equilibria of one plant with given parameters.

    Parameters
    ----------
    plant : Plant
        With control channels; each has a command of its own.
    parameters : mapping by name or full sequence, optional
        Replace nominal values.
    """

    def __init__(self, plant: Plant, parameters: Mapping[str, float] | Sequence[float] | None = None) -> None:
        self.plant, self.p = plant, np.array(plant.values("parameters", parameters))
        self.slopes = Slopes(plant, commands=True)
        self.places = [plant.index("measurements", channel.output) for channel in plant.channels]
        self.n_x, self.scale = len(plant.states), np.array([channel.scale for channel in plant.channels])
        self._known: dict[tuple[float, ...], Equilibrium] = {}

    def at(self, reference: Sequence[float], disturbances: Sequence[float] | None = None) -> Equilibrium:
        """Return the equilibrium at the channels' references [n_channels] under held disturbances [n_w].

        Raises
        ------
        ValueError
            If there is none on the way to the set point, not even where that begins.
        """
        w = np.array(self.plant.calm() if disturbances is None else disturbances, float)
        key = (*map(float, reference), *w.tolist())
        if key not in self._known:
            self._known[key] = self._approached(np.array(reference, float), w)
        return self._known[key]

    def _approached(self, target: Array, w: Array) -> Equilibrium:
        """The equilibrium at the target, or at the last point of the way to it that has one."""
        state, begin = self._begin(target)
        rest = np.array(self.plant.calm())
        v = np.append(state, np.zeros(len(target)))
        found = None if (w != rest).any() else self._newton(v, begin, rest)
        v, done = self._along(v if found is None else found, begin, target, w)
        if done < 1.0 and (found := self._anywhere(v, target, w)) is not None:
            v, done = found, 1.0
        if done == 0.0 and self._newton(v, begin, rest) is None:
            found = self._anywhere(v, begin, rest)
            if found is None:
                message = f"plant {self.plant.name!r} has no equilibrium on the way to the reference {target.tolist()}"
                raise ValueError(message)
            v, done = self._along(found, begin, target, w)
        return self._described(v, done, rest + done * (w - rest))

    def _along(self, v: Array, begin: Array, target: Array, w: Array) -> tuple[Array, float]:
        """The last equilibrium on the way to the target, by ever shorter parts, and at which share of it it lies."""
        rest, done, part = np.array(self.plant.calm()), 0.0, 1.0
        while done < 1.0 and part >= _SHORTEST:
            share = min(1.0, done + part)
            found = self._newton(v, begin + share * (target - begin), rest + share * (w - rest))
            if found is None:
                part *= 0.5
            else:
                v, done = found, share
        return v, done

    def _anywhere(self, near: Array, reference: Array, w: Array) -> Array | None:
        """State and commands at rest on the reference, from starts all over the bounds: those nearest to `near`."""
        low, high = bounds([*self.plant.states, *self.slopes.inputs], near)
        free = starts(low, high)
        with np.errstate(all="ignore"):  # a model need not hold everywhere
            local = self.slopes.at(0.0, free[: self.n_x], free[self.n_x :], w, self.p)
            best = fewest_left(np.hstack([local.rates, local.output[:, self.places] - reference]))
        commanded = np.repeat(near[:, None], free.shape[1], axis=1)  # first from where it is, with other commands
        commanded[self.n_x :] = free[self.n_x :]
        tried = [*commanded[:, :TRIED].T, *free[:, best].T]
        found = [v for start in tried if (v := self._newton(start, reference, w)) is not None]
        return min(found, key=lambda v: float(np.abs((v - near) / (high - low)).max()), default=None)

    def _begin(self, target: Array) -> tuple[Array, Array]:
        """State and outputs of the operating point (without any: the initial state) that is nearest to the target."""
        given = [point.state for point in self.plant.operating_points] or [self.plant.initial()]
        states = [np.array(self.plant.start(state, self.p.tolist())[0]) for state in given]
        outputs = [self._outputs(state) for state in states]
        distances = [float(np.abs((output - target) / self.scale).sum()) for output in outputs]
        nearest = int(np.argmin(distances))
        return states[nearest], outputs[nearest]

    def _outputs(self, state: Array) -> Array:
        rest = np.array(self.plant.calm())
        local = self.slopes.at(0.0, state, np.zeros(len(self.places)), rest, self.p)
        return np.array(local.output[self.places])

    def _newton(self, start: Array, reference: Array, w: Array) -> Array | None:
        """State and commands [n_x + n_channels] at rest on the reference; None where they are not reached."""
        v = start.copy()
        excess, change = self._equations(v, reference, w)
        for _ in range(_ROUNDS):
            if not np.isfinite(excess).all():
                return None
            if np.abs(excess).max() <= 1.0:  # also where commands could share the work in several ways
                return v if self._inside(v) and not self._changed(v, w) else None
            if change is None:
                return None
            shorter = self._shortened(v, change, reference, w, float(np.linalg.norm(excess)))
            if shorter is None:
                return None
            v, excess, change = shorter
        return None

    def _shortened(
        self, v: Array, change: Array, reference: Array, w: Array, before: float
    ) -> tuple[Array, Array, Array | None] | None:
        share = 1.0
        for _ in range(_HALVINGS):
            excess, next_change = self._equations(v + share * change, reference, w)
            if np.linalg.norm(excess) < before:  # false for NaN
                return v + share * change, excess, next_change
            share *= 0.5
        return None

    def _equations(self, v: Array, reference: Array, w: Array) -> tuple[Array, Array | None]:
        """What is left of each equation, in units of what counts as 0 there, and the step that Newton takes."""
        x, c = v[: self.n_x], v[self.n_x :]
        local = self.slopes.at(0.0, x, c, w, self.p)
        jacobian = np.vstack([np.hstack([local.A, local.B]), np.hstack([local.C[self.places], local.D[self.places]])])
        left = np.append(local.rates, local.output[self.places] - reference)
        known = np.append(np.abs(local.E) @ np.abs(w) + _SMALL, np.abs(reference) + self.scale)
        if local.residuals.size:  # a closed chain rests where it is closed
            jacobian = np.vstack([jacobian, np.hstack([local.G, np.zeros((len(local.G), len(c)))])])
            left, known = np.append(left, local.residuals), np.append(known, np.full(len(local.G), _SMALL))
        excess = left / (_TOLERANCE * (np.abs(jacobian) @ np.abs(v) + known))
        if not np.isfinite(jacobian).all() or not np.isfinite(left).all():
            return np.full(len(left), np.nan), None
        if local.residuals.size:  # its rates depend on one another
            return excess, np.asarray(-np.linalg.lstsq(jacobian, left, rcond=None)[0], float)
        try:
            return excess, np.asarray(-np.linalg.solve(jacobian, left), float)
        except np.linalg.LinAlgError:  # slopes that vanish: the least change, and no way on where that is none
            return excess, np.asarray(-np.linalg.lstsq(jacobian, left, rcond=None)[0], float)

    def _inside(self, v: Array) -> bool:
        """Whether the state is one for which the model holds, and the commands are within their limits."""
        x, c = v[: self.n_x], v[self.n_x :]
        held = all(q.low <= value <= q.high for q, value in zip(self.plant.states, x, strict=True))
        slack = _SLACK * (1.0 + np.abs(c))
        return held and all(
            q.low - more <= value <= q.high + more for q, value, more in zip(self.slopes.inputs, c, slack, strict=True)
        )

    def _changed(self, v: Array, w: Array) -> str:
        """How the plant's `after_step` changes the state; empty where it stays."""
        x, c = v[: self.n_x], v[self.n_x :]
        return changes(self.plant, 0.0, x, self._inputs(tuple(x.tolist()), tuple(c.tolist())), w, self.p)

    def _inputs(self, x: tuple[float, ...], c: tuple[float, ...]) -> tuple[float, ...]:
        return allocate_inputs(self.plant, 0.0, x, c, tuple(self.p.tolist()))

    def _described(self, v: Array, reached: float, w: Array) -> Equilibrium:
        plant, x, c = self.plant, tuple(v[: self.n_x].tolist()), tuple(v[self.n_x :].tolist())
        p, loads = tuple(self.p.tolist()), tuple(w.tolist())
        inputs = self._inputs(x, c)
        loss = 0.0 if plant.entropy_rate is None else float(plant.entropy_rate(0.0, x, inputs, loads, p))
        return Equilibrium(np.array(x), np.array(c), reached, loss)
