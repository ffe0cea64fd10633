"""From a channel of a knowledge base to a fuzzy inference system, and what that leaves behind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flcs.exchange.system import Antecedent, Consequent, ExchangeError, FuzzySystem, SystemRule, Term, range_of
from flcs.inference import defuzzification
from flcs.inference.membership import Bell, Gaussian, Trapezoid, Triangular
from plants.core.names import identifier

if TYPE_CHECKING:
    from flcs.inference.rule_base import Inference, Rule, RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase


def system_of(kb: KnowledgeBase, channel: int = 0) -> FuzzySystem:
    """Return one channel of a knowledge base as a fuzzy inference system.

    Raises
    ------
    ExchangeError
        If its gains are no weighted mean of what the rules say, weighted with their firing strengths.
    """
    base, how = kb.channels[channel], kb.inference
    check_form(how)
    outputs = zip(base.gain_names, base.low, base.high, base.reference, strict=True)
    return FuzzySystem(
        name=identifier(f"{kb.plant}_{base.name}"),
        inputs=tuple(Antecedent(v.name, v.low, v.high, terms_of(v)) for v in base.inputs),
        outputs=tuple(Consequent(name, *range_of(low, high), rest) for name, low, high, rest in outputs),
        rules=tuple(SystemRule(rule.terms, said(base, rule), rule.on) for rule in base.rules),
        conjunction=how.t_norm,
    )


def check_form(how: Inference) -> None:
    """Refuse forms of inference in which the rules' weights are not their firing strengths."""
    if how.form == "tsukamoto" or how.apart or defuzzification.by_areas(how):
        name = "Tsukamoto's" if how.form == "tsukamoto" else "Mamdani's"
        raise ExchangeError(
            f"{name} form of inference with these output sets weighs rules otherwise than by their firing strengths, "
            "which no file of constant conclusions can say; export look-up tables (to=[tables]) or code (to=[c]), or "
            "use inference form 'sugeno', or output sets with defuzzifier 'centre_average'"
        )


def terms_of(variable: Variable) -> tuple[Term, ...]:
    """Return a variable's terms with their break points or numbers."""
    shape, c = variable.shape, variable.centres
    if isinstance(shape, Gaussian):
        pairs = zip(variable.labels, c, variable.widths, strict=True)
        return tuple(Term(label, "gaussian", numbers=(centre, width)) for label, centre, width in pairs)
    if isinstance(shape, Bell):
        pairs = zip(variable.labels, c, variable.widths, strict=True)
        slope = float(shape.slope)
        return tuple(Term(label, "bell", numbers=(centre, width, slope)) for label, centre, width in pairs)
    if not isinstance(shape, Triangular | Trapezoid):
        raise ExchangeError(f"no other program knows terms of shape {shape.name!r}")
    plateau = shape.plateau if isinstance(shape, Trapezoid) else None
    return tuple(Term(label, "points", partition_points(c, j, plateau)) for j, label in enumerate(variable.labels))


def partition_points(c: tuple[float, ...], j: int, plateau: float | None) -> tuple[tuple[float, float], ...]:
    """Break points of a term of a strong partition: triangles (plateau None) or trapezoids."""
    last = len(c) - 1
    if plateau is None:
        return (*([(c[j - 1], 0.0)] if j > 0 else []), (c[j], 1.0), *([(c[j + 1], 0.0)] if j < last else []))
    before, after = plateau * (c[j] - c[j - 1]) if j > 0 else 0.0, plateau * (c[j + 1] - c[j]) if j < last else 0.0
    rising = [(c[j - 1] + before, 0.0), (c[j] - before, 1.0)] if j > 0 else []
    falling = [(c[j] + after, 1.0), (c[j + 1] - after, 0.0)] if j < last else []
    return (*rising, *falling)


def said(base: RuleBase, rule: Rule) -> tuple[tuple[float, ...], ...]:
    """What a rule says about each gain: its constant, or constant and factor of each input in the input's unit."""
    if not rule.slopes:
        return tuple((gain,) for gain in rule.gains)
    found = []
    for gain, row in zip(rule.gains, rule.slopes, strict=True):
        factors = tuple(s / (0.5 * (v.high - v.low)) for s, v in zip(row, base.inputs, strict=True))
        shift = sum(f * (0.5 * (v.low + v.high)) for f, v in zip(factors, base.inputs, strict=True))
        found.append((gain - shift, *factors))
    return tuple(found)


def plain_differences(kb: KnowledgeBase, channel: int = 0) -> tuple[str, ...]:
    """Return where a file's own gains differ from the controller's: what whoever evaluates the file must add.

    The complement holds the numbers; a file alone says the weighted mean of the rules, inside the taught ranges.
    """
    base, how = kb.channels[channel], kb.inference
    beyond = f"outside the taught ranges the controller's gains return to the reference gains over {how.fade:g} ranges"
    found = [f"{beyond}; a file's do not: limit its inputs to their ranges"]
    if not _always_fires(base, how):
        found.append(
            f"where all rules together fire less than {how.fallback:g} the controller's gains move to the reference "
            "gains in proportion; a file's stay the weighted mean"
        )
    if _reach(base) != (base.low, base.high):
        found.append(
            "some rules say gains outside the box, to which the controller limits them; a file's are not limited"
        )
    if how.authority != 1.0:
        found.append(f"the controller goes {how.authority:g} of the way from the reference gains; a file all of it")
    if kb.slew is not None:
        found.append(f"the controller's gains move at most {kb.slew:g} of their box in a second; a file's jump")
    if "z" in base.input_names:
        found.append("the error integral z is clamped by the controller; whoever evaluates a file integrates it")
    return tuple(found)


def _always_fires(base: RuleBase, how: Inference) -> bool:
    """Whether a full grid of strong partitions is on: then the firing strengths sum to 1 or more everywhere."""
    full = 1
    for variable in base.inputs:
        full *= variable.n_terms
    partitions = all(isinstance(v.shape, Triangular | Trapezoid) for v in base.inputs)
    return partitions and len(base.active) == full and how.fallback <= 1.0


def as_files_say(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base as a file alone would be evaluated: no fallback, all of the authority, no box."""
    channels = []
    for base in kb.channels:
        low, high = _reach(base)
        channels.append(replace(base, low=low, high=high))
    how = replace(kb.inference, fallback=1e-12, authority=1.0)
    return replace(kb, channels=tuple(channels), inference=how, slew=None)


def _reach(base: RuleBase) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The smallest box that has in it the own one and all that the rules can say."""
    low, high = list(base.low), list(base.high)
    for rule in base.rules:
        for k, gain in enumerate(rule.gains):
            most = sum(map(abs, rule.slopes[k])) if rule.slopes else 0.0
            low[k], high[k] = min(low[k], gain - most), max(high[k], gain + most)
    return tuple(low), tuple(high)
