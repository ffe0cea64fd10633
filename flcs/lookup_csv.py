"""Look-up tables as CSV files: a header line with everything but the values, the columns' names, one line per node."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.kb_reader import Node, complain
from flcs.knowledge_base import KnowledgeBaseError
from flcs.lookup import Axis, LookupTable
from plants.core import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = "sscq look-up table"
SCHEMA = 1
_HEADER = ("format", "schema", "channel", "inputs", "gain_names", "low", "high", "reference", "fade", "error", "source")
_AXIS = ("name", "unit", "low", "high", "points")


def save(table: LookupTable, path: str | Path) -> None:
    """Write a table; numbers in the shortest form that reads back to the same bits."""
    atomic.write(Path(path), text(table))


def text(table: LookupTable) -> str:
    """Return a table as the text of its file."""
    stream = io.StringIO()
    stream.write("# " + json.dumps(header(table), allow_nan=False) + "\n")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(axis.name for axis in table.axes), *table.gain_names])
    nodes = product(*(axis.nodes.tolist() for axis in table.axes))
    for place, gains in zip(nodes, table.values.reshape(table.n_nodes, -1).tolist(), strict=True):
        writer.writerow([repr(number) for number in (*place, *gains)])
    return stream.getvalue()


def load(path: str | Path) -> LookupTable:
    """Read a table.

    Raises
    ------
    KnowledgeBaseError
        Where the file is not what :func:`save` writes, with the line.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].startswith("# "):
        raise KnowledgeBaseError(f"{path} is not a look-up table: expected a first line '# {{...}}' with its header")
    try:
        header = json.loads(lines[0][2:])
    except json.JSONDecodeError as error:
        raise KnowledgeBaseError(
            f"{path}: the header in line 1 is not complete JSON: {error}; save it again"
        ) from error
    node = Node(header, "header", _HEADER)
    if (node.text("format"), node.integer("schema")) != (FORMAT, SCHEMA):
        complain("header", f"{FORMAT!r} of schema {SCHEMA}", (header["format"], header["schema"]))
    return _table(path, node, lines[1:])


def header(table: LookupTable) -> dict[str, Any]:
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


def _table(path: str | Path, node: Node, lines: Sequence[str]) -> LookupTable:
    axes = tuple(_axis(item, f"header.inputs[{n}]") for n, item in enumerate(node.items("inputs")))
    names = node.texts("gain_names")
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
    box = (node.numbers("low"), node.numbers("high"), node.numbers("reference"))
    if any(len(part) != len(names) for part in box):
        complain("header", f"low, high and reference for {names}", box)
    fade, error, source = node.number("fade"), node.number("error"), node.text("source")
    return LookupTable(node.text("channel"), axes, names, values, *box, fade=fade, error=error, source=source)


def _axis(value: object, place: str) -> Axis:
    node = Node(value, place, _AXIS)
    axis = Axis(node.text("name"), node.text("unit"), node.number("low"), node.number("high"), node.integer("points"))
    if not axis.low < axis.high or axis.points < 2:
        complain(place, "low < high and at least 2 points", value)
    return axis


def _rows(path: str | Path, lines: Sequence[str], names: Sequence[str]) -> np.ndarray:
    table = list(csv.reader(lines))
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
