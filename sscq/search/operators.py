"""Genetic operators on whole populations, and what genetic searches share: how parents become children.

Each operator is a handful of array operations, never a loop over genes. Genomes are points of the unit cube, one a
row. All randomness comes from the generator given.

Sources
-------
Deb and Agrawal, Simulated binary crossover for continuous search space, Complex Systems 9 (1995), 115-148.
Deb and Agrawal, A niched-penalty approach for constraint handling in genetic algorithms (ICANNGA 1999): bounded forms.
Eshelman and Schaffer, Real-coded genetic algorithms and interval-schemata, FOGA 2 (1993), 187-202: blend crossover.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from controllers.settings import setting
from sscq.search.method import Cube, SearchMethod

if TYPE_CHECKING:
    from deap import base
    from numpy.random import Generator
    from numpy.typing import NDArray

    Points: TypeAlias = NDArray[np.float64]


_SAME = 1e-14  # parents closer than this have nothing to exchange


def latin_hypercube(rng: Generator, n: int, n_genes: int) -> Points:
    """Return `n` points [n, n_genes] with exactly one in each of the `n` equal slices of every gene."""
    slices = rng.permuted(np.tile(np.arange(n, dtype=np.float64), (n_genes, 1)), axis=1).T
    return (slices + rng.random((n, n_genes))) / n


def tournament(fitness: NDArray[np.float64], n: int, rng: Generator, size: int = 3) -> NDArray[np.intp]:
    """Return the positions [n] of the winners of `n` tournaments among `size` random individuals each."""
    rivals = rng.integers(0, len(fitness), (n, size))
    return rivals[np.arange(n), np.argmin(fitness[rivals], axis=1)]


def fair_rivals(n_individuals: int, n: int, rng: Generator, size: int = 2) -> NDArray[np.intp]:
    """Return who meets whom in `n` tournaments [n, size]: all individuals take part equally often, up to one.

    Drawing with replacement leaves a good share of the population out, and with it what makes it different.
    """
    rounds = -(-n * size // n_individuals)
    return np.concatenate([rng.permutation(n_individuals) for _ in range(rounds)])[: n * size].reshape(n, size)


def simulated_binary(
    first: Points, second: Points, rng: Generator, eta: float = 15.0, p: float = 0.9
) -> tuple[Points, Points]:
    """Cross row by row with a share `p` of the pairs; each gene of a crossed pair takes part with probability 1/2.

    The children of a gene lie symmetrically about the parents' mean, spread by a factor beta with density
    ~ beta^eta below 1 and ~ beta^-(eta + 2) above, cut off where the nearer bound is reached.
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    distance = high - low
    takes_part = (rng.random((len(first), 1)) < p) & (rng.random(first.shape) < 0.5) & (distance > _SAME)
    room = np.minimum(low, 1.0 - high)
    widest = 1.0 + 2.0 * room / np.where(takes_part, distance, 1.0)
    area = 2.0 - widest ** -(eta + 1.0)  # twice the probability of the uncut density up to the widest spread
    u = rng.random(first.shape) * area
    beta = np.where(u <= 1.0, u, 1.0 / (2.0 - u)) ** (1.0 / (eta + 1.0))
    mean, half = 0.5 * (low + high), 0.5 * beta * distance
    side = np.where(rng.random(first.shape) < 0.5, half, -half)
    one = np.where(takes_part, np.clip(mean + side, 0.0, 1.0), first)
    other = np.where(takes_part, np.clip(mean - side, 0.0, 1.0), second)
    return one, other


