"""One channel of a knowledge base with all that several families of findings look at, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.inference import inference
from flcs.inference.rule_base import rule_number
from flcs.knowledge_base.sentences import premise
from flcs.lint import region
from flcs.lint.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.inference.rule_base import RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from flcs.lint.findings import Limits
    from flcs.lint.recorded_inputs import RecordedInputs

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Subject:
    """A channel under inspection.

    Attributes
    ----------
    kb : KnowledgeBase
    number : int
        Of the channel.
    limits : Limits
    data : RecordedInputs, optional
        Inputs that were recorded or taught.
    in_file : tuple of int [n_rules], optional
        Places of the rules in the file, where they are not those of the rule base.
    """

    kb: KnowledgeBase
    number: int
    limits: Limits
    data: RecordedInputs | None = None
    in_file: tuple[int, ...] = ()

    @cached_property
    def base(self) -> RuleBase:
        """The rule base."""
        return self.kb.channels[self.number]

    @cached_property
    def space(self) -> tuple[Array, Array]:
        """Points in the declared ranges and their shares; see :func:`flcs.lint.region.filled`."""
        return region.filled(self.base)

    @cached_property
    def firing(self) -> Array:
        """Firing strengths of all rules, on or off, in the declared ranges [n, n_rules]."""
        return self.firing_at(self.space[0])

    @cached_property
    def rows(self) -> Array | None:
        """The channel's own inputs in the data [n_rows, n_inputs]."""
        return None if self.data is None else self.data.inputs[:, self.kb.columns(self.number)]

    @cached_property
    def span(self) -> Array:
        """Widths of the gain box [n_gains]; infinite where the box has none, so that nothing is a change there."""
        width = np.subtract(self.base.high, self.base.low)
        return np.where(width > 0.0, width, np.inf)

    def firing_at(self, x: Array) -> Array:
        """Return the firing strengths of all rules, on or off [n, n_rules]."""
        return np.asarray(inference.every_firing(self.base, self.kb.inference, tuple(x.T)))

    def reference_share(self, firing: Array) -> Array:
        """Return which part of the say the reference gains have inside the declared ranges [n]."""
        total = firing[:, list(self.base.active)].sum(axis=1)
        return np.asarray(1.0 - np.minimum(total / self.kb.inference.fallback, 1.0))

    def gains(self, x: Array) -> Array:
        """Return the gains [n, n_gains] of the channel at its own inputs [n, n_inputs]."""
        columns = inference.infer(self.base, self.kb.inference, tuple(x.T), inference.own_numbers(self.base))
        return np.stack([np.broadcast_to(column, len(x)) for column in columns], axis=1)

    def consequents(self, rule: int, x: Array) -> Array:
        """Return what a rule says at the inputs x [n, n_inputs], not yet limited to the box [n, n_gains]."""
        stated = self.base.rules[rule]
        constant = np.tile(stated.gains, (len(x), 1))
        if not stated.slopes:
            return constant
        return np.asarray(
            constant + np.stack(inference.scaled(self.base, tuple(x.T)), axis=1) @ np.array(stated.slopes).T
        )

    def named(self, rule: int) -> int:
        """Return the number by which the file's rule is called, from 1 as in the report."""
        return rule_number(self.in_file[rule] if self.in_file else rule)

    def premise(self, rule: int) -> str:
        """Return a rule's number and premise in words."""
        return f"rule {self.named(rule)} ({premise(self.base, self.base.rules[rule])})"

    def place(self, x: Sequence[float]) -> str:
        """Return a point in words."""
        pairs = zip(self.base.inputs, x, strict=True)
        return ", ".join(f"{v.words} = {value:.4g}{' ' if v.unit else ''}{v.unit}" for v, value in pairs)

    def found(self, code: str, message: str, **numbers: Any) -> Finding:
        """Return a finding about this channel."""
        return Finding(code, message, self.base.name, numbers)


def rates(subject: Subject) -> dict[int, float]:
    """Return the largest rates of the inputs [unit/s] by their places.

    The rate of e is in the range of e_rate, that of z in the range of e; data with times tell the rates of all inputs.
    """
    names, inputs = subject.base.input_names, subject.base.inputs
    known: dict[int, float] = {}
    for name, rate in (("e", "e_rate"), ("z", "e")):
        if name in names and rate in names:
            v = inputs[names.index(rate)]
            known[names.index(name)] = max(abs(v.low), abs(v.high))
    if subject.data is not None and subject.data.rates is not None:
        seen = subject.data.rates[subject.kb.columns(subject.number)].tolist()
        known |= {place: max(rate, known.get(place, 0.0)) for place, rate in enumerate(seen)}
    return known
