"""Everything that a knowledge base can give as gains: the hull of its rules and its reference gains.

With constant consequents the gains are a mean of rules and reference, with weights that are not negative and sum to 1.
So they do in every form of inference whose gains share the rules' weights. Each gain for itself stays between the
rules also where the centroid of the maximum of output sets gives it weights of its own: every set is symmetric about
its centre and falls away from it, so left of all centres the maximum is nowhere above its mirror image.
Where rules reach beyond the box of gains their mean is cut off there, and a slew limit lets each gain take its own way
from the old value to the new: all three can leave the hull of the rules, but not the box around it, whose corners are
then vertices as well.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sscq.certificates.gain_hull import GainHull, combined

if TYPE_CHECKING:
    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase


def gain_hull(kb: KnowledgeBase, authority: float | None = None) -> GainHull:
    """Return the vertices of all gains that a knowledge base can give, named by their rules.

    Parameters
    ----------
    kb : KnowledgeBase
    authority : float, optional
        In place of the knowledge base's own.
    """
    share = kb.inference.authority if authority is None else authority
    boxed = {
        "affine rules": kb.inference.order > 0,
        "centroid of a maximum": kb.inference.apart,
        "rules cut off at the box": any(_leaves_box(base, share) for base in kb.channels),
        "slew limit": kb.slew is not None,
    }
    why = " and ".join(word for word, true in boxed.items() if true)
    several = len(kb.channels) > 1
    if kb.in_step and several and not why:
        return _of_whole_rules(kb, share)
    parts = [_of_rules(base, share, several=several) for base in kb.channels]
    corners = [part.corners(base.gain_names) for part, base in zip(parts, kb.channels, strict=True)]
    return combined(parts, [base.reference for base in kb.channels], corners, boxed=why)


def _leaves_box(base: RuleBase, share: float) -> bool:
    """Whether a rule asks for gains beyond the box: the mean is cut off then, not each rule."""
    reference = np.array(base.reference)
    asked = [reference + share * (corner - reference) for number in base.active for corner in _ends(base.rules[number])]
    return any(((gains < base.low) | (gains > base.high)).any() for gains in asked)


def _of_rules(base: RuleBase, share: float, *, several: bool) -> GainHull:
    """Gains of the rules that are on, with affine ones at both ends of every input, and the reference gains."""
    tail = f" of {base.name}" if several else ""
    names, rows = _named(base, share)
    return GainHull(tuple(f"{name}{tail}" for name in names), rows, "the rules and the reference gains")


def _of_whole_rules(kb: KnowledgeBase, share: float) -> GainHull:
    """Channels in step: a rule gives the gains of all of them together."""
    rows = np.concatenate([_named(base, share)[1] for base in kb.channels], axis=1)
    names = _named(kb.channels[0], share)[0]
    return GainHull(tuple(names), rows, "the rules, of all channels together, and the reference gains")


def _named(base: RuleBase, share: float) -> tuple[list[str], np.ndarray]:
    """Names and gains of the reference and of the rules that are on."""
    reference = np.array(base.reference)
    names, rows = ["reference gains"], [reference]
    for number in base.active:
        rule = base.rules[number]
        for corner in _ends(rule):
            names.append(f"rule {_words(base, rule)}")
            rows.append(np.clip(reference + share * (corner - reference), base.low, base.high))
    return names, np.array(rows)


def _ends(rule: Rule) -> list[np.ndarray]:
    slopes = np.array(rule.slopes).reshape(len(rule.gains), -1)
    return [np.array(rule.gains) + slopes @ np.array(end) for end in product((-1.0, 1.0), repeat=slopes.shape[1])]


def _words(base: RuleBase, rule: Rule) -> str:
    pairs = zip(base.inputs, rule.terms, strict=True)
    return f"[{', '.join(f'{variable.name} {variable.labels[term]}' for variable, term in pairs)}]"
