"""The law that stores the integral of the error: against its definition, against PID, and its bump."""

import numpy as np
import pytest

from controllers import PID, ErrorIntegralPID

H = 0.05


def run(law, signals, gains):
    c, found = law.initial(), []
    for (r, y, r_rate, y_rate), g in zip(signals, gains, strict=True):
        command, c = law.law(0.0, r, y, r_rate, y_rate, c, tuple(g))
        found.append(command)
    return np.array(found)


@pytest.fixture
def signals():
    return np.random.default_rng(0).normal(size=(300, 4)).tolist()


def test_it_is_its_definition(signals):
    gains = np.random.default_rng(1).uniform(0.1, 2.0, (300, 3))
    total, expected = 0.0, []
    for (r, y, r_rate, y_rate), (kp, ki, kd) in zip(signals, gains, strict=True):
        expected.append(kp * (r - y) + ki * total + kd * (r_rate - y_rate))
        total += H * (r - y)
    # Sums of 300 numbers near 1: rounding stays below 1e-13.
    np.testing.assert_allclose(run(ErrorIntegralPID(sample_time=H), signals, gains), expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("settings", [
    {}, {"limits": (-0.5, 0.7)}, {"limits": (-0.5, 0.7), "anti_windup": "back_calculation", "tracking_time": 0.4},
    {"limits": (-0.5, 0.7), "anti_windup": "none"}, {"rate_limit": 2.0}, {"derivative_filter_time": 0.2, "action": "reverse"},
    {"set_point_weight": 0.4, "derivative_on": "measurement"},
])  # fmt: skip
def test_with_constant_gains_it_is_the_usual_law(signals, settings):
    gains = [(0.8, 0.6, 0.1)] * 300
    ours, theirs = (run(law(sample_time=H, **settings), signals, gains) for law in (PID, ErrorIntegralPID))
    np.testing.assert_allclose(theirs, ours, rtol=0.0, atol=1e-12)


def test_a_change_of_ki_jumps_by_the_integral_and_the_usual_law_does_not():
    signals = [(1.0, 0.0, 0.0, 0.0)] * 21
    gains = [(0.0, 2.0, 0.0)] * 20 + [(0.0, 3.0, 0.0)]
    theirs, ours = (run(law(sample_time=H), signals, gains) for law in (ErrorIntegralPID, PID))
    assert theirs[20] - theirs[19] == pytest.approx(3.0 * 20 * H - 2.0 * 19 * H, rel=1e-12)
    assert ours[20] - ours[19] == pytest.approx(2.0 * H, rel=1e-9)


def test_without_integral_action_the_integral_stands_still():
    law = ErrorIntegralPID(sample_time=H)
    _, c = law.law(0.0, 1.0, 0.0, 0.0, 0.0, (2.5,), (1.0, 0.0, 0.0))
    assert c == (2.5,)
    assert law.follow(1.0, 0.0, 0.0, 0.0, (2.5,), (1.0, 0.5, 0.0), 3.0) == (4.0,)  # (3 - 1) / 0.5
    assert law.follow(1.0, 0.0, 0.0, 0.0, (2.5,), (1.0, 0.0, 0.0), 3.0) == (0.0,)  # no integral says 2


def test_an_initial_command_is_refused():
    with pytest.raises(ValueError, match="starts from an integral of 0, got initial_command 0.5"):
        ErrorIntegralPID(initial_command=0.5, sample_time=H)
