"""A quarter of a car: body, wheel, spring, damper and tyre on a rough road, with an active force beside the spring.

Heights are measured from rest on a level road. The road's height is a state: its rate is the disturbance (vertical
speed of the road under the wheel) less a slow return to level, road' = w - corner * road, so that white noise w makes
the usual spectrum of roads, 1 / frequency^2 above the corner, and the tyre's spring stores energy of states alone.

The command is the force between body and wheel. Its task is to hold the body's height and to level it on demand.

Source: R. Rajamani, Vehicle Dynamics and Control (Springer, 2nd ed. 2012), chapter 10 (quarter car, active suspension);
values of a usual passenger car. The tyre is linear: the model holds while the wheel keeps to the road, as it does in
the situations here.
"""

from __future__ import annotations

from typing import Any

from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import GaussianFilter, Sine, UniformFilter, WhiteNoise
from plants.measures import peak, rms
from plants.ride import weighted_rms

Numbers = tuple[Any, ...]

_GRAVITY = 9.81  # m/s^2
_ROAD = WhiteNoise(0.01, hold=0.02)  # m^2/s^2
_ROUGH = WhiteNoise(0.04, hold=0.02)
_WAVES = Sine(0.1, 1.2) + WhiteNoise(0.01, hold=0.02)  # near the body's own frequency
_HUMPS = UniformFilter(0.25, 20.0)
_SMOOTHED = GaussianFilter(0.02, 10.0)


def _strut(x: Numbers, p: Numbers) -> Any:
    """Force of spring and damper, which draws the body to the wheel [N]."""
    body, wheel, _road, body_speed, wheel_speed = x
    _, _, spring, damper, *_ = p
    return spring * (body - wheel) + damper * (body_speed - wheel_speed)


def _tyre(x: Numbers, w: Numbers, p: Numbers) -> tuple[Any, Any]:
    """Force of the tyre, which draws the wheel to the road [N], and its rate of deflection [m/s]."""
    _body, wheel, road, _body_speed, wheel_speed = x
    _, _, _, _, tyre_spring, tyre_damper, _ = p
    rate = wheel_speed - _road_speed(x, w, p)
    return tyre_spring * (wheel - road) + tyre_damper * rate, rate


def _road_speed(x: Numbers, w: Numbers, p: Numbers) -> Any:
    """Vertical speed of the road under the wheel [m/s]."""
    _, _, road, _, _ = x
    (road_rate,), road_corner = w, p[-1]
    return road_rate - road_corner * road


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of the heights of body, wheel and road [m], and of the speeds of body and wheel [m/s]."""
    _, _, _, body_speed, wheel_speed = x
    (actuator,), (sprung, unsprung, *_) = u, p
    strut, (tyre, _rate) = _strut(x, p), _tyre(x, w, p)
    accelerations = (actuator - strut) / sprung, (strut - actuator - tyre) / unsprung
    return body_speed, wheel_speed, _road_speed(x, w, p), *accelerations


def energy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Stored energy [J] of both masses, spring and tyre; weights and static deflections cancel."""
    body, wheel, road, body_speed, wheel_speed = x
    sprung, unsprung, spring, _, tyre_spring, *_ = p
    travel, deflection = body - wheel, wheel - road
    springs = spring * travel * travel + tyre_spring * deflection * deflection
    return 0.5 * (sprung * body_speed * body_speed + unsprung * wheel_speed * wheel_speed + springs)


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Power of the actuator between body and wheel, and of the road at the tyre [W]."""
    _, _, _, body_speed, wheel_speed = x
    (actuator,), (tyre, _rate) = u, _tyre(x, w, p)
    return actuator * (body_speed - wheel_speed) - tyre * _road_speed(x, w, p)


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat of damper and tyre."""
    _, _, _, body_speed, wheel_speed = x
    _, _, _, damper, _, tyre_damper, _ = p
    travel_rate, (_tyre_force, rate) = body_speed - wheel_speed, _tyre(x, w, p)
    return damper * travel_rate * travel_rate + tyre_damper * rate * rate


