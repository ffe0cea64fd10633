"""Text with columns: which sign parts them, what they are called, which of them a log needs.

Nothing in a cell is executed: one that begins like a formula is a text, and no number.
"""

from __future__ import annotations

import csv
import difflib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plants.core.reading import files
from plants.core.reading.files import FileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LARGEST = 256 * 2**20
"""Of a log [bytes]: some millions of rows."""

NAMES: dict[str, tuple[str, ...]] = {
    "time": ("time", "t", "timestamp", "date", "datetime", "time stamp"),
    "set_point": ("set_point", "setpoint", "set point", "sp", "r", "reference"),
    "measured": ("measured", "pv", "y", "process_value", "process value"),
    "output": ("output", "op", "out", "mv", "u", "co", "controller output"),
    "mode": ("mode", "auto"),
}
"""What columns are called, whatever their case; a unit in brackets behind the name does not matter."""

_OPTIONAL = ("mode",)
_SEPARATORS = (";", "\t", ",")
_LONGEST_LINE = 65_536


@dataclass(frozen=True)
class LogTable:
    """Cells of the columns that a log needs.

    Attributes
    ----------
    name : str
        Of the file.
    columns : mapping of "time", "set_point", "measured", "output", "mode" to list of str
        The mode is there if the file has one.
    lines : list of int
        Number of each row's line.
    titles : mapping
        What the columns are called in the file.
    decimal_comma : bool
    """

    name: str
    columns: Mapping[str, list[str]]
    lines: list[int]
    titles: Mapping[str, str]
    decimal_comma: bool


def read_table(path: str | Path, chosen: Mapping[str, str] | None = None) -> LogTable:
    """Read the columns of a log.

    Parameters
    ----------
    path : path
        Of a text in UTF-8 (or, failing that, in Latin-1) whose first line names the columns, parted by comma, semicolon
        or tab. With semicolons a comma may be the decimal sign.
    chosen : mapping, optional
        From "time", "set_point", "measured", "output", "mode" to the file's own names, where they are others.

    Raises
    ------
    FileError
        If it is no such text, or a column is missing or not to be told from another.
    OSError
        If it cannot be opened.
    """
    name = str(path)
    text = _text(files.read_bytes(path, LARGEST), name)
    first = text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    separator = max(_SEPARATORS, key=first.count)
    if first.count(separator) == 0:
        raise FileError(
            f"{name}: its first line has no comma, semicolon or tab, so it names no columns: expected a header like "
            "time,set_point,measured,output"
        )
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=separator)
    rows, lines = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise FileError(f"{name} is no table: {error} in line {reader.line_num}") from None
    header = [cell.strip() for cell in rows[0]]
    places = _places(name, header, dict(chosen or {}))
    if len(rows) < 2:
        raise FileError(f"{name} has a header and no rows")
    body = rows[1:]
    columns = {key: [row[k].strip() if k < len(row) else "" for row in body] for key, k in places.items()}
    titles = {key: header[k] for key, k in places.items()}
    return LogTable(name, columns, lines[1:], titles, separator == ";" and _has_decimal_commas(columns))


def _text(content: bytes, name: str) -> str:
    if b"\0" in content[:4096] or content[:4] in {b"PK\x03\x04", b"\x1f\x8b\x08\x00"}:
        kind = "a zip file or a spreadsheet" if content[:2] == b"PK" else "no text"
        raise FileError(f"{name} is {kind}, not a CSV: export the log as text with columns (CSV)")
    if max(map(len, content[: 4 * _LONGEST_LINE].split(b"\n")), default=0) > _LONGEST_LINE:
        raise FileError(f"{name} has a line of more than {_LONGEST_LINE} characters: it is no table of rows")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if "\0" in text:
        raise FileError(f"{name} has zero bytes in it: it is damaged, or no text")
    if not text.strip():
        raise FileError(f"{name} is empty")
    return text


def _plain(title: str) -> str:
    return title.split("[", maxsplit=1)[0].split("(", maxsplit=1)[0].strip().lower()


def _places(name: str, header: Sequence[str], chosen: dict[str, str]) -> dict[str, int]:
    """Number of each column."""
    unknown = set(chosen) - set(NAMES)
    if unknown:
        raise FileError(f"columns are {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    found = {}
    manual = "mode" in chosen or any(_plain(title) in NAMES["mode"] for title in header)
    optional = {*_OPTIONAL, *(["set_point"] if manual else [])}  # nobody asks for anything in manual
    for key, names in NAMES.items():
        if key in chosen:
            found[key] = _chosen(name, header, key, chosen[key])
        elif (place := _by_name(name, header, key, names, optional=key in optional)) is not None:
            found[key] = place
    taken = [header[place] for place in found.values()]
    if len(set(found.values())) < len(found):
        raise FileError(f"{name}: one column is used twice ({', '.join(taken)}); choose with --columns")
    return found


def _chosen(name: str, header: Sequence[str], key: str, title: str) -> int:
    if title in header:
        return header.index(title)
    plain = {name.lower(): name for name in header}
    near = difflib.get_close_matches(title.lower(), plain, n=1)
    hint = f"; did you mean {plain[near[0]]!r}" if near else ""
    raise FileError(f"{name} has no column {title!r} for {key}{hint}? It has {', '.join(header)}")


def _by_name(name: str, header: Sequence[str], key: str, names: Sequence[str], *, optional: bool) -> int | None:
    several = [k for k, title in enumerate(header) if _plain(title) in names]
    if len(several) == 1:
        return several[0]
    if several:
        told = " and ".join(repr(header[k]) for k in several)
        raise FileError(f"{name}: {told} may both be {key}; choose with --columns {key}={header[several[0]]}")
    if optional:
        return None
    near = [title for title in header if any(alias in _plain(title) for alias in names if len(alias) > 1)]
    hint = f" (perhaps {near[0]!r})" if near else ""
    manual = "; a log in manual needs none where a column mode says so" if key == "set_point" else ""
    raise FileError(
        f"{name} has no column for {key}: it has {', '.join(header)}; name it with --columns {key}=NAME{hint}{manual}"
    )


def _has_decimal_commas(columns: Mapping[str, list[str]]) -> bool:
    sample = [cell for key in ("measured", "output") for cell in columns[key][:200]]
    return any("," in cell and "." not in cell for cell in sample)
