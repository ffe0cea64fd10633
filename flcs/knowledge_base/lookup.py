"""Look-up tables: the gains of a channel on a regular grid of its inputs, with linear interpolation between nodes.

Inside the taught ranges a table differs from the rules by at most the error it states (the largest found between the
nodes); outside, both fade to the reference gains in the same way, so the bound holds everywhere.

As a CSV file: a header line with everything but the values, the columns' names, one line per node.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.inference.membership import ramp
from flcs.knowledge_base.complaints import KnowledgeBaseError, complain
from plants.core import atomic_files
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum
from plants.core.reading.files import FileError, read_text
from plants.core.reading.formats import csv_rows_of, json_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from flcs.inference.membership import Number, Numbers
    from flcs.knowledge_base.structure import AxisFields, TableFields


MOST_NODES = 200_000  # a table of 3 gains in double precision is then 5 MB
_LARGEST, _ROUNDING = 1e15, 1e-9
MOST_UNROLLED = 1_200  # nodes that fit a compiled loop without branches


@dataclass(frozen=True)
class TableAxis:
    """One input of a table: `points` nodes evenly from `low` to `high`."""

    name: str
    unit: str
    low: float
    high: float
    points: int

    @property
    def nodes(self) -> NDArray[np.float64]:
        """Places of the nodes [points]."""
        return np.linspace(self.low, self.high, self.points)

    @property
    def spacing(self) -> float:
        """Distance of neighbouring nodes."""
        return (self.high - self.low) / (self.points - 1)


@dataclass(frozen=True, eq=False)
class LookupTable:
    """Gains of one channel on a grid.

    Attributes
    ----------
    name : str
        The controlled output.
    axes : tuple of TableAxis
    gain_names : tuple of str
    values : array [points of each axis ..., n_gains]
        Before authority and fading.
    low, high, reference : tuple of float [n_gains]
        Box and reference gains.
    fade : float
        As of the knowledge base.
    error : float
        Largest difference to the rules that was found, as a share of the box.
    source : str
        Content hash of the knowledge base.
    """

    name: str
    axes: tuple[TableAxis, ...]
    gain_names: tuple[str, ...]
    values: NDArray[np.float64]
    low: tuple[float, ...]
    high: tuple[float, ...]
    reference: tuple[float, ...]
    fade: float = 1.0
    error: float = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        """Check shapes and numbers."""
        values = np.ascontiguousarray(self.values, dtype=float)
        shape = (*(axis.points for axis in self.axes), len(self.gain_names))
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"a table needs finite values of shape {shape}, got shape {values.shape}")
        object.__setattr__(self, "values", values)
        self._check_box()

    def _check_box(self) -> None:
        """Gains, box and fading as a knowledge base has them."""
        low, high, reference = (np.asarray(ends, dtype=float) for ends in (self.low, self.high, self.reference))
        if not ((low <= reference) & (reference <= high) & (np.maximum(np.abs(low), np.abs(high)) <= _LARGEST)).all():
            raise ValueError(
                f"a table needs low <= reference <= high within +-{_LARGEST:g} for each gain, got low {self.low}, "
                f"reference {self.reference}, high {self.high}"
            )
        slack = _ROUNDING * np.maximum(np.abs(low), np.abs(high))
        if not ((self.values >= low - slack) & (self.values <= high + slack)).all():
            raise ValueError(f"a table's gains must lie in its box, low {self.low} to high {self.high}")
        if not (math.isfinite(self.fade) and self.fade > 0.0):
            raise ValueError(f"a table's fade must be positive and finite, got {self.fade}")
        if self.n_nodes > MOST_NODES:
            raise ValueError(f"a table has at most {MOST_NODES} nodes, got {self.n_nodes}")

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(np.prod([axis.points for axis in self.axes]))

    def gains(self, inputs: ArrayLike, authority: float = 1.0) -> NDArray[np.float64]:
        """Return the gains [n, n_gains] for inputs [n, n_inputs]."""
        x = np.asarray(inputs, dtype=float)
        if x.ndim != 2 or x.shape[1] != len(self.axes):
            raise ValueError(f"inputs must have shape (n, {len(self.axes)}), got {x.shape}")
        columns = tuple(x[:, k] for k in range(len(self.axes)))
        result = self.interpolated(self.values, columns)
        faded = self._faded(columns, [result[:, k] for k in range(result.shape[1])], authority)
        return np.stack(faded, axis=1)

    def block(self, x: Numbers, authority: float = 1.0) -> Numbers:
        """Gains from the table without branches: a block, for tables that are small enough to be unrolled.

        Raises
        ------
        ValueError
            If the table has more than 1 200 nodes.
        """
        if self.n_nodes > MOST_UNROLLED:
            raise ValueError(
                f"a table of {self.n_nodes} nodes is too large for a compiled loop (at most {MOST_UNROLLED}); tabulate "
                "with fewer points, or use the rules"
            )
        hats = [_hats(axis, value) for axis, value in zip(self.axes, x, strict=True)]
        gains = [_contracted(self.values[..., k].tolist(), hats) for k in range(len(self.gain_names))]
        return tuple(self._faded(x, gains, authority))

    def interpolated(self, values: NDArray[np.float64], columns: Numbers) -> NDArray[np.float64]:
        """Return `values` [points of each axis ..., m] at the nodes, interpolated linearly at places [n_axes][n]."""
        lower, part = self._cells(columns)
        result = np.zeros((len(columns[0]), values.shape[-1]))
        for corner in product((0, 1), repeat=len(self.axes)):
            weight = np.ones(len(columns[0]))
            for side, share in zip(corner, part, strict=True):
                weight = weight * (share if side else 1.0 - share)
            result += weight[:, None] * values[tuple(i + side for i, side in zip(lower, corner, strict=True))]
        return result

    def _cells(self, columns: Numbers) -> tuple[list[NDArray[np.intp]], list[NDArray[np.float64]]]:
        """The lower node of the cell on each axis, and the place in the cell, 0 .. 1."""
        lower, part = [], []
        for axis, value in zip(self.axes, columns, strict=True):
            place = (clip(value, axis.low, axis.high) - axis.low) / axis.spacing
            cell = np.minimum(place.astype(np.intp), axis.points - 2)
            lower.append(cell)
            part.append(np.clip(place - cell, 0.0, 1.0))
        return lower, part

    def _faded(self, x: Numbers, gains: Sequence[Number], authority: float) -> list[Number]:
        """Gains led back to the reference gains by authority and by the distance outside the ranges."""
        outside = sum(
            (
                magnitude(value - clip(value, a.low, a.high)) * (1.0 / (self.fade * (a.high - a.low)))
                for a, value in zip(self.axes, x, strict=True)
            ),
            0.0,
        )
        weight = authority * maximum(1.0 - outside, 0.0)
        rows = zip(gains, self.low, self.reference, self.high, strict=True)
        return [clip(reference + weight * (gain - reference), low, high) for gain, low, reference, high in rows]

    def save(self, path: str | Path) -> None:
        """Write the table as CSV with a header; numbers in the shortest form that reads back to the same bits."""
        atomic_files.write(Path(path), csv_text(self))

    @classmethod
    def load(cls, path: str | Path) -> LookupTable:
        """Read what :meth:`save` wrote; ValueError with the line where the file is not such a table."""
        return load_csv(path)


def _hats(axis: TableAxis, x: Number) -> list[Number]:
    """Weight of each node at `x`."""
    place = ramp(x, axis.low, axis.high) * float(axis.points - 1)
    return [maximum(1.0 - magnitude(place - float(node)), 0.0) for node in range(axis.points)]


def _contracted(values: Sequence[object], hats: Sequence[Sequence[Number]]) -> Number:
    """Sum of values times the hats of all axes."""
    if len(hats) == 1:
        return sum((weight * value for weight, value in zip(hats[0], values, strict=True)), 0.0)
    rows = [_contracted(row, hats[1:]) for row in values]  # type: ignore[arg-type]
    return sum((weight * row for weight, row in zip(hats[0], rows, strict=True)), 0.0)


FORMAT = "sscq look-up table"
SCHEMA = 1


def csv_text(table: LookupTable) -> str:
    """Return a table as the text of its file."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(axis.name for axis in table.axes), *table.gain_names])
    nodes = product(*(axis.nodes.tolist() for axis in table.axes))
    for place, gains in zip(nodes, table.values.reshape(table.n_nodes, -1).tolist(), strict=True):
        writer.writerow([repr(number) for number in (*place, *gains)])
    header = csv_header(table)
    header["hash"] = _digest(header, stream.getvalue())
    return "# " + json.dumps(header, allow_nan=False) + "\n" + stream.getvalue()


