"""The settings of a whole configuration: listed for ``--help``, checked before anything runs.

OmegaConf checks the types while a configuration is composed; ranges, choices and what two settings must satisfy
together are checked here, once, on the finished dataclass.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from controllers.settings import SettingRule, places
from plants.core.names import did_you_mean


def interval_complaints(name: str, value: list[float] | None) -> Iterator[str]:
    """Yield what is wrong with an interval [low, high]; None is none."""
    if value is not None and (len(value) != 2 or not value[0] < value[1]):
        yield f"{name} must be [low, high] with low < high, got {value}"


@dataclass(frozen=True)
class Setting:
    """One leaf of a schema: dotted key, type, default and rule."""

    key: str
    type: Any
    default: Any
    rule: SettingRule


def settings(schema: type, prefix: str = "") -> Iterator[Setting]:
    """Yield all leaves of a schema in order; what lies below a list or a dict of dataclasses is not a leaf."""
    hints = typing.get_type_hints(schema)
    for field in dataclasses.fields(schema):
        key = f"{prefix}{field.name}"
        if dataclasses.is_dataclass(hints[field.name]):
            yield from settings(hints[field.name], f"{key}.")
        else:
            yield Setting(key, hints[field.name], _default(field), field.metadata.get("rule", SettingRule("")))


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def session_keys(schema: type) -> tuple[str, ...]:
    """Return the keys of the settings that concern one session only."""
    return tuple(leaf.key for leaf in settings(schema) if leaf.rule.session)


def check(config: Any) -> None:
    """Check a finished configuration against its rules.

    A dataclass may add ``complaints(self)``, which yields what two of its settings must satisfy together.

    Raises
    ------
    ValueError
        With one line for each setting that is out of its range.
    """
    complaints = [f"{key} {rule.complaint(value)}" for key, value, rule in _values(config, "") if rule.complaint(value)]
    for prefix, part in _parts(config, ""):
        names = [field.name for field in dataclasses.fields(part)]
        complaints += [
            f"no setting {prefix}{name}{did_you_mean(name, names)}" for name in vars(part).keys() - set(names)
        ]
        if hasattr(part, "complaints"):
            complaints += [f"{prefix}{complaint}" for complaint in part.complaints()]
    if complaints:
        raise ValueError("\n".join(complaints))


def files(config: Any) -> list[str]:
    """Return the user's files that a configuration names, in order, each once."""
    return list(dict.fromkeys(value for _, value, rule in _values(config, "") if rule.file and value is not None))


def _values(value: Any, key: str, rule: SettingRule = SettingRule("")) -> Iterator[tuple[str, Any, SettingRule]]:
    """Yield dotted key, value and rule of every number and word of a configuration."""
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            place = f"{key}.{field.name}" if key else field.name
            yield from _values(getattr(value, field.name), place, field.metadata.get("rule", SettingRule("")))
    else:
        for place, item in places(value, key):
            if dataclasses.is_dataclass(item):
                yield from _values(item, place)
            else:
                yield place, item, rule


def _parts(value: Any, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the prefix of its keys and the part itself, for every dataclass of a configuration."""
    if dataclasses.is_dataclass(value):
        yield (f"{key}." if key else ""), value
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name), f"{key}.{field.name}" if key else field.name)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _parts(item, f"{key}.{name}")


def type_words(hint: Any) -> str:
    """Return a type of the schema in words: "a number", "a whole number or null", "a list", ..."""
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        words = [type_words(part) for part in typing.get_args(hint) if part is not type(None)]
        return " or ".join([*words, "null"] if type(None) in typing.get_args(hint) else words)
    simple = {float: "a number", int: "a whole number", bool: "true or false", str: "a word"}
    if hint is Any:  # what OmegaConf has no type for; the part itself checks it
        return "a list [a, b], a mapping {name: value} or null"
    containers = {list: "a list [a, b]", dict: "a mapping {name: value}", tuple: "a list [a, b]"}
    return simple.get(hint) or containers.get(origin or hint) or "a part of its own"
