"""Look-up tables of a knowledge base's channels, for sites that interpolate: gains and the forms of a PID block.

K, Ti and Td at the nodes are those of the gains there; between them their interpolation is not that of the gains. So
beside the table's own error there is that of the interpolated form, both as shares of the gains' boxes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from experiments.export.vendor_forms import NAMES, VendorForm, forms
from experiments.export.vendor_loop import as_parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs import KnowledgeBase
    from flcs.lookup import LookupTable

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
    values = forms([table.values[..., k] for k in range(3)], box, form).values
    shape = table.values.shape[:-1]
    found = {name: np.broadcast_to(np.asarray(v, float), shape).copy() for name, v in zip(NAMES, values, strict=True)}
    kinds = [kind for kind in ("standard", "series") if found[kind].all()]
    return ScheduleTable(table, found, {kind: _error(table, found, form, kind) for kind in kinds})


def _error(table: LookupTable, found: dict[str, Array], form: VendorForm, kind: str) -> float:
    rng = np.random.default_rng(0)
    x = np.stack([rng.uniform(a.low, a.high, _PROBES) for a in table.axes], axis=1)
    values = tuple(interpolated(table, found[name], x) for name in NAMES)
    came = np.stack(as_parallel(values, form, kind), axis=1)
    span = np.array(table.high) - np.array(table.low)
    return float(np.max(np.abs(came - table.gains(x)) / np.where(span > 0.0, span, 1.0)))


def interpolated(table: LookupTable, values: Array, x: Array) -> Array:
    """Return `values` at the table's nodes interpolated linearly at places [n, n_inputs] inside the ranges."""
    lower, part = table.cells(tuple(x[:, k] for k in range(x.shape[1])))
    result = np.zeros(len(x))
    for corner in product((0, 1), repeat=len(table.axes)):
        weight = np.ones(len(x))
        for side, share in zip(corner, part, strict=True):
            weight = weight * (share if side else 1.0 - share)
        result += weight * values[tuple(i + side for i, side in zip(lower, corner, strict=True))]
    return result
