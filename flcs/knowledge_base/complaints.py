"""Checked reading of documents: every complaint names the place, what was expected and what came.

Also the error itself: what cannot be read, or does not belong to the plant.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence


class KnowledgeBaseError(ValueError):
    """A knowledge base that cannot be read, or does not belong to the plant."""


_ADVICE = "the file is damaged or was changed by hand; take an intact copy or correct this entry"


class Node:
    """A mapping of the document, with the way that leads to it.

    Parameters
    ----------
    value : object
    place : str
        Such as "channels[0].rules[3]".
    keys : sequence of str
        The keys it must have, and no others.
    """

    def __init__(self, value: object, place: str, keys: Sequence[str]) -> None:
        self.place = place
        if not isinstance(value, dict):
            complain(place, "a mapping", value)
        self.value: dict[str, Any] = value
        missing = [key for key in keys if key not in value]
        if missing:
            complain(place, f"the keys {', '.join(missing)}", value, came="a mapping without them")
        for key in value:
            if key not in keys:
                raise KnowledgeBaseError(f"{unknown(f'key of {place}', key, tuple(keys))}; {_ADVICE}")

    def at(self, key: str) -> str:
        """Return the place of an entry."""
        return f"{self.place}.{key}" if self.place else key

    def text(self, key: str) -> str:
        """Return an entry that is a text."""
        value = self.value[key]
        return value if isinstance(value, str) else complain(self.at(key), "a text", value)

    def flag(self, key: str) -> bool:
        """Return an entry that is true or false."""
        value = self.value[key]
        return value if isinstance(value, bool) else complain(self.at(key), "true or false", value)

    def integer(self, key: str) -> int:
        """Return an entry that is an integer."""
        return _integer(self.value[key], self.at(key))

    def number(self, key: str) -> float:
        """Return an entry that is a finite number."""
        return _number(self.value[key], self.at(key))

    def optional(self, key: str) -> float | None:
        """Return an entry that is a finite number or null."""
        return None if self.value[key] is None else self.number(key)

    def items(self, key: str) -> list[Any]:
        """Return an entry that is a list."""
        value = self.value[key]
        return value if isinstance(value, list) else complain(self.at(key), "a list", value)

    def numbers(self, key: str) -> tuple[float, ...]:
        """Return an entry that is a list of finite numbers."""
        return tuple(_number(item, f"{self.at(key)}[{n}]") for n, item in enumerate(self.items(key)))

    def rows(self, key: str) -> tuple[tuple[float, ...], ...]:
        """Return an entry that is a list of lists of finite numbers."""
        rows = []
        for n, row in enumerate(self.items(key)):
            place = f"{self.at(key)}[{n}]"
            given = row if isinstance(row, list) else complain(place, "a list of numbers", row)
            rows.append(tuple(_number(item, f"{place}[{m}]") for m, item in enumerate(given)))
        return tuple(rows)

    def integers(self, key: str) -> tuple[int, ...]:
        """Return an entry that is a list of integers."""
        return tuple(_integer(item, f"{self.at(key)}[{n}]") for n, item in enumerate(self.items(key)))

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an entry that is a list of texts."""
        for n, item in enumerate(self.items(key)):
            if not isinstance(item, str):
                complain(f"{self.at(key)}[{n}]", "a text", item)
        return tuple(self.items(key))

    def record(self, key: str) -> dict[str, Any]:
        """Return an entry that is a mapping of plain data."""
        value = self.value[key]
        return value if isinstance(value, dict) else complain(self.at(key), "a mapping", value)

    def records(self, key: str) -> list[dict[str, Any]]:
        """Return an entry that is a list of mappings."""
        for n, item in enumerate(self.items(key)):
            if not isinstance(item, dict):
                complain(f"{self.at(key)}[{n}]", "a mapping", item)
        return self.items(key)


def complain(place: str, expected: str, value: object, came: str = "") -> NoReturn:
    """Raise KnowledgeBaseError about an entry."""
    shown = came or f"{value!r:.60}"
    raise KnowledgeBaseError(f"{place or 'knowledge base'}: expected {expected}, got {shown}; {_ADVICE}")


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= sys.float_info.max:
        complain(place, "a finite number", value)
    return float(value)


def _integer(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        complain(place, "an integer", value)
    return value
