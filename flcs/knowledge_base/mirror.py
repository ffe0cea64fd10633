"""Parameters that follow others: mirrored rule bases, and terms that all channels have in common.

Where the plant with its limits is odd, f(-x, -u) = -f(x, u), what is right for an error is right for its mirror image.
A rule base that is its own mirror image then needs half the numbers, and every taught situation teaches both sides: it
fits the taught ones less by heart. `plants.is_odd` tests the plant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from flcs.inference.rule_base import RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase


@dataclass(frozen=True, eq=False)
class MirrorMap:
    """Which parameters theta of a knowledge base follow others.

    Attributes
    ----------
    source : array of int [n_theta]
        Parameter that each one follows; itself where it is free.
    sign : array [n_theta]
        -1 where it follows with the other sign, 0 where it stands at 0 (the middle of an odd number of terms).
    """

    source: NDArray[np.int64]
    sign: NDArray[np.float64]

    @property
    def free(self) -> NDArray[np.bool_]:
        """Parameters that follow nothing."""
        return np.asarray((self.source == np.arange(len(self.source))) & (self.sign > 0.0))

    def applied(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return parameters [n, n_theta] with all that follow set."""
        return np.asarray(theta[:, self.source] * self.sign)

    def after(self, other: MirrorMap) -> MirrorMap:
        """Return both: what follows in the other map follows what its leader follows here."""
        return MirrorMap(self.source[other.source], self.sign[other.source] * other.sign)


def mirror_map(kb: KnowledgeBase) -> MirrorMap:
    """Return which of all the parameters of a knowledge base (consequents, rules, terms) follow others.

    Raises
    ------
    ValueError
        If a range is not its own mirror image, or a rule has none.
    """
    pairs: list[tuple[int, float]] = []
    for base in kb.channels:
        check_ranges(base.inputs)
        pairs += _of_rules(base, kb.inference.order, len(pairs))
        for variable in base.inputs:
            pairs += _of_terms(variable, len(pairs))
    return MirrorMap(np.array([source for source, _ in pairs]), np.array([sign for _, sign in pairs]))


def check_ranges(variables: Sequence[Variable]) -> None:
    """Raise where the range of an input is not from -a to a."""
    for variable in variables:
        if variable.low != -variable.high:
            raise ValueError(
                f"a mirrored rule base needs ranges from -a to a, got [{variable.low:g}, {variable.high:g}] for "
                f"{variable.name!r}"
            )


def _of_rules(base: RuleBase, order: int, first: int) -> Iterator[tuple[int, float]]:
    """Sources and signs of consequents, then of the rules' presence."""
    places = {rule.terms: number for number, rule in enumerate(base.rules)}
    images = [_image(base, number, places) for number in range(len(base.rules))]
    width = 1 + (len(base.inputs) if order else 0)
    block = len(base.gain_names) * width
    for number, image in enumerate(images):
        leader = min(number, image)
        for part in range(block):
            slope = part % width > 0  # towards the other side the gains change the other way
            sign = 1.0 if leader == number else -1.0
            yield first + block * leader + part, (0.0 if image == number else sign) if slope else 1.0
    for number in range(len(base.rules)):
        yield first + block * len(base.rules) + number, 1.0  # pruning decides on each alone


def _image(base: RuleBase, number: int, places: Mapping[tuple[int, ...], int]) -> int:
    """Number of the rule on the other side."""
    terms = base.rules[number].terms
    image = tuple(v.n_terms - 1 - term for v, term in zip(base.inputs, terms, strict=True))
    if image not in places:
        raise ValueError(
            f"rule {terms} of channel {base.name!r} has no mirror image {image}; complete the grid of rules"
        )
    return places[image]


def _of_terms(variable: Variable, first: int) -> Iterator[tuple[int, float]]:
    n = variable.n_terms
    for k in range(n):
        image = n - 1 - k
        yield (first + k, 0.0 if k == image else 1.0) if k <= image else (first + image, -1.0)
    for k in range(len(variable.widths)):
        yield first + n + min(k, n - 1 - k), 1.0


def mirrored_variable(variable: Variable) -> Variable:
    """Return the variable with range and terms made their own mirror image: the wider side counts."""
    edge = max(abs(variable.low), abs(variable.high))
    centres = 0.5 * (np.array(variable.centres) - np.array(variable.centres)[::-1])
    widths = 0.5 * (np.array(variable.widths) + np.array(variable.widths)[::-1])
    return replace(variable, low=-edge, high=edge, centres=tuple(centres.tolist()), widths=tuple(widths.tolist()))


def mirrored(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base with every channel its own mirror image; of two rules the first one counts.

    Raises
    ------
    ValueError
        If a rule has no mirror image.
    """
    for number, base in enumerate(kb.channels):
        inputs = tuple(mirrored_variable(variable) for variable in base.inputs)
        places = {rule.terms: place for place, rule in enumerate(base.rules)}
        images = [_image(base, place, places) for place in range(len(base.rules))]
        rules = []
        for place, (rule, image) in enumerate(zip(base.rules, images, strict=True)):
            leader = base.rules[min(place, image)]
            sign = 0.0 if image == place else (1.0 if leader is rule else -1.0)
            slopes = tuple(tuple(sign * slope for slope in row) for row in leader.slopes)
            rules.append(replace(rule, gains=leader.gains, slopes=slopes, on=rule.on or base.rules[image].on))
        kb = kb.with_channel(number, replace(base, inputs=inputs, rules=tuple(rules)))
    return kb


def terms_of_first(kb: KnowledgeBase) -> MirrorMap:
    """Return which parameters of a knowledge base with common terms follow others: all terms those of channel 1."""
    source: list[int] = []
    terms: range | None = None
    for base in kb.channels:
        per_gain = 1 + (len(base.inputs) if kb.inference.order else 0)
        source += range(len(source), len(source) + len(base.rules) * (len(base.gain_names) * per_gain + 1))
        terms = terms or range(len(source), len(source) + sum(v.n_terms + len(v.widths) for v in base.inputs))
        source += terms
    return MirrorMap(np.array(source), np.ones(len(source)))
