"""What a file of another format leaves behind of a knowledge base, kept beside it: together they give it back exactly.

A complement is the knowledge base's document without what the files say: ranges, labels, centres and widths of terms,
gains of rules and whether they are on. What the files hold may be edited elsewhere; the complement's rest stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from flcs.exchange import partition
from flcs.exchange.of_knowledge_base import check_form, plain_differences, system_of
from flcs.exchange.system import ExchangeError, range_of, refuse
from flcs.knowledge_base import knowledge_base
from flcs.knowledge_base.complaints import KnowledgeBaseError
from flcs.knowledge_base.structure import Record, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flcs.exchange.system import Consequent, FuzzySystem, SystemRule
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

FORMAT, SCHEMA = "sscq complement", 1
_RULE = ("terms", "exact", "firing", "rank", "confidence")


class ComplementFields(Struct, forbid_unknown_fields=True):
    """The top of a complement's document."""

    format: str
    schema: int
    differences: Any
    rest: Record


def complement(kb: KnowledgeBase) -> dict[str, Any]:
    """Return, as plain data, all of a knowledge base that files of other formats do not hold.

    Its entry ``differences`` says for each channel in words where a file's own gains differ from the controller's.

    Raises
    ------
    ExchangeError
        If the form of inference cannot be written in any.
    """
    check_form(kb.inference)
    rest = knowledge_base.to_document(kb)
    for number, channel in enumerate(rest["channels"]):
        values = [rule.values for rule in system_of(kb, number).rules]
        channel["rules"] = [_rest_of_rule(r, v) for r, v in zip(channel["rules"], values, strict=True)]
        for item in channel["inputs"]:
            item["exact"] = {"low": item.pop("low"), "high": item.pop("high"), "centres": item.pop("centres")}
            del item["labels"], item["widths"]
    differences = {base.name: list(plain_differences(kb, k)) for k, base in enumerate(kb.channels)}
    return {"format": FORMAT, "schema": SCHEMA, "differences": differences, "rest": rest}


def _rest_of_rule(rule: dict[str, Any], values: tuple[tuple[float, ...], ...]) -> dict[str, Any]:
    """A rule without its gains; affine ones are kept beside what the file says of them, which was rounded."""
    exact = {"gains": rule["gains"], "slopes": rule["slopes"], "said": [list(v) for v in values]}
    return {name: exact if name == "exact" else rule[name] for name in _RULE if name != "exact" or rule["slopes"]}


def restored(document: Mapping[str, Any], systems: Sequence[FuzzySystem]) -> KnowledgeBase:
    """Return the knowledge base of a complement and the systems of its channels, in their order.

    Raises
    ------
    ExchangeError
        If they do not belong together.
    KnowledgeBaseError
        If the complement is damaged.
    """
    fields = checked(document, ComplementFields, "complement")
    if (fields.format, fields.schema) != (FORMAT, SCHEMA):
        raise KnowledgeBaseError(f"expected a {FORMAT} of schema {SCHEMA}, got {fields.format!r}")
    rest = dict(fields.rest)
    try:
        filled = _filled(rest, systems)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise KnowledgeBaseError(
            f"the complement is damaged or was changed by hand: {type(error).__name__}: {error}; take an intact copy"
        ) from error
    return knowledge_base.from_document({**filled, "hash": ""})


def _filled(rest: dict[str, Any], systems: Sequence[FuzzySystem]) -> dict[str, Any]:
    """The complement's document with what the files say."""
    channels = rest.get("channels")
    if not isinstance(channels, list) or len(channels) != len(systems):
        came = len(channels) if isinstance(channels, list) else repr(channels)
        raise ExchangeError(f"expected a file for each of the complement's channels, {came}, got {len(systems)} files")
    order = rest.get("inference", {}).get("order", 0)
    rest["channels"] = [_channel(c, s, order) for c, s in zip(channels, systems, strict=True)]
    norms = {system.conjunction for system in systems}
    rest["inference"] = {**rest["inference"], "t_norm": norms.pop()}
    if norms:
        raise ExchangeError("expected files with one conjunction (AND) for all channels, got product and minimum")
    return rest


def _channel(rest: Any, system: FuzzySystem, order: int) -> dict[str, Any]:
    """A channel's document, of the complement's entry and the file."""
    names = [item.get("name") for item in rest["inputs"]]
    for wanted, found in ((names, system.inputs), (rest["gain_names"], system.outputs)):
        if list(wanted) != [item.name for item in found]:
            refuse(found[0].line if found else 0, f"the complement's names {list(wanted)}", [i.name for i in found])
    pairs = zip(rest["inputs"], system.inputs, strict=True)
    inputs = []
    for item, antecedent in pairs:
        exact = item["exact"]
        own = {name: value for name, value in item.items() if name != "exact"}
        ends = {"low": antecedent.low, "high": antecedent.high}
        ends = {name: exact[name] if end is None else end for name, end in ends.items()}
        known = {"shape": item["shape"], "centres": exact["centres"]}
        inputs.append({**own, **ends, **partition.shape(antecedent, known)})
    stories = {tuple(rule["terms"]): rule for rule in rest["rules"]}
    rules = [_rule(rule, stories, inputs, order) for rule in relabelled(system)]
    box = [_ends(*known) for known in zip(rest["low"], rest["high"], system.outputs, strict=True)]
    low, high = (list(ends) for ends in zip(*box, strict=True))
    return {**rest, "low": low, "high": high, "inputs": inputs, "rules": rules}


def _ends(low: float, high: float, output: Consequent) -> tuple[float, float]:
    """The box of a gain: the file's range where it says one, but for the range of a gain that stands still."""
    if low == high and (output.low, output.high) == range_of(low, high):
        return low, high
    return low if output.low is None else output.low, high if output.high is None else output.high


def relabelled(system: FuzzySystem) -> list[SystemRule]:
    """Return the rules with their terms counted in the order of the terms' centres."""
    from dataclasses import replace

    places = [partition.ordered(item)[1] for item in system.inputs]
    return [replace(rule, terms=tuple(p[t] for p, t in zip(places, rule.terms, strict=True))) for rule in system.rules]


def _rule(
    rule: SystemRule, stories: Mapping[tuple[int, ...], Any], inputs: Sequence[Mapping[str, Any]], order: int
) -> dict[str, Any]:
    story = stories.get(rule.terms, {"firing": 0.0, "rank": 0, "confidence": 0.0})
    said_now = [list(values) for values in rule.values]
    exact = story.get("exact")
    if exact is not None and exact["said"] == said_now:
        numbers = {"gains": exact["gains"], "slopes": exact["slopes"]}
    else:
        numbers = gains_and_slopes(rule, inputs, order)
    stats = {name: story[name] for name in ("firing", "rank", "confidence")}
    return {"terms": list(rule.terms), **numbers, **stats, "on": rule.on}


def gains_and_slopes(rule: SystemRule, inputs: Sequence[Mapping[str, Any]], order: int) -> dict[str, Any]:
    """Return a rule's gains at the middle of the ranges and their slopes over half of them."""
    gains, slopes = [], []
    for constant, *factors in rule.values:
        if factors and not order:
            refuse(rule.line, "constant conclusions", "affine ones")
        rates = factors or [0.0] * len(inputs)
        middles = [0.5 * (item["low"] + item["high"]) for item in inputs]
        gains.append(constant + sum(f * m for f, m in zip(rates, middles, strict=True)))
        slopes.append([f * (0.5 * (i["high"] - i["low"])) for f, i in zip(rates, inputs, strict=True)])
    return {"gains": gains, "slopes": slopes if order else []}
