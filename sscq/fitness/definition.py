"""Fitness: one number for each candidate from its quality in all situations (minimised).

The default weighs the tracking error against the magnitude of the entropy production difference and, if wished,
actuator travel, effort and measures of the plant's own, each relative to a reference value. The lexicographic kind puts
stability and constraints first, then the error, then entropy. Entropy alone is offered for reproduction of published
work; it is ill-posed (signed) or prefers not to move (magnitude).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq import lexicographic
from sscq.fitness import parts, relative
from sscq.fitness.checks import check
from sscq.fitness.warning import FitnessWarning, caution

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sscq.quality import Quality

_ROUNDING = 1e-9  # 7 % of 100 situations are 7, not 7.000000000000001


@dataclass(frozen=True)
class Fitness:
    """How quality becomes one number.

    Attributes
    ----------
    kind : {"tracking_and_entropy", "lexicographic", "entropy_magnitude", "entropy_square", "entropy_signed"}
        "lexicographic": stability, then margins and limits, then the tracking term, then entropy; no weights. How that
        is one number: :mod:`sscq.lexicographic`.
    error : {"iae", "itae", "ise"}
        The tracking term.
    error_weight, entropy_weight, travel_weight, effort_weight : float
        Of the tracking term, of the integral of |dS_u - dS_c|, of total variation and of effort.
    reference : mapping of measure to float
        Values that the terms are divided by; empty: raw weights.
    aggregate : {"mean", "mean_plus_std", "worst_share", "worst"}
        Over situations: mean, mean + kappa * standard deviation, mean of the worst share (conditional value at risk),
        or the worst one (minimax).
    kappa, share : float
    travel_limit : float, optional
        Largest mean total variation over the situations; more is penalised in proportion.
    saturation_limit : float, optional
        Largest share of the time with a command at its limit, mean over the situations; more is penalised likewise.
    own_measures : mapping of measure to float
        Weights of the plant's own measures (`Plant.measures`) in kind "tracking_and_entropy", terms like the others.
    own_limits : mapping of measure to float
        Largest values of the plant's own measures, means over the situations; more is penalised in proportion.
    limits_first : bool
        Whether a candidate that breaks a limit of the plant's own measures, or the margins, is worse by more than a
        fall at the end of every situation; else a rollout that survives may pay for a broken limit.
    tolerance : float
        Of the lexicographic kind: errors that differ by no more than this share may count as equal.
    diverged : float
        Penalty J of a rollout that diverges at the very end; one that diverges at once gets twice as much.
    margin_weight : float
        Of the violation of margins (a graded sum, see :mod:`sscq.margins`).
    entropy_scale : float
        Of the controller's entropy rate kd e'^2, where the command is no force on the output: see
        :mod:`sscq.entropy_scale`. It acts in the simulation.
    """

    kind: str = "tracking_and_entropy"
    error: str = "iae"
    error_weight: float = 1.0
    entropy_weight: float = 0.3
    travel_weight: float = 0.0
    effort_weight: float = 0.0
    reference: Mapping[str, float] = field(default_factory=dict)
    aggregate: str = "mean"
    kappa: float = 1.0
    share: float = 0.25
    travel_limit: float | None = None
    diverged: float = 1e3
    margin_weight: float = 10.0
    entropy_scale: float = 1.0
    saturation_limit: float | None = None
    tolerance: float = 0.05
    own_measures: Mapping[str, float] = field(default_factory=dict)
    own_limits: Mapping[str, float] = field(default_factory=dict)
    limits_first: bool = False

    def __post_init__(self) -> None:
        """Check the settings."""
        check(self)

    def plain(self) -> dict[str, Any]:
        """Return all settings for a file; of the later ones those that do nothing here are left out.

        So files of other fitnesses stay as they were, and older programs read them.
        """
        left_out = {
            "tolerance": not self.lexicographic,
            "saturation_limit": self.saturation_limit is None,
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
        limits = (("total_variation", self.travel_limit), ("saturated_time", self.saturation_limit))
        built_in = (name for name, limit in limits if limit is not None)
        return tuple(dict.fromkeys((*self.terms, *built_in, *self.own_limits)))

    def per_situation(self, quality: Quality) -> np.ndarray:
        """Return the fitness of every candidate in every situation [situation, candidate]."""
        if self.lexicographic:
            lost_at, horizon = parts.lost_at(self, quality), np.asarray(quality.t_end)[:, None]
            severity = np.where(np.isnan(lost_at), 0.0, 1.0 + (horizon - lost_at) / horizon)
            return lexicographic.combined(severity, parts.cells(self, quality), self.diverged)
        total = np.zeros(quality.diverged_at.shape)
        for name, weight in self.terms.items():
            total = total + (weight / self.reference.get(name, 1.0)) * quality.values[name]
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
            return lexicographic.combined(severity, parts.cells(self, quality, self.combine), self.diverged)
        value = self.combine(self.per_situation(quality)) + self.margin_weight * np.asarray(margin_violation)
        if self.travel_limit is not None or self.saturation_limit is not None or self.own_limits:
            # A small share of excess must cost more than it can gain, or the limit would be a suggestion.
            value = value + 2.0 * parts.excess(self, quality) * np.abs(value)  # the signed difference may be negative
        if self.limits_first:
            broken = parts.own_excess(self, quality) + np.asarray(margin_violation)
            value = value + np.where(broken > 0.0, self.diverged * (1.0 + broken), 0.0)
        return value

    def severity(
        self, quality: Quality, margin_violation: np.ndarray | float = 0.0, measures: Sequence[str] = ()
    ) -> np.ndarray:
        """Return how badly candidates fail [candidate]: 0 not at all, below 1 in constraints, 1 to 2 by divergence.

        Parameters
        ----------
        measures : sequence of str
            Rollouts in which one of them is not finite count as diverged at once; left out: the fitness's own.
        """
        violation = lexicographic.of_violation(np.asarray(margin_violation) + parts.excess(self, quality))
        lost = lexicographic.of_divergence(parts.lost_at(self, quality, measures), quality.t_end)
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
        return relative.normalised(self, quality, preferred)

    def above(self, quality: Quality) -> Fitness:
        """Return the fitness with penalties in the size of what survives, so that failing never pays.

        With raw weights a heavy plant's fitness may be a million. A divergence then costs at least twice the worst
        rollout of candidates that survive everything, and a violated margin as many of their medians as it costs where
        terms are relative; penalties are never lowered.
        """
        return relative.with_penalties(self, quality)

    def warning(self, low: np.ndarray, high: np.ndarray) -> str | None:
        """Return what is to be warned of where this fitness is known to choose badly within [low, high]."""
        return caution(self, low, high)

    def warn(self, low: np.ndarray, high: np.ndarray) -> str | None:
        """Issue the warning, if there is one, as a :class:`FitnessWarning` and return it."""
        message = self.warning(low, high)
        if message:
            warnings.warn(message, FitnessWarning, stacklevel=2)
        return message
