"""Margins at a plant's operating points: the constraint of a search, and what a report says of frozen gains.

A plant with one channel has a loop of its own; of several, each is opened while the others are closed with the gains
of the same set. All are prepared once for any number of gain sets.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sscq.loop.spec import LoopSpec
from sscq.margins.channels import frozen_channels
from sscq.margins.margins import LoopMargins, MarginLimits, Margins
from sscq.margins.plots import nyquist
from sscq.margins.scheduled_gains import PASSING, WATCHED, Focus, ScheduledGains

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from plants import Plant
    from sscq.margins.channels import Cases, FrozenChannels
    from sscq.situations.situation import Situation

    _Pay = Callable[[np.ndarray], np.ndarray]  # gain sets [..., n, n_sets, n_gains] to [..., n_channels, n, n_sets]
    _Computed = Callable[[_Pay, np.ndarray], np.ndarray]

SLACK = 0.02
"""Share of the limits by which every search keeps inside them, so that what it delivers keeps the limits themselves."""

CERTIFIED = 500
"""Drawn places at which the gains in passing are seen where a controller is delivered, see `PASSING`."""
_DIVIDED = (16, 128)  # a few of their gain sets tell of most schedules that break the limits
_CERTIFY_SEED = 1_000_003  # another draw than the searches' own

STABLE = MarginLimits(10.0)
"""What is asked of a loop that need not keep the limits, but shall be stable by more than rounding."""

AT_THE_EDGE = MarginLimits(200.0)
"""The same of a loop that is hardly stable: a little more and other gains lose it."""

_NEXT_TO = 0.3  # share of the limits by which places count as next to the worst
_GAIN_STEP, _SMALL_GAIN = 1e-6, 1e-3  # of a difference: share of a gain, at least of this one
_MEAN_SHARE = 0.1  # of the mean violation beside the worst: a slope for gain sets that are not the worst
_AT_REST = -1  # where gains come from, beside the numbers of groups in passing


class _Block(NamedTuple):
    """Gain sets [n, n_sets, n_gains] and the limits that they have to keep in some cases.

    Those of one origin are computed together; origin and number tell them from all others.
    """

    origin: int
    number: int
    limits: MarginLimits
    cases: Cases
    gains: np.ndarray


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
        self.lenient: dict[int, MarginLimits] = {}

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
        return self._paid(gains, _within(self.limits), threads)

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
        return self._of_schedule(controller, theta, _within(self.limits), threads, count, focus=focus)

    def focus(self, controller: Any, theta: np.ndarray, threads: int | None = 1) -> Focus:
        """Return those places in passing that are worst, or next to it, for each schedule theta [n, n_theta]."""
        limits = self.limits.tightened(_NEXT_TO).in_passing
        given = ScheduledGains(controller, self.channels.outputs)
        paid = [
            sum(
                one
                for level, part in self._levels(limits, cases)
                for one in self.channels.penalty(gains, level, threads, part)
            )
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
        limits, (n, m) = _within(self.limits), nudges.shape
        moved, found = None if focus is None else focus.repeated(np.arange(n), m), np.zeros((n, m))
        given = ScheduledGains(controller, self.channels.outputs)
        here = self._at_rest(given.at_rest(theta), limits, threads, _slopes_of)
        for one in self._in_passing(given, theta, limits, focus=focus):
            here.append((one, _slopes_of(self._penalty(one, threads), one.gains)))
        steep = [(one, slopes) for one, slopes in here if slopes.any()]  # elsewhere no gain costs anything
        origins = {one.origin for one, _ in steep}
        several = self._blocks(controller, ahead.reshape(n * m, -1), limits, focus=moved, only=origins)
        there = {one[:2]: one.gains for one in several}
        for one, slopes in steep:
            by_gene = there[one[:2]].reshape(n, m, *one.gains.shape[1:]) - one.gains[:, None]
            found += np.einsum("cmsg,csg->cm", by_gene / nudges[..., None, None], slopes)
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
        given, total = ScheduledGains(controller, self.channels.outputs), np.zeros(len(theta))
        for _, paid in self._at_rest(given.at_rest(theta), limits, threads, _paid_by):
            total += paid
        for one in self._in_passing(given, theta, limits, count, seed, focus):
            total += _paid_by(self._penalty(one, threads), one.gains)
        return total

    def _at_rest(
        self, rest: np.ndarray, limits: MarginLimits, threads: int | None, compute: _Computed
    ) -> list[tuple[_Block, np.ndarray]]:
        """Gains at rest [n, n_cases, n_sets, n_gains] in the cases' order, and what is computed of their penalties.

        There are many cases of few gain sets, so all that keep the same limits are asked in one call.
        """
        if rest.shape[1] == 1:
            alone = list(self._rest_blocks(rest, limits))
            return [(one, compute(self._penalty(one, threads), one.gains)) for one in alone]
        found: dict[int, tuple[_Block, np.ndarray]] = {}
        for level, part in self._levels(limits, np.arange(rest.shape[1])):
            cases = np.asarray(part).tolist()
            pay = partial(self.channels.penalty_of_each, limits=level, threads=threads, cases=cases)
            values = compute(pay, np.ascontiguousarray(np.moveaxis(rest[:, cases], 1, 0)))
            blocks = [_Block(_AT_REST, case, level, [case], rest[:, case]) for case in cases]
            found |= dict(zip(cases, zip(blocks, values, strict=True), strict=True))
        return [found[case] for case in range(rest.shape[1])]

    def _penalty(self, one: _Block, threads: int | None) -> _Pay:
        return partial(self.channels.penalty, limits=one.limits, threads=threads, cases=one.cases)

    def _blocks(
        self,
        controller: Any,
        theta: np.ndarray,
        limits: MarginLimits,
        count: int = PASSING,
        seed: int = 0,
        focus: Focus | None = None,
        only: Container[int] | None = None,
    ) -> Iterator[_Block]:
        """Yield gain sets with what they have to keep, at rest and then in passing; `only`: of these origins."""
        given = ScheduledGains(controller, self.channels.outputs)
        if only is None or _AT_REST in only:
            yield from self._rest_blocks(given.at_rest(theta), limits)
        yield from self._in_passing(given, theta, limits, count, seed, focus, only)

    def _rest_blocks(self, rest: np.ndarray, limits: MarginLimits) -> Iterator[_Block]:
        alone = rest.shape[1] == 1
        for k in range(rest.shape[1]):
            for level, part in self._levels(limits, None if alone else [k]):
                yield _Block(_AT_REST, k, level, part, rest[:, k])

    def _in_passing(
        self,
        given: ScheduledGains,
        theta: np.ndarray,
        limits: MarginLimits,
        count: int = PASSING,
        seed: int = 0,
        focus: Focus | None = None,
        only: Container[int] | None = None,
    ) -> Iterator[_Block]:
        count = count if focus is None else self.watched
        for group, cases, gains in given.by_group(theta, count, seed, focus, only):
            for level, part in self._levels(limits.in_passing, cases):
                yield _Block(group, 0, level, part, gains)

    def _levels(self, limits: MarginLimits, cases: Cases) -> Iterator[tuple[MarginLimits, Cases]]:
        """Divide cases (None: all) into those that are asked for the limits and those that are asked for less."""
        if not self.lenient:
            yield limits, cases
            return
        several = range(len(self.points)) if cases is None else cases
        for level in (None, STABLE, AT_THE_EDGE):
            part = [case for case in several if self.lenient.get(case) == level]
            if part:
                yield level or limits, part

    def _paid(
        self, gains: np.ndarray, limits: MarginLimits, threads: int | None = 1, cases: Cases = None
    ) -> np.ndarray:
        return _paid_by(partial(self.channels.penalty, limits=limits, threads=threads, cases=cases), gains)

    def margins(self, gains: np.ndarray) -> tuple[LoopMargins, ...]:
        """Return the margins of each channel for gain sets [n_sets, n_gains] at every operating point."""
        return self.channels.margins(np.atleast_2d(gains))

    def plot(self, gains: np.ndarray, names: tuple[str, ...] = (), axes: Any = None) -> Any:
        """Draw Nyquist curves with the circle of Ms; see :func:`sscq.margins.plots.nyquist` (extra `plot`)."""
        return nyquist(self.channels, self.limits.sensitivity, gains, names, axes)

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
        blocks = self._blocks(controller, np.atleast_2d(theta), self.limits, CERTIFIED, _CERTIFY_SEED)
        return all(
            self._paid(part, one.limits, None, one.cases)[0] <= 0.0
            for one in blocks
            for part in np.split(one.gains, _DIVIDED, axis=1)  # the first that does not keep them ends it
            if part.shape[1]
        )

    def tightened(self, share: float) -> OperatingMargins:
        """Return the same responses with limits tighter by a share of them (looser where it is negative)."""
        return self.with_limits(self.limits.tightened(share))

    def and_of(
        self,
        gains: np.ndarray,
        situations: Sequence[Situation],
        low: Sequence[float],
        high: Sequence[float],
        most: int | None = None,
    ) -> OperatingMargins:
        """Return these margins, and at the plants of more situations what constant gains keep there.

        At each operating point of each plant, with the situation's own delay: the limits where the gains keep them;
        stability where they do not, but are stable; nothing where they are not, or where nothing holds the plant.

        Parameters
        ----------
        gains : array [n_gains]
        situations : sequence of Situation
        low, high : array [n_gains]
            As for these margins.
        most : int, optional
            So many cases at most are added: of both kinds those where the gains have the largest Ms, which are the
            first that other gains lose.
        """
        spec = LoopSpec(self.plant, self.spec.laws, situations, self.spec.timing.step)
        added = frozen_channels(spec, low, high, alike=False)
        if not len(added.outputs.points):  # nothing holds any of them at any point
            return self.with_limits(self.limits)
        return self.and_at(gains, added, most, (STABLE,))

    def and_at(
        self,
        gains: np.ndarray,
        added: FrozenChannels,
        most: int | None = None,
        less: Sequence[MarginLimits] = (STABLE, AT_THE_EDGE),
    ) -> OperatingMargins:
        """Return these margins, and in added cases the limits, or the first of `less`, that constant gains keep."""
        levels = (None, *less)
        keeping = np.array([self._kept_by(gains, added, level or self.limits) for level in levels])
        level_of = np.where(keeping.any(axis=0), keeping.argmax(axis=0), len(levels))
        peaks = np.max([of.sensitivity[0] for of in added.margins(np.atleast_2d(gains))], axis=0)
        order = np.argsort(-peaks, kind="stable")
        strict = [int(k) for k in order if level_of[k] == 0]
        lenient = [int(k) for k in order if 0 < level_of[k] < len(levels)]
        if most is not None:
            half = max(most // 2, most - len(lenient))
            strict, lenient = strict[:half], lenient[: most - min(half, len(strict))]
        asked = sorted(strict + lenient)
        other = self.with_limits(self.limits)
        other.channels = self.channels.beside(added.of(asked))
        of = {len(self.points) + place: levels[level_of[k]] for place, k in enumerate(asked)}
        other.lenient = self.lenient | {case: level for case, level in of.items() if level is not None}
        return other

    @staticmethod
    def _kept_by(gains: np.ndarray, channels: FrozenChannels, limits: MarginLimits) -> np.ndarray:
        """Whether constant gains [n_gains] keep limits in each case [n_cases]."""
        alone = np.reshape(gains, (1, 1, -1))
        cases = range(len(channels.outputs.points))
        return np.array([not channels.penalty(alone, limits, 1, [case]).any() for case in cases])

    def with_limits(self, limits: MarginLimits) -> OperatingMargins:
        """Return the same responses with other limits."""
        other = object.__new__(OperatingMargins)
        other.__dict__.update(self.__dict__)
        other.limits = replace(limits)
        return other


@cache
def _within(limits: MarginLimits) -> MarginLimits:
    """The limits within `SLACK`: asked for in every call, checked once."""
    return limits.tightened(SLACK)


def _beside(several: Sequence[LoopMargins]) -> LoopMargins:
    """Margins of cases one beside the other."""
    arrays = {
        f.name: np.concatenate([getattr(one, f.name) for one in several], axis=1)
        for f in fields(LoopMargins)
        if f.name != "names"
    }
    return LoopMargins(tuple(name for one in several for name in one.names), **arrays)


def _paid_by(pay: _Pay, gains: np.ndarray) -> np.ndarray:
    """What gain sets [..., n, n_sets, n_gains] pay together [..., n]: the worst of them, and a share of the mean."""
    paid = pay(gains)
    each = paid.max(axis=-1) + _MEAN_SHARE * paid.mean(axis=-1)
    return np.asarray(sum(each[..., channel, :] for channel in range(each.shape[-2])))


def _slopes_of(pay: _Pay, gains: np.ndarray) -> np.ndarray:
    """Slopes of what gain sets pay together with respect to each of their gains [..., n, n_sets, n_gains]."""
    size = gains.shape[-1]
    steps = _GAIN_STEP * np.maximum(np.abs(gains), _SMALL_GAIN)
    asked = np.concatenate([gains, *(gains + steps * unit for unit in np.eye(size))], axis=-3)  # in one call
    paid, *ahead = np.split(pay(asked), size + 1, axis=-2)
    share = np.full(paid.shape, _MEAN_SHARE / paid.shape[-1])
    np.put_along_axis(share, paid.argmax(axis=-1)[..., None], share[..., :1] + 1.0, axis=-1)
    slopes = [(share * (there - paid)).sum(axis=-3) / steps[..., g] for g, there in enumerate(ahead)]
    return np.stack(slopes, axis=-1)
