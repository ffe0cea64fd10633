"""Margins at a plant's operating points: the constraint of a search, and what a report says of frozen gains.

A plant with one channel has a loop of its own; of several, each is opened while the others are closed with the gains
of the same set. All are prepared once for any number of gain sets.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from plants.core.analysis.linearise import linearise
from sscq.loop.spec import LoopSpec
from sscq.margins.coupled.frequency_response import coupled_responses
from sscq.margins.coupled.margins import coupled_margins, coupled_penalty
from sscq.margins.coupled.sampled_loops import GAINS
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import LoopSettings
from sscq.margins.margins import LoopMargins, MarginLimits, Margins, loop_margins, penalty
from sscq.margins.rest_models import RestModel, RestModels
from sscq.margins.scheduled_gains import PASSING, WATCHED, Focus, RestOutputs, ScheduledGains

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plants import Plant
    from sscq.situations.situation import Situation

    Cases = Sequence[int] | np.ndarray | None

Response = TypeVar("Response")


class FrozenChannels(Protocol):
    """All channels of a plant at all operating points of all taught plants: the cases."""

    outputs: RestOutputs

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases = None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay in some cases (None: all) together [n_channels, n, n_sets]."""

    def margins(self, gains: np.ndarray, cases: Cases = None) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""


