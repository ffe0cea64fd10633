"""A ball that rolls on a beam; the beam's angle is commanded, the ball's place is controlled.

The beam turns about its middle, driven by an angle servo, torque k (u - a) - d a'. The angle a is positive where it
lets the ball roll to positive places, so the loop is direct; the ball's weight turns the beam the same way, which makes
any place off the middle unstable and its holding angle command -M g r / k.

Source: J. Hauser, S. Sastry, P. Kokotovic, Nonlinear control via approximate input-output linearization: the ball and
beam example, IEEE Trans. AC-37 (1992) 392-398 (equations and values, angle with the other sign); the servo is ours.
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
_ROLLING = 0.4  # moment of inertia of a solid ball over mass times radius squared

_DRAUGHT = WhiteNoise(1e-4, hold=0.1)  # N^2
_STRONG = WhiteNoise(4e-4, hold=0.1)
_ROCKING = Sine(0.01, 0.3) + WhiteNoise(1e-4, hold=0.1, density="uniform")


def _inertias(place: Any, p: Numbers) -> tuple[Any, Any]:
    """Inertia of the rolling ball [kg], and of ball and beam about the pivot [kg m^2]."""
    ball, radius, beam = p[:3]
    spin = _ROLLING * ball
    return ball + spin, beam + spin * radius * radius + ball * place * place


def _servo(x: Numbers, u: Numbers, p: Numbers) -> Any:
    """What the servo's motor gives beside its damping: the torque of a spring to the commanded angle [N m]."""
    return p[3] * (u[0] - x[1])


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of place [m], angle [rad] and their speeds."""
    place, angle, speed, turning = x
    ball, servo_damping, friction = p[0], p[4], p[5]
    rolling, about = _inertias(place, p)
    along = ball * (GRAVITY * sin(angle) + place * turning * turning) + w[0] - friction * speed
    weight = ball * GRAVITY * place * cos(angle)
    torque = _servo(x, u, p) - servo_damping * turning + weight - 2.0 * ball * place * speed * turning
    return speed, turning, along / rolling, torque / about


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], 0 at rest with a level beam. The servo's spring is its motor: it stores nothing."""
    place, angle, speed, turning = x
    rolling, about = _inertias(place, p)
    return 0.5 * (rolling * speed * speed + about * turning * turning) - p[0] * GRAVITY * place * sin(angle)


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the servo's motor and of the draught along the beam [W]."""
    return _servo(x, u, p) * x[3] + w[0] * x[2]


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: damping of the servo, rolling friction of the ball."""
    return p[4] * x[3] * x[3] + p[5] * x[2] * x[2]


def _case(
    name: str, target: float, initial: Numbers, seed: int, excitation: Any = _DRAUGHT, **more: Any
) -> dict[str, Any]:
    """A situation from a place and speed of the ball on a level beam to the target [m]."""
    return {
        "name": name, "reference": target, "initial": (initial[0], 0.0, initial[1], 0.0), "seed": seed,
        "excitation": excitation, "t_end": 20.0, **more,
    }  # fmt: skip


_SITUATIONS = {
    "taught": [
        _case("step", 0.2, (0.0, 0.0), 1),
        _case("to the middle", 0.0, (-0.25, 0.0), 2),
        _case("across", -0.15, (0.15, 0.0), 3),
        _case("stop", 0.1, (0.0, 0.2), 4),
    ],
    "validation": [
        _case("step back", -0.25, (0.05, 0.0), 6),
        _case("stop at the other side", 0.05, (-0.2, 0.15), 7),
    ],
    "unforeseen": [
        _case("far out", 0.3, (0.0, 0.0), 11),
        _case("far out, other side", -0.3, (0.1, -0.1), 12),
        _case("heavier ball, lighter beam", 0.2, (0.0, 0.0), 13, parameters={"ball": 0.065, "beam": 0.014}),
        _case("lighter ball, heavier beam", -0.2, (0.1, 0.0), 14, parameters={"ball": 0.035, "beam": 0.026}),
        _case("softer servo", 0.0, (0.3, 0.0), 15, parameters={"servo_stiffness": 7.0, "servo_damping": 0.56}),
        _case("strong draught", 0.15, (-0.1, 0.0), 16, _STRONG),
        _case("rocking support", -0.1, (0.0, 0.0), 17, _ROCKING),
        _case("other draught", 0.1, (0.2, 0.0), 18, UniformFilter(0.02, 10.0)),
    ],
}

BALL_AND_BEAM = register(
    Plant(
        name="ball_and_beam",
        step=0.002,
        states=(
            Quantity("place", "m", 0.05, -0.5, 0.5, "of the ball, from the pivot; it falls off the ends"),
            Quantity("angle", "rad", 0.0, -1.2, 1.2, "of the beam, positive down to positive places"),
            Quantity("speed", "m/s", 0.0, -20.0, 20.0, "rate of the place"),
            Quantity("turning", "rad/s", 0.0, -100.0, 100.0, "rate of the angle"),
        ),
        parameters=(
            Quantity("ball", "kg", 0.05, 1e-3, 10.0, "M: mass of the solid ball"),
            Quantity("radius", "m", 0.01, 1e-3, 0.1, "of the ball"),
            Quantity("beam", "kg m^2", 0.02, 1e-4, 10.0, "moment of inertia of the beam"),
            Quantity("servo_stiffness", "N m/rad", 10.0, 0.1, 1000.0, "k"),
            Quantity("servo_damping", "N m s", 0.8, 0.0, 100.0, "d"),
            Quantity("friction", "N s/m", 0.01, 0.0, 10.0, "of the rolling ball"),
        ),
        inputs=(Quantity("angle_command", "rad", 0.0, -0.5, 0.5, "commanded angle of the beam"),),
        disturbances=(Quantity("draught", "N", 0.01, text="force on the ball along the beam; its usual size"),),
        channels=(
            Channel(
                output="place", rate="speed", scale=0.2, low=-0.3, high=0.3, collocated=False,
                gains_high=(2.0, 0.5, 1.2),
            ),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        task=ControlTask(
            operating_points=tuple(OperatingPoint(f"place {r:g}", (r, 0.0, 0.0, 0.0)) for r in (0.0, 0.15, 0.3, -0.3)),
            situations=_SITUATIONS,
            ranges=OperatingRanges(
                parameters={
                    "ball": (0.035, 0.065), "beam": (0.014, 0.026), "servo_stiffness": (7.0, 13.0),
                    "servo_damping": (0.56, 1.04), "friction": (0.007, 0.013),
                },
                initial={"place": (-0.25, 0.3), "speed": (-0.1, 0.2)},
                reference={"place": (-0.3, 0.3)},
                excitation={"draught": (0.0, 0.02)},
                noise={"place": (0.0, 4e-3)},
                delay=(0.0, 8e-3),
                authority=(0.7, 1.0),
            ),
        ),
        text="Ball on a beam with an angle servo; Hauser, Sastry, Kokotovic (1992).",
    )
)  # fmt: skip
