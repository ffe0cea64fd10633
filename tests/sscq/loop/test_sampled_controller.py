"""The controller put together once: run sample by sample with plain numbers, it is the controller in the kernel."""

from collections import defaultdict

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from flcs import FuzzyController
from plants.excitation import Sine
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.sampled_controller import SampledController
from tests.reference.exports import knowledge_base

LAWS = {
    "filtered": PID(sample_time=0.01, derivative_filter_time=0.03, rate_limit=20.0),
    "differenced": PID(sample_time=0.01, rate_source="difference"),
}
STEP = 0.005
ROUNDING = 1e-12  # of the largest command: the kernel fuses products into sums


@pytest.mark.parametrize("name", ["van_der_pol", "cart_pole"])
@pytest.mark.parametrize("law", LAWS)
def test_with_plain_numbers_it_gives_the_commands_of_the_kernel(name, law):
    plant, kb = plants.get(name), knowledge_base(name, law=LAWS[law])
    output = plant.channels[0].output
    situation = sscq.Situation(name="s", t_end=0.6, reference={output: Sine(0.2, 0.7)}, noise={output: 0.001})
    loop = ClosedLoop(plant, FuzzyController(kb).frozen(), (situation,), STEP, measures=("iae",), observe=True)
    groups = ["r", "y", "y_rate", "command", *(["extra"] if loop.spec.controller.schedule.signals else [])]
    rows = {name: loop.design.rows.span(name) for name in groups}
    record = [row for span in rows.values() for row in range(span.start, span.stop)]
    taken = loop.run(np.empty((1, 0)), [0], threads=1, record=record, keep=True).record[:-1:2, :, 0]
    ends = np.cumsum([span.stop - span.start for span in rows.values()])
    seen = dict(zip(rows, np.split(taken, ends[:-1], axis=1), strict=True))

    controller = SampledController(loop.spec)
    memory = defaultdict(float, {("fresh", 0): 1.0})
    memory |= {("k", j): value for j, value in enumerate(loop.spec.controller.schedule.initial())}
    for i, one in enumerate(loop.spec.laws):
        memory |= {(f"c{i}", j): value for j, value in enumerate(one.initial())}
    commands = np.empty_like(seen["command"])
    for sample in range(len(taken)):
        for i in range(len(plant.channels)):
            measured = seen["y_rate"][sample, i] if loop.spec.measures_rate(i) else None
            controller.receive(memory, "r", i, seen["r"][sample, i])
            controller.receive(memory, "y", i, seen["y"][sample, i], measured)
        for j in range(len(loop.spec.controller.schedule.signals)):
            memory["extra", j] = seen["extra"][sample, j]
        if sample % loop.spec.timing.tick == 0:
            for j, gain in enumerate(controller.schedule(memory, 0.0)):
                memory["g", j] = gain
        commands[sample] = controller.act(memory, 0.0)
        memory["fresh", 0] = 0.0
    assert np.abs(commands).max() > 0.1
    assert np.abs(commands - seen["command"]).max() < ROUNDING * np.abs(seen["command"]).max()
