"""A knowledge base without a teacher: its ranges come from the fixed PID's loop, its rules are the reference gains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller, pid_form
from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.learning.config import NetworkConfig
from flcs.learning.terms import robust_range
from flcs.refinement.direct import blank, direct
from sscq.loop.record import visited

VDP = plants.get("van_der_pol")
GAINS = (4.0, 1.0, 3.0)
TICK, STEP = 0.04, 0.01


@pytest.fixture(scope="module")
def seen():
    controller = Controller((PID(),), ConstantGains())
    several = [sscq.Situation("up", 1.0, t_end=2.0), sscq.Situation("down", -2.0, t_end=1.0)]
    runs = visited(VDP, controller, GAINS, several, STEP, TICK)
    alone = visited(VDP, controller, GAINS, several, STEP, TICK, count=1)
    return runs, alone, sscq.record(VDP, controller, GAINS, several[0], step=STEP)


def test_rows_are_what_a_schedule_would_see(seen):
    runs, alone, record = seen
    n = 50  # 2 s of ticks
    assert runs.own.shape == (n + 25, 1, 3)
    assert runs.situation.tolist() == [0] * n + [1] * 25
    np.testing.assert_array_equal(alone.own, runs.own[:n])
    error = 1.0 - record.group("states")[:-1:4, 0]
    np.testing.assert_allclose(runs.own[:n, 0, 0], error, atol=1e-12)
    np.testing.assert_allclose(runs.own[:n, 0, 1], -record.group("states")[:-1:4, 1], atol=1e-12)
    np.testing.assert_allclose(runs.own[:n, 0, 2], TICK * (np.cumsum(error) - error), atol=1e-12)
    np.testing.assert_array_equal(runs.outputs[:n, 0], record.group("states")[:-1:4, 0])


def structure(inputs=("e", "e_rate"), order=0):
    """What a teacher's signal gave: ranges and rules that must not come through."""
    variables = tuple(Variable(name, "m", -9.0, 9.0, (-8.0, 1.0, 7.0)) for name in inputs)
    rules = [replace(rule, gains=(9.0, 9.0, 9.0)) for rule in full_grid([3] * len(inputs), GAINS, order)][:-2]
    law = pid_form.describe(PID(sample_time=STEP))
    base = RuleBase("position", variables, tuple(rules), (0.0,) * 3, (10.0,) * 3, GAINS, law=law)
    return KnowledgeBase("van_der_pol", (base,), Inference(order=order, fade=0.7), TICK, training={"rows": 1})


def test_nothing_of_the_teacher_but_the_structure_is_kept(seen):
    kb = direct(structure(), seen[0], VDP)
    (base,) = kb.channels
    assert kb.n_rules == 9
    assert {rule.gains for rule in base.rules} == {GAINS}
    for variable, column in zip(base.inputs, seen[0].own[:, 0].T, strict=False):
        assert (variable.low, variable.high) == pytest.approx(robust_range(column))
        assert variable.n_terms == 3
    assert kb.inference == Inference(fade=0.7)
    assert not kb.training
    np.testing.assert_allclose(kb.gains(np.array([[0.3, -1.0], [5.0, 9.0]])), [GAINS] * 2)


@pytest.mark.parametrize(
    ("settings", "counts"),
    [({}, (3, 3)), ({"terms": (2, 5)}, (2, 5)), ({"terms": None, "shape": "search"}, (3, 3)), ({"order": 1}, (3, 3))],
)
def test_a_structure_from_the_settings_alone(seen, settings, counts):
    """As far as nothing is learned: what a teacher's structure gives, it gives as well."""
    config = NetworkConfig(inputs=("e", "velocity"), **settings)
    box = (np.zeros(3), np.full(3, 10.0))
    empty = blank(VDP, (PID(sample_time=STEP),), box, np.array(GAINS), TICK, config)
    kb = direct(empty, seen[0], VDP, config)
    (base,) = kb.channels
    assert [v.n_terms for v in base.inputs] == list(counts)
    assert [(v.name, v.unit) for v in base.inputs] == [("e", "m"), ("velocity", "m/s")]
    assert {rule.gains for rule in base.rules} == {GAINS}
    assert kb.tick == TICK
    assert base.law == pid_form.describe(PID(sample_time=STEP))
    if not settings:
        like = direct(structure(("e", "velocity")), seen[0], VDP, config).channels[0].inputs
        assert [v.centres for v in base.inputs] == [v.centres for v in like]


def test_a_structure_of_several_channels_has_each_ones_gains():
    plant, gains = plants.get("cart_pole"), np.arange(1.0, 7.0)
    assert len(plant.channels) == 2
    kb = blank(plant, (PID(), PID()), (np.zeros(6), np.full(6, 10.0)), gains, TICK)
    assert [base.reference for base in kb.channels] == [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]
    assert [base.name for base in kb.channels] == [channel.output for channel in plant.channels]


def test_the_error_integral_is_limited_to_where_it_has_been(seen):
    kb = direct(structure(("e", "z")), seen[0], VDP)
    z = kb.channels[0].inputs[1]
    assert kb.channels[0].integral_limit == pytest.approx(max(-z.low, z.high))


def test_plant_outputs_and_slopes(seen):
    kb = direct(structure(("e", "velocity"), order=1), seen[0], VDP)
    low, high = robust_range(seen[0].outputs[:, 1])
    assert (kb.channels[0].inputs[1].low, kb.channels[0].inputs[1].high) == pytest.approx((low, high))
    assert all(slope == 0.0 for rule in kb.channels[0].rules for row in rule.slopes for slope in row)
