"""Parts of a configuration: dataclasses whose settings are those of the classes that use them.

Type, default, text, unit, range and what several settings must satisfy together are read from there; a part adds what
only the command line has. :func:`built` goes the way back, from a part to the object.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from controllers.settings import SettingRule

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Taken:
    """Placeholder of a setting in the body of a part, see :func:`of`."""

    source: type
    name: str
    changes: dict[str, Any]

    def field(self, name: str) -> Any:
        """Return the dataclass field of a part in which the setting has this name."""
        own = self.name or name
        found = _fields(self.source)[own]
        changes = dict(self.changes)
        default = changes.pop("default", _default(found))
        rule: SettingRule = dataclasses.replace(found.metadata["rule"], **changes)
        metadata = {"rule": rule, "of": (self.source, own)}
        if isinstance(default, list | dict | tuple):
            return dataclasses.field(default_factory=lambda: _plain(default), metadata=metadata)
        return dataclasses.field(default=default, metadata=metadata)


def of(source: type, name: str = "", **changes: Any) -> Any:
    """Return a setting of another class: what is given changes its default or its rule, the annotation its type.

    Parameters
    ----------
    source : type
        The class whose field has the rule.
    name : str
        Of the field there; left out, the same as in the part.
    **changes
        ``default``, or fields of :class:`controllers.settings.SettingRule`.
    """
    return Taken(source, name, changes)


class SettingsPart:
    """Base of parts: their settings are fields that a type checker does not see."""

    if TYPE_CHECKING:

        def __init__(self, **settings: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...


def part(*sources: type, order: str = "") -> Callable[[type[T]], type[T]]:
    """Return a decorator that makes a class a dataclass of the settings of `sources`, and of its own.

    Parameters
    ----------
    sources : type
        Dataclasses with settings; where two have one of the same name, the first counts.
    order : str
        Names of the settings to be taken and their order, those of the part itself among them; own ones that are not
        named follow. Empty: all of the sources.
    """

    def decorated(cls: type[T]) -> type[T]:
        own = dict(inspect.get_annotations(cls))
        known = {name: source for source in reversed(sources) for name in _fields(source)}
        for name in order.split() or known:
            if name not in own:
                setattr(cls, name, Taken(known[name], "", {}))
        names = list(dict.fromkeys([*(order.split() or known), *own]))
        cls.__annotations__ = {name: own.get(name) or _type(known[name], name) for name in names}
        for name in names:
            if isinstance(getattr(cls, name, None), Taken):
                setattr(cls, name, getattr(cls, name).field(name))
        _join_complaints(cls, sources)
        return dataclasses.dataclass(cls)

    return decorated


def built(cls: type[T], given: Any, **more: Any) -> T:
    """Return an object with the settings that a part takes from its class, and with what is given beside them."""
    values = {}
    for field in dataclasses.fields(given):
        source, name = field.metadata.get("of", (None, ""))
        if source is cls:
            values[name] = _frozen(getattr(given, field.name))
    return cls(**{**values, **more})


def _join_complaints(cls: Any, sources: tuple[Any, ...]) -> None:
    """A part complains of what its classes complain of, then of what only it knows."""
    several = [source.complaints for source in sources if hasattr(source, "complaints")]
    several += [cls.complaints] if hasattr(cls, "complaints") else []

    def complaints(self: Any) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        for one in several:
            yield from one(self)

    cls.complaints = complaints


def _fields(source: type) -> dict[str, dataclasses.Field[Any]]:
    """Return the fields of a class that are declared as settings, by name."""
    return {field.name: field for field in dataclasses.fields(source) if "rule" in field.metadata}


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _type(source: type, name: str) -> Any:
    """Return the type of a setting as a configuration has it: lists for tuples, dicts for mappings.

    Where a number or a mapping of names to numbers is possible, it has the number.
    """
    place = next(cls for cls in source.__mro__ if name in inspect.get_annotations(cls))
    scope = {**vars(collections.abc), **vars(sys.modules[place.__module__])}
    return _open(eval(place.__annotations__[name], scope))  # noqa: S307  (an annotation of our own)


def _open(hint: Any) -> Any:
    origin, words = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        bare = [word for word in words if typing.get_origin(word) is not collections.abc.Mapping]
        return typing.Union[tuple(_open(word) for word in bare)]  # noqa: UP007  (made from parts)
    if origin is tuple:
        return list[_open(words[0])]  # type: ignore[misc]  # made from parts
    if origin is collections.abc.Mapping:
        return dict[str, _open(words[1])]  # type: ignore[misc]  # made from parts
    return hint


def _plain(value: Any) -> Any:
    """Lists for tuples, dicts for mappings, each a copy."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _frozen(value: Any) -> Any:
    """Tuples for lists."""
    if isinstance(value, Mapping):
        return {name: _frozen(item) for name, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
