"""The loops of a plant's channels about points of rest, prepared once for any number of gain sets.

A plant with one channel has a loop of its own; of several, each is opened while the others are closed with the gains
of the same set. A case is one plant about one point of rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from plants.core.analysis.linearise import linearise
from sscq.margins.coupled.frequency_response import coupled_responses
from sscq.margins.coupled.margins import coupled_margins, coupled_penalty
from sscq.margins.coupled.sampled_loops import GAINS
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import LoopSettings
from sscq.margins.margins import loop_margins, penalty, penalty_of_each
from sscq.margins.rest_models import RestModels
from sscq.margins.scheduled_gains import RestOutputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sscq.loop.spec import LoopSpec
    from sscq.margins.coupled.frequency_response import CoupledResponse
    from sscq.margins.frequency_response import LoopResponse
    from sscq.margins.margins import LoopMargins, MarginLimits
    from sscq.margins.rest_models import RestModel
    from sscq.situations.situation import Situation

    Cases = Sequence[int] | np.ndarray | None

Response = TypeVar("Response")


class FrozenChannels(Protocol):
    """All channels of a plant in all cases: at all operating points of all taught plants, and whatever is added."""

    @property
    def outputs(self) -> RestOutputs:
        """What is measured at rest, of each case."""

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases = None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay in some cases (None: all) together [n_channels, n, n_sets]."""

    def penalty_of_each(
        self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Sequence[int]
    ) -> np.ndarray:
        """Return what the gain sets [n_cases, n, n_sets, n_gains] of each case pay [n_cases, n_channels, n, n_sets]."""

    def margins(self, gains: np.ndarray, cases: Cases = None) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""

    def of(self, cases: Sequence[int]) -> FrozenChannels:
        """Return some of the cases."""

    def beside(self, other: Any) -> FrozenChannels:
        """Return these cases and then those of another's of the same kind."""


def frozen_channels(
    spec: LoopSpec, low: Sequence[float], high: Sequence[float], *, alike: bool = True
) -> FrozenChannels:
    """Prepare the channels of a plant.

    Parameters
    ----------
    spec : LoopSpec
        The parameters of its situations say which plants are meant.
    low, high : array [n_gains]
        Box of the gains; it decides where the frequency grids are fine.
    alike : bool
        Whether all loops have the largest delay of the situations, and an operating point that nothing holds is an
        error; false: each has its own situation's, and there may be points, or all of them, without a case.
    """
    found, n = _models(spec, alike=alike), len(spec.laws)
    outputs = RestOutputs.of(spec.plant, [one.model.output for one in found], [one.model.point for one in found])
    ends = [plain_gains(np.array(end, float), n) for end in (low, high)]
    shared = tuple(loop_of(spec, i) for i in range(n))
    loops = [shared if alike else tuple(loop_of(spec, i, (one.situation,)) for i in range(n)) for one in found]
    each = list(zip(found, loops, strict=True))
    if n == 1:
        alone = (loop_responses([one.model.alone(one.name)], own[0], *ends) for one, own in each)
        return OneChannel(outputs, tuple(response for (response,) in alone))
    together = (coupled_responses([one.model.together(one.name)], own, *ends) for one, own in each)
    return SeveralChannels(outputs, tuple(response for (response,) in together))


@dataclass(frozen=True, eq=False)
class OneChannel:
    """The loop of a plant with one channel."""

    outputs: RestOutputs
    responses: tuple[LoopResponse, ...]

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases = None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [1, n, n_sets]."""
        return np.asarray(penalty(plain_gains(gains, 1), _picked(self.responses, cases), limits, threads))[None]

    def penalty_of_each(
        self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Sequence[int]
    ) -> np.ndarray:
        """Return what the gain sets [n_cases, n, n_sets, n_gains] of each case pay [n_cases, 1, n, n_sets]."""
        rows = plain_gains(gains, 1).reshape(len(gains), -1, GAINS)
        paid = penalty_of_each(rows, _picked(self.responses, cases), limits, threads)
        return np.asarray(paid.reshape(len(gains), 1, *gains.shape[1:3]))

    def margins(self, gains: np.ndarray, cases: Cases = None) -> tuple[LoopMargins, ...]:
        """Return the margins of the channel for gain sets [n_sets, n_gains]."""
        return (loop_margins(plain_gains(gains, 1), _picked(self.responses, cases)),)

    def of(self, cases: Sequence[int]) -> OneChannel:
        """Return some of the cases."""
        return OneChannel(self.outputs.of_cases(cases), _picked(self.responses, cases))

    def beside(self, other: OneChannel) -> OneChannel:
        """Return these cases and then those of another's."""
        return OneChannel(self.outputs.beside(other.outputs), self.responses + other.responses)


@dataclass(frozen=True, eq=False)
class SeveralChannels:
    """The loops of a plant with several channels, one opened at a time."""

    outputs: RestOutputs
    responses: tuple[CoupledResponse, ...]

    @property
    def n(self) -> int:
        """Number of channels."""
        return len(self.responses[0].sampled.loops)

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases = None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [n_channels, n, n_sets]."""
        return coupled_penalty(plain_gains(gains, self.n), _picked(self.responses, cases), limits, threads)

    def penalty_of_each(
        self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Sequence[int]
    ) -> np.ndarray:
        """Return what the gain sets [n_cases, n, n_sets, n_gains] of each case pay [n_cases, n_channels, n, n_sets]."""
        return np.stack([self.penalty(own, limits, threads, [case]) for own, case in zip(gains, cases, strict=True)])

    def margins(self, gains: np.ndarray, cases: Cases = None) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""
        return coupled_margins(plain_gains(gains, self.n), _picked(self.responses, cases))

    def of(self, cases: Sequence[int]) -> SeveralChannels:
        """Return some of the cases."""
        return SeveralChannels(self.outputs.of_cases(cases), _picked(self.responses, cases))

    def beside(self, other: SeveralChannels) -> SeveralChannels:
        """Return these cases and then those of another's."""
        return SeveralChannels(self.outputs.beside(other.outputs), self.responses + other.responses)


def _picked(responses: tuple[Response, ...], cases: Cases) -> tuple[Response, ...]:
    return responses if cases is None else tuple(responses[case] for case in cases)


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


@dataclass(frozen=True, eq=False)
class _HeldPlant:
    name: str
    model: RestModel
    situation: Situation


def _models(spec: LoopSpec, *, alike: bool) -> list[_HeldPlant]:
    """The plant about its operating points, for all distinct parameters (and delays) of the situations, with names.

    A plant that nothing holds at a point, or at another state with the same controlled outputs, is left out there.
    """
    plant = spec.plant

    def told_apart(s: Situation) -> tuple[float, ...]:
        return plant.values("parameters", s.parameters) + (() if alike else (s.delay, s.output_delay, s.jitter))

    of = {told_apart(s): s for s in reversed(spec.situations)}
    several = [of[key] for key in dict.fromkeys(map(told_apart, spec.situations))]
    sets = [plant.values("parameters", s.parameters) for s in several]
    models = RestModels(plant, np.array(sets, float))
    found = [models.at(number) for number in range(len(plant.operating_points))]
    for point, held in zip(plant.operating_points, found, strict=True):
        if alike and not held:
            given = dict(zip([q.name for q in plant.parameters], sets[0], strict=True)) | dict(point.parameters)
            linearise(plant, point.state, given, commands=True)  # says why
    return [
        _HeldPlant(point.name if len(sets) == 1 else f"{point.name}, parameters {k + 1}", held[k], several[k])
        for k in range(len(sets))
        for point, held in zip(plant.operating_points, found, strict=True)
        if k in held
    ]
