"""Compression of a teaching signal: rows that say nearly the same become one, with their weights together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flcs.linguistic import robust_range
from flcs.teaching_rows import TeachingRows

if TYPE_CHECKING:
    from numpy.typing import NDArray


def merged(rows: TeachingRows, tolerance: float) -> TeachingRows:
    """Return the rows with those merged whose inputs and gains differ by less than a tolerance.

    In order, a row joins the first group of its situation that began with a row at most `tolerance` away in every input
    and every gain; a group becomes the mean of its rows, with the sum of their weights. So a loop that rests for long
    says so once, with the weight of the whole rest.

    Parameters
    ----------
    rows : TeachingRows
    tolerance : float
        In shares of each column's range (between the 0.5 % and 99.5 % quantiles, widened); 0: no row is merged.

    Returns
    -------
    TeachingRows
    """
    if tolerance <= 0.0:
        return rows
    columns = np.concatenate([rows.inputs, rows.gains], axis=1)
    group = _groups(columns / _spans(columns), rows.situation, tolerance)
    weight = np.zeros(group.max() + 1)
    np.add.at(weight, group, rows.weight)
    share = np.where(weight[group] > 0.0, rows.weight, 1.0)  # rows without any weight count equally
    total, sums = np.zeros(len(weight)), np.zeros((len(weight), columns.shape[1]))
    np.add.at(total, group, share)
    np.add.at(sums, group, share[:, None] * columns)
    means, n = sums / total[:, None], rows.inputs.shape[1]
    situation = rows.situation[np.unique(group, return_index=True)[1]]
    return TeachingRows(means[:, :n], means[:, n:], weight, situation, rows.input_names, rows.gain_names)


def _spans(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([high - low for low, high in map(robust_range, columns.T)])


def _groups(columns: NDArray[np.float64], situation: NDArray[np.int64], tolerance: float) -> NDArray[np.int64]:
    """Number of each row's group, in the order in which the groups begin [n]."""
    group = np.empty(len(columns), dtype=np.int64)
    leaders = np.zeros(0, dtype=np.int64)
    for row, values in enumerate(columns):
        near = np.abs(columns[leaders] - values).max(axis=1) <= tolerance
        places = np.flatnonzero(near & (situation[leaders] == situation[row]))
        if len(places):
            group[row] = places[0]
        else:
            group[row] = len(leaders)
            leaders = np.append(leaders, row)
    return group
