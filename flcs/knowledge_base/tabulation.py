"""From rules to look-up tables: grids that are refined until the table is close enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flcs.inference import inference
from flcs.knowledge_base.lookup import MOST_NODES, LookupTable, TableAxis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.inference.rule_base import Inference, RuleBase

DEFAULT_POINTS = {1: 65, 2: 33, 3: 17}
_AT_ONCE = 50_000  # places at which the error is looked for together
_BETWEEN = 4  # places per cell and axis at which the error is looked for
_SEEN = 0.8  # of the tolerance: between those places, at a kink, the error is somewhat larger


def tabulate(
    base: RuleBase,
    how: Inference,
    *,
    points: int | Sequence[int] | None = None,
    tolerance: float | None = 0.01,
    source: str = "",
) -> LookupTable:
    """Return a channel of a knowledge base as a table.

    Parameters
    ----------
    base : RuleBase
    how : Inference
    points : int or sequence of int [n_inputs], optional
        Nodes of each input to begin with; left out 65, 33 x 33, 17 x 17 x 17, 9 for more inputs.
    tolerance : float, optional
        Double the number of cells until the error is at most this share of the box. None: take `points` as they are.
    source : str
        Content hash of the knowledge base, which the table then carries.

    Raises
    ------
    ValueError
        If 200 000 nodes do not reach the tolerance.
    """
    counts = _counts(base, points)
    while True:
        if int(np.prod(counts)) > MOST_NODES:
            raise ValueError(
                f"a table of {' x '.join(map(str, counts))} nodes would be needed for an error of {tolerance:g} of the "
                f"box (at most {MOST_NODES} nodes); allow a larger tolerance or use the rules themselves"
            )
        table = _filled(base, how, counts, source)
        if tolerance is None or table.error <= _SEEN * tolerance:
            return table
        counts = [2 * count - 1 for count in counts]


def _counts(base: RuleBase, points: int | Sequence[int] | None) -> list[int]:
    n = len(base.inputs)
    if points is None:
        return [DEFAULT_POINTS.get(n, 9)] * n
    counts = [points] * n if isinstance(points, int) else [int(count) for count in points]
    if len(counts) != n or min(counts) < 2:
        raise ValueError(f"points must be at least 2 for each of {base.input_names}, got {points}")
    return counts


def _filled(base: RuleBase, how: Inference, counts: Sequence[int], source: str) -> LookupTable:
    axes = tuple(TableAxis(v.name, v.unit, v.low, v.high, n) for v, n in zip(base.inputs, counts, strict=True))
    exact = _exact(base, how, [axis.nodes for axis in axes])
    box = (base.low, base.high, base.reference)
    table = LookupTable(base.name, axes, base.gain_names, exact, *box, fade=how.fade, source=source)
    return replace(table, error=_largest_error(base, how, table))


def _exact(base: RuleBase, how: Inference, places: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Gains by the rules, with full authority, on the grid of `places`: array [..., n_gains]."""
    mesh = np.meshgrid(*places, indexing="ij")
    gains = inference.infer(base, how, tuple(m.ravel() for m in mesh), inference.own_numbers(base), 1.0)
    shaped = [
        np.broadcast_to(np.asarray(gain, dtype=float).ravel(), mesh[0].size).reshape(mesh[0].shape) for gain in gains
    ]
    return np.stack(shaped, axis=-1)


def _largest_error(base: RuleBase, how: Inference, table: LookupTable) -> float:
    """Largest difference to the rules, as a share of the box, between the nodes and at the terms' kinks."""
    places = []
    for axis, variable in zip(table.axes, base.inputs, strict=True):
        between = np.linspace(axis.low, axis.high, _BETWEEN * (axis.points - 1) + 1)
        inside = [c for c in variable.centres if axis.low <= c <= axis.high]
        places.append(np.unique(np.concatenate([between, inside])))
    span = np.array(base.high) - np.array(base.low)
    worst = 0.0
    together = max(1, _AT_ONCE // max(1, int(np.prod([len(other) for other in places[1:]]))))
    for first in range(0, len(places[0]), together):  # part after part: the fine grid as a whole may be large
        grid = [places[0][first : first + together], *places[1:]]
        points = np.stack([m.ravel() for m in np.meshgrid(*grid, indexing="ij")], axis=1)
        exact = _exact(base, how, grid).reshape(len(points), -1)
        difference = np.abs(table.gains(points) - exact) / np.where(span > 0.0, span, 1.0)
        worst = max(worst, float(difference.max()))
    return worst
