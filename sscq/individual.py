"""One individual as DEAP knows it: a list of genes with a fitness. Only the few that a hall of fame keeps are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deap import base

if TYPE_CHECKING:
    from collections.abc import Sequence


class Fitness(base.Fitness):
    """Minimised."""

    weights = (-1.0,)


class Individual(list[float]):
    """Genes with their fitness; a real class, so that nothing is registered in DEAP's global creator."""

    def __init__(self, genes: Sequence[float], fitness: float) -> None:
        super().__init__(genes)
        self.fitness = Fitness((fitness,))
