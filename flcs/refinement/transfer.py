"""A stored knowledge base on the grid of another design, as a place to start from.

Where the terms agree its rules are taken over as they are; else every rule of the grid gets the gains that the stored
knowledge base gives where the rule fires alone.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flcs.inference.rule_base import Inference, Rule, RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase


def transferred(stored: KnowledgeBase, structure: KnowledgeBase) -> KnowledgeBase:
    """Return the stored knowledge base on the grid of another one.

    With the same form of inference, rules of constant gains, and inputs with as many terms of the same shape, both give
    the same gains wherever an input is in the ranges of both (Mamdani's and Tsukamoto's form: in the same box). Else
    the gains are the same where each term is full, and lie in between as the grid has it.

    Parameters
    ----------
    stored : KnowledgeBase
        Its channels have no inputs that those of `structure` lack.
    structure : KnowledgeBase
        Channels, inputs with their ranges, box and law are kept; it has all rules of its grid.

    Returns
    -------
    KnowledgeBase
        Gains are limited to the box of `structure`; rules that the stored one lacks are off.
    """
    alike = _alike(stored.inference, structure.inference)
    pairs = list(zip(stored.channels, structure.channels, strict=True))
    if alike and all(_same_terms(old, new) for old, new in pairs):
        how = replace(
            structure.inference,
            authority=stored.inference.authority,
            fallback=stored.inference.fallback,
            fade=stored.inference.fade,
        )
        return replace(structure, channels=tuple(_taken_over(old, new) for old, new in pairs), inference=how)
    channels = tuple(_read_off(stored, old, new) for old, new in pairs)
    return replace(structure, channels=channels, inference=replace(structure.inference, authority=1.0))


def all_on(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base at full authority with every rule on: those that were off are at the reference gains.

    Where the memberships of an input add up to 1 and no rule was off, the gains stay what they are.
    """
    share = kb.inference.authority
    channels = []
    for base in kb.channels:
        reference = np.array(base.reference)
        rules = tuple(
            replace(
                rule,
                gains=tuple((reference + share * rule.on * (np.array(rule.gains) - reference)).tolist()),
                slopes=tuple(tuple(share * rule.on * slope for slope in row) for row in rule.slopes),
                on=True,
            )
            for rule in base.rules
        )
        channels.append(replace(base, rules=rules))
    return replace(kb, channels=tuple(channels), inference=replace(kb.inference, authority=1.0))


def _alike(one: Inference, other: Inference) -> bool:
    """Whether the same rules of the same terms mean the same, but for what is taken over as well."""
    return one.order == other.order == 0 and (one.form, one.t_norm, one.output) == (
        other.form,
        other.t_norm,
        other.output,
    )


def _same_terms(old: RuleBase, new: RuleBase) -> bool:
    return old.input_names == new.input_names and all(map(_has_room, old.inputs, new.inputs))


def _has_room(old: Variable, new: Variable) -> bool:
    """Whether the old terms can stand in the new range."""
    gaps = [right - left for left, right in pairwise(old.centres)]
    return (
        (old.shape, old.n_terms) == (new.shape, new.n_terms)
        and new.low <= old.centres[0]
        and old.centres[-1] <= new.high
        and min(gaps) >= new.smallest_gap
        and all(width >= new.smallest_width for width in old.widths)
    )


def _taken_over(old: RuleBase, new: RuleBase) -> RuleBase:
    inputs = tuple(
        replace(variable, centres=own.centres, widths=own.widths, labels=())
        for own, variable in zip(old.inputs, new.inputs, strict=True)
    )
    by_terms = {rule.terms: rule for rule in old.rules if rule.on}
    reference = _boxed(new, old.reference)
    rules = tuple(_as_in(by_terms.get(rule.terms), rule, new, reference) for rule in new.rules)
    return replace(new, inputs=inputs, rules=rules, reference=reference)


def _as_in(old: Rule | None, rule: Rule, base: RuleBase, reference: tuple[float, ...]) -> Rule:
    gains = reference if old is None else _boxed(base, old.gains)
    return replace(rule, gains=gains, on=old is not None)


def _read_off(stored: KnowledgeBase, old: RuleBase, new: RuleBase) -> RuleBase:
    """The grid with the gains that a stored channel gives where each rule's terms are at their centres."""
    alone = replace(stored, channels=(old,), common_terms=False)
    columns = [new.input_names.index(name) for name in old.input_names]
    points = [[new.inputs[column].centres[rule.terms[column]] for column in columns] for rule in new.rules]
    rules = tuple(
        replace(rule, gains=_boxed(new, row), slopes=tuple((0.0,) * len(new.inputs) for _ in rule.slopes), on=True)
        for rule, row in zip(new.rules, alone.gains(points).tolist(), strict=True)
    )
    return replace(new, rules=rules, reference=_boxed(new, old.reference))


def _boxed(base: RuleBase, gains: Sequence[float]) -> tuple[float, ...]:
    return tuple(np.clip(gains, base.low, base.high).tolist())
