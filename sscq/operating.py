"""Margins at a plant's operating points: the constraint of a search, and what a report says of frozen gains."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.frozen_channels import frozen_channels
from sscq.loop_spec import LoopSpec
from sscq.margins import LoopMargins, MarginLimits, Margins, hull_samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.situation import Situation

HULL_SAMPLES = 16
SLACK = 0.02  # of the limits: what a check after the search may miss them by
_MEAN_SHARE = 0.1  # of the mean violation beside the worst: a slope for gain sets that are not the worst


class OperatingMargins:
    """Frequency responses of every channel at every operating point of every taught plant.

    Each channel's loop is opened in turn; the others are closed with their own gains of the same gain set, so what is
    proved of a set holds for that set, frozen, about these points. Changes in several loops at once are not covered.

    Parameters
    ----------
    plant, controller, situations, step
        As for a closed loop; the situations' parameters and delays say which plants are meant.
    low, high : array [n_gains]
        Box of the gains.
    limits : MarginLimits
    """

    def __init__(
        self,
        plant: Plant,
        controller: Any,
        situations: Sequence[Situation],
        step: float,
        low: Sequence[float],
        high: Sequence[float],
        limits: MarginLimits,
    ) -> None:
        if not plant.operating_points:
            message = (
                f"plant {plant.name!r} declares no operating points, so margins cannot be computed; "
                "declare operating_points, or switch the margin constraint off"
            )
            raise ValueError(message)
        self.plant, self.limits, self.spec = plant, limits, LoopSpec(plant, controller, situations, step)
        self.channels = frozen_channels(self.spec, low, high)

    def violation(self, gains: np.ndarray, threads: int | None = 1) -> np.ndarray:
        """Return the graded violation of the limits [n] for gain sets [n, n_sets, n_gains] that a schedule may give.

        The result does not depend on the number of threads (None: all processors).
        """
        total = np.zeros(len(gains))
        for each in self.channels.penalty(gains, self.limits, threads):
            total += each.max(axis=-1) + _MEAN_SHARE * each.mean(axis=-1)
        return total

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains] at every operating point."""
        return self.channels.margins(np.atleast_2d(gains))

    def worst(self, gains: np.ndarray) -> tuple[Margins, ...]:
        """Return the worst margins of each channel over gain sets [n_sets, n_gains] and operating points."""
        return tuple(found.worst() for found in self.margins(gains))

    def keeps(self, gains: np.ndarray) -> bool:
        """Return whether gain sets [n_sets, n_gains] keep the limits at all points, up to `SLACK`.

        The best gains lie on the limit itself, so a fresh sample of a hull that contains them must be allowed to miss
        it by as much as the frequency grid and the curvature of the limit explain.
        """
        return bool(self.tightened(-SLACK).violation(np.atleast_2d(gains)[None])[0] <= 0.0)

    def at_points(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel where every operating point has gains of its own.

        Parameters
        ----------
        gains : ndarray [n_operating_points, n_gains]
            Of a schedule over the operating point; the same in all taught plants.
        """
        return tuple(_matched(found, len(gains)) for found in self.margins(gains))

    def keeps_at_points(self, gains: np.ndarray) -> bool:
        """Return whether gains [n_operating_points, n_gains], each at its point, keep the limits up to `SLACK`."""
        limits = self.tightened(-SLACK).limits
        return all(
            bool(
                found.stable.all()
                and (found.sensitivity <= limits.sensitivity).all()
                and (found.delay_margin >= limits.delay_margin).all()
            )
            for found in self.at_points(gains)
        )

    def tightened(self, share: float) -> OperatingMargins:
        """Return the same responses with limits tighter by a share of them (looser where it is negative)."""
        sensitivity = 1.0 + (self.limits.sensitivity - 1.0) * (1.0 - share)
        return self.with_limits(MarginLimits(sensitivity, self.limits.delay_margin * (1.0 + share)))

    def with_limits(self, limits: MarginLimits) -> OperatingMargins:
        """Return the same responses with other limits."""
        other = object.__new__(OperatingMargins)
        other.__dict__.update(self.__dict__)
        other.limits = replace(limits)
        return other


def _matched(found: LoopMargins, n_points: int) -> LoopMargins:
    """Of margins [gain_set, plant and point] those in which the gain set is the point's own: one gain set."""
    columns = np.arange(len(found.names))
    picked = {
        f.name: getattr(found, f.name)[columns % n_points, columns][None] for f in fields(found) if f.name != "names"
    }
    return replace(found, **picked)


def hull(rules: np.ndarray, reference: np.ndarray, seed: int = 0, n: int = HULL_SAMPLES) -> np.ndarray:
    """Return gain sets [candidates, n_sets, n_gains] that schedules with these rules may give, reference included."""
    return hull_samples(rules, reference, n, seed)
