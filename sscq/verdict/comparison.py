"""Two controllers on the same rollouts: what changes where both survive, and how many rollouts each of them loses.

A lost rollout has a penalty for a fitness, and a mean that hangs on a few of them has no interval that a few hundred
rollouts could tell. So the fitness is compared over the rollouts that both survive, and lost ones are counted.

Wilcoxon's signed-rank test of paired differences: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics
Bulletin 1 (1945) 80; the variance with ties: M. Hollander, D. Wolfe and E. Chicken, Nonparametric Statistical Methods,
3rd ed., Wiley 2014, sec. 3.1. The exact sign test: ibid., sec. 3.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.verdict.bootstrap import Change, best_of, change, change_of_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.verdict.bootstrap import Statistic

_FEW = 50  # so many differences or fewer: the exact distribution


def p_value(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value [1] of paired differences [n]; 1 where none differs.

    The normal approximation for more than 50 of them, as usual. SciPy answers for fewer: it has the exact distribution,
    but importing its statistics takes longer than all else that a verdict does.
    """
    if not np.any(differences):
        return 1.0
    if len(differences) <= _FEW:
        from scipy.stats import wilcoxon

        return float(wilcoxon(differences).pvalue)
    some = differences[differences != 0.0]
    _, place, ties = np.unique(np.abs(some), return_inverse=True, return_counts=True)
    ranks = np.cumsum(ties) - 0.5 * (ties - 1.0)  # equal sizes share the mean of their ranks
    n = float(len(some))
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * float((ties**3.0 - ties).sum())) / 24.0
    z = (float(ranks[place[some > 0.0]].sum()) - 0.25 * n * (n + 1.0)) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2.0))


CHANCE = 0.05
"""Level of the sign test of lost rollouts."""


