"""Measures of the unicycle's motors on torques that are known, and how they answer several channels."""

import numpy as np
import pytest

from plants.unicycle import UNICYCLE_BALANCED
from plants.unicycle.signals import MEASURES, PEDAL_MAX, TABLE_MAX, allocate, allocate_balance

STEP = 0.25  # s; exact in binary, so sums are exact


def measured(pedals, tables):
    """Values of all measures after torques that are held for a step each."""
    found = {}
    for measure in MEASURES:
        m = measure.initial
        for pedal, table in zip(pedals, tables, strict=True):
            m = measure.updated(0.0, (), (pedal, -pedal, table), (), (), m, STEP)
        found[measure.name] = float(measure.value(tuple(map(np.array, m)), np.array(STEP * len(pedals))))
    return found


def test_effort_travel_time_at_a_limit_and_load():
    """Four steps by hand: squares 0.25 (4 * 4 + 144 + 2 * 9), travel from 0, one step at the turntable's limit."""
    found = measured([2.0, 2.0, -2.0, 2.0], [0.0, TABLE_MAX, 3.0, -3.0])
    assert found["motor_effort"] == pytest.approx(0.25 * (16.0 + 144.0 + 18.0))
    assert found["motor_travel"] == pytest.approx(2.0 + 4.0 + 4.0 + 12.0 + 9.0 + 6.0)
    assert found["motor_limit_time"] == pytest.approx(0.25)
    assert found["motor_load"] == pytest.approx(np.sqrt((1.0 + 2.0 / 16.0) / 4.0))  # the turntable's: the larger one


def test_a_step_with_both_motors_at_their_limits_counts_once():
    """Either sign; the pedals' motor has a larger limit than the turntable's."""
    assert measured([PEDAL_MAX, TABLE_MAX], [-TABLE_MAX, 0.0])["motor_limit_time"] == pytest.approx(0.25)
    assert measured([PEDAL_MAX] * 3, [0.0] * 3)["motor_load"] == pytest.approx(1.0)


def test_motors_answer_the_sums_of_channels_within_their_limits():
    """Without the further ones it is what the source's law gives."""
    assert allocate_balance(0.0, (), (1.5, 2.0, 0.25, 0.5, -0.25), ()) == pytest.approx((1.75, -1.75, -2.25))
    assert allocate_balance(0.0, (), (0.0, 11.0, 0.0, 11.0, 0.0), ())[2] == -TABLE_MAX
    assert allocate_balance(0.0, (), (0.0, -11.0, 0.0, -11.0, 0.0), ())[2] == TABLE_MAX
    assert allocate_balance(0.0, (), (30.0, 0.0, -20.0, 0.0, 0.0), ())[:2] == (10.0, -10.0)  # the sum is limited
    assert allocate_balance(0.0, (), (30.0, 0.0, 20.0, 0.0, 0.0), ())[:2] == (PEDAL_MAX, -PEDAL_MAX)
    few, many = allocate(0.0, (), (3.0, 4.0), ()), allocate_balance(0.0, (), (3.0, 4.0, 0.0, 0.0, 0.0), ())
    assert many == pytest.approx(few)


def test_channels_beside_pitch_and_roll_answer_in_proportion_alone():
    """No heading and no angle of the turntable is held: neither has an equilibrium to go back to."""
    assert [channel.output for channel in UNICYCLE_BALANCED.channels] == [
        "pitch", "roll", "speed", "yaw_rate", "table_rate",
    ]  # fmt: skip
    for channel in UNICYCLE_BALANCED.channels[2:]:
        assert channel.gains_low[0] < channel.gains_high[0]
        assert channel.gains_low[1:] == channel.gains_high[1:] == (0.0, 0.0)
