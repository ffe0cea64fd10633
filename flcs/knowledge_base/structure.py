"""What the files of a knowledge base hold: their fields as types, checked by msgspec, and published as a JSON Schema.

Imported where a file is read, not with the package: msgspec is a library that only readers need. It finds what does not
fit; the sentence about it is made here, with the place, what was expected and what came.
"""

from __future__ import annotations

import json
import re
import sys
from types import UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from flcs.knowledge_base.complaints import ADVICE, KnowledgeBaseError, complain
from plants.core.names import unknown

Number = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Numbers = tuple[Number, ...]
Record = dict[str, Any]


class InferenceFields(Struct, forbid_unknown_fields=True):
    """How firing strengths become gains, the same for all channels."""

    t_norm: Annotated[str, Meta(description="conjunction of a rule's terms: product or minimum")]
    order: Annotated[int, Meta(description="0: constant gains; 1: gains linear in the inputs")]
    fallback: Annotated[Number, Meta(description="sum of firing strengths below which the reference gains take over")]
    fade: Annotated[Number, Meta(description="way back to the reference gains outside the taught ranges, in ranges")]
    authority: Annotated[Number, Meta(description="share of the way from the reference gains to the scheduled ones")]


class InferenceOfSchema1(InferenceFields, kw_only=True):
    """Sugeno's form, which schema 1 does not name."""

    defuzzifier: Literal["weighted mean"]


class Sugeno(InferenceFields, tag_field="form", tag="sugeno", kw_only=True):
    """A rule says a number for each gain."""

    defuzzifier: Literal["weighted mean"]


class Tsukamoto(InferenceFields, tag_field="form", tag="tsukamoto", kw_only=True):
    """A rule says a set that rises from the reference gain to its own."""

    defuzzifier: Literal["weighted mean"]


class Mamdani(InferenceFields, tag_field="form", tag="mamdani", kw_only=True):
    """A rule says a fuzzy set around each gain."""

    defuzzifier: str
    implication: str
    aggregation: str
    width: Annotated[Number, Meta(description="half the base of a set, in shares of the gain's box")]
    points: Annotated[int, Meta(description="places at which sets are added up")]


class InputFields(Struct, forbid_unknown_fields=True):
    """A linguistic variable: one input with its terms."""

    name: Annotated[str, Meta(description="e, e_rate, z or an output of the plant")]
    unit: str
    low: Annotated[Number, Meta(description="lower end of the taught range")]
    high: Annotated[Number, Meta(description="upper end of the taught range")]
    shape: Annotated[Record, Meta(description="name of the terms' shape, and its parameters")]
    labels: tuple[str, ...]
    centres: Annotated[Numbers, Meta(description="one for each label, rising")]
    widths: Numbers


class RuleFields(Struct, forbid_unknown_fields=True):
    """IF every input is its term THEN the gains are these."""

    terms: Annotated[tuple[int, ...], Meta(description="for each input the number of its term, from 0")]
    gains: Numbers
    slopes: Annotated[tuple[Numbers, ...], Meta(description="of order 1: for each gain a slope for each input")]
    firing: Number
    rank: int
    confidence: Number
    on: bool


class ChannelFields(Struct, forbid_unknown_fields=True):
    """The rule base of one control channel."""

    name: str
    gain_names: tuple[str, ...]
    low: Annotated[Numbers, Meta(description="lower ends of the gains' box")]
    high: Annotated[Numbers, Meta(description="upper ends of the gains' box")]
    reference: Annotated[Numbers, Meta(description="gains where no rule fires")]
    integral_limit: Number | None
    law: Annotated[Record, Meta(description="the PID law and its settings")]
    inputs: tuple[InputFields, ...]
    rules: tuple[RuleFields, ...]


class DocumentFields(Struct, forbid_unknown_fields=True):
    """A knowledge base (rule-based gain schedule)."""

    format: Literal["sscq knowledge base"]
    plant: Annotated[str, Meta(description="name of the plant it was designed for")]
    plant_parameters: Record
    tick: Annotated[Number | None, Meta(description="time between two updates of the gains [s]; null: every sample")]
    slew: Annotated[Number | None, Meta(description="largest rate of a gain, in shares of its box per second")]
    channels: tuple[ChannelFields, ...]
    fitness: Record
    taught: list[Record]
    validation: list[Record]
    valid_range: Record
    stability: Record
    training: Record
    hash: Annotated[Any, Meta(description="SHA-256 of everything else; a changed file is read with edited=True")]


class DocumentOfSchema1(DocumentFields, tag_field="schema", tag=1, kw_only=True):
    """A knowledge base of Sugeno's form."""

    inference: InferenceOfSchema1


