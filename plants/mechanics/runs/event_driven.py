"""Event-driven simulation of mechanisms with gaps: the reference path, one run at a time.

Impacts, closings and openings are located at their roots; in between the motion is smooth and integrated with an
adaptive method. Any number of gaps. For many runs side by side there are the blocks of
:mod:`plants.mechanics.contacts.blocks`, with a fixed step.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.motion.trajectory import Trajectory
from plants.core.names import pick_values, position
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.contacts.active_sets import ContactError
from plants.mechanics.contacts.blocks import refuse_nonlinear
from plants.mechanics.declaration.declaration import MechanismDeclaration
from plants.mechanics.runs.flight import Event, EventThresholds, Instant, Precision, Record, System, fly, look, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.quantities import Quantity
    from plants.mechanics.mechanism import Mechanism
    from plants.mechanics.runs.flight import Signals


Given = Mapping[str, Any] | Sequence[Any]

ALLOWED_START = 1e-6
"""Violation of constraints [their unit] that an initial state may have; it is projected away."""


def fixed(full: Full, parameters: Given | None, inputs: Given | None, disturbances: Given | None) -> System:
    """Return a mechanism with parameters, inputs and disturbances as given, by name or in order."""
    d = full.declared
    values = pick_values(f"parameters of mechanism {d.name!r}", d.quantities["p"], parameters)
    return System(full, _signals(full, "u", inputs), _signals(full, "w", disturbances), values)


def _signals(full: Full, kind: str, given: Given | None) -> Signals:
    quantities: tuple[Quantity, ...] = full.declared.quantities[kind]
    what = f"{'inputs' if kind == 'u' else 'disturbances'} of mechanism {full.declared.name!r}"
    values: list[Any] = [0.0] * len(quantities)
    if isinstance(given, Mapping):
        for name, value in given.items():
            values[position(what, [q.name for q in quantities], name)] = value
    elif given is not None:
        if len(given) != len(values):
            raise ValueError(
                f"{what} must have {len(values)} values ({', '.join(q.name for q in quantities)}), got {len(given)}"
            )
        values = list(given)
    functions: list[Callable[[float], float]] = [v if callable(v) else _constant(float(v)) for v in values]
    return lambda t: tuple(float(function(t)) for function in functions)


def _constant(value: float) -> Callable[[float], float]:
    return lambda _: value


def initial_state(system: System, given: Given | None) -> np.ndarray:
    """Return the state (q, v) that a run begins with; ValueError where constraints or gaps do not allow it."""
    d = system.full.declared
    state = np.array(pick_values(f"states of mechanism {d.name!r}", d.quantities["q"] + d.quantities["v"], given))
    at = system.at(0.0, state)
    levels = {"position constraint": at.residuals, "velocity of constraint": at.speeds, "gap": np.minimum(at.gaps, 0.0)}
    for what, values in levels.items():
        for k in np.flatnonzero(np.abs(values) > ALLOWED_START):
            raise ValueError(
                f"mechanism {d.name!r}: the initial state violates {what} {k} by {values[k]:.6g}; "
                "give coordinates and rates that fulfil it"
            )
    return state


IDLE = 50
"""Changes of contacts at one instant that are taken for going round in circles."""

SILENT = 2.0  # s: shorter runs say nothing


@dataclass(frozen=True, eq=False)
class ContactRun:
    """A recorded motion with contacts.

    Attributes
    ----------
    trajectory : Trajectory
        At the integrator's steps and between them, and before and after each event (the time then appears twice).
        Groups: "states" (coordinates, rates), "gaps" [m], "contact_forces" [N].
    events : tuple of Event
        In order of time.
    """

    trajectory: Trajectory
    events: tuple[Event, ...]

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the signal called `name` [n]."""
        return self.trajectory[name]

    @property
    def time(self) -> np.ndarray:
        """Time [n], s."""
        return self.trajectory.time

    def of_kind(self, kind: str) -> tuple[Event, ...]:
        """Return the events of one kind: "impact", "closing", "opening"."""
        return tuple(event for event in self.events if event.kind == kind)


