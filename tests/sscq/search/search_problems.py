"""Functions that searches have to minimise, one value a genome, and what a result is to the bit."""

import numpy as np


def sphere(genomes):
    return ((genomes - 0.7) ** 2).sum(axis=1)


def rosenbrock(genomes):
    x, following = genomes[:, :-1], genomes[:, 1:]
    return (100.0 * (following - x * x) ** 2 + (1.0 - x) ** 2).sum(axis=1)


def rastrigin(genomes):
    z = genomes - 0.5
    return (10.0 + z**2 - 10.0 * np.cos(2.0 * np.pi * z)).sum(axis=1)


def as_bytes(result):
    arrays = [result.genome, result.incumbents, np.array(result.fitness), *vars(result.history).values()]
    return [(a.dtype, a.tobytes()) for a in arrays] + [result.evaluations, result.stopped_by]
