"""Runs of the unicycle by this derivation, under the control law of the source, compiled as any plant is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.unicycle import reference
from benchmarks.unicycle.legs import MINIMAL, posture
from benchmarks.unicycle.machine import Inputs, accelerations, balance
from plants.core.elementary import cos, sin
from plants.core.plant import Plant, Quantity
from plants.core.trajectory import DivergedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STATES = (*MINIMAL, *(f"{name}_rate" for name in MINIMAL), "x_P", "y_P")
GAINS = {"K1": 110.0, "K2": 20.0, "K3": 100.0, "K4": 60.0, "K5": 0.02, "trim": reference.TRIM, "speed": 1.5}
"""Of the source's law with the specification's numbers: N m/rad and N m s/rad, then rad s/m, rad, m/s."""
FREE = dict.fromkeys((*reference.FRICTIONS, "K1", "K2", "K3", "K4"), 0.0)
"""Parameters without friction and control."""
_PARAMETERS = reference.NOMINAL | GAINS | {"nh": 1.0}


def _named(p: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_PARAMETERS, p, strict=True))


def torques(y: Sequence[Any], p: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Pedals from pitch, rotor from roll; the set pitch is the trim, less where the wheel is too slow."""
    lean = y[2] - p["trim"] - p["K5"] * (p["speed"] - p["Rw"] * y[8])
    pedal = -p["K1"] * lean - p["K2"] * y[7]
    return pedal, -pedal, p["K3"] * y[1] + p["K4"] * y[6]


def derivative(t, x, u, w, p):
    """Rates of coordinates, of their rates and of the point of contact."""
    named = _named(p)
    way = named["Rw"] * x[8]
    found = accelerations(x, named, Inputs(torques(x, named)), named["nh"])
    return (*x[5:10], *found, way * cos(x[0]), way * sin(x[0]))


def energy(t, x, u, w, p):
    """Kinetic and potential energy [J]."""
    named = _named(p)
    return balance(posture(x, named), named).energy


@cache
def plant() -> Plant:
    """Return the machine with its control law inside; it is not registered."""
    units = ("rad",) * 5 + ("rad/s",) * 5 + ("m", "m")
    return Plant(
        name="unicycle_by_weighted_vectors",
        states=tuple(
            Quantity(name, unit, 0.0, -1.2, 1.2) if name in {"gamma", "beta"} else Quantity(name, unit, 0.0)
            for name, unit in zip(STATES, units, strict=True)
        ),
        parameters=tuple(Quantity(name, "1", value) for name, value in _PARAMETERS.items()),
        derivative=derivative,
        energy=energy,
    )


def run(t_end: float, start: Sequence[float], *, step: float = 1e-3, **parameters: float) -> np.ndarray:
    """Run and return all states [n + 1, 12], up to the fall if it falls (roll or pitch beyond 1.2 rad)."""
    try:
        return plants.simulate(plant(), t_end, step, start, parameters).states
    except DivergedError:
        return np.empty((0, len(STATES)))
