"""Fewer rules against the closed loop's fitness: from the whole grid down to one rule, and where to stop.

Rule after rule the one goes that the taught situations miss least. Rules are switched by masks: all trials of a round
are one call of one kernel. Kept is the smallest base whose loss is allowed in the taught situations and in others that
no search has seen.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from sscq.baselines.objective import Objective
from sscq.margins.operating import SLACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controllers.protocols import Law
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from sscq.baselines.objective import Task
    from sscq.margins.scheduled_gains import ScheduleConstraint

    Evaluate = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class TradeOffPoint:
    """One base of the way down.

    Attributes
    ----------
    rules : int
        Rules that are on, of all channels.
    dropped : str
        Parameter name of the rule that went last ("on[N,Z]"), with common terms the first channel's of all that went;
        empty for the whole grid.
    taught : float
        Fitness in the taught situations.
    validation : float, optional
        Fitness in the validation situations, where there are any.
    """

    rules: int
    dropped: str
    taught: float
    validation: float | None = None


@dataclass(frozen=True)
class TradeOff:
    """Number of rules against fitness.

    Attributes
    ----------
    points : tuple of TradeOffPoint
        From all rules to one.
    chosen : int
        Place of the base that is kept.
    loss : float
        Relative loss that was allowed.
    importance : mapping of rule's parameter name to float
        Change of the fitness in the taught situations when this rule alone is switched off: of every rule that is kept
        against the kept ones, of the others against all.
    """

    points: tuple[TradeOffPoint, ...]
    chosen: int
    loss: float
    importance: Mapping[str, float]

    @property
    def kept(self) -> TradeOffPoint:
        """The base that is kept."""
        return self.points[self.chosen]

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the rules that went, the least important first."""
        return tuple(point.dropped for point in self.points[1 : self.chosen + 1])

    def losses(self, point: TradeOffPoint) -> tuple[float, float | None]:
        """Return the relative loss of a knowledge base against all rules: taught, validation (None: not judged)."""
        first = self.points[0]
        return relative_loss(point.taught, first.taught), _loss_or_none(point.validation, first.validation)

    def share_of(self, rule: str) -> float:
        """Return the importance of a rule as a share of the fitness of all rules; NaN for a rule that was off."""
        return self.importance.get(rule, float("nan")) / max(abs(self.points[0].taught), 1e-300)

    def sentence(self) -> str:
        """Return the choice in words: "9 rules of 25 at +0.4 %"."""
        taught, validation = self.losses(self.kept)
        judged = "" if validation is None else f" (validation {100.0 * validation:+.1f} %)"
        noun = "rule" if self.kept.rules == 1 else "rules"
        return f"{self.kept.rules} {noun} of {self.points[0].rules} at {100.0 * taught:+.1f} %{judged}"

    def document(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"importance": dict(self.importance), "points": [asdict(p) for p in self.points]}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> TradeOff:
        """Return the trade-off of :meth:`document`."""
        return cls(**{**document, "points": tuple(TradeOffPoint(**p) for p in document["points"])})


def relative_loss(value: float, before: float) -> float:
    """Return how much worse a fitness is, as a share of the magnitude before."""
    return (value - before) / max(abs(before), 1e-300)


def _loss_or_none(value: float | None, before: float | None) -> float | None:
    return None if value is None or before is None else relative_loss(value, before)


