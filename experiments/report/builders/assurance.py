"""The worst case and the certificate in words: for the first screen in a sentence, with all of it folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.pipeline.assurance import stability
from experiments.report.builders import words
from experiments.report.builders.case import BASELINE, FinishedDesign
from experiments.report.drawing.numbers import number
from experiments.settings.situations import common
from sscq.worst.genome import EnvelopeGenes
from sscq.worst.worst_case import failure_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.pipeline.assurance.stability import StabilityFinding
    from experiments.pipeline.assurance.worst_cases import WorstFinding

_CONFIDENCE = 0.95


def worst_case(case: FinishedDesign) -> str:
    """Return the worst that was found in the declared ranges for the recommended controller; empty: not asked for."""
    name = case.verdict.recommended
    found = case.judgement.worst_cases.get(name)
    if found is None:
        return ""
    if found.reason:
        return f"not searched, because {found.reason}"
    base, told = case.judgement.worst_cases[BASELINE], _there(case, name, found)
    if name != BASELINE and not base.reason:
        if _gravity(found, BASELINE) >= _gravity(base, BASELINE):  # both places count for the fixed gains
            told = f"{told.removesuffix(')')}, the worst found of it)"
        else:
            told += f"; the worst found of the {case.name(BASELINE)}: {_cost(base, BASELINE)}"
    elif name == BASELINE:
        told += _worse_elsewhere(case, name, found)
    skipped = f"; {found.skipped} were skipped: the plant cannot start or rest there" if found.skipped else ""
    return f"{told}. {_how_often(case, found)}{skipped}."


def _gravity(found: WorstFinding, name: str) -> tuple[bool, float]:
    """A lost loop is worse than any cost."""
    return found.diverged_at[name] is not None, found.costs[name]


def _there(case: FinishedDesign, name: str, found: WorstFinding) -> str:
    """What the controller costs in its worst case, and the fixed gains there."""
    text = f"{case.name(name)}: {_cost(found, name)}"
    return text if name == BASELINE else f"{text} ({case.name(BASELINE)} there: {_cost(found, BASELINE)})"


def _cost(found: WorstFinding, name: str) -> str:
    lost = found.diverged_at[name]
    if lost is not None:
        return f"loop lost at {number(lost, 3)} s"
    breaks = f", breaks the limit of {', '.join(found.broken[name])}" if found.broken[name] else ""
    return f"J {number(found.costs[name], 3)}{breaks}"


def _how_often(case: FinishedDesign, found: WorstFinding) -> str:
    """How many situations it lost, what a lost loop is, and what that says of all others."""
    bound = 100.0 * failure_bound(found.drawn, found.drawn_failures, _CONFIDENCE)
    most = f"by those drawn, at most {number(bound, 3)} % of all such draws ({100.0 * _CONFIDENCE:g} % confidence)"
    of = f"{found.searched + found.drawn} situations ({found.searched} searched, {found.drawn} drawn)"
    if not found.failures:
        return f"No loop lost ({words.lost_loop(case.plant)}) in {of}: {most}"
    return f"Loop lost in {found.failures} of {of}, of them in {found.drawn_failures} drawn ones: {most}"


def steadiness(case: FinishedDesign) -> str:
    """Return what is known of the recommended controller's stability about the operating points; empty: not asked."""
    name = case.verdict.recommended
    found = case.judgement.stability.get(name)
    return "" if found is None else f"{case.name(name)}: {_stability(found)}"


_FUNCTION = "quadratic Lyapunov function"


def _stability(found: StabilityFinding) -> str:
    loops = f"{found.loops} linearised loops"
    if found.outcome == stability.NOT_MADE:
        return f"not asked, because {found.reason}"
    if found.outcome == stability.STABLE:
        return f"each of {loops} is stable, the slowest ({found.slowest}) decays with {number(found.decay, 3)} 1/s"
    if found.outcome == stability.RESTING:
        still = f"no mode of {loops} grows"
        if found.text:  # of a schedule, whose gains also move
            still += " while the gains stand still"
        slow = f"not every one decays, as with no ki or next to none ({found.slowest} decays least)"
        return f"{still}, but {slow}{_unproved(found)}"
    if found.outcome == stability.UNSTABLE:
        where = " (it is asked of every rule at every point, also where a rule never fires)" if found.text else ""
        return f"no common {_FUNCTION} can exist: {found.slowest} is unstable even while its gains stand still{where}"
    if found.outcome == stability.HOLDS:
        return f"one {_FUNCTION} serves {loops}, however fast the gains move (decay {number(found.decay, 3)} 1/s)"
    known = "exists" if found.outcome == stability.NONE else "was found"
    return f"no common {_FUNCTION} {known}{_at_less(found)}"


def _unproved(found: StabilityFinding) -> str:
    """What follows for gains that move, where one of their sets hardly decays."""
    return f": while they move as far as here nothing is proved{_at_less(found)}" if found.text else ""


def _at_less(found: StabilityFinding) -> str:
    if found.authority is None:
        return ""
    if found.certified_authority is None:
        return ", at no authority"
    if found.certified_authority == 0.0:
        return f"; a {_FUNCTION} exists for the reference gains alone"
    part, own = number(found.certified_authority, 3), number(found.authority, 3)
    moved = f"by {part} of their way from the reference gains ({own} here)"
    return f"; a {_FUNCTION} exists where rules move the gains {moved}"


def details(case: FinishedDesign) -> tuple[tuple[str, str], ...]:
    """Return what folds: every worst case as a situation, every certificate in full; (what, text)."""
    return (*_worst_details(case), *_stability_details(case))


def _worst_details(case: FinishedDesign) -> Iterator[tuple[str, str]]:
    for name, found in case.judgement.worst_cases.items():
        what = f"Worst case that a search for {case.the(name)} found"
        if found.reason:
            yield what, f"not searched, because {found.reason}"
            continue
        genes = EnvelopeGenes(case.plant, case.setup.ranges, common(case.setup.config))
        situation = words.situation(case.plant, genes.situation(genes.genome(found.values)))
        usual = f"in the median of those drawn J {number(found.median_cost, 3)}"
        told = f"{_there(case, name, found)}, {usual}{_worse_elsewhere(case, name, found)}"
        yield what, f"{told}. The situation: {situation}. {_how_often(case, found)}."


def _worse_elsewhere(case: FinishedDesign, name: str, found: WorstFinding) -> str:
    """That the searches for other controllers met a worse situation, which this one's missed."""
    others = [o for key, o in case.judgement.worst_cases.items() if key != name and not o.reason and name in o.costs]
    worst = max(others, key=lambda one: _gravity(one, name), default=None)
    if worst is None or _gravity(worst, name) <= _gravity(found, name):
        return ""
    return f" (missed: {_cost(worst, name)} where the search for another controller ended)"


def _stability_details(case: FinishedDesign) -> Iterator[tuple[str, str]]:
    for name, found in case.judgement.stability.items():
        yield f"Stability of {case.the(name)}", f"{_stability(found)}. {found.text}".strip()


def untested(case: FinishedDesign) -> list[str]:
    """Return what of it nobody asked, and why."""
    name = case.verdict.recommended
    worst, stable = case.judgement.worst_cases.get(name), case.judgement.stability.get(name)
    found = []
    if worst is None or worst.reason:
        why = f": {worst.reason}" if worst else ""
        found.append(f"the worst of all declared ranges (sscq worst){why}")
    if stable is None or stable.outcome == stability.NOT_MADE:
        why = f": {stable.reason}" if stable else ": margins hold for gains that stand still"
        found.append(f"stability while gains move (sscq certify){why}")
    return found
