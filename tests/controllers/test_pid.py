"""The PID law against a plain loop written from its definition."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers import PID, TwoDegreePID
from plants.core.tracing.trace import trace

H = 0.005
LIMIT = 20.0
GAINS = (3.62, 0.59, 3.17)


def plain_step(w, r, q, q_rate, gains):
    """One sample of the law as the study of the Van der Pol oscillator states it."""
    kp, ki, kd = gains
    e, e_rate = r - q, -q_rate
    v = kp * e + w + kd * e_rate
    u = min(max(v, -LIMIT), LIMIT)
    if abs(v) < LIMIT or v * e < 0:
        w = w + H * ki * e
    return u, w


def run_van_der_pol(step, situation, gains):
    """Classical Runge-Kutta with u and xi held over the step; returns commands, IAE and the integral of |dS|."""
    seed, r, q, q_rate, mu = situation
    noise = np.random.default_rng(seed).standard_normal(201) * math.sqrt(0.3)
    w, commands, iae, entropy = 0.0, [], 0.0, 0.0
    for k in range(4000):
        xi = float(noise[k // 20])
        u, w = step(w, r, q, q_rate, gains)
        commands.append(u)
        iae += H * abs(r - q)
        entropy += H * abs(mu * (q * q - 1.0) * q_rate * q_rate - gains[2] * q_rate * q_rate)
        q, q_rate = rk4(q, q_rate, u, xi, mu)
    return commands, iae, entropy


def rk4(q, p, u, xi, mu):
    def slope(q, p):
        return p, -mu * (q * q - 1.0) * p - (1.0 + xi) * q + u + xi

    a = slope(q, p)
    b = slope(q + 0.5 * H * a[0], p + 0.5 * H * a[1])
    c = slope(q + 0.5 * H * b[0], p + 0.5 * H * b[1])
    d = slope(q + H * c[0], p + H * c[1])
    return (
        q + H / 6.0 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0]),
        p + H / 6.0 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1]),
    )


TAUGHT = ((1, 1.5, 0.1, 0.0, 1.0), (2, 0.0, 2.0, 0.0, 1.0), (3, -1.0, 1.5, -1.0, 1.0), (4, 0.5, -2.0, 0.0, 1.0))


def pid_step(pid):
    def step(w, r, q, q_rate, gains):
        u, (w,) = pid.law(0.0, r, q, 0.0, q_rate, (w,), gains)
        return u, w

    return step


def test_law_gives_the_published_cost_of_the_van_der_pol_study():
    # The method's appendix: J 4.834, IAE 2.82, TV 38 on the taught set for these gains; the last digits printed bind.
    runs = [run_van_der_pol(pid_step(PID(limits=(-LIMIT, LIMIT), sample_time=H)), s, GAINS) for s in TAUGHT]
    iae = np.mean([run[1] for run in runs])
    entropy = np.mean([run[2] for run in runs])
    travel = np.mean([np.abs(np.diff(run[0])).sum() for run in runs])
    assert iae == pytest.approx(2.82, abs=0.005)
    assert travel == pytest.approx(38.0, abs=0.5)
    assert iae + 0.15 * entropy + 0.002 * travel == pytest.approx(4.834, abs=0.0005)


def test_law_equals_the_plain_loop_bit_for_bit_when_saturated_most_of_the_time():
    pid, gains = PID(limits=(-LIMIT, LIMIT), sample_time=H), (9.0, 8.0, 6.0)
    mine = run_van_der_pol(pid_step(pid), (12, 4.0, -3.0, 2.0, 1.0), gains)
    plain = run_van_der_pol(plain_step, (12, 4.0, -3.0, 2.0, 1.0), gains)
    assert mine == plain
    assert sum(abs(u) == LIMIT for u in plain[0]) > 20  # the case is about saturation


numbers = st.floats(-50.0, 50.0, allow_subnormal=False)


@given(w=numbers, r=numbers, q=numbers, q_rate=numbers, kp=st.floats(0.0, 10.0), ki=st.floats(0.01, 10.0))
def test_one_sample_equals_the_plain_loop(w, r, q, q_rate, kp, ki):
    pid = PID(limits=(-LIMIT, LIMIT), sample_time=H)
    assert pid_step(pid)(w, r, q, q_rate, (kp, ki, 0.7)) == plain_step(w, r, q, q_rate, (kp, ki, 0.7))


def test_exactly_at_the_limit_the_integral_stands_still():
    # The plain loop integrates where |v| < limit: at equality it does not, unless the error leads back.
    pid = PID(limits=(-LIMIT, LIMIT), sample_time=H)
    assert pid.law(0.0, 2.0, 0.0, 0.0, 0.0, (0.0,), (10.0, 1.0, 0.0)) == (20.0, (0.0,))
    assert pid.law(0.0, -2.0, 0.0, 0.0, 0.0, (40.0,), (10.0, 1.0, 0.0)) == (20.0, (40.0 - H * 2.0,))


def test_reverse_action_mirrors_the_command():
    direct, reverse = PID(sample_time=0.1), PID(sample_time=0.1, action="reverse")
    for pid, sign in ((direct, 1.0), (reverse, -1.0)):
        command, (w,) = pid.law(0.0, 1.0, 0.25, 0.5, -0.25, (0.0,), (2.0, 3.0, 4.0))
        assert command == sign * (2.0 * 0.75 + 4.0 * 0.75)
        assert w == pytest.approx(sign * 0.1 * 3.0 * 0.75, rel=1e-15)
    # A schedule sees the error rate itself, whatever the plant's sense.
    assert reverse.error_rate(0.5, -0.25, (0.0,)) == direct.error_rate(0.5, -0.25, (0.0,)) == 0.75


def test_reverse_action_has_its_anti_windup_on_the_right_side():
    pid = PID(limits=(-1.0, 1.0), sample_time=0.1, action="reverse")
    up = pid.law(0.0, 0.0, 5.0, 0.0, 0.0, (0.0,), (1.0, 1.0, 0.0))  # y above r asks for more command
    assert up == (1.0, (0.0,))
    back = pid.law(0.0, 0.0, -0.5, 0.0, 0.0, (3.0,), (1.0, 1.0, 0.0))
    assert back == (1.0, (3.0 - 0.1 * 0.5,))


@given(ki=st.floats(0.0, 10.0), w=numbers, e=st.floats(-2.0, 2.0))
def test_a_change_of_ki_makes_no_bump(ki, w, e):
    pid = PID(sample_time=0.01)
    assert pid.law(0.0, e, 0.0, 0.0, 0.0, (w,), (1.0, ki, 0.0))[0] == e + w


def test_at_rest_no_gain_change_makes_a_bump():
    pid = PID(sample_time=0.01)
    for gains in ((1.0, 1.0, 1.0), (7.0, 0.0, 3.0), (0.1, 9.0, 0.0)):
        assert pid.law(0.0, 1.5, 1.5, 0.0, 0.0, (4.2,), gains) == (4.2, (4.2,))


def test_derivative_on_the_measurement_ignores_a_reference_step():
    on_error, on_measurement = (PID(sample_time=0.1, derivative_on=on) for on in ("error", "measurement"))
    kick = 1.0 / 0.1  # backward difference of a unit step of the reference
    arguments = (0.0, 1.0, 1.0, kick, -0.5, (0.0,), (0.0, 0.0, 2.0))
    assert on_error.law(*arguments)[0] == 2.0 * (kick + 0.5)
    assert on_measurement.law(*arguments)[0] == 1.0


def test_set_point_weight_acts_on_the_proportional_term_alone():
    pid = PID(sample_time=0.1, set_point_weight=0.25)
    command, (w,) = pid.law(0.0, 2.0, 0.5, 0.0, 0.0, (0.0,), (3.0, 1.0, 0.0))
    assert command == 3.0 * (0.25 * 2.0 - 0.5)
    assert w == pytest.approx(0.1 * 1.5, rel=1e-15)


@given(r=numbers, y=numbers, b=st.floats(0.0, 1.0))
def test_two_degree_pid_is_the_pid_with_its_weight_as_a_gain(r, y, b):
    settings = {"limits": (-5.0, 5.0), "sample_time": 0.1, "derivative_filter_time": 0.3}
    fixed, free = PID(set_point_weight=b, **settings), TwoDegreePID(**settings)
    c = (0.1, 0.2, -0.3)
    expected = fixed.law(0.0, r, y, 0.5, 1.0, c, (2.0, 0.3, 0.7))
    assert free.law(0.0, r, y, 0.5, 1.0, c, (2.0, 0.3, 0.7, b)) == expected
    assert free.gain_names == ("kp", "ki", "kd", "b")


def test_filter_has_its_pole_at_one_minus_h_over_tau():
    pid = PID(sample_time=0.1, derivative_filter_time=0.4)
    c, seen = pid.initial(), []
    for rate in (1.0, 0.0, 0.0, 0.0, 0.0):
        seen.append(pid.error_rate(0.0, rate, c))
        command, c = pid.law(0.0, 0.0, 0.0, 0.0, rate, c, (0.0, 0.0, 1.0))
        assert command == seen[-1]  # the schedule sees the rate that the law uses
    # h / tau_f = 1/4: impulse response 1/4 (3/4)^k, exact in binary.
    assert seen == [-0.25 * 0.75**k for k in range(5)]


def test_filter_as_long_as_the_sample_passes_the_rates():
    filtered = PID(sample_time=0.1, derivative_filter_time=0.1)
    assert filtered.error_rate(3.0, 1.0, (0.0, 5.0, 5.0)) == 2.0


def test_filtered_states_serve_law_and_schedule_with_the_derivative_on_the_measurement():
    pid = PID(sample_time=0.1, derivative_filter_time=0.2, derivative_on="measurement")
    assert pid.error_rate(4.0, 1.0, (0.0, 0.0, 0.0)) == 1.5
    command, c = pid.law(0.0, 0.0, 0.0, 4.0, 1.0, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert (command, c) == (-0.5, (0.0, 2.0, 0.5))


def test_rate_limit_moves_the_command_by_its_share_of_a_sample():
    pid = PID(sample_time=0.5, rate_limit=2.0, limits=(-2.5, 2.5), initial_command=0.5)
    c, commands = pid.initial(), []
    for r in (9.0, 9.0, 9.0, -9.0):
        u, c = pid.law(0.0, r, 0.0, 0.0, 0.0, c, (1.0, 0.0, 0.0))
        commands.append(u)
    assert commands == [1.5, 2.5, 2.5, 1.5]


def test_initial_command_starts_the_integral():
    pid = PID(sample_time=0.1, initial_command=3.0)
    assert pid.law(0.0, 1.0, 1.0, 0.0, 0.0, pid.initial(), (5.0, 1.0, 1.0))[0] == 3.0


def test_limits_that_exclude_zero_start_at_the_nearest_limit():
    pid = PID(sample_time=0.1, limits=(2.0, 5.0), rate_limit=1.0)
    assert pid.law(0.0, 9.0, 0.0, 0.0, 0.0, pid.initial(), (1.0, 0.0, 0.0))[0] == pytest.approx(2.1, rel=1e-15)


def test_law_does_not_depend_on_time():
    pid = PID(limits=(-1.0, 1.0), sample_time=0.1)
    assert pid.law(0.0, 1, 0, 0, 0, (0.0,), GAINS) == pid.law(7.0, 1, 0, 0, 0, (0.0,), GAINS)


# ------------------------------------------------------------------------------------------------- all settings at once

SETTINGS = {
    "bare": {},
    "limits": {"limits": (-1.0, 2.0)},
    "lower limit": {"limits": (-1.0, math.inf)},
    "no anti-windup": {"limits": (-1.0, 2.0), "anti_windup": "none"},
    "back calculation": {"limits": (-1.0, 2.0), "anti_windup": "back_calculation", "tracking_time": 0.5},
    "filter": {"derivative_filter_time": 0.25, "derivative_on": "measurement"},
    "rate limit": {"limits": (-1.0, 2.0), "rate_limit": 3.0},
    "reverse": {"action": "reverse", "set_point_weight": 0.3, "limits": (-1.0, 2.0)},
    "hold": {"hold_invalid": True, "frozen_after": 0.3, "derivative_filter_time": 0.25},
}


def arguments(law, rng, n):
    signals = [3.0 * rng.standard_normal(n) for _ in range(4)]
    signals[1][: n // 4] = 0.0  # measurements that repeat the initial one
    c = tuple(rng.uniform(-0.9, 0.9, n) if name != "unchanged" else np.ones(n) for name in law.state_names)
    return signals, c, tuple(rng.uniform(0.0, 4.0, n) for _ in law.gain_names)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("kind", [PID, TwoDegreePID])
def test_arrays_floats_and_traced_numbers_give_the_same_numbers(name, kind):
    settings = {key: value for key, value in SETTINGS[name].items() if kind is PID or key != "set_point_weight"}
    law = kind(sample_time=0.1, **settings)
    signals, c, g = arguments(law, np.random.default_rng(3), 64)
    command, c_new = law.law(0.0, *signals, c, g)
    program = trace(law.law, "t", "r", "y", "r_rate", "y_rate", law.state_names, law.gain_names)
    for lane in range(64):
        pick = [float(x[lane]) for x in signals]
        state, gains = tuple(float(x[lane]) for x in c), tuple(float(x[lane]) for x in g)
        alone = law.law(0.0, *pick, state, gains)
        assert (command[lane], tuple(x[lane] for x in c_new)) == alone
        assert program(0.0, *pick, *state, *gains) == (alone[0], *alone[1])


def operations(law):
    return trace(law.law, "t", "r", "y", "r_rate", "y_rate", law.state_names, law.gain_names).counts()


def test_settings_that_are_off_cost_nothing():
    bare = PID(sample_time=0.1, anti_windup="none")
    # e = r - y, d = r' - y', kp e + w + kd d, w + (h ki) e: nothing else is on the tape.
    assert bare.n_states == 1
    assert operations(bare) == {"sub": 2, "mul": 4, "add": 3}
    assert operations(replace(bare, anti_windup="conditional")) == operations(bare)  # nothing to wind up without limits
    assert operations(replace(bare, limits=(-math.inf, math.inf))) == operations(bare)
    back = replace(bare, anti_windup="back_calculation", tracking_time=1.0)
    assert operations(back) == operations(bare)
    limited = operations(replace(bare, limits=(-1.0, 1.0), anti_windup="conditional"))
    assert limited == {"sub": 4, "mul": 4, "add": 3, "minimum": 2, "maximum": 2, "where": 2}


# --------------------------------------------------------------------------------------------------------- continuous


def test_continuous_law_is_the_limit_of_the_sampled_one():
    law = PID(limits=(-1.0, 2.0), derivative_filter_time=0.5, set_point_weight=0.5, sample_time=1e-7)
    c, g = (0.1, 0.3, -0.2), (0.5, 0.7, 0.2)
    for r in (1.0, 9.0, -9.0):
        command, rates = law.continuous(0.0, r, 0.4, 0.6, 0.9, c, g)
        sampled, c_new = law.law(0.0, r, 0.4, 0.6, 0.9, c, g)
        # One Euler step of length h: the command differs by kd * h * d', below 1e-7; the rates by rounding / h = 1e-9.
        assert command == pytest.approx(sampled, abs=1e-7)
        assert rates == pytest.approx(np.subtract(c_new, c) / 1e-7, abs=1e-7)


def test_continuous_back_calculation_leads_the_integral_back():
    law = PID(limits=(-1.0, 1.0), anti_windup="back_calculation", tracking_time=0.5)
    command, (w_rate,) = law.continuous(0.0, 0.0, 0.0, 0.0, 0.0, (3.0,), (1.0, 1.0, 0.0))
    assert (command, w_rate) == (1.0, -4.0)


@pytest.mark.parametrize("setting", [{"rate_limit": 1.0}, {"frozen_after": 1.0}, {"hold_invalid": True}])
def test_continuous_law_refuses_what_needs_samples(setting):
    with pytest.raises(ValueError, match=next(iter(setting))):
        PID(**setting).continuous(0.0, 0.0, 0.0, 0.0, 0.0, (0.0,) * PID(**setting).n_states, GAINS)


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"action": "revers"}, "did you mean 'reverse'"),
        ({"derivative_on": "output"}, "one of error, measurement"),
        ({"anti_windup": "clamp"}, "conditional"),
        ({"rate_source": "rate"}, "rate_source"),
        ({"limits": (1.0, -1.0)}, "low < high"),
        ({"limits": (1.0,)}, "low < high"),
        ({"rate_limit": 0.0}, "rate_limit must be above 0 1/s, got 0.0"),
        ({"rate_limit": math.nan}, "rate_limit must be above 0 1/s, got nan"),
        ({"derivative_filter_time": -1.0}, "derivative_filter_time must be at least 0 s, got -1.0"),
        ({"derivative_filter_time": 0.01, "sample_time": 0.02}, "use derivative_filter_time >= 0.02 or 0"),
        ({"anti_windup": "back_calculation"}, "needs tracking_time"),
        ({"anti_windup": "back_calculation", "tracking_time": 0.1, "sample_time": 0.2}, "tracking_time >= 0.2"),
        ({"external_reset": True}, "needs anti_windup"),
        ({"limits": (0.0, 1.0), "initial_command": 2.0}, "inside the limits"),
        ({"set_point_weight": math.inf}, "finite"),
    ],
)
def test_settings_are_checked(settings, says):
    with pytest.raises(ValueError, match=says):
        PID(**settings)


def test_filter_shorter_than_the_sample_is_refused_when_the_loop_binds_the_sample_time():
    with pytest.raises(ValueError, match="shorter than the sample time"):
        replace(PID(derivative_filter_time=0.005), sample_time=0.01)


def test_law_without_sample_time_says_what_to_do():
    with pytest.raises(ValueError, match=r"dataclasses.replace\(law, sample_time"):
        PID().law(0.0, 1.0, 0.0, 0.0, 0.0, (0.0,), GAINS)


def test_settings_are_coerced_to_floats():
    pid = PID(limits=[-1, 1], sample_time=1, initial_command=0)
    assert pid.limits == (-1.0, 1.0)
    assert all(isinstance(x, float) for x in (*pid.limits, pid.sample_time, pid.initial_command))
