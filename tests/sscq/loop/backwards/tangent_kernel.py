"""Slopes by forward mode: a kernel whose rows carry their slopes in one direction along, step by step.

Nothing of :mod:`plants.core.kernel.adjoint` is used: each lane loop also moves the tangents of the rows that it writes,
by :func:`plants.core.tracing.gradients.along`. Delay lines are not for it.
"""

import copy
from dataclasses import replace

import numpy as np

from plants.core.kernel import kernel as kernels
from plants.core.kernel.lanes import LaneLoop, fuse
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.motion.simulate import count_steps
from plants.core.tracing.gradients import along

TANGENT = "tangent"


def tangents(loop, theta, direction):
    """Return the slopes [situation, result] of a loop's results for one candidate along a direction [n_theta]."""
    design, n = copy.copy(loop.design), loop.design.rows.count
    design.rows = copy.deepcopy(design.rows)
    design.rows.add(TANGENT, n)
    design.before, design.after = [_with_tangents(one) for one in fuse([*design.before, *design.after])], []
    results = [row for name in design.results for row in range(*design.rows.span(name).indices(n))]
    design.results = (TANGENT,)
    kernel, numbers = kernels.build(design), range(len(loop.situations))
    call = loop.call(tuple(numbers))
    start = np.zeros((len(numbers), design.rows.count))
    start[:, :n] = call.start
    first = n + design.rows.first[design.theta]
    start[:, first : first + len(theta)] = direction
    total = count_steps(loop.situations[0].t_end, loop.step)
    job = RolloutJob(start, theta[None], *call.streams, total, loop.step, 0, call.integers, call.numbers)
    return run(kernel, job, grid(len(numbers), 1, kernel.lanes))[0][:, results]


def _with_tangents(item):
    if not isinstance(item, LaneLoop):
        assert not getattr(item, "moves", ()), "delay lines are not for forward mode here"
        return item

    def body(lane):
        for one in item.bodies:
            one(lane)
        written, read = lane.written(), lane.read()
        tangent = lane[TANGENT]
        moved = along(list(written.values()), list(read.values()), [tangent[int(row)] for row in read])
        for row, slope in zip(written, moved, strict=True):
            lane.put(TANGENT, int(row), slope)

    return replace(item, bodies=(body,))
