"""Tuning rules against numbers worked out by hand from the published formulas.

The process of the hand calculations is gain 2, time constant 3 s, dead time 1 s. Fractions are kept, so that no digit
comes from a program; 1e-12 relative is a few roundings.
"""

import inspect
import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers import tuning

EXACT = {"rel": 1e-12}


def test_chien_hrones_reswick():
    # a = 2 * 1 / 3, so 1 / a = 3/2. Load, 0 %: K = 0.95 * 3/2 = 1.425, Ti = 2.4, Td = 0.42. Set point, 20 %:
    # K = 0.95 * 3/2, Ti = 1.4 * 3 = 4.2, Td = 0.47. PI for set points without overshoot: K = 0.35 * 3/2, Ti = 1.2 * 3.
    rule = tuning.chien_hrones_reswick
    assert rule(2.0, 3.0, 1.0).vector == pytest.approx((1.425, 1.425 / 2.4, 1.425 * 0.42), **EXACT)
    quick = rule(2.0, 3.0, 1.0, task="set point", overshoot=20)
    assert quick.vector == pytest.approx((1.425, 1.425 / 4.2, 1.425 * 0.47), **EXACT)
    slow = rule(2.0, 3.0, 1.0, kind="pi", task="set point")
    assert slow.vector == pytest.approx((0.525, 0.525 / 3.6, 0.0), **EXACT)
    assert rule(2.0, 3.0, 1.0, kind="p", overshoot=20).vector == pytest.approx((1.05, 0.0, 0.0), **EXACT)


def test_cohen_coon():
    # r = 1/3, k = 3/2. PID: K = 3/2 (4/3 + 1/12) = 17/8, Ti = (32 + 2) / (13 + 8/3) = 102/47, Td = 4 / (11 + 2/3) = 12/35.
    # PI: K = 3/2 (9/10 + 1/36) = 167/120, Ti = (30 + 1) / (9 + 20/3) = 93/47. P: K = 3/2 (1 + 1/9) = 5/3.
    assert tuning.cohen_coon(2.0, 3.0, 1.0).vector == pytest.approx(
        (17 / 8, 17 / 8 * 47 / 102, 17 / 8 * 12 / 35), **EXACT
    )
    pi = tuning.cohen_coon(2.0, 3.0, 1.0, kind="pi")
    assert pi.vector == pytest.approx((167 / 120, 167 / 120 * 47 / 93, 0.0), **EXACT)
    assert tuning.cohen_coon(2.0, 3.0, 1.0, kind="p").vector == pytest.approx((5 / 3, 0.0, 0.0), **EXACT)


