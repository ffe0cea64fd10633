"""Slopes of a closed loop by forward mode: a kernel whose rows carry their slopes in one direction along.

Nothing of :mod:`plants.core.kernel.adjoint` is used: each lane loop also moves the tangents of the rows that it writes,
by :func:`plants.core.tracing.gradients.along`. Each direction is a run of its own.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel import kernel as kernels
from plants.core.kernel.lanes import Item, LaneLoop, Repeat, Uniform, fuse
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.motion.simulate import count_steps
from plants.core.tracing.gradients import along

if TYPE_CHECKING:
    from plants.core.kernel.lanes import Lane
    from sscq.loop.closed_loop import ClosedLoop

TANGENT = "tangent"


def tangents(loop: ClosedLoop, theta: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the slopes [direction, situation, result] of a loop's results along directions [direction, n_theta].

    Raises
    ------
    ValueError
        For a loop with delay lines, or with accelerations that are iterated.
    """
    design, n = copy.copy(loop.design), loop.design.rows.count
    design.rows = copy.deepcopy(design.rows)
    design.rows.add(TANGENT, n)
    design.before, design.after = [_with_tangents(one) for one in fuse([*design.before, *design.after])], []
    results = [row for name in design.results for row in range(*design.rows.span(name).indices(n))]
    design.results = (TANGENT,)
    kernel, numbers = kernels.build(design), range(len(loop.situations))
    call = loop.call(tuple(numbers))
    first = n + design.rows.first[design.theta]
    total = count_steps(loop.situations[0].t_end, loop.step)
    found = []
    for direction in np.atleast_2d(directions):
        start = np.zeros((len(numbers), design.rows.count))
        start[:, :n] = call.start
        start[:, first : first + len(theta)] = direction
        job = RolloutJob(start, theta[None], *call.streams, total, loop.step, 0, call.integers, call.numbers)
        found.append(run(kernel, job, grid(len(numbers), 1, kernel.lanes))[0][:, results])
    return np.array(found)


def _with_tangents(item: Item) -> Item:
    if isinstance(item, Repeat):
        return replace(item, loop=_moved(item.loop))
    if isinstance(item, LaneLoop):
        return _moved(item)
    if not isinstance(item, Uniform) or item.moves:
        raise ValueError("forward mode is not for delay lines and iterated accelerations")
    return item


def _moved(loop: LaneLoop) -> LaneLoop:
    """The loop, with the tangents of what it writes."""

    def body(lane: Lane) -> None:
        for one in loop.bodies:
            one(lane)
        written, read = lane.written(), lane.read()
        tangent = lane[TANGENT]
        moved = along(list(written.values()), list(read.values()), [tangent[int(row)] for row in read])
        for row, slope in zip(written, moved, strict=True):
            lane.put(TANGENT, int(row), slope)

    return replace(loop, bodies=(body,))
