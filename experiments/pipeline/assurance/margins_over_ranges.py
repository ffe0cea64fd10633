"""Margins of every contender over the declared ranges of parameters and delays, the fixed PID's as well.

`metrics.json` has them under ``controllers.NAME.margins_over_ranges``, for contenders whose gains are known (else the
key is missing): ``sensitivity`` (largest Ms, null: unstable somewhere), ``sensitivity_95`` (the Ms that 95 % of the
pairs of drawn plant and operating point keep, null: none), ``delay_margin`` [s], ``transient`` (largest Ms of gains
that are passed through, null: unstable somewhere), ``kept`` and ``stable`` (shares of the pairs), ``pairs``,
``skipped`` (without a state of rest) and ``worst`` (``draw``, ``operating_point``, ``gain_set``, ``parameters``,
``delay`` [s]). A report has them in `Judgement.over_ranges`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from experiments.runtime import formats
from experiments.settings.ranges import ranges_for
from sscq.margins.drawn_plants import SHARE, DrawnPlants, NoRestError, RangeMargins, WorstDraw
from sscq.worst.genome import EnvelopeGenes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.settings import Setup
    from plants import Plant
    from sscq.baselines.tuned import Tuned
    from sscq.margins.margins import MarginLimits
    from sscq.margins.operating import OperatingMargins
    from sscq.situations.situation import Situation
    from sscq.worst.envelope import Envelope

DRAWS = 200
_ONE_SIDE = 1.645  # standard deviations beyond which one in twenty is by chance
_PAIRS = ("unstable", "broken")  # their numbers
_MAY_BE_INFINITE = ("sensitivity", "sensitivity_95", "delay_margin", "transient")  # JSON has no infinity: null


def draws(plant: Plant, ranges: Envelope, seed: int, n: int = DRAWS) -> tuple[Situation, ...]:
    """Return the drawn plants of a design: parameters and delays of its declared ranges, by the design's seed."""
    genes = EnvelopeGenes(plant, ranges)
    return tuple(genes.situation(genome) for genome in genes.draw(n, seed))


ASKED = 48
"""So many pairs of plant and operating point are asked of a schedule while it is searched, or as many as are taught."""

FORESEEN = 2
"""Which set of drawn plants tells of a contender what the verdict is likely to hold against it."""

_LOOKED = 3  # times as many are drawn, and those that are lost first are asked
_OTHER_DRAWS = 15_485_863  # beyond the design's seed: the verdict's plants are none of those that a search sees


