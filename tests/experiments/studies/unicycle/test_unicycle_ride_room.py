"""What fixed gains chosen for each ride could win, on robots whose regions are known."""

import math
from dataclasses import dataclass

import numpy as np

from experiments.studies.unicycle.pushes import Condition, Grid
from experiments.studies.unicycle.verdict import head_room

GRID = Grid(directions=24, largest=340.0, sizes=17)
RIDES = [Condition(1.0, 0.0, 0.4), Condition(2.0, 0.0, 0.4)]
COARSE = 340.0 * np.arange(1, 10) / 9.0  # N: half of the sizes


@dataclass
class Robot:
    """Stands in pushes up to 100 N times its only gain, or over it where it rides fast and `rides_differ`."""

    rides_differ: bool
    theta: tuple[float, ...] = (1.0,)

    def radius(self, speed: float, gain: np.ndarray) -> np.ndarray:
        """Return the largest push survived [N]."""
        return 100.0 * (1.0 / gain if self.rides_differ and speed > 1.5 else gain)

    def stood(self, situations, theta):
        """Return whether each gain [n] survives each situation [m, n]."""
        sizes = [math.hypot(*(s.excitation[k].parts[0].height if k in s.excitation else 0.0 for k in ("Fx", "Fy")))
                 for s in situations]  # fmt: skip
        return np.array(
            [
                size <= self.radius(one.initial[8] * 0.15, theta[:, 0])
                for size, one in zip(sizes, situations, strict=True)
            ]
        )


def area(radius):
    """Region of a disc on the coarse grid."""
    return math.pi * max([0.0, *(size for size in COARSE if size <= radius)]) ** 2


def tried():
    """Return the gains that are tried [96]: the robot's own, and others around it."""
    others = np.exp(0.7 * np.random.default_rng(0).standard_normal((96, 1)))[1:, 0]
    return np.array([1.0, *others])


def test_rides_that_ask_for_the_same_gains_leave_no_room():
    """The largest of the 96 gains is the best for all, and for each."""
    same, each = head_room(Robot(rides_differ=False), RIDES, GRID)
    assert same == each
    assert math.isclose(same, area(100.0 * tried().max()), rel_tol=1e-12)


def test_rides_that_ask_for_other_gains_leave_what_each_would_win():
    same, each = head_room(Robot(rides_differ=True), RIDES, GRID)
    pairs = [(area(100.0 * gain), area(100.0 / gain)) for gain in tried()]
    assert math.isclose(same, max(sum(pair) / 2.0 for pair in pairs), rel_tol=1e-12)
    assert math.isclose(each, sum(max(one) for one in zip(*pairs, strict=True)) / 2.0, rel_tol=1e-12)
    assert each > 1.2 * same
