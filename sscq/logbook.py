"""The course of a search in DEAP's logbook and statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.search_result import History

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

FIELDS = tuple(History.__dataclass_fields__)


class Course:
    """One entry a generation; entries are only added."""

    def __init__(self) -> None:
        from deap import tools

        self.logbook = tools.Logbook()
        self.logbook.header = FIELDS
        self._statistics = tools.Statistics()
        self._statistics.register("mean", _of_finite, np.mean)
        self._statistics.register("std", _of_finite, np.std)
        self._statistics.register("failed", lambda values: int(np.count_nonzero(~np.isfinite(values))))

    def record(
        self, generation: int, evaluations: int, best: float, points: NDArray[np.float64], fitness: NDArray[np.float64]
    ) -> None:
        """Add the generation with these points of the unit cube."""
        diversity = float(points.std(axis=0).mean()) if points.size else 0.0
        numbers = self._statistics.compile(fitness)
        self.logbook.record(generation=generation, evaluations=evaluations, best=best, diversity=diversity, **numbers)

    def arrays(self, count: int) -> dict[str, NDArray[Any]]:
        """Return the first `count` entries, field by field [count]."""
        return {name: np.array([entry[name] for entry in self.logbook[:count]]) for name in FIELDS}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add what :meth:`arrays` gave."""
        columns = [arrays[name].tolist() for name in FIELDS]
        for values in zip(*columns, strict=True):
            self.logbook.record(**dict(zip(FIELDS, values, strict=True)))


def _of_finite(function: Any, values: Sequence[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    with np.errstate(over="ignore", invalid="ignore"):  # of values near the largest float
        return float(function(finite)) if finite else float("nan")
