"""A quadrotor in a vertical plane: two rotor forces, three controlled outputs.

m x'' = T sin a + drag,  m z'' = T cos a - m g + drag,  J a'' = l (F_l - F_r) - c_a a', with the thrust T = F_l + F_r
along the body's axis and a pitch a that is positive towards positive x. Rotor drag is linear in the speed through the
air, whose own speed is the disturbance.

Channels: height commands thrust beside the one that carries the nominal mass, pitch and position command the moment
together (to fly to positive x, pitch to positive x first), each with its own part of it. So all channels are direct.

Source: R. Mahony, V. Kumar, P. Corke, Multirotor aerial vehicles: modeling, estimation, and control of quadrotor,
IEEE Robotics and Automation Magazine 19 (2012) 20-32 (model, rotor drag), in the plane.
"""

from __future__ import annotations

from typing import Any

from plants.core.elementary import clip, cos, sin
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Sine, Step, UniformFilter, WhiteNoise

Numbers = tuple[Any, ...]
GRAVITY = 9.81  # m/s^2
MASS, ARM = 1.0, 0.2  # nominal [kg], [m]: what the allocation counts on, also where the plant differs
ROTOR = 10.0  # largest force of a rotor [N]; rotors only push

_GUSTS = {"wind": WhiteNoise(0.25, hold=0.2), "updraught": WhiteNoise(0.04, hold=0.2)}  # m^2/s^2
_STRONG = {"wind": WhiteNoise(1.0, hold=0.2), "updraught": WhiteNoise(0.16, hold=0.2)}
_FRONT = {"wind": Step(2.0, at=4.0) + WhiteNoise(0.25, hold=0.2), "updraught": WhiteNoise(0.04, hold=0.2)}
_WAVES = {"wind": Sine(1.0, 0.3) + UniformFilter(0.5, 5.0), "updraught": UniformFilter(0.5, 5.0)}


def _air(x: Numbers, w: Numbers) -> tuple[Any, Any]:
    """Speed of the air past the vehicle, along x and z [m/s]."""
    _x, _z, _pitch, along, up, _turning = x
    wind, updraught = w
    return wind - along, updraught - up


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of position x, height z [m], pitch [rad] and their speeds."""
    mass, inertia, arm, drag, turning_drag = p
    _x, _z, pitch, x_rate, z_rate, turning = x
    (along, up), (left, right) = _air(x, w), u
    thrust = left + right
    moment = arm * (left - right) - turning_drag * turning
    return (
        x_rate,
        z_rate,
        turning,
        (thrust * sin(pitch) + drag * along) / mass,
        (thrust * cos(pitch) + drag * up) / mass - GRAVITY,
        moment / inertia,
    )


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J], 0 at rest on height 0."""
    mass, inertia, *_ = p
    _x, z, _pitch, x_rate, z_rate, turning = x
    return 0.5 * (mass * (x_rate * x_rate + z_rate * z_rate) + inertia * turning * turning) + mass * GRAVITY * z


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the rotors on the body, and of the wind, which pushes with the drag at its own speed [W]."""
    _mass, _inertia, arm, drag, _turning_drag = p
    _x, _z, pitch, x_rate, z_rate, turning = x
    (along, up), (left, right), (wind, updraught) = _air(x, w), u, w
    rotors = (left + right) * (x_rate * sin(pitch) + z_rate * cos(pitch)) + arm * (left - right) * turning
    return rotors + drag * (along * wind + up * updraught)


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: drag times speed through the air, and drag of turning."""
    *_, drag, turning_drag = p
    *_, turning = x
    along, up = _air(x, w)
    return drag * (along * along + up * up) + turning_drag * turning * turning


