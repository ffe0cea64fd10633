"""Margins over declared ranges: of frozen gains about every operating point of plants drawn from the ranges.

    plants = DrawnPlants(plant, law, draws, step, low, high)      # once; draws: situations with parameters and delays
    plants.margins(controller, theta, MarginLimits(1.8))          # of one contender after the other

What is linearised is the plant with a draw's own parameters, at a state of rest that belongs to the operating point:
the declared state where some input holds it, else the drawn plant's own state of rest with the same controlled outputs
(the reactor whose concentration follows from the temperature that is held). Inputs and states keep to their bounds;
disturbances are at their values at rest. An operating point that brings parameters of its own keeps them. A pair of
draw and point without such a state is left out and counted. The loop has the draw's own dead time: of the plant, of the
commands, of the measurements and of the jitter, added up. Nothing else of a draw takes part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.loop.spec import LoopSpec
from sscq.margins.channels import OneChannel, SeveralChannels, loop_of, plain_gains
from sscq.margins.coupled.frequency_response import similar_coupled_responses
from sscq.margins.coupled.margins import limited_coupled_margins
from sscq.margins.frequency_response import similar_responses
from sscq.margins.margins import limited_margins
from sscq.margins.rest_models import RestModels
from sscq.margins.scheduled_gains import RestOutputs, ScheduledGains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.margins.channels import FrozenChannels
    from sscq.margins.margins import MarginLimits
    from sscq.margins.rest_models import RestModel
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]

SHARE = 0.95
"""Of the pairs of draw and operating point: how many keep what is called the 95 % value."""


class NoRestError(ValueError):
    """No drawn plant has a state of rest about which it could be linearised."""


@dataclass(frozen=True)
class WorstDraw:
    """The pair with the largest Ms; of several unstable ones, the first.

    Attributes
    ----------
    draw : int
    operating_point : str
    gain_set : int
        Row of the gain sets that were asked for.
    parameters : mapping of parameter to float
    delay : float
        Of the loop, the plant's own dead time included [s].
    """

    draw: int
    operating_point: str
    gain_set: int
    parameters: dict[str, float]
    delay: float


@dataclass(frozen=True)
class RangeMargins:
    """Margins of frozen gains over drawn plants and operating points.

    Gains at rest are those that stand at a pair's own point; the share that is kept, and the pairs that are unstable,
    count what the controller passes through there as well.

    Attributes
    ----------
    sensitivity : float
        Largest Ms at rest; infinite where a pair is unstable.
    sensitivity_95 : float
        Ms that 95 % of the pairs keep; infinite where more than 5 % of them are unstable.
    delay_margin : float
        Smallest delay margin [s]; 0 where a pair is unstable.
    kept : float
        Share of the pairs that keep the limits.
    stable : float
        Share of the pairs that are stable.
    pairs, skipped : int
        How many pairs were judged, and how many more have no state of rest.
    unstable : tuple of int
        Numbers of the pairs that are unstable, the same pairs for all gains.
    worst : WorstDraw
    transient : float
        Largest Ms in passing; that at rest where the gains stand.
    broken : tuple of int
        Numbers of the pairs that do not keep the limits.
    """

    sensitivity: float
    sensitivity_95: float
    delay_margin: float
    kept: float
    stable: float
    pairs: int
    skipped: int
    unstable: tuple[int, ...]
    worst: WorstDraw
    transient: float = float("nan")
    broken: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Pair:
    draw: int
    point: int
    delay: float


@dataclass(frozen=True, eq=False)
class _AtRest:
    """Margins at rest, with what each pair keeps and whether it is stable."""

    margins: RangeMargins
    kept_by: NDArray[np.bool_]
    steady: NDArray[np.bool_]


class DrawnPlants:
    """Frequency responses of every drawn plant at every operating point, for any frozen gains.

    Parameters
    ----------
    plant, controller, step
        As for a closed loop.
    draws : sequence of Situation
        Parameters and delays of each are a plant.
    low, high : array [n_gains]
        Range of the gains that will be asked for; it decides where the frequency grids are fine.
    threads : int, optional
        None: all processors. No result depends on it.

    Attributes
    ----------
    skipped : int
        Pairs of draw and operating point without a state of rest.

    Raises
    ------
    ValueError
        If the plant has no operating points or there are no draws; NoRestError if no pair has a state of rest.
    """

    def __init__(
        self,
        plant: Plant,
        controller: Any,
        draws: Sequence[Situation],
        step: float,
        low: Sequence[float],
        high: Sequence[float],
        threads: int | None = None,
    ) -> None:
        if not plant.operating_points or not draws:
            raise ValueError(
                f"margins over ranges need operating points and draws, got {len(plant.operating_points)} points of "
                f"plant {plant.name!r} and {len(draws)} draws; declare operating_points, or leave these margins out"
            )
        self.plant, self.draws, self.threads = plant, tuple(draws), threads
        self.spec = LoopSpec(plant, controller, self.draws, step)
        self.n_channels = len(self.spec.laws)
        self._box = [plain_gains(np.array(end, float), self.n_channels) for end in (low, high)]
        self._values = np.array([plant.values("parameters", s.parameters) for s in self.draws], float)
        self._pairs: list[_Pair] = []
        self._responses: list[Any] = []
        self._measured: list[Array] = []
        models = RestModels(plant, self._values)
        for number in range(len(plant.operating_points)):
            self._prepare(models.at(number), plant.operating_points[number].name)
        self.skipped = len(self.draws) * len(plant.operating_points) - len(self._pairs)
        if not self._pairs:
            raise NoRestError(
                f"none of {len(self.draws)} drawn plants {plant.name!r} has a state of rest that belongs to an "
                "operating point, so no margins are known; declare narrower ranges of parameters, or other points"
            )

    def _prepare(self, models: dict[int, RestModel], name: str) -> None:
        """Add the pairs of one operating point."""
        if not models:
            return
        self._measured += [model.output for model in models.values()]
        loops = [tuple(loop_of(self.spec, i, (self.draws[k],)) for i in range(self.n_channels)) for k in models]
        self._pairs += [
            _Pair(k, model.point, model.delay + own[0].delay)
            for (k, model), own in zip(models.items(), loops, strict=True)
        ]
        if self.n_channels == 1:
            alone = [model.alone(name) for model in models.values()]
            self._responses += similar_responses(alone, [several[0] for several in loops], *self._box)
        else:
            together = [model.together(name) for model in models.values()]
            self._responses += similar_coupled_responses(together, loops, *self._box)

    @cached_property
    def _outputs(self) -> RestOutputs:
        return RestOutputs.of(self.plant, self._measured, [pair.point for pair in self._pairs])

    @property
    def channels(self) -> FrozenChannels:
        """All pairs as cases of an :class:`sscq.margins.operating.OperatingMargins`, in the order of their numbers."""
        kind = OneChannel if self.n_channels == 1 else SeveralChannels
        return kind(self._outputs, tuple(self._responses))

    def margins(self, controller: Any, theta: np.ndarray, limits: MarginLimits) -> RangeMargins:
        """Return the margins of a controller with parameters theta [n_theta], at rest and in passing."""
        given = ScheduledGains(controller, self._outputs)
        (rest,) = given.at_rest(np.atleast_2d(theta))
        found = self._result(np.broadcast_to(rest, (len(self._pairs), *rest.shape[1:])), limits)
        kept, steady, most = found.kept_by, found.steady, np.full(len(self._pairs), -np.inf)
        for cases, gains in given.passing(np.atleast_2d(theta)):
            stable, sensitivity, _ = self._limited(
                np.tile(spread_out(gains[0]), (len(cases), 1, 1)), cases, delays=False
            )
            most[cases] = sensitivity.max(axis=1)
            steady[cases] &= (stable > 0.0).all(axis=1)
        passing = np.isfinite(most) | (most > 0.0)
        kept &= steady & (~passing | (most <= limits.in_passing.sensitivity))
        return replace(
            found.margins,
            kept=float(kept.mean()),
            stable=float(steady.mean()),
            unstable=tuple(np.flatnonzero(~steady).tolist()),
            broken=tuple(np.flatnonzero(~kept).tolist()),
            transient=float(most.max()) if passing.any() else found.margins.sensitivity,
        )

    def _limited(self, gains: Array, cases: NDArray[np.intp], *, delays: bool = True) -> Array:
        """What is limited, of each pair's own gain sets [pair, n_sets, n_gains]."""
        responses, own = [self._responses[case] for case in cases], plain_gains(gains, self.n_channels)
        if self.n_channels == 1:  # a tenth of a millisecond each: threads would wait for one another
            return limited_margins(own, responses, delays=delays)
        return limited_coupled_margins(own, responses, self.threads, delays=delays)

    def _result(self, gains: Array, limits: MarginLimits) -> _AtRest:
        stable, sensitivity, delay = self._limited(gains, np.arange(len(self._pairs)))
        steady, most, least = (stable > 0.0).all(axis=1), sensitivity.max(axis=1), delay.min(axis=1)
        kept = steady & (most <= limits.sensitivity) & (least >= limits.delay_margin)
        worst = int(most.argmax())
        pair = self._pairs[worst]
        names = [q.name for q in self.plant.parameters]
        values = dict(zip(names, self._values[pair.draw].tolist(), strict=True))
        point = self.plant.operating_points[pair.point]
        margins = RangeMargins(
            sensitivity=float(most[worst]),
            sensitivity_95=float(np.quantile(most, SHARE, method="inverted_cdf")),
            delay_margin=float(least.min()),
            kept=float(kept.mean()),
            stable=float(steady.mean()),
            pairs=len(self._pairs),
            skipped=self.skipped,
            unstable=tuple(np.flatnonzero(~steady).tolist()),
            worst=WorstDraw(
                pair.draw, point.name, int(sensitivity[worst].argmax()), values | dict(point.parameters), pair.delay
            ),
        )
        return _AtRest(margins, kept, steady)


GAIN_SETS = 32
"""So many of the gain sets that a schedule may pass through are asked for, far from one another."""

_ROUNDING = 1e-9  # of the largest gain: mixtures of equal gains


def spread_out(gains: np.ndarray, n: int = GAIN_SETS) -> np.ndarray:
    """Return `n` of the gain sets [n_sets, n_gains], each the farthest from all before; all where they are fewer.

    Distances are in the gains' own ranges, so the corners of a hull come first.
    """
    if len(gains) <= n:
        return gains
    width = np.ptp(gains, axis=0)
    varies = width > _ROUNDING * np.abs(gains).max()
    places = gains[:, varies] / width[varies]
    chosen = [int(np.abs(places - places.mean(axis=0)).sum(axis=1).argmax())]
    distance = np.full(len(gains), np.inf)
    while len(chosen) < n:
        distance = np.minimum(distance, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return gains[chosen]
