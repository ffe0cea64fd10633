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


INF = math.inf
BY_HAND = [
    # Chien, Hrones and Reswick: a = 2 * 1 / 3, so 1 / a = 3/2. Load, 0 %: K = 0.95 * 3/2 = 1.425, Ti = 2.4, Td = 0.42.
    # Set point, 20 %: K = 0.95 * 3/2, Ti = 1.4 * 3 = 4.2, Td = 0.47; PI without overshoot: K = 0.35 * 3/2, Ti = 1.2 * 3.
    (tuning.chien_hrones_reswick, (2.0, 3.0, 1.0), {}, (1.425, 1.425 / 2.4, 1.425 * 0.42)),
    (tuning.chien_hrones_reswick, (2.0, 3.0, 1.0), {"task": "set point", "overshoot": 20}, (1.425, 1.425 / 4.2, 1.425 * 0.47)),
    (tuning.chien_hrones_reswick, (2.0, 3.0, 1.0), {"kind": "pi", "task": "set point"}, (0.525, 0.525 / 3.6, 0.0)),
    (tuning.chien_hrones_reswick, (2.0, 3.0, 1.0), {"kind": "p", "overshoot": 20}, (1.05, 0.0, 0.0)),
    # Cohen and Coon: r = 1/3, k = 3/2. PID: K = 3/2 (4/3 + 1/12) = 17/8, Ti = (32 + 2) / (13 + 8/3) = 102/47,
    # Td = 4 / (11 + 2/3) = 12/35. PI: K = 3/2 (9/10 + 1/36) = 167/120, Ti = (30 + 1) / (9 + 20/3) = 93/47.
    # P: K = 3/2 (1 + 1/9) = 5/3.
    (tuning.cohen_coon, (2.0, 3.0, 1.0), {}, (17 / 8, 17 / 8 * 47 / 102, 17 / 8 * 12 / 35)),
    (tuning.cohen_coon, (2.0, 3.0, 1.0), {"kind": "pi"}, (167 / 120, 167 / 120 * 47 / 93, 0.0)),
    (tuning.cohen_coon, (2.0, 3.0, 1.0), {"kind": "p"}, (5 / 3, 0.0, 0.0)),
    # PID, lambda = T = 3: K = 3.5 / (2 * 3.5) = 1/2, Ti = 7/2, Td = 3/7. PI, lambda = 2: K = 3 / (2 * 3) = 1/2, Ti = 3.
    # Integrating with slope 1/2, lambda = 3 L = 3: K = 7 / (1/2 * 16) = 7/8, Ti = 7.
    (tuning.lambda_tuning, (2.0, 3.0, 1.0), {}, (1 / 2, 1 / 7, 3 / 14)),
    (tuning.lambda_tuning, (2.0, 3.0, 1.0), {"closed_loop_time": 2.0, "kind": "pi"}, (1 / 2, 1 / 6, 0.0)),
    (tuning.lambda_tuning, (0.5, INF, 1.0), {"kind": "pi"}, (7 / 8, 1 / 8, 0.0)),
    # Skogestad (2003) eqs. 23 and 24, tau_c = theta = 1: K = (1/2) 3 / 2 = 3/4, Ti = min(3, 8) = 3.
    (tuning.simc, (2.0, 3.0, 1.0), {}, (3 / 4, 1 / 4, 0.0)),
    # A slow lag, tau_1 = 100, has its integral time cut: Ti = min(100, 4 (1 + 1)) = 8, K = (1/2) 100 / 2 = 25.
    (tuning.simc, (2.0, 100.0, 1.0), {}, (25.0, 25 / 8, 0.0)),
    # Second order: series K' = 3/4, Ti' = 3, Td' = 1/2 (eq. 25); kp = K' (1 + Td'/Ti') = 7/8, ki = K'/Ti', kd = K' Td'.
    (tuning.simc, (2.0, 3.0, 1.0), {"second_time_constant": 0.5}, (7 / 8, 1 / 4, 3 / 8)),
    # Table 1, slope 1/2, tau_c = 3: K = 2 / 4 = 1/2, Ti = 16; with a lag of 2 in series kp = 1/2 (1 + 2/16), kd = 1.
    (tuning.simc, (0.5, INF, 1.0), {"closed_loop_time": 3.0}, (1 / 2, 1 / 32, 0.0)),
    (tuning.simc, (0.5, INF, 1.0), {"closed_loop_time": 3.0, "second_time_constant": 2.0}, (9 / 16, 1 / 32, 1.0)),
    # Table 1, slope 1, tau_c = theta = 1: K' = 1 / (4 * 4) = 1/16, Ti' = Td' = 8: kp = 1/8, ki = 1/128, kd = 1/2.
    (tuning.simc, (1.0, INF, 1.0), {"second_time_constant": INF}, (1 / 8, 1 / 128, 1 / 2)),
    # AMIGO: K = (0.2 + 0.45 * 3) / 2 = 0.775; Ti = (0.4 + 2.4) / 1.3 = 28/13; Td = 1.5 / 3.3 = 5/11; L/(L+T) = 1/4: b = 0.
    (tuning.amigo, (2.0, 3.0, 1.0), {}, (0.775, 0.775 * 13 / 28, 0.775 * 5 / 11, 0.0)),
    # PI: K = 0.15/2 + (0.35 - 3/16) * 3/2 = 0.31875; Ti = 0.35 + 13 * 9 / (9 + 36 + 7) = 0.35 + 9/4 = 2.6.
    (tuning.amigo, (2.0, 3.0, 1.0), {"kind": "pi"}, (0.31875, 0.31875 / 2.6, 0.0, 0.0)),
    # Integrating, Kv = 1/2, L = 2, so Kv L = 1: K = 0.45, Ti = 16, Td = 1; PI K = 0.35, Ti = 26.8.
    (tuning.amigo, (0.5, INF, 2.0), {}, (0.45, 0.45 / 16, 0.45, 0.0)),
    (tuning.amigo, (0.5, INF, 2.0), {"kind": "pi"}, (0.35, 0.35 / 26.8, 0.0)),
    # a = R L = (2/3) * 1. Ziegler and Nichols (1942): P 1/a; PI 0.9/a and 0.27 / (a L); PID 1.2/a, Ti 2, Td 1/2. The rule
    # reads the slope alone, so an integrating process of that slope has the same gains.
    *((tuning.ziegler_nichols, process, {"kind": kind}, expected)
      for process in ((2.0, 3.0, 1.0), (2.0 / 3.0, INF, 1.0))
      for kind, expected in (("p", (1.5, 0.0, 0.0)), ("pi", (1.35, 0.27 * 1.5, 0.0)), ("pid", (1.8, 0.9, 0.9)))),
    # Ku = 10, Tu = 4: P 5; PI 4.5 and 0.54 Ku / Tu = 1.35; PID 6, 1.2 Ku / Tu = 3, 0.075 Ku Tu = 3.
    (tuning.ziegler_nichols_ultimate, (10.0, 4.0), {"kind": "p"}, (5.0, 0.0, 0.0)),
    (tuning.ziegler_nichols_ultimate, (10.0, 4.0), {"kind": "pi"}, (4.5, 1.35, 0.0)),
    (tuning.ziegler_nichols_ultimate, (10.0, 4.0), {"kind": "pid"}, (6.0, 3.0, 3.0)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "process", "options", "expected"), BY_HAND)
def test_by_hand(rule, process, options, expected):
    """Gain (or slope), time constant and dead time; kp, ki and kd, and the set-point weight b where the rule has one."""
    assert astuple(rule(*process, **options))[: len(expected)] == pytest.approx(expected, **EXACT)


def test_amigo_weighs_the_set_point_fully_where_dead_time_dominates():
    assert tuning.amigo(1.0, 1.0, 1.0).b == 0.0
    assert tuning.amigo(1.0, 1.0, 1.01).b == 1.0


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
        (lambda: tuning.cohen_coon(1.0, math.inf, 1.0), "needs a finite time constant; use simc or amigo"),
        (lambda: tuning.chien_hrones_reswick(1.0, 1.0, 0.0), "needs a dead time above 0"),
        (lambda: tuning.chien_hrones_reswick(1.0, 1.0, 1.0, overshoot=10), "overshoot"),
        (lambda: tuning.lambda_tuning(1.0, math.inf, 1.0), "gives a PI controller; ask for kind='pi'"),
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
