"""Fixed gains for an ensemble: searched on some members within margins and travel, promised on all of them.

found = advise(ensemble, present=(kp, ki, kd), scenario=scenario)
found.status                                          # "advised", "keep" or "refused"
found.gains, found.promise, found.reason
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sscq.identification.ensemble import DISCREPANCY, PlantMembers
from sscq.identification.loops import run_loops
from sscq.identification.promise import LoopsAtRest, Promise, loop_law, promise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers import PID
    from sscq.identification.ensemble import Ensemble
    from sscq.identification.promise import LoopScenario, MemberMargins

    Array = NDArray[np.float64]

SENSITIVITY, WORST_SENSITIVITY = 1.7, 2.2
"""Ms that 95 % of the members keep, and that all of them keep."""

TRAVEL = 2.0
"""Times the travel of the present gains."""

WORTH = 0.03
"""Lower end of the promised improvement from which on other gains are advised."""

WIDEST = 0.8
"""Width of the promised interval beyond which nothing is advised."""

_ROUNDS, _CANDIDATES, _ELITE = 5, 120, 15
_SEARCHED = 40  # members that the search sees
JUDGED = 120
"""Members whose margins are judged."""

_SHARE = 0.95
_PRICE = 5.0  # of a share by which a limit is exceeded
_FIRST_DEVIATION, _LEAST_DEVIATION = 0.8, 0.03  # of logarithms of gains
_SHARPEST = 6.0  # kp times slope times effective dead time: beyond it no loop of this kind is stable


@dataclass(frozen=True)
class AdviceLimits:
    """What other gains have to keep: Ms of 95 % of the members and of all, and times the present travel."""

    usual: float
    worst: float
    travel: float


@dataclass(frozen=True, eq=False)
class Advice:
    """What to do with a loop.

    Attributes
    ----------
    status : {"advised", "keep", "sharp", "refused"}
        Sharp: the present gains should not stay, though others have no less error.
    reason : str
        A sentence.
    gains : (kp, ki, kd), or None
        The best that were found; with "keep" those that were turned down, None where nothing was searched.
    promise : Promise or None
    margins, present_margins : MemberMargins or None
        Of the found and of the present gains.
    evaluations : int
    """

    status: str
    reason: str
    gains: tuple[float, float, float] | None = None
    promise: Promise | None = None
    margins: MemberMargins | None = None
    present_margins: MemberMargins | None = None
    evaluations: int = 0

    @property
    def to_be_typed(self) -> bool:
        """Whether the gains that were found should take the place of the present ones."""
        return self.status in {"advised", "sharp"}


def advise(
    ensemble: Ensemble,
    present: Sequence[float],
    scenario: LoopScenario,
    *,
    limits: tuple[float, float] = (0.0, 100.0),
    discrepancy: float = DISCREPANCY,
    with_derivative: bool | None = None,
    travel: float | None = None,
    sensitivity: float | None = None,
    sample_time: float | None = None,
) -> Advice:
    """Return what to do with a loop.

    Parameters
    ----------
    ensemble : Ensemble
    present : (kp, ki, kd)
        Magnitudes; the sense is the ensemble's.
    scenario : LoopScenario
    limits : (low, high)
        Of the output.
    discrepancy : float
    with_derivative : bool, optional
        Whether kd is searched as well; None: where the present gains have one.
    travel, sensitivity : float, optional
        Limits in the place of `TRAVEL`, and of `WORST_SENSITIVITY`; 95 % of the members keep Ms 1.7, or that one if it
        is smaller.
    sample_time : float, optional
        Of the block [s]; None: that of the rows.
    """
    worst = WORST_SENSITIVITY if sensitivity is None else sensitivity
    allowed = AdviceLimits(min(SENSITIVITY, worst), worst, TRAVEL if travel is None else travel)
    if ensemble.refusal:
        return Advice("refused", ensemble.refusal)
    own = np.abs(np.asarray(present, float))
    law = loop_law(ensemble, limits, sample_time=sample_time)
    members = ensemble.spread(discrepancy)
    derivative = bool(own[2] > 0.0) if with_derivative is None else with_derivative
    search = _GainSearch(ensemble, members, law, own, scenario, derivative, allowed)
    if search.lost_share > 0.5:
        share = 100.0 * search.lost_share
        return Advice(
            "refused",
            f"with the present gains {share:.0f} % of the plants that explain the log run away: these are not the "
            "gains that it was recorded with",
        )
    found_gains = search.best()
    at_rest = LoopsAtRest(some(members, JUDGED), law, *search.range_of(found_gains), ensemble.reach)
    # As they are typed in: what is promised is promised of these.
    gains = rounded(_led_inside(at_rest, own, found_gains, allowed))
    margins, before = at_rest.margins(gains[None]), at_rest.margins(own[None])
    promised = promise(ensemble, own.tolist(), gains.tolist(), scenario, law, discrepancy)
    found = (float(gains[0]), float(gains[1]), float(gains[2]))
    if promised.high - promised.low > WIDEST:
        reason = f"the log tells too little of what other gains would do: {told(promised)}"
        return Advice("refused", reason, found, promised, margins, before, search.evaluations)
    broken = _broken(margins, promised, allowed)
    peak = float(np.median(before.sensitivity))
    if not broken and promised.low > WORTH:
        status, reason = "advised", f"use these gains: {told(promised)}"
    else:
        status, reason = "keep", f"keep the present gains: the best others promise {told(promised)}"
        if peak > WORST_SENSITIVITY:
            status, said = "sharp", "unstable" if np.isinf(peak) else f"Ms {peak:.2f}"
            reason = f"the present gains are too sharp ({said} for the middle plant): safer ones have {told(promised)}"
        if broken:
            reason += f", but {broken}"
    return Advice(status, reason, found, promised, margins, before, search.evaluations)


def _led_inside(at_rest: LoopsAtRest, own: Array, gains: Array, allowed: AdviceLimits) -> Array:
    """Return the gains, or as much of the way to them from the present ones as all judged members bear.

    The search sees fewer members than are judged.
    """
    shares = np.linspace(1.0, 0.0, _WAY)
    way = own + shares[:, None] * (gains - own)
    sensitivity = at_rest.margins(way).sensitivity
    usual = np.quantile(sensitivity, _SHARE, axis=1, method="inverted_cdf")
    inside = (usual <= allowed.usual) & (sensitivity.max(axis=1) <= allowed.worst)
    return np.asarray(way[int(inside.argmax())]) if inside.any() else gains


_WAY = 41


def told(promised: Promise) -> str:
    """Return a promise in words: "36 % less error, between 28 % less and 38 % less for 90 % of the plants"."""
    low, middle, high = (_in_words(value) for value in (promised.low, promised.median, promised.high))
    return f"{middle} error, between {low} and {high} for 90 % of the plants"


def _in_words(improvement: float) -> str:
    return f"{abs(100.0 * improvement):.0f} % {'less' if improvement >= 0.0 else 'more'}"


def _broken(margins: MemberMargins, promised: Promise, allowed: AdviceLimits) -> str:
    """Which limit is not kept, in words; empty: all are."""
    (sensitivity,) = margins.sensitivity
    if float(np.quantile(sensitivity, _SHARE, method="inverted_cdf")) > allowed.usual * _ROOM:
        return f"fewer than 95 % of the plants keep Ms {allowed.usual:g}"
    if float(sensitivity.max()) > allowed.worst * _ROOM:
        return f"not all of the plants keep Ms {allowed.worst:g}"
    if promised.lost:
        return f"{promised.lost} of the plants run away"
    if promised.travel > allowed.travel * _ROOM:
        return f"the output travels {promised.travel:.1f} times as far (at most {allowed.travel:g})"
    return ""


_ROOM = 1.05  # members that are judged are others than those that the search saw


def rounded(gains: Array, digits: int = 3) -> Array:
    """Return gains with so many significant digits."""
    return np.array([float(f"{value:.{digits}g}") for value in gains])


def some(members: Sequence[PlantMembers], n: int) -> tuple[PlantMembers, ...]:
    """Return `n` of the members, evenly of all structures."""
    total = sum(map(len, members))
    found = []
    for group in members:
        count = max(1, round(n * len(group) / total))
        places = np.linspace(0, len(group) - 1, min(count, len(group))).astype(int)
        found.append(PlantMembers(group.structure, group.parameters[places]))
    return tuple(found)


class _GainSearch:
    """A cross-entropy search of ln kp, ln ki (and ln kd) on some members."""

    def __init__(
        self,
        ensemble: Ensemble,
        members: Sequence[PlantMembers],
        law: PID,
        present: Array,
        scenario: LoopScenario,
        derivative: bool,
        allowed: AdviceLimits,
    ) -> None:
        self.allowed = allowed
        self.ensemble, self.law, self.present = ensemble, law, present
        self.members = some(members, _SEARCHED)
        self.signals = scenario.signals(law.sample_time or 1.0)
        self.size = 3 if derivative else 2
        self.rng = np.random.default_rng([ensemble.seed, 11])
        self.evaluations = 0
        before = run_loops(self.members, ensemble.sense, law, present, self.signals)
        self.kept = np.isfinite(before.error[0])
        self.lost_share = 1.0 - float(self.kept.mean())
        self.before = before
        self.start = self._start()
        self.at_rest = LoopsAtRest(self.members, law, *self.range_of(self.start), ensemble.reach)

    def _start(self) -> Array:
        """Gains by Skogestad's rule for the middle of the members, as tight as its dead time."""
        slopes = np.concatenate([self._slope(group) for group in self.members])
        times = np.concatenate([np.stack(g.structure.times(g.parameters)) for g in self.members], axis=1)
        slow, late = np.median(times, axis=1)
        late = max(float(late), 0.5 * self.signals.step)
        kp = 0.5 / (float(np.median(slopes)) * late)
        self.sharpest = _SHARPEST / (float(np.median(slopes)) * late)
        return np.array([kp, kp / min(float(slow), 8.0 * late), 0.3 * kp * late if self.size == 3 else 0.0])

    @staticmethod
    def _slope(group: PlantMembers) -> Array:
        slow, _ = group.structure.times(group.parameters)
        names = group.structure.parameters
        return group.column("slope") if "slope" in names else group.column("gain") / slow

    def range_of(self, gains: Array) -> tuple[Array, Array]:
        """Return a box of gains about some, and about the present ones."""
        both = np.maximum(gains, self.present)
        return 0.0 * both, 4.0 * np.maximum(both, 1e-9 * both.max())

    def best(self) -> Array:
        """Return the best gains [3]; with a derivative, no worse here than without."""
        without, value = self._searched(self.start[:2])
        if self.size == 2:
            return without
        # Three gains are searched about the best two: from afar the rounds end before all three have settled.
        found, other = self._searched(np.array([*without[:2], self.start[2]]))
        return found if other < value else without

    def _searched(self, start: Array) -> tuple[Array, float]:
        """Best gains [3] that are found from the first ones [n_searched], and their value; the others are 0."""
        size = len(start)
        middle, deviation = np.log(start), np.full(size, _FIRST_DEVIATION)
        own = self.present[:size]
        best, least = np.pad(start, (0, 3 - size)), np.inf
        for number in range(_ROUNDS):
            drawn = middle + deviation * self.rng.standard_normal((_CANDIDATES, size))
            drawn[0] = middle
            if number == 0 and (own > 0.0).all():
                drawn[1] = np.log(own)
            drawn[:, 0] = np.minimum(drawn[:, 0], np.log(self.sharpest))
            gains = np.zeros((_CANDIDATES, 3))
            gains[:, :size] = np.exp(drawn)
            values = self._values(gains)
            order = np.argsort(values, kind="stable")
            if values[order[0]] < least:
                best, least = gains[order[0]].copy(), float(values[order[0]])
            elite = drawn[order[:_ELITE]]
            middle, deviation = elite.mean(axis=0), np.maximum(elite.std(axis=0), _LEAST_DEVIATION)
        return best, least

    def _values(self, gains: Array) -> Array:
        """Mean error over that of the present gains [n], and the price of what is exceeded."""
        found = run_loops(self.members, self.ensemble.sense, self.law, gains, self.signals)
        self.evaluations += len(gains)
        ratio = found.error[:, self.kept] / self.before.error[:, self.kept]
        value = np.minimum(ratio, 10.0).mean(axis=1)
        travel = np.median(found.travel[:, self.kept] / self.before.travel[:, self.kept], axis=1)
        margins = self.at_rest.margins(gains).sensitivity
        usual = np.quantile(margins, _SHARE, axis=1, method="inverted_cdf")
        for size, limit in (
            (usual, self.allowed.usual),
            (margins.max(axis=1), self.allowed.worst),
            (travel, self.allowed.travel),
        ):
            value += _PRICE * np.clip(np.minimum(size, 100.0) / limit - 1.0, 0.0, 10.0)
        return value
