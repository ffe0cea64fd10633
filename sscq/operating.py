"""Margins at a plant's operating points: the constraint of a search, and what a report says of frozen gains."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.linearise import linearise
from sscq.loop_spec import LoopSpec
from sscq.margins import (
    LinearPlant,
    Loop,
    LoopMargins,
    MarginLimits,
    Margins,
    hull_samples,
    loop_margins,
    loop_responses,
    penalty,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.frequency_response import LoopResponse
    from sscq.situation import Situation

HULL_SAMPLES = 16
SLACK = 0.02  # of the limits: what a check after the search may miss them by
_MEAN_SHARE = 0.1  # of the mean violation beside the worst: a slope for gain sets that are not the worst


class OperatingMargins:
    """Frequency responses of every channel at every operating point of every taught plant.

    One channel at a time is closed by its law; the other channels' commands stand still.

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
        self.responses: list[tuple[LoopResponse, ...]] = []
        for i in range(len(plant.channels)):
            part = slice(*self.spec.gains_of(i).indices(len(low)))
            points = self._points(i)
            loop = self._loop(i)
            self.responses.append(loop_responses(points, loop, list(low)[part][:3], list(high)[part][:3]))

    def _loop(self, i: int) -> Loop:
        law = self.spec.laws[i]
        sample = self.spec.timing.sample_time
        dead = max(s.delay + s.output_delay + s.jitter * sample for s in self.spec.situations)
        return Loop(
            sample_time=sample,
            derivative_filter_time=getattr(law, "derivative_filter_time", 0.0),
            delay=dead,
            rate_measured=self.spec.measures_rate(i),
            action=getattr(law, "action", "direct"),
        )

    def _points(self, i: int) -> list[LinearPlant]:
        """Return linear plants of channel `i`: operating points times distinct parameters of the situations."""
        plant, channel = self.plant, self.plant.channels[i]
        sets = dict.fromkeys(plant.values("parameters", s.parameters) for s in self.spec.situations)
        found = []
        for number, values in enumerate(sets):
            for point in plant.operating_points:
                given = dict(zip([q.name for q in plant.parameters], values, strict=True)) | dict(point.parameters)
                model = linearise(plant, point.state, given)
                dead = given[plant.input_delay] if plant.input_delay is not None else 0.0
                name = point.name if len(sets) == 1 else f"{point.name}, parameters {number + 1}"
                rate = None if channel.rate is None else model.C[self.spec.output_index(channel.rate)]
                column = model.B @ self._allocation(i, point.state, tuple(given.values()))
                output = model.C[self.spec.output_index(channel.output)]
                found.append(LinearPlant(model.A, column, output, rate, dead, name))
        return found

    def _allocation(self, i: int, state: Sequence[float], parameters: Sequence[float]) -> np.ndarray:
        """Return d inputs / d command of channel `i` [n_u]; allocations are linear, so a difference does."""
        n = len(self.plant.channels)
        if self.plant.allocate is None:
            return np.eye(len(self.plant.inputs))[i]
        values = []
        for command in (-0.5, 0.5):
            commands = tuple(command if k == i else 0.0 for k in range(n))
            values.append(np.array(self.plant.allocate(0.0, tuple(state), commands, tuple(parameters)), float))
        return values[1] - values[0]

    def _channel_gains(self, gains: np.ndarray, i: int) -> np.ndarray:
        """kp, ki, kd of a channel; a law may have more gains (a set-point weight), then those of all channels have."""
        width = gains.shape[-1] // len(self.responses)
        return np.ascontiguousarray(gains[..., width * i : width * i + 3])

    def violation(self, gains: np.ndarray, threads: int | None = 1) -> np.ndarray:
        """Return the graded violation of the limits [n] for gain sets [n, n_sets, n_gains] that a schedule may give.

        The result does not depend on the number of threads (None: all processors).
        """
        total = np.zeros(len(gains))
        for i, responses in enumerate(self.responses):
            each = penalty(self._channel_gains(gains, i), responses, self.limits, threads)
            total += each.max(axis=-1) + _MEAN_SHARE * each.mean(axis=-1)
        return total

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains] at every operating point."""
        rows = np.atleast_2d(gains)
        return tuple(
            loop_margins(self._channel_gains(rows, i), responses) for i, responses in enumerate(self.responses)
        )

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
