"""Fitness: one number for each candidate from its quality in all situations (minimised).

The default weighs the tracking error against the magnitude of the entropy production difference and, if wished,
actuator travel, effort and measures of the plant's own, each relative to a reference value. The lexicographic kind
puts stability and constraints first, then the error, then entropy. Entropy alone is offered for reproduction of
published work; it is ill-posed (signed) or prefers not to move (magnitude), and is warned of.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers.settings import check, setting
from plants.core.names import unknown
from sscq.fitness import lexicographic
from sscq.loop.quality import ALL_MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sscq.loop.quality import Quality

KINDS = ("tracking_and_entropy", "lexicographic", "entropy_magnitude", "entropy_square", "entropy_signed")
ERRORS = ("iae", "itae", "ise")
AGGREGATES = ("mean", "mean_plus_std", "worst_share", "worst")
NARROWEST = 1e-4
"""Smallest tolerance of the lexicographic kind: a cell must be wide against rounding."""
_CLEAR = 8.0  # the lexicographic number is bent from a quarter of the penalty on: survivors keep well below
# What excess over a limit costs, in shares of the fitness for each share of the limit: more than it can gain, or the
# limit would be a suggestion. With 2, schedules of a levitation took 7 % more travel, which gained them over 14 %.
_EXCESS = 10.0
_EXCESS_OF_ERROR = 2.0  # the error is mostly a term itself, and the search begins at the limit: a steep wall is no help
_WIDE = 10.0  # widest ratio of bounds for which the signed entropy difference may still be meaningful
_ROUNDING = 1e-9  # 7 % of 100 situations are 7, not 7.000000000000001


@dataclass(frozen=True)
class Fitness:
    """How quality becomes one number.

    The lexicographic kind compares stability, then margins and limits, then the tracking term, then entropy, without
    weights; how that is one number: :mod:`sscq.fitness.lexicographic`.

    Attributes
    ----------
    entropy_weight : float
        Of the integral of |dS_u - dS_c|.
    reference : mapping of measure to float
        Values that the terms are divided by; empty: raw weights.
    aggregate : {"mean", "mean_plus_std", "worst_share", "worst"}
        Mean, mean + kappa * standard deviation, mean of the worst share (conditional value at risk), or the worst one.
    travel_limit, error_limit, saturation_limit : float, optional
        More of these means is penalised in proportion, and so is more than `own_limits`.
    own_measures : mapping of measure to float
        In kind "tracking_and_entropy", terms like the others.
    limits_first : bool
        Whether a candidate that breaks a limit of the plant's own measures, or the margins, is worse by more than a
        fall at the end of every situation; else a rollout that survives may pay for a broken limit.
    diverged : float
        Penalty J of a rollout that diverges at the very end; one that diverges at once gets twice as much.
    margin_weight : float
        Of the violation of margins (a graded sum, see :mod:`sscq.margins.margins`).
    entropy_scale : float
        Of the controller's entropy rate kd e'^2, where the command is no force on the output: see
        :mod:`sscq.baselines.survey`. It acts in the simulation.

    Raises
    ------
    ValueError
        For a setting outside its range, or a measure that is not the plant's own.
    """

    kind: str = setting(
        "tracking_and_entropy",
        "criterion; lexicographic: stability and constraints, then error, then entropy",
        choices=KINDS,
    )
    error: str = setting("iae", "tracking term", choices=ERRORS)
    error_weight: float = setting(1.0, "weight of the tracking term", low=0, advanced=True)
    entropy_weight: float = setting(0.3, "weight of the entropy production difference's magnitude", low=0)
    travel_weight: float = setting(0.0, "weight of the actuator's travel (total variation)", low=0)
    effort_weight: float = setting(0.0, "weight of the control effort", low=0)
    reference: Mapping[str, float] = field(default_factory=dict)
    aggregate: str = setting("mean", "over situations; worst: minimax", choices=AGGREGATES)
    kappa: float = setting(1.0, "weight of the standard deviation in mean_plus_std", low=0, advanced=True)
    share: float = setting(0.25, "share of the situations in worst_share", above=0, high=1)
    travel_limit: float | None = setting(None, "largest mean actuator travel; null: free", low=0)
    error_limit: float | None = setting(None, "largest mean of the tracking term; null: free", above=0)
    diverged: float = setting(1e3, "penalty of a rollout that diverges", above=0)
    margin_weight: float = setting(10.0, "weight of the violation of margins", low=0)
    entropy_scale: float = setting(1.0, "factor on the controller's entropy rate", above=0)
    saturation_limit: float | None = setting(
        None, "largest mean share of the time with a command at its limit; null: free", low=0, high=1
    )
    tolerance: float = setting(
        0.05, "lexicographic: errors that differ by no more than this share may count as equal", low=NARROWEST, high=1
    )
    own_measures: Mapping[str, float] = setting(
        dict, "weights of the plant's own measures by name, such as {ride_comfort: 1.0}; see the plant's card"
    )
    own_limits: Mapping[str, float] = setting(
        dict,
        "largest means of the plant's own measures by name, when taught; elsewhere what they are with the fixed PID",
    )
    limits_first: bool = setting(
        False,
        "what breaks own_limits or the margins is worse than what keeps them and fails; false: they are weighed with "
        "failures",
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        check(self, "fitness")
        _check_names(self)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the weights and limits of the plant's own measures, and with the kind for them."""
        for name, weight in self.own_measures.items():
            if not (math.isfinite(weight) and weight >= 0.0):
                yield f"own_measures: the weight of {name!r} must be finite and at least 0, got {weight}"
        for name, limit in self.own_limits.items():
            if not (math.isfinite(limit) and limit > 0.0):
                yield f"own_limits: the limit of {name!r} must be finite and above 0, got {limit}"
        if any(self.own_measures.values()) and self.kind != "tracking_and_entropy":
            yield f"own_measures are weighed in kind=tracking_and_entropy alone, got kind={self.kind}"

    def plain(self) -> dict[str, Any]:
        """Return all settings for a file; of the later ones those that do nothing here are left out.

        So files of other fitnesses stay as they were, and older programs read them.
        """
        left_out = {
            "tolerance": not self.lexicographic,
            "saturation_limit": self.saturation_limit is None,
            "error_limit": self.error_limit is None,
            "own_measures": not self.own_measures,
            "own_limits": not self.own_limits,
            "limits_first": not self.limits_first,
        }
        return {name: value for name, value in asdict(self).items() if not left_out.get(name, False)}

    @property
    def lexicographic(self) -> bool:
        """Whether levels are compared one after the other, not weighed."""
        return self.kind == "lexicographic"

    @property
    def terms(self) -> dict[str, float]:
        """Measures that enter, with their weights."""
        if self.lexicographic:
            return {self.error: 1.0, "entropy_difference_abs": self.tolerance}
        if self.kind != "tracking_and_entropy":
            name = {"entropy_magnitude": "entropy_difference_abs", "entropy_square": "entropy_difference_square",
                    "entropy_signed": "entropy_difference"}[self.kind]  # fmt: skip
            return {name: 1.0}
        weights = {
            self.error: self.error_weight,
            "entropy_difference_abs": self.entropy_weight,
            "total_variation": self.travel_weight,
            "effort": self.effort_weight,
            **self.own_measures,
        }
        return {name: weight for name, weight in weights.items() if weight > 0.0}

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures that an evaluation must give."""
        at_limits = ("saturated_time",) if self.saturation_limit is not None else ()
        return tuple(dict.fromkeys((*self.terms, *self.largest_means, *at_limits, *self.own_limits)))

    @property
    def largest_means(self) -> dict[str, tuple[float, float]]:
        """Limits on means of built-in measures, and what an excess of them costs; not that on the time at limits."""
        limits = {
            "total_variation": (self.travel_limit, _EXCESS),
            self.error: (self.error_limit, _EXCESS_OF_ERROR),
        }
        return {name: (max(limit, _NOTHING), price) for name, (limit, price) in limits.items() if limit is not None}

    def per_situation(self, quality: Quality) -> np.ndarray:
        """Return the fitness of every candidate in every situation [situation, candidate]."""
        if self.lexicographic:
            lost_at, horizon = divergence_times(self, quality), np.asarray(quality.t_end)[:, None]
            severity = np.where(np.isnan(lost_at), 0.0, 1.0 + (horizon - lost_at) / horizon)
            return lexicographic.combined(severity, lexicographic_cells(self, quality), self.diverged)
        total = np.zeros(quality.diverged_at.shape)
        for name, weight in self.terms.items():
            total = total + (weight / self.reference.get(name, 1.0)) * quality.until_lost[name]
        horizon = np.asarray(quality.t_end)[:, None]
        graded = self.diverged * (1.0 + (horizon - quality.diverged_at) / horizon)
        return np.where(quality.failed, graded, np.where(np.isfinite(total), total, 2.0 * self.diverged))

    def combine(self, each: np.ndarray) -> np.ndarray:
        """Return one number per candidate [candidate] from those per situation [situation, candidate]."""
        if self.aggregate == "mean":
            return each.mean(axis=0)
        if self.aggregate == "mean_plus_std":
            return each.mean(axis=0) + self.kappa * each.std(axis=0)
        if self.aggregate == "worst":
            return each.max(axis=0)
        count = max(1, math.ceil(self.share * len(each) - _ROUNDING))
        return np.sort(each, axis=0)[-count:].mean(axis=0)

    def __call__(self, quality: Quality, margin_violation: np.ndarray | float = 0.0) -> np.ndarray:
        """Return the fitness of every candidate [candidate], margins and limits included."""
        if self.lexicographic:
            severity = self.severity(quality, margin_violation)
            return lexicographic.combined(severity, lexicographic_cells(self, quality, self.combine), self.diverged)
        value = self.combine(self.per_situation(quality)) + self.margin_weight * np.asarray(margin_violation)
        if self.largest_means or self.saturation_limit is not None or self.own_limits:
            # the signed difference may be negative
            value = value + limit_costs(self, quality) * np.abs(value)
        if self.limits_first:
            broken = own_excess(self, quality) + np.asarray(margin_violation)
            value = value + np.where(broken > 0.0, self.diverged * (1.0 + broken), 0.0)
        return value

    @property
    def smooth(self) -> bool:
        """Whether it has slopes with respect to the built-in measures: no order of levels, no measures of a plant."""
        return not (self.lexicographic or self.own_measures or self.own_limits)

    def weights(
        self, quality: Quality, margin_violation: np.ndarray | float = 0.0
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Return the fitness's slopes: by measure [situation, candidate], and by the violation of margins [candidate].

        Rollouts that are lost count nothing, and neither does the time at a limit, which moves in steps.
        """
        each = self.per_situation(quality)
        value = self.combine(each) + self.margin_weight * np.asarray(margin_violation)
        share = 1.0 + limit_costs(self, quality) * np.sign(value)
        shares = np.where(quality.failed, 0.0, self._shares(each)) * share
        found = {name: shares * (weight / self.reference.get(name, 1.0)) for name, weight in self.terms.items()}
        for name, (limit, price) in self.largest_means.items():
            beyond = quality.until_lost[name].mean(axis=0) > limit
            more = np.where(beyond & ~quality.failed, price * np.abs(value) / (limit * len(each)), 0.0)
            found[name] = found.get(name, 0.0) + more
        return found, np.asarray(self.margin_weight * share)

    def _shares(self, each: np.ndarray) -> np.ndarray:
        """Slopes of the combined value with respect to those of the situations [situation, candidate]."""
        n = len(each)
        if self.aggregate == "mean":
            return np.full(each.shape, 1.0 / n)
        if self.aggregate == "mean_plus_std":
            away, deviation = each - each.mean(axis=0), each.std(axis=0)
            return 1.0 / n + self.kappa * away / (n * np.where(deviation > 0.0, deviation, np.inf))
        count = 1 if self.aggregate == "worst" else max(1, math.ceil(self.share * n - _ROUNDING))
        rank = np.argsort(np.argsort(-each, axis=0, kind="stable"), axis=0, kind="stable")
        return np.where(rank < count, 1.0 / count, 0.0)

    def severity(
        self, quality: Quality, margin_violation: np.ndarray | float = 0.0, measures: Sequence[str] = ()
    ) -> np.ndarray:
        """Return how badly candidates fail [candidate]: 0 not at all, below 1 in constraints, 1 to 2 by divergence.

        Parameters
        ----------
        measures : sequence of str
            Rollouts in which one of them is not finite count as diverged at once; left out: the fitness's own.
        """
        excess = limit_excess(self, quality)
        # Fixed gains have their own travel for a limit: in another kernel the last digit must not put them behind it.
        excess = np.where(excess > _ROUNDING, excess, 0.0)
        violation = lexicographic.of_violation(np.asarray(margin_violation) + excess)
        lost = lexicographic.of_divergence(divergence_times(self, quality, measures), quality.t_end)
        return np.where(lost > 0.0, lost, violation)

    def normalised_by(self, quality: Quality, preferred: np.ndarray | None = None) -> Fitness:
        """Return the fitness with references from the medians over candidates that survive all situations.

        Parameters
        ----------
        quality : Quality
            Of candidates such as random gains.
        preferred : ndarray of bool [candidate], optional
            Candidates that are worth comparing with (the user's gains, or those that keep the margins); used where
            any of them survives.

        Raises
        ------
        ValueError
            If nothing survives, so that there is nothing to compare with.
        """
        alive = ~quality.failed.any(axis=0)
        if preferred is not None and (alive & preferred).any():
            alive &= preferred
        if not alive.any():
            message = (
                "no gains of the reference survive all situations, so the fitness has nothing to refer to; "
                "give reference gains that stabilise the plant, or tighten the gain bounds"
            )
            raise ValueError(message)
        values = {name: float(np.median(quality.until_lost[name][:, alive].mean(axis=0))) for name in self.terms}
        # Of half of the sample a measure of the plant may be 0 (time beyond a limit): what counts as large stands in.
        own = {name: value for name, value in self.reference.items() if name in self.own_measures}
        return replace(self, reference=own | {name: value for name, value in values.items() if value > 0.0})

    def above(self, quality: Quality) -> Fitness:
        """Return the fitness with penalties in the size of what survives, so that failing never pays.

        With raw weights a heavy plant's fitness may be a million. A divergence then costs at least twice the worst
        rollout of candidates that survive everything, and a violated margin as many of their medians as it costs where
        terms are relative; penalties are never lowered.
        """
        alive = ~quality.failed.any(axis=0)
        if not alive.any():
            return self
        if self.lexicographic:
            worst = float(lexicographic_cells(self, quality)[:, alive].max())
            return replace(self, diverged=max(self.diverged, _CLEAR * worst))
        values = np.abs(self.per_situation(quality)[:, alive])
        usual = float(np.median(values.mean(axis=0)))
        return replace(
            self,
            diverged=max(self.diverged, 2.0 * float(values.max())),
            margin_weight=self.margin_weight * max(1.0, usual),
        )

    def warning(self, low: np.ndarray, high: np.ndarray) -> str | None:
        """Return what is to be warned of where this fitness is known to choose badly within [low, high]."""
        low, high = np.asarray(low, float), np.asarray(high, float)
        if self.kind == "entropy_signed" and (high > _WIDE * np.maximum(low, 1e-12)).any():
            return (
                "the signed entropy difference is ill-posed within wide gain bounds: it rewards an unstable loop kept "
                "in a saturated oscillation. Use the default fitness, or narrow bounds around known gains"
            )
        if self.kind in {"entropy_magnitude", "entropy_square"}:
            return (
                "entropy production alone prefers not to move: the error is left where it is. "
                "Use the default fitness, which weighs it against the tracking error"
            )
        return None


