"""Tables at the terminal and in Markdown, and the words in their cells."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with its head ruled off: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = []
    for first, *others in (head, *rows):
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return "\n".join([lines[0], "-" * len(lines[0]), *(line.rstrip() for line in lines[1:])])


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False) -> list[str]:
    """Return a table as Markdown lines; a bar within a cell does not end it.

    Parameters
    ----------
    head : sequence of str
    rows : iterable of sequence of str
        Cells of each row, as many as in the head.
    numbers : bool
        Whether all columns but the first are set to the right.
    """
    rule = "|---" + ("|---:" if numbers else "|---") * (len(head) - 1) + "|"
    return [_markdown_row(head), rule, *map(_markdown_row, rows)]


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_BAR.sub(r"\\|", cell) for cell in cells) + " |"


_BAR = re.compile(r"(?<!\\)\|")  # one that is not escaped yet


def change(value: float, base: float, mark: str = "LOSS") -> str:
    """Return the relative change of what is minimised, in the base's magnitude; losses are marked, NaN is a dash."""
    if math.isnan(value):
        return "-"
    if base == 0.0:
        return "-" if value == 0.0 else mark
    relative = (value - base) / abs(base)
    return f"{100 * relative:+.1f} %" + loss(relative, mark)


def loss(relative: float, mark: str = "LOSS") -> str:
    """Return the mark, a space before it, of a relative change that is printed as more than 0.0 %; else nothing."""
    return f" {mark}" if float(f"{100 * relative:.1f}") > 0.0 else ""


def in_words(name: str) -> str:
    """Return a name as words: "ride comfort" for "ride_comfort"."""
    return name.replace("_", " ")


def number(value: float) -> str:
    """Return four digits; what there is not (NaN) is a dash."""
    return "-" if math.isnan(value) else f"{value:.4g}"
