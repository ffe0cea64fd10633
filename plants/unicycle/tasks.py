"""The unicycle's control task: which pushes and grounds are taught, which are not foreseen.

Every run begins a little out of balance at a speed that is to be kept: with the pitch at which it balances asked for,
and where speed is held, with that speed asked for as well.

Pushes of all directions, sizes and heights: their falls tell the region of survived pushes. It ends, in each
direction, at the least push at which the robot falls. So small pushes count as much as large ones: sizes are even,
not areas; a robot that bears 300 N from behind may fall at 30 N, with the wheel nearly at rest. Directions, heights
and the wheel's angle at the start follow a sequence that fills their space evenly for any number of pushes: gains
must not lean on where the pedals are, nor on one lever arm.

Source: M. Roberts, The unreasonable effectiveness of quasirandom sequences (2018): multiples of powers of 1/g, where
g^4 = g + 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.quantities import OperatingRanges, around
from plants.excitation import Constant, PeakFilter, Step
from plants.unicycle.motion import BETA0
from plants.unicycle.parameters import NOMINAL, PARAMETERS
from plants.unicycle.signals import K5

if TYPE_CHECKING:
    from collections.abc import Mapping


LARGEST_PUSH = 600.0  # N: beyond what any gains survive from most sides
NUMBER_OF_PUSHES = 160  # at each speed
LOWEST_PUSH, HIGHEST_PUSH = 0.2, 0.6  # m above the axle
PUSH_AT, PUSH_HORIZON = 0.5, 5.0  # s: when a push begins, and when the robot must still stand
_GROWTH = 1.2207440846057596
_EVEN = tuple(_GROWTH**-power for power in (1, 2, 3))  # of direction, height, wheel's angle


@dataclass(frozen=True)
class PushOfDisc:
    """A push: size [N], where to [degrees] (0 forward, positive to the left), height above the axle [m].

    With it goes the wheel's angle at the start, `phase` [rad].
    """

    size: float
    degrees: float
    height: float
    phase: float

    @property
    def forward(self) -> float:
        """Its part forward [N]."""
        return round(self.size * math.cos(math.radians(self.degrees)), 6)

    @property
    def left(self) -> float:
        """Its part to the left [N]."""
        return round(self.size * math.sin(math.radians(self.degrees)), 6)


def pushes(turn: int = 0) -> list[PushOfDisc]:
    """Return all pushes of one speed from the smallest; other directions, heights and angles for each `turn`."""
    return [_push_of_disc(k, turn * NUMBER_OF_PUSHES + k) for k in range(NUMBER_OF_PUSHES)]


def _push_of_disc(rank: int, place: int) -> PushOfDisc:
    direction, height, phase = (place * step % 1.0 for step in _EVEN)
    return PushOfDisc(
        size=LARGEST_PUSH * (rank + 0.5) / NUMBER_OF_PUSHES,
        degrees=360.0 * direction,
        height=LOWEST_PUSH + (HIGHEST_PUSH - LOWEST_PUSH) * height,
        phase=2.0 * math.pi * phase,
    )


HORIZON = 10.0  # s
HANDS = 0.4  # m above the axle: where a push meets the body
_RADIUS = NOMINAL[1]
_NUMBERS = {q.name: q.nominal for q in PARAMETERS}
_NAMES = ("Fx", "Fy", "Fz")
NOISE = {
    "pitch": 0.003, "lean": 0.003, "roll": 0.003, "pitch_rate": 0.02, "roll_rate": 0.02, "yaw_rate": 0.02,
    "speed": 0.02, "table_rate": 0.02,
}  # fmt: skip
"""Standard deviations of a cheap inertial unit and of sensors at wheel and turntable [rad, rad/s, m/s]."""


def start(speed: float, roll: float = 0.0, forward: float = 0.0) -> tuple[float, ...]:
    """Return a state [12] at a speed [m/s], rolled and pitched [rad] away from where it balances."""
    return (0.0, roll, BETA0 + forward, 0.0, 0.0, 0.0, 0.0, 0.0, speed / _RADIUS, 0.0, 0.0, 0.0)


def turned(state: tuple[float, ...], phase: float) -> tuple[float, ...]:
    """Return a state whose wheel, and so the pedals, stand at another angle [rad]."""
    return (*state[:3], phase, *state[4:])


def push(
    forward: float = 0.0, left: float = 0.0, up: float = 0.0, *, at: float = 1.0, lasting: float = 0.1,
    height: float = HANDS,
) -> dict[str, Any]:  # fmt: skip
    """Return a push of given forces [N] from `at` for `lasting` [s] on the body's axis, `height` above the axle [m]."""
    forces = dict(zip(_NAMES, (forward, left, up), strict=True))
    signals: dict[str, Any] = {k: Step(f, at) + Step(-f, at + lasting) for k, f in forces.items() if f}
    return {**signals, "hF": Constant(height)}


