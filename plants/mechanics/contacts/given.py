"""What a run with contacts is given: parameters, signals of time, a state that the constraints allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.naming import pick_values, position
from plants.mechanics.contacts.state import System

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Quantity
    from plants.mechanics.contacts.state import Signals
    from plants.mechanics.deriving.full import Full

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