def test_lambda_tuning():
    # PID, lambda = T = 3: K = 3.5 / (2 * 3.5) = 1/2, Ti = 7/2, Td = 3/7. PI, lambda = 2: K = 3 / (2 * 3) = 1/2, Ti = 3.
    # Integrating with slope 1/2, lambda = 3 L = 3: K = 7 / (1/2 * 16) = 7/8, Ti = 7.
    assert tuning.lambda_tuning(2.0, 3.0, 1.0).vector == pytest.approx((1 / 2, 1 / 7, 3 / 14), **EXACT)
    pi = tuning.lambda_tuning(2.0, 3.0, 1.0, closed_loop_time=2.0, kind="pi")
    assert pi.vector == pytest.approx((1 / 2, 1 / 6, 0.0), **EXACT)
    level = tuning.lambda_tuning(0.5, math.inf, 1.0, kind="pi")
    assert level.vector == pytest.approx((7 / 8, 1 / 8, 0.0), **EXACT)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tuning.cohen_coon(1.0, math.inf, 1.0), "needs a finite time constant; use simc or amigo"),
        (lambda: tuning.chien_hrones_reswick(1.0, 1.0, 0.0), "needs a dead time above 0"),
        (lambda: tuning.chien_hrones_reswick(1.0, 1.0, 1.0, overshoot=10), "overshoot"),
        (lambda: tuning.lambda_tuning(1.0, math.inf, 1.0), "gives a PI controller; ask for kind='pi'"),
    ],
)
def test_rules_of_the_step_response_say_where_they_do_not_apply(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ----------------------------------------------------------------------------------------------------------- by hand


def test_simc_first_order():
    # Skogestad (2003) eqs. 23 and 24, tau_c = theta = 1: K = (1/2) 3 / 2 = 3/4, Ti = min(3, 8) = 3.
    assert tuning.simc(2.0, 3.0, 1.0).vector == pytest.approx((3 / 4, 1 / 4, 0.0), **EXACT)


def test_simc_slow_lag_has_its_integral_time_cut():
    # tau_1 = 100: Ti = min(100, 4 (1 + 1)) = 8, K = (1/2) 100 / 2 = 25.
    assert tuning.simc(2.0, 100.0, 1.0).vector == pytest.approx((25.0, 25 / 8, 0.0), **EXACT)


def test_simc_second_order():
    # Series K' = 3/4, Ti' = 3, Td' = 1/2 (eq. 25); parallel: kp = K' (1 + Td'/Ti') = 3/4 * 7/6 = 7/8,
    # ki = K'/Ti' = 1/4, kd = K' Td' = 3/8.
    gains = tuning.simc(2.0, 3.0, 1.0, second_time_constant=0.5)
    assert gains.vector == pytest.approx((7 / 8, 1 / 4, 3 / 8), **EXACT)


def test_simc_integrating():
    # Table 1, slope 1/2, tau_c = 3: K = 2 / 4 = 1/2, Ti = 16; with a lag of 2 in series kp = 1/2 (1 + 2/16), kd = 1.
    plain = tuning.simc(0.5, math.inf, 1.0, closed_loop_time=3.0)
    assert plain.vector == pytest.approx((1 / 2, 1 / 32, 0.0), **EXACT)
    lagged = tuning.simc(0.5, math.inf, 1.0, closed_loop_time=3.0, second_time_constant=2.0)
    assert lagged.vector == pytest.approx((9 / 16, 1 / 32, 1.0), **EXACT)


def test_simc_double_integrator():
    # Table 1, slope 1, tau_c = theta = 1: K' = 1 / (4 * 4) = 1/16, Ti' = Td' = 8: kp = 1/8, ki = 1/128, kd = 1/2.
    gains = tuning.simc(1.0, math.inf, 1.0, second_time_constant=math.inf)
    assert gains.vector == pytest.approx((1 / 8, 1 / 128, 1 / 2), **EXACT)


def test_amigo_pid():
    # K = (0.2 + 0.45 * 3) / 2 = 0.775; Ti = (0.4 + 2.4) / 1.3 = 28/13; Td = 1.5 / 3.3 = 5/11; L/(L+T) = 1/4: b = 0.
    gains = tuning.amigo(2.0, 3.0, 1.0)
    assert astuple(gains) == pytest.approx((0.775, 0.775 * 13 / 28, 0.775 * 5 / 11, 0.0), **EXACT)


def test_amigo_pi():
    # K = 0.15/2 + (0.35 - 3/16) * 3/2 = 0.31875; Ti = 0.35 + 13 * 9 / (9 + 36 + 7) = 0.35 + 9/4 = 2.6.
    gains = tuning.amigo(2.0, 3.0, 1.0, kind="pi")
    assert astuple(gains) == pytest.approx((0.31875, 0.31875 / 2.6, 0.0, 0.0), **EXACT)


def test_amigo_weighs_the_set_point_fully_where_dead_time_dominates():
    assert tuning.amigo(1.0, 1.0, 1.0).b == 0.0
    assert tuning.amigo(1.0, 1.0, 1.01).b == 1.0


def test_amigo_integrating():
    # Kv = 1/2, L = 2, so Kv L = 1: K = 0.45, Ti = 16, Td = 1; PI K = 0.35, Ti = 26.8.
    gains = tuning.amigo(0.5, math.inf, 2.0)
    assert astuple(gains) == pytest.approx((0.45, 0.45 / 16, 0.45, 0.0), **EXACT)
    assert tuning.amigo(0.5, math.inf, 2.0, kind="pi").vector == pytest.approx((0.35, 0.35 / 26.8, 0.0), **EXACT)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # a = R L = (2/3) * 1. Ziegler and Nichols (1942): P 1/a; PI 0.9/a and 0.27 / (a L); PID 1.2/a, Ti 2, Td 1/2.
        ("p", (1.5, 0.0, 0.0)),
        ("pi", (1.35, 0.27 * 1.5, 0.0)),
        ("pid", (1.8, 0.9, 0.9)),
    ],
)
def test_ziegler_nichols_step_response(kind, expected):
    assert tuning.ziegler_nichols(2.0, 3.0, 1.0, kind=kind).vector == pytest.approx(expected, **EXACT)
    # The rule reads the slope alone, so an integrating process of that slope has the same gains.
    assert tuning.ziegler_nichols(2.0 / 3.0, math.inf, 1.0, kind=kind).vector == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        # Ku = 10, Tu = 4: P 5; PI 4.5 and 0.54 Ku / Tu = 1.35; PID 6, 1.2 Ku / Tu = 3, 0.075 Ku Tu = 3.
        ("p", (5.0, 0.0, 0.0)),
        ("pi", (4.5, 1.35, 0.0)),
        ("pid", (6.0, 3.0, 3.0)),
    ],
)
def test_ziegler_nichols_ultimate(kind, expected):
    assert tuning.ziegler_nichols_ultimate(10.0, 4.0, kind=kind).vector == pytest.approx(expected, **EXACT)


