"""Pushes that a unicycle survives: unforeseen situations drawn at random, and the largest push by direction.

The region of survived pushes is star-shaped by definition: along each direction it ends at the least size, on a grid,
at which the robot falls, refined by bisection; beyond, a larger push that is survived by luck counts nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from plants.excitation.draws import Draws
from plants.unicycle import BETA0
from plants.unicycle.signals import K5
from plants.unicycle.tasks import NOISE, frictions, heavy, held, push, slope, start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Survives = Callable[[Sequence[sscq.Situation]], NDArray[np.bool_]]

_CRANK = 3  # place of the wheel's angle in the state


@dataclass(frozen=True)
class Push:
    """A horizontal push: size [N], direction [rad] (0 forward, positive to the left), height above the axle [m]."""

    size: float
    direction: float
    height: float
    at: float
    lasting: float

    def signals(self) -> dict[str, Any]:
        """Return what it excites."""
        ahead, left = self.size * math.cos(self.direction), self.size * math.sin(self.direction)
        return push(ahead, left, at=self.at, lasting=self.lasting, height=self.height)


def drawn(
    ranges: Mapping[str, Sequence[float]], number: int, seed: int, *, balanced: bool = False
) -> list[sscq.Situation]:
    """Return situations drawn at random, uniformly from ranges; all that can change does in each of them.

    Parameters
    ----------
    ranges : mapping of name to (low, high)
        `speed` [m/s], `roll` and `pitch` at the start [rad], crank `phase` [rad], `size` [N], `direction` [rad],
        `height` [m], `at` and `lasting` [s] of the push, `slope` forward and to the left, `rider`, `yaw` and `joints`
        (multiples of the body's mass, of the tyre's and the bearings' friction), `noise` (multiple of the sensors'),
        `delay` of the commands [s].
    number : int
    seed : int
    """
    draws, several = Draws(seed), {**ranges, "slope_left": ranges["slope"]}  # the ground has two slopes
    return [_one(draws.values(several), f"drawn {seed}-{k}", k, balanced=balanced) for k in range(number)]


def _one(v: Mapping[str, float], name: str, seed: int, *, balanced: bool) -> sscq.Situation:
    pushed = Push(v["size"], v["direction"], v["height"], v["at"], v["lasting"])
    return sscq.Situation(
        name=name, seed=seed, t_end=HORIZON, initial=_begun(v["speed"], v["phase"], v["roll"], v["pitch"]),
        reference=reference(v["speed"], balanced=balanced),
        excitation={**pushed.signals(), **slope(v["slope"], v["slope_left"])},
        parameters={**heavy(v["rider"]), **frictions(v["yaw"], v["joints"])},
        noise={sensor: v["noise"] * deviation for sensor, deviation in NOISE.items()}, delay=v["delay"],
    )  # fmt: skip


HORIZON = 8.0  # s


def reference(speed: float, *, balanced: bool = False) -> dict[str, float]:
    """Return the references that hold a speed [m/s]; `balanced` where it has a channel of its own."""
    return held(speed) if balanced else {"lean": BETA0 + K5 * speed, "roll": 0.0}


def _begun(speed: float, phase: float, roll: float = 0.0, pitch: float = 0.0) -> tuple[float, ...]:
    state = list(start(speed, roll, pitch))
    state[_CRANK] = phase
    return tuple(state)


@dataclass(frozen=True)
class PushGrid:
    """Where and how finely the region of survived pushes is measured.

    Attributes
    ----------
    directions : int
        Evenly around.
    largest : float
        Where the search for a fall ends [N].
    sizes : int
        Of the grid from 0 to `largest`.
    halvings : int
        Of the interval in which it falls first.
    at, lasting, t_end : float
        Of the push, and horizon [s].
    """

    directions: int = 24
    largest: float = 340.0
    sizes: int = 17
    halvings: int = 2
    at: float = 0.5
    lasting: float = 0.5
    t_end: float = 6.0

    @property
    def resolution(self) -> float:
        """What the bisection leaves open [N]."""
        return self.largest / self.sizes / 2.0**self.halvings

    @property
    def angles(self) -> Array:
        """Directions [rad]."""
        return 2.0 * math.pi * np.arange(self.directions) / self.directions

    @property
    def steps(self) -> Array:
        """Sizes of the grid [N]."""
        return self.largest * np.arange(1, self.sizes + 1) / self.sizes


@dataclass(frozen=True)
class Condition:
    """A ride without any other disturbance: speed [m/s], crank angle [rad], height of the push above the axle [m].

    `balanced` where the speed has a channel of its own.
    """

    speed: float
    phase: float
    height: float
    balanced: bool = False

    def situation(self, size: float, direction: float, grid: PushGrid) -> sscq.Situation:
        """Return the ride with one push."""
        pushed = Push(size, direction, self.height, grid.at, grid.lasting)
        return sscq.Situation(
            name="pushed", t_end=grid.t_end, initial=_begun(self.speed, self.phase),
            reference=reference(self.speed, balanced=self.balanced),
            excitation=pushed.signals(),
        )  # fmt: skip


def conditions(ranges: Mapping[str, Sequence[float]], number: int, seed: int) -> list[Condition]:
    """Return rides: speeds spread evenly over their range, crank angles and heights drawn."""
    draws = Draws(seed)
    low, high = ranges["speed"]
    speeds = low + (high - low) * (np.arange(number) + 0.5) / number
    return [Condition(float(v), draws.between(ranges["phase"]), draws.between(ranges["height"])) for v in speeds]


def largest_pushes(survives: Survives, rides: Sequence[Condition], grid: PushGrid) -> Array:
    """Return the largest push survived [ride, direction], N.

    Parameters
    ----------
    survives : callable
        Situations to whether each is survived.
    rides : sequence of Condition
    grid : PushGrid
    """
    shape, steps = (len(rides), grid.directions), grid.steps
    places = [(i, j, s) for i in range(len(rides)) for j in range(grid.directions) for s in steps]
    stood = _asked(survives, rides, grid, places).reshape(*shape, len(steps))
    first = np.where(stood.all(axis=2), len(steps), stood.argmin(axis=2))
    upright = np.concatenate([[0.0], steps])[first]
    fell = np.where(first < len(steps), np.concatenate([steps, [grid.largest]])[first], grid.largest)
    for _ in range(grid.halvings):
        middle = 0.5 * (upright + fell)
        stands = _asked(
            survives, rides, grid, [(i, j, middle[i, j]) for i in range(shape[0]) for j in range(shape[1])]
        ).reshape(shape)
        upright, fell = np.where(stands, middle, upright), np.where(stands, fell, middle)
    return np.asarray(upright)


def _asked(
    survives: Survives, rides: Sequence[Condition], grid: PushGrid, places: Sequence[tuple[int, int, float]]
) -> NDArray[np.bool_]:
    angles = grid.angles
    return survives([rides[i].situation(float(size), float(angles[j]), grid) for i, j, size in places])


def areas(sizes: Array, largest: float = math.inf) -> Array:
    """Return the areas of star-shaped regions [...], N^2, of radii [..., direction] that count up to `largest`."""
    return np.asarray(math.pi * np.mean(np.minimum(sizes, largest) ** 2, axis=-1))
