"""The JSON Schema of `report.json`, made from the records that it holds and what their docstrings say of each field.

python -m experiments.report.report_schema > docs/reference/report.schema.json
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from experiments.report.files import SCHEMA, VERSION
from experiments.report.plain_data import stored_fields
from experiments.report.records.report_data import ReportData

_NUMBER: dict[str, Any] = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    float: {"$ref": "#/$defs/Number"},
    np.ndarray: {"$ref": "#/$defs/Array"},
}
_SHARED: dict[str, dict[str, Any]] = {
    "Number": _NUMBER | {"description": "a number; what is not finite is a word"},
    "Array": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Number"}, {"$ref": "#/$defs/Array"}]}},
}
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : .*$")


def schema() -> dict[str, Any]:
    """Return the schema, with a definition for each record."""
    records: dict[str, dict[str, Any]] = dict(_SHARED)
    whole = {"schema": {"const": SCHEMA}, "version": {"const": VERSION}, "report": _of(ReportData, records)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json of a design",
        "type": "object",
        "properties": whole,
        "required": list(whole),
        "additionalProperties": False,
        "$defs": dict(sorted(records.items())),
    }


def _of(kind: Any, records: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The schema of a kind of value; records are defined once, by their names."""
    given, origin = get_args(kind), get_origin(kind)
    if origin in {Union, UnionType}:
        return {"anyOf": [_of(one, records) for one in given]}
    if origin is Literal:
        return {"enum": list(given)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of(given[1], records)}
    if origin is tuple and given[1:] == (Ellipsis,):
        return {"type": "array", "items": _of(given[0], records)}
    if origin is tuple:
        places = [_of(one, records) for one in given]
        return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places)}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        if kind.__name__ not in records:
            records[kind.__name__] = {}  # a record may hold others of its own kind
            records[kind.__name__] = _record(kind, records)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    return dict(_PLAIN[kind])


def _record(kind: Any, records: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Fields that have their default may be left out."""
    told, kinds = described(kind), stored_fields(kind)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.name in kinds}
    needed = [n for n, f in fields.items() if f.default is f.default_factory is dataclasses.MISSING]
    notes = {name: {"description": text} for name, text in told.items()}
    return {
        "description": (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " "),
        "type": "object",
        "properties": {name: _of(one, records) | notes.get(name, {}) for name, one in kinds.items()},
        "required": needed,
        "additionalProperties": False,
    }


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


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False))
