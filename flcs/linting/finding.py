"""A finding: something that a reader of a knowledge base should look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flcs.linting.codes import CODES, SEVERITIES
from flcs.plain_data import plain

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Finding:
    """Something that a reader of a knowledge base should look at.

    Attributes
    ----------
    code : str
        See :data:`flcs.linting.codes.CODES`.
    message : str
        What was found, with names and numbers.
    channel : str
        Empty: it concerns the whole knowledge base.
    numbers : mapping
        The same as plain data: rules and terms by their numbers in the file, counted from 0.
    """

    code: str
    message: str
    channel: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "numbers", plain(self.numbers, f"numbers of {CODES[self.code].name}"))

    @property
    def severity(self) -> str:
        """How serious it is: "error", "warning" or "note"."""
        return CODES[self.code].severity

    @property
    def advice(self) -> str:
        """What to do."""
        return CODES[self.code].advice

    def document(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        named = {name: getattr(self, name) for name in ("code", "severity", "channel", "message", "advice")}
        return {**named, "numbers": dict(self.numbers)}

    def order(self) -> tuple[int, str]:
        """Return the key by which findings are sorted: errors first."""
        return SEVERITIES.index(self.severity), self.code
