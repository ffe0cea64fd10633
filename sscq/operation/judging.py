"""Whether a proposal may take over: margins first, then the verdict's rules on the window's replay and on the ensemble.

The way from the numbers in force to the proposed ones is shortened until the margins hold on the judged plants. Both
comparisons are paired: the same plants, noise and start for the controller in force and for the proposal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.operation.renewal import quality_of
from sscq.verdict.comparison import Comparison, Sample, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.loop.closed_loop import Snapshot
    from sscq.operation.renewal import OperatingTask
    from sscq.operation.running import ReplayRecord, RunningLoop

    Array = NDArray[np.float64]

_HALVINGS = 6


@dataclass(frozen=True, eq=False)
class ProposalJudgement:
    """What speaks for and against a proposal.

    Attributes
    ----------
    theta : array [n_theta]
        What may take over: the proposal, or what of it keeps the margins.
    share : float
        Of the way from the numbers in force to the proposed ones; 0: nothing of it keeps the margins.
    replay, ensemble : Comparison or None
        None where no share keeps the margins.
    replayed : ReplayRecord or None
        Candidates: in force, proposed.
    """

    theta: Array
    share: float
    replay: Comparison | None
    ensemble: Comparison | None
    replayed: ReplayRecord | None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it may not take over; empty: it may."""
        if self.replay is None or self.ensemble is None:
            return ("no share of the change keeps the margins on the plants that it may be",)
        on_replay = tuple(f"in the window's replay {why}" for why in self.replay.reasons)
        return on_replay + tuple(f"on the ensemble {why}" for why in self.ensemble.reasons)


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges proposals for one loop.

    Attributes
    ----------
    task : OperatingTask
    loop : RunningLoop
    controller : controller for sscq
    """

    task: OperatingTask
    loop: RunningLoop
    controller: Any

    def judged(
        self,
        window: int,
        begin: Snapshot,
        old: Array,
        new: Array,
        plants: Sequence[Mapping[str, float]],
        past: Sequence[Mapping[str, float]],
        seed: int,
    ) -> ProposalJudgement:
        """Return what speaks for and against new numbers.

        Parameters
        ----------
        window : int
            The one that has ended, which is replayed from `begin`.
        old, new : array [n_theta]
        plants : sequence of parameters by name
            That it may be and become, none of those that were searched on.
        past : sequence of parameters by name
            That it may have been in the window.
        seed : int
        """
        share = self._share(old, new, plants)
        if share <= 0.0:
            return ProposalJudgement(old, 0.0, None, None, None)
        theta = old + share * (new - old)
        pair = np.vstack([old, theta])
        seeds = [seed + k for k in range(1, len(past) + 1)]
        replayed = self.loop.replay(window, begin, pair, past, seeds)
        return ProposalJudgement(
            theta, share, _of_replay(replayed, seed), self._on_ensemble(pair, plants, seed), replayed
        )

    def _share(self, old: Array, new: Array, plants: Sequence[Mapping[str, float]]) -> float:
        """The largest share found of the way at which the margins hold that are asked, or kept by what is in force.

        Where that is unstable somewhere, less of a violation is enough.
        """
        margins = self.task.margins(plants, self.controller, old)
        if margins is None:
            return 1.0

        def violation(theta: Array) -> float:
            return float(margins.violation_of(self.controller, theta[None], self.task.threads)[0])

        share, unstable = 1.0, not margins.keeps_of(self.controller, old)
        for _ in range(_HALVINGS):
            theta = old + share * (new - old)
            if margins.keeps_of(self.controller, theta) or (unstable and violation(theta) < violation(old)):
                return share
            share *= 0.5
        return 0.0

    def _on_ensemble(self, pair: Array, plants: Sequence[Mapping[str, float]], seed: int) -> Comparison:
        fitness, shape = self.task.fitness, (len(plants), len(self.task.taught))
        task = self.task.on(plants, first=len(plants) + seed % 1000)
        quality = quality_of(task, self.controller, pair)
        value = fitness.per_situation(quality)
        error = quality.until_lost[fitness.error] if fitness.error in fitness.terms else None

        def sample(k: int) -> Sample:
            return Sample(
                value[:, k].reshape(shape),
                quality.until_lost["total_variation"][:, k].reshape(shape),
                quality.failed[:, k].reshape(shape),
                error=None if error is None else error[:, k].reshape(shape),
                error_name=fitness.error.upper(),
            )

        return compare(sample(1), sample(0), seed)


def _of_replay(replayed: ReplayRecord, seed: int) -> Comparison:
    def sample(k: int) -> Sample:
        columns = (each[:, [k]] for each in (replayed.iae, replayed.travel, replayed.lost))
        return Sample(*columns)

    return compare(sample(1), sample(0), seed)
