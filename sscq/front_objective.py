"""What a search for a trade-off front minimises: several measures of a kind of controller over situations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sscq.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sscq.baselines import Candidate
    from sscq.fitness import Fitness
    from sscq.objective import Task
    from sscq.operating import OperatingMargins


def measure_of(objective: str, fitness: Fitness) -> str:
    """Return the measure behind a word; the tracking error is the fitness's own, any other word a plant's measure."""
    return {"error": fitness.error, "entropy": "entropy_difference_abs", "travel": "total_variation",
            "effort": "effort"}.get(objective, objective)  # fmt: skip


class FrontObjective(Objective):
    """Genomes to severity and objectives, one compiled call for all.

    Parameters
    ----------
    task : Task
        Its fitness gives the aggregate over situations and the limits of travel and saturation; its weights and
        reference values do not matter.
    candidate : Candidate
    objectives : sequence of {"error", "entropy", "travel", "effort"} or names of the plant's own measures
    margins : OperatingMargins, optional
        Constraint; left out: none.
    limits : mapping of objective to float, optional
        Largest values that are still of use; more violates a constraint.
    """

    def __init__(
        self,
        task: Task,
        candidate: Candidate,
        objectives: tuple[str, ...],
        margins: OperatingMargins | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> None:
        self.objectives, self.limits = objectives, dict(limits or {})
        self._names = tuple(measure_of(name, task.fitness) for name in objectives)
        super().__init__(
            task, candidate.controller, candidate.decode, margins, candidate.gain_sets,
            measures=tuple(dict.fromkeys((*self._names, *task.fitness.measures))),
        )  # fmt: skip

    def problem(self, name: str) -> str:
        """Return a digest of what is searched, the limits included."""
        return f"{super().problem(name)} {sorted(self.limits.items())}"

    def __call__(self, genomes: np.ndarray) -> np.ndarray:
        """Return severity and objectives [n, 1 + n_objectives] of genomes [n, n_genes]."""
        quality, violation = self.judged(genomes)
        fitness = self.task.fitness
        with np.errstate(over="ignore", invalid="ignore"):  # of rollouts that diverge
            values = {k: fitness.combine(quality.values[m]) for k, m in zip(self.objectives, self._names, strict=True)}
            for name, limit in self.limits.items():
                violation = violation + np.maximum(0.0, values[name] / limit - 1.0)
            severity = fitness.severity(quality, violation, self._names)
        return np.column_stack([severity, *values.values()])
