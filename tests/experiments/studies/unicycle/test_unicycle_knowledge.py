"""The knowledge base that begins at scheduled LQR's gains: it commands what LQR does, within the box."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID
from experiments.studies.unicycle.contenders import (
    MEASURED,
    NODES,
    OUTPUTS,
    UnicycleLqr,
    balanced,
    gains_of,
    narrowed,
    of_gains,
    turned,
)
from flcs import FuzzyController
from flcs.learning.config import NetworkConfig
from flcs.refinement.genome import candidate
from plants.unicycle import BETA0, UNICYCLE_PUSHED, UNICYCLE_REGION

LIMITS = tuple((channel.low, channel.high) for channel in UNICYCLE_REGION.channels)
LQR = UnicycleLqr(LIMITS, 0.01, scheduled=True, outputs=OUTPUTS)
THETA = LQR.theta(np.array([[50.0, 8.0, 1.0, 0.2, 6.0]]))[0]
RNG = np.random.default_rng(0)


def job(low, high):
    """What of a design's setup is asked for."""
    laws = (PID(sample_time=0.01),) * len(OUTPUTS)
    box = {"low": np.tile(low, len(OUTPUTS)), "high": np.tile(high, len(OUTPUTS))}
    network = NetworkConfig(inputs=("speed",))
    return SimpleNamespace(plant=UNICYCLE_REGION, laws=laws, network=network, tick=0.01, **box)


WIDE = job([-1e4] * 3, [1e4] * 3)


@pytest.mark.parametrize("speed", [-17.0, -4.0, -1.0, 0.2, 1.5, 2.5])
def test_it_commands_what_lqr_does(speed):
    """At, between and far beyond nodes, for random states: to what crosses between motions, below 1 % of the commands."""
    fuzzy = FuzzyController(of_gains(WIDE, np.zeros(15), gains_of(THETA)), laws=WIDE.laws)
    schedule = LQR.controller.schedule
    for _ in range(5):
        seen = dict(zip(MEASURED, RNG.normal(size=len(MEASURED)), strict=True)) | {"speed": speed}
        asked = {"pitch": BETA0, "roll": 0.0, "speed": 1.0, "yaw_rate": 0.0, "table_rate": 0.0}
        errors = [asked[name] - seen[name] for name in OUTPUTS]
        rates = [-seen["pitch_rate"], -seen["roll_rate"], 0.0, 0.0, 0.0]
        own = [value for pair in zip(errors, rates, strict=True) for value in pair]
        demands, _ = schedule.gains(0.0, (*own, *(seen[name] for name in schedule.signals)), (), tuple(THETA))
        gains, _ = fuzzy.schedule.gains(0.0, (*own, speed), (), tuple(fuzzy.theta))
        commands = [gains[3 * i] * errors[i] + gains[3 * i + 2] * rates[i] for i in range(len(OUTPUTS))]
        scale = np.abs(np.reshape(gains, (-1, 3))).sum()
        assert commands[0] + commands[2] == pytest.approx(demands[0], abs=0.01 * scale)
        assert sum(commands[k] for k in (1, 3, 4)) == pytest.approx(demands[2], abs=0.01 * scale)


def test_gains_stay_within_everyones_box():
    """No LQR may give what nobody else may have."""
    kb = of_gains(job([0.0, 0.0, 0.0], [20.0, 0.0, 5.0]), np.zeros(15), gains_of(THETA))
    rules = np.array([[rule.gains for rule in base.rules] for base in kb.channels])
    assert rules.min() == 0.0
    assert rules[..., 0].max() == 20.0
    assert rules[..., 2].max() == 5.0
    assert [base.inputs[0].centres for base in kb.channels] == [NODES] * len(OUTPUTS)


def test_roll_changes_its_sign_with_the_speed():
    """Pitch does not; no gain stands for an integral."""
    gains = gains_of(THETA)
    assert np.all(gains[:, 1, 0] * np.sign(NODES) > 0.0)
    assert np.all(gains[:, 0, 0] > 0.0)
    assert not gains[..., 1].any()


def test_fixed_gains_are_a_start_and_roll_is_steered_back_where_it_rolls_backwards():
    """Everything but roll is the same at all nodes."""
    own = np.arange(1.0, 16.0)
    several = turned(own)
    assert np.array_equal(several[-1].ravel(), own)
    assert np.array_equal(several[0, 1], -own[3:6])
    assert np.array_equal(np.delete(several, 1, axis=1), np.tile(np.delete(own.reshape(1, 5, 3), 1, axis=1), (6, 1, 1)))


def test_the_gains_that_lqr_has_are_searched_and_nothing_else():
    """Seven gains at six nodes; integrals, the other rates and the places of terms stay as they begin."""
    kb = of_gains(WIDE, np.arange(15.0), turned(np.arange(15.0)))
    several = narrowed(candidate(kb, (kb,), WIDE.laws, "kb", "kb"))
    assert several.start.shape == (1, 7 * len(NODES))
    begun = several.decode(several.start)[0]
    assert begun == pytest.approx(np.asarray(FuzzyController(kb, laws=WIDE.laws).theta))
    moved = np.array(several.controller.theta_names)[several.decode(several.start + 0.01)[0] != begun]
    assert {name.split("[")[0] for name in moved} == {"kp_1", "kd_1", "kp_2", "kd_2", "kp_3", "kp_4", "kp_5"}
    assert len(moved) == 7 * len(NODES)


def test_where_each_motion_has_a_channel_of_its_own():
    """Of the region's plant, not of the one that is pushed with the source's two."""
    assert balanced(UNICYCLE_REGION)
    assert not balanced(UNICYCLE_PUSHED)
