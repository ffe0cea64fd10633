"""Margins at a plant's operating points: the constraint of a search, and what a report says of frozen gains.

A plant with one channel has a loop of its own; of several, each is opened while the others are closed with the gains
of the same set. All are prepared once for any number of gain sets.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from plants.core.analysis.linearise import linearise
from sscq.loop.spec import LoopSpec
from sscq.margins.coupled.frequency_response import coupled_responses
from sscq.margins.coupled.margins import coupled_margins, coupled_penalty
from sscq.margins.coupled.sampled_loops import GAINS, CoupledPlant
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import LinearPlant, LoopSettings
from sscq.margins.margins import LoopMargins, MarginLimits, Margins, loop_margins, penalty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plants import Plant
    from plants.core.quantities import OperatingPoint
    from sscq.situations.situation import Situation


class FrozenChannels(Protocol):
    """All channels of a plant at all operating points of all taught plants."""

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay at all points together [n_channels, n, n_sets]."""

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""


def frozen_channels(spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> FrozenChannels:
    """Prepare the channels of a plant; the box [n_gains] decides where the frequency grids are fine."""
    return OneChannel(spec, low, high) if len(spec.laws) == 1 else SeveralChannels(spec, low, high)


class OneChannel:
    """The loop of a plant with one channel."""

    def __init__(self, spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> None:
        points = [_alone(spec, *case) for case in _cases(spec)]
        self.responses = loop_responses(points, loop_of(spec, 0), list(low)[:GAINS], list(high)[:GAINS])

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [1, n, n_sets]."""
        return np.asarray(penalty(plain_gains(gains, 1), self.responses, limits, threads))[None]

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of the channel for gain sets [n_sets, n_gains]."""
        return (loop_margins(plain_gains(gains, 1), self.responses),)


class SeveralChannels:
    """The loops of a plant with several channels, one opened at a time."""

    def __init__(self, spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> None:
        self.n = len(spec.laws)
        points = [_together(spec, *case) for case in _cases(spec)]
        loops = tuple(loop_of(spec, i) for i in range(self.n))
        self.responses = coupled_responses(
            points, loops, *(plain_gains(np.array(end, float), self.n) for end in (low, high))
        )

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [n_channels, n, n_sets]."""
        return coupled_penalty(plain_gains(gains, self.n), self.responses, limits, threads)

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""
        return coupled_margins(plain_gains(gains, self.n), self.responses)


def loop_of(spec: LoopSpec, i: int, situations: Sequence[Situation] | None = None) -> LoopSettings:
    """Return how a channel is controlled, with the largest delay of the situations (left out: all of the loop's)."""
    law, sample = spec.laws[i], spec.timing.sample_time
    dead = max(s.delay + s.output_delay + s.jitter * sample for s in situations or spec.situations)
    return LoopSettings(
        sample_time=sample,
        derivative_filter_time=getattr(law, "derivative_filter_time", 0.0),
        delay=dead,
        rate_measured=spec.measures_rate(i),
        action=getattr(law, "action", "direct"),
    )


def plain_gains(gains: np.ndarray, n_channels: int) -> np.ndarray:
    """Return kp, ki, kd of every channel, without what laws have beside them (a set-point weight, then in all)."""
    width = gains.shape[-1] // n_channels
    return np.ascontiguousarray(
        np.concatenate([gains[..., width * i : width * i + GAINS] for i in range(n_channels)], -1)
    )


def _cases(spec: LoopSpec) -> Iterator[tuple[OperatingPoint, dict[str, float], str]]:
    """Operating points times distinct parameters of the situations, with their names."""
    plant = spec.plant
    sets = dict.fromkeys(plant.values("parameters", s.parameters) for s in spec.situations)
    for number, values in enumerate(sets):
        for point in plant.operating_points:
            given = dict(zip([q.name for q in plant.parameters], values, strict=True)) | dict(point.parameters)
            yield point, given, point.name if len(sets) == 1 else f"{point.name}, parameters {number + 1}"


def _alone(spec: LoopSpec, point: OperatingPoint, given: dict[str, float], name: str) -> LinearPlant:
    """The plant of a single channel, with its command as input."""
    model, channel = linearise(spec.plant, point.state, given, commands=True), spec.plant.channels[0]
    rate = None if channel.rate is None else model.row(channel.rate)
    return LinearPlant(model.A, model.B[:, 0], model.row(channel.output), rate, model.delay, name)


def _together(spec: LoopSpec, point: OperatingPoint, given: dict[str, float], name: str) -> CoupledPlant:
    """The plant of all channels, with their commands as inputs."""
    model, channels = linearise(spec.plant, point.state, given, commands=True), spec.plant.channels
    outputs = np.array([model.row(channel.output) for channel in channels])
    rates = np.array([np.zeros(len(model.A)) if c.rate is None else model.row(c.rate) for c in channels])
    return CoupledPlant(model.A, model.B, outputs, rates, model.delay, name)


SLACK = 0.02
"""Share of the limits by which every search keeps inside them, so that what it delivers keeps the limits themselves."""

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
        """Return the graded violation [n] for gain sets [n, n_sets, n_gains] that a schedule may give.

        What a search pays: for limits tighter by `SLACK` than those that are kept in the end, the same for constant
        gains and for schedules. A search judges few samples of a hull, and a sample's worst point may lie between them.
        The result does not depend on the number of threads (None: all processors).
        """
        return self._violation(gains, self.tightened(SLACK).limits, threads)

    def _violation(self, gains: np.ndarray, limits: MarginLimits, threads: int | None = 1) -> np.ndarray:
        total = np.zeros(len(gains))
        for each in self.channels.penalty(gains, limits, threads):
            total += each.max(axis=-1) + _MEAN_SHARE * each.mean(axis=-1)
        return total

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains] at every operating point."""
        return self.channels.margins(np.atleast_2d(gains))

    def worst(self, gains: np.ndarray) -> tuple[Margins, ...]:
        """Return the worst margins of each channel over gain sets [n_sets, n_gains] and operating points."""
        return tuple(found.worst() for found in self.margins(gains))

    def keeps(self, gains: np.ndarray) -> bool:
        """Return whether gain sets [n_sets, n_gains] keep the limits themselves at all points, without any slack."""
        return bool(self._violation(np.atleast_2d(gains)[None], self.limits)[0] <= 0.0)

    def at_points(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel where every operating point has gains of its own.

        Parameters
        ----------
        gains : ndarray [n_operating_points, n_gains]
            Of a schedule over the operating point; the same in all taught plants.
        """
        return tuple(_matched(found, len(gains)) for found in self.margins(gains))

    def keeps_at_points(self, gains: np.ndarray) -> bool:
        """Return whether gains [n_operating_points, n_gains], each at its point, keep the limits themselves."""
        limits = self.limits
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
