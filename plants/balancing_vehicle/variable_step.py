"""The reference path: one run at a time in plain numbers, with a step and an averaging time that adapt to the contact.

The step is a control period divided by 2^k, the averaging time five steps. After every period k grows where a gap was
open or pressed by more than a micrometre, and falls where both wheels rested. On flat ground it does not matter at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.balancing_vehicle.loads import MEAN, under
from plants.balancing_vehicle.parameters import BALANCER, Numbers
from plants.balancing_vehicle.stepping import PASSES, stepped
from plants.balancing_vehicle.wheels import gaps_of
from plants.contact.mean_gap import RATIO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

SMALL = 1e-6  # m: a gap above it, or pressed deeper, asks for shorter steps


@dataclass(frozen=True)
class Run:
    """A run at the control periods.

    Attributes
    ----------
    time : array [n + 1]
    states : array [n + 1, 20]
    gaps : array [n, 2]
        Largest gaps of each period by magnitude, left and right [m].
    halvings : array of int [n]
        k of each period.
    steps : int
        Steps that were taken.
    """

    time: NDArray[np.float64]
    states: NDArray[np.float64]
    gaps: NDArray[np.float64]
    halvings: NDArray[np.int64]
    steps: int


def run(
    t_end: float,
    period: float,
    initial: tuple[float, ...],
    torques: Callable[[float, tuple[float, ...]], tuple[float, float]],
    *,
    parameters: Mapping[str, float] = BALANCER,
    disturbances: tuple[float, ...] = (1.0, 1.0, 0.0, 0.0),
    halvings: tuple[int, int] = (0, 4),
    passes: int = PASSES,
    law: str = MEAN,
) -> Run:
    """Simulate with torques that are held over each control period.

    Parameters
    ----------
    t_end, period : float
        Length of the run and control period [s].
    torques : callable
        ``(t, x)`` to the two torques [N m].
    parameters : mapping
        All parameters by name; `averaging` is replaced.
    halvings : (int, int)
        Least and largest k; the same twice for a fixed step.
    law : str
        Of the gaps: "mean" or "end" (:mod:`plants.balancing_vehicle.loads`).

    Raises
    ------
    ValueError
        Where the run is shorter than a period, the range of k is empty, or there is no such law.
    """
    count = round(t_end / period)
    if count < 1 or not 0 <= halvings[0] <= halvings[1]:
        raise ValueError(f"t_end must be at least one period and halvings 0 <= low <= high, got {t_end}, {halvings}")
    step, x, k, steps = under(law, stepped), tuple(initial), halvings[0], 0
    states, gaps, chosen = [x], [], []
    for n in range(count):
        u, h = torques(n * period, x), period / 2**k
        p = Numbers(**{**parameters, "averaging": RATIO * h})
        widest = (0.0, 0.0)
        for _ in range(2**k):
            x = step(x, u, disturbances, p, h, passes)
            left, right = gaps_of(x, p)
            widest = (max(widest[0], left, key=abs), max(widest[1], right, key=abs))
        steps += 2**k
        states.append(x)
        gaps.append(widest)
        chosen.append(k)
        k = min(k + 1, halvings[1]) if max(map(abs, widest)) > SMALL else max(k - 1, halvings[0])
    return Run(
        period * np.arange(count + 1, dtype=np.float64), np.array(states), np.array(gaps), np.array(chosen), steps
    )
