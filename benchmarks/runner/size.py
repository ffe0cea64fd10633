"""How much a benchmark runs: numbers of rollouts and repetitions, in full and quick."""

from __future__ import annotations

from dataclasses import dataclass


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