def loses_fewer(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Return whether the first of two controllers loses fewer rollouts than chance allows, each [seed, situation].

    The exact one-sided sign test at 5 %, of the seeds in which they lose different numbers: situations of one seed are
    no independent witnesses. A fresh draw is a seed of its own. Five against none are enough.
    """
    more = other.sum(axis=1) - one.sum(axis=1)
    for_it, n = int((more > 0).sum()), int((more != 0).sum())
    return n > 0 and sum(math.comb(n, k) for k in range(for_it, n + 1)) <= CHANCE * 2**n


TAIL = 0.05
TRAVEL_SLACK = 0.05  # the travel limit holds on taught situations; unforeseen ones may ask for a little more
_BOOTSTRAPS = 2000


@dataclass(frozen=True)
class Sample:
    """One controller's rollouts, the same for all controllers.

    Attributes
    ----------
    fitness : ndarray [seed, situation]
    travel : ndarray [seed, situation]
        Total variation of the commands.
    failed : ndarray of bool [seed, situation]
    error : ndarray [seed, situation] or None
        The tracking error that the fitness declares; None where it weighs none.
    error_name : str
        In words, for the reason: "IAE".
    same_damping : ndarray [seed, situation] or None
        The fitness with the damping of the baseline in the place of the controller's own: what a controller gains by
        lower gains alone is not in it. None where it weighs no entropy production of the controller.
    """

    fitness: np.ndarray
    travel: np.ndarray
    failed: np.ndarray
    error: np.ndarray | None = field(default=None, kw_only=True)
    error_name: str = field(default="error", kw_only=True)
    same_damping: np.ndarray | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Comparison:
    """A controller against the baseline.

    Attributes
    ----------
    mean, median, tail : Change
        Of the fitness over the rollouts that both survive, NaN where there is none; tail: mean of the worst 5 %.
    travel : Change
        Of the mean total variation, over the same rollouts.
    failures : tuple of int
        Rollouts that it loses, and that the baseline loses.
    new_failures, spared : int
        Rollouts that it loses and the baseline does not, and the other way round.
    fewer : bool
        Whether it loses fewer of them beyond chance, see :func:`loses_fewer`.
    wins : float
        Share of the rollouts in which it is better; a lost one is worse than any that is not.
    p_value : float
        Two-sided Wilcoxon signed-rank test of all rollouts; for information.
    reasons : tuple of str
        Why it does not pass; empty if it does.
    further : tuple of str
        Those of the reasons that these rollouts do not show: margins over ranges, a wall of the gains' box, or what was
        seen where the choice was made.
    of_design : Change or None
        Of the mean, with an interval over rollouts and over what another design's searches would have delivered; None
        where there was one search. The other intervals, and whether it passes, are of the delivered controller.
    searches : tuple of float
        Change of the mean of what each search found, the delivered one first; empty where there was one.
    error : Change or None
        Of the mean tracking error over the rollouts that both survive; None where the fitness weighs none.
    same_damping : Change or None
        Of the mean of the fitness with the baseline's damping in the place of the controller's own; None where there is
        none of it.
    undecided : bool
        Whether more rollouts could make it pass: nothing speaks against it but changes of the fitness that are on the
        better side, with intervals that reach over to the other.
    """

    mean: Change
    median: Change
    tail: Change
    travel: Change
    failures: tuple[int, int]
    new_failures: int
    spared: int
    fewer: bool
    wins: float
    p_value: float
    reasons: tuple[str, ...]
    further: tuple[str, ...] = ()
    of_design: Change | None = None
    searches: tuple[float, ...] = ()
    error: Change | None = None
    same_damping: Change | None = None
    undecided: bool = False

    @property
    def headline(self) -> Change:
        """The change of the mean, with the widest interval that is known."""
        return self.of_design or self.mean

    @property
    def passes(self) -> bool:
        """Whether it may replace the baseline."""
        return not self.reasons

    @property
    def unequal(self) -> bool:
        """Whether one of the two loses more rollouts than the other."""
        return self.failures[0] != self.failures[1]


def tail_mean(values: np.ndarray) -> float:
    """Return the mean of the worst (largest) 5 % of the values, at least one."""
    return float(_tail(np.ravel(values)[None])[0])


def _tail(values: np.ndarray) -> np.ndarray:
    return _of_known(values, lambda ordered: ordered[:, -max(1, round(TAIL * ordered.shape[1])) :].mean(axis=1))


def _mean(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.nanmean(values, axis=-1))


def _median(values: np.ndarray) -> np.ndarray:
    return _of_known(values, lambda ordered: np.median(ordered, axis=1))


def _of_known(values: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A statistic of the ordered numbers of each row that are not NaN [row]; a row has at least one."""
    ordered, found = np.sort(values, axis=-1), np.empty(len(values))  # NaN last
    counts = (~np.isnan(ordered)).sum(axis=-1)
    for n in np.unique(counts):
        found[counts == n] = statistic(ordered[counts == n, :n])
    return found


_STATISTICS = {"mean": (_mean, "mean"), "median": (_median, "median"), "tail": (_tail, "worst 5 %")}


def compare(
    other: Sample, baseline: Sample, seed: int = 0, margins_kept: bool = True, searches: Sequence[Sample] = ()
) -> Comparison:
    """Compare two controllers on paired rollouts; whole seeds are resampled, so situations stay together.

    `searches` are what other searches found in place of `other`, the best first.
    """
    rows, lost = _rows(len(baseline.fitness), seed), other.failed | baseline.failed
    changes = {
        name: _where_alive(other.fitness, baseline.fitness, lost, rows, statistic)
        for name, (statistic, _) in _STATISTICS.items()
    }
    travel = _where_alive(other.travel, baseline.travel, lost, rows)
    tracking, same = (_of_both(other, baseline, name, lost, rows) for name in ("error", "same_damping"))
    fewer = loses_fewer(other.failed, baseline.failed)
    new_failures = int((other.failed & ~baseline.failed).sum())
    difference = (other.fitness - baseline.fitness).ravel()
    reasons = _of_fitness(changes, lost, fewer=fewer)
    asked = {**changes, "same_damping": same}
    unclear = [one for name, one in asked.items() if one is not None and not holds(name, one, fewer=fewer)]
    promising = sum(one.value < 0.0 for one in unclear)  # all there is against it, if there are as many reasons
    if travel.value > TRAVEL_SLACK:
        reasons.append(f"it needs more actuator travel ({travel})")
    if tracking is not None and tracking.value > 0.0:
        reasons.append(f"it {worse_tracking(tracking)}: {other.error_name} {tracking}")
    if same is not None and not holds("same_damping", same, fewer=fewer):
        reasons.append(f"with the fixed gains' damping in place of its own J does not improve reliably ({same})")
    if new_failures:
        reasons.append(f"it fails in {new_failures} rollouts that the fixed gains survive")
    if len(baseline.fitness) < 2:
        reasons.append("one seed cannot tell chance from effect; use more")
    elif nothing_random(baseline) and nothing_random(other):
        reasons.append("nothing differs from seed to seed, so that one rollout would be counted many times")
    if not margins_kept:
        reasons.append("it does not keep the margins at the operating points")
    return Comparison(
        mean=changes["mean"],
        median=changes["median"],
        tail=changes["tail"],
        travel=travel,
        failures=(int(other.failed.sum()), int(baseline.failed.sum())),
        new_failures=new_failures,
        spared=int((baseline.failed & ~other.failed).sum()),
        fewer=fewer,
        wins=float((difference < 0).mean()),
        p_value=p_value(difference),
        reasons=tuple(reasons),
        error=tracking,
        same_damping=same,
        undecided=0 < promising == len(reasons),
        **_over_searches((other, *searches), baseline, rows, seed),
    )


def worse_tracking(change: Change) -> str:
    """Return words for a tracking error whose mean is larger: "tracks worse" where that is beyond chance."""
    return "tracks worse" if change.low > 0.0 else "may track worse"


def _of_fitness(changes: Mapping[str, Change], lost: np.ndarray, *, fewer: bool) -> list[str]:
    """What speaks against it in the changes of the fitness."""
    if lost.all() and not fewer:
        return ["there is no rollout that both survive"]
    where = ", where both survive," if lost.any() else ""
    asked = "gets worse" if fewer else "does not improve reliably"
    return [
        f"the {word} of J{where} {asked} ({changes[name]})"
        for name, (_, word) in _STATISTICS.items()
        if not holds(name, changes[name], fewer=fewer)
    ]


def holds(name: str, found: Change, *, fewer: bool) -> bool:
    """Return whether the change of a statistic of the fitness ("mean", "median", "tail", "same_damping") is as asked.

    It improves reliably; where fewer rollouts are lost beyond chance, means and tail only do not get reliably worse.
    """
    return found.improves or (fewer and (name == "median" or not found.worsens))


def _of_both(other: Sample, baseline: Sample, name: str, lost: np.ndarray, rows: np.ndarray) -> Change | None:
    """The change of the mean of what both samples may have; None where one has none."""
    one, base = getattr(other, name), getattr(baseline, name)
    return None if one is None or base is None else _where_alive(one, base, lost, rows)


def _over_searches(several: Sequence[Sample], baseline: Sample, rows: np.ndarray, seed: int) -> dict[str, Any]:
    """What a comparison knows of other searches."""
    if len(several) == 1:
        return {}
    found = [(one.fitness, one.failed | baseline.failed) for one in several]
    each = tuple(_where_alive(one, baseline.fitness, lost, rows).value for one, lost in found)
    return {"of_design": _of_choice(found, baseline.fitness, rows, seed), "searches": each}


def change_where_alive(
    other: np.ndarray,
    baseline: np.ndarray,
    lost: np.ndarray,
    seed: int = 0,
    searches: Sequence[tuple[np.ndarray, np.ndarray]] = (),
) -> Change:
    """Return the change of a measure's mean over the rollouts that both survive, each [seed, situation].

    A rollout cut short has small integrals. Without any that both survive the change is NaN.

    Parameters
    ----------
    lost : ndarray of bool
        Where one of the two does not survive.
    searches : sequence of (ndarray, ndarray of bool), optional
        What other searches found in place of `other`, the best first by what the design knew, and where that or the
        baseline is lost; the interval then is over searches, too.
    """
    return _of_choice([(other, lost), *searches], baseline, _rows(len(baseline), seed), seed)


def _of_choice(
    found: Sequence[tuple[np.ndarray, np.ndarray]], baseline: np.ndarray, rows: np.ndarray, seed: int
) -> Change:
    """The change of a mean where both survive, over rollouts and over those searches that keep a loop at all."""
    several = [(one, gone) for one, gone in found if not gone.all()]
    if len(several) < 2 or found[0][1].all():
        return _where_alive(found[0][0], baseline, found[0][1], rows)
    pairs = [(np.where(gone, np.nan, one), np.where(gone, np.nan, baseline)) for one, gone in several]
    known = np.all([~gone[rows].all(axis=(1, 2)) for _, gone in several], axis=0)
    delivered = best_of(len(several), len(rows), seed)
    return change_of_choice(_mean, pairs, rows[known], delivered[known])


def _rows(n: int, seed: int) -> np.ndarray:
    """Seeds of every bootstrap sample [draw, n]."""
    return np.random.Generator(np.random.PCG64(seed)).integers(0, n, (_BOOTSTRAPS, n))


def nothing_random(sample: Sample) -> bool:
    """Whether all seeds gave the same rollouts, so that resampling them says nothing."""
    return len(sample.fitness) > 1 and bool((sample.fitness == sample.fitness[0]).all())


def _where_alive(
    other: np.ndarray, baseline: np.ndarray, lost: np.ndarray, rows: np.ndarray, statistic: Statistic = _mean
) -> Change:
    """The change over what both survive; a resampling without any such rollout is left out."""
    if lost.all():
        return Change(math.nan, math.nan, math.nan)
    one, two = (np.where(lost, np.nan, values) for values in (other, baseline))
    return change(statistic, one, two, rows[~lost[rows].all(axis=(1, 2))])
