"""The settings of a command as Markdown, from the schema that lists them for `--help` and checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from configs.rules import settings, type_words
from configs.store import SCHEMAS

if TYPE_CHECKING:
    from configs.rules import Setting


def _row(leaf: Setting) -> str:
    """Return a setting as a row of a table."""
    numbers = leaf.rule.range() if type_words(leaf.type).startswith(("a number", "a whole")) else ""
    words = " or ".join(f"`{choice}`" for choice in leaf.rule.choices)
    default = "`null`" if leaf.default is None else f"`{leaf.default}`" if leaf.default != {} else ""
    cells = (f"`{leaf.key}`", leaf.rule.text, leaf.rule.unit, default, words or numbers.removesuffix("a number"))
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n"


def table_of_settings(command: str) -> str:
    """Return a table for each part of a command's configuration, advanced settings included."""
    parts: dict[str, list[str]] = {}
    for leaf in settings(SCHEMAS[command]):
        parts.setdefault(leaf.key.rpartition(".")[0], []).append(_row(leaf))
    head = "| setting | what it does | unit | default | range |\n|---|---|---|---|---|\n"
    return "\n".join(f"### {part or 'of the command'}\n\n{head}{''.join(rows)}" for part, rows in parts.items())
