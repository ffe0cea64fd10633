"""Which controller to recommend, from paired rollouts in situations that were never taught.

A schedule replaces fixed gains only if mean, median and the mean of the worst 5 % of the fitness all improve, with
their bootstrap intervals, at no more actuator travel, tracking no worse and without a new failure. Among what passes,
the simplest within 3 % of the best is recommended. A rank test alone never decides: it is blind to the tail.

Wilcoxon's signed-rank test of paired differences: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics
Bulletin 1 (1945) 80; the variance with ties: M. Hollander, D. Wolfe and E. Chicken, Nonparametric Statistical Methods,
3rd ed., Wiley 2014, sec. 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.verdict.bootstrap import Change, best_of, change, change_of_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


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


TAIL = 0.05
NEAR = 0.03
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
    """

    fitness: np.ndarray
    travel: np.ndarray
    failed: np.ndarray
    error: np.ndarray | None = field(default=None, kw_only=True)
    error_name: str = field(default="error", kw_only=True)


@dataclass(frozen=True)
class Comparison:
    """A controller against the baseline.

    Attributes
    ----------
    mean, median, tail : Change
        Of the fitness over all rollouts; tail: mean of the worst 5 %.
    travel : Change
        Of the mean total variation.
    new_failures : int
        Rollouts in which it fails and the baseline does not.
    wins : float
        Share of the rollouts in which it is better.
    p_value : float
        Two-sided Wilcoxon signed-rank test; for information.
    reasons : tuple of str
        Why it does not pass; empty if it does.
    further : tuple of str
        Those of the reasons that no rollout shows: margins over ranges, a wall of the gains' box.
    of_design : Change or None
        Of the mean, with an interval over rollouts and over what another design's searches would have delivered; None
        where there was one search. The other intervals, and whether it passes, are of the delivered controller.
    searches : tuple of float
        Change of the mean of what each search found, the delivered one first; empty where there was one.
    error : Change or None
        Of the mean tracking error over the rollouts that both survive; None where the fitness weighs none.
    """

    mean: Change
    median: Change
    tail: Change
    travel: Change
    new_failures: int
    wins: float
    p_value: float
    reasons: tuple[str, ...]
    further: tuple[str, ...] = ()
    of_design: Change | None = None
    searches: tuple[float, ...] = ()
    error: Change | None = None

    @property
    def headline(self) -> Change:
        """The change of the mean, with the widest interval that is known."""
        return self.of_design or self.mean

    @property
    def passes(self) -> bool:
        """Whether it may replace the baseline."""
        return not self.reasons


@dataclass(frozen=True)
class Verdict:
    """What is recommended, and why.

    Attributes
    ----------
    recommended, baseline : str
        Names of controllers.
    comparisons : mapping of name to Comparison
        Of every other controller with the baseline.
    sentence : str
    """

    recommended: str
    baseline: str
    comparisons: Mapping[str, Comparison]
    sentence: str


def tail_mean(values: np.ndarray) -> float:
    """Return the mean of the worst (largest) 5 % of the values, at least one."""
    return float(_tail(np.ravel(values)))


def _tail(values: np.ndarray) -> np.ndarray:
    ordered = np.sort(values, axis=-1)
    return np.asarray(ordered[..., -max(1, round(TAIL * ordered.shape[-1])) :].mean(axis=-1))


def _mean(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.mean(axis=-1))


def _median(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.median(values, axis=-1))


def _mean_of_known(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.nanmean(values, axis=-1))


def compare(
    other: Sample, baseline: Sample, seed: int = 0, margins_kept: bool = True, searches: Sequence[Sample] = ()
) -> Comparison:
    """Compare two controllers on paired rollouts; whole seeds are resampled, so situations stay together.

    `searches` are what other searches found in place of `other`, the best in the validation situations first.
    """
    rows, lost = _rows(len(baseline.fitness), seed), other.failed | baseline.failed
    changes = {
        "mean": change(_mean, other.fitness, baseline.fitness, rows),
        "median": change(_median, other.fitness, baseline.fitness, rows),
        "tail": change(_tail, other.fitness, baseline.fitness, rows),
        "travel": _where_alive(other.travel, baseline.travel, lost, rows),
    }
    tracking = _tracking(other, baseline, lost, rows)
    new_failures = int((other.failed & ~baseline.failed).sum())
    difference = (other.fitness - baseline.fitness).ravel()
    reasons = [
        f"the {word} of J does not improve reliably ({changes[key]})"
        for key, word in (("mean", "mean"), ("median", "median"), ("tail", "worst 5 %"))
        if not changes[key].improves
    ]
    if changes["travel"].value > TRAVEL_SLACK:
        reasons.append(f"it needs more actuator travel ({changes['travel']})")
    if tracking is not None and tracking.value > 0.0:
        reasons.append(f"it tracks worse: {other.error_name} {tracking}")
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
        travel=changes["travel"],
        new_failures=new_failures,
        wins=float((difference < 0).mean()),
        p_value=p_value(difference),
        reasons=tuple(reasons),
        error=tracking,
        **_over_searches((other, *searches), baseline, rows, seed),
    )


