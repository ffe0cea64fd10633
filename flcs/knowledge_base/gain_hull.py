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
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.certificates.gain_hull import GainHull, combined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.inference.inference import RuleNumbers
    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]


def gain_hull(kb: KnowledgeBase, authority: float | None = None) -> GainHull:
    """Return the vertices of all gains that a knowledge base can give, named by their rules.

    Parameters
    ----------
    kb : KnowledgeBase
    authority : float, optional
        In place of the knowledge base's own.
    """
    share = kb.inference.authority if authority is None else authority
    boxed = _boxed(kb) | {"rules cut off at the box": any(_leaves_box(base, share) for base in kb.channels)}
    why = " and ".join(word for word, true in boxed.items() if true)
    several = len(kb.channels) > 1
    if kb.in_step and several and not why:
        return _of_whole_rules(kb, share)
    parts = [_of_rules(base, share, several=several) for base in kb.channels]
    corners = [part.corners(base.gain_names) for part, base in zip(parts, kb.channels, strict=True)]
    return combined(parts, [base.reference for base in kb.channels], corners, boxed=why)


def _boxed(kb: KnowledgeBase) -> dict[str, bool]:
    """Why the gains may leave the hull of the rules, but not the box around it, whatever the rules' gains are."""
    return {
        "affine rules": kb.inference.order > 0,
        "centroid of a maximum": kb.inference.apart,
        "slew limit": kb.slew is not None,
    }


def vertices(kb: KnowledgeBase, numbers: Sequence[RuleNumbers], authority: float) -> Array:
    """Return the vertices of all gains that many variants of a knowledge base can give [n, n_sets, n_gains].

    What a search of its numbers asks of many at once. Where :func:`gain_hull` has one set for each rule, so has this;
    elsewhere it has the corners of the boxes around the rules, of all channels together: never less than the hull.

    Parameters
    ----------
    kb : KnowledgeBase
        Structure, box and reference gains.
    numbers : sequence of RuleNumbers
        Of each channel, columns [n, 1] or numbers, see :meth:`flcs.knowledge_base.theta.ThetaLayout.numbers`.
    authority : float
    """
    parts = [_moved(base, of, authority) for base, of in zip(kb.channels, numbers, strict=True)]
    n = max(len(part) for part in parts)
    parts = [np.broadcast_to(part, (n, *part.shape[1:])) for part in parts]
    if not any(_boxed(kb).values()) and (len(parts) == 1 or kb.in_step):
        return np.concatenate(parts, axis=2)
    low = np.concatenate([part.min(axis=1) for part in parts], axis=1)
    high = np.concatenate([part.max(axis=1) for part in parts], axis=1)
    ends = np.array(list(product((0.0, 1.0), repeat=low.shape[1])))
    return np.asarray(low[:, None] + ends * (high - low)[:, None])


def _moved(base: RuleBase, numbers: RuleNumbers, authority: float) -> Array:
    """Gains of the reference and of a channel's rules, each at both ends of its slopes [n, n_sets, n_gains].

    A rule that is off stands for the reference gains, so that all variants have as many sets.
    """
    reference = np.array(base.reference)
    ways = [np.zeros((1, len(reference)))]
    for number in base.active if numbers.presence is None else range(len(base.rules)):
        rows = numbers.gains[number]
        middle = _columns([row[0] for row in rows]) - reference
        reach = _columns([sum(np.abs(slope) for slope in row[1:]) for row in rows])
        on = 1.0 if numbers.presence is None else np.reshape(numbers.presence[number], (-1, 1)) > _ON
        ways += [on * (middle - reach), on * (middle + reach)] if reach.any() else [on * middle]
    n = max(map(len, ways))
    moved = reference + authority * np.stack([np.broadcast_to(way, (n, len(reference))) for way in ways], axis=1)
    return np.asarray(np.clip(moved, base.low, base.high))


_ON = 0.5  # of a rule's presence: above it takes part


def _columns(values: Sequence[Any]) -> Array:
    """Numbers or columns [n, 1] side by side [n, n_values]."""
    return np.hstack(np.broadcast_arrays(*(np.reshape(value, (-1, 1)) for value in values)))


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
