"""A cart that balances a pole: one force, two controlled outputs.

The pole is a uniform rod of half-length l on a cart; the angle is 0 upright and grows to the side of positive
positions. Both accelerations depend on one another: an algebraic loop, declared by mass matrix and force.

Two channels share the force. Each command tips the pole to the positive side by pulling the cart to the negative one,
force = -(sum of both), because this is how either output is raised: the angle at once, the position by leaning that
way first. So both channels are direct and all gains positive, and each has its own part of the motor's force.

The picture shows them from the side: the track, the cart on two wheels, the pole, the force.

Source: A. G. Barto, R. S. Sutton, C. W. Anderson, IEEE Trans. SMC-13 (1983) 834-846 (values), with the equations as
corrected by R. V. Florian, Correct equations for the dynamics of the cart-pole system (2007), viscous friction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.elementary import cos, sin
from plants.core.plant import Plant
from plants.core.presentation import Body, Presentation, Scene, View
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Sine, UniformFilter, WhiteNoise

Points = Any
_HIGH, _HALF, _RADIUS = 0.28, 0.3, 0.08  # m: pivot above the track, half the cart's length, wheels
_METRES_PER_NEWTON = 0.05


def _cart_outline(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """Outline of the cart."""
    left, right, low = x[0] - _HALF, x[0] + _HALF, 0.1
    return (left, low), (right, low), (right, _HIGH), (left, _HIGH)


def _pole_line(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """The pole from its pivot to its tip; positive angles lean to positive positions."""
    length = 2.0 * p[2]
    return (x[0], _HIGH), (x[0] + length * np.sin(x[1]), _HIGH + length * np.cos(x[1]))


def _force_arrow(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
    """Force on the cart, 5 cm for each newton."""
    return (x[0], 0.19), (x[0] + _METRES_PER_NEWTON * u[0], 0.19)


def _wheel(place: float) -> Any:
    def points(t: Any, x: Any, u: Any, w: Any, p: Any) -> Points:
        centre, turned = x[0] + place, x[0] / _RADIUS
        return (centre, _RADIUS), (centre + _RADIUS * np.sin(turned), _RADIUS + _RADIUS * np.cos(turned))

    return points


SCENE = Scene(
    views=(
        View(
            "from the side",
            (
                Body("ground", ((-3.0, 0.0), (3.0, 0.0)), "track", tint="soft"),
                Body("polygon", _cart_outline, "cart"),
                Body("wheel", _wheel(-0.2)),
                Body("wheel", _wheel(0.2)),
                Body("line", _pole_line, "pole"),
                Body("arrow", _force_arrow, "force on the cart, 5 cm for each newton", tint="ink"),
            ),
            window=(-2.0, 2.0, -0.15, 1.55),
        ),
    ),
    text="A cart drives on its track and balances a pole that is hinged on its top.",
)


Numbers = tuple[Any, ...]
GRAVITY = 9.81  # m/s^2

_WIND = WhiteNoise(1e-3, hold=0.1)  # N^2
_STRONG = WhiteNoise(4e-3, hold=0.1)
_SWELL = Sine(0.05, 0.4) + WhiteNoise(1e-3, hold=0.1, density="uniform")


def mass_matrix(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> tuple[Numbers, ...]:
    """Inertia of position and angle [kg, kg m; kg m, kg m^2]."""
    cart, pole, half = p[0], p[1], p[2]
    coupling = pole * half * cos(x[1])
    return (cart + pole, coupling), (coupling, 4.0 / 3.0 * pole * half * half)


def force(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """All that carries no acceleration: force on the cart [N], torque on the pole [N m]."""
    _position, angle, speed, turning = x
    _cart, pole, half, cart_friction, pivot_friction = p
    along = u[0] + w[0] - cart_friction * speed + pole * half * turning * turning * sin(angle)
    about = half * (pole * GRAVITY * sin(angle) + w[0] * cos(angle)) - pivot_friction * turning
    return along, about


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], 0 at rest upright."""
    _position, angle, speed, turning = x
    cart, pole, half = p[0], p[1], p[2]
    arm = half * turning
    kinetic = 0.5 * (cart + pole) * speed * speed + pole * arm * (speed * cos(angle) + 2.0 / 3.0 * arm)
    return kinetic - pole * GRAVITY * half * (1.0 - cos(angle))


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the motor at the cart and of the wind at the middle of the pole [W]."""
    _position, angle, speed, turning = x
    return u[0] * speed + w[0] * (speed + p[2] * turning * cos(angle))


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: friction of cart and pivot, a1 z'^2 + b a'^2."""
    return p[3] * x[2] * x[2] + p[4] * x[3] * x[3]


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Force on the cart [N]: both commands tip the pole to the positive side."""
    return (-(commands[0] + commands[1]),)


def _case(
    name: str, target: float, initial: Numbers, seed: int, excitation: Any = _WIND, **more: Any
) -> dict[str, Any]:
    """A situation from position and angle at rest to an upright pole at the target [m]."""
    return {
        "name": name, "reference": {"position": target}, "initial": (*initial, 0.0, 0.0), "seed": seed,
        "excitation": excitation, "t_end": 10.0, **more,
    }  # fmt: skip


_SITUATIONS = {
    "taught": [
        _case("balance", 0.0, (0.0, 0.15), 1),
        _case("drive", 0.6, (0.0, 0.0), 2),
        _case("return", 0.0, (-0.8, 0.05), 3),
        _case("drive across", -0.4, (0.4, -0.1), 4),
    ],
    "validation": [
        _case("drive back", -0.8, (0.0, 0.0), 6),
        _case("leaning start", 0.3, (0.0, -0.2), 7),
    ],
    "unforeseen": [
        _case("farther", 1.0, (0.0, 0.0), 11),
        _case("other side", -1.0, (0.3, 0.1), 12),
        _case("heavier and longer pole", 0.5, (0.0, 0.1), 13, parameters={"pole": 0.13, "half_length": 0.65}),
        _case("lighter and shorter pole", -0.5, (0.0, 0.1), 14, parameters={"pole": 0.07, "half_length": 0.35}),
        _case("heavier cart", 0.5, (0.0, -0.1), 15, parameters={"cart": 1.3, "cart_friction": 0.13}),
        _case("strong wind", 0.4, (0.0, 0.0), 16, _STRONG),
        _case("swell", 0.0, (0.2, 0.0), 17, _SWELL),
        _case("gusts of another kind", -0.3, (0.0, 0.1), 18, UniformFilter(0.1, 10.0)),
    ],
}

CART_POLE = register(
    Plant(
        name="cart_pole",
        states=(
            Quantity("position", "m", 0.0, -2.4, 2.4, "of the cart on its track"),
            Quantity("angle", "rad", 0.05, -1.2, 1.2, "of the pole from upright"),
            Quantity("speed", "m/s", 0.0, -50.0, 50.0, "rate of the position"),
            Quantity("turning", "rad/s", 0.0, -100.0, 100.0, "rate of the angle"),
        ),
        parameters=(
            Quantity("cart", "kg", 1.0, 1e-2, 100.0, "mass of the cart"),
            Quantity("pole", "kg", 0.1, 1e-3, 10.0, "mass of the pole"),
            Quantity("half_length", "m", 0.5, 1e-2, 10.0, "of the pole"),
            Quantity("cart_friction", "N s/m", 0.1, 0.0, 100.0, "a1: viscous, of the cart on its track"),
            Quantity("pivot_friction", "N m s", 0.002, 0.0, 10.0, "b: viscous, of the pole's pivot"),
        ),
        inputs=(Quantity("force", "N", 0.0, -30.0, 30.0, "on the cart"),),
        disturbances=(Quantity("wind", "N", 0.03, text="force on the middle of the pole; its usual size"),),
        channels=(
            # Below (cart + pole) * gravity = 11 N/rad nothing stands. There is no integral action on the angle: the
            # pole is at rest only upright, and integrals of angle and position would be two of one and the same.
            Channel(
                output="angle", rate="turning", scale=0.2, low=-20.0, high=20.0, collocated=False,
                gains_low=(15.0, 0.0, 2.0), gains_high=(80.0, 0.0, 20.0),
            ),
            Channel(
                output="position", rate="speed", scale=1.0, low=-10.0, high=10.0, collocated=False,
                gains_high=(6.0, 1.0, 10.0),
            ),
        ),
        mass_matrix=mass_matrix,
        force=force,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=allocate,
        # Upright at rest both commands are 0, wherever the cart stands: the linear plant is the same at all references.
        task=ControlTask(
            operating_points=(OperatingPoint("upright", (0.0, 0.0, 0.0, 0.0)),),
            situations=_SITUATIONS,
            ranges=OperatingRanges(
                parameters={
                    "cart": (0.8, 1.3), "pole": (0.07, 0.13), "half_length": (0.35, 0.65),
                    "cart_friction": (0.07, 0.13), "pivot_friction": (1.4e-3, 2.6e-3),
                },
                initial={"position": (-0.8, 0.4), "angle": (-0.2, 0.15)},
                reference={"position": (-1.0, 1.0)},
                excitation={"wind": (0.0, 0.06)},
                noise={"angle": (0.0, 4e-3), "position": (0.0, 0.02)},
                delay=(0.0, 0.02),
            ),
        ),
        presentation=Presentation(scene=SCENE),
        text="Cart and pole (a uniform rod), exact equations with viscous friction; Barto, Sutton, Anderson (1983).",
    )
)  # fmt: skip
