"""DC motor with constant field, driven by a voltage; its shaft is positioned.

The channel is the angle, not the speed: the speed answers a voltage nearly as first order, which `fopdt` has already,
while positioning needs all of a PID (the load torque the integral, the integrating shaft the derivative), and stands
still without loss where nothing pulls at it.

Source: P. C. Krause, O. Wasynczuk and S. D. Sudhoff, Analysis of Electric Machinery, ch. on direct-current machines:
permanent-magnet motor of 6 V with 7 ohm, 120 mH, 2 oz in/A, 150 micro oz in s^2; no-load speed 3350 r/min at 0.15 A.
"""

from __future__ import annotations

from typing import Any

from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Sine, Step, WhiteNoise

Numbers = tuple[Any, ...]
_RATED = 6.0  # V


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """J speed' = k I - b speed + w,  L I' = V - R I - k speed."""
    _angle, speed, current = x
    resistance, inductance, k, inertia, friction = p
    acceleration = (k * current - friction * speed + w[0]) / inertia
    return speed, acceleration, (u[0] - resistance * current - k * speed) / inductance


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J]: kinetic and magnetic."""
    return 0.5 * (p[3] * x[1] * x[1] + p[1] * x[2] * x[2])


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the voltage source and of the torque on the shaft [W]; what k I speed takes from one it gives the other.

    Both constants are one number in SI units: torque per current k_t [N m/A] and voltage per speed k_e [V s].
    """
    return u[0] * x[2] + w[0] * x[1]


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat of the winding and of the bearing, R I^2 + b speed^2."""
    return p[0] * x[2] * x[2] + p[4] * x[1] * x[1]


def _situation(name: str, seed: int, reference: Any, load: Any, **more: Any) -> dict[str, Any]:
    excitation = load + WhiteNoise(4e-8, hold=0.02)
    return {"name": name, "reference": reference, "excitation": excitation, "t_end": 2.0, "seed": seed, **more}


_TASK = {
    "taught": [
        _situation("quarter turn and load", 1, 1.57, Step(-2e-3, at=1.0)),
        _situation("small turn back and load", 2, -0.5, Step(2e-3, at=1.0)),
        _situation("return", 3, 0.0, Step(1e-3, at=1.0), initial={"angle": 1.0, "speed": -10.0}),
    ],
    "validation": [_situation("half turn and load", 6, 3.14, Step(2e-3, at=1.0))],
    "unforeseen": [
        _situation("full turn", 11, 6.28, Step(-2e-3, at=1.0)),
        _situation("strong load", 12, -1.0, Step(-4e-3, at=1.0)),
        _situation("follow", 13, Sine(1.0, 1.0), Step(2e-3, at=1.0)),
        _situation("heavier rotor, weaker field", 14, 1.57, Step(-2e-3, at=1.0),
                   parameters={"inertia": 1.377e-6, "torque constant": 9.88e-3}),
        _situation("lighter rotor, stronger field", 15, 1.57, Step(-2e-3, at=1.0),
                   parameters={"inertia": 7.41e-7, "torque constant": 1.836e-2}),
    ],
}  # fmt: skip

DC_MOTOR = register(
    Plant(
        name="dc_motor",
        step=0.002,
        loses_at_rest=True,
        states=(
            Quantity("angle", "rad", 0.0, -100.0, 100.0, "of the shaft"),
            Quantity("speed", "rad/s", 0.0, -2000.0, 2000.0),
            Quantity("current", "A", 0.0, -20.0, 20.0, "of the armature"),
        ),
        parameters=(
            Quantity("resistance", "ohm", 7.0, 0.1),
            Quantity("inductance", "H", 0.12, 1e-3),
            Quantity("torque constant", "N m/A", 1.4123e-2, 1e-4, text="also voltage per speed [V s]"),
            Quantity("inertia", "kg m^2", 1.0592e-6, 1e-8),
            Quantity("friction", "N m s", 6.04e-6, 0.0, text="viscous; k I / speed at the no-load point"),
        ),
        inputs=(Quantity("voltage", "V", 0.0, -_RATED, _RATED),),
        disturbances=(Quantity("load torque", "N m", 0.0, -1.2e-2, 1.2e-2, "on the shaft, in its positive sense"),),
        channels=(Channel("angle", "speed", 1.0, -_RATED, _RATED, collocated=False, gains_high=(2.0, 20.0, 0.05)),),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        task=ControlTask(
            operating_points=(OperatingPoint("rest", (0.0, 0.0, 0.0)),),
            situations=_TASK,
            ranges=OperatingRanges(  # a winding from cold to hot, magnets, what is coupled to the shaft, grease
                parameters={
                    "resistance": (6.3, 9.1),
                    "torque constant": (9.9e-3, 1.83e-2),
                    "inertia": (7.5e-7, 1.37e-6),
                    "friction": (4.3e-6, 7.8e-6),
                },
                initial={"angle": (0.0, 1.0), "speed": (-10.0, 0.0)},
                reference={"angle": (-1.0, 6.28)},
                load={"load torque": (-4e-3, 2e-3)},
                excitation={"load torque": (0.0, 2e-4)},
                noise={"angle": (0.0, 0.02)},
                delay=(0.0, 0.008),
                authority=(0.7, 1.0),
            ),
        ),
        text="DC motor with constant field, 6 V: voltage to shaft angle, load torque.",
    )
)
