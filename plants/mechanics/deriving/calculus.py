"""What a way to derive must offer: two of them give the same blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.trace import Program


class Calculus(Protocol):
    """Numbers with + - * / that can be differentiated, and landed as a program."""

    def symbol(self, name: str) -> Any:
        """Return the symbol called `name` on the declaration's tape."""

    def lift(self, values: Sequence[Any]) -> list[Any]:
        """Return declared expressions as numbers of this calculus."""

    def gradient(self, value: Any, symbols: Sequence[Any]) -> list[Any]:
        """Return d value / d symbols."""

    def along(self, values: Sequence[Any], symbols: Sequence[Any], directions: Sequence[Any]) -> list[Any]:
        """Return sum_j d values / d symbols[j] * directions[j]."""

    def replace(self, values: Sequence[Any], symbols: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Return `values` with `numbers` in place of `symbols`."""

    def short(self, value: Any) -> Any:
        """Return `value` in its shortest form."""

    def land(self, values: Sequence[Any], inputs: Sequence[str]) -> Program:
        """Return the program that gives `values` from `inputs`."""