def _tracking(other: Sample, baseline: Sample, lost: np.ndarray, rows: np.ndarray) -> Change | None:
    if other.error is None or baseline.error is None:
        return None
    return _where_alive(other.error, baseline.error, lost, rows)


def _over_searches(several: Sequence[Sample], baseline: Sample, rows: np.ndarray, seed: int) -> dict[str, Any]:
    """What a comparison knows of other searches."""
    if len(several) == 1:
        return {}
    pairs = [(one.fitness, baseline.fitness) for one in several]
    whole = change_of_choice(_mean, pairs, rows, best_of(len(several), len(rows), seed))
    return {"of_design": whole, "searches": tuple(change(_mean, *pair, rows).value for pair in pairs)}


def change_where_alive(
    other: np.ndarray,
    baseline: np.ndarray,
    lost: np.ndarray,
    seed: int = 0,
    searches: Sequence[tuple[np.ndarray, np.ndarray]] = (),
) -> Change:
    """Return the change of a measure's mean over the rollouts that both survive, each [seed, situation].

    A rollout cut short has small integrals. Without any that both survive there is no change.

    Parameters
    ----------
    lost : ndarray of bool
        Where one of the two does not survive.
    searches : sequence of (ndarray, ndarray of bool), optional
        What other searches found in place of `other`, the best on validation first, and where that or the baseline is
        lost; the interval then is over searches, too.
    """
    rows = _rows(len(baseline), seed)
    several = [(one, gone) for one, gone in ((other, lost), *searches) if not gone.all()]
    if len(several) < 2 or lost.all():
        return _where_alive(other, baseline, lost, rows)
    pairs = [(np.where(gone, np.nan, one), np.where(gone, np.nan, baseline)) for one, gone in several]
    known = np.all([~gone[rows].all(axis=(1, 2)) for _, gone in several], axis=0)
    delivered = best_of(len(several), len(rows), seed)
    return change_of_choice(_mean_of_known, pairs, rows[known], delivered[known])


def _rows(n: int, seed: int) -> np.ndarray:
    """Seeds of every bootstrap sample [draw, n]."""
    return np.random.Generator(np.random.PCG64(seed)).integers(0, n, (_BOOTSTRAPS, n))


def nothing_random(sample: Sample) -> bool:
    """Whether all seeds gave the same rollouts, so that resampling them says nothing."""
    return len(sample.fitness) > 1 and bool((sample.fitness == sample.fitness[0]).all())


def _where_alive(other: np.ndarray, baseline: np.ndarray, lost: np.ndarray, rows: np.ndarray) -> Change:
    if lost.all():
        return Change(0.0, 0.0, 0.0)
    one, two = (np.where(lost, np.nan, values) for values in (other, baseline))
    rows = rows[~lost[rows].all(axis=(1, 2))]
    return change(_mean_of_known, one, two, rows)