def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Forces of the left and the right rotor [N] from thrust [N] and two moments [N m]."""
    height, pitch, position = commands
    half, difference = 0.5 * (MASS * GRAVITY + height), (pitch + position) / (2.0 * ARM)
    return clip(half + difference, 0.0, ROTOR), clip(half - difference, 0.0, ROTOR)


def _case(name: str, place: Numbers, start: Numbers, seed: int, excitation: Any = None, **more: Any) -> dict[str, Any]:
    """A situation from position, height and pitch at rest to a place (position, height)."""
    return {
        "name": name, "reference": {"position": place[0], "height": place[1]}, "initial": (*start, 0.0, 0.0, 0.0),
        "seed": seed, "excitation": excitation or _GUSTS, "t_end": 10.0, **more,
    }  # fmt: skip


_SITUATIONS = {
    "taught": [
        _case("climb", (0.0, 1.5), (0.0, 0.0, 0.0), 1),
        _case("fly aside", (1.5, 0.0), (0.0, 0.0, 0.0), 2),
        _case("return", (0.0, 0.0), (-1.0, 1.0, 0.3), 3),
        _case("descend aside", (-1.0, -1.0), (0.5, 0.5, -0.2), 4),
    ],
    "validation": [
        _case("climb aside", (1.0, 1.0), (0.0, 0.0, 0.0), 6),
        _case("upset", (0.0, 0.0), (0.0, 0.0, -0.5), 7),
    ],
    "unforeseen": [
        _case("far aside", (-2.5, 0.5), (0.0, 0.0, 0.0), 11),
        _case("strong gusts", (1.0, -1.0), (0.0, 0.0, 0.2), 12, _STRONG),
        _case("loaded", (1.0, 0.5), (0.0, 0.0, 0.0), 13, parameters={"mass": 1.3, "inertia": 0.0195}),
        _case("light", (-1.0, 1.0), (0.0, 0.0, 0.0), 14, parameters={"mass": 0.7, "inertia": 0.0105}),
        _case("weather front", (0.0, 1.0), (0.0, 0.0, 0.0), 15, _FRONT),
        _case("waves", (0.5, 0.0), (-0.5, 0.0, 0.0), 16, _WAVES),
        _case("great upset", (0.0, 0.0), (0.0, 1.0, 0.8), 17),
    ],
}

PLANAR_QUADROTOR = register(
    Plant(
        name="planar_quadrotor",
        states=(
            Quantity("position", "m", 0.0, -20.0, 20.0, "x, along the ground"),
            Quantity("height", "m", 0.0, -20.0, 20.0, "z, upwards from where it begins"),
            Quantity("pitch", "rad", 0.0, -1.5, 1.5, "positive towards positive x; beyond a quarter turn it falls"),
            Quantity("speed", "m/s", 0.0, -50.0, 50.0, "rate of the position"),
            Quantity("climb", "m/s", 0.0, -50.0, 50.0, "rate of the height"),
            Quantity("turning", "rad/s", 0.0, -100.0, 100.0, "rate of the pitch"),
        ),
        parameters=(
            Quantity("mass", "kg", MASS, 1e-2, 100.0),
            Quantity("inertia", "kg m^2", 0.015, 1e-5, 10.0, "J, about the pitch axis"),
            Quantity("arm", "m", ARM, 1e-2, 5.0, "l, from the middle to a rotor"),
            Quantity("drag", "N s/m", 0.25, 0.0, 10.0, "of the rotors, linear in the speed through the air"),
            Quantity("turning_drag", "N m s", 0.005, 0.0, 1.0, "of pitching"),
        ),
        inputs=(
            Quantity("left", "N", 0.5 * MASS * GRAVITY, 0.0, ROTOR, "force of the rotor at negative x"),
            Quantity("right", "N", 0.5 * MASS * GRAVITY, 0.0, ROTOR, "force of the rotor at positive x"),
        ),
        disturbances=(
            Quantity("wind", "m/s", 0.5, text="speed of the air along x; its usual size"),
            Quantity("updraught", "m/s", 0.2, text="speed of the air along z; its usual size"),
        ),
        channels=(
            Channel(output="height", rate="climb", scale=1.0, low=-5.0, high=6.0, gains_high=(40.0, 20.0, 20.0)),
            # No integral action on the pitch: in wind it has to lean, and its integral would fight the position's.
            Channel(
                output="pitch", rate="turning", scale=0.3, low=-1.0, high=1.0,
                gains_high=(2.0, 0.0, 0.4),
            ),
            Channel(
                output="position", rate="speed", scale=1.0, low=-0.4, high=0.4, collocated=False,
                gains_high=(0.4, 0.1, 0.5),
            ),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=allocate,
        # In hover in still air all commands are 0, at every place: the linear plant is the same at all references.
        task=ControlTask(
            operating_points=(OperatingPoint("hover", (0.0,) * 6),),
            situations=_SITUATIONS,
            ranges=OperatingRanges(  # payloads, rotors
                parameters={
                    "mass": (0.7, 1.3), "inertia": (0.0105, 0.0195), "drag": (0.17, 0.33),
                    "turning_drag": (3.5e-3, 6.5e-3),
                },
                initial={"position": (-1.0, 0.5), "height": (0.0, 1.0), "pitch": (-0.5, 0.8)},
                reference={"height": (-1.0, 1.5), "position": (-2.5, 1.5)},
                load={"wind": (0.0, 2.0)},
                excitation={"wind": (0.0, 1.0), "updraught": (0.0, 0.4)},
                noise={"height": (0.0, 0.02), "pitch": (0.0, 6e-3), "position": (0.0, 0.02)},
                delay=(0.0, 0.04),
            ),
        ),
        text="Quadrotor in a vertical plane with rotor drag and wind; Mahony, Kumar, Corke (2012).",
    )
)  # fmt: skip
