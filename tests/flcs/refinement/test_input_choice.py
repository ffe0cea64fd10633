"""Fewer inputs: rules merge, the loop says what an input is worth, surplus sensors go."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from flcs import KnowledgeBase, NetworkConfig, RuleBase, TeachingRows, Variable
from flcs.inference.rule_base import full_grid
from flcs.refinement.input_choice import eliminate, fitted, without_input
from sscq.baselines.objective import Task
from sscq.fitness import Fitness
from tests.flcs.rule_bases import value_in_loop

EXACT = NetworkConfig(prior_weight=0.0, smoothness=0.0, ridge=1e-9)
PULLED = NetworkConfig(prior_weight=20.0)  # well conditioned, so quickly fitted


def test_rules_that_do_not_look_at_an_input_merge_without_a_change(builders):
    kb = builders["kb"](inputs=("e", "z", "e_rate"), tick=0.1)
    rules = tuple(
        replace(r, gains=kb.channels[0].rules[r.terms[0] * 9 + r.terms[2]].gains) for r in kb.channels[0].rules
    )
    kb = kb.with_channel(0, replace(kb.channels[0], rules=rules))
    smaller = without_input(kb, 0, "z")
    assert smaller.channels[0].input_names == ("e", "e_rate")
    assert smaller.channels[0].integral_limit is None
    assert [rule.terms for rule in smaller.channels[0].rules] == [(i, j) for i in range(3) for j in range(3)]
    x = np.random.default_rng(0).uniform((-2.0, -1.0, -4.0), (2.0, 1.0, 4.0), (200, 3))
    np.testing.assert_allclose(smaller.gains(x[:, [0, 2]]), kb.gains(x), rtol=1e-12)


def test_merged_rules_are_means_by_firing(builders):
    kb = builders["kb"](order=1)
    rules = tuple(replace(rule, firing=float(k)) for k, rule in enumerate(kb.channels[0].rules))
    smaller = without_input(kb.with_channel(0, replace(kb.channels[0], rules=rules)), 0, "e")
    for j, rule in enumerate(smaller.channels[0].rules):
        own = [rules[j], rules[3 + j], rules[6 + j]]
        weight = np.array([r.firing for r in own])
        np.testing.assert_allclose(rule.gains, weight @ [r.gains for r in own] / weight.sum(), rtol=1e-12)
        slopes = np.einsum("r,rgi->gi", weight, [r.slopes for r in own]) / weight.sum()
        np.testing.assert_allclose(rule.slopes, slopes[:, 1:], rtol=1e-12)
        assert rule.firing == weight.sum()
    unfired = without_input(kb, 0, "e").channels[0].rules[0]
    np.testing.assert_allclose(unfired.gains, np.mean([kb.channels[0].rules[3 * k].gains for k in range(3)], axis=0))


def test_what_cannot_be_left_out_is_told(builders):
    one = without_input(builders["kb"](), 0, "e")
    with pytest.raises(ValueError, match="must have 'e_rate' and another input"):
        without_input(one, 0, "e_rate")
    with pytest.raises(ValueError, match="must have 'z' and another input"):
        without_input(builders["kb"](), 0, "z")


def judge(worth, calls=None):
    """A stand-in for the closed loop: every input that is missing costs what it is worth."""

    def fitness(kb):
        if calls is not None:
            calls.append(kb.channels[0].input_names)
        return 2.0 + sum(cost for name, cost in worth.items() if name not in kb.channels[0].input_names)

    return fitness


FOUR = ("e", "e_rate", "z", "speed")


def chosen(builders, taught, validation, **how):
    kb = builders["kb"](inputs=FOUR, tick=0.1)
    rows = builders["rows"](kb, n=100)
    kb, values = eliminate(kb, rows, PULLED, judge(taught), judge(validation), **how)
    return kb.channels[0].input_names, {value.name: value for value in values}


WORTH = {"e": 0.6, "e_rate": 0.2, "z": 0.0, "speed": 0.004}


def test_inputs_that_the_loop_does_not_need_go(builders):
    names, values = chosen(builders, WORTH, WORTH)
    assert names == ("e", "e_rate")
    assert list(values) == ["z", "speed", "e", "e_rate"]
    assert [value.kept for value in values.values()] == [False, False, True, True]
    assert values["speed"].taught == pytest.approx(0.002)
    assert values["e_rate"].validation == pytest.approx(0.2 / 2.004)  # against the base without z and speed
    assert chosen(builders, WORTH, WORTH, loss=0.001)[0] == ("e", "e_rate", "speed")
    assert chosen(builders, WORTH, WORTH, loss=None)[0] == FOUR


def test_losses_add_up(builders):
    """Each alone is within the loss, all together are not."""
    each = dict.fromkeys(FOUR, 0.008)
    names, _ = chosen(builders, each, each, loss=0.005)
    assert len(names) == 3


def test_the_validation_situations_choose(builders):
    assert chosen(builders, WORTH, WORTH | {"z": 0.1})[0] == ("e", "e_rate", "z")
    assert chosen(builders, WORTH | {"z": 0.1}, WORTH)[0] == ("e", "e_rate", "z")
    names, values = chosen(builders, {"e": 0.1, "e_rate": 0.5}, {"e": 0.5, "e_rate": 0.1}, most=1, loss=None)
    assert names == ("e",)
    assert values["e"].taught is None
    assert values["e"].text == "the only input left"


def test_surplus_sensors_go_the_least_valuable_first(builders):
    for most, left in ((3, ("e", "e_rate", "speed")), (2, ("e", "e_rate")), (1, ("e",))):
        names, values = chosen(builders, WORTH, WORTH, most=most, loss=None)
        assert names == left
        assert all(f"no more than {most} inputs" in v.text for v in values.values() if not v.kept)
    assert chosen(builders, WORTH, WORTH, most=3)[0] == ("e", "e_rate")  # and the loop does not need speed


def test_channels_have_inputs_of_their_own(several):
    """Two channels share a plant output: each may do without it."""
    rows = TeachingRows(
        np.random.default_rng(0).uniform(-1.0, 1.0, (60, len(several.input_names))), np.full((60, 6), 5.0), np.ones(60),
        np.zeros(60), several.input_names, several.gain_names,
    )  # fmt: skip

    def fitness(kb):
        needed = ("e" in kb.channels[0].input_names) + ("speed" in kb.channels[1].input_names)
        return 5.0 - needed - 0.001 * ("z" in kb.channels[1].input_names)

    kb, values = eliminate(several, rows, EXACT, fitness, fitness)
    assert [base.input_names for base in kb.channels] == [("e",), ("speed",)]
    assert [value.channel for value in values] == sorted(value.channel for value in values)
    assert len(values) == 5


# --------------------------------------------------------------------------------------------------- the closed loop

VDP = plants.get("van_der_pol")
LAWS = (PID(sample_time=0.02),)
HOME = sscq.Situation("home", 0.0, initial=(2.0, 0.0), t_end=4.0)
BACK = sscq.Situation("back", 0.0, initial=(-1.5, 0.5), t_end=4.0)


RANGES = {"e": 2.4, "e_rate": 12.0, "position": 2.4}  # the loop never leaves them
REST = (4.0, 0.5, 3.0)


def fitness(situation):
    """Judge in closed loop."""
    task = Task(VDP, (situation,), Fitness(entropy_weight=0.0), 0.02, threads=1)

    return lambda kb: value_in_loop(kb, task, LAWS)


@pytest.mark.parametrize("other", ["e_rate", "position"])
def test_the_loop_does_without_what_tells_it_nothing_new(other):
    """Gains follow the magnitude of the error. Back to zero, the position is the error with the other sign."""
    variables = tuple(Variable(n, "", -RANGES[n], RANGES[n], (-RANGES[n], 0.0, RANGES[n])) for n in ("e", other))
    base = RuleBase("position", variables, full_grid([3, 3], REST), (0.0,) * 3, (20.0,) * 3, REST)
    rng = np.random.default_rng(1)
    e = rng.uniform(-2.4, 2.4, 400)
    second = -e if other == "position" else rng.uniform(-12.0, 12.0, 400)
    gains = np.column_stack([2.0 + 6.0 * np.abs(e), np.full(400, 0.5), 6.0 - 2.0 * np.abs(e)])
    rows = TeachingRows(
        np.column_stack([e, second]), gains, np.ones(400), np.zeros(400), ("e", other), ("kp", "ki", "kd")
    )
    kb, config = KnowledgeBase("van_der_pol", (base,), tick=0.04), NetworkConfig(prior_weight=0.001, smoothness=0.0)
    small, values = eliminate(kb, rows, config, fitness(HOME), fitness(BACK), most=1, loss=None)
    (left,), gone = small.channels[0].input_names, next(value for value in values if not value.kept)
    assert left != other or other == "position"
    # Terms at 0 and at the ends give |e| exactly, but for the pull of a thousandth of a row against some thirty.
    assert max(abs(gone.taught), abs(gone.validation)) < 1e-3
    if other == "e_rate":
        blind = fitted(without_input(kb, 0, "e"), rows, config)
        assert fitness(HOME)(blind) > 1.02 * fitness(HOME)(small)
