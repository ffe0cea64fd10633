"""What every declaring file says of itself: when, by which rule, what had happened before, and its hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Declared:
    """A declaration.

    Attributes
    ----------
    declared : str
        Date.
    rule : str
        How what is declared was chosen.
    history : tuple of str
        What happened before.
    digest : str
        SHA-256 of the declaring file.
    """

    declared: str
    rule: str
    history: tuple[str, ...]
    digest: str

    def told(self, head: Sequence[str]) -> list[str]:
        """Return the declaration as Markdown lines below a head."""
        return [*head, "", f"> {self.rule}", "", *(f"- {entry}" for entry in self.history), ""]
