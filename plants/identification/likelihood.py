"""Log likelihoods of parameter sets of a structure, whether the rows of a log are equally far apart or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.identification import lane_filter, uneven_filter
from plants.identification.row import PER_CENT
from plants.identification.slow_filter import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord
    from plants.identification.row import PlantStructure, Spans

    Array = NDArray[np.float64]


_FOR_SEVERAL = 250_000
"""Rows times parameter sets, a millisecond of one processor: less is done before another has begun."""


def log_likelihoods(
    structure: PlantStructure,
    records: Sequence[LoopRecord],
    parameters: Array,
    sense: Array | float = 1.0,
    spans: Spans = PER_CENT,
    threads: int | None = None,
) -> Array:
    """Return the log likelihoods of parameter sets, summed over records of the same loop.

    Parameters
    ----------
    structure : PlantStructure
    records : sequence of LoopRecord
        Those with rows equally far apart of the same distance.
    parameters : array [n, n_parameters]
    sense : array [n] or float
        1 or -1.
    spans : (output, input)
        Of the signals, as for :func:`plants.identification.slow_filter.filtered`.
    threads : int, optional
        None: all processors. The result does not depend on it.

    Returns
    -------
    array [n]
        Minus infinity where the filter has no finite value.
    """
    parameters = np.atleast_2d(np.asarray(parameters, float))
    if parameters.shape[1] != len(structure.parameters):
        names = ", ".join(structure.parameters)
        raise ValueError(f"parameters must have {len(structure.parameters)} columns ({names})")
    even, uneven = ([record for record in records if (record.times is None) == each] for each in (True, False))
    steps = {record.step for record in even}
    if len(steps) > 1:
        raise ValueError(f"records must have one distance between rows, got {sorted(steps)} s")
    if sum(map(len, records)) * len(parameters) < _FOR_SEVERAL:
        threads = 1
    total = np.zeros(len(parameters))
    for each, of in ((lane_filter.each_log_likelihood, even), (uneven_filter.each_log_likelihood, uneven)):
        counted = [record for record in of if len(record) > SKIPPED]  # no row of the others counts
        if counted:
            total = total + each(structure, counted, parameters, sense, spans, threads).sum(axis=0)
    return total