def slope(forward: float = 0.0, left: float = 0.0) -> dict[str, Any]:
    """Return a ground that rises by given parts of the way forward and to the left."""
    return {name: Constant(value) for name, value in (("sx", forward), ("sy", left)) if value}


def rough(size: float, speed: float, length: float = 0.5) -> dict[str, Any]:
    """Return ground whose slope along and across the path is band-limited noise of the way travelled.

    Parameters
    ----------
    size : float
        Standard deviation of either slope.
    speed : float
        At which it is crossed [m/s]: the situation's; where the robot runs faster, the ground's waves run with it.
    length : float
        Wavelength of the spectrum's peak [m].
    """
    return {name: PeakFilter(size * size, speed / length, 0.5) for name in ("sx", "sy")}


def heavy(factor: float) -> dict[str, float]:
    """Return the parameters of a unicycle whose body (the rider) has a multiple of its mass and inertia."""
    return {name: factor * _NUMBERS[name] for name in ("MB", "IBx", "IBy", "IBz")}


def frictions(yaw: float = 1.0, joints: float = 1.0) -> dict[str, float]:
    """Return the parameters with multiples of the tyre's yaw friction and of all bearings' frictions."""
    names = ("Dg", "D1", "D2", "D3", "D4", "DTt")
    return {"Dcor": yaw * _NUMBERS["Dcor"], **{name: joints * _NUMBERS[name] for name in names}}