def body_acceleration(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Vertical acceleration of the body [m/s^2]."""
    return (u[0] - _strut(x, p)) / p[0]


def tyre_load(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Force of the tyre on the road beyond its static one, over it: at -1 the wheel would leave the road."""
    return -_tyre(x, w, p)[0] / ((p[0] + p[1]) * _GRAVITY)


def suspension_travel(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Height of the body over that of the wheel, from rest [m]."""
    return x[0] - x[1]


_MEASURES = (
    weighted_rms("ride_comfort", body_acceleration, "Wk", text="vertical acceleration of the body as people feel it "
                 "(ISO 2631-1, Wk), root mean square"),
    rms("tyre_load_variation", "1", tyre_load, text="dynamic over static force of the tyre, root mean square: what "
        "there is less of holds the road better", scale=0.1),
    peak("stroke", "m", suspension_travel, text="largest travel of the suspension", scale=0.05),
)  # fmt: skip


def _case(name: str, target: float, start: float, seed: int, excitation: Any = _ROAD, **more: Any) -> dict[str, Any]:
    """A situation from a height of the body at rest to the target, in centimetres."""
    return {
        "name": name, "reference": 0.01 * target, "initial": {"body": 0.01 * start}, "seed": seed,
        "excitation": excitation, "t_end": 5.0, **more,
    }  # fmt: skip


_SITUATIONS = {
    "taught": [
        _case("hold", 0.0, 0.0, 1),
        _case("raise", 3.0, 0.0, 2),
        _case("lower", -2.0, 1.0, 3),
        _case("settle", 0.0, -4.0, 4),
    ],
    "validation": [
        _case("raise a little", 2.0, 0.5, 6),
        _case("lower far", -4.0, 0.0, 7),
    ],
    "unforeseen": [
        _case("raise far", 5.0, 0.0, 11),
        _case("loaded", 1.0, -3.0, 12, parameters={"body_mass": 364.0, "wheel_mass": 44.0}),
        _case("light and worn", -1.0, 2.0, 13, parameters={"body_mass": 196.0, "damping": 700.0}),
        _case("hard tyre and spring", 2.0, 0.0, 14, parameters={"tyre_stiffness": 208e3, "stiffness": 20.8e3}),
        _case("rough road", 0.0, 0.0, 15, _ROUGH),
        _case("waves", 0.0, 0.0, 16, _WAVES),
        _case("humps", -3.0, 0.0, 17, _HUMPS),
        _case("smooth road", 2.5, 1.0, 18, _SMOOTHED),
    ],
}

QUARTER_CAR = register(
    Plant(
        name="quarter_car",
        step=0.001,
        states=(
            Quantity("body", "m", 0.0, -0.5, 0.5, "height of the body"),
            Quantity("wheel", "m", 0.0, -0.5, 0.5, "height of the wheel"),
            Quantity("road", "m", 0.0, -0.5, 0.5, "height of the road under the wheel"),
            Quantity("body_speed", "m/s", 0.0, -20.0, 20.0, "rate of the body's height"),
            Quantity("wheel_speed", "m/s", 0.0, -50.0, 50.0, "rate of the wheel's height"),
        ),
        parameters=(
            Quantity("body_mass", "kg", 280.0, 1.0, 1e4, "a quarter of the body"),
            Quantity("wheel_mass", "kg", 34.0, 0.1, 1e3, "wheel and carrier"),
            Quantity("stiffness", "N/m", 16e3, 0.0, 1e6, "of the spring"),
            Quantity("damping", "N s/m", 1000.0, 0.0, 1e5, "of the damper"),
            Quantity("tyre_stiffness", "N/m", 160e3, 0.0, 1e7, "vertical, of the tyre"),
            Quantity("tyre_damping", "N s/m", 100.0, 0.0, 1e4, "vertical, of the tyre"),
            Quantity("road_corner", "1/s", 1.2, 0.0, 100.0, "speed of travel times 2 pi 0.01 / m: here 70 km/h"),
        ),
        inputs=(Quantity("force", "N", 0.0, text="upwards on the body, downwards on the wheel"),),
        disturbances=(Quantity("road_rate", "m/s", 0.1, text="vertical speed of the road; its usual size"),),
        channels=(
            Channel(
                output="body", rate="body_speed", scale=0.03, low=-3000.0, high=3000.0,
                gains_high=(400e3, 1.6e6, 20e3),
            ),
        ),
        derivative=derivative,
        energy=energy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        task=ControlTask(operating_points=tuple(
            # The force that carries the body higher by h stands on the tyre with nothing: only the spring stretches.
            OperatingPoint(f"height {h:g}", (h, 0.0, 0.0, 0.0, 0.0)) for h in (0.0, 0.05, -0.03)
        ), situations=_SITUATIONS, measures=_MEASURES, ranges=OperatingRanges(  # loads, wear, speeds of travel
            parameters={
                "body_mass": (200.0, 360.0), "wheel_mass": (34.0, 44.0), "stiffness": (16e3, 20.8e3),
                "damping": (700.0, 1000.0), "tyre_stiffness": (160e3, 208e3), "tyre_damping": (70.0, 130.0),
                "road_corner": (0.85, 1.55),
            },
            initial={"body": (-0.04, 0.02)},
            reference={"body": (-0.04, 0.05)},
            excitation={"road_rate": (0.0, 0.2)},
            noise={"body": (0.0, 6e-4)},
            delay=(0.0, 4e-3),
            authority=(0.7, 1.0),
        )),
        text="Quarter car with active force, tyre and road; Rajamani, Vehicle Dynamics and Control, ch. 10.",
    )
)  # fmt: skip
