"""What several designs of a plant gave: controllers in taught, validation and unforeseen situations."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.verdict import Comparison, Sample, change_where_alive, compare, nothing_random, tail_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sscq.bootstrap import Change

BASELINE = "fixed"
DECIDING = "unforeseen"


@dataclass(frozen=True)
class Judged:
    """All controllers in one kind of situations, in the same rollouts.

    Attributes
    ----------
    samples : mapping of controller to Sample
        Rollouts [seed, situation], all designs beside one another.
    errors : mapping of controller to ndarray [seed, situation]
        IAE of these rollouts.
    situations : tuple of str
        The situations in words.
    comparisons : mapping of controller to Comparison
        With the best fixed PID, whose rollouts are those of the same design.
    error_changes : mapping of controller to Change
        Of the mean IAE over the rollouts that both survive.
    """

    samples: Mapping[str, Sample]
    errors: Mapping[str, np.ndarray]
    situations: tuple[str, ...]
    comparisons: Mapping[str, Comparison]
    error_changes: Mapping[str, Change]

    @classmethod
    def of(
        cls, samples: Mapping[str, Sample], errors: Mapping[str, np.ndarray], situations: tuple[str, ...] = ()
    ) -> Judged:
        """Compare all with the best fixed PID."""
        base, error = samples[BASELINE], errors[BASELINE]
        others = {name: sample for name, sample in samples.items() if name != BASELINE}
        comparisons = {name: compare(sample, base) for name, sample in others.items()}
        changes = {
            name: change_where_alive(errors[name], error, sample.failed | base.failed)
            for name, sample in others.items()
        }
        return cls(samples, errors, situations, comparisons, changes)

    @property
    def seeds(self) -> int:
        """Seeds of each situation."""
        return len(self.samples[BASELINE].fitness)

    @property
    def by_chance(self) -> bool:
        """Whether the rollouts of any controller differ from seed to seed."""
        return self.seeds > 1 and not all(nothing_random(sample) for sample in self.samples.values())

    def error(self, name: str) -> float:
        """Return the mean IAE over the rollouts that survive; NaN where none does."""
        alive = ~self.samples[name].failed
        return float(self.errors[name][alive].mean()) if alive.any() else float("nan")

    def numbers(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "situations": list(self.situations),
            "seeds": self.seeds,
            "fitness": {name: _statistics(sample) | {"iae": self.error(name)} for name, sample in self.samples.items()},
            "comparisons": {name: self._compared(name) for name in self.comparisons},
        }

    def _compared(self, name: str) -> dict[str, Any]:
        # A rank test would count a rollout once for every design that saw it.
        known = {key: value for key, value in asdict(self.comparisons[name]).items() if key != "p_value"}
        return known | {"iae": asdict(self.error_changes[name])}


def _statistics(sample: Sample) -> dict[str, float]:
    values = sample.fitness
    return {
        "mean": float(values.mean()), "median": float(np.median(values)), "worst": tail_mean(values),
        "failures": int(sample.failed.sum()), "travel": float(sample.travel.mean()), "rollouts": values.size,
    }  # fmt: skip


@dataclass(frozen=True)
class Pooled:
    """What several designs of a plant gave.

    Attributes
    ----------
    plant : str
    titles : mapping of controller to str
        In the order of the ladder, tuning rules behind the open loop.
    kinds : mapping of "taught", "validation", "unforeseen" to Judged
    choices : mapping of controller to int
        How often the designs recommended it.
    notes : tuple of str
        Where the numbers of rules and rungs come from, and why one does not apply.
    spent : mapping of controller to float
        Closed-loop evaluations of its design, the mean of the designs; a controller without its own has none.
    conditions : tuple of str
        What is the same for all controllers.
    """

    plant: str
    titles: Mapping[str, str]
    kinds: Mapping[str, Judged]
    choices: Mapping[str, int]
    notes: tuple[str, ...]
    spent: Mapping[str, float]
    conditions: tuple[str, ...] = ()

    @property
    def baseline(self) -> str:
        """Name of the controller that all are compared with."""
        return BASELINE

    @property
    def comparisons(self) -> Mapping[str, Comparison]:
        """In unforeseen situations: these decide."""
        return self.kinds[DECIDING].comparisons

    def recommended(self) -> str:
        """Say what the designs recommended."""
        total = sum(self.choices.values())
        parts = [f"{self.titles[name]} ({count} of {total})" for name, count in self.choices.items()]
        return ", ".join(parts)

    def numbers(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "conditions": list(self.conditions),
            "controllers": [
                {"name": name, "title": self.titles[name], "evaluations": self.spent.get(name)}
                for name in self.kinds[DECIDING].samples
            ],
            **{kind: judged.numbers() for kind, judged in self.kinds.items()},
            "recommended": dict(self.choices),
            "notes": list(self.notes),
        }
