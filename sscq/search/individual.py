"""One individual as DEAP knows it: a list of genes with a fitness. Only the few that a hall of fame keeps are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

    def __deepcopy__(self, memo: dict[int, Any]) -> Individual:
        """Copy genes and fitness: numbers alone, so that nothing has to be searched for what else hangs on it."""
        return Individual(self, self.fitness.values[0])