def _digest(header: Mapping[str, Any], body: str) -> str:
    """Hash of a table's file: of its header without the hash, and of its rows."""
    plain = json.dumps({name: value for name, value in header.items() if name != "hash"}, sort_keys=True)
    return hashlib.sha256(f"{plain}\n{body}".encode()).hexdigest()


def load_csv(path: str | Path) -> LookupTable:
    """Read a table.

    Raises
    ------
    KnowledgeBaseError
        Where the file is not what :func:`save` writes, with the line.
    """
    lines = read_text(path).splitlines()
    if not lines or not lines[0].startswith("# "):
        raise KnowledgeBaseError(f"{path} is not a look-up table: expected a first line '# {{...}}' with its header")
    try:
        header = json_value(lines[0][2:], f"{path}: the header in line 1")
    except FileError as error:
        raise KnowledgeBaseError(f"{error}; save it again") from None
    from flcs.knowledge_base import structure  # msgspec, which only readers need

    fields = structure.checked(header, structure.TableFields, "header")
    if (fields.format, fields.schema) != (FORMAT, SCHEMA):
        complain("header", f"{FORMAT!r} of schema {SCHEMA}", (fields.format, fields.schema))
    found = _table(path, fields, lines[1:])
    if fields.hash and fields.hash != _digest(csv_header(found), "\n".join(lines[1:]) + "\n"):
        raise KnowledgeBaseError(f"{path}: the content does not match its hash; it was changed after it was saved")
    return found


