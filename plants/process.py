"""Process plants of the tuning literature."""

from __future__ import annotations

from typing import Any

from plants.core.plant import Channel, OperatingPoint, Plant, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise

Numbers = tuple[Any, ...]
_LOAD = WhiteNoise(0.01, hold=0.5)  # what disturbs every process a little


def fopdt_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """First order: T y' + y = K (u + w); the dead time L delays u and is the kernel's business."""
    gain, time_constant, _dead_time = p
    return ((gain * (u[0] + w[0]) - x[0]) / time_constant,)


def fopdt_energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy of the equivalent RC circuit with capacity T and unit resistance [J]: T y^2 / 2."""
    return 0.5 * p[1] * x[0] * x[0]


def fopdt_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the source K (u + w) at the current (source - y) of the equivalent circuit [W]."""
    source = p[0] * (u[0] + w[0])
    return source * (source - x[0])


def fopdt_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power lost in the resistance of the equivalent circuit [W]: (K (u + w) - y)^2, zero at rest."""
    current = p[0] * (u[0] + w[0]) - x[0]
    return current * current


FOPDT = register(
    Plant(
        name="fopdt",
        states=(Quantity("output", "1", 0.0, -1.0e3, 1.0e3, "process output y"),),
        parameters=(
            Quantity("K", "1", 1.0, text="static gain"),
            Quantity("T", "s", 1.0, 1e-3, text="time constant"),
            Quantity("L", "s", 0.3, 0.0, text="dead time of the input"),
        ),
        inputs=(Quantity("command", "1", 0.0),),
        disturbances=(Quantity("load", "1", 0.0, text="load at the process input"),),
        # With K = T = 1 and L = 0.3 a pure gain of 5.6 swings for ever.
        channels=(
            Channel(output="output", scale=1.0, low=-10.0, high=10.0, collocated=False, gains_high=(5.0, 8.0, 1.0)),
        ),
        derivative=fopdt_derivative,
        energy=fopdt_energy,
        supplied_power=fopdt_supplied_power,
        entropy_rate=fopdt_entropy_rate,
        input_delay="L",
        operating_points=(OperatingPoint("rest", (0.0,)),),
        situations={
            "taught": [
                {"name": "step and load", "reference": 1.0, "excitation": Step(-0.5, at=10.0) + _LOAD, "seed": 1},
            ],
            "validation": [
                {"name": "small step", "reference": 0.5, "excitation": Step(0.5, at=10.0) + _LOAD, "seed": 6},
            ],
            "unforeseen": [
                {"name": "step and load", "reference": 1.0, "excitation": Step(-0.5, at=10.0) + _LOAD, "seed": 11},
                {"name": "step down", "reference": -1.5, "excitation": Step(1.0, at=8.0) + _LOAD, "seed": 12},
                {"name": "slower plant", "reference": 1.0, "excitation": _LOAD, "seed": 13, "parameters": {"T": 1.3}},
            ],
        },
        text="First order plus dead time: T y' + y = K (u(t - L) + load).",
    )
)
