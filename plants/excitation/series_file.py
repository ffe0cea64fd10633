"""Reading a recorded series from a CSV file; every error names the file and the line."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_series(path: Path, column: str | int, first: str = "times") -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Read (time [s], values) from a CSV file with an optional header line; `first` is what the first column holds.

    Raises
    ------
    ValueError
        Naming the file, the line and what was read, where a cell is missing, not a number, or not finite, or where a
        time does not increase; also where there is no series.
    """
    rows = _rows(path)
    header: list[str] = []
    if rows and _is_header(rows[0][1]):
        header = [cell.strip() for cell in rows.pop(0)[1]]
    place = _place(path, header, column)
    time: list[float] = []
    values: list[float] = []
    for number, row in rows:
        t, value = _numbers(f"{path}, line {number}: {row}", row, place)
        if time and t <= time[-1]:
            before = f"{time[-1]:g} s" if first == "times" else f"{time[-1]:g}"
            message = f"{path}, line {number}: {row}: the {first} must increase, but the line before is at {before}"
            raise ValueError(message)
        time.append(t)
        values.append(value)
    if not time:
        line = "time [s] and value" if first == "times" else f"{first} and what belongs to them"
        message = f"{path} holds no series: expected lines of {line}"
        raise ValueError(message)
    return tuple(time), tuple(values)


def _place(path: Path, header: list[str], column: str | int) -> int:
    """Number of the column of values."""
    if isinstance(column, int):
        return column
    if column not in header:
        message = f"{path}: no column {column!r}; its header is {header or 'missing'}"
        raise ValueError(message)
    return header.index(column)


def _numbers(line: str, row: list[str], place: int) -> tuple[float, float]:
    """Time [s] and value of a row; errors begin with `line`."""
    try:
        pair = float(row[0]), float(row[place])
    except (ValueError, IndexError):
        message = f"{line}, expected numbers in columns 0 and {place}"
        raise ValueError(message) from None
    if not all(map(math.isfinite, pair)):
        message = f"{line}: a recorded series must be finite; mend or cut the data"
        raise ValueError(message)
    return pair


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Line numbers and cells of a CSV file, without empty lines and comments (#)."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            return [(reader.line_num, row) for row in reader if row and not row[0].lstrip().startswith("#")]
    except (UnicodeDecodeError, csv.Error) as error:
        message = f"{path} is no CSV text: {error}"
        raise ValueError(message) from error


def _is_header(row: list[str]) -> bool:
    """Whether a first row names its columns; one whose first cell is empty only if none of its cells is a number."""
    return not _is_number(row[0]) and (bool(row[0].strip()) or not any(map(_is_number, row)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
