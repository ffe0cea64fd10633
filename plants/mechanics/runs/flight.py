"""A mechanism with gaps between two events and at them: smooth motion, and how contacts begin and end.

Between events the gaps that push are held closed by an integrator of order 8. After each step the interpolant is
looked at in a few places: a free gap that is closed, or a contact force that is below 0, ends the flight at the root.
A contact that closes and opens between two looks is missed; `max_step` bounds their distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import DOP853
from scipy.optimize import brentq

from plants.mechanics.contacts.active_sets import ContactError, contact_accelerations, holding, impact, shift, still

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Full, Matrices
    from plants.mechanics.contacts.active_sets import Active

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
class EventThresholds:
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
class Instant:
    """Time, state (q, v) and the gaps that push."""

    time: float
    state: Array
    held: Active = ()
    events: tuple[Event, ...] = field(default=())


def settle(system: System, moment: Instant, limits: EventThresholds, released: Active = ()) -> Instant:
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
    return Instant(moment.time, state, held, tuple(events))


def _rebound(system: System, moment: Instant, at: Matrices, limits: EventThresholds) -> tuple[Array, Array]:
    """Return the state after an impact, and the impulses. Closed gaps that would leave it slowly stay closed."""
    n, closed = system.n, at.gaps <= limits.distance
    elastic = np.where(-system.restitutions * at.gap_speeds > limits.rest_speed, system.restitutions, 0.0)
    after = impact(at, moment.state[n:], closed, elastic)
    state = np.concatenate([moment.state[:n], after.motion])
    at = system.at(moment.time, state)
    slow = tuple(int(k) for k in np.flatnonzero(closed & (at.gap_speeds < limits.rest_speed)))
    state[n:] += still(at, slow)
    return state, after.forces


def _raised(system: System, moment: Instant) -> Instant:
    """Return the moment with gaps that are below 0, by rounding or by the root's tolerance, brought to 0."""
    at = system.at(moment.time, moment.state)
    below = tuple(int(k) for k in np.flatnonzero(at.gaps < 0.0))
    state = moment.state.copy()
    state[: system.n] += shift(at, below)
    return replace(moment, state=state) if below else moment


def projected(system: System, moment: Instant, allowed: float) -> Instant:
    """Return the moment with drift of constraints and held gaps removed, itself where it is within `allowed`."""
    at, held = system.at(moment.time, moment.state), list(moment.held)
    drift = np.concatenate([at.residuals, at.speeds, at.gaps[held], at.gap_speeds[held]])
    if np.abs(drift).max(initial=0.0) <= allowed:
        return moment
    q, v = moment.state[: system.n], moment.state[system.n :]
    q = q + shift(at, moment.held)
    v = v + still(system.at(moment.time, np.concatenate([q, v])), moment.held)
    return replace(moment, state=np.concatenate([q, v]))


LOOKS = 4
"""Looks at each step's interpolant."""


@dataclass(frozen=True)
class Precision:
    """Settings of the integrator."""

    rtol: float = 1e-9
    atol: float = 1e-9
    max_step: float = math.inf


@dataclass(eq=False)
class Record:
    """What was seen on the way: rows of time, state, gaps, contact forces."""

    rows: list[Array] = field(default_factory=list)
    evaluations: int = 0

    def add(self, t: float, state: Array, gaps: Array, forces: Array) -> None:
        """Add one row."""
        self.rows.append(np.concatenate([[t], state, gaps, forces]))


@dataclass(eq=False)
class _Watch:
    """Values that end a flight when they fall to 0: free gaps, and forces of held ones.

    A gap that has just opened is at 0 up to rounding. Until it has once been open, it ends the flight only a closed
    gap's distance below 0.
    """

    system: System
    held: Active
    distance: float
    armed: Array

    def values(self, t: float, state: Array) -> Array:
        at = self.system.at(t, state)
        watched = np.where(self.armed, at.gaps, at.gaps + self.distance)
        watched[list(self.held)] = holding(at, self.held).forces[list(self.held)]
        return watched

    def arm(self, gaps: Array) -> None:
        self.armed = self.armed | (gaps > self.distance)


def fly(
    system: System,
    start: Instant,
    t_end: float,
    limits: EventThresholds,
    precision: Precision,
    record: Record,
    tell: Callable[[float], None],
) -> tuple[Instant, Active]:
    """Go on to the next event or to the end.

    Returns
    -------
    Moment, tuple of int
        Where the flight ended, before the event's consequences, and the held gaps whose force fell to 0.
    """
    watch = _Watch(system, start.held, limits.distance, np.zeros(len(system.restitutions), bool))
    here, first_step = start, None
    look(system, here, record)
    watch.arm(system.at(here.time, here.state).gaps)
    while here.time < t_end:
        solver = _solver(system, here, t_end, precision, first_step)
        while solver.status == "running":
            _step(solver, here)
            tell(solver.t)
            dense = solver.dense_output()
            root = _first_root(watch, dense, solver.t_old, solver.t, record)
            record.evaluations += solver.nfev
            solver.nfev = 0
            if root is not None:
                ended = replace(here, time=root, state=dense(root))
                look(system, ended, record)
                return ended, _released(watch, root, ended.state)
            reached = replace(here, time=float(solver.t), state=np.array(solver.y))
            here = projected(system, reached, precision.atol)
            if here is not reached:
                first_step = min(float(solver.h_abs), t_end - here.time)
                break
    return here, ()


def look(system: System, here: Instant, record: Record) -> None:
    """Record one moment."""
    at = system.at(here.time, here.state)
    record.add(here.time, here.state, at.gaps, holding(at, here.held).forces)


def _solver(system: System, here: Instant, t_end: float, precision: Precision, first_step: float | None) -> Any:
    n = system.n

    def rate(t: float, state: Array) -> Array:
        return np.concatenate([state[n:], holding(system.at(t, state), here.held).motion])

    settings = {"rtol": precision.rtol, "atol": precision.atol, "max_step": precision.max_step}
    return DOP853(rate, here.time, here.state, t_end, first_step=first_step or None, **settings)


def _step(solver: Any, here: Instant) -> None:
    message = solver.step()
    if solver.status == "failed" or not np.all(np.isfinite(solver.y)):
        raise ContactError(
            f"the motion could not be followed beyond t = {solver.t:.9g} s (last event at {here.time:.9g} s): "
            f"{message or 'a state is no longer finite'}; look at the forces there"
        )


def _first_root(watch: _Watch, dense: Any, t_old: float, t_new: float, record: Record) -> float | None:
    left, before = t_old, watch.values(t_old, dense(t_old))
    for right in np.linspace(t_old, t_new, LOOKS + 1)[1:]:
        state = dense(right)
        after = watch.values(right, state)
        if np.any(after <= 0.0):
            return min(_root(watch, dense, left, right, int(k), before[k]) for k in np.flatnonzero(after <= 0.0))
        look(watch.system, Instant(float(right), state, watch.held), record)
        watch.arm(watch.system.at(right, state).gaps)
        left, before = float(right), watch.values(right, state)
    return None


def _root(watch: _Watch, dense: Any, left: float, right: float, k: int, before: float) -> float:
    if before <= 0.0:
        return left
    return float(
        brentq(lambda t: watch.values(t, dense(t))[k], left, right, xtol=1e-15 * max(1.0, abs(right)), rtol=1e-14)
    )


def _released(watch: _Watch, t: float, state: Array) -> Active:
    forces = watch.values(t, state)
    slack = 1e-9 * (1.0 + np.abs(forces).max(initial=0.0))
    return tuple(k for k in watch.held if forces[k] <= slack)
