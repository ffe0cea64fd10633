"""Switching between manual and automatic."""

import math
from dataclasses import replace

import numpy as np
import pytest

from controllers import PID, ManualStation, TwoDegreePID
from plants.core.tracing.trace import trace

H = 0.01
G = (4.0, 3.0, 0.2)


def run(station, manual, track, reference=lambda t: 1.0, steps=1000):
    """Commands and outputs of y' = -y + u."""
    y, c, commands, outputs = 0.0, station.initial(), [], []
    for k in range(steps):
        t, rate = k * H, -y + (commands[-1] if commands else 0.0)
        u, c = station.law(t, reference(t), y, 0.0, rate, c, (*G, manual(t), track))
        commands.append(u)
        outputs.append(y)
        y += H * (u - y)
    return np.array(commands), np.array(outputs)


def between(start, stop):
    return lambda t: 1.0 if start <= t < stop else 0.0


def test_automatic_station_is_the_law():
    pid = PID(limits=(-3.0, 3.0), derivative_filter_time=0.05, sample_time=H)
    station = ManualStation(pid, ramp=1.0)
    c, c_station = pid.initial(), station.initial()
    for k in range(50):
        u, c = pid.law(0.0, 1.0, 0.02 * k, 0.0, 2.0, c, G)
        u_station, c_station = station.law(0.0, 1.0, 0.02 * k, 0.0, 2.0, c_station, (*G, 0.0, 99.0))
        assert (u_station, c_station) == (u, (*c, u))
        assert station.error_rate(0.0, 2.0, c_station) == pid.error_rate(0.0, 2.0, c)


@pytest.mark.parametrize("law", [PID(limits=(-3.0, 3.0)), PID(rate_limit=50.0), PID(derivative_filter_time=0.05)])
def test_both_switches_are_bumpless(law):
    station = ManualStation(law, ramp=0.5, sample_time=H)
    commands, outputs = run(station, between(4.0, 7.0), track=1.5, steps=2000)
    jumps = np.abs(np.diff(commands))
    first, last = 400, 700
    # Into manual: no more than the ramp allows. Out of manual: what one sample adds, (kp |y'| + ki |e|) h, with the
    # output almost at rest at 1.5 (|y'| < 0.1, e = -0.5): below 0.02. Had the integral not followed, the jump would be
    # about kp |e| = 2.
    assert jumps[first - 1] <= 0.5 * H + 1e-15
    assert jumps[last - 1] < 0.02
    assert commands[last - 1] == pytest.approx(1.5, abs=1e-12)  # manual reached what was asked for
    assert outputs[-1] == pytest.approx(1.0, abs=1e-2)  # and automatic takes over


def test_hold_ramp_keeps_the_last_automatic_command():
    commands, _ = run(ManualStation(PID(), ramp=0.0, sample_time=H), between(1.0, 2.0), track=77.0, steps=200)
    assert set(commands[100:]) == {commands[99]}


def test_infinite_ramp_follows_track_inside_the_limits():
    station = ManualStation(PID(limits=(-2.0, 2.0)), ramp=math.inf, sample_time=H)
    commands, _ = run(station, lambda _: 1.0, track=9.0, steps=3)
    assert list(commands) == [2.0, 2.0, 2.0]


def test_law_follows_any_command_exactly():
    pid = TwoDegreePID(derivative_filter_time=0.1, sample_time=H)
    arguments = (0.7, 0.2, 0.1, -0.3, (0.4, 0.5, 0.6), (*G, 0.5))
    c = pid.follow(*arguments, 1.25)
    # At the same signals and unchanged filters the law gives the followed command, to rounding of three terms.
    rest = replace(pid, derivative_filter_time=H)
    assert rest.law(0.0, 0.7, 0.2, c[1], c[2], c, (*G, 0.5))[0] == pytest.approx(1.25, abs=1e-14)


def test_invalid_measurement_in_manual_does_not_reach_the_integral():
    station = ManualStation(PID(hold_invalid=True), ramp=1.0, sample_time=H)
    c = station.initial()
    for y in (0.2, math.nan, math.nan, 0.2):
        u, c = station.law(0.0, 1.0, y, 0.0, 0.0, c, (*G, 1.0, 1.0))
    assert u == pytest.approx(4 * H, abs=1e-15)  # the operator's command moves on
    automatic, _ = station.law(0.0, 1.0, 0.2, 0.0, 0.0, c, (*G, 0.0, 1.0))
    assert automatic == pytest.approx(u, abs=1e-14)


def test_station_can_be_traced_and_equals_its_floats():
    station = ManualStation(PID(limits=(-1.0, 1.0), rate_limit=2.0), ramp=0.5, sample_time=H)
    names = tuple(f"c{k}" for k in range(station.n_states))
    program = trace(station.law, "t", "r", "y", "r_rate", "y_rate", names, station.gain_names)
    for manual in (0.0, 1.0):
        values = (0.3, -0.2, 0.1, 0.05)
        c, g = (0.2, 0.1, 0.1), (*G, manual, 0.9)
        u, c_new = station.law(0.0, *values, c, g)
        assert program(0.0, *values, *c, *g) == (u, *c_new)


def test_a_closed_loop_binds_station_and_law_at_once():
    bound = replace(ManualStation(PID(), ramp=1.0), sample_time=0.02, limits=(-1.0, 1.0))
    assert bound.sample_time == bound.automatic.sample_time == 0.02
    assert bound.limits == bound.automatic.limits == (-1.0, 1.0)
    assert ManualStation(PID(limits=(0.0, 1.0)), ramp=1.0).limits == (0.0, 1.0)
    assert ManualStation(PID(sample_time=0.03), ramp=1.0).sample_time == 0.03
    assert bound.rate_source == "output"


def test_wrong_stations_are_refused():
    with pytest.raises(TypeError, match="needs a PID or TwoDegreePID, got str"):
        ManualStation("pid", ramp=1.0)
    with pytest.raises(ValueError, match="ramp must be"):
        ManualStation(PID(), ramp=-1.0)
    with pytest.raises(ValueError, match=r"station\.automatic"):
        ManualStation(PID(), ramp=1.0).continuous(0.0, 0, 0, 0, 0, (), ())
    with pytest.raises(ValueError, match="sample_time is not set"):
        ManualStation(PID(), ramp=1.0).law(0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0), (*G, 1.0, 0.0))


@pytest.mark.parametrize("ramp", [0.0, 1.0, math.inf])
def test_limits_that_exclude_zero_are_kept_from_the_first_sample(ramp):
    station = ManualStation(PID(), ramp, limits=(2.0, 10.0), sample_time=H)
    c, commands = station.initial(), []
    for _ in range(500):
        u, c = station.law(0.0, 0.0, 0.0, 0.0, 0.0, c, (*G, 1.0, 6.0))
        commands.append(u)
    assert commands[0] == pytest.approx({0.0: 2.0, 1.0: 2.0 + H, math.inf: 6.0}[ramp])
    assert commands[-1] == pytest.approx(2.0 if ramp == 0.0 else 6.0)
