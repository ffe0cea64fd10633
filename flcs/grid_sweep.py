"""Mamdani's centroid of the maximum in a compiled loop: the grid is a loop of the kernel, not thousands of statements.

Before it the firing strengths (and the sets' centres, where a search may move them) are put into rows; at every point
of the grid the aggregated set's area and moment grow; behind it the gains are made of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controllers.protocols import Sweep
from flcs import defuzzification
from flcs.inference import RuleNumbers, firing, own_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flcs.knowledge_base import KnowledgeBase
    from flcs.membership import Number, Numbers
    from flcs.rule_base import RuleBase
    from flcs.theta import ThetaLayout

    Inputs = Callable[[int, Numbers, Numbers], Numbers]
    Gains = Callable[[Numbers, Numbers, Numbers, Sequence[Sequence[Numbers]]], tuple[Numbers, Numbers]]


def sweep(kb: KnowledgeBase, layout: ThetaLayout, inputs: Inputs, gains: Gains) -> Sweep:
    """Return the gains of a knowledge base with output sets on a grid as three blocks.

    Parameters
    ----------
    kb : KnowledgeBase
    layout : ThetaLayout
        Which of its numbers are parameters.
    inputs : callable (channel, s, k) -> inputs of its rules
    gains : callable (s, k, theta, sums [channel][gain] of (area, moment)) -> (gains, new state)
    """
    sets, moved = kb.inference.output, "consequents" in layout.free
    if sets is None:
        raise ValueError("only output sets are summed over a grid, and this knowledge base has none")
    rules = [tuple(range(len(base.rules))) if "rules" in layout.free else base.active for base in kb.channels]
    sizes = [len(base.gain_names) for base in kb.channels]

    def begin(t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:  # noqa: ARG001
        held: list[Number] = []
        for i, (base, numbers) in enumerate(zip(kb.channels, layout.numbers(theta), strict=True)):
            held += firing(base, kb.inference, inputs(i, s, k), numbers)[1]
            held += [place for row in _places(base, numbers, rules[i]) for place in row] if moved else []
        return tuple(held), (0.0,) * (1 + 2 * sum(sizes))

    def advance(held: Numbers, moving: Numbers) -> Numbers:
        node, sums, first = -sets.width + sets.step * moving[0], list(moving[1:]), 0
        column = 0
        for i, base in enumerate(kb.channels):
            n = len(rules[i])
            strengths, first = held[first : first + n], first + n
            own = None if moved else own_numbers(base)
            places: Sequence[Number]
            for k in range(sizes[i]):
                if own is None:
                    places, first = held[first : first + n], first + n
                else:
                    places = _places(base, own, rules[i])[k]
                height = defuzzification.aggregated(sets, strengths, places, node)
                sums[column] = sums[column] + height
                sums[column + 1] = sums[column + 1] + node * height
                column += 2
        return (moving[0] + 1.0, *sums)

    def end(t: Number, s: Numbers, k: Numbers, theta: Numbers, moving: Numbers) -> tuple[Numbers, Numbers]:  # noqa: ARG001
        pairs = iter(zip(moving[1::2], moving[2::2], strict=True))
        return gains(s, k, theta, [[next(pairs) for _ in range(size)] for size in sizes])

    n_held = sum(len(r) * (1 + (size if moved else 0)) for r, size in zip(rules, sizes, strict=True))
    return Sweep(sets.points, n_held, 1 + 2 * sum(sizes), begin, advance, end)


def _places(base: RuleBase, numbers: RuleNumbers, rules: Sequence[int]) -> list[Sequence[Number]]:
    """Centres of the rules' sets of every gain."""
    box = zip(base.low, base.reference, base.high, strict=True)
    return [defuzzification.centres([numbers.gains[r][k][0] for r in rules], ends) for k, ends in enumerate(box)]
