"""Controllers leave for where controllers run: one sampled machine, printers over it, a proof of each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``sscq export``."""
    from experiments.export import command

    command.main(arguments)
