"""What the tests of the core share: blocks compiled into a lane loop of their own, and the compiled kernels."""

from functools import partial
from importlib import import_module

import numpy as np
import pytest

from plants.core.kernel import kernel as kernels
from plants.core.kernel.kernel import ALIVE, KernelDesign
from plants.core.kernel.lanes import LaneLoop
from plants.core.kernel.run import RolloutJob, grid, run
from tests.reference.closed_loop_twin import uncompiled


class CompiledBlock:
    """A block of flat numbers in a kernel of its own: arrays [n_in][n_points] to an array [n_out, n_points]."""

    def __init__(self, block, n_in, n_out):
        def body(lane):
            lane["out"] = block(*lane["in"])

        design = KernelDesign("a block of a test")
        for name, size in (("in", n_in), ("out", n_out), (ALIVE, 1)):
            design.rows.add(name, size)
        design.after.append(LaneLoop("block", (body,)))
        design.results = ("out",)
        self.kernel = kernels.build(design)

    def __call__(self, *arrays):
        rows = self.kernel.rows
        points = np.array(np.broadcast_arrays(*arrays), float)
        start = np.zeros((points.shape[1], rows.count))
        start[:, rows.span("in")] = points.T
        none = np.zeros((len(start), 1), np.int64)
        job = RolloutJob(
            start, np.zeros((1, 0)), none, np.zeros((len(start), 1, 5), np.int64), np.zeros((1, 1)), 1, 1.0
        )
        results, _, _ = run(self.kernel, job, grid(len(start), 1, self.kernel.lanes), threads=1)
        return results.T


@pytest.fixture(scope="session")
def compiled():
    """Return the maker of compiled blocks: ``compiled(block, n_in, n_out)``."""
    return CompiledBlock


@pytest.fixture
def plain(monkeypatch):
    """`plants.simulate` with generated kernels run one lane at a time as the Python that they are: nothing to compile."""
    module = import_module("plants.core.motion.simulate")
    monkeypatch.setattr(module, "KernelDesign", partial(KernelDesign, lanes=1))
    with uncompiled(), np.errstate(all="ignore"):  # compiled kernels divide by zero in silence
        yield module.simulate
