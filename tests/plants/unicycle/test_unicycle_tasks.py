"""What the unicycle's situations are made of, what its motors can give, and how their measures count it."""

import numpy as np
import pytest

from plants.excitation import Step
from plants.unicycle import BETA0, UNICYCLE, UNICYCLE_BALANCED
from plants.unicycle.signals import MEASURES, PEDAL_MAX, TABLE_MAX, allocate, allocate_balance
from plants.unicycle.tasks import frictions, heavy, push, rough, slope, start

NOMINAL = {q.name: q.nominal for q in UNICYCLE.parameters}


def test_a_push_begins_and_ends_where_it_says():
    found = push(10.0, -20.0, at=1.5, lasting=0.25, height=0.3)
    assert found["Fx"] == Step(10.0, 1.5) + Step(-10.0, 1.75)
    assert found["Fy"] == Step(-20.0, 1.5) + Step(20.0, 1.75)
    assert "Fz" not in found
    assert found["hF"].level == 0.3


def test_slopes_rise_where_they_say():
    assert slope(forward=0.03)["sx"].level == 0.03
    assert slope(left=-0.02)["sy"].level == -0.02
    assert set(slope(forward=0.03)) == {"sx"}


def test_rough_ground_is_noise_of_the_path():
    """Waves of half a metre met at 1.5 m/s come three times a second; both slopes have the deviation asked for."""
    found = rough(0.03, 1.5, 0.5)
    assert set(found) == {"sx", "sy"}
    for one in found.values():
        assert one.variance == pytest.approx(0.03**2)
        assert one.frequency == pytest.approx(3.0)


def test_a_heavy_rider_is_the_body_alone():
    assert heavy(1.2) == pytest.approx({k: 1.2 * NOMINAL[k] for k in ("MB", "IBx", "IBy", "IBz")})


def test_frictions_are_those_of_the_tyre_and_of_all_bearings():
    found = frictions(0.7, 3.0)
    assert found.pop("Dcor") == pytest.approx(0.7)
    assert found == pytest.approx({k: 3.0 * NOMINAL[k] for k in ("Dg", "D1", "D2", "D3", "D4", "DTt")})


def test_starts_roll_at_their_speed():
    x = start(1.5, 0.05, 0.02)
    assert x[8] * NOMINAL["Rw"] == pytest.approx(1.5)
    assert (x[1], x[2]) == (0.05, BETA0 + 0.02)
    assert np.count_nonzero(x) == 3


def test_motors_are_limited_as_the_tyre_and_the_nominal_upset_ask():
    """Both pedals at their limit push with what 17 kg on rubber bear: twice 12.5 N m over 0.15 m, 17.1 kg times g."""
    limits = {q.name: (q.low, q.high) for q in UNICYCLE.inputs}
    assert limits == {"tau1": (-12.5, 12.5), "tau2": (-12.5, 12.5), "tau3": (-12.0, 12.0)}
    assert [(c.low, c.high) for c in UNICYCLE.channels] == [(-12.5, 12.5), (-12.0, 12.0)]
    assert 2.0 * limits["tau1"][1] / NOMINAL["Rw"] == pytest.approx(17.1 * NOMINAL["g"], rel=0.01)


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
