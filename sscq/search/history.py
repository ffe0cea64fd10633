"""What a search gives: the best genome, how it was reached, and the statistics of its generations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class GenerationHistory:
    """One entry a generation [n_generations].

    Attributes
    ----------
    generation : array of int
        0, 1, ...
    evaluations : array of int
        Genomes valued so far.
    best : array
        Best fitness so far, under the generation's random numbers; inf while all have failed.
    mean, std : array
        Of the finite fitness values of the generation; NaN where there is none.
    diversity : array
        Standard deviation of a gene over the generation as part of its range, mean over the searched genes.
    failed : array of int
        Individuals whose fitness was not finite.

    A run keeps the first four of its searches: `std`, `diversity` and `failed` are None there.
    """

    generation: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    best: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64] | None = None
    diversity: NDArray[np.float64] | None = None
    failed: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Result of :func:`sscq.search.search.evolve`.

    Attributes
    ----------
    genome : array [n_genes]
        Best one valued; a start genome comes back with exactly the numbers given.
    fitness : float
        Its fitness, after a renewal that under the last random numbers; inf if every genome failed.
    history : GenerationHistory
    evaluations : int
        Genomes that were valued.
    stopped_by : {"budget", "generations", "stall", "converged"}
        "budget": all evaluations spent; "converged": nothing left to search.
    incumbents : array [n_incumbents, n_genes]
        The best genomes on the way, each once: to be chosen from by other situations than those searched.
    """

    genome: NDArray[np.float64]
    fitness: float
    history: GenerationHistory
    evaluations: int
    stopped_by: str
    incumbents: NDArray[np.float64]


@dataclass(frozen=True)
class SearchProgress:
    """What is reported after each generation: `best` and `mean` as in :class:`GenerationHistory`."""

    generation: int
    evaluations: int
    best: float
    mean: float


FIELDS = tuple(GenerationHistory.__dataclass_fields__)


class GenerationLog:
    """One entry a generation, and the best points on the way; both are only added to."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self._incumbents: list[tuple[int, NDArray[np.float64]]] = []  # generation and point, where it was a new one

    def record(
        self, generation: int, evaluations: int, best: float, points: NDArray[np.float64], fitness: NDArray[np.float64]
    ) -> None:
        """Add the generation with these points of the unit cube."""
        diversity = float(points.std(axis=0).mean()) if points.size else 0.0
        entry = {"generation": generation, "evaluations": evaluations, "best": best, "diversity": diversity}
        self.entries.append({**entry, **_statistics(fitness)})

    def crown(self, generation: int, point: NDArray[np.float64]) -> None:
        """Note the best point after a generation, if it is a new one: after a renewal an earlier one may be back."""
        if not any(np.array_equal(known, point) for _, known in self._incumbents):
            self._incumbents.append((generation, point))

    def incumbents(self, count: int) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
        """Return the best points of the first `count` generations, each once, and the generations they came in."""
        known = [entry for entry in self._incumbents if entry[0] < count]
        return np.array([generation for generation, _ in known], dtype=np.int64), [point for _, point in known]

    def arrays(self, count: int) -> dict[str, NDArray[Any]]:
        """Return the first `count` entries, field by field [count]."""
        return {name: np.array([entry[name] for entry in self.entries[:count]]) for name in FIELDS}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add what :meth:`arrays` gave."""
        columns = [arrays[name].tolist() for name in FIELDS]
        for values in zip(*columns, strict=True):
            self.entries.append(dict(zip(FIELDS, values, strict=True)))

    def restore_incumbents(self, generations: NDArray[Any], points: NDArray[Any]) -> None:
        """Add what :meth:`incumbents` gave."""
        self._incumbents = list(zip(generations.tolist(), points.astype(np.float64), strict=True))


def _statistics(fitness: NDArray[np.float64]) -> dict[str, float]:
    """Mean and standard deviation of what is finite (NaN where nothing is), and how many are not."""
    finite = fitness[np.isfinite(fitness)]
    failed = len(fitness) - len(finite)
    if not len(finite):
        return {"mean": float("nan"), "std": float("nan"), "failed": failed}
    with np.errstate(over="ignore", invalid="ignore"):  # of values near the largest float
        return {"mean": float(finite.mean()), "std": float(finite.std()), "failed": failed}
