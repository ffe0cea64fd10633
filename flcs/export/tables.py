"""Look-up tables as CSV, JSON and NPZ: gains and the forms of a PID block, and the proof by SciPy's interpolation.

K, Ti and Td at the nodes are those of the gains there; between them their interpolation is not that of the gains. So
beside the table's own error there is that of the interpolated form, both as shares of the gains' boxes.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.export.pid_block import NAMES, VendorForm, as_parallel, forms
from flcs.export.proof import OK, Proof
from flcs.inference import inference
from flcs.knowledge_base import lookup
from plants.core.names import identifier

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from flcs import KnowledgeBase
    from flcs.export.job import Job
    from flcs.knowledge_base.lookup import LookupTable

    Array = NDArray[np.float64]


TOLERANCE = 0.01  # of the box
_PROBES = 2000


@dataclass(frozen=True, eq=False)
class ScheduleTable:
    """One channel's table.

    Attributes
    ----------
    table : LookupTable
        Of the gains.
    forms : mapping of name to array [points of each axis ...]
        ``K``, ``Ti``, ... at the nodes; empty where the channel schedules more than kp, ki, kd.
    errors : mapping of form to float
        "standard", "series": largest error of the gains that the interpolated form has at random places, share of box;
        the series form where it exists at all nodes.
    """

    table: LookupTable
    forms: dict[str, Array]
    errors: dict[str, float]


def tables_of(kb: KnowledgeBase, form: VendorForm) -> tuple[ScheduleTable, ...]:
    """Return the tables of all channels, within 1 % of the box where 200 000 nodes reach that."""
    return tuple(_table(kb, place, form) for place in range(len(kb.channels)))


def _table(kb: KnowledgeBase, place: int, form: VendorForm) -> ScheduleTable:
    try:
        table = kb.lookup_table(place, tolerance=TOLERANCE)
    except ValueError:  # too many nodes: the default grid, with the error it has
        table = kb.lookup_table(place, tolerance=None)
    base = kb.channels[place]
    if len(base.gain_names) != 3:
        return ScheduleTable(table, {}, {})
    box = (base.low[0], base.high[0], base.reference[0])
    values = forms([table.values[..., k] for k in range(3)], box, form)
    shape = table.values.shape[:-1]
    found = {name: np.broadcast_to(np.asarray(v, float), shape).copy() for name, v in zip(NAMES, values, strict=True)}
    kinds = [kind for kind in ("standard", "series") if found[kind].all()]
    return ScheduleTable(table, found, {kind: _error(table, found, form, kind) for kind in kinds})


def _error(table: LookupTable, found: dict[str, Array], form: VendorForm, kind: str) -> float:
    rng = np.random.default_rng(0)
    x = np.stack([rng.uniform(a.low, a.high, _PROBES) for a in table.axes], axis=1)
    values = table.interpolated(np.stack([found[name] for name in NAMES], axis=-1), tuple(x.T))
    came = np.stack(as_parallel(tuple(values.T), form, kind), axis=1)
    span = np.array(table.high) - np.array(table.low)
    return float(np.max(np.abs(came - table.gains(x)) / np.where(span > 0.0, span, 1.0)))


TARGET = "tables"
_RANDOM = 10_000


def files(job: Job) -> dict[str, str | bytes]:
    """Return the export's files by name: gains, and in JSON, NPZ and a CSV of their own the forms K, Ti, Td."""
    found: dict[str, str | bytes] = {}
    for one in tables_of(job.kb, job.form):
        name = _stem(job, one)
        found[f"{name}.csv"] = lookup.csv_text(one.table)
        found[f"{name}.json"] = json.dumps(_plain(one, job), allow_nan=False) + "\n"
        found[f"{name}.npz"] = _npz(one)
        if one.forms:
            found[f"{name}_forms.csv"] = _forms_csv(one, job.form.unit)
    return found


def _stem(job: Job, one: ScheduleTable) -> str:
    """The files' name without ending."""
    return identifier(f"{job.plant.name}_{one.table.name}")