def _case(
    name: str, speed: float, seed: int, *, roll: float = 0.02, forward: float = 0.02,
    ground: Mapping[str, Any] | None = None, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    return {
        "name": name, "speed": speed, "seed": seed, "initial": start(speed, roll, forward), "t_end": HORIZON,
        "excitation": dict(ground or {}), **more,
    }  # fmt: skip


_CASES: dict[str, list[dict[str, Any]]] = {
    "taught": [
        _case("out of balance at 1.5 m/s", 1.5, 1, roll=0.05, forward=0.05),
        _case("out of balance at 2.5 m/s", 2.5, 2, roll=-0.05, forward=-0.03),
        _case("push from the right at 1.5 m/s", 1.5, 3, ground=push(left=20.0)),
        _case("push from behind at 2.5 m/s", 2.5, 4, ground=push(forward=20.0)),
    ],
    "validation": [
        _case("push from the left ahead at 2 m/s", 2.0, 8, ground=push(-15.0, -15.0)),
        _case("out of balance at 2 m/s", 2.0, 9, roll=0.07, forward=0.03),
    ],
    "unforeseen": [
        _case("strong push from the right", 1.5, 11, ground=push(left=60.0)),
        _case("strong push from behind", 2.0, 12, ground=push(forward=60.0)),
        _case("uphill", 1.5, 13, ground=slope(forward=0.03)),
        _case("slope to the side", 2.0, 14, ground=slope(left=0.03)),
        _case("rough ground", 1.5, 15, ground=rough(0.03, 1.5)),
        _case("heavy rider", 1.5, 16, ground=push(left=20.0), parameters=heavy(1.2)),
        _case("slippery ground", 2.0, 17, ground=push(left=20.0), parameters=frictions(yaw=0.7)),
        _case("stiff joints", 1.5, 18, ground=push(left=20.0), parameters=frictions(1.5, 3.0)),
        _case("noisy sensors", 1.5, 19, ground=push(left=20.0), noise=NOISE),
        _case("delay", 1.5, 20, ground=push(left=20.0), delay=0.01),
        _case("slow", 1.0, 21, ground=push(left=20.0)),
        _case("fast", 3.5, 22, ground=push(left=20.0)),
    ],
}


RANGES = OperatingRanges(
    parameters={
        "MB": (_NUMBERS["MB"], 1.2 * _NUMBERS["MB"]),
        **around(0.3, {name: _NUMBERS[name] for name in ("Dcor", "Dg", "D1", "D2", "D3", "D4", "DTt")}),
    },
    initial={
        "gamma": (-0.05, 0.05),
        "beta": (BETA0 - 0.03, BETA0 + 0.05),
        "theta_w_rate": (1.2 / _RADIUS, 2.5 / _RADIUS),
    },
    reference={"pitch": (BETA0, BETA0), "roll": (0.0, 0.0)},
    load={},
    excitation={},
    noise={"pitch": (0.0, NOISE["pitch"]), "roll": (0.0, NOISE["roll"])},
    delay=(0.0, 0.004),
    excitations_of=tuple(case["name"] for case in (*_CASES["taught"], *_CASES["validation"])),
)
"""Riders, tyres and bearings, starts, speeds; pushed as when it is taught or not at all."""


SLOW, FAST = 0.7, 2.0  # m/s, to be held where it is pushed hard
_LONG = 1.0  # s: what hard pushes last
_SIZES = {"slow": (40.0, 60.0, 80.0, 100.0), "fast": (80.0, 110.0, 140.0, 170.0)}  # N; 170 N are about the weight
_SHORTER: dict[str, Any] = {"t_end": 6.0}  # s


def _pushed(name: str, speed: float, seed: int, forward: float = 0.0, left: float = 0.0, **more: Any) -> dict[str, Any]:
    return _case(name, speed, seed, ground=push(forward, left, lasting=_LONG), **_SHORTER, **more)


def _hard(pace: str, speed: float, seed: int) -> list[dict[str, Any]]:
    """Pushes at one speed, in steps up to what fixed gains survive, and a start with the wheel rolling backwards."""
    sizes = _SIZES[pace]
    some = (
        *((size, "from ahead", (-1.0, 0.0)) for size in sizes), (sizes[2], "from the left ahead", (-0.87, -0.5)),
        (sizes[1], "from the right ahead", (-0.87, 0.5)), (sizes[2], "from the right", (0.0, 1.0)),
    )  # fmt: skip
    return [
        _case(f"out of balance, {pace}", speed, seed, roll=0.05, forward=0.05, **_SHORTER),
        _case(f"rolling backwards, {pace} to be", speed, seed, initial=start(-speed, 0.03), **_SHORTER),
        *(_pushed(f"push of {size:g} N {way}, {pace}", speed, seed, size * forward, size * left)
          for size, way, (forward, left) in some),
    ]  # fmt: skip


_HARD: dict[str, list[dict[str, Any]]] = {
    "taught": [*_hard("slow", SLOW, 31), *_hard("fast", FAST, 32)],
    "validation": [
        *(_pushed(f"push of {size:g} N from ahead", 1.2, 33, -size) for size in (70.0, 110.0)),
        _pushed("push from the right ahead", 1.2, 34, -70.0, 60.0),
        _pushed("push from the left", 1.2, 35, left=-100.0),
        _case("out of balance", 1.2, 36, roll=0.07, forward=0.03, **_SHORTER),
    ],
    "unforeseen": _CASES["unforeseen"],
}


def _all_around(turn: int, speed: float) -> list[dict[str, Any]]:
    return [
        _case(
            f"push of {one.size:.0f} N towards {one.degrees:.4g} degrees at {speed:g} m/s", speed, 41 + turn,
            ground=push(one.forward, one.left, at=PUSH_AT, lasting=_LONG, height=one.height), t_end=PUSH_HORIZON,
            initial=turned(start(speed, 0.02, 0.02), one.phase),
        )
        for one in pushes(turn)
    ]  # fmt: skip


SPEEDS, BETWEEN = (0.8, 2.4), 1.6  # m/s, at which pushes of all sizes are taught, and chosen by
_REGION: dict[str, list[dict[str, Any]]] = {
    "taught": [case for turn, speed in enumerate(SPEEDS) for case in _all_around(turn, speed)],
    "validation": _all_around(len(SPEEDS), BETWEEN),
    "unforeseen": _CASES["unforeseen"],
}


def situations(
    *, speed_hold: bool, hard: bool = False, balanced: bool = False, region: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Return the task with its references: the pitch at which it balances, or that and the speed held.

    With `hard`, pushes up to the edge of what fixed gains survive are taught, and wheels that roll backwards;
    `balanced` asks for pitch and speed; with `region`, pushes of all directions, sizes and heights are taught.
    """
    cases = _REGION if region else _HARD if hard else _CASES
    return {
        kind: [_referred(case, speed_hold=speed_hold, balanced=balanced) for case in several]
        for kind, several in cases.items()
    }


def held(speed: float) -> dict[str, float]:
    """Return the references that hold a speed [m/s] where it has a channel of its own."""
    return {"pitch": BETA0, "roll": 0.0, "speed": speed}


def _referred(case: dict[str, Any], *, speed_hold: bool, balanced: bool) -> dict[str, Any]:
    asked = {"lean": BETA0 + K5 * case["speed"]} if speed_hold else {"pitch": BETA0}
    return {
        **{k: v for k, v in case.items() if k != "speed"},
        "reference": held(case["speed"]) if balanced else {**asked, "roll": 0.0},
    }
