"""Anti-windup in closed loop: a saturated actuator in front of an integrating plant."""

import numpy as np
import pytest

from controllers import PID

H = 0.01


def response(pid, gains=(2.0, 2.0, 0.0), steps=4000, actuator=None):
    """Answer of y' = u to a step of the reference from 0 to 5, the command limited to [-0.5, 0.5]."""
    y, c, outputs = 0.0, pid.initial(), []
    for _ in range(steps):
        g = gains
        if pid.external_reset:
            g = (*gains, actuator["applied"])
        u, c = pid.law(0.0, 5.0, y, 0.0, 0.0, c, g)
        if actuator is not None:
            u = actuator["applied"] = min(max(u, -actuator["limit"]), actuator["limit"])
        y += H * u
        outputs.append(y)
    return np.array(outputs)


def overshoot(outputs):
    return outputs.max() - 5.0


def settling(outputs):
    outside = np.flatnonzero(np.abs(outputs - 5.0) > 0.1)
    return H * (outside[-1] + 1)


LIMITS = {"limits": (-0.5, 0.5), "sample_time": H}
WITHOUT = PID(**LIMITS, anti_windup="none")
CONDITIONAL = PID(**LIMITS, anti_windup="conditional")
BACK = PID(**LIMITS, anti_windup="back_calculation", tracking_time=0.5)


@pytest.mark.parametrize("pid", [CONDITIONAL, BACK], ids=["conditional", "back calculation"])
def test_anti_windup_overshoots_less_and_settles_sooner(pid):
    plain = response(WITHOUT)
    outputs = response(pid)
    # Without it the integral gathers for the 10 s of the way: an overshoot of the step's own size.
    assert overshoot(plain) > 2.0
    assert overshoot(outputs) < 0.2 * overshoot(plain)
    assert settling(outputs) < 0.6 * settling(plain)
    assert outputs[-1] == pytest.approx(5.0, abs=1e-3)


def test_linear_response_is_the_same_with_and_without_anti_windup():
    wide = {"limits": (-1e6, 1e6), "sample_time": H}
    plain = response(PID(**wide, anti_windup="none"))
    np.testing.assert_array_equal(response(PID(**wide)), plain)
    np.testing.assert_array_equal(response(PID(**wide, anti_windup="back_calculation", tracking_time=1.0)), plain)


def test_integral_stands_still_only_outwards():
    pid = PID(limits=(-2.0, 1.0), sample_time=0.5)
    cases = {3.0: (1.0, 3.0), -3.0: (-2.0, -3.0)}
    for w, (command, held) in cases.items():
        outward, inward = (0.1, -0.1) if w > 0 else (-0.1, 0.1)
        assert pid.law(0.0, outward, 0.0, 0.0, 0.0, (w,), (1.0, 2.0, 0.0)) == (command, (held,))
        assert pid.law(0.0, inward, 0.0, 0.0, 0.0, (w,), (1.0, 2.0, 0.0)) == (command, (w + 0.5 * 2.0 * inward,))


def test_back_calculation_leads_the_integral_back_with_its_time_constant():
    pid = PID(limits=(-1.0, 1.0), sample_time=0.1, anti_windup="back_calculation", tracking_time=0.4)
    w, seen = 9.0, []
    for _ in range(4):
        _, (w,) = pid.law(0.0, 0.0, 0.0, 0.0, 0.0, (w,), (1.0, 1.0, 0.0))
        seen.append(w - 1.0)
    assert seen == [8.0 * 0.75**k for k in range(1, 5)]  # share 1/4 a sample, exact in binary


def test_rate_limit_winds_up_as_a_limit_does():
    # The command can move by 0.1 a sample; the demand of 5 is beyond that, so the integral waits.
    pid = PID(rate_limit=1.0, sample_time=0.1)
    assert pid.law(0.0, 5.0, 0.0, 0.0, 0.0, (0.0, 0.0), (1.0, 1.0, 0.0)) == (0.1, (0.0, 0.1))
    free = PID(rate_limit=1.0, sample_time=0.1, anti_windup="none")
    assert free.law(0.0, 5.0, 0.0, 0.0, 0.0, (0.0, 0.0), (1.0, 1.0, 0.0)) == (0.1, (0.5, 0.1))


def test_external_reset_knows_of_a_limit_that_the_law_does_not_know():
    blind = PID(sample_time=H, anti_windup="none")
    reset = PID(sample_time=H, anti_windup="back_calculation", tracking_time=0.5, external_reset=True)
    assert reset.gain_names == ("kp", "ki", "kd", "applied")
    plain = response(blind, actuator={"applied": 0.0, "limit": 0.5})
    outputs = response(reset, actuator={"applied": 0.0, "limit": 0.5})
    assert overshoot(plain) > 2.0
    assert overshoot(outputs) < 0.2 * overshoot(plain)
    assert outputs[-1] == pytest.approx(5.0, abs=1e-3)