def prune(
    task: Task,
    kb: KnowledgeBase,
    *,
    laws: tuple[Law, ...] = (),
    loss: float = 0.005,
    most: int = 25,
    validation: Task | None = None,
    margins: ScheduleConstraint | None = None,
) -> tuple[KnowledgeBase, TradeOff]:
    """Switch off rules that the closed loop does not miss.

    Parameters
    ----------
    task : Task
        Taught situations and fitness: they say which rule goes next.
    kb : KnowledgeBase
    laws : tuple of laws, optional
        One per channel; left out, those of the knowledge base.
    loss : float
        Largest relative loss of fitness: in the taught situations against the best base of the way down, in the
        validation situations against all rules; see :func:`choose`.
    most : int
        Largest number of rules kept, times the number of channels; where no such base keeps to `loss`, the one with
        the smallest loss is kept.
    validation : Task, optional
        Situations that no search has seen; left out, the taught ones decide alone.
    margins : ScheduleConstraint, optional
        A base that does not keep them, because neighbours speak where a rule went, pays for that in its fitness.

    Returns
    -------
    kb : KnowledgeBase
        With the rules that are not kept switched off.
    curve : TradeOff

    Raises
    ------
    ValueError
        If no rule is on, or if the fitness of all rules is not finite.
    """
    controller = FuzzyController(kb, laws=laws)
    # An objective keeps off the limits by a share of them; here it is to be the limits themselves.
    objective = Objective(task, controller, margins=None if margins is None else margins.tightened(-SLACK))
    ways, rounds = _way_down(controller, objective)
    taught = [float(objective(controller.theta[None])[0]), *(float(min(values.values())) for values in rounds[:-1])]
    if not np.isfinite(taught[0]):
        raise ValueError(f"the closed loop with all rules needs a finite fitness, got {taught[0]}; refine them first")
    judged: list[float | None] = [None] * len(ways)
    if validation is not None:
        judged = Objective(validation, controller)(np.array([theta for _, theta in ways])).tolist()
    first, together = sum(len(base.active) for base in kb.channels), len(kb.channels) if kb.in_step else 1
    points = tuple(
        TradeOffPoint(first - k * together, name, value, other)
        for k, ((name, _), value, other) in enumerate(zip(ways, taught, judged, strict=True))
    )
    chosen = choose(points, loss, most * len(kb.channels))
    importance = {name: value - taught[0] for name, value in rounds[0].items()}
    importance |= {name: value - taught[chosen] for name, value in rounds[chosen].items()}
    return controller.with_theta(ways[chosen][1]), TradeOff(points, chosen, loss, importance)


def _way_down(
    controller: FuzzyController, evaluate: Evaluate
) -> tuple[list[tuple[str, np.ndarray]], list[dict[str, float]]]:
    """Every base with the rule that went last, and the fitness without each of its rules."""
    theta, names = controller.theta, controller.theta_names
    masks = _switches(controller)
    if not masks:
        raise ValueError("the knowledge base has no rule that is on; there is nothing to leave out")
    ways, rounds = [("", theta.copy())], []
    while True:
        trials = np.tile(theta, (len(masks), 1))
        for trial, mask in zip(trials, masks, strict=True):
            trial[list(mask)] = 0.0
        values = evaluate(trials)
        rounds.append({names[k]: float(value) for mask, value in zip(masks, values, strict=True) for k in mask})
        if len(masks) == 1:
            return ways, rounds
        gone = masks.pop(int(np.argmin(values)))
        theta[list(gone)] = 0.0
        ways.append((names[gone[0]], theta.copy()))


def _switches(controller: FuzzyController) -> list[tuple[int, ...]]:
    """Places in theta of the rules that are on, each by itself; with common terms a rule of all channels together."""
    theta, places = controller.theta, controller.schedule.layout.presence_places()
    if controller.kb.in_step:
        return [mask for mask in zip(*places, strict=True) if theta[mask[0]] > 0.5]
    return [(k,) for channel in places for k in channel if theta[k] > 0.5]


def choose(points: Sequence[TradeOffPoint], loss: float, most: int) -> int:
    """Return the place of the base with the fewest rules whose loss is allowed, else of that with the smallest loss.

    Taught, the loss counts from the best base of the way down: a grid that was searched with few evaluations has rules
    that do harm, and without them there is more to lose. Validation situations only have a veto against all rules.

    Parameters
    ----------
    points : sequence of TradeOffPoint
        From all rules on.
    loss : float
        Relative.
    most : int
        Rules that may be kept.
    """
    best, first = min(point.taught for point in points), points[0]

    def worst(point: TradeOffPoint) -> float:
        validation = _loss_or_none(point.validation, first.validation)
        return max(relative_loss(point.taught, best), -np.inf if validation is None else validation)

    small = [k for k, point in enumerate(points) if point.rules <= most]
    allowed = [k for k in small if worst(points[k]) <= loss]
    return max(allowed) if allowed else min(small, key=lambda k: (worst(points[k]), points[k].rules))
