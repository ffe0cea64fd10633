"""What a search minimises: the fitness of a kind of controller over situations, with margins as a constraint.

A search for a trade-off front minimises several measures at once in place of one fitness.
"""

from __future__ import annotations

import hashlib
import warnings
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants import LoopGainWarning
from plants.core.tracing.calls import called
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import all_measures
from sscq.loop.slopes import LoopSlopes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants import Plant
    from sscq.baselines.candidates import Candidate
    from sscq.fitness import Fitness
    from sscq.loop.quality import Quality
    from sscq.margins.scheduled_gains import Focus, ScheduleConstraint
    from sscq.situations.situation import Situation


@dataclass(frozen=True)
class Task:
    """A design task: the plant, what it is judged on, and how it is simulated.

    Attributes
    ----------
    plant : Plant
    situations : tuple of Situation
    fitness : Fitness
    step : float
        Integration step [s].
    options : mapping
        Integrator and loop mode.
    threads : int, optional
    device : str
        Where searches and surveys run their loops, as for :func:`sscq.evaluate`; slopes come from the CPU.
    """

    plant: Plant
    situations: tuple[Situation, ...]
    fitness: Fitness
    step: float
    options: dict[str, Any] = field(default_factory=dict)
    threads: int | None = None
    device: str = "cpu"

    def loop(self, controller: Any, measures: Sequence[str] | None = None) -> ClosedLoop:
        """Return the compiled closed loop with a controller."""
        wanted = self.fitness.measures if measures is None else measures
        return ClosedLoop(
            self.plant, controller, self.situations, self.step, measures=wanted,
            entropy_scale=self.fitness.entropy_scale, device=self.device, **self.options,
        )  # fmt: skip

    def quality(self, controller: Any, theta: np.ndarray) -> Quality:
        """Return all measures of candidates [n, n_theta]."""
        return self.loop(controller, all_measures(self.plant)).evaluate(np.atleast_2d(theta), self.threads)

    def on(self, situations: Sequence[Situation]) -> Task:
        """Return the same task in other situations."""
        return replace(self, situations=tuple(situations))


