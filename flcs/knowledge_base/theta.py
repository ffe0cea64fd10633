"""Parameters theta of a knowledge base, as a search sees them: one flat vector, its names and bounds, and back.

Channel after channel: the consequents of every rule (gain after gain, with order 1 each followed by its slopes), the
rules' presence (above 0.5 a rule takes part), then for every input the centres and the widths of its terms.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from controllers.settings import distinct, one_of
from flcs.inference.inference import RuleNumbers, own_numbers
from flcs.inference.membership import spread_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flcs.inference.membership import Number, Numbers
    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

GROUPS = ("consequents", "rules", "terms")


@dataclass(frozen=True)
class Entry:
    """One parameter: name, own value and the bounds of a search."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ThetaLayout:
    """Which numbers of a knowledge base are free, and where they stand.

    Attributes
    ----------
    kb : KnowledgeBase
    free : tuple of {"consequents", "rules", "terms"}
        What a search may change; the rest is compiled in. Empty: nothing.
    """

    kb: KnowledgeBase
    free: tuple[str, ...] = GROUPS

    def __post_init__(self) -> None:
        """Check the groups."""
        groups = distinct("free", self.free) if self.free else ()
        for group in groups:
            one_of("group of free numbers", group, GROUPS)
        object.__setattr__(self, "free", groups)

    def entries(self) -> list[Entry]:
        """Return every parameter in order."""
        return [entry for i, base in enumerate(self.kb.channels) for entry in self._channel(i, base)]

    def _channel(self, i: int, base: RuleBase) -> Iterator[Entry]:
        if "consequents" in self.free:
            for rule in base.rules:
                yield from self._consequents(i, base, rule)
        if "rules" in self.free:
            for rule in base.rules:
                yield Entry(f"{self.kb.suffixed('on', i)}[{rule_label(base, rule)}]", float(rule.on), 0.0, 1.0)
        if "terms" in self.free:
            for variable in base.inputs:
                yield from _terms(self.kb.suffixed(variable.name, i), variable)

    def _consequents(self, i: int, base: RuleBase, rule: Rule) -> Iterator[Entry]:
        label = rule_label(base, rule)
        for number, gain in enumerate(base.gain_names):
            name, low, high = self.kb.suffixed(gain, i), base.low[number], base.high[number]
            yield Entry(f"{name}[{label}]", rule.gains[number], low, high)
            if rule.slopes:
                for variable, slope in zip(base.inputs, rule.slopes[number], strict=True):
                    yield Entry(f"{name}.{variable.name}[{label}]", slope, low - high, high - low)

    def presence_places(self) -> list[Sequence[int]]:
        """Return the places of the rules' presence in theta, channel after channel."""
        places: list[Sequence[int]] = []
        first = 0
        for i, base in enumerate(self.kb.channels):
            names = [entry.name for entry in self._channel(i, base)]
            prefix = self.kb.suffixed("on", i) + "["
            places.append([first + k for k, name in enumerate(names) if name.startswith(prefix)])
            first += len(names)
        return places

    def numbers(self, theta: Numbers) -> list[RuleNumbers]:
        """Return the numbers of every channel, free ones from `theta`, the others from the knowledge base."""
        reader = _ThetaReader(theta)
        return [self._numbers_of(base, reader) for base in self.kb.channels]

    def _numbers_of(self, base: RuleBase, reader: _ThetaReader) -> RuleNumbers:
        numbers = own_numbers(base)
        if "consequents" in self.free:
            width = 1 + (len(base.inputs) if self.kb.inference.order else 0)
            gains = tuple(tuple(reader.take(width) for _ in base.gain_names) for _ in base.rules)
            numbers = replace(numbers, gains=gains)
        if "rules" in self.free:
            numbers = replace(numbers, presence=reader.take(len(base.rules)))
        if "terms" in self.free:
            pairs = [(reader.take(v.n_terms), reader.take(len(v.widths))) for v in base.inputs]
            numbers = replace(numbers, centres=tuple(c for c, _ in pairs), widths=tuple(w for _, w in pairs))
        return numbers

    def write(self, theta: Sequence[float]) -> KnowledgeBase:
        """Return the knowledge base with the numbers of `theta`: it gives the same gains as the block does with it."""
        channels = []
        for base, numbers in zip(self.kb.channels, self.numbers(tuple(map(float, theta))), strict=True):
            rules = []
            for k, (rule, rows) in enumerate(zip(base.rules, numbers.gains, strict=True)):
                on = rule.on if numbers.presence is None else bool(numbers.presence[k] > 0.5)
                slopes = tuple(row[1:] for row in rows) if rule.slopes else ()
                rules.append(replace(rule, gains=tuple(row[0] for row in rows), slopes=slopes, on=on))
            channels.append(replace(base, rules=tuple(rules), inputs=_written(base.inputs, numbers)))
        return replace(self.kb, channels=tuple(channels))


class _ThetaReader:
    """Takes a flat vector from left to right."""

    def __init__(self, values: Numbers) -> None:
        self._values, self._next = values, 0

    def take(self, count: int) -> tuple[Number, ...]:
        self._next += count
        return tuple(self._values[self._next - count : self._next])


def rule_label(base: RuleBase, rule: Rule) -> str:
    """Return a rule's terms as they stand in the names of its parameters: "N,Z"."""
    return ",".join(variable.labels[term] for variable, term in zip(base.inputs, rule.terms, strict=True))


def _terms(name: str, variable: Variable) -> Iterator[Entry]:
    """Centres may move half-way to their neighbours, outer ones to the ends of the range; widths to twice or half."""
    centres = variable.centres
    middles = [(left + right) / 2.0 for left, right in itertools.pairwise(centres)]
    lows, highs = [min(variable.low, centres[0]), *middles], [*middles, max(variable.high, centres[-1])]
    for label, centre, low, high in zip(variable.labels, centres, lows, highs, strict=True):
        yield Entry(f"{name}.{label}.centre", centre, low, high)
    for label, width in zip(variable.labels, variable.widths, strict=False):
        yield Entry(f"{name}.{label}.width", width, max(variable.smallest_width, width / 2.0), 2.0 * width)


def _written(inputs: tuple[Variable, ...], numbers: RuleNumbers) -> tuple[Variable, ...]:
    if numbers.centres is None or numbers.widths is None:
        return inputs
    return tuple(
        replace(
            variable,
            centres=spread_apart(centres, variable.smallest_gap),
            widths=tuple(max(width, variable.smallest_width) for width in widths),
        )
        for variable, centres, widths in zip(inputs, numbers.centres, numbers.widths, strict=True)
    )