def blend(first: Points, second: Points, rng: Generator, alpha: float = 0.3, p: float = 0.9) -> tuple[Points, Points]:
    """Cross row by row with a share `p` of the pairs: each gene uniform in the parents' interval widened by `alpha`.

    The part of the interval outside the cube is cut off.
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    margin = alpha * (high - low)
    start, stop = np.maximum(low - margin, 0.0), np.minimum(high + margin, 1.0)
    crossed = rng.random((len(first), 1)) < p
    draws = rng.random((2, *first.shape))
    one, other = start + draws * (stop - start)
    return np.where(crossed, one, first), np.where(crossed, other, second)


def uniform_exchange(first: Points, second: Points, rng: Generator, p: float = 0.9) -> tuple[Points, Points]:
    """Exchange genes row by row: each gene of a share `p` of the pairs with probability 1/2 (uniform crossover)."""
    exchanged = (rng.random((len(first), 1)) < p) & (rng.random(first.shape) < 0.5)
    return np.where(exchanged, second, first), np.where(exchanged, first, second)


def polynomial_mutation(points: Points, rng: Generator, eta: float = 20.0, p: float = 0.1) -> Points:
    """Move each gene with probability `p`, by up to its way to the bounds; large `eta`: mostly small moves."""
    mutated = points.copy()
    rows, genes = np.nonzero(rng.random(points.shape) < p)
    x, u = points[rows, genes], rng.random(len(rows))
    power = eta + 1.0
    down = (2.0 * u + (1.0 - 2.0 * u) * (1.0 - x) ** power) ** (1.0 / power) - 1.0
    v = 1.0 - u  # the same upwards, seen from the other bound
    up = 1.0 - (2.0 * v + (1.0 - 2.0 * v) * x**power) ** (1.0 / power)
    mutated[rows, genes] = np.clip(x + np.where(u < 0.5, down, up), 0.0, 1.0)
    return mutated


def step_mutation(points: Points, rng: Generator, levels: NDArray[np.int64], p: float = 0.1) -> Points:
    """Move each step gene with probability `p` by one symbol up or down, inwards at the ends; `levels` [n_genes]."""
    symbols = np.rint(points * levels)
    moves = np.where(rng.random(points.shape) < 0.5, 1.0, -1.0)
    moves = np.where(symbols == 0.0, 1.0, np.where(symbols == levels, -1.0, moves))
    moved = np.where(rng.random(points.shape) < p, symbols + moves, symbols)
    return moved / levels


@dataclass(frozen=True, kw_only=True)
class Variation(SearchMethod):
    """Settings of crossover and mutation.

    Step genes are exchanged uniformly in a crossover, and move by one symbol in a mutation.
    """

    tournament: int = setting(3, "individuals compared in a selection", low=1, advanced=True)
    crossover: str = setting("sbx", "simulated binary or blend crossover", choices=("sbx", "blend"), advanced=True)
    p_crossover: float = setting(0.9, "share of the pairs that are crossed", low=0, high=1, advanced=True)
    eta_crossover: float = setting(
        15.0, "index of simulated binary crossover; larger: nearer to the parents", above=0, advanced=True
    )
    alpha: float = setting(0.3, "widening of blend crossover", above=0, advanced=True)
    p_mutation: float | None = setting(
        None, "probability that a gene mutates; null: 1 / genes", low=0, high=1, advanced=True
    )
    eta_mutation: float = setting(20.0, "index of polynomial mutation; larger: smaller moves", above=0, advanced=True)


def first_population(cube: Cube, rng: Generator, size: int) -> NDArray[np.float64]:
    """Return the start points and as many of a Latin hypercube as `size` has room for [n, n_genes]."""
    start = cube.start
    n_random = max(size - len(start), 0)
    points = latin_hypercube(rng, n_random, cube.n_genes) if n_random else start[:0]
    steps = cube.levels > 0
    points[:, steps] = np.rint(points[:, steps] * cube.levels[steps]) / cube.levels[steps]
    return np.vstack((start, points))


def toolbox(config: Variation, cube: Cube, rng: Generator) -> base.Toolbox:
    """Return the toolbox with ``select``, ``mate`` and ``mutate`` for whole populations; real and step genes apart."""
    from deap import base

    box = base.Toolbox()
    box.register("select", tournament, rng=rng, size=config.tournament)
    p_mutation = 1.0 / max(cube.n_genes, 1) if config.p_mutation is None else config.p_mutation
    if config.crossover == "sbx":
        box.register("mate_real", simulated_binary, rng=rng, eta=config.eta_crossover, p=config.p_crossover)
    else:
        box.register("mate_real", blend, rng=rng, alpha=config.alpha, p=config.p_crossover)
    box.register("mutate_real", polynomial_mutation, rng=rng, eta=config.eta_mutation, p=p_mutation)
    box.register("mate_steps", uniform_exchange, rng=rng, p=config.p_crossover)
    levels = cube.levels[cube.levels > 0]
    box.register("mutate_steps", step_mutation, rng=rng, levels=levels, p=p_mutation)
    box.register("mate", _mate, box, cube.levels > 0)
    box.register("mutate", _mutate, box, cube.levels > 0)
    return box


def _mate(
    box: base.Toolbox, steps: NDArray[np.bool_], first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not steps.any():
        return box.mate_real(first, second)
    one, other = first.copy(), second.copy()
    one[:, steps], other[:, steps] = box.mate_steps(first[:, steps], second[:, steps])
    one[:, ~steps], other[:, ~steps] = box.mate_real(first[:, ~steps], second[:, ~steps])
    return one, other


def _mutate(box: base.Toolbox, steps: NDArray[np.bool_], points: NDArray[np.float64]) -> NDArray[np.float64]:
    if not steps.any():
        return box.mutate_real(points)
    mutated = points.copy()
    mutated[:, steps] = box.mutate_steps(points[:, steps])
    mutated[:, ~steps] = box.mutate_real(points[:, ~steps])
    return mutated
