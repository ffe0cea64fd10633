"""The channels of a plant with frozen gains at its operating points, prepared for any number of gain sets.

A plant with one channel has a loop of its own; of several, each is opened while the others are closed with the gains of
the same set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from plants.core.linearise import linearise
from sscq.coupled_loops import GAINS, CoupledPlant
from sscq.coupled_margins import coupled_margins, coupled_penalty
from sscq.coupled_response import coupled_responses
from sscq.margins import LinearPlant, Loop, LoopMargins, MarginLimits, loop_margins, loop_responses, penalty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plants.core.plant import OperatingPoint
    from sscq.loop_spec import LoopSpec


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
        return np.asarray(penalty(_plain(gains, 1), self.responses, limits, threads))[None]

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of the channel for gain sets [n_sets, n_gains]."""
        return (loop_margins(_plain(gains, 1), self.responses),)


class SeveralChannels:
    """The loops of a plant with several channels, one opened at a time."""

    def __init__(self, spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> None:
        self.n = len(spec.laws)
        points = [_together(spec, *case) for case in _cases(spec)]
        loops = tuple(loop_of(spec, i) for i in range(self.n))
        self.responses = coupled_responses(
            points, loops, *(_plain(np.array(end, float), self.n) for end in (low, high))
        )

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [n_channels, n, n_sets]."""
        return coupled_penalty(_plain(gains, self.n), self.responses, limits, threads)

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""
        return coupled_margins(_plain(gains, self.n), self.responses)


def loop_of(spec: LoopSpec, i: int) -> Loop:
    """Return how a channel is controlled, with the largest delay of the situations."""
    law, sample = spec.laws[i], spec.timing.sample_time
    dead = max(s.delay + s.output_delay + s.jitter * sample for s in spec.situations)
    return Loop(
        sample_time=sample,
        derivative_filter_time=getattr(law, "derivative_filter_time", 0.0),
        delay=dead,
        rate_measured=spec.measures_rate(i),
        action=getattr(law, "action", "direct"),
    )


def _plain(gains: np.ndarray, n_channels: int) -> np.ndarray:
    """kp, ki, kd of every channel; a law may have more gains (a set-point weight), then those of all channels have."""
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
