"""How much is run, and how it is timed on a machine that others use as well.

Opponents alternate, every sample is kept, and ratios judge. `Size` says how many rollouts and repetitions.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Size:
    """Numbers of rollouts and repetitions.

    Attributes
    ----------
    candidates, steps : of the call with all candidates
    repeats : of measurements that take seconds
    slice : candidates in one slice of an alternating measurement: short enough to fall between two disturbances
    rounds : of an alternating measurement
    plants : of those registered, from the first, whose start is timed
    horizon, evaluations : of a whole design: length of its taught situations [s], budget of every candidate
    """

    candidates: int = 1_000_000
    steps: int = 1_000
    repeats: int = 3
    slice: int = 3_200
    rounds: int = 80
    plants: int = 1_000
    horizon: float = 1_100.0
    evaluations: int = 1_500


FULL = Size()
QUICK = Size(candidates=4_000, steps=100, repeats=1, slice=320, rounds=4, plants=1, horizon=20.0, evaluations=100)


@dataclass(frozen=True)
class Timing:
    """Times [s] of one opponent, one a round."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """Shortest time [s]: the one that others disturbed least."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """Median time [s]."""
        return statistics.median(self.seconds)

    def per(self, count: float) -> Timing:
        """Return the times for one of `count` equal parts."""
        return Timing(tuple(s / count for s in self.seconds))


def clock(call: Callable[[], object]) -> float:
    """Return the wall time of one call [s]."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternate(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Time the opponents in turns A B A B ...; the first round, which compiles and warms up, does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            elapsed = clock(call)
            if number > 0:
                seconds[name].append(elapsed)
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def ratio(one: Timing, other: Timing) -> tuple[float, float]:
    """Return one / other: of the best times, and the median over the rounds (equal disturbances)."""
    rounds = [a / b for a, b in zip(one.seconds, other.seconds, strict=True)]
    return one.best / other.best, statistics.median(rounds)