def _check_names(fitness: Fitness) -> None:
    """Raise ValueError where a measure is named that is not the plant's own, or that a fitness cannot refer to."""
    for what in ("own_measures", "own_limits"):
        for name in getattr(fitness, what):
            if name in ALL_MEASURES:
                raise ValueError(
                    f"fitness: {what} are the plant's; {name!r} is built in. Built-in measures are weighed by "
                    "error_weight, entropy_weight, travel_weight and effort_weight; docs/guide/extending.md says how "
                    "to weigh another one"
                )
    for name, value in fitness.reference.items():
        known = (*ALL_MEASURES, *fitness.own_measures)
        if name not in known:
            raise ValueError(unknown("measure for the fitness to refer to", name, known))
        if not (math.isfinite(value) and value > 0.0):
            message = f"fitness: the reference value of {name!r} must be positive, got {value}"
            raise ValueError(message)


_NOTHING = 1e-9  # a limit of 0 forbids all travel; the excess is counted in units of this
_NO_SATURATION = 1e-3  # the same for a limit of no time at the limits


def divergence_times(fitness: Fitness, quality: Quality, measures: Sequence[str] = ()) -> np.ndarray:
    """Times of divergence [situation, candidate]; 0 where a measure is not finite, NaN where nothing is amiss."""
    finite = np.ones(quality.diverged_at.shape, bool)
    for name in measures or fitness.terms:
        finite &= np.isfinite(quality.until_lost[name])
    return np.where(finite | quality.failed, quality.diverged_at, 0.0)


