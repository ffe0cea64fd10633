"""The balancing vehicle over a bump under both laws of the gaps: forces, gaps and energy of every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import plants
from benchmarks import vehicle_runs
from benchmarks.timing import Timing, alternate
from plants.balancing_vehicle import BALANCING_VEHICLE, BALANCING_VEHICLE_RIGID, NOMINAL_GAINS, STUDY, standing
from plants.balancing_vehicle.loads import END, MEAN, under
from plants.balancing_vehicle.parameters import Numbers
from plants.balancing_vehicle.stepping import PASSES, pushes
from plants.balancing_vehicle.wheels import dynamics, gaps_of
from plants.contact.mean_gap import RATIO
from plants.core.kernel import LANES

if TYPE_CHECKING:
    from benchmarks.size import Size

SPEED, HEIGHT, LENGTH, BEGIN = 2.0, 0.04, 0.2, 0.5  # m/s, m
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)  # s
BUMP = STUDY | {
    "mu_s": 0.8, "mu_k": 0.6, "c_b": 0.0, "bump_L": HEIGHT, "bump_R": HEIGHT, "bump_x": BEGIN, "bump_length": LENGTH,
}  # fmt: skip
PLANTS = {MEAN: BALANCING_VEHICLE, END: BALANCING_VEHICLE_RIGID}
_STILL, _DRY = (0.0, 0.0), (1.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Course:
    """A run without torques over the bump, step by step.

    Attributes
    ----------
    time, gap, energy, staggered : array [n + 1]
        Of the left wheel [m]; energy as it is recorded, and with heights half a step back [J].
    load : array [n]
        That the step from each instant on applies [N].
    """

    time: np.ndarray
    gap: np.ndarray
    energy: np.ndarray
    staggered: np.ndarray
    load: np.ndarray

    @property
    def open(self) -> float:
        """Largest gap at the end of a step with a force [m]."""
        return float(self.gap[1:][self.load > 0.0].max())

    @property
    def deepest(self) -> float:
        """Largest penetration [m]."""
        return float(max(-self.gap.min(), 0.0))


def course(law: str, h: float, t_end: float = 0.7) -> Course:
    """Roll over the bump with steps `h` [s], gaps averaged over five of them where they are."""
    p = BUMP | {"averaging": RATIO * h}
    start = list(standing(0.0, STUDY))
    start[8], start[14], start[15] = SPEED, SPEED / STUDY["r"], SPEED / STUDY["r"]
    run = plants.simulate(PLANTS[law], t_end, h, initial=tuple(start), parameters=p)
    named = Numbers(**p)
    states = [tuple(x) for x in run.states]
    find = under(law, lambda x: pushes(dynamics(x, _STILL, _DRY, named), x, named, h, PASSES).forces[0])
    back = [(*(q - 0.5 * h * v for q, v in zip(x[:8], x[8:16], strict=True)), *x[8:]) for x in states]
    return Course(
        run.time, np.array([gaps_of(x, named)[0] for x in states]), _energy(states, named), _energy(back, named),
        np.array([find(x) for x in states[:-1]]),
    )  # fmt: skip


def _energy(states: list[tuple[float, ...]], named: Numbers) -> np.ndarray:
    return np.array([BALANCING_VEHICLE.energy(0.0, x, _STILL, _DRY, tuple(named)) for x in states])


def courses(steps: tuple[float, ...] = STEPS) -> dict[tuple[str, float], Course]:
    """Return the run of each law with each step."""
    return {(law, h): course(law, h) for law in PLANTS for h in steps}


def times(size: Size) -> dict[tuple[str, int], Timing]:
    """Time of one step and rollout in closed loop [s] by law and lanes, one thread."""
    theta = np.tile(NOMINAL_GAINS, (LANES, 1))
    loops = {(law, n): vehicle_runs.loop(plant, "rk4", n) for law, plant in PLANTS.items() for n in (LANES, 1)}
    calls = {f"{law} {n}": lambda it=it: it.evaluate(theta, 1) for (law, n), it in loops.items()}
    found = alternate(calls, max(2, size.rounds // 4))
    return {(law, n): found[f"{law} {n}"].per(LANES * vehicle_runs.STEPS_OF_TAUGHT) for law, n in loops}
