"""One generation of a search against DEAP's loops: crossover and mutation of whole populations."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engine import case
from benchmarks.runner.report import FigureSection
from experiments.runtime.timing import alternate, ratio
from sscq.search import operators

if TYPE_CHECKING:
    from benchmarks.runner.size import Size


_INDIVIDUALS, _GENES = 200, 40
_CROSSED, _MUTATED = 0.9, 0.1  # shares of pairs and of genes
_ETA = {"crossover": 15.0, "mutation": 20.0}


def search_operators(size: Size) -> FigureSection:
    """Time both, and one simulation of the generation beside them."""
    section = FigureSection("search_operators", f"Search operators, {_INDIVIDUALS} individuals of {_GENES} genes")
    rng = np.random.default_rng(0)
    population, loop, gains = rng.random((_INDIVIDUALS, _GENES)), case.closed_loop(size.steps), case.gains(_INDIVIDUALS)
    calls = {
        "arrays": lambda: vary_arrays(population, rng),
        "DEAP": lambda: vary_deap(population),
        "simulation": lambda: loop.evaluate(gains, 1),
    }
    times = alternate(calls, size.rounds // 2)
    section.time("one generation, operators on arrays", times["arrays"], "ms", 1e3)
    section.time("one generation, DEAP's loops", times["DEAP"], "ms", 1e3)
    section.time(f"simulation of the generation, one situation of {size.steps:,} steps", times["simulation"], "ms", 1e3)
    section.ratio("DEAP / arrays", ratio(times["DEAP"], times["arrays"]))
    section.ratio("DEAP / simulation", ratio(times["DEAP"], times["simulation"]))
    section.counts = {"pairs": _INDIVIDUALS // 2, "genes": _INDIVIDUALS * _GENES}
    return section


def vary_arrays(population: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the varied population, with the project's operators."""
    one, other = operators.simulated_binary(population[::2], population[1::2], rng, _ETA["crossover"], _CROSSED)
    return operators.polynomial_mutation(np.concatenate([one, other]), rng, _ETA["mutation"], _MUTATED)


def vary_deap(population: np.ndarray) -> list[list[float]]:
    """Return the varied population, with DEAP's operators; they draw from the global generator."""
    from deap import tools

    genomes = population.tolist()
    for one, other in zip(genomes[::2], genomes[1::2], strict=True):
        if random.random() < _CROSSED:  # noqa: S311
            tools.cxSimulatedBinaryBounded(one, other, _ETA["crossover"], 0.0, 1.0)
    for genome in genomes:
        tools.mutPolynomialBounded(genome, _ETA["mutation"], 0.0, 1.0, _MUTATED)
    return genomes
