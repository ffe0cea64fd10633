"""The plain formats of a run: JSON, CSV, NPZ. Equal content gives equal bytes, and reading executes nothing.

Numbers are written with the shortest digits that read back to the same double. A number that is not finite has no value
for a reader: ``null`` in JSON, an empty cell in CSV; NPZ keeps it.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from plants.core import atomic_files
from plants.core.reading import formats as reading

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)

StageFile = tuple[Callable[[Path, Any], None], Callable[[Path], Any]]
"""How a stage saves its result in a folder, and loads it."""


def as_json(name: str) -> StageFile:
    """Return how a stage keeps its result in a JSON file of its folder."""
    return lambda folder, value: write_json(folder / name, value), lambda folder: read_json(folder / name)


def as_npz(name: str) -> StageFile:
    """Return how a stage keeps its result, a mapping of names to arrays, in an NPZ file of its folder."""
    return lambda folder, arrays: write_npz(folder / name, arrays), lambda folder: read_npz(folder / name)


def json_text(value: Any, *, sort: bool = True) -> str:
    """Return `value` as JSON with a line end, its keys sorted unless their order means something.

    Dataclasses become objects, tuples and arrays lists, paths words; numbers that are not finite ``null``.
    """
    return json.dumps(_plain(value), sort_keys=sort, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return value.as_posix()
    if hasattr(value, "tolist"):  # NumPy arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, set | frozenset):
        return [_plain(item) for item in sorted(value)]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"JSON takes numbers, words, lists, mappings and dataclasses, got {type(value).__name__}")


def write_json(path: Path, value: Any, *, sort: bool = True) -> None:
    """Write `value` as JSON, atomically; see `json_text`."""
    atomic_files.write(path, json_text(value, sort=sort))


def read_json(path: Path, schema: str | None = None, version: int | None = None, kind: Any = Any) -> Any:
    """Read a JSON file.

    Parameters
    ----------
    path : Path
    schema, version : str, int, optional
        What the file's ``schema`` and ``version`` must be.
    kind : type, optional
        What it must hold, in msgspec's sense.

    Raises
    ------
    ValueError
        If the file is not complete JSON, or of another schema or version.
    FileNotFoundError
    """
    value = reading.read_json(path)
    if schema is not None:
        _check_schema(path, value, schema, version)
    return reading.of_kind(value, str(path), kind)


def _check_schema(path: Path, value: Any, schema: str, version: int | None) -> None:
    found = (value.get("schema"), value.get("version")) if isinstance(value, dict) else (None, None)
    if found[0] != schema:
        raise ValueError(f"{path} must be of schema {schema!r}, got {found[0]!r}")
    if version is not None and found[1] != version:
        raise ValueError(f"{path} has version {found[1]!r} of schema {schema!r}; this program reads version {version}")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, atomically; `rows` may be a two-dimensional array [row, column]."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        if len(row) != len(header):
            raise ValueError(
                f"a row of {path.name} must have {len(header)} cells ({', '.join(header)}), got {len(row)}"
            )
        writer.writerow([_cell(value) for value in row])
    atomic_files.write(path, text.getvalue())


def _cell(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def write_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays, atomically and with the same bytes for the same content (`numpy.savez` stamps the time).

    Raises
    ------
    ValueError
        For arrays of Python objects: those would need pickling.
    """
    with atomic_files.writing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", _ZIP_TIME)
            entry.create_system = 3  # the same on every platform
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, _npy(name, arrays[name]))


def _npy(name: str, value: Any) -> bytes:
    import numpy as np

    array = np.asarray(value, order="C")
    if array.dtype.hasobject:
        raise ValueError(f"array {name!r} holds Python objects; give numbers or words")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def read_npz(path: Path) -> dict[str, Any]:
    """Read all arrays of an NPZ file; pickled ones are refused.

    Raises
    ------
    ValueError
        If the file is no complete NPZ of plain arrays.
    FileNotFoundError
    """
    return dict(reading.read_npz(path))
