"""A pendulum balanced upright by a torque in its pivot; the angle is 0 at the top.

Gravity helps a fall, so the stiffness about the top is negative and depends on the angle: fixed gains that are stiff
enough there are hard in the lower half.

Source: K. J. Astrom and R. M. Murray, Feedback Systems (Princeton, 2nd ed. 2021), chapter 3, inverted pendulum.
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import cos, sin
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Sine, UniformFilter, WhiteNoise

Numbers = tuple[Any, ...]
GRAVITY = 9.81  # m/s^2

_GUST = WhiteNoise(0.09, hold=0.1)  # N^2 m^2
_STRONG = WhiteNoise(0.36, hold=0.1)
_ROCKING = Sine(0.5, 0.7) + WhiteNoise(0.09, hold=0.1, density="uniform")


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of angle [rad] and speed [rad/s]: m l^2 a'' + b a' - m g l sin a = u + w."""
    angle, speed = x
    mass, length, damping = p
    torque = u[0] + w[0] - damping * speed + mass * GRAVITY * length * sin(angle)
    return speed, torque / (mass * length * length)


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], 0 at rest at the top."""
    angle, speed = x
    mass, length, _damping = p
    return 0.5 * mass * length * length * speed * speed - mass * GRAVITY * length * (1.0 - cos(angle))


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the control torque and of the gust [W]."""
    return (u[0] + w[0]) * x[1]


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: power lost in the pivot."""
    return p[2] * x[1] * x[1]


def _case(
    name: str, reference: float, initial: Numbers, seed: int, excitation: Any = _GUST, **more: Any
) -> dict[str, Any]:
    return {
        "name": name, "reference": reference, "initial": initial, "seed": seed, "excitation": excitation,
        "t_end": 10.0, **more,
    }  # fmt: skip


_SITUATIONS = {
    "taught": [
        _case("catch", 0.0, (0.6, 0.0), 1),
        _case("lean", 0.8, (0.0, 0.0), 2),
        _case("swing across", -0.5, (1.0, -1.0), 3),
        _case("lift", 0.0, (-2.0, 0.0), 4),
    ],
    "validation": [
        _case("lean far", 1.2, (0.1, 0.0), 6),
        _case("catch in motion", 0.0, (-0.4, 2.0), 7),
    ],
    "unforeseen": [
        _case("lean to the other side", -1.5, (0.2, 0.0), 11),
        _case("rocking support", 0.3, (0.0, 0.0), 12, _ROCKING),
        _case("heavier and longer", 0.0, (0.8, 0.0), 13, parameters={"mass": 1.3, "length": 0.65}),
        _case("lighter and shorter", 1.0, (-0.5, 0.0), 14, parameters={"mass": 0.7, "length": 0.35}),
        _case("strong gusts", -0.7, (0.0, 0.0), 15, _STRONG),
        _case("lift from below", 0.0, (2.6, 0.0), 16, UniformFilter(0.5, 10.0)),
    ],
}

PENDULUM = register(
    Plant(
        name="pendulum",
        states=(
            Quantity("angle", "rad", 0.1, -10.0, 10.0, "from upright"),
            Quantity("speed", "rad/s", 0.0, -100.0, 100.0, "rate of the angle"),
        ),
        parameters=(
            Quantity("mass", "kg", 1.0, 1e-3, 100.0, "point mass at the end"),
            Quantity("length", "m", 0.5, 1e-2, 10.0),
            Quantity("damping", "N m s", 0.05, 0.0, 10.0, "viscous friction of the pivot"),
        ),
        inputs=(Quantity("torque", "N m", 0.0, text="in the pivot"),),
        disturbances=(Quantity("gust", "N m", 0.3, text="torque; its usual size (standard deviation)"),),
        channels=(
            Channel(output="angle", rate="speed", scale=1.0, low=-12.0, high=12.0, gains_high=(60.0, 60.0, 10.0)),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        task=ControlTask(
            operating_points=tuple(OperatingPoint(f"angle {a:g}", (a, 0.0)) for a in (0.0, 0.5, 1.0, 1.5)),
            situations=_SITUATIONS,
            ranges=OperatingRanges(
                parameters={"mass": (0.7, 1.3), "length": (0.35, 0.65), "damping": (0.035, 0.065)},
                initial={"angle": (-2.0, 2.6), "speed": (-1.0, 2.0)},
                reference={"angle": (-1.5, 1.2)},
                excitation={"gust": (0.0, 0.6)},
                noise={"angle": (0.0, 0.02)},
                delay=(0.0, 0.04),
                authority=(0.7, 1.0),
            ),
        ),
        text="Pendulum upright on a driven pivot: m l^2 a'' + b a' - m g l sin a = u + w; Astrom and Murray, ch. 3.",
    )
)
