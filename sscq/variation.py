"""What genetic searches share: how parents become children, and the first population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers import settings
from sscq import operators
from sscq.search_method import Cube, SearchMethod, share, whole

if TYPE_CHECKING:
    from deap import base
    from numpy.random import Generator
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Variation(SearchMethod):
    """Settings of crossover and mutation.

    Attributes
    ----------
    tournament : int
        Individuals compared in a selection.
    crossover : {"sbx", "blend"}
        Simulated binary crossover or blend crossover (BLX) of real genes; step genes are exchanged uniformly.
    p_crossover : float
        Share of the pairs that are crossed.
    eta_crossover : float
        Distribution index of simulated binary crossover: the larger, the nearer to their parents are children.
    alpha : float
        Part by which blend crossover widens the parents' interval at either end.
    p_mutation : float, optional
        Probability that a gene mutates; None: 1 / genes. Step genes move by one symbol.
    eta_mutation : float
        Distribution index of polynomial mutation: the larger, the smaller the moves.
    """

    tournament: int = 3
    crossover: str = "sbx"
    p_crossover: float = 0.9
    eta_crossover: float = 15.0
    alpha: float = 0.3
    p_mutation: float | None = None
    eta_mutation: float = 20.0

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        whole("tournament", self.tournament, 1)
        settings.one_of("crossover", self.crossover, ("sbx", "blend"))
        share("p_crossover", self.p_crossover)
        if self.p_mutation is not None:
            share("p_mutation", self.p_mutation)
        for name in ("eta_crossover", "eta_mutation", "alpha"):
            settings.positive(name, getattr(self, name))


def first_population(cube: Cube, rng: Generator, size: int) -> NDArray[np.float64]:
    """Return the start points and as many of a Latin hypercube as `size` has room for [n, n_genes]."""
    start = cube.start
    n_random = max(size - len(start), 0)
    points = operators.latin_hypercube(rng, n_random, cube.n_genes) if n_random else start[:0]
    steps = cube.levels > 0
    points[:, steps] = np.rint(points[:, steps] * cube.levels[steps]) / cube.levels[steps]
    return np.vstack((start, points))


def toolbox(config: Variation, cube: Cube, rng: Generator) -> base.Toolbox:
    """Return the toolbox with ``select``, ``mate`` and ``mutate`` for whole populations; real and step genes apart."""
    from deap import base

    box = base.Toolbox()
    box.register("select", operators.tournament, rng=rng, size=config.tournament)
    p_mutation = 1.0 / max(cube.n_genes, 1) if config.p_mutation is None else config.p_mutation
    if config.crossover == "sbx":
        box.register("mate_real", operators.simulated_binary, rng=rng, eta=config.eta_crossover, p=config.p_crossover)
    else:
        box.register("mate_real", operators.blend, rng=rng, alpha=config.alpha, p=config.p_crossover)
    box.register("mutate_real", operators.polynomial_mutation, rng=rng, eta=config.eta_mutation, p=p_mutation)
    box.register("mate_steps", operators.uniform_exchange, rng=rng, p=config.p_crossover)
    levels = cube.levels[cube.levels > 0]
    box.register("mutate_steps", operators.step_mutation, rng=rng, levels=levels, p=p_mutation)
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
