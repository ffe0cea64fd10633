"""Fixed gains that are cheapest in one measure within a budget of tracking error, all measures searched alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq import baselines
from sscq.cmaes import CmaEs
from sscq.search import evolve
from sscq.survey import survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.setup import Setup
    from sscq.situation import Situation

ERROR = "iae"
_EXCESS = 100.0  # price of the whole budget beyond the budget, in reference values of the measure: a wall, not a trade
_MARGINS, _FAILED = 10.0, 1e3


@dataclass(frozen=True)
class Cheapest:
    """Gains found [n_gains], their measure and mean IAE on the taught situations, and what the search cost."""

    gains: np.ndarray
    value: float
    error: float
    evaluations: int


class Workshop:
    """One plant's searches: controller, starts, margins and the scale of the derivative action are common to all.

    Parameters
    ----------
    setup : Setup
    measures : sequence of str
        All that will be searched or judged.
    evaluations, seeds : int
        Of one search, and how many searches the best is taken of.
    """

    def __init__(self, setup: Setup, measures: Sequence[str], evaluations: int, seeds: int) -> None:
        self.setup, self.evaluations, self.seeds = setup, evaluations, seeds
        self.measures = tuple(dict.fromkeys((ERROR, *measures)))
        self.margins = setup.margins()
        seen = survey(
            setup.task(), setup.laws, setup.low, setup.high, own=setup.own, margins=self.margins, seed=setup.seed
        )
        self.candidate = baselines.fixed(setup.laws, setup.low, setup.high, seen.best)
        self.task = setup.task(fitness=replace(setup.fitness, entropy_scale=seen.fitness.entropy_scale))
        self.loop = self.task.loop(self.candidate.controller, self.measures)

    def quality(self, gains: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return means over the taught situations [n] by measure, and the share of the time lost by failing [n]."""
        found = self.loop.evaluate(np.atleast_2d(gains), self.setup.threads)
        horizon = np.asarray(found.t_end)[:, None]
        lost = np.where(found.failed, 1.0 + (horizon - found.diverged_at) / horizon, 0.0).mean(axis=0)
        return {name: np.asarray(found.values[name].mean(axis=0)) for name in self.measures}, lost

    def cheapest(self, measure: str, budget: float, start: np.ndarray | None = None) -> Cheapest:
        """Return the gains that are least in a measure at no more than `budget` of mean IAE; the best of all seeds."""
        begin = self.candidate.start if start is None else np.vstack([start, self.candidate.start])
        reference = abs(float(self.quality(begin[:1])[0][measure][0])) or 1.0

        def price(genomes: np.ndarray) -> np.ndarray:
            means, lost = self.quality(genomes)
            value = means[measure] / reference + _EXCESS * np.maximum(means[ERROR] / budget - 1.0, 0.0)
            if self.margins is not None:
                value = value + _MARGINS * self.margins.violation(genomes[:, None, :])
            return np.where(lost > 0.0, _FAILED * (1.0 + lost), np.where(np.isfinite(value), value, 3.0 * _FAILED))

        # Coarse enough that a run ends and the next one starts elsewhere within the budget.
        method = CmaEs(evaluations=self.evaluations, fitness_tolerance=1e-6, step_tolerance=1e-5)
        found = [
            evolve(price, self.candidate.low, self.candidate.high, method, self.setup.seed + seed, start=begin,
                   scale=self.candidate.scale)
            for seed in range(self.seeds)
        ]  # fmt: skip
        best = min(found, key=lambda one: one.fitness)
        means, _ = self.quality(best.genome)
        spent = sum(one.evaluations for one in found)
        return Cheapest(best.genome, float(means[measure][0]), float(means[ERROR][0]), spent)

    def judged(self, gains: np.ndarray, blocks: Sequence[Sequence[Situation]]) -> tuple[dict[str, Any], np.ndarray]:
        """Return measures [candidate, seed, situation] by name of gains [candidate, n_gains], and which failed."""
        several = [situation for block in blocks for situation in block]
        found = self.task.on(several).loop(self.candidate.controller, self.measures).evaluate(gains, self.setup.threads)
        shape = (len(blocks), len(blocks[0]), len(gains))

        def table(values: np.ndarray) -> np.ndarray:
            return np.moveaxis(values.reshape(shape), -1, 0)

        return {name: table(found.values[name]) for name in self.measures}, table(found.failed)