def decide(
    samples: Mapping[str, Sample],
    baseline: str,
    simplest_first: Sequence[str],
    titles: Mapping[str, str],
    margins_kept: Mapping[str, bool],
    seed: int = 0,
    faults: Mapping[str, Sequence[str]] | None = None,
    on_wall: Sequence[str] = (),
    where: str = "unforeseen situations",
    searches: Mapping[str, Sequence[Sample]] | None = None,
    ask: Callable[[str], Sequence[str]] | None = None,
) -> Verdict:
    """Return the verdict.

    Parameters
    ----------
    samples : mapping of name to Sample
    baseline : str
        The best fixed gains.
    simplest_first : sequence of str
        Names that may be recommended, simplest first; the baseline is always one.
    titles : mapping of name to str
        In words, for the sentence.
    margins_kept : mapping of name to bool
        Whether every gain set that the controller may give keeps the margins; true where margins are not asked for.
    seed : int
        Of the bootstrap.
    faults : mapping of name to sequence of str
        What else speaks against a controller: further reasons why it does not pass.
    on_wall : sequence of str
        Walls of the gains' box on which the baseline lies, in words. Nothing that comes after the baseline then
        replaces it: what wins may win against the wall.
    where : str
        In which situations they were judged, in words.
    searches : mapping of name to sequence of Sample
        What other searches found in place of a controller, the best in the validation situations first.
    ask : callable, optional
        What is asked of a controller only before it is recommended in place of the baseline: its name to further
        reasons why it does not pass; with a reason, the next one is asked.
    """
    others, further = [name for name in samples if name != baseline], searches or {}
    found = {
        name: compare(samples[name], samples[baseline], seed, margins_kept.get(name, True), further.get(name, ()))
        for name in others
    }
    for name in found.keys() & (faults or {}).keys():
        found[name] = _with_further(found[name], (faults or {})[name])
    if on_wall:
        why = f"the fixed gains lie on the wall of their box ({', '.join(on_wall)}), so that a gain may be the wall's"
        after = simplest_first[simplest_first.index(baseline) + 1 :]
        found = {n: _with_further(c, (why,)) if n in after else c for n, c in found.items()}
    recommended = _simplest_of_the_best(samples, baseline, simplest_first, found)
    while ask is not None and recommended != baseline and (against := ask(recommended)):
        found[recommended] = _with_further(found[recommended], against)
        recommended = _simplest_of_the_best(samples, baseline, simplest_first, found)
    sentence = _sentence(recommended, baseline, found, simplest_first, titles, where)
    if not margins_kept.get(recommended, True):
        sentence += " They do not keep the margins at the operating points."
    if on_wall:
        sentence += (
            f" The best fixed gains lie on the wall of the box they were searched in ({', '.join(on_wall)}): widen it "
            "(controller.low, controller.high) before anything is said of schedules."
        )
    failed = samples[recommended].failed
    if failed.all():
        sentence = (
            f"No recommendation: the {titles[recommended]} loses the loop in all {failed.size} rollouts. {sentence}"
        )
    elif failed.any():
        sentence += f" Mind: the loop is lost in {int(failed.sum())} of {failed.size} rollouts even so."
    return Verdict(recommended, baseline, found, sentence)


def _simplest_of_the_best(
    samples: Mapping[str, Sample], baseline: str, simplest_first: Sequence[str], found: Mapping[str, Comparison]
) -> str:
    passing = [name for name in simplest_first if name == baseline or (name in found and found[name].passes)]
    means = {name: float(samples[name].fitness.mean()) for name in passing}
    best = min(means.values())
    return next(name for name in passing if means[name] <= best + NEAR * abs(best))


def _with_further(found: Comparison, reasons: Sequence[str]) -> Comparison:
    return replace(found, reasons=(*found.reasons, *reasons), further=(*found.further, *reasons))


def _sentence(
    recommended: str,
    baseline: str,
    found: Mapping[str, Comparison],
    order: Sequence[str],
    titles: Mapping[str, str],
    where: str,
) -> str:
    if recommended != baseline:
        change = found[recommended].headline
        luck = "" if change.improves else " Another search of the same kind may find nothing that is better."
        return (
            f"Use the {titles[recommended]}: cost J {change} in {where}, {_travel(found[recommended].travel)}, "
            f"against the best {titles[baseline]}.{luck}"
        )
    last = [name for name in order if name in found]
    why = found[last[-1]].reasons if last else ()
    because = f" The {titles[last[-1]]} does not replace it: {'; '.join(why)}." if why else ""
    near = "" if why or not last else " Nothing more complicated is better by more than 3 %."
    return f"Use the fixed gains.{because}{near}"


def _travel(change: Change) -> str:
    """What it costs in travel, which may be a little more than the baseline's."""
    times = f"{1.0 + change.value:.3g} times"
    return f"with no more actuator travel ({times})" if change.value <= 0.0 else f"with {times} the actuator travel"