class Objective:
    """Genomes to fitness, one compiled call for all.

    Parameters
    ----------
    task : Task
    controller : Controller, law or tuple of laws
    decode : callable, optional
        Genomes [n, n_genes] to schedule parameters [n, n_theta]; left out, they are the same.
    margins : ScheduleConstraint, optional
        Constraint; left out: none.
    measures : sequence of str, optional
        What the simulation accumulates; left out: what the fitness needs.
    """

    def __init__(
        self,
        task: Task,
        controller: Any,
        decode: Callable[[np.ndarray], np.ndarray] | None = None,
        margins: ScheduleConstraint | None = None,
        measures: Sequence[str] | None = None,
    ) -> None:
        self.task, self.controller, self.margins = task, controller, margins
        self.loop = self._declared = task.loop(controller, measures)
        self.decode = decode or _same
        self.evaluations, self._warned = 0, False
        self._focus: Focus | None = None
        self._steps, self._steps_of = 0, 0

    def _quality(self, theta: np.ndarray) -> Quality:
        """Evaluate; a loop gain that is too large is told once in a search, not in every generation."""
        with warnings.catch_warnings():
            if self._warned:
                warnings.simplefilter("ignore", LoopGainWarning)
            quality = self.loop.evaluate(theta, self.task.threads)
        self._warned |= quality.loop_gain is not None and bool((quality.loop_gain >= 1.0).any())
        return quality

    def problem(self, name: str) -> str:
        """Return a digest of what is searched: checkpoints of another problem must not be gone on from."""
        text = "\n".join([name, self.loop.kernel.text, repr(self.task.fitness), repr(self.task.situations)])
        return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def renew(self, generation: int) -> None:
        """Draw other noise for the generations from this one on; all candidates of a generation see the same."""
        self.loop = self._declared.repeated(generation)

    def judged(self, genomes: np.ndarray) -> tuple[Quality, Any]:
        """Return the quality of genomes [n, n_genes] and by how much they violate the margins [n]."""
        theta = np.ascontiguousarray(self.decode(np.asarray(genomes, float)))
        self.evaluations += len(theta)
        quality = self._quality(theta)
        if self.margins is None:
            return quality, 0.0
        return quality, self.margins.violation_of(self.controller, theta, self.task.threads)

    def __call__(self, genomes: np.ndarray) -> np.ndarray:
        """Return the fitness [n] of genomes [n, n_genes]."""
        return self.task.fitness(*self.judged(genomes))

    def violation(self, genomes: np.ndarray) -> np.ndarray:
        """Return by how much genomes [n, n_genes] violate the margins [n], seen closely; 0 where none are asked."""
        if self.margins is None:
            return np.zeros(len(genomes))
        theta = np.ascontiguousarray(self.decode(np.asarray(genomes, float)))
        return self.margins.violation_of(self.controller, theta, self.task.threads, count=self.margins.watched)

    def stricter(self, factor: float) -> Objective:
        """Return the same with a violation of the margins that costs so many times as much."""
        other = copy(self)
        fitness = self.task.fitness
        other.task = replace(self.task, fitness=replace(fitness, margin_weight=factor * fitness.margin_weight))
        return other

    @cached_property
    def _way_back(self) -> LoopSlopes | None:
        """The loop run backwards; None where it, or the fitness, has no slopes.

        Nor where the plant calls a function as it stands: its slopes are difference quotients, which call it so often
        that a gradient would cost ten rollouts and more in place of four.
        """
        if not self.task.fitness.smooth or called(self.loop.kernel.text):
            return None
        try:
            return LoopSlopes(self.loop)
        except ValueError:
            return None

    @property
    def smooth(self) -> bool:
        """Whether :meth:`slopes` are known."""
        return self._way_back is not None

    def slopes(self, genomes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the fitness [n] and its slopes [n, n_genes] of genomes [n, n_genes].

        Through the loop they are exact; through the margins, where these are violated, they are differences. Rollouts
        that are lost have none. The margins of a schedule in passing are seen where they were worst some calls ago:
        genomes are taken to move in small steps from call to call.
        """
        assert self._way_back is not None  # noqa: S101  (who asks has looked; for the type checker)
        genomes = np.asarray(genomes, float)
        theta = np.ascontiguousarray(self.decode(genomes))
        self.evaluations += len(theta)
        violation = self._nearly(theta)
        fitness, through_loop, of_margins = self._valued(theta, violation)
        ahead = genomes[:, None, :] + np.eye(genomes.shape[1]) * _nudges(genomes)[:, None, :]
        moved = self.decode(ahead.reshape(-1, genomes.shape[1])).reshape(*ahead.shape[:2], -1) - theta[:, None, :]
        jacobian = moved / _nudges(genomes)[..., None]  # [candidate, gene, parameter]
        found = np.einsum("cgp,cp->cg", jacobian, through_loop)
        return fitness, found + self._margin_slopes(theta, ahead, violation, of_margins, genomes)

    def _valued(self, theta: np.ndarray, violation: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fitness [n], its slopes through the loop [n, n_theta], and what a violation of the margins costs [n]."""
        assert self._way_back is not None  # noqa: S101  (for the type checker)
        quality, fitness = self._quality(theta), self.task.fitness
        weights, of_margins = fitness.weights(quality, violation)
        _, each = self._way_back.evaluate(theta, weights, self.task.threads)
        return fitness(quality, violation), each.sum(axis=0), of_margins

    def _nearly(self, theta: np.ndarray) -> Any:
        """Violation of the margins [n] with a focus, which every few steps is made anew."""
        if self.margins is None:
            return 0.0
        if self._steps % _REFOCUS == 0 or len(theta) != self._steps_of:
            self._focus = self.margins.focus(self.controller, theta, self.task.threads)
            self._steps, self._steps_of = 0, len(theta)
        self._steps += 1
        return self.margins.violation_of(self.controller, theta, self.task.threads, self._focus)

    def _margin_slopes(
        self, theta: np.ndarray, ahead: np.ndarray, violation: Any, weight: np.ndarray, genomes: np.ndarray
    ) -> np.ndarray:
        """Slopes of the margins' part [candidate, gene]: differences, where they are violated."""
        found = np.zeros(genomes.shape)
        if self.margins is None:
            return found
        broken = np.flatnonzero(violation > 0.0)
        if len(broken):
            moved = self.decode(ahead[broken].reshape(-1, genomes.shape[1])).reshape(len(broken), genomes.shape[1], -1)
            focus = None if self._focus is None else self._focus.repeated(broken, 1)
            nudges = _nudges(genomes)[broken]
            slopes = self.margins.violation_slopes(
                self.controller, theta[broken], moved, nudges, self.task.threads, focus
            )
            found[broken] = weight[broken, None] * slopes
        return found


_REFOCUS = 10  # calls for slopes
_NUDGE = 1e-6  # of a gene's size: half of the digits


def _nudges(genomes: np.ndarray) -> np.ndarray:
    return _NUDGE * np.maximum(np.abs(genomes), 1e-3)


def _same(genomes: np.ndarray) -> np.ndarray:
    return genomes


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
    margins : ScheduleConstraint, optional
        Constraint; left out: none.
    limits : mapping of objective to float, optional
        Largest values that are still of use; more violates a constraint.
    """

    def __init__(
        self,
        task: Task,
        candidate: Candidate,
        objectives: tuple[str, ...],
        margins: ScheduleConstraint | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> None:
        self.objectives, self.limits = objectives, dict(limits or {})
        self._names = tuple(measure_of(name, task.fitness) for name in objectives)
        super().__init__(
            task, candidate.controller, candidate.decode, margins,
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
            values = {
                k: fitness.combine(quality.until_lost[m]) for k, m in zip(self.objectives, self._names, strict=True)
            }
            for name, limit in self.limits.items():
                violation = violation + np.maximum(0.0, values[name] / limit - 1.0)
            severity = fitness.severity(quality, violation, self._names)
        return np.column_stack([severity, *values.values()])
