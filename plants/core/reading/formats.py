"""JSON, CSV and NPZ that somebody else may have made: nested no deeper, no larger and no longer than is of use.

Nothing is executed, pickles are refused, and what a file claims (shapes, sizes) is checked before memory is taken for
it.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
import zipfile
from typing import TYPE_CHECKING, Any, BinaryIO

from plants.core.reading import files
from plants.core.reading.files import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np

JSON = 16 * 2**20
"""Largest JSON file [bytes]: the shortest lists in it take thirty times as much memory."""
DEPTH = 64
"""Deepest nesting of lists and mappings."""
ARRAYS = 256 * 2**20
"""Largest size of all arrays of a file together [bytes], and of the file."""

_BITS = 128  # of whole numbers: those of random generators' states
_MEMBERS = 10_000
_STORED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others may ask for gigabytes of dictionary
_KINDS = "?biufcUS"


# ---------------------------------------------------------------------------------------------------------------- JSON


def read_json(path: str | Path, kind: Any = Any, limit: int = JSON) -> Any:
    """Return the value in a JSON file.

    Parameters
    ----------
    path : path
    kind : type, optional
        What it must be, in msgspec's sense: a structure, a dict, ...
    limit : int
        Largest size [bytes].

    Raises
    ------
    FileError
        If the file is no complete JSON in UTF-8, nested deeper than :data:`DEPTH`, has whole numbers of more than 128
        bits, or is of another kind.
    OSError
        If it cannot be opened.
    """
    return json_value(files.read_bytes(path, limit), str(path), kind)


def json_value(content: bytes | str, name: str, kind: Any = Any) -> Any:
    """Return the value of a JSON text; complaints name it. See :func:`read_json`."""
    import msgspec  # which only readers need

    try:
        value = msgspec.json.decode(content)
    except msgspec.ValidationError:
        raise FileError(f"{name}: expected a finite number, got one that is too large") from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{name} is not complete JSON: {_placed(error, content)}; it may be truncated") from None
    _check_tree(value, name)
    return of_kind(value, name, kind)


def of_kind(value: Any, name: str, kind: Any) -> Any:
    """Return a JSON value as a type in msgspec's sense; complaints name the file. See :func:`read_json`."""
    import msgspec  # as above

    if kind is Any:
        return value
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise FileError(f"{name} is damaged: {error}; take an intact copy") from None


def _placed(error: Exception, content: bytes | str) -> str:
    """What msgspec says, with line and column in place of its byte; numbers that JSON does not have by name."""
    said = str(error)
    found = re.search(r" \(byte (\d+)\)", said)
    if not found:
        return said
    data = content.encode() if isinstance(content, str) else content
    place = int(found[1])
    start = data.rfind(b"\n", 0, place) + 1
    number = re.match(rb"Infinity|NaN", data[place:])
    what = f"{number[0].decode()} is no JSON number" if number else said.replace(found[0], "")
    line = data.count(b"\n", 0, place) + 1
    return f"{what}, line {line} column {place - start + 1}"


def _check_tree(value: Any, name: str) -> None:
    level = [value]
    for _ in range(DEPTH + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
            elif type(item) is int and item.bit_length() > _BITS:
                place, digits = _place_of(item, value, ""), len(str(abs(item)))
                raise FileError(f"{name}: {place}: expected a finite number, got one of {digits} digits")
        level = inner
        if not level:
            return
    raise FileError(f"{name} is damaged: its lists and mappings are nested deeper than {DEPTH}")


def _place_of(number: int, value: Any, place: str) -> str:
    """Where a number stands in a value, as in "channels[0].high"."""
    if value is number:
        return place
    if isinstance(value, dict):
        inner = [(f"{place}.{key}" if place else key, item) for key, item in value.items()]
    else:
        inner = [(f"{place}[{k}]", item) for k, item in enumerate(value)] if isinstance(value, list) else []
    return next((found for way, item in inner if (found := _place_of(number, item, way))), "")


# ----------------------------------------------------------------------------------------------------------------- CSV


def csv_rows(path: str | Path, encoding: str = "utf-8", limit: int = files.TEXT) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, each with the number of its last line; an empty line is a row without cells.

    Raises
    ------
    FileError
        If it is no CSV text.
    OSError
        If it cannot be opened.
    """
    return csv_rows_of(files.read_text(path, limit, encoding), str(path))


def csv_rows_of(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV text; complaints name it. See :func:`csv_rows`."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise FileError(f"{name} is no CSV text: {error} in line {reader.line_num}") from None


# ----------------------------------------------------------------------------------------------------------------- NPZ


def read_npz(path: str | Path, limit: int = ARRAYS) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file by name.

    Raises
    ------
    FileError
        If it is no complete NPZ of plain arrays (numbers and words, no pickles), or larger than `limit` when unpacked.
    OSError
        If it cannot be opened.
    """
    return npz_value(files.read_bytes(path, limit), str(path), limit)


def npz_value(content: bytes, name: str, limit: int = ARRAYS) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file's content; complaints name it. See :func:`read_npz`."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _arrays(archive, name, limit)
    except FileError:
        raise
    except Exception as error:  # noqa: BLE001  (what a damaged archive raises depends on where it is damaged)
        said = str(error) or type(error).__name__
        raise FileError(f"{name} is no complete NPZ of plain arrays ({said}); it may be truncated") from None


def _arrays(archive: zipfile.ZipFile, name: str, limit: int) -> dict[str, np.ndarray]:
    entries = archive.infolist()
    if sum(entry.file_size for entry in entries) > limit or len(entries) > _MEMBERS:
        raise FileError(f"{name} holds more arrays than is read of such a file ({limit / 2**20:g} MiB)")
    found = {}
    for entry in entries:
        if entry.compress_type not in _STORED:
            raise ValueError(f"{entry.filename} is packed in a way that is not read")
        with archive.open(entry) as stream:
            data = bytearray(stream.read(entry.file_size + 1))
        found[entry.filename.removesuffix(".npy")] = _array(data, entry.filename)
    return found


def _array(data: bytearray, name: str) -> np.ndarray:
    import numpy as np  # slow to import, and JSON is read without it

    stream = io.BytesIO(data)
    shape, columns_first, dtype = _header(stream)
    count, rest = math.prod(shape), len(data) - stream.tell()
    if dtype.kind not in _KINDS or dtype.hasobject:
        raise ValueError(f"{name} holds {dtype}, no plain numbers or words")
    if count * dtype.itemsize != rest or count > len(data):
        raise ValueError(f"{name} claims the shape {shape} of {dtype} and has {rest} bytes")
    array = np.frombuffer(data, dtype, count, stream.tell())
    if dtype.kind == "U" and array.size and dtype.itemsize:
        points = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if points.max() > sys.maxunicode:
            raise ValueError(f"{name} holds words with what is no character")
    return array.reshape(shape, order="F" if columns_first else "C")


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    import numpy as np  # as above

    header = np.lib.format
    readers = {(1, 0): header.read_array_header_1_0, (2, 0): header.read_array_header_2_0}
    shape, columns_first, dtype = readers[header.read_magic(stream)](stream)
    if any(size < 0 for size in shape):
        raise ValueError(f"an array of shape {shape}")
    return shape, columns_first, dtype