def csv_header(table: LookupTable) -> dict[str, Any]:
    """Return all of a table but its values, as plain data."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "channel": table.name,
        "inputs": [asdict(axis) for axis in table.axes],
        "gain_names": list(table.gain_names),
        "low": list(table.low),
        "high": list(table.high),
        "reference": list(table.reference),
        "fade": table.fade,
        "error": table.error,
        "source": table.source,
    }


def _table(path: str | Path, fields: TableFields, lines: Sequence[str]) -> LookupTable:
    axes = tuple(_axis(item, f"header.inputs[{n}]") for n, item in enumerate(fields.inputs))
    names = fields.gain_names
    rows = _rows(path, lines, [*(axis.name for axis in axes), *names])
    shape = tuple(axis.points for axis in axes)
    if len(rows) != np.prod(shape):
        raise KnowledgeBaseError(
            f"{path}: expected {np.prod(shape)} nodes, got {len(rows)}; the file is cut off or mixed"
        )
    expected = np.array(list(product(*(axis.nodes for axis in axes))))
    if not np.array_equal(rows[:, : len(axes)], expected):
        line = int(np.argwhere(rows[:, : len(axes)] != expected)[0][0]) + 3
        raise KnowledgeBaseError(f"{path} line {line}: the node is not at its place on the grid; save the table again")
    values = rows[:, len(axes) :].reshape(*shape, len(names))
    box = (fields.low, fields.high, fields.reference)
    if any(len(part) != len(names) for part in box):
        complain("header", f"low, high and reference for {names}", box)
    fade, error, source = fields.fade, fields.error, fields.source
    try:
        return LookupTable(fields.channel, axes, names, values, *box, fade=fade, error=error, source=source)
    except ValueError as error_:
        raise KnowledgeBaseError(f"{path}: {error_}; save it again") from error_


def _axis(fields: AxisFields, place: str) -> TableAxis:
    axis = TableAxis(fields.name, fields.unit, fields.low, fields.high, fields.points)
    if not axis.low < axis.high or axis.points < 2:
        complain(place, "low < high and at least 2 points", fields)
    return axis


def _rows(path: str | Path, lines: Sequence[str], names: Sequence[str]) -> np.ndarray:
    table = [row for _, row in csv_rows_of("\n".join(lines), str(path))]
    if not table or table[0] != list(names):
        raise KnowledgeBaseError(
            f"{path} line 2: expected the columns {list(names)}, got {table[0] if table else 'nothing'}"
        )
    rows = []
    for number, row in enumerate(table[1:], 3):
        try:
            values = [float(cell) for cell in row]
        except ValueError as error:
            raise KnowledgeBaseError(f"{path} line {number}: {error}; save the table again") from error
        if len(values) != len(names) or not np.isfinite(values).all():
            raise KnowledgeBaseError(f"{path} line {number}: expected {len(names)} finite numbers, got {row}")
        rows.append(values)
    return np.array(rows).reshape(-1, len(names))