class DocumentOfSchema2(DocumentFields, tag_field="schema", tag=2, kw_only=True):
    """A knowledge base that names its form of inference."""

    inference: Sugeno | Tsukamoto | Mamdani


class DocumentOfSchema3(DocumentFields, tag_field="schema", tag=3, kw_only=True):
    """A knowledge base whose channels have common terms."""

    inference: Sugeno | Tsukamoto | Mamdani


Document = DocumentOfSchema1 | DocumentOfSchema2 | DocumentOfSchema3
DOCUMENTS: dict[int, type[Document]] = {1: DocumentOfSchema1, 2: DocumentOfSchema2, 3: DocumentOfSchema3}


class AxisFields(Struct, forbid_unknown_fields=True):
    """One input of a look-up table."""

    name: str
    unit: str
    low: Number
    high: Number
    points: int


class TableFields(Struct, forbid_unknown_fields=True):
    """The header of a look-up table's file."""

    format: str
    schema: int
    channel: str
    inputs: tuple[AxisFields, ...]
    gain_names: tuple[str, ...]
    low: Numbers
    high: Numbers
    reference: Numbers
    fade: Number
    error: Number
    source: str
    hash: str = ""


Fields = TypeVar("Fields", bound=Struct)


def checked(value: object, kind: type[Fields], place: str = "") -> Fields:
    """Return plain data as a structure of this kind.

    Parameters
    ----------
    value : object
        As JSON gives it.
    kind : type
    place : str
        What the data is, for the sentence; entries of a document need none.

    Raises
    ------
    KnowledgeBaseError
        With the place, what was expected, what came and what to do.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        _complain(value, kind, place, str(error))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a knowledge base's file, for editors and other programs."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "sscq knowledge base"}
    return {**head, **msgspec.json.schema(Document)}


def _complain(value: Any, kind: Any, place: str, message: str) -> NoReturn:
    """Raise the sentence about what msgspec complains of: it says where, the types say what was expected there."""
    _, _, way = message.rpartition(" - at `$")
    if "[...]" in way:  # within a mapping of names that are not known here
        raise KnowledgeBaseError(f"{place or 'the document'}: {message}; {ADVICE}")
    for name, number in re.findall(r"\.(\w+)|\[(\d+)\]", way):
        if name and not (isinstance(value, dict) and name in value):
            break  # a key of other signs than a field's
        if name:
            place = f"{place}.{name}" if place else name
            struct = _chosen(kind, value)
            hints = {} if struct is None else get_type_hints(struct, include_extras=True)
            kind = hints.get(name) or Literal[tuple(each.__struct_config__.tag for each in get_args(kind))]
            value = value[name]
        else:
            place, kind, value = f"{place}[{number}]", get_args(_plain(kind))[0], value[int(number)]
    struct = _chosen(kind, value)
    if isinstance(value, dict) and struct is not None:
        known = struct.__struct_fields__
        tagged = (struct.__struct_config__.tag_field,) if struct.__struct_config__.tag_field else ()
        missing = [key for key in (*known, *tagged) if key not in value]
        if missing:
            complain(place, f"the keys {', '.join(missing)}", value, came="a mapping without them")
        for key in value:
            if key not in (*known, *tagged):
                raise KnowledgeBaseError(f"{unknown(f'key of {place}', key, known)}; {ADVICE}")
    complain(place, _wanted(kind), value)


_UNIONS = {Union, UnionType}


def _plain(kind: Any) -> Any:
    """The type without its description and without the null that it may be."""
    while get_origin(kind) is Annotated or (get_origin(kind) in _UNIONS and type(None) in get_args(kind)):
        kind = get_args(kind)[0]
    return kind


def _chosen(kind: Any, value: Any) -> type[Struct] | None:
    """The structure that a value should have, of several the one that its tag names, else the first; else None."""
    kind = _plain(kind)
    if get_origin(kind) in _UNIONS:
        several = get_args(kind)
        fits = (each for each in several if isinstance(value, dict) and value.get("form") == each.__struct_config__.tag)
        return next(fits, several[0])
    return kind if isinstance(kind, type) and issubclass(kind, Struct) else None


_WORDS = {str: "a text", float: "a finite number", int: "an integer", bool: "true or false"}
_LISTS = {str: "a list of texts", float: "a list of numbers", int: "a list of integers"}


def _wanted(kind: Any) -> str:
    kind = _plain(kind)
    if get_origin(kind) is Literal:
        *others, last = map(repr, get_args(kind))
        return f"{', '.join(others)} or {last}" if others else last
    if get_origin(kind) in {tuple, list}:
        return _LISTS.get(_plain(get_args(kind)[0]), "a list")
    return _WORDS.get(kind, "a mapping")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=1) + "\n")
