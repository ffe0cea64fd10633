"""What the settings of a fitness may be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plants.core.naming import unknown
from sscq.quality import ALL_MEASURES

if TYPE_CHECKING:
    from sscq.fitness.definition import Fitness

KINDS = ("tracking_and_entropy", "lexicographic", "entropy_magnitude", "entropy_square", "entropy_signed")
ERRORS = ("iae", "itae", "ise")
AGGREGATES = ("mean", "mean_plus_std", "worst_share", "worst")
NARROWEST = 1e-4
"""Smallest tolerance of the lexicographic kind: a cell must be wide against rounding."""


def check(fitness: Fitness) -> None:
    """Raise ValueError where a setting is not what it may be."""
    for what, word, known in (
        ("fitness", fitness.kind, KINDS), ("error measure", fitness.error, ERRORS),
        ("aggregate", fitness.aggregate, AGGREGATES),
    ):  # fmt: skip
        if word not in known:
            raise ValueError(unknown(what, word, known))
    _check_numbers(fitness)
    _check_own(fitness)
    _check_limits(fitness)


def _check_numbers(fitness: Fitness) -> None:
    for name in ("error_weight", "entropy_weight", "travel_weight", "effort_weight", "margin_weight", "kappa"):
        value = getattr(fitness, name)
        if not (math.isfinite(value) and value >= 0.0):
            message = f"fitness: {name} must be finite and not negative, got {value}"
            raise ValueError(message)
    if not 0.0 < fitness.share <= 1.0:
        message = f"fitness: share must be in (0, 1], got {fitness.share}"
        raise ValueError(message)
    if not NARROWEST <= fitness.tolerance <= 1.0:
        raise ValueError(f"fitness: tolerance must lie in [{NARROWEST:g}, 1], got {fitness.tolerance}")


def _check_own(fitness: Fitness) -> None:
    for name, weight in fitness.own_measures.items():
        if name in ALL_MEASURES:
            raise ValueError(f"fitness: own_measures are the plant's; {name!r} is built in, with a setting of its own")
        if not (math.isfinite(weight) and weight >= 0.0):
            raise ValueError(f"fitness: own_measures.{name} must be finite and not negative, got {weight}")
    if any(fitness.own_measures.values()) and fitness.kind != KINDS[0]:
        raise ValueError(f"fitness: own_measures are weighed in kind {KINDS[0]!r} alone, got kind {fitness.kind!r}")


def _check_limits(fitness: Fitness) -> None:
    for name in ("diverged", "entropy_scale"):
        if not (math.isfinite(getattr(fitness, name)) and getattr(fitness, name) > 0.0):
            raise ValueError(f"fitness: {name} must be positive and finite, got {getattr(fitness, name)}")
    for name in ("travel_limit", "saturation_limit"):
        limit = getattr(fitness, name)
        if limit is not None and not (math.isfinite(limit) and limit >= 0.0):
            raise ValueError(f"fitness: {name} must be finite and not negative, got {limit}")
    for name, limit in fitness.own_limits.items():
        if name in ALL_MEASURES or not (math.isfinite(limit) and limit > 0.0):
            raise ValueError(f"fitness: own_limits: the plant's own measures, finite and above 0, got {name}: {limit}")
    for name, value in fitness.reference.items():
        known = (*ALL_MEASURES, *fitness.own_measures)
        if name not in known:
            raise ValueError(unknown("measure for the fitness to refer to", name, known))
        if not (math.isfinite(value) and value > 0.0):
            message = f"fitness: the reference value of {name!r} must be positive, got {value}"
            raise ValueError(message)
