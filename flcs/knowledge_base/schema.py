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
from flcs.knowledge_base.complaints import KnowledgeBaseError, complain
from flcs.plain_data import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from msgspec import Struct

    from flcs.knowledge_base.structure import ChannelFields, InferenceFields, InputFields


FORMAT = "sscq knowledge base"
SCHEMAS = (1, 2, 3)
SCHEMA_OF_COMMON_TERMS = 3
_SETS = ("implication", "aggregation", "defuzzifier", "width", "points")
_DEFUZZIFIER = "weighted mean"
_CHANNEL = ("name", "gain_names", "low", "high", "reference", "integral_limit", "law")
_INPUT = ("name", "unit", "low", "high", "shape", "labels", "centres", "widths")
_RULE = ("terms", "gains", "slopes", "firing", "rank", "confidence", "on")


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
    inputs = [{**_named(variable, _INPUT), "shape": variable.shape.document()} for variable in base.inputs]
    return {**_named(base, _CHANNEL), "inputs": inputs, "rules": [_named(rule, _RULE) for rule in base.rules]}


def _named(thing: object, names: Sequence[str]) -> dict[str, Any]:
    """Attributes as plain data; a shape is left to the caller, at its place."""
    return {name: None if name == "shape" else plain(getattr(thing, name), name) for name in names}


def read_inference(fields: InferenceFields) -> Inference:
    """Return the form of inference that the fields give, or complain about them."""
    given = asdict_of(fields)
    form = type(fields).__struct_config__.tag
    if form is not None:
        given["form"] = form
    if form == "mamdani":
        sets = {key: given.pop(key) for key in _SETS}
        given["output"] = built("inference", OutputSets, **sets)
    else:
        del given["defuzzifier"]
    return built("inference", Inference, **given)


def read_channel(fields: ChannelFields, place: str) -> RuleBase:
    """Return the rule base that a channel's fields give; complaints name `place`, as in "channels[0]"."""
    inputs = tuple(_read_input(item, f"{place}.inputs[{n}]") for n, item in enumerate(fields.inputs))
    rules = tuple(built(f"{place}.rules[{n}]", Rule, **asdict_of(item)) for n, item in enumerate(fields.rules))
    return built(place, RuleBase, **{**asdict_of(fields), "inputs": inputs, "rules": rules})


def _read_input(fields: InputFields, place: str) -> Variable:
    shape = built(f"{place}.shape", shape_of, what=fields.shape)
    return built(place, Variable, **{**asdict_of(fields), "shape": shape})


def asdict_of(fields: Struct) -> dict[str, Any]:
    """Return the fields of a structure by name, as they are."""
    return {name: getattr(fields, name) for name in fields.__struct_fields__}


def built(place: str, make: Callable[..., Any], **parts: Any) -> Any:
    """`make` of the parts; what it refuses becomes a complaint about the place."""
    try:
        return make(**parts)
    except KnowledgeBaseError:
        raise
    except (OverflowError, TypeError, ValueError) as error:
        raise KnowledgeBaseError(
            f"{place}: {error}; the file is damaged or was changed by hand: take an intact copy or correct this entry"
        ) from error
