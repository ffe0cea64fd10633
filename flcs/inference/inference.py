"""From inputs to gains: the block that the controller runs, NumPy evaluates and every export prints.

With R_l the firing strength of rule l, S their sum and kappa the confidence in the inputs, a gain is

    K = K_ref + a w (sum_l R_l f_l - S K_ref),      w = kappa / max(S, fallback),
    kappa = max(0, 1 - (distance outside the taught ranges) / fade),

limited to its box; a is the authority. Where S >= fallback inside the taught ranges this is the weighted mean
sum R_l f_l / S; where less fires, or outside, it moves to the reference gains without a jump. There is no branch and no
division by a small number, and NaN among the inputs gives the reference gains. This is Sugeno's form; Mamdani's and
Tsukamoto's have another mean in the parentheses, see :mod:`flcs.inference.defuzzification`, and share all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.inference import defuzzification, norms
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flcs.inference.membership import Number, Numbers
    from flcs.inference.rule_base import Inference, RuleBase
    from flcs.inference.variable import Variable


@dataclass(frozen=True)
class RuleNumbers:
    """Numbers of one rule base, its own or those that a search proposes.

    Attributes
    ----------
    gains : tuple of tuples [n_rules][n_gains]
        Each a tuple (constant, then slopes with order 1).
    presence : tuple [n_rules], optional
        Above 0.5 a rule takes part. None: the rules' own switches, decided when the block is built.
    centres, widths : tuple of tuples [n_inputs][n_terms], optional
        None: the variables' own.
    """

    gains: tuple[tuple[Numbers, ...], ...]
    presence: Numbers | None = None
    centres: tuple[Numbers, ...] | None = None
    widths: tuple[Numbers, ...] | None = None


def own_numbers(base: RuleBase) -> RuleNumbers:
    """Return the numbers of the rule base itself."""
    rows = []
    for rule in base.rules:
        slopes = rule.slopes or ((),) * len(rule.gains)
        rows.append(tuple((gain, *row) for gain, row in zip(rule.gains, slopes, strict=True)))
    return RuleNumbers(tuple(rows))


def infer(
    base: RuleBase,
    how: Inference,
    x: Numbers,
    numbers: RuleNumbers,
    authority: Number | None = None,
    sums: Sequence[Numbers] | None = None,
) -> Numbers:
    """Gains of one channel: a block.

    Parameters
    ----------
    base : RuleBase
        Structure and settings.
    how : Inference
    x : tuple [n_inputs]
        Inputs [units of the variables].
    numbers : RuleNumbers
    authority : number, optional
        Left out: that of `how`.
    sums : sequence [n_gains] of (area, moment), optional
        Of the aggregated output sets, where a compiled loop has summed them already; see :mod:`flcs.fuzzy_controller`.

    Returns
    -------
    tuple [n_gains]
    """
    rules, strengths = firing(base, how, x, numbers)
    total = sum(strengths, 0.0)
    share = how.authority if authority is None else authority
    weight = (share * confidence(base, how, x)) / maximum(total, how.fallback)
    values = consequent_values(base, how, x, [numbers.gains[number] for number in rules])
    box = list(zip(base.low, base.reference, base.high, strict=True))
    pulls = defuzzification.pulls(how, strengths, total, values, box, numbers.presence, sums)
    return tuple(
        clip(reference + weight * pull, low, high) for pull, (low, reference, high) in zip(pulls, box, strict=True)
    )


def firing(base: RuleBase, how: Inference, x: Numbers, numbers: RuleNumbers) -> tuple[tuple[int, ...], list[Number]]:
    """Numbers of the rules that can take part, and the firing strength of each: a block."""
    and_ = norms.t_norm(how.t_norm)
    terms = [
        variable.memberships(value, _of(numbers.centres, place), _of(numbers.widths, place))
        for place, (variable, value) in enumerate(zip(base.inputs, x, strict=True))
    ]
    shared: dict[tuple[int, ...], Number] = {}

    def conjunction(chosen: tuple[int, ...]) -> Number:
        if chosen not in shared:
            last = terms[len(chosen) - 1][chosen[-1]]
            shared[chosen] = last if len(chosen) == 1 else and_(conjunction(chosen[:-1]), last)
        return shared[chosen]

    rules = base.active if numbers.presence is None else tuple(range(len(base.rules)))
    strengths = [conjunction(base.rules[number].terms) for number in rules]
    if numbers.presence is not None:
        strengths = [where(p - 0.5, r, 0.0) for p, r in zip(numbers.presence, strengths, strict=True)]
    return rules, strengths


def every_firing(base: RuleBase, how: Inference, x: Sequence[Any]) -> Any:
    """Return the firing strengths [n, n_rules] of all rules, on or off, at input columns [n_inputs][n]."""
    every = base.switched([True] * len(base.rules))
    _, strengths = firing(every, how, tuple(x), own_numbers(every))
    return np.stack(strengths, axis=1) if strengths else np.zeros((len(x[0]), 0))


def confidence(base: RuleBase, how: Inference, x: Numbers) -> Number:
    """1 inside the taught ranges, falling to 0 at `fade` ranges outside; 0 for NaN: a block."""
    outside = sum(
        (magnitude(value - v.limited(value)) * (1.0 / (how.fade * (v.high - v.low))) for v, value in _pairs(base, x)),
        0.0,
    )
    return maximum(1.0 - outside, 0.0)


def scaled(base: RuleBase, x: Numbers) -> Numbers:
    """Inputs limited to their ranges, as -1 .. 1: what slopes multiply. A block."""
    return tuple(
        (v.limited(value) - 0.5 * (v.low + v.high)) * (1.0 / (0.5 * (v.high - v.low))) for v, value in _pairs(base, x)
    )


def _of(groups: Sequence[Numbers] | None, place: int) -> Numbers | None:
    return None if groups is None else groups[place]


def _pairs(base: RuleBase, x: Numbers) -> zip[tuple[Variable, Number]]:
    return zip(base.inputs, x, strict=True)


def consequent_values(base: RuleBase, how: Inference, x: Numbers, rows: Sequence[Sequence[Numbers]]) -> list[Numbers]:
    """What each rule says about each gain at `x`: a block."""
    if how.order == 0:
        return [tuple(entry[0] for entry in row) for row in rows]
    inputs = scaled(base, x)
    return [
        tuple(sum((a * b for a, b in zip(entry[1:], inputs, strict=True)), entry[0]) for entry in row) for row in rows
    ]
