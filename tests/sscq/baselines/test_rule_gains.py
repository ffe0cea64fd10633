"""Rules on plants: the model's own gains where the plant is the model, reasons where there is none."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import PID, tuning
from sscq.baselines.tuning_rules import RULES, rule_gains

STEP = 0.01


def by_rule(name):
    return {found.rule: found for found in rule_gains(plants.get(name), STEP)}


def test_for_first_order_plus_dead_time_the_rules_get_its_own_numbers():
    plant, found = plants.get("fopdt"), by_rule("fopdt")
    K, T, L = (plant.nominal()[plant.index("parameters", name)] for name in ("K", "T", "L"))
    assert list(found) == list(RULES)
    for rule in ("Ziegler-Nichols", "Chien-Hrones-Reswick", "Cohen-Coon", "AMIGO", "SIMC", "lambda"):
        # The fitted model is right to 1e-5; the rules' gains are products of a few powers of its numbers.
        assert found[rule].gains == pytest.approx(RULES[rule](K, T, L + 0.5 * STEP).vector, rel=1e-4)
    assert found["AMIGO"].text == "at rest: gain 1, time constant 1 s, dead time 0.3 s"


def test_an_integrating_plant_has_no_rules_that_need_a_time_constant():
    found = by_rule("integrating_dead_time")
    assert found["Cohen-Coon"].gains is None
    assert "needs a finite time constant" in found["Cohen-Coon"].text
    slope, delay = plants.get("integrating_dead_time").nominal()
    assert found["SIMC"].gains == pytest.approx(tuning.simc(slope, np.inf, delay + 0.5 * STEP).vector, rel=1e-6)
    assert found["lambda"].gains[2] == 0.0  # a PI controller


def test_the_first_point_that_answers_is_taken():
    """Van der Pol's oscillator is unstable near 0 and answers as a second-order lag at 1.5 m."""
    assert by_rule("van_der_pol")["SIMC"].text.startswith("at position 1.5: gain 1")


def test_a_reverse_law_gets_gains_of_the_other_sign():
    (direct, *_), (reverse, *_) = (
        rule_gains(plants.get("fopdt"), STEP, (PID(action=a),)) for a in ("direct", "reverse")
    )
    assert reverse.gains == tuple(-gain for gain in direct.gains)


def test_two_channels_are_tuned_one_by_one():
    assert len(by_rule("heater")["SIMC"].gains) == 6


NOWHERE_HELD = replace(plants.get("cart_pole"), operating_points=())


@pytest.mark.parametrize(
    ("plant", "reason"),
    [
        (plants.get("cstr"), "is unstable there"),
        (plants.get("cart_pole"), "is unstable there"),
        (NOWHERE_HELD, "no input holds plant"),
    ],
    ids=["cstr", "cart_pole", "nowhere held"],
)
def test_without_a_model_every_rule_says_why(plant, reason):
    for found in rule_gains(plant, STEP):
        assert found.gains is None
        assert reason in found.text
