"""The rule base of one control channel: its inputs, rules and gains, and how rules become gains.

A knowledge base has one rule base per channel. Rules sit on a grid of terms: a rule is a tuple with the number of one
term per input, and gives the gains of the channel there.

Common terms: channels of one plant may schedule their gains over the same signal. With terms of their own a certificate
has to hold for any mixture of one channel's rules beside any mixture of another's, also where no value of the signal
gives such a pair. With common terms and the same rules all gains are one mean of the rules, with the same
weights: what the schedule may give is the hull of whole rules, the gains of all channels together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from controllers import pid_form
from controllers.settings import one_of
from flcs.inference.norms import t_norm
from flcs.inference.output_sets import OutputSets
from flcs.inference.variable import Variable, check_names
from flcs.plain_data import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


PID_GAINS = ("kp", "ki", "kd")
OWN_INPUTS = ("e", "e_rate", "z")
FORMS = ("sugeno", "mamdani", "tsukamoto")


def rule_number(place: int) -> int:
    """Return what the rule at a place of the file is called in messages, reports and exports: they count from 1."""
    return place + 1


@dataclass(frozen=True)
class Inference:
    """How firing strengths become gains, the same for all channels.

    Attributes
    ----------
    t_norm : {"product", "minimum"}
        Conjunction of a rule's terms.
    order : {0, 1}
        0: a rule gives constant gains (Sugeno order 0, and Mamdani with singletons). 1: gains linear in the inputs.
    fallback : float
        Sum of firing strengths below which the reference gains take over in proportion: where no rule fires they hold.
    fade : float
        Distance outside the taught ranges, in ranges, over which the gains return to the reference gains.
    authority : float
        Share of the way from the reference gains to the scheduled ones, 0 .. 1.
    form : {"sugeno", "mamdani", "tsukamoto"}
        What a rule says: a number for each gain; a fuzzy set around it; a set that rises from the reference gain to it.
        See :mod:`flcs.inference.defuzzification`.
    output : OutputSets, optional
        The fuzzy sets of Mamdani's form; left out, the usual ones. None with the other forms.
    """

    t_norm: str = "product"
    order: int = 0
    fallback: float = 0.5
    fade: float = 1.0
    authority: float = 1.0
    form: str = "sugeno"
    output: OutputSets | None = None

    def __post_init__(self) -> None:
        """Check."""
        t_norm(self.t_norm)
        one_of("form of inference", self.form, FORMS)
        if self.form == "mamdani":
            object.__setattr__(self, "output", self.output or OutputSets())
        elif self.output is not None:
            raise ValueError(f"output sets are of the form 'mamdani', got form {self.form!r}; leave output out")
        if self.form != "sugeno" and self.order != 0:
            raise ValueError(
                f"rules of the form {self.form!r} have constant gains (order 0), got order {self.order!r}; use order 0 "
                "or form 'sugeno'"
            )
        if self.order not in {0, 1} or isinstance(self.order, bool):
            raise ValueError(f"order must be 0 (constant gains) or 1 (linear in the inputs), got {self.order!r}")
        for name in ("fallback", "fade"):
            object.__setattr__(self, name, float(getattr(self, name)))
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a positive number, got {getattr(self, name)}")
        object.__setattr__(self, "authority", check_authority(self.authority))

    @property
    def apart(self) -> bool:
        """Whether each gain weighs the rules in its own way, so that together they may leave the rules' hull."""
        return self.output is not None and self.output.on_grid