def lexicographic_cells(
    fitness: Fitness, quality: Quality, over: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray:
    """Lexicographic number of error and entropy, both `over` the situations if asked; not finite is 0."""
    parts = []
    for name in fitness.terms:
        relative = quality.until_lost[name] / fitness.reference.get(name, 1.0)
        finite = np.where(np.isfinite(relative), relative, 0.0)
        parts.append(finite if over is None else over(finite))
    return lexicographic.cells(parts[0], parts[1], fitness.tolerance)


def limit_excess(fitness: Fitness, quality: Quality) -> np.ndarray:
    """Excess of travel, error, time at the limits and limited measures [candidate], in shares of what is allowed."""
    return sum((excess for excess, _ in _excesses(fitness, quality)), np.zeros(quality.diverged_at.shape[1]))


def limit_costs(fitness: Fitness, quality: Quality) -> np.ndarray:
    """What the excesses cost [candidate], in shares of the fitness."""
    costs = (price * excess for excess, price in _excesses(fitness, quality))
    return sum(costs, np.zeros(quality.diverged_at.shape[1]))


def _excesses(fitness: Fitness, quality: Quality) -> Iterator[tuple[np.ndarray, float]]:
    """Every excess [candidate], in shares of what is allowed, and its price."""
    for name, (limit, price) in fitness.largest_means.items():
        yield np.maximum(0.0, quality.until_lost[name].mean(axis=0) / limit - 1.0), price
    if fitness.saturation_limit is not None:
        at_limit = (quality.until_lost["saturated_time"] / np.asarray(quality.t_end)[:, None]).mean(axis=0)
        yield np.maximum(0.0, at_limit / max(fitness.saturation_limit, _NO_SATURATION) - 1.0), _EXCESS
    yield own_excess(fitness, quality), _EXCESS


def own_excess(fitness: Fitness, quality: Quality) -> np.ndarray:
    """Excess of the plant's own limited measures [candidate], in shares of what is allowed."""
    found = np.zeros(quality.diverged_at.shape[1])
    for name, limit in fitness.own_limits.items():
        beyond = np.maximum(0.0, quality.until_lost[name].mean(axis=0) / limit - 1.0)
        found = found + np.where(np.isfinite(beyond), beyond, fitness.diverged)  # what is lost keeps no limit
    return found
