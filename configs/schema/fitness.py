"""Settings of what the search minimises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class FitnessConfig:
    """What the search minimises; fields as in `sscq.Fitness`."""

    kind: str = setting(
        "tracking_and_entropy",
        "criterion; lexicographic: stability and constraints, then error, then entropy",
        choices=("tracking_and_entropy", "lexicographic", "entropy_magnitude", "entropy_square", "entropy_signed"),
    )
    tolerance: float = setting(
        0.05, "lexicographic: errors that differ by no more than this share may count as equal", low=1e-4, high=1
    )
    error: str = setting("iae", "tracking term", choices=("iae", "itae", "ise"))
    error_weight: float = setting(1.0, "weight of the tracking term", low=0)
    entropy_weight: float = setting(0.3, "weight of the entropy production difference's magnitude", low=0)
    travel_weight: float = setting(0.0, "weight of the actuator's travel (total variation)", low=0)
    effort_weight: float = setting(0.0, "weight of the control effort", low=0)
    own_measures: dict[str, float] = setting(
        dict, "weights of the plant's own measures by name, such as {ride_comfort: 1.0}; see the plant's card"
    )
    own_limits: dict[str, float] = setting(
        dict,
        "largest means of the plant's own measures by name, when taught; elsewhere what they are with the fixed PID",
    )
    limits_first: bool = setting(
        False,
        "what breaks own_limits or the margins is worse than what keeps them and fails; false: they are weighed with "
        "failures",
    )
    relative: bool = setting(True, "divide each term by the reference controller's")
    aggregate: str = setting(
        "mean", "over situations; worst: minimax", choices=("mean", "mean_plus_std", "worst_share", "worst")
    )
    kappa: float = setting(1.0, "weight of the standard deviation in mean_plus_std", low=0)
    share: float = setting(0.25, "share of the situations in worst_share", above=0, high=1)
    travel_share: float = setting(
        0.95, "actuator travel that schedules may have when taught, as a share of the fixed PID's", above=0
    )
    travel_limit: float | None = setting(None, "largest mean actuator travel; null: free", above=0)
    saturation_limit: float | None = setting(
        None, "largest mean share of the time with a command at its limit; null: free", low=0, high=1
    )
    max_sensitivity: float | None = setting(1.8, "largest Ms at the operating points; null: no margins asked", above=1)
    margins_of: str = setting(
        "taught",
        "which plants and delays keep the margins: those of all taught situations, or of the first one alone",
        choices=("taught", "first"),
    )
    min_delay_margin: float = setting(0.0, "smallest delay margin at the operating points", unit="s", low=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        for name, weight in self.own_measures.items():
            if not (math.isfinite(weight) and weight >= 0.0):
                yield f"own_measures: the weight of {name!r} must be finite and at least 0, got {weight}"
        for name, limit in self.own_limits.items():
            if not (math.isfinite(limit) and limit > 0.0):
                yield f"own_limits: the limit of {name!r} must be finite and above 0, got {limit}"
        if any(self.own_measures.values()) and self.kind != "tracking_and_entropy":
            yield f"own_measures are weighed in kind=tracking_and_entropy alone, got kind={self.kind}"
        if self.max_sensitivity is None and self.min_delay_margin > 0.0:
            yield (
                f"min_delay_margin = {self.min_delay_margin} s is kept together with max_sensitivity, which is null; "
                "give one, if a generous one such as 10"
            )