def frozen_channels(spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> FrozenChannels:
    """Prepare the channels of a plant; the box [n_gains] decides where the frequency grids are fine."""
    return OneChannel(spec, low, high) if len(spec.laws) == 1 else SeveralChannels(spec, low, high)


class OneChannel:
    """The loop of a plant with one channel."""

    def __init__(self, spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> None:
        found = _models(spec)
        self.outputs = _outputs(spec, found)
        points = [model.alone(name) for name, model in found]
        self.responses = loop_responses(points, loop_of(spec, 0), list(low)[:GAINS], list(high)[:GAINS])

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases = None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [1, n, n_sets]."""
        return np.asarray(penalty(plain_gains(gains, 1), _picked(self.responses, cases), limits, threads))[None]

    def margins(self, gains: np.ndarray, cases: Cases = None) -> tuple[LoopMargins, ...]:
        """Return the margins of the channel for gain sets [n_sets, n_gains]."""
        return (loop_margins(plain_gains(gains, 1), _picked(self.responses, cases)),)


class SeveralChannels:
    """The loops of a plant with several channels, one opened at a time."""

    def __init__(self, spec: LoopSpec, low: Sequence[float], high: Sequence[float]) -> None:
        self.n = len(spec.laws)
        found = _models(spec)
        self.outputs = _outputs(spec, found)
        points = [model.together(name) for name, model in found]
        loops = tuple(loop_of(spec, i) for i in range(self.n))
        self.responses = coupled_responses(
            points, loops, *(plain_gains(np.array(end, float), self.n) for end in (low, high))
        )

    def penalty(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases = None) -> np.ndarray:
        """Return what gain sets [n, n_sets, n_gains] pay [n_channels, n, n_sets]."""
        return coupled_penalty(plain_gains(gains, self.n), _picked(self.responses, cases), limits, threads)

    def margins(self, gains: np.ndarray, cases: Cases = None) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains]."""
        return coupled_margins(plain_gains(gains, self.n), _picked(self.responses, cases))


def _picked(responses: Sequence[Response], cases: Cases) -> Sequence[Response]:
    return responses if cases is None else [responses[case] for case in cases]


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


def _models(spec: LoopSpec) -> list[tuple[str, RestModel]]:
    """The plant about its operating points, for all distinct parameters of the situations, with names.

    A plant that nothing holds at a point, or at another state with the same controlled outputs, is left out there.
    """
    plant = spec.plant
    sets = list(dict.fromkeys(plant.values("parameters", s.parameters) for s in spec.situations))
    models = RestModels(plant, np.array(sets, float))
    found = [models.at(number) for number in range(len(plant.operating_points))]
    for point, held in zip(plant.operating_points, found, strict=True):
        if not held:
            given = dict(zip([q.name for q in plant.parameters], sets[0], strict=True)) | dict(point.parameters)
            linearise(plant, point.state, given, commands=True)  # says why
    return [
        (point.name if len(sets) == 1 else f"{point.name}, parameters {k + 1}", held[k])
        for k in range(len(sets))
        for point, held in zip(plant.operating_points, found, strict=True)
        if k in held
    ]


def _outputs(spec: LoopSpec, models: Sequence[tuple[str, RestModel]]) -> RestOutputs:
    return RestOutputs.of(spec.plant, [model.output for _, model in models], [model.point for _, model in models])


SLACK = 0.02
"""Share of the limits by which every search keeps inside them, so that what it delivers keeps the limits themselves."""

CERTIFIED = 500
"""Drawn places at which the gains in passing are seen where a controller is delivered, see `PASSING`."""
_CERTIFY_SEED = 1_000_003  # another draw than the searches' own

_NEXT_TO = 0.3  # share of the limits by which places count as next to the worst
_GAIN_STEP, _SMALL_GAIN = 1e-6, 1e-3  # of a difference: share of a gain, at least of this one
_MEAN_SHARE = 0.1  # of the mean violation beside the worst: a slope for gain sets that are not the worst


class OperatingMargins:
    """Frequency responses of every channel at every operating point of every taught plant.

    Each channel's loop is opened in turn; the others are closed with their own gains of the same gain set, so what is
    proved of a set holds for that set, frozen, about these points. Changes in several loops at once are not covered.
    Which gains of a schedule are asked where: :mod:`sscq.margins.scheduled_gains`.

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

    @property
    def points(self) -> np.ndarray:
        """Number of the operating point [n_cases] that each case is about, in the order of all margins.

        Several plants may share a point; one that cannot be held there is not among them.
        """
        return self.channels.outputs.points

    @property
    def watched(self) -> int:
        """Drawn places for each channel at which a descent sees the gains in passing; with several channels fewer.

        There every place costs more, and each channel brings places of its own.
        """
        return max(PASSING, WATCHED // len(self.spec.laws) ** 2)

    def violation(self, gains: np.ndarray, threads: int | None = 1) -> np.ndarray:
        """Return the graded violation [n] of gain sets [n, n_sets, n_gains] that stand at any point of rest.

        What a search pays: for limits tighter by `SLACK` than those that are kept in the end, the same for constant
        gains and for schedules. A search looks at few places, and a schedule's worst gains may lie between them.
        The result does not depend on the number of threads (None: all processors).
        """
        return self._paid(gains, self.tightened(SLACK).limits, threads)

    def violation_of(
        self,
        controller: Any,
        theta: np.ndarray,
        threads: int | None = 1,
        focus: Focus | None = None,
        count: int = PASSING,
    ) -> np.ndarray:
        """Return the graded violation [n] of a schedule with parameters theta [n, n_theta], for a search as well.

        In passing it is looked at `count` drawn places, or at those of a `focus` alone.
        """
        return self._of_schedule(controller, theta, self.tightened(SLACK).limits, threads, count, focus=focus)

    def focus(self, controller: Any, theta: np.ndarray, threads: int | None = 1) -> Focus:
        """Return those places in passing that are worst, or next to it, for each schedule theta [n, n_theta]."""
        limits = self.tightened(_NEXT_TO).limits.in_passing
        given = ScheduledGains(controller, self.channels.outputs)
        paid = [
            sum(self.channels.penalty(gains, limits, threads, cases))
            for cases, gains in given.passing(theta, self.watched)
        ]
        return Focus.of(paid)

    def violation_slopes(
        self,
        controller: Any,
        theta: np.ndarray,
        ahead: np.ndarray,
        nudges: np.ndarray,
        threads: int | None = 1,
        focus: Focus | None = None,
    ) -> np.ndarray:
        """Return slopes of :meth:`violation_of` [n, n_genes] with respect to genes that move theta.

        By differences in the few gains of each place, not in all genes.

        Parameters
        ----------
        theta : array [n, n_theta]
        ahead : array [n, n_genes, n_theta]
            Theta with one gene moved by its nudge.
        nudges : array [n, n_genes]
        """
        limits, (n, m) = self.tightened(SLACK).limits, nudges.shape
        moved = None if focus is None else focus.repeated(np.arange(n), m)
        here = self._blocks(controller, theta, limits, focus=focus)
        there = self._blocks(controller, ahead.reshape(n * m, -1), limits, focus=moved)
        found = np.zeros((n, m))
        for (kept, cases, gains), (_, _, other) in zip(here, there, strict=True):
            by_gene = (other.reshape(n, m, *gains.shape[1:]) - gains[:, None]) / nudges[..., None, None]
            found += np.einsum("cmsg,csg->cm", by_gene, self._paid_slopes(gains, kept, threads, cases))
        return found

    def _of_schedule(
        self,
        controller: Any,
        theta: np.ndarray,
        limits: MarginLimits,
        threads: int | None,
        count: int = PASSING,
        seed: int = 0,
        focus: Focus | None = None,
    ) -> np.ndarray:
        total = np.zeros(len(theta))
        for kept, cases, gains in self._blocks(controller, theta, limits, count, seed, focus):
            total += self._paid(gains, kept, threads, cases)
        return total

    def _blocks(
        self,
        controller: Any,
        theta: np.ndarray,
        limits: MarginLimits,
        count: int = PASSING,
        seed: int = 0,
        focus: Focus | None = None,
    ) -> Iterator[tuple[MarginLimits, Cases, np.ndarray]]:
        """Yield limits, the cases that they are for, and the gain sets [n, n_sets, n_gains] that have to keep them."""
        given = ScheduledGains(controller, self.channels.outputs)
        rest = given.at_rest(theta)
        if rest.shape[1] == 1:
            yield limits, None, rest[:, 0]
        else:
            for case in range(rest.shape[1]):
                yield limits, [case], rest[:, case]
        for cases, gains in given.passing(theta, count if focus is None else self.watched, seed, focus):
            yield limits.in_passing, cases, gains

    def _paid_slopes(self, gains: np.ndarray, limits: MarginLimits, threads: int | None, cases: Cases) -> np.ndarray:
        """Slopes of what gain sets pay together with respect to each of their gains [n, n_sets, n_gains]."""
        paid = self.channels.penalty(gains, limits, threads, cases)
        share = np.full(paid.shape, _MEAN_SHARE / paid.shape[-1])
        np.put_along_axis(share, paid.argmax(axis=-1)[..., None], share[..., :1] + 1.0, axis=-1)
        found, steps = np.empty(gains.shape), _GAIN_STEP * np.maximum(np.abs(gains), _SMALL_GAIN)
        for g in range(gains.shape[-1]):
            ahead = gains.copy()
            ahead[..., g] += steps[..., g]
            there = self.channels.penalty(ahead, limits, threads, cases)
            found[..., g] = (share * (there - paid)).sum(axis=0) / steps[..., g]
        return found

    def _paid(
        self, gains: np.ndarray, limits: MarginLimits, threads: int | None = 1, cases: Cases = None
    ) -> np.ndarray:
        total = np.zeros(len(gains))
        for each in self.channels.penalty(gains, limits, threads, cases):
            total += each.max(axis=-1) + _MEAN_SHARE * each.mean(axis=-1)
        return total

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains] at every operating point."""
        return self.channels.margins(np.atleast_2d(gains))

    def worst(self, gains: np.ndarray) -> tuple[Margins, ...]:
        """Return the worst margins of each channel over gain sets [n_sets, n_gains] and operating points."""
        return tuple(found.worst() for found in self.margins(gains))

    def at_rest(self, controller: Any, theta: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel with the gains that a schedule, parameters [n_theta], has at each point.

        Of the first axis there is one entry, several where gains depend on an integral of the error or on an output
        that a mirrored plant mirrors.
        """
        (rest,) = ScheduledGains(controller, self.channels.outputs).at_rest(np.atleast_2d(theta))
        if len(rest) == 1:
            return self.channels.margins(rest[0])
        each = [self.channels.margins(gains, [case]) for case, gains in enumerate(rest)]
        return tuple(_beside(of_channel) for of_channel in zip(*each, strict=True))

    def passing(self, controller: Any, theta: np.ndarray, count: int = CERTIFIED) -> tuple[Margins, ...]:
        """Return the worst margins of each channel over the gains that a schedule passes through; empty: none.

        The number of a gain set is that of its place, about its own operating point.
        """
        given = ScheduledGains(controller, self.channels.outputs).passing(np.atleast_2d(theta), count, _CERTIFY_SEED)
        found = [self.channels.margins(gains[0], cases) for cases, gains in given]
        return tuple(_beside(of_channel).worst() for of_channel in zip(*found, strict=True))

    def keeps(self, gains: np.ndarray) -> bool:
        """Return whether gain sets [n_sets, n_gains] keep the limits themselves at all points, without any slack."""
        return bool(self._paid(np.atleast_2d(gains)[None], self.limits)[0] <= 0.0)

    def keeps_of(self, controller: Any, theta: np.ndarray) -> bool:
        """Return whether a schedule with parameters [n_theta] keeps the limits themselves, at rest and in passing."""
        paid = self._of_schedule(controller, np.atleast_2d(theta), self.limits, None, CERTIFIED, _CERTIFY_SEED)
        return bool(paid[0] <= 0.0)

    def tightened(self, share: float) -> OperatingMargins:
        """Return the same responses with limits tighter by a share of them (looser where it is negative)."""
        given = self.limits
        at_rest, passing = (1.0 + (ms - 1.0) * (1.0 - share) for ms in (given.sensitivity, given.transient))
        return self.with_limits(MarginLimits(at_rest, given.delay_margin * (1.0 + share), passing))

    def with_limits(self, limits: MarginLimits) -> OperatingMargins:
        """Return the same responses with other limits."""
        other = object.__new__(OperatingMargins)
        other.__dict__.update(self.__dict__)
        other.limits = replace(limits)
        return other


def _beside(several: Sequence[LoopMargins]) -> LoopMargins:
    """Margins of cases one beside the other."""
    arrays = {
        f.name: np.concatenate([getattr(one, f.name) for one in several], axis=1)
        for f in fields(LoopMargins)
        if f.name != "names"
    }
    return LoopMargins(tuple(name for one in several for name in one.names), **arrays)
