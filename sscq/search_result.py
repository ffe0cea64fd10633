"""What a search gives: the best genome and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class History:
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
    """

    generation: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    best: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    diversity: NDArray[np.float64]
    failed: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Result of :func:`sscq.search.evolve`.

    Attributes
    ----------
    genome : array [n_genes]
        Best one valued; a start genome comes back with exactly the numbers given.
    fitness : float
        Its fitness, after a renewal that under the last random numbers; inf if every genome failed.
    history : History
    evaluations : int
        Genomes that were valued.
    stopped_by : {"budget", "generations", "stall", "converged"}
        "budget": all evaluations spent; "converged": nothing left to search.
    incumbents : array [n_incumbents, n_genes]
        The best genomes on the way, each once: to be chosen from by other situations than those searched.
    """

    genome: NDArray[np.float64]
    fitness: float
    history: History
    evaluations: int
    stopped_by: str
    incumbents: NDArray[np.float64]


@dataclass(frozen=True)
class Progress:
    """What is reported after each generation: `best` and `mean` as in :class:`History`."""

    generation: int
    evaluations: int
    best: float
    mean: float
