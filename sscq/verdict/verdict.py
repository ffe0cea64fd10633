"""Which controller to recommend, from paired rollouts in situations that were never taught.

A schedule replaces fixed gains only if mean, median and the mean of the worst 5 % of the fitness all improve, with
their bootstrap intervals, or if it loses fewer rollouts beyond chance and neither mean nor worst 5 % get worse; at no
more actuator travel, tracking no worse and without a new failure. Among what passes and loses the fewest, the simplest
within 3 % of the best is recommended. A rank test alone never decides: it is blind to the tail.

Who looks best in some rollouts looks a little better there than it is. So the choice may be made in rollouts of its
own; what is told, and whether the chosen controller passes, then comes from others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sscq.verdict.comparison import compare, loses_fewer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sscq.verdict.bootstrap import Change
    from sscq.verdict.comparison import Comparison, Sample

NEAR = 0.03


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
    undecided : str
        The best of those that would be recommended instead if more rollouts showed that they are better, see
        :attr:`sscq.verdict.comparison.Comparison.undecided`; empty: nobody.
    """

    recommended: str
    baseline: str
    comparisons: Mapping[str, Comparison]
    sentence: str
    undecided: str = ""


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
    chosen_on: Mapping[str, Sample] | None = None,
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
        What other searches found in place of a controller, the best first.
    ask : callable, optional
        What is asked of a controller only before it is recommended in place of the baseline: its name to further
        reasons why it does not pass; with a reason, the next one is asked.
    chosen_on : mapping of name to Sample, optional
        Rollouts in which the choice is made: in `samples` the chosen one must only pass. Left out, `samples`.
    """
    against = {name: list(reasons) for name, reasons in (faults or {}).items()}
    if on_wall:
        why = f"the fixed gains lie on the wall of their box ({', '.join(on_wall)}), so that a gain may be the wall's"
        for name in simplest_first[simplest_first.index(baseline) + 1 :]:
            against.setdefault(name, []).append(why)

    def compared(of: Mapping[str, Sample], others: Mapping[str, Sequence[Sample]]) -> dict[str, Comparison]:
        found = {
            name: compare(one, of[baseline], seed, margins_kept.get(name, True), others.get(name, ()))
            for name, one in of.items()
            if name != baseline
        }
        return {name: _with_further(one, against.get(name, ())) for name, one in found.items()}

    found = compared(samples, searches or {})
    if chosen_on is not None:
        found = _as_when_chosen(found, compared({name: chosen_on[name] for name in samples if name in chosen_on}, {}))
    recommended = _simplest_of_the_best(chosen_on or samples, baseline, simplest_first, found)
    while ask is not None and recommended != baseline and (reasons := ask(recommended)):
        found[recommended] = _with_further(found[recommended], reasons)
        recommended = _simplest_of_the_best(chosen_on or samples, baseline, simplest_first, found)
    undecided = _left_open(chosen_on or samples, baseline, simplest_first, found, recommended)
    n = samples[baseline].failed.size
    sentence = _sentence(recommended, baseline, found, simplest_first, titles, where, n)
    if not margins_kept.get(recommended, True):
        sentence += " They do not keep the margins at the operating points."
    if on_wall:
        sentence += (
            f" The best fixed gains lie on the wall of the box they were searched in ({', '.join(on_wall)}): widen it "
            "(controller.low, controller.high) before anything is said of schedules."
        )
    failed, told = samples[recommended].failed, recommended in found and found[recommended].unequal
    if failed.all():
        sentence = (
            f"No recommendation: the {titles[recommended]} loses the loop in all {failed.size} rollouts. {sentence}"
        )
    elif failed.any() and not told:
        sentence += f" Mind: the loop is lost in {int(failed.sum())} of {failed.size} rollouts even so."
    return Verdict(recommended, baseline, found, sentence, undecided)


def _simplest_of_the_best(
    samples: Mapping[str, Sample], baseline: str, simplest_first: Sequence[str], found: Mapping[str, Comparison]
) -> str:
    """The simplest within 3 % of the best, of what passes and loses no more rollouts than another beyond chance."""
    passing = [name for name in simplest_first if name == baseline or (name in found and found[name].passes)]
    failed = {name: samples[name].failed for name in passing}
    least = min(passing, key=lambda name: int(failed[name].sum()))
    left = [name for name in passing if not loses_fewer(failed[least], failed[name])]
    alive = ~np.any([failed[name] for name in left], axis=0)
    if not alive.any():
        return left[0]
    means = {name: float(samples[name].fitness[alive].mean()) for name in left}
    best = min(means.values())
    return next(name for name in left if means[name] <= best + NEAR * abs(best))


def _left_open(
    samples: Mapping[str, Sample],
    baseline: str,
    simplest_first: Sequence[str],
    found: Mapping[str, Comparison],
    recommended: str,
) -> str:
    """The best of those behind the baseline that would be recommended if they passed, each for itself; else nobody."""

    def hoped(name: str) -> bool:
        passing = {**found, name: replace(found[name], reasons=())}
        return _simplest_of_the_best(samples, baseline, simplest_first, passing) == name != recommended

    behind = simplest_first[simplest_first.index(baseline) + 1 :]
    names = [name for name in behind if name in found and found[name].undecided and hoped(name)]
    return min(names, key=lambda name: found[name].mean.value, default="")


def _as_when_chosen(found: Mapping[str, Comparison], when_chosen: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """Comparisons, with what alone speaks against a controller in the rollouts of the choice."""
    told, both = "where the choice was made, ", dict(found)
    for name, other in when_chosen.items():
        one = found[name]
        if one.passes:
            both[name] = _with_further(one, [told + why for why in other.reasons], undecided=other.undecided)
        elif not other.passes:
            both[name] = replace(one, undecided=one.undecided and other.undecided)
    return both


def _with_further(found: Comparison, reasons: Sequence[str], *, undecided: bool = False) -> Comparison:
    """A comparison with further reasons, which more rollouts would not take away unless they are `undecided`."""
    if not reasons:
        return found
    further = (*found.further, *reasons)
    return replace(found, reasons=(*found.reasons, *reasons), further=further, undecided=undecided)


def _sentence(
    recommended: str,
    baseline: str,
    found: Mapping[str, Comparison],
    order: Sequence[str],
    titles: Mapping[str, str],
    where: str,
    n: int,
) -> str:
    if recommended != baseline:
        return _use(found[recommended], titles[recommended], titles[baseline], where, n)
    last = [name for name in order if name in found]
    why = found[last[-1]].reasons if last else ()
    because = f" The {titles[last[-1]]} does not replace it: {'; '.join(why)}." if why else ""
    near = "" if why or not last else " Nothing more complicated is better by more than 3 % in the draws that choose."
    return f"Use the fixed gains.{because}{near}"


def _use(found: Comparison, title: str, fixed: str, where: str, n: int) -> str:
    """Of `n` rollouts, as many as are judged: what the recommended controller changes."""
    change, (own, theirs) = found.headline, found.failures
    losses = f"it loses the loop in {own} of {n} rollouts where the fixed gains lose it in {theirs}"
    if math.isnan(change.value):
        return f"Use the {title}: in {where} {losses}."
    survived = " that both survive" if own or theirs else ""
    told = f", and {losses}" if found.unequal else ""
    luck = " Another search of the same kind may find nothing that is better."
    return (
        f"Use the {title}: cost J {change} in {where}{survived}, {_travel(found.travel)}, "
        f"against the best {fixed}{told}."
        f"{luck if found.mean.improves and not change.improves else ''}"
    )


def _travel(change: Change) -> str:
    """What it costs in travel, which may be a little more than the baseline's."""
    times = f"{1.0 + change.value:.3g} times"
    if change.value <= 0.0:
        return f"with no more actuator travel ({times})"
    return "with as much actuator travel" if times == "1 times" else f"with {times} the actuator travel"
