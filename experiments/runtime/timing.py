"""Timing on a machine that others use as well: opponents alternate, every sample is kept, and ratios judge."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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


def clock(call: Callable[[], object], watch: Callable[[], float] = time.perf_counter) -> float:
    """Return the time of one call [s], by a watch; left out, the wall's."""
    start = watch()
    call()
    return watch() - start


def alternate(
    calls: Mapping[str, Callable[[], object]], rounds: int, watch: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """Time the opponents in turns A B A B ...; the first round, which compiles and warms up, does not count.

    By `watch`: `time.process_time` for opponents in one thread, where others work on the machine.
    """
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            elapsed = clock(call, watch)
            if number > 0:
                seconds[name].append(elapsed)
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def ratio(one: Timing, other: Timing) -> tuple[float, float]:
    """Return one / other: of the best times, and the median over the rounds (equal disturbances)."""
    rounds = [a / b for a, b in zip(one.seconds, other.seconds, strict=True)]
    return one.best / other.best, statistics.median(rounds)
