"""Tables that stand in the code: settings, as `--help` lists them, and findings, as `sscq lint --explain` does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from configs.rules import settings, type_words
from configs.store import SCHEMAS
from flcs.lint.findings import CODES

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


def table_of_findings() -> str:
    """Return what `sscq lint` may find: code, severity, meaning, advice."""
    rows = (
        f"| {one.name} | {one.severity} | **{one.title}.** {one.meaning} | {one.advice} |\n" for one in CODES.values()
    )
    return f"| code | is | what it means | what to do |\n|---|---|---|---|\n{''.join(rows)}"