def asked(bench: Bench, fixed: Tuned) -> OperatingMargins | None:
    """Return the margins that schedules are searched with: the bench's, and at drawn plants what the fixed PID keeps.

    The verdict turns down what keeps margins over the declared ranges less often than the fixed PID, or is unstable
    where that is not; so a search has to see some of them. The fixed gains themselves keep all that is asked here.
    """
    margins, setup = bench.margins, bench.setup
    if margins is None or setup.config.fitness.margins_of == "first":
        return margins
    most = max(0, ASKED - len(margins.points))
    several = -(-_LOOKED * most // len(setup.plant.operating_points))
    drawn = draws(setup.plant, ranges_for(setup.ranges, "taught"), setup.seed + _OTHER_DRAWS, several)
    told_apart = {(setup.plant.values("parameters", s.parameters), s.delay, s.output_delay, s.jitter) for s in drawn}
    if len(told_apart) < 2:  # no draws, or ranges of neither parameters nor delays
        return margins
    return margins.and_of(fixed.theta, drawn, setup.low.tolist(), setup.high.tolist(), most)


@dataclass(frozen=True, eq=False)
class Foresight:
    """What the verdict is likely to hold against a contender, told as it does, of as many plants, but of other ones.

    Attributes
    ----------
    plants : DrawnPlants
    limits : MarginLimits
    base : RangeMargins
        What the fixed gains keep.
    """

    plants: DrawnPlants
    limits: MarginLimits
    base: RangeMargins

    @classmethod
    def of(cls, bench: Bench, fixed: Tuned, other: int) -> Self | None:
        """Return it for other plants than the verdict's, `other` tells which; None where no margins are known."""
        margins, setup = bench.margins, bench.setup
        if margins is None:
            return None
        drawn = draws(setup.plant, ranges_for(setup.ranges, "taught"), setup.seed + other * _OTHER_DRAWS)
        plants, limits = _drawn_plants(setup, drawn, 1), margins.limits  # several are asked in processes side by side
        if plants is None:
            return None
        return cls(plants, limits, plants.margins(fixed.controller, fixed.theta, limits))

    def held_against(self, one: Tuned) -> bool:
        """Return whether it would be held against it."""
        return one.margins_asked and bool(_faults(self._margins(one), self.base))

    def lost(self, one: Tuned) -> set[int]:
        """Return the pairs that it does not keep, or where it is unstable, and the fixed gains are better."""
        found, base = self._margins(one), self.base
        return set(found.broken) - set(base.broken) | set(found.unstable) - set(base.unstable)

    def _margins(self, one: Tuned) -> RangeMargins:
        return self.plants.margins(one.controller, one.theta, self.limits)


class Foresights:
    """Foresights by several sets of drawn plants, each prepared when it is first asked for, in that process alone.

    A choice between several searches must not be made where it is judged.

    Parameters
    ----------
    bench : Bench
    fixed : Tuned
        The best fixed PID.
    """

    def __init__(self, bench: Bench, fixed: Tuned) -> None:
        self.of = cache(partial(Foresight.of, bench, fixed))
        """Number of a set of drawn plants to its foresight; None where no margins are known."""

    def held_against(self, other: int, one: Tuned) -> bool:
        """Return whether the verdict is likely to hold a contender's margins at such plants against it."""
        found = self.of(other)
        return found is not None and found.held_against(one)


def _drawn_plants(setup: Setup, drawn: Sequence[Situation], threads: int | None) -> DrawnPlants | None:
    box = setup.low.tolist(), setup.high.tolist()
    try:
        return DrawnPlants(setup.plant, setup.laws, drawn, setup.step, *box, threads)
    except NoRestError:
        return None


def over_ranges(bench: Bench, group: Sequence[Tuned]) -> dict[str, RangeMargins]:
    """Return the margins of all contenders whose gains are known; none where no margins are asked for.

    Nor are there any where no drawn plant has a state of rest about which it could be linearised.
    """
    margins = bench.margins
    if margins is None:
        return {}

    def compute(_: Path) -> dict[str, Any]:
        return {name: asdict(found) for name, found in _judged(bench.setup, margins, group).items()}

    stored = bench.stage("margins_over_ranges", compute, *formats.as_json("margins_over_ranges.json"))
    return {name: _read(fields) for name, fields in stored.items()}


def _judged(setup: Setup, margins: OperatingMargins, group: Sequence[Tuned]) -> dict[str, RangeMargins]:
    plants = _drawn_plants(setup, draws(setup.plant, ranges_for(setup.ranges, "drawn"), setup.seed), setup.threads)
    if plants is None:
        return {}
    return {c.name: plants.margins(c.controller, c.theta, margins.limits) for c in group if c.margins_asked}


def _read(fields: Mapping[str, Any]) -> RangeMargins:
    numbers: dict[str, Any] = {
        key: np.inf if fields[key] is None else float(fields[key]) for key in _MAY_BE_INFINITE if key in fields
    }
    rest = {key: value for key, value in fields.items() if key not in {*numbers, *_PAIRS, "worst"}}
    pairs: dict[str, Any] = {key: tuple(fields.get(key, ())) for key in _PAIRS}
    return RangeMargins(**numbers, **rest, **pairs, worst=WorstDraw(**fields["worst"]))


def plain(found: RangeMargins) -> dict[str, Any]:
    """Return what `metrics.json` holds of a contender."""
    fields = asdict(found)
    del fields["unstable"], fields["broken"]
    return fields


def faults(found: Mapping[str, RangeMargins], baseline: str = "fixed") -> dict[str, tuple[str, ...]]:
    """Return why contenders must not replace the fixed gains, by name; without reasons where there are none."""
    if baseline not in found:
        return {}
    base = found[baseline]
    return {name: tuple(_faults(one, base)) for name, one in found.items() if name != baseline}


def _beyond_chance(one: Collection[int], base: Collection[int]) -> bool:
    """Whether more pairs fail with one than with the base, by more than chance.

    A sign test of one side, 5 %, in its normal approximation: with few pairs it refuses sooner than the exact one.
    """
    worse, better = len(set(one) - set(base)), len(set(base) - set(one))
    return worse - better > _ONE_SIDE * math.sqrt(worse + better)


def _faults(one: RangeMargins, base: RangeMargins) -> list[str]:
    reasons = []
    lost = len(set(one.unstable) - set(base.unstable))
    # Where the fixed gains are stable throughout, so is what replaces them; else neither is, and chance has its part.
    if lost and (not base.unstable or _beyond_chance(one.unstable, base.unstable)):
        reasons.append(
            f"it is unstable in {lost} of {one.pairs} drawn plants and points where the fixed gains are stable"
        )
    if one.kept < SHARE and _beyond_chance(one.broken, base.broken):
        reasons.append(
            f"it keeps the margins in {100.0 * one.kept:.1f} % of the drawn plants and points "
            f"(the fixed gains: {100.0 * base.kept:.1f} %)"
        )
    return reasons
