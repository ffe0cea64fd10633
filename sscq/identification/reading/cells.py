"""Cells to numbers and to seconds; what is no number is counted by what it says."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from plants.core.reading.files import FileError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sscq.identification.reading.table import LogTable

    Array = NDArray[np.float64]

AUTOMATIC = frozenset({"auto", "automatic", "aut", "a", "1", "1.0", "true", "on", "cas", "cascade", "remote"})
MANUAL = frozenset({"man", "manual", "m", "0", "0.0", "false", "off", "hand"})

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_LONGEST_WORD = 20  # of what is told of a cell that is no number
_WITH_POINTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})[ T](.*)")


def numbers(cells: Sequence[str], *, decimal_comma: bool) -> tuple[Array, Counter[str]]:
    """Return the numbers of cells [n], NaN where there is none, and how often which word stood there instead."""
    found, words = np.full(len(cells), np.nan), Counter[str]()
    for k, cell in enumerate(cells):
        text = cell.replace(",", ".") if decimal_comma else cell
        if _NUMBER.fullmatch(text):
            value = float(text)
            if math.isfinite(value):
                found[k] = value
                continue
        words[_word(cell)] += 1
    return found, words


def _word(cell: str) -> str:
    if not cell:
        return "empty"
    printable = "".join(c if c.isprintable() else "?" for c in cell)
    return printable if len(printable) <= _LONGEST_WORD else f"{printable[:_LONGEST_WORD]}..."


def seconds(table: LogTable) -> Array:
    """Return the times of a log's rows from the first one [n] [s]: given in seconds, or as time stamps.

    Raises
    ------
    FileError
        If a cell is neither, or some have a time zone and others not.
    """
    cells = table.columns["time"]
    plain, words = numbers(cells, decimal_comma=table.decimal_comma)
    if not words:
        return plain - plain[0]
    if len(words) < len(cells) and np.isfinite(plain[0]):
        bad = int(np.argmin(np.isfinite(plain)))
        raise FileError(f"{table.name}, line {table.lines[bad]}: {cells[bad]!r} is no time in seconds")
    stamps = [_stamp(table, k) for k in range(len(cells))]
    zoned = [stamp.tzinfo is not None for stamp in stamps]
    if any(zoned) and not all(zoned):
        bad = zoned.index(not zoned[0])
        raise FileError(
            f"{table.name}, line {table.lines[bad]}: time stamps with and without a time zone ({cells[0]!r} and "
            f"{cells[bad]!r}) cannot be told apart; write all in one way"
        )
    return np.array([(stamp - stamps[0]).total_seconds() for stamp in stamps])


def _stamp(table: LogTable, k: int) -> dt.datetime:
    cell = table.columns["time"][k]
    text = cell.replace(",", ".")
    points = _WITH_POINTS.fullmatch(text)
    if points:  # dates with points have the day first; with strokes either may be first, so they are refused
        day, month, year, rest = points.groups()
        text = f"{year}-{month:0>2}-{day:0>2} {rest}"
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        raise FileError(
            f"{table.name}, line {table.lines[k]}: {cell!r} is no time: expected seconds, or a time stamp like "
            "2026-11-03 14:05:00"
        ) from None


def modes(table: LogTable) -> NDArray[np.bool_]:
    """Return whether the loop was in automatic or cascade in each row [n]; an empty cell keeps the one before.

    Raises
    ------
    FileError
        If a cell is no mode.
    """
    cells, now = table.columns["mode"], False
    found = np.empty(len(cells), bool)
    for k, cell in enumerate(cells):
        word = cell.lower()
        if word in AUTOMATIC or word in MANUAL:
            now = word in AUTOMATIC
        elif word:
            raise FileError(
                f"{table.name}, line {table.lines[k]}: {_word(cell)!r} is no mode: expected auto, manual, cascade, 1 "
                "or 0"
            )
        found[k] = now
    return found
