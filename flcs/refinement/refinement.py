"""Closed-loop refinement: the genetic search that found the fixed gains polishes rules and terms of a knowledge base.

Imitating the teacher is not enough: it can be worse than fixed gains. So consequents and terms are searched again with
the plant's response as fitness, starting from the imitated rules and from the reference gains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flcs.fuzzy_controller import FuzzyController
from flcs.refinement.genome import candidate, with_reference
from sscq.baselines.objective import Objective
from sscq.baselines.search_plan import SearchPlan, search

if TYPE_CHECKING:
    from controllers.protocols import Law
    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from sscq.baselines.objective import Task
    from sscq.baselines.tuned import Tuned
    from sscq.margins.scheduled_gains import ScheduleConstraint


_BISECTIONS = 20


def refine(
    task: Task,
    kb: KnowledgeBase,
    plan: SearchPlan,
    margins: ScheduleConstraint | None,
    *,
    laws: tuple[Law, ...] = (),
    name: str = "knowledge_base",
    title: str = "knowledge base",
    validation: Task | None = None,
    mirrored: bool = False,
    starts: tuple[KnowledgeBase, ...] = (),
) -> tuple[KnowledgeBase, Tuned]:
    """Refine a knowledge base in closed loop.

    Parameters
    ----------
    task : Task
        Taught situations and fitness.
    kb : KnowledgeBase
        Of the imitation.
    plan : SearchPlan
    margins : ScheduleConstraint, optional
        Kept by the gains that stand at rest and, with their wider limit, by those that are passed through.
    validation : Task, optional
        Other situations: of the best on the way the one is taken that does best there (early stopping).
    mirrored : bool
        Search one side only, see :mod:`flcs.knowledge_base.mirror`.
    starts : tuple of KnowledgeBase
        Of the same structure: more places to start from.

    Returns
    -------
    kb : KnowledgeBase
        Refined; never worse on the taught situations than `kb` and than the reference gains.
    found : Tuned
    """
    start = candidate(kb, (kb, *starts, with_reference(kb)), laws, name, title, mirrored=mirrored)
    found = search(task, start, plan, margins, validation)
    refined = start.controller.with_theta(found.theta)
    kept = certified(refined, margins, laws)
    return (kept if kept == refined else not_worse(task, kept, laws)), found


def not_worse(task: Task, kb: KnowledgeBase, laws: tuple[Law, ...]) -> KnowledgeBase:
    """Return the knowledge base; without authority where the reference gains are better than what is left of it."""
    silent = replace(kb, inference=replace(kb.inference, authority=0.0))
    values = []
    for one in (kb, silent):
        controller = FuzzyController(one, laws=laws)
        values.append(float(Objective(task, controller)(controller.theta[None])[0]))
    return kb if values[0] <= values[1] else silent


def with_whole_authority(kb: KnowledgeBase, authority: float = 1.0) -> KnowledgeBase:
    """Return the knowledge base with an authority at least as large as its own and rules that give the same gains.

    Raises
    ------
    ValueError
        If the authority is smaller than its own: rules cannot be moved beyond their box.
    """
    if authority < kb.inference.authority:
        raise ValueError(
            f"authority must be at least the knowledge base's own {kb.inference.authority:g}, got {authority:g}; "
            "rules cannot ask for more than their box has"
        )
    share = kb.inference.authority / authority if authority > 0.0 else 1.0
    channels = tuple(
        replace(base, rules=tuple(_nearer(base, rule, share) for rule in base.rules)) for base in kb.channels
    )
    return replace(kb, channels=channels, inference=replace(kb.inference, authority=authority))


def _nearer(base: RuleBase, rule: Rule, share: float) -> Rule:
    """The rule with its gains on the way from the reference gains."""
    gains = tuple(ref + share * (gain - ref) for ref, gain in zip(base.reference, rule.gains, strict=True))
    return replace(rule, gains=gains, slopes=tuple(tuple(share * slope for slope in row) for row in rule.slopes))


def certified(kb: KnowledgeBase, margins: ScheduleConstraint | None, laws: tuple[Law, ...] = ()) -> KnowledgeBase:
    """Return the knowledge base with the largest authority at which its gains, at many more places, keep the margins.

    The search looks at few places; what slips between them is taken back here. At authority 0 the reference gains rule.
    """
    if margins is None or _keeps(kb, margins, laws, kb.inference.authority):
        return kb
    low, high = 0.0, kb.inference.authority
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _keeps(kb, margins, laws, middle) else (low, middle)
    return replace(kb, inference=replace(kb.inference, authority=low))


def _keeps(kb: KnowledgeBase, margins: ScheduleConstraint, laws: tuple[Law, ...], authority: float) -> bool:
    if authority <= 0.0:
        return True
    controller = FuzzyController(kb, authority=authority, laws=laws)
    return margins.keeps_of(controller, controller.theta)
