"""A law that holds its output while the measurement cannot be trusted."""

import math
from itertools import pairwise

import pytest

from controllers import PID, TwoDegreePID
from plants.core.tracing.trace import trace

G = (2.0, 3.0, 0.5)
FILTER = {"sample_time": 0.1, "derivative_filter_time": 0.4}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("position", range(4), ids=["r", "y", "r_rate", "y_rate"])
@pytest.mark.parametrize("limits", [None, (-5.0, 5.0)])
def test_invalid_signal_holds_command_and_states(bad, position, limits):
    pid = PID(hold_invalid=True, limits=limits, derivative_on="measurement", **FILTER)
    u, c = pid.law(0.0, 1.0, 0.3, 0.0, 0.2, pid.initial(), G)
    signals = [1.0, 0.3, 0.0, 0.2]
    signals[position] = bad
    for _ in range(3):
        held, c_held = pid.law(0.0, *signals, c, G)
        assert (held, c_held) == (u, c)
    again = pid.law(0.0, 1.0, 0.4, 0.0, 0.2, c_held, G)
    assert again == pid.law(0.0, 1.0, 0.4, 0.0, 0.2, c, G)
    assert math.isfinite(again[0])


@pytest.mark.parametrize("place", range(4))
def test_invalid_gains_hold_as_well(place):
    # A schedule that saw the NaN may have passed it on to the gains.
    pid = TwoDegreePID(hold_invalid=True, **FILTER)
    u, c = pid.law(0.0, 1.0, 0.3, 0.0, 0.2, pid.initial(), (*G, 0.5))
    gains = [1.0, 1.0, 1.0, 0.5]
    gains[place] = math.nan
    assert pid.law(0.0, 1.0, 0.3, 0.0, 0.2, c, tuple(gains)) == (u, c)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_an_invalid_applied_command_holds_as_well(value):
    pid = PID(
        hold_invalid=True, external_reset=True, anti_windup="back_calculation", tracking_time=1.0, sample_time=0.1
    )
    u, c = pid.law(0.0, 1.0, 0.3, 0.0, 0.2, pid.initial(), (*G, 0.5))
    assert pid.law(0.0, 1.0, 0.3, 0.0, 0.2, c, (*G, value)) == (u, c)


def test_valid_signals_are_not_touched_by_the_watch():
    watching, plain = PID(hold_invalid=True, frozen_after=5.0, **FILTER), PID(**FILTER)
    c_watching, c_plain = watching.initial(), plain.initial()
    for k in range(20):
        u_watching, c_watching = watching.law(0.0, 1.0, 0.01 * k, 0.0, 0.1, c_watching, G)
        u_plain, c_plain = plain.law(0.0, 1.0, 0.01 * k, 0.0, 0.1, c_plain, G)
        assert u_watching == u_plain
        assert c_watching[:3] == c_plain


@pytest.mark.parametrize(("sample_time", "samples"), [(0.1, 3), (0.07, 5)])
@pytest.mark.parametrize("value", [0.7, 0.0])
def test_frozen_measurement_holds_after_its_time_and_not_before(sample_time, samples, value):
    # 0.3 s: the third repetition at 0.1 s, the fifth (0.35 s) at 0.07 s. A first measurement of 0 is not a repetition.
    pid = PID(sample_time=sample_time, frozen_after=0.3)
    u, c = pid.law(0.0, 1.0, value, 0.0, 0.0, pid.initial(), G)
    commands = [u]
    for _ in range(samples + 3):
        u, c = pid.law(0.0, 1.0, value, 0.0, 0.0, c, G)
        commands.append(u)
    moving = [b > a for a, b in pairwise(commands)]  # the integral grows while not held
    assert moving == [True] * (samples - 1) + [False] * 4


def test_one_bit_of_change_ends_the_hold():
    pid = PID(sample_time=0.1, frozen_after=0.2)
    c = pid.initial()
    for _ in range(10):
        u, c = pid.law(0.0, 1.0, 0.7, 0.0, 0.0, c, G)
    moved, c_moved = pid.law(0.0, 1.0, math.nextafter(0.7, 1.0), 0.0, 0.0, c, G)
    assert c_moved[0] > c[0]
    assert moved == pytest.approx(u, abs=3.0 * 0.1)  # what the integral made of the one trusted sample before


def test_invalid_reference_is_seen_even_where_no_term_of_the_command_reads_it():
    # With weight 0 the tape drops the reference from the command; the integral still reads it.
    pid = PID(hold_invalid=True, set_point_weight=0.0, sample_time=0.1)
    program = trace(pid.law, "t", "r", "y", "r_rate", "y_rate", pid.state_names, pid.gain_names)
    assert program(0.0, math.nan, 0.3, 0.0, 0.0, 0.4, 0.5, *G) == (0.5, 0.4, 0.5)


def test_a_new_value_after_nan_is_a_change():
    pid = PID(sample_time=0.1, frozen_after=0.3, hold_invalid=True)
    c = pid.initial()
    for y in (0.7, 0.7, math.nan):
        _, c = pid.law(0.0, 1.0, y, 0.0, 0.0, c, G)
    _, moved = pid.law(0.0, 1.0, 0.8, 0.0, 0.0, c, G)
    assert moved[0] > c[0]


def test_nan_does_not_count_as_a_change():
    pid = PID(sample_time=0.1, frozen_after=0.3, hold_invalid=True)
    c = pid.initial()
    for y in (0.7, 0.7, math.nan, 0.7):
        u, c = pid.law(0.0, 1.0, y, 0.0, 0.0, c, G)
    held, _ = pid.law(0.0, 1.0, 0.7, 0.0, 0.0, c, G)
    assert held == u