def check_authority(value: float) -> float:
    """Return the authority as a float, or raise ValueError if it is not in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"authority must be in [0, 1] (0: reference gains, 1: scheduled gains), got {value}")
    return float(value)


@dataclass(frozen=True)
class Rule:
    """IF every input is its term THEN these gains.

    Attributes
    ----------
    terms : tuple of int [n_inputs]
        Number of the term of each input.
    gains : tuple of float [n_gains]
        With order 1: at the middle of the ranges.
    slopes : tuple of tuple of float [n_gains][n_inputs]
        With order 1: change of the gains over half of an input's range.
    firing : float
        Total firing strength over the teaching signal, weighted.
    rank : int
        1 is the rule that fired most; 0 is not ranked.
    confidence : float
        Share of the data, against the pull towards the reference gains, in what the rule says: 0 .. 1.
    on : bool
        Whether the rule takes part.
    """

    terms: tuple[int, ...]
    gains: tuple[float, ...]
    slopes: tuple[tuple[float, ...], ...] = ()
    firing: float = 0.0
    rank: int = 0
    confidence: float = 0.0
    on: bool = True

    def __post_init__(self) -> None:
        """Coerce."""
        object.__setattr__(self, "terms", tuple(int(term) for term in self.terms))
        object.__setattr__(self, "gains", tuple(float(gain) for gain in self.gains))
        object.__setattr__(self, "slopes", tuple(tuple(float(s) for s in row) for row in self.slopes))
        object.__setattr__(self, "firing", float(self.firing))
        object.__setattr__(self, "rank", int(self.rank))
        object.__setattr__(self, "confidence", float(self.confidence))
        object.__setattr__(self, "on", bool(self.on))


@dataclass(frozen=True)
class RuleBase:
    """Rules of one control channel.

    Attributes
    ----------
    name : str
        The controlled output.
    inputs : tuple of Variable
        The channel's own "e", "e_rate", "z" and names of plant outputs.
    rules : tuple of Rule
        All different in their terms.
    low, high : tuple of float [n_gains]
        Box that the gains never leave.
    reference : tuple of float [n_gains]
        Gains that hold where nothing is known.
    gain_names : tuple of str
    integral_limit : float, optional
        The error integral z is kept in [-integral_limit, integral_limit]; left out, the largest magnitude of z's range.
    law : mapping
        Settings of the channel's PID law; see :mod:`controllers.pid_form`.

    Raises
    ------
    ValueError
        Where these contradict each other.
    """

    name: str
    inputs: tuple[Variable, ...]
    rules: tuple[Rule, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    reference: tuple[float, ...]
    gain_names: tuple[str, ...] = PID_GAINS
    integral_limit: float | None = None
    law: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check and coerce."""
        for name in ("inputs", "rules", "gain_names"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("low", "high", "reference"):
            object.__setattr__(self, name, self._gains(name, getattr(self, name)))
        object.__setattr__(self, "law", plain(self.law, f"law of channel {self.name!r}"))
        pid_form.build(self.law)
        check_names(self.inputs)
        self._check_box()
        self._check_rules()
        self._set_integral_limit()

    def _gains(self, what: str, values: Sequence[float]) -> tuple[float, ...]:
        numbers = tuple(float(value) for value in values)
        if len(numbers) != len(self.gain_names) or not all(map(math.isfinite, numbers)):
            raise ValueError(
                f"{what} of channel {self.name!r} must be finite numbers for {self.gain_names}, got {numbers}"
            )
        return numbers

    def _check_box(self) -> None:
        for name, low, value, high in zip(self.gain_names, self.low, self.reference, self.high, strict=True):
            if not low <= value <= high:
                raise ValueError(
                    f"{name} of channel {self.name!r} must satisfy low <= reference <= high, got {low} <= {value} <= "
                    f"{high}; widen the box or move the reference gains into it"
                )

    def _check_rules(self) -> None:
        seen: set[tuple[int, ...]] = set()
        for number, rule in enumerate(self.rules):
            where = f"rule {rule_number(number)} of channel {self.name!r}"
            if len(rule.terms) != len(self.inputs):
                raise ValueError(f"{where} needs one term for each of {self.input_names}, got {rule.terms}")
            for variable, term in zip(self.inputs, rule.terms, strict=True):
                if not 0 <= term < variable.n_terms:
                    raise ValueError(f"{where}: {variable.name!r} has terms 0 .. {variable.n_terms - 1}, got {term}")
            if rule.terms in seen:
                raise ValueError(f"{where} repeats the terms {rule.terms} of an earlier rule; keep one of them")
            seen.add(rule.terms)
            self._gains(f"gains of {where}", rule.gains)
            if not all(map(math.isfinite, (rule.firing, rule.confidence, *(s for row in rule.slopes for s in row)))):
                raise ValueError(f"{where} must hold finite numbers, got {rule}")

    def _set_integral_limit(self) -> None:
        if "z" not in self.input_names:
            object.__setattr__(self, "integral_limit", None)
            return
        z = self.inputs[self.input_names.index("z")]
        limit = max(abs(z.low), abs(z.high)) if self.integral_limit is None else float(self.integral_limit)
        if not 0.0 < limit < math.inf:
            raise ValueError(f"integral_limit of channel {self.name!r} must be positive, got {limit}")
        object.__setattr__(self, "integral_limit", limit)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(variable.name for variable in self.inputs)

    @property
    def signals(self) -> tuple[str, ...]:
        """Plant outputs among the inputs."""
        return tuple(name for name in self.input_names if name not in OWN_INPUTS)

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of terms of each input."""
        return tuple(variable.n_terms for variable in self.inputs)

    @property
    def active(self) -> tuple[int, ...]:
        """Numbers of the rules that take part."""
        return tuple(number for number, rule in enumerate(self.rules) if rule.on)

    def switched(self, on: Sequence[bool]) -> RuleBase:
        """Return the rule base with rules switched on and off."""
        if len(on) != len(self.rules):
            raise ValueError(f"one switch per rule is needed, {len(self.rules)}, got {len(on)}")
        return replace(self, rules=tuple(replace(rule, on=bool(s)) for rule, s in zip(self.rules, on, strict=True)))

    def compact(self) -> RuleBase:
        """Return the rule base without the rules that are off."""
        return replace(self, rules=tuple(rule for rule in self.rules if rule.on))


def full_grid(counts: Sequence[int], gains: Sequence[float], order: int = 0) -> tuple[Rule, ...]:
    """Return one rule per combination of terms, all with the same gains (and slopes 0 for order 1)."""
    slopes = tuple((0.0,) * len(counts) for _ in gains) if order else ()
    return tuple(Rule(terms, tuple(gains), slopes) for terms in product(*map(range, counts)))


def check_common_terms(channels: Sequence[RuleBase]) -> None:
    """Raise ValueError where channels cannot have common terms.

    Where the terms lie, and which rules are on, may differ for a moment, while a design goes from channel to channel.
    """
    first = channels[0]
    for base in channels:
        if own := [name for name in base.input_names if name in OWN_INPUTS]:
            raise ValueError(
                f"common terms need plant outputs as inputs, which all channels share; {own[0]!r} of channel "
                f"{base.name!r} is its own"
            )
        if (base.input_names, base.counts) != (first.input_names, first.counts):
            raise ValueError(
                f"common terms need the same inputs with as many terms in all channels, got {_counted(first)} in "
                f"{first.name!r} and {_counted(base)} in {base.name!r}"
            )


def _counted(base: RuleBase) -> str:
    return ", ".join(f"{name} ({n})" for name, n in zip(base.input_names, base.counts, strict=True))


def terms_agree(channels: Sequence[RuleBase]) -> bool:
    """Return whether all channels have the same terms at the same places, and the same rules on, in the same order."""
    first = channels[0]
    rules = [(rule.terms, rule.on) for rule in first.rules]
    return all(base.inputs == first.inputs and [(r.terms, r.on) for r in base.rules] == rules for base in channels)
