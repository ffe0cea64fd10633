"""Fewer inputs: what the closed loop loses without each of them, and which sensors can be done without.

An input goes by merging the rules that differ in its terms alone; the consequents are fitted to the teaching signal
again and the loop is judged anew. That a gain can be predicted from an input does not say that the loop needs it, and
the other way round.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.learning.imitation import arranged
from flcs.learning.least_squares import fit_consequents
from flcs.refinement.rule_count import relative_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from flcs.learning.config import NetworkConfig
    from flcs.learning.rows import TeachingRows

    Judge = Callable[[KnowledgeBase], float]


@dataclass(frozen=True)
class InputValue:
    """What one input is worth in closed loop.

    Attributes
    ----------
    channel : int
    name : str
    kept : bool
    taught, validation : float or None
        Relative change of the fitness without it, against the base of which it was then a part; None: the only input
        that was left.
    text : str
        Why it went, or stays where the loop was not asked.
    """

    channel: int
    name: str
    kept: bool
    taught: float | None
    validation: float | None
    text: str

    def document(self) -> dict[str, Any]:
        """Return plain data."""
        return {"kept": self.kept, "taught": self.taught, "validation": self.validation, "text": self.text}


def without_input(kb: KnowledgeBase, channel: int, name: str) -> KnowledgeBase:
    """Return the knowledge base without an input of a channel: rules that differ in its terms alone become one.

    Their gains are averaged, weighted by their firing strengths over the teaching signal (equally, where none fired).

    Raises
    ------
    ValueError
        If the channel does not have the input, or no other.
    """
    base = kb.channels[channel]
    if name not in base.input_names or len(base.inputs) == 1:
        raise ValueError(f"channel {base.name!r} must have {name!r} and another input, got {base.input_names}")
    place = base.input_names.index(name)

    def others(rule: Rule) -> tuple[int, ...]:
        return (*rule.terms[:place], *rule.terms[place + 1 :])

    groups = itertools.groupby(sorted((rule for rule in base.rules if rule.on), key=others), key=others)
    merged = tuple(_merged(terms, list(rules), place) for terms, rules in groups)
    inputs = (*base.inputs[:place], *base.inputs[place + 1 :])
    return kb.with_channel(channel, _with(base, inputs, merged))


def _with(base: RuleBase, inputs: tuple[Any, ...], rules: tuple[Rule, ...]) -> RuleBase:
    limit = base.integral_limit if "z" in [variable.name for variable in inputs] else None
    return replace(base, inputs=inputs, rules=rules, integral_limit=limit)


def _merged(terms: tuple[int, ...], rules: Sequence[Rule], place: int) -> Rule:
    strengths = np.array([rule.firing for rule in rules])
    weight = strengths if strengths.sum() > 0.0 else np.ones(len(rules))
    gains = np.average([rule.gains for rule in rules], axis=0, weights=weight)
    slopes: tuple[Any, ...] = ()
    if rules[0].slopes:
        mean = np.average([rule.slopes for rule in rules], axis=0, weights=weight)
        slopes = tuple(map(tuple, np.delete(mean, place, axis=1).tolist()))
    return replace(rules[0], terms=terms, gains=tuple(gains.tolist()), slopes=slopes, firing=float(strengths.sum()))


def fitted(kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig) -> KnowledgeBase:
    """Return the knowledge base with its consequents fitted to the rows of a teaching signal."""
    return fit_consequents(kb, arranged(kb, rows), config)


def eliminate(
    kb: KnowledgeBase,
    rows: TeachingRows,
    config: NetworkConfig,
    taught: Judge,
    validation: Judge,
    *,
    most: int | None = None,
    loss: float | None = 0.005,
) -> tuple[KnowledgeBase, tuple[InputValue, ...]]:
    """Leave out inputs, one after the other, as long as the closed loop hardly loses or there are too many.

    Parameters
    ----------
    kb : KnowledgeBase
    rows : TeachingRows
        What the consequents are fitted to after every removal.
    config : NetworkConfig
    taught, validation : callable
        Fitness of a knowledge base in the taught and in the validation situations. The validation situations choose.
    most : int, optional
        Most inputs of a channel: beyond it inputs go whatever they cost, the least valuable first.
    loss : float, optional
        Relative loss, taught and validation, that fewer inputs may cost; None: only surplus inputs go.

    Returns
    -------
    kb : KnowledgeBase
        With consequents fitted; without any removal those of all inputs.
    values : tuple of InputValue
        Of every input, channel after channel; those that went in the order in which they did, the others last.
    """
    kb = fitted(kb, rows, config)
    present = (taught(kb), validation(kb))
    allowed = present
    gone: list[InputValue] = []
    while True:
        trials = [_trial(kb, rows, config, taught, validation, *place) for place in _removable(kb)]
        forced = [one for one in trials if most is not None and len(kb.channels[one.channel].inputs) > most]
        pool = forced or [one for one in trials if loss is not None and _worst(one, allowed) <= loss]
        if not pool:
            kept = {(one.channel, one.name): one for one in trials}
            values = [*gone, *(_kept(kept, place, present) for place in _places(kb))]
            return kb, tuple(sorted(values, key=lambda value: value.channel))
        best = min(pool, key=lambda one: (one.fitness[1], one.fitness[0]))
        reason = f"no more than {most} inputs are allowed" if forced else "the closed loop does not need it"
        gone.append(_value(best, present, reason))
        kb, present = best.kb, best.fitness
        allowed = present if forced else allowed


@dataclass(frozen=True)
class _Trial:
    """A knowledge base without one more input, and its fitness (taught, validation)."""

    channel: int
    name: str
    kb: KnowledgeBase
    fitness: tuple[float, float]


def _trial(
    kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig, taught: Judge, validation: Judge, channel: int,
    name: str,
) -> _Trial:  # fmt: skip
    smaller = fitted(without_input(kb, channel, name), rows, config)
    return _Trial(channel, name, smaller, (taught(smaller), validation(smaller)))


def _worst(trial: _Trial, before: tuple[float, float]) -> float:
    return max(relative_loss(value, old) for value, old in zip(trial.fitness, before, strict=True))


def _value(trial: _Trial, before: tuple[float, float], text: str, *, kept: bool = False) -> InputValue:
    taught, validation = (relative_loss(value, old) for value, old in zip(trial.fitness, before, strict=True))
    return InputValue(trial.channel, trial.name, kept, taught, validation, text)


def _kept(trials: dict[tuple[int, str], _Trial], place: tuple[int, str], present: tuple[float, float]) -> InputValue:
    if place not in trials:
        return InputValue(*place, kept=True, taught=None, validation=None, text="the only input left")
    return _value(trials[place], present, "", kept=True)


def _places(kb: KnowledgeBase) -> list[tuple[int, str]]:
    return [(channel, name) for channel, base in enumerate(kb.channels) for name in base.input_names]


def _removable(kb: KnowledgeBase) -> list[tuple[int, str]]:
    return [(channel, name) for channel, name in _places(kb) if len(kb.channels[channel].inputs) > 1]
