"""Fitness: one number for each candidate from its quality in all situations (minimised).

The default weighs the tracking error against the magnitude of the entropy production difference and, if wished,
actuator travel and effort, each relative to a reference value. The lexicographic kind puts stability and constraints
first, then the error, then entropy. Entropy alone is offered for reproduction of published work; it is ill-posed
(signed) or prefers not to move (magnitude).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.naming import unknown
from sscq import lexicographic
from sscq.quality import ALL_MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sscq.quality import Quality

KINDS = ("tracking_and_entropy", "lexicographic", "entropy_magnitude", "entropy_square", "entropy_signed")
ERRORS = ("iae", "itae", "ise")
AGGREGATES = ("mean", "mean_plus_std", "worst_share", "worst")
NARROWEST = 1e-4
"""Smallest tolerance of the lexicographic kind: a cell must be wide against rounding."""

_NO_TRAVEL = 1e-9  # a limit of 0 forbids all travel; the excess is counted in units of this
_NO_SATURATION = 1e-3  # the same for a limit of no time at the limits
_ROUNDING = 1e-9  # 7 % of 100 situations are 7, not 7.000000000000001
_CLEAR = 8.0  # the lexicographic number is bent from a quarter of the penalty on: survivors keep well below
_WIDE = 10.0  # widest ratio of bounds for which the signed entropy difference may still be meaningful


class FitnessWarning(UserWarning):
    """A fitness that is likely to choose a useless controller."""


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

    def __post_init__(self) -> None:
        """Check the choices."""
        for what, word, known in (
            ("fitness", self.kind, KINDS), ("error measure", self.error, ERRORS),
            ("aggregate", self.aggregate, AGGREGATES),
        ):  # fmt: skip
            if word not in known:
                raise ValueError(unknown(what, word, known))
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name in ("error_weight", "entropy_weight", "travel_weight", "effort_weight", "margin_weight", "kappa"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                message = f"fitness: {name} must be finite and not negative, got {value}"
                raise ValueError(message)
        if not 0.0 < self.share <= 1.0:
            message = f"fitness: share must be in (0, 1], got {self.share}"
            raise ValueError(message)
        if not NARROWEST <= self.tolerance <= 1.0:
            raise ValueError(f"fitness: tolerance must lie in [{NARROWEST:g}, 1], got {self.tolerance}")
        self._check_limits()

    def _check_limits(self) -> None:
        for name in ("diverged", "entropy_scale"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ValueError(f"fitness: {name} must be positive and finite, got {getattr(self, name)}")
        for name in ("travel_limit", "saturation_limit"):
            limit = getattr(self, name)
            if limit is not None and not (math.isfinite(limit) and limit >= 0.0):
                raise ValueError(f"fitness: {name} must be finite and not negative, got {limit}")
        for name, value in self.reference.items():
            if name not in ALL_MEASURES:
                raise ValueError(unknown("measure for the fitness to refer to", name, ALL_MEASURES))
            if not (math.isfinite(value) and value > 0.0):
                message = f"fitness: the reference value of {name!r} must be positive, got {value}"
                raise ValueError(message)

    def plain(self) -> dict[str, Any]:
        """Return all settings for a file; of the later ones those that do nothing here are left out.

        So files of other fitnesses stay as they were, and older programs read them.
        """
        left_out = {"tolerance": not self.lexicographic, "saturation_limit": self.saturation_limit is None}
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
        }
        return {name: weight for name, weight in weights.items() if weight > 0.0}

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures that an evaluation must give."""
        limits = (("total_variation", self.travel_limit), ("saturated_time", self.saturation_limit))
        return tuple(dict.fromkeys((*self.terms, *(name for name, limit in limits if limit is not None))))

    def per_situation(self, quality: Quality) -> np.ndarray:
        """Return the fitness of every candidate in every situation [situation, candidate]."""
        if self.lexicographic:
            lost_at, horizon = self._lost_at(quality), np.asarray(quality.t_end)[:, None]
            severity = np.where(np.isnan(lost_at), 0.0, 1.0 + (horizon - lost_at) / horizon)
            return lexicographic.combined(severity, self._cells(quality, _each), self.diverged)
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
            return lexicographic.combined(severity, self._cells(quality, self.combine), self.diverged)
        value = self.combine(self.per_situation(quality)) + self.margin_weight * np.asarray(margin_violation)
        if self.travel_limit is not None or self.saturation_limit is not None:
            # A small share of excess must cost more than it can gain, or the limit would be a suggestion.
            value = value + 2.0 * self._excess(quality) * np.abs(value)  # the signed difference may be negative
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
        violation = lexicographic.of_violation(np.asarray(margin_violation) + self._excess(quality))
        lost = lexicographic.of_divergence(self._lost_at(quality, measures), quality.t_end)
        return np.where(lost > 0.0, lost, violation)

    def _lost_at(self, quality: Quality, measures: Sequence[str] = ()) -> np.ndarray:
        """Times of divergence [situation, candidate]; 0 where a measure is not finite, NaN where nothing is amiss."""
        finite = np.ones(quality.diverged_at.shape, bool)
        for name in measures or self.terms:
            finite &= np.isfinite(quality.values[name])
        return np.where(finite | quality.failed, quality.diverged_at, 0.0)

    def _cells(self, quality: Quality, over: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Lexicographic number of error and entropy, both taken `over` the situations; 0 for what is not finite."""
        parts = []
        for name in self.terms:
            relative = quality.values[name] / self.reference.get(name, 1.0)
            parts.append(over(np.where(np.isfinite(relative), relative, 0.0)))
        return lexicographic.cells(parts[0], parts[1], self.tolerance)

    def _excess(self, quality: Quality) -> np.ndarray:
        """Excess of travel and of time at the limits [candidate], in shares of what is allowed."""
        excess = np.zeros(quality.diverged_at.shape[1])
        if self.travel_limit is not None:
            travel = quality.values["total_variation"].mean(axis=0)
            excess = np.maximum(0.0, travel / max(self.travel_limit, _NO_TRAVEL) - 1.0)
        if self.saturation_limit is not None:
            at_limit = (quality.values["saturated_time"] / np.asarray(quality.t_end)[:, None]).mean(axis=0)
            excess = excess + np.maximum(0.0, at_limit / max(self.saturation_limit, _NO_SATURATION) - 1.0)
        return excess

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
        values = {name: float(np.median(quality.values[name][:, alive].mean(axis=0))) for name in self.terms}
        return replace(self, reference={name: value for name, value in values.items() if value > 0.0})

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
            worst = float(self._cells(quality, _each)[:, alive].max())
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

    def warn(self, low: np.ndarray, high: np.ndarray) -> str | None:
        """Issue the warning, if there is one, as a :class:`FitnessWarning` and return it."""
        message = self.warning(low, high)
        if message:
            warnings.warn(message, FitnessWarning, stacklevel=2)
        return message


def _each(values: np.ndarray) -> np.ndarray:
    """Situations as they are."""
    return values