def simulate_contacts(
    system: Mechanism | MechanismDeclaration | Full,
    t_end: float,
    initial: Given | None = None,
    *,
    parameters: Given | None = None,
    inputs: Given | None = None,
    disturbances: Given | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    max_step: float = math.inf,
    rest_speed: float = 1e-3,
    max_events: int = 10_000,
) -> ContactRun:
    """Simulate a mechanism with gaps from 0 to `t_end` [s].

    Parameters
    ----------
    system : Mechanism, Declaration or Full
    initial : mapping by name or full sequence, optional
        Coordinates, then rates; replaces nominal values.
    parameters : mapping by name or full sequence, optional
    inputs, disturbances : mapping by name or full sequence, optional
        Numbers, or functions of time that are smooth; what is left out is 0.
    rtol, atol : float
        Of the integrator. Drift of constraints and closed gaps is projected away where it exceeds `atol`.
    max_step : float
        Longest step [s]: bounds the time in which a short contact could be overlooked.
    rest_speed : float
        An impact whose rebound would be slower [m/s] ends in rest: infinitely many bounces in finite time are cut off.
    max_events : int
        More are taken for a mistake.

    Returns
    -------
    ContactRun

    Raises
    ------
    ValueError
        For unknown names, wrong lengths, or an initial state that violates constraints or gaps.
    ContactError
        Where constraints and contacts contradict each other, or events pile up.

    Notes
    -----
    Impacts are frictionless, with Newton's restitution of each gap, solved together with all closed gaps and the
    two-sided constraints (:func:`plants.mechanics.contacts.active_sets.impact`).
    """
    full = _full(system)
    limits = EventThresholds(rest_speed=rest_speed)
    moving = fixed(full, parameters, inputs, disturbances)
    moment = settle(moving, Instant(0.0, initial_state(moving, initial)), limits)
    record, events, tell = Record(), list(moment.events), _Telling(t_end)
    idle = 0
    while moment.time < t_end:
        begun = moment.time
        reached, released = fly(moving, moment, t_end, limits, Precision(rtol, atol, max_step), record, tell)
        moment = settle(moving, reached, limits, released) if reached.time < t_end else reached
        events += moment.events if moment is not reached else ()
        idle = idle + 1 if moment.time <= begun else 0
        _check_progress(events, max_events, idle, moment)
        tell.events = len(events)
    look(moving, moment, record)
    return ContactRun(_trajectory(full, record), tuple(events))


def _full(system: Mechanism | MechanismDeclaration | Full) -> Full:
    full = (
        system
        if isinstance(system, Full)
        else Full(system if isinstance(system, MechanismDeclaration) else system.declared())
    )
    refuse_nonlinear(full.declared)
    if full.declared.places:
        raise ValueError(
            f"mechanism {full.declared.name!r}: contacts are simulated in coordinates, but joints are declared; "
            "declare the joint coordinates as coordinates and the gaps in them"
        )
    return full


def _check_progress(events: list[Event], most: int, idle: int, here: Instant) -> None:
    if idle > IDLE:
        raise ContactError(
            f"contacts keep changing at t = {here.time:.9g} s without any time passing (gaps that push: {here.held}); "
            "look for gaps that say the same in slightly different ways"
        )
    if len(events) > most:
        raise ContactError(
            f"{len(events)} events up to t = {here.time:.9g} s, the last at "
            f"{', '.join(f'{e.time:.9g}' for e in events[-3:])} s: more than max_events = {most}; raise rest_speed so "
            "that bounces end in rest, or allow more"
        )


class _Telling:
    """Says every two seconds how far the run is."""

    def __init__(self, t_end: float) -> None:
        self.t_end, self.events = t_end, 0
        self._next = time.monotonic() + SILENT

    def __call__(self, t: float) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + SILENT
            sys.stderr.write(f"contacts: t = {t:.4g} s of {self.t_end:g} s, {self.events} events\n")


def _trajectory(full: Full, record: Record) -> Trajectory:
    q = full.declared.quantities
    k = len(full.declared.gaps)
    states = q["q"] + q["v"]
    names = [s.name for s in states] + [f"gap_{i}" for i in range(k)] + [f"contact_force_{i}" for i in range(k)]
    units = [s.unit for s in states] + ["m"] * k + ["N"] * k
    n = len(states)
    groups = {"states": slice(0, n), "gaps": slice(n, n + k), "contact_forces": slice(n + k, n + 2 * k)}
    rows = np.array(record.rows)
    return Trajectory(rows[:, 0], rows[:, 1:], tuple(names), tuple(units), groups, record.evaluations)
