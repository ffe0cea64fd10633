"""DEAP's own NSGA-II, individual by individual: the peer that the array implementation is held against."""

import random

import numpy as np
from deap import base, tools


class _Minimised(base.Fitness):
    weights = (-1.0, -1.0, -1.0)


class Point(list):
    """Genes with a fitness of any number of objectives."""

    def __init__(self, genes, objectives=()):
        super().__init__(genes)
        self.fitness = _Minimised()
        self.fitness.weights = (-1.0,) * (len(objectives) or 3)
        if len(objectives):
            self.fitness.values = tuple(float(v) for v in objectives)


def points_of(objectives):
    """Individuals whose only gene is their number."""
    return [Point([k], row) for k, row in enumerate(np.asarray(objectives, float))]


def nsga2(function, n_genes, population, evaluations, seed):
    """Objectives [n, m] of the last population, with the settings of DEAP's example: eta 20, every gene 1 / n_genes."""
    state = random.getstate()
    random.seed(seed)
    try:
        return _nsga2(function, n_genes, population, evaluations)
    finally:
        random.setstate(state)


def _nsga2(function, n_genes, size, evaluations):
    def valued(genomes):
        return [Point(g, row) for g, row in zip(genomes, function(np.array(genomes)), strict=True)]

    pop = tools.selNSGA2(valued([[random.random() for _ in range(n_genes)] for _ in range(size)]), size)
    for _ in range(evaluations // size - 1):
        parents = tools.selTournamentDCD(pop, size)
        genomes = [list(p) for p in parents]
        for one, other in zip(genomes[::2], genomes[1::2], strict=True):
            if random.random() <= 0.9:
                tools.cxSimulatedBinaryBounded(one, other, 20.0, 0.0, 1.0)
            tools.mutPolynomialBounded(one, 20.0, 0.0, 1.0, 1.0 / n_genes)
            tools.mutPolynomialBounded(other, 20.0, 0.0, 1.0, 1.0 / n_genes)
        pop = tools.selNSGA2(pop + valued(genomes), size)
    return np.array([p.fitness.values for p in pop])