# --------------------------------------------------------------------------------------------------------- properties

RULES = {
    "simc": tuning.simc,
    "simc with tau_c": lambda k, t, dead: tuning.simc(k, t, dead, closed_loop_time=1.7 * dead),
    "simc second order": lambda k, t, dead: tuning.simc(k, t, dead, second_time_constant=0.3 * t),
    "amigo": tuning.amigo,
    "amigo pi": lambda k, t, dead: tuning.amigo(k, t, dead, kind="pi"),
    "ziegler_nichols": tuning.ziegler_nichols,
    "ziegler_nichols pi": lambda k, t, dead: tuning.ziegler_nichols(k, t, dead, kind="pi"),
    "ziegler_nichols p": lambda k, t, dead: tuning.ziegler_nichols(k, t, dead, kind="p"),
    "ziegler_nichols_ultimate": lambda k, t, dead: tuning.ziegler_nichols_ultimate(1.0 / k, t + dead),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
@given(
    gain=st.floats(0.01, 100.0),
    lag=st.floats(0.01, 100.0),
    dead_time=st.floats(0.01, 100.0),
    unit=st.sampled_from((-8.0, 0.125, 4.0)),
    second=st.sampled_from((0.25, 16.0)),
)
def test_gains_scale_with_the_units_of_gain_and_time(rule, gain, lag, dead_time, unit, second):
    # Factors are powers of two, so the scaled process is exact; what remains is rounding inside the rule.
    plain = rule(gain, lag, dead_time)
    scaled = rule(unit * gain, second * lag, second * dead_time)
    expected = (plain.kp / unit, plain.ki / (unit * second), plain.kd * second / unit)
    assert scaled.vector == pytest.approx(expected, rel=1e-12)
    assert scaled.b == plain.b


@pytest.mark.parametrize("name", ["simc", "amigo", "amigo pi"])
def test_integrating_rules_are_the_limit_of_a_slow_lag(name):
    # gain / T held at 0.5, T = 1e6 L: the rules of these papers agree to about L / T, except AMIGO's rounded integral
    # times (13.35 L against the printed 13.4 L: 0.4 %).
    slow, integrating = RULES[name](0.5e6, 1e6, 1.0), RULES[name](0.5, math.inf, 1.0)
    assert slow.vector == pytest.approx(integrating.vector, rel=5e-3)


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: tuning.ziegler_nichols(1.0, 1.0, 0.0), "Ziegler-Nichols rule needs a dead time .* use simc"),
        (lambda: tuning.amigo(1.0, 1.0, 0.0), "AMIGO rule needs a dead time"),
        (lambda: tuning.simc(1.0, 1.0, 0.0), "give closed_loop_time"),
        (lambda: tuning.simc(1.0, 1.0, 1.0, closed_loop_time=-1.0), "must be positive, got -1.0"),
        (lambda: tuning.simc(1.0, 1.0, 1.0, second_time_constant=2.0), "exchange the two"),
        (lambda: tuning.simc(0.0, 1.0, 1.0), "gain must not be 0"),
        (lambda: tuning.simc(1.0, 0.0, 1.0), "time_constant must be positive"),
        (lambda: tuning.amigo(1.0, math.nan, 1.0), "time_constant must be positive"),
        (lambda: tuning.amigo(1.0, 1.0, -1.0), "dead_time must be 0 or positive"),
        (lambda: tuning.amigo(1.0, 1.0, 1.0, kind="p"), "known: pi, pid"),
        (lambda: tuning.ziegler_nichols(1.0, 1.0, 1.0, kind="pdi"), "did you mean"),
        (lambda: tuning.ziegler_nichols_ultimate(1.0, 0.0), "ultimate_period must be positive"),
        (lambda: tuning.ziegler_nichols_ultimate(math.inf, 1.0), "ultimate_gain must be a finite number"),
    ],
)
def test_rules_that_do_not_apply_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_simc_without_dead_time_gives_the_closed_loop_it_promises():
    # PI on K/(T s + 1) with Ti = T cancels the lag: closed loop 1 / (tau_c s + 1), so kp K / T = 1 / tau_c.
    gains = tuning.simc(2.0, 3.0, 0.0, closed_loop_time=1.0)
    assert gains.kp * 2.0 / 3.0 == pytest.approx(1.0, **EXACT)
    assert gains.kp / gains.ki == pytest.approx(3.0, **EXACT)


def test_every_rule_names_its_source():
    for name in ("simc", "amigo", "ziegler_nichols", "ziegler_nichols_ultimate"):
        assert "Source:" in inspect.getdoc(getattr(tuning, name))
