"""Draws from a density known up to a factor, without its slopes: populations of walkers that learn from each other.

A walker moves by the difference of two others (ter Braak, Statistics and Computing 16, 2006) or towards or away from
one other (Goodman and Weare, Comm. App. Math. Comp. Sci. 5, 2010). Those of one half learn from the other half, so that
all of a half can be tried side by side. Two populations from different draws tell whether both have found the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Density = Callable[[Array], Array]

WALKERS = 48
POPULATIONS = 2
DRAWS = 1500
FIRST_ROUNDS, ROUNDS = 150, 600
MEMBERS = 960
AGREE = 1.05
"""Largest ratio of spreads (R-hat) at which two populations have found the same."""

_REACH = 20.0  # of log density below the best: where walkers are set anew after the first rounds
_STRETCH, _STRETCHED = 2.0, 0.3  # its largest factor, and the share of such moves
_WHOLE = 0.1  # share of moves by a whole difference: from one mode to another
DOUBLINGS = 3
"""So often the rounds are doubled at most, where populations do not agree."""


@dataclass(frozen=True, eq=False)
class PosteriorSample:
    """Members of a density.

    Attributes
    ----------
    members : array [n, n_coordinates]
    log_density : array [n]
    spread_ratio : float
        Largest R-hat over the coordinates that were asked about.
    rounds : int
        After the first ones.
    accepted : float
        Share of the moves.
    """

    members: Array
    log_density: Array
    spread_ratio: float
    rounds: int
    accepted: float

    @property
    def agreed(self) -> bool:
        """Whether both populations have found the same."""
        return self.spread_ratio < AGREE


def sampled(
    log_density: Density,
    draws: Callable[[int, np.random.Generator], Array],
    asked: tuple[int, ...],
    seed: int,
    on_round: Callable[[int, int], None] | None = None,
) -> PosteriorSample:
    """Return draws from a density.

    Parameters
    ----------
    log_density : function of coordinates [n, n_coordinates]
        Minus infinity where there is none. What it returns for a row must not depend on the others.
    draws : function of a number and a generator
        Where to look first.
    asked : tuple of int
        Coordinates in which both populations have to agree; else the rounds are doubled, at most three times.
    seed : int
    on_round : function of (round, of how many), optional
    """
    streams = [np.random.default_rng([seed, number]) for number in range(POPULATIONS)]
    walkers = _Walkers.begun(log_density, draws, streams)
    for _ in range(FIRST_ROUNDS):
        walkers.move()
    walkers.gather()
    rounds = ROUNDS
    kept: list[tuple[Array, Array]] = []
    for attempt in range(DOUBLINGS + 1):
        if attempt:
            rounds *= 2
        planned = rounds - len(kept)
        for number in range(planned):
            walkers.move()
            kept.append((walkers.places.copy(), walkers.values.copy()))
            if on_round is not None and number % 50 == 0:
                on_round(len(kept), rounds)
        late = kept[len(kept) // 2 :]
        places = np.array([place for place, _ in late])  # [round, population, walker, coordinate]
        ratio = spread_ratio(places[..., list(asked)])
        if ratio < AGREE:
            break
    values = np.array([value for _, value in late]).ravel()
    flat = places.reshape(-1, places.shape[-1])
    picked = np.linspace(0, len(flat) - 1, min(MEMBERS, len(flat))).astype(int)
    return PosteriorSample(flat[picked], values[picked], ratio, rounds, walkers.accepted / max(1, walkers.tried))


def climbed(log_density: Density, members: Array, rounds: int, seed: int) -> float:
    """Return the largest log density that walkers meet who begin at members of a similar density.

    Parameters
    ----------
    log_density : function of coordinates [n, n_coordinates]
    members : array [n, n_coordinates]
    rounds, seed : int
    """
    streams = [np.random.default_rng([seed, number]) for number in range(POPULATIONS)]
    places = np.array([members[rng.integers(0, len(members), WALKERS)] for rng in streams])
    values = log_density(places.reshape(-1, places.shape[-1])).reshape(places.shape[:2])
    walkers, best = _Walkers(log_density, places, values, streams), float(values.max())
    for _ in range(rounds):
        walkers.move()
        best = max(best, float(walkers.values.max()))
    return best


def spread_ratio(places: Array) -> float:
    """Return the largest R-hat of coordinates [round, population, walker, coordinate] between populations."""
    rounds, populations, walkers, _ = places.shape
    chains = places.transpose(1, 0, 2, 3).reshape(populations, rounds * walkers, -1)
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    return float(np.sqrt(1.0 + between / np.maximum(within, np.finfo(float).tiny)).max())


class _Walkers:
    """All populations: places [population, walker, coordinate] and log densities [population, walker]."""

    def __init__(self, log_density: Density, places: Array, values: Array, streams: list[np.random.Generator]) -> None:
        self.log_density, self.places, self.values, self.streams = log_density, places, values, streams
        self.accepted = self.tried = 0

    @classmethod
    def begun(cls, log_density: Density, draws: Callable[..., Array], streams: list[np.random.Generator]) -> _Walkers:
        first = np.array([draws(DRAWS, rng) for rng in streams])
        values = log_density(first.reshape(-1, first.shape[-1])).reshape(first.shape[:2])
        best = np.argsort(-values, axis=1, kind="stable")[:, :WALKERS]
        return cls(
            log_density, np.take_along_axis(first, best[..., None], 1), np.take_along_axis(values, best, 1), streams
        )

    def move(self) -> None:
        """Move all walkers once, one half of each population after the other."""
        half = WALKERS // 2
        for own, other in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
            proposals = [
                _proposals(self.places[p, own], self.places[p, other], rng) for p, rng in enumerate(self.streams)
            ]
            tried = np.array([places for places, _ in proposals])
            values = self.log_density(tried.reshape(-1, tried.shape[-1])).reshape(tried.shape[:2])
            for p, rng in enumerate(self.streams):
                with np.errstate(invalid="ignore"):
                    gain = values[p] - self.values[p, own] + proposals[p][1]
                taken = np.log(rng.random(half)) < np.where(np.isnan(gain), -np.inf, gain)
                self.places[p, own][taken] = tried[p][taken]
                self.values[p, own][taken] = values[p][taken]
                self.accepted += int(taken.sum())
                self.tried += half

    def gather(self) -> None:
        """Set walkers that are far below the best of all populations anew, to where near ones are."""
        near = self.values > self.values.max() - _REACH
        places, values = self.places[near], self.values[near]
        for p, rng in enumerate(self.streams):
            anew = rng.integers(0, len(places), WALKERS)
            self.places[p], self.values[p] = places[anew], values[anew]


def _proposals(own: Array, others: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Where walkers [n, n_coordinates] would go, and the logarithm of what the move itself weighs [n]."""
    n, dimensions = int(own.shape[0]), int(own.shape[1])
    first = rng.integers(0, len(others), n)
    second = (first + rng.integers(1, len(others), n)) % len(others)
    factor = 2.38 / np.sqrt(2.0 * dimensions) * rng.uniform(0.5, 1.5, n)
    factor = np.where(rng.random(n) < _WHOLE, 1.0, factor)
    by_difference = own + factor[:, None] * (others[first] - others[second])
    root = rng.uniform(_STRETCH**-0.5, _STRETCH**0.5, n)  # the density 1/sqrt(z) between 1/a and a
    stretched = others[first] + (root**2)[:, None] * (own - others[first])
    chosen = np.asarray(rng.random(n) < _STRETCHED)
    weight = np.where(chosen, (dimensions - 1) * 2.0 * np.log(root), 0.0)
    return np.where(chosen[:, None], stretched, by_difference), weight
