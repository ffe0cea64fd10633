"""Schemas 1 to 3 of the knowledge base's document: inference, channels, inputs and rules, in both directions.

Schema 1 has Sugeno's form of inference alone, and knowledge bases of that form are still written in it. Schema 2 names
the form, and for Mamdani's its output sets. Schema 3 is schema 2 of a knowledge base whose channels have common terms.
The document as a whole is written and read where the class is.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from flcs.inference.membership import shape_of
from flcs.inference.output_sets import OutputSets
from flcs.inference.rule_base import Inference, Rule, RuleBase
from flcs.inference.variable import Variable
from flcs.knowledge_base.complaints import KnowledgeBaseError, Node, complain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


FORMAT = "sscq knowledge base"
SCHEMAS = (1, 2, 3)
SCHEMA_OF_COMMON_TERMS = 3
TOP_KEYS = (
    "format", "schema", "plant", "plant_parameters", "inference", "tick", "slew", "channels", "fitness", "taught",
    "validation", "valid_range", "stability", "training", "hash",
)  # fmt: skip
_INFERENCE = ("t_norm", "order", "defuzzifier", "fallback", "fade", "authority")
_SETS = ("implication", "aggregation", "width", "points")
_CHANNEL = ("name", "gain_names", "low", "high", "reference", "integral_limit", "law", "inputs", "rules")
_INPUT = ("name", "unit", "low", "high", "shape", "labels", "centres", "widths")
_RULE = ("terms", "gains", "slopes", "firing", "rank", "confidence", "on")
_DEFUZZIFIER = "weighted mean"


def check_kind(document: Mapping[str, Any]) -> None:
    """Raise where a document is no knowledge base, or is one of a schema that this program does not read."""
    if document.get("format") != FORMAT:
        complain("format", repr(FORMAT), document.get("format"))
    schema = document.get("schema")
    if schema not in SCHEMAS or isinstance(schema, bool):
        raise KnowledgeBaseError(
            f"this program reads knowledge bases of schema {', '.join(map(str, SCHEMAS))}, got schema {schema!r}; "
            "use the version of the program that wrote it, or design it again"
        )


def inference_document(how: Inference, schema: int) -> dict[str, Any]:
    """Return the form of inference as the document says it; schema 1 does not name the form."""
    document = asdict(how)
    form, sets = document.pop("form"), document.pop("output")
    if schema == 1:
        return {**document, "defuzzifier": _DEFUZZIFIER}
    return {**document, "form": form, "defuzzifier": _DEFUZZIFIER, **(sets or {})}


def channel_document(base: RuleBase) -> dict[str, Any]:
    """Return one channel as the document says it: gains, their box, control law, inputs and rules."""
    return {
        "name": base.name,
        "gain_names": list(base.gain_names),
        "low": list(base.low),
        "high": list(base.high),
        "reference": list(base.reference),
        "integral_limit": base.integral_limit,
        "law": base.law,
        "inputs": [_input(variable) for variable in base.inputs],
        "rules": [_rule(rule) for rule in base.rules],
    }


def _input(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "unit": variable.unit,
        "low": variable.low,
        "high": variable.high,
        "shape": variable.shape.document(),
        "labels": list(variable.labels),
        "centres": list(variable.centres),
        "widths": list(variable.widths),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    lists = {"terms": list(rule.terms), "gains": list(rule.gains), "slopes": [list(row) for row in rule.slopes]}
    return {**lists, "firing": rule.firing, "rank": rule.rank, "confidence": rule.confidence, "on": rule.on}


def read_inference(value: Any, schema: int) -> Inference:
    """Return the form of inference that a document's part gives, or complain about the entry that is wrong."""
    form = value.get("form") if schema > 1 and isinstance(value, dict) else None
    mamdani = form == "mamdani"
    node = Node(value, "inference", (*_INFERENCE, *(("form",) if schema > 1 else ()), *(_SETS if mamdani else ())))
    if not mamdani and node.text("defuzzifier") != _DEFUZZIFIER:
        complain(node.at("defuzzifier"), repr(_DEFUZZIFIER), node.text("defuzzifier"))
    parts: dict[str, Any] = {key: node.number(key) for key in ("fallback", "fade", "authority")}
    if schema > 1:
        parts["form"] = node.text("form")
    if mamdani:
        parts["output"] = _read_sets(node)
    return built("inference", Inference, t_norm=node.text("t_norm"), order=node.integer("order"), **parts)


def _read_sets(node: Node) -> OutputSets:
    words = {key: node.text(key) for key in ("implication", "aggregation", "defuzzifier")}
    return built("inference", OutputSets, width=node.number("width"), points=node.integer("points"), **words)


def read_channel(value: object, place: str) -> RuleBase:
    """Return the rule base that a document's channel gives; complaints name `place`, as in "channels[0]"."""
    node = Node(value, place, _CHANNEL)
    return built(
        place,
        RuleBase,
        name=node.text("name"),
        gain_names=node.texts("gain_names"),
        low=node.numbers("low"),
        high=node.numbers("high"),
        reference=node.numbers("reference"),
        integral_limit=node.optional("integral_limit"),
        law=node.record("law"),
        inputs=tuple(_read_input(item, f"{place}.inputs[{n}]") for n, item in enumerate(node.items("inputs"))),
        rules=tuple(_read_rule(item, f"{place}.rules[{n}]") for n, item in enumerate(node.items("rules"))),
    )


def _read_input(value: object, place: str) -> Variable:
    node = Node(value, place, _INPUT)
    return built(
        place,
        Variable,
        name=node.text("name"),
        unit=node.text("unit"),
        low=node.number("low"),
        high=node.number("high"),
        shape=built(node.at("shape"), shape_of, what=node.record("shape")),
        labels=node.texts("labels"),
        centres=node.numbers("centres"),
        widths=node.numbers("widths"),
    )


def _read_rule(value: object, place: str) -> Rule:
    node = Node(value, place, _RULE)
    return built(
        place,
        Rule,
        terms=node.integers("terms"),
        gains=node.numbers("gains"),
        slopes=node.rows("slopes"),
        firing=node.number("firing"),
        rank=node.integer("rank"),
        confidence=node.number("confidence"),
        on=node.flag("on"),
    )


def built(place: str, make: Callable[..., Any], **parts: Any) -> Any:
    """`make` of the parts; what it refuses becomes a complaint about the place."""
    try:
        return make(**parts)
    except KnowledgeBaseError:
        raise
    except (TypeError, ValueError) as error:
        raise KnowledgeBaseError(
            f"{place}: {error}; the file is damaged or was changed by hand: take an intact copy or correct this entry"
        ) from error
