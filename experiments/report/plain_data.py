"""Records as plain data and back: what a record is made of is read from its annotations.

Numbers that are not finite are the words "nan", "inf" and "-inf". Reading builds the record that was asked for and
nothing else; what does not fit is said with the place at which it was found.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping
from functools import cache
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Record = TypeVar("Record")


def plain(value: Any) -> Any:
    """Return a value of records, tuples, mappings, arrays, numbers and words as what JSON can hold.

    Fields that have their default are left out, and those that other files hold.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(field, getattr(value, field.name)) for field in _stored(value)]
        return {field.name: plain(item) for field, item in pairs if item is not field.default}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return [plain(item) for item in value]


def record(kind: type[Record], value: Any, place: str = "it") -> Record:
    """Return the record of class `kind` that plain data describe.

    Raises
    ------
    ValueError
        If they do not: what was expected, and what came, where (`place` is what the whole is called).
    """
    found: Record = _read(kind, value, place)
    return found


def _read(kind: Any, value: Any, place: str) -> Any:
    given = get_args(kind)
    if get_origin(kind) in {Union, UnionType}:
        return _one_of(given, value, place)
    if get_origin(kind) is Literal:
        return _expected(value in given, value, value, " or ".join(map(repr, given)), place)
    if get_origin(kind) is tuple:
        return _tuple(given, value, place)
    if get_origin(kind) is Mapping:
        _expected(isinstance(value, dict), value, value, "an object", place)
        return {key: _read(given[1], item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record(kind, value, place)
    if kind is np.ndarray:
        return _array(value, place)
    if kind is float:
        return _number(value, place)
    known = type(value) is kind
    return _expected(known, value, value, {str: "words", int: "a whole number", bool: "true or false"}[kind], place)


def _one_of(kinds: tuple[Any, ...], value: Any, place: str) -> Any:
    """One of several kinds; two records are told apart by the names of their fields."""
    if value is None and NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    if isinstance(value, dict):
        records = [kind for kind in others if dataclasses.is_dataclass(kind)]
        same = [kind for kind in records if set(value) <= set(stored_fields(kind))]  # type: ignore[arg-type]
        others = same or records or others
    else:
        others = [kind for kind in others if not dataclasses.is_dataclass(kind)] or others
    return _read(others[0], value, place)


def _tuple(kinds: tuple[Any, ...], value: Any, place: str) -> tuple[Any, ...]:
    _expected(isinstance(value, list), value, value, "a list", place)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    _expected(len(value) == len(kinds), value, value, f"{len(kinds)} values", place)
    return tuple(_read(kind, item, f"{place}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _record(kind: Any, value: Any, place: str) -> Any:
    _expected(isinstance(value, dict), value, value, "an object", place)
    known = stored_fields(kind)
    foreign = sorted(set(value) - set(known))
    _expected(not foreign, value, foreign, f"the fields {', '.join(known)}", place)
    needed = [f.name for f in _stored(kind) if f.default is f.default_factory is dataclasses.MISSING]
    missing = [name for name in needed if name not in value]
    _expected(not missing, value, sorted(value), f"{missing and missing[0]!r} among its fields", place)
    return kind(**{name: _read(known[name], item, f"{place}.{name}") for name, item in value.items()})


@cache
def stored_fields(kind: Any) -> dict[str, Any]:
    """Return the stored fields of a record with their kinds, names of kinds resolved."""
    annotated = SimpleNamespace(__annotations__={field.name: field.type for field in _stored(kind)})
    return get_type_hints(annotated, {"Mapping": Mapping, **vars(sys.modules[kind.__module__])})


def _stored(kind: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if not field.metadata.get("file")]


def _array(value: Any, place: str) -> np.ndarray:
    _expected(isinstance(value, list), value, value, "a list", place)
    try:
        return np.array(value, dtype=float)  # which reads "nan" and "inf", too
    except (TypeError, ValueError):
        raise ValueError(f"{place} must be an array of numbers") from None


def _number(value: Any, place: str) -> float:
    known = type(value) in {int, float} or value in ("nan", "inf", "-inf")
    return float(_expected(known, value, value, "a number", place))


def _expected(good: bool, value: Any, came: Any, what: str, place: str) -> Any:
    if good:
        return value
    text = repr(came)
    raise ValueError(f"{place} must be {what}, got {text if len(text) < 60 else f'{text[:57]}...'}")
