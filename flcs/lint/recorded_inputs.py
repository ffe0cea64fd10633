"""Inputs that were recorded or taught, read from CSV or NPZ, in the order of a knowledge base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.inference.rule_base import OWN_INPUTS
from flcs.learning.rows import column_of
from plants.core.reading import formats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs.knowledge_base.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RecordedInputs:
    """Recorded inputs.

    Attributes
    ----------
    inputs : array [n, n_inputs]
        Columns as in ``kb.input_names``.
    rates : array [n_inputs], optional
        Largest rates [unit/s], where the times are known.
    """

    inputs: Array
    rates: Array | None = None


def recorded(data: Any, kb: KnowledgeBase) -> RecordedInputs:
    """Return the inputs of a knowledge base among data.

    Parameters
    ----------
    data : mapping of name to array [n], or object with arrays `inputs` [n, n_columns] and `input_names`
        With "time" [s] (and "situation", the number of a series), rates are known. A teaching signal is such data.

    Raises
    ------
    ValueError
        If an input of the knowledge base is missing, or a number is not finite.
    TypeError
        For another kind of data.
    """
    table = _table(data)
    names = tuple(name for name in table if name not in {"time", "situation"})
    chosen = []
    for number, base in enumerate(kb.channels):
        columns = dict(zip(kb.columns(number), base.input_names, strict=True))
        chosen += [(place, names[column_of(names, name, number)]) for place, name in columns.items()]
    inputs = np.stack([_finite(table[name], name) for _, name in sorted(dict(chosen).items())], axis=1)
    if not len(inputs):
        raise ValueError("data need at least one row, got none")
    time = table.get("time")
    return RecordedInputs(
        inputs, None if time is None else _rates(inputs, _finite(time, "time"), table.get("situation"))
    )


def _table(data: Any) -> dict[str, Array]:
    if isinstance(data, Mapping):
        columns = dict(data)
    elif hasattr(data, "inputs") and hasattr(data, "input_names"):
        columns = dict(zip(data.input_names, np.asarray(data.inputs, dtype=float).T, strict=True))
        columns |= {name: getattr(data, name) for name in ("time", "situation") if hasattr(data, name)}
    else:
        raise TypeError(
            f"expected data as a mapping of names to columns, or with inputs and input_names, got {type(data).__name__}"
        )
    table = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    shapes = {column.shape for column in table.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError(f"columns of data must be arrays of one length, got shapes {sorted(shapes)}")
    return table


def _finite(column: Array, name: str) -> Array:
    if not np.isfinite(column).all():
        row = int(np.argmin(np.isfinite(column)))
        raise ValueError(f"data must be finite, got {name} = {column[row]} in row {row}; leave such rows out")
    return column


def _rates(inputs: Array, time: Array, situation: Array | None) -> Array | None:
    """Largest rates between rows that follow each other in one series."""
    steps = np.diff(time)
    follows = steps > 0.0
    if situation is not None:
        follows &= np.diff(situation) == 0.0
    if not follows.any():
        return None
    return np.asarray((np.abs(np.diff(inputs, axis=0))[follows] / steps[follows, None]).max(axis=0))


def read(path: str | Path) -> dict[str, Array]:
    """Return the columns of a CSV file with a row of names, or of an NPZ file.

    Lines of a CSV file that begin with # are left out. An NPZ file has `inputs` [n, n_inputs] and `input_names`, or one
    array for each name. Nothing in the file is executed.

    Raises
    ------
    ValueError
        If the file is of another kind or damaged.
    OSError
        If it cannot be opened.
    """
    kind = Path(path).suffix.lower()
    if kind not in {".csv", ".npz"}:
        raise ValueError(f"data must be a file .csv or .npz, got {path}")
    return _csv(path) if kind == ".csv" else _npz(path)


def _csv(path: str | Path) -> dict[str, Array]:
    rows = [(k, row) for k, row in formats.csv_rows(path, "utf-8-sig") if row and not row[0].startswith("#")]
    if len(rows) < 2:
        raise ValueError(f"{path}: expected a row of names and rows of numbers, got {len(rows)} rows")
    (_, names), body = rows[0], rows[1:]
    values = np.array([_row(path, number, row, len(names)) for number, row in body])
    return dict(zip((name.strip() for name in names), values.T, strict=True))


def _row(path: str | Path, number: int, row: list[str], n: int) -> list[float]:
    try:
        values = [float(cell) for cell in row]
    except ValueError:
        values = []
    if len(values) != n:
        raise ValueError(f"{path}: row {number} must be {n} numbers, got {row}")
    return values


def _npz(path: str | Path) -> dict[str, Array]:
    found = formats.read_npz(path)
    if "inputs" not in found:
        return found
    names = [str(name) for name in found.get("input_names", OWN_INPUTS)]
    if found["inputs"].ndim != 2 or found["inputs"].shape[1] != len(names):
        raise ValueError(f"{path}: inputs must have shape (n, {len(names)}) {names}, got {found['inputs'].shape}")
    others = {name: found[name] for name in ("time", "situation") if name in found}
    return dict(zip(names, found["inputs"].T, strict=True)) | others
