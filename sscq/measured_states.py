"""A plant whose states are all measured: for controllers that real sensors would rarely allow, as a reference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants import Quantity

if TYPE_CHECKING:
    from plants import Plant

_PROBES = 3


def with_states(plant: Plant) -> tuple[Plant, tuple[str, ...]]:
    """Return the plant with every state among its outputs, and the outputs' names in the order of the states.

    A state that the plant measures already keeps that output, with the noise and the converter it has; the others are
    added behind, without noise.
    """
    names = [_output_of(plant, k) for k in range(len(plant.states))]
    missing = [k for k, name in enumerate(names) if name is None]
    known = {q.name for q in plant.measurements}
    added = {k: _free(f"state {plant.states[k].name}", known) for k in missing}
    extra = tuple(Quantity(name, plant.states[k].unit, text="every state is measured") for k, name in added.items())
    own = plant.outputs

    def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        values = own(t, x, u, w, p)
        values = tuple(values) if isinstance(values, (tuple, list)) else (values,)
        return (*values, *(x[k] for k in missing))

    wider = plant if not missing else replace(plant, measurements=(*plant.measurements, *extra), outputs=outputs)
    return wider, tuple(added[k] if name is None else name for k, name in enumerate(names))


def _output_of(plant: Plant, state: int) -> str | None:
    """Name of the measurement that is a state, told by its values at random states."""
    rng, u = np.random.default_rng(0), tuple(q.nominal for q in plant.inputs)
    equal = np.ones(len(plant.measurements), bool)
    for _ in range(_PROBES):
        x = tuple(float(q.nominal + (abs(q.nominal) or 1.0) * 0.1 * rng.standard_normal()) for q in plant.states)
        values = plant.outputs(0.0, x, u, plant.calm(), plant.nominal())
        equal &= np.ravel(np.asarray(values, dtype=float)) == x[state]
    places = np.flatnonzero(equal)
    return plant.measurements[places[0]].name if places.size else None


def _free(name: str, known: set[str]) -> str:
    while name in known:
        name += " (state)"
    return name
