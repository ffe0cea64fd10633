"""What an event-driven run of a mechanism with gaps knows at one time, and how contacts begin and end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.contacts.qp import contact_accelerations, impact, shift, still

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from plants.mechanics.contacts.shortest import Active
    from plants.mechanics.deriving.full import Full, Matrices

    Array = NDArray[Any]
    Signals = Callable[[float], tuple[float, ...]]


@dataclass(frozen=True)
class Event:
    """A contact changes.

    Attributes
    ----------
    time : float
        [s]
    gap : int
        Number of the gap, in the order of declaration.
    kind : {"impact", "closing", "opening"}
        A speed jumps; the gap begins to push; it ceases to push. Where contacts are dependent, the force may pass from
        one to another although both stay closed.
    impulse : float
        Of the contact force at an impact [N s], else 0.
    """

    time: float
    gap: int
    kind: str
    impulse: float = 0.0


@dataclass(frozen=True)
class Limits:
    """Below what a gap counts as closed and at rest.

    Attributes
    ----------
    distance, speed : float
        eps_q [m], eps_v [m/s].
    rest_speed : float
        A gap that would leave an impact slower stays closed [m/s]: bounces do not pile up.
    """

    distance: float = 1e-9
    speed: float = 1e-9
    rest_speed: float = 1e-3


@dataclass(frozen=True, eq=False)
class System:
    """A mechanism with everything fixed but its state: inputs and disturbances are functions of time."""

    full: Full
    inputs: Signals
    disturbances: Signals
    parameters: tuple[float, ...]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.full.declared.n

    @property
    def restitutions(self) -> Array:
        """Newton's coefficient of each gap [k]."""
        return np.array([gap.restitution for gap in self.full.declared.gaps])

    def at(self, t: float, state: Any) -> Matrices:
        """Return the blocks at a state (q, v)."""
        return self.full.at(t, state[: self.n], state[self.n :], self.inputs(t), self.disturbances(t), self.parameters)


@dataclass(frozen=True, eq=False)
class Moment:
    """Time, state (q, v) and the gaps that push."""

    time: float
    state: Array
    held: Active = ()
    events: tuple[Event, ...] = field(default=())


def settle(system: System, moment: Moment, limits: Limits, released: Active = ()) -> Moment:
    """Return the moment after impacts, with the gaps that push from here on and what happened to them."""
    moment = _raised(system, projected(system, moment, 0.0))
    at = system.at(moment.time, moment.state)
    state, events = moment.state, []
    if np.any((at.gaps <= limits.distance) & (at.gap_speeds < -limits.speed)):
        state, impulses = _rebound(system, moment, at, limits)
        events = [Event(moment.time, int(k), "impact", float(impulses[k])) for k in np.flatnonzero(impulses)]
        at = system.at(moment.time, state)
    closed = (at.gaps <= limits.distance) & (np.abs(at.gap_speeds) <= limits.speed)
    tried = tuple(k for k in moment.held if k not in released)
    held = contact_accelerations(at, closed, tried).active
    events += [Event(moment.time, k, "closing") for k in held if k not in moment.held]
    events += [Event(moment.time, k, "opening") for k in moment.held if k not in held]
    return Moment(moment.time, state, held, tuple(events))


def _rebound(system: System, moment: Moment, at: Matrices, limits: Limits) -> tuple[Array, Array]:
    """Return the state after an impact, and the impulses. Closed gaps that would leave it slowly stay closed."""
    n, closed = system.n, at.gaps <= limits.distance
    elastic = np.where(-system.restitutions * at.gap_speeds > limits.rest_speed, system.restitutions, 0.0)
    after = impact(at, moment.state[n:], closed, elastic)
    state = np.concatenate([moment.state[:n], after.motion])
    at = system.at(moment.time, state)
    slow = tuple(int(k) for k in np.flatnonzero(closed & (at.gap_speeds < limits.rest_speed)))
    state[n:] += still(at, slow)
    return state, after.forces


def _raised(system: System, moment: Moment) -> Moment:
    """Return the moment with gaps that are below 0, by rounding or by the root's tolerance, brought to 0."""
    at = system.at(moment.time, moment.state)
    below = tuple(int(k) for k in np.flatnonzero(at.gaps < 0.0))
    state = moment.state.copy()
    state[: system.n] += shift(at, below)
    return replace(moment, state=state) if below else moment


def projected(system: System, moment: Moment, allowed: float) -> Moment:
    """Return the moment with drift of constraints and held gaps removed, itself where it is within `allowed`."""
    at, held = system.at(moment.time, moment.state), list(moment.held)
    drift = np.concatenate([at.residuals, at.speeds, at.gaps[held], at.gap_speeds[held]])
    if np.abs(drift).max(initial=0.0) <= allowed:
        return moment
    q, v = moment.state[: system.n], moment.state[system.n :]
    q = q + shift(at, moment.held)
    v = v + still(system.at(moment.time, np.concatenate([q, v])), moment.held)
    return replace(moment, state=np.concatenate([q, v]))