def _plain(one: ScheduleTable, job: Job) -> dict[str, Any]:
    table = one.table
    nodes = {axis.name: axis.nodes.tolist() for axis in table.axes}
    gains = {name: table.values[..., k].tolist() for k, name in enumerate(table.gain_names)}
    forms = {name: values.tolist() for name, values in one.forms.items()}
    times = {"unit": job.form.unit, "longest": job.form.longest, "errors": one.errors}
    return {**lookup.csv_header(table), "nodes": nodes, "gains": gains, "forms": forms, "times": times}


def _npz(one: ScheduleTable) -> bytes:
    """Arrays ``axis_NAME``, gains by their names, forms; no pickled objects."""
    arrays = {f"axis_{axis.name}": axis.nodes for axis in one.table.axes}
    arrays |= {name: one.table.values[..., k] for k, name in enumerate(one.table.gain_names)}
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays, **one.forms)
    return stream.getvalue()


def _forms_csv(one: ScheduleTable, unit: str) -> str:
    """A line for each node: its place, then K, Ti, Td, ...; times with their unit in the head."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    heads = [f"{name}_{unit}" if name[0] == "T" else name for name in one.forms]
    writer.writerow([*(axis.name for axis in one.table.axes), *heads])
    columns = np.stack([values.ravel() for values in one.forms.values()], axis=1).tolist()
    for place, row in zip(product(*(a.nodes.tolist() for a in one.table.axes)), columns, strict=True):
        writer.writerow([repr(number) for number in (*place, *row)])
    return stream.getvalue()


def prove(job: Job, folder: Path) -> Proof:
    """Read all files with other programs' readers; interpolate with SciPy at random places against the rules."""
    import scipy

    checker, allowed = f"SciPy {scipy.__version__} on csv, json, npz", TOLERANCE
    errors: dict[str, float] = {}
    for k, one in enumerate(tables_of(job.kb, job.form)):
        allowed = max(allowed, one.table.error)
        grids = _read(folder, _stem(job, one), one.table)
        if len({grid.tobytes() for grid in grids}) != 1:
            return Proof(TARGET, checker, "failed", f"{one.table.name}: csv, json and npz differ", allowed)
        found = _errors(job, k, one.table, grids[0])
        errors |= {f"gain_{job.kb.suffixed(name, k)}": e for name, e in found.items()}
    worst = max(errors, key=lambda name: errors[name])
    reason = "" if errors[worst] <= allowed else f"{worst} differs by {errors[worst]:.3g} of its box between nodes"
    status, samples = "failed" if reason else OK, _RANDOM * len(job.kb.channels)
    numbers = {one.table.name: {"nodes": one.table.n_nodes, **one.errors} for one in tables_of(job.kb, job.form)}
    return Proof(TARGET, checker, status, reason, allowed, samples, errors, numbers)


def _read(folder: Path, name: str, table: LookupTable) -> list[Array]:
    """Gains [points of each axis ..., n_gains] of each file."""
    with (folder / f"{name}.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.reader(stream) if not row[0].startswith("#")]
    shape = tuple(axis.points for axis in table.axes)
    numbers = np.array(rows[1:], dtype=float)[:, len(table.axes) :].reshape(*shape, -1)
    listed = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["gains"]
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        packed = np.stack([arrays[gain] for gain in table.gain_names], axis=-1)
    return [numbers, np.stack([np.array(listed[gain]) for gain in table.gain_names], axis=-1), packed]


def _errors(job: Job, channel: int, table: LookupTable, grid: Array) -> dict[str, float]:
    from scipy.interpolate import RegularGridInterpolator

    base, rng = job.kb.channels[channel], np.random.default_rng(job.seed)
    x = np.stack([rng.uniform(v.low, v.high, _RANDOM) for v in base.inputs], axis=1)
    exact = inference.infer(base, job.kb.inference, tuple(x.T), inference.own_numbers(base), 1.0)
    came = RegularGridInterpolator([axis.nodes for axis in table.axes], grid)(x)
    span = np.array(table.high) - np.array(table.low)
    apart = np.abs(came - np.stack(np.broadcast_arrays(*exact), axis=1)) / np.where(span > 0.0, span, 1.0)
    return dict(zip(table.gain_names, map(float, apart.max(axis=0)), strict=True))
