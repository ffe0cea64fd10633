"""The error of what cannot be read: its place, what was expected, what came and what to do."""

from __future__ import annotations

from typing import NoReturn


class KnowledgeBaseError(ValueError):
    """A knowledge base that cannot be read, or does not belong to the plant."""


ADVICE = "the file is damaged or was changed by hand; take an intact copy or correct this entry"


def complain(place: str, expected: str, value: object, came: str = "") -> NoReturn:
    """Raise KnowledgeBaseError about an entry."""
    shown = came or f"{value!r:.60}"
    raise KnowledgeBaseError(f"{place or 'knowledge base'}: expected {expected}, got {shown}; {ADVICE}")
