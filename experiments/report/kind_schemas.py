"""JSON Schemas of kinds of values, read from annotations, and of records with what their docstrings say of fields."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from experiments.report.plain_data import stored_fields

DRAFT = "https://json-schema.org/draft/2020-12/schema"
WORDS: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}],
    "description": "a number; what is not finite is a word",
}
"""Numbers as `plain_data` writes them."""
NULL: dict[str, Any] = {"type": ["number", "null"], "description": "a number; null where it is not finite"}
"""Numbers as `experiments.runtime.formats` writes them."""

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    float: {"$ref": "#/$defs/Number"},
    np.ndarray: {"$ref": "#/$defs/Array"},
    Any: {},
}
_ARRAY: dict[str, Any] = {
    "type": "array",
    "items": {"anyOf": [{"$ref": "#/$defs/Number"}, {"$ref": "#/$defs/Array"}]},
}
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : .*$")


class KindSchemas:
    """Schemas of kinds; each record is defined once, by its name.

    Parameters
    ----------
    number : mapping
        Schema of a number: :data:`WORDS` or :data:`NULL`.
    """

    def __init__(self, number: Mapping[str, Any]) -> None:
        self._found: dict[str, dict[str, Any]] = {"Number": dict(number), "Array": _ARRAY}

    def document(self, title: str, whole: Mapping[str, Any]) -> dict[str, Any]:
        """Return a schema with all definitions that `whole`, made of them, refers to."""
        return {"$schema": DRAFT, "title": title, **whole, "$defs": dict(sorted(self._found.items()))}

    def of(self, kind: Any) -> dict[str, Any]:
        """Return the schema of a kind of value."""
        given, origin = get_args(kind), get_origin(kind)
        if origin in {Union, UnionType}:
            return {"anyOf": [self.of(one) for one in given]}
        if origin is Literal:
            return {"enum": list(given)}
        if origin is NotRequired:
            return self.of(given[0])
        if origin in {Mapping, dict}:
            return {"type": "object", "additionalProperties": self.of(given[1])}
        if origin in {tuple, list}:
            return self._sequence(given, fixed=origin is tuple and given[1:] != (Ellipsis,))
        if is_typeddict(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            if kind.__name__ not in self._found:
                self._found[kind.__name__] = {}  # a record may hold others of its own kind
                self._found[kind.__name__] = self.record(kind)
            return {"$ref": f"#/$defs/{kind.__name__}"}
        return dict(_PLAIN[kind])

    def record(self, kind: Any, fixed: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the schema of a record; what may be left out has its default, or need not be there.

        Parameters
        ----------
        kind : dataclass or TypedDict
        fixed : mapping, optional
            The only value that a field may have, by its name.
        """
        told, kinds = described(kind), _kinds(kind)
        only = {name: {"const": value} for name, value in (fixed or {}).items()}
        notes = {name: {"description": text} for name, text in told.items()}
        properties = {name: only.get(name) or self.of(one) | notes.get(name, {}) for name, one in kinds.items()}
        return {
            "description": (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " "),
            "type": "object",
            "properties": properties,
            "required": _needed(kind, kinds),
            "additionalProperties": False,
        }

    def _sequence(self, given: tuple[Any, ...], *, fixed: bool) -> dict[str, Any]:
        if not fixed:
            return {"type": "array", "items": self.of(given[0])}
        places = [self.of(one) for one in given]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}


def _kinds(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True) if is_typeddict(kind) else stored_fields(kind)


def _needed(kind: Any, kinds: Mapping[str, Any]) -> list[str]:
    if is_typeddict(kind):  # whose __required_keys__ do not see NotRequired in annotations that are words
        return [name for name, one in kinds.items() if get_origin(one) is not NotRequired]
    fields = [field for field in dataclasses.fields(kind) if field.name in kinds]
    return [field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING]


def described(kind: Any) -> dict[str, str]:
    """Return what a record's docstring says of its fields under "Attributes"."""
    _, _, text = (inspect.getdoc(kind) or "").partition("Attributes\n----------\n")
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        if entry:
            names = entry[1].split(", ")
            found |= {name: [line.partition(" : ")[2]] for name in names}
        elif line.startswith(" ") and names:
            for name in names:
                found[name].append(line.strip())
        elif line.strip():
            break  # the next part of the docstring
    return {name: text for name, parts in found.items() if (text := _sentence(parts[0], " ".join(parts[1:])))}


def _sentence(kind: str, text: str) -> str:
    """What is said of a field; of its kind what a schema cannot say, such as an array's shape."""
    return ": ".join(part for part in (kind if "[" in kind or "(" in kind else "", text) if part)
