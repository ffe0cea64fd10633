"""Where margins look at a knowledge base: gains that some input gives, all corners of them, and those at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from controllers.probes import gains_at
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from tests.flcs.rule_bases import in_hull, probed_gains

LOW, HIGH, REFERENCE = (0.0,) * 3, (10.0,) * 3, (5.0, 4.0, 3.0)
E = Variable("e", "m", -2.0, 2.0, (-1.2, 0.1, 1.5))
RATE = Variable("e_rate", "m/s", -4.0, 4.0, (-3.0, 2.0))
Z = Variable("z", "m s", -1.0, 3.0, (-0.6, 0.9, 2.5))
PLACE = Variable("place", "m", 0.0, 2.0, (0.2, 0.9, 1.6))


def base(inputs, seed=0, order=0, on=None, **more):
    """Rules of random gains, with random slopes that keep inside the box."""
    rng, grid = np.random.default_rng(seed), full_grid([v.n_terms for v in inputs], REFERENCE, order)
    slopes = [tuple(map(tuple, rng.uniform(-0.4, 0.4, (3, len(inputs))))) if order else () for _ in grid]
    rules = tuple(
        replace(rule, gains=tuple(rng.uniform(2.0, 8.0, 3)), slopes=tilt, on=on is None or on[k])
        for k, (rule, tilt) in enumerate(zip(grid, slopes, strict=True))
    )
    return RuleBase(more.pop("name", "y"), inputs, rules, LOW, HIGH, REFERENCE, **more)


def kb_of(inputs, order=0, on=None, **how):
    return KnowledgeBase("p", (base(inputs, 1, order, on),), Inference(order=order, **how), 0.04)


def inputs_of(kb, probes):
    """Columns of `KnowledgeBase.gains` for signals and states of a schedule."""
    parts = [*probes.signals, *probes.states]
    n, z = max(part.shape[1] for part in parts), iter(probes.states)
    found, own = np.empty((n, len(kb.input_names))), 2 * len(kb.channels)
    outputs = dict(zip(kb.signals, probes.signals[own:], strict=True))
    for i, channel in enumerate(kb.channels):
        for name, column in zip(channel.input_names, kb.columns(i), strict=True):
            given = {"e": probes.signals[2 * i], "e_rate": probes.signals[2 * i + 1]} | outputs
            found[:, column] = np.broadcast_to(next(z) if name == "z" else given[name], (1, n))[0]
    return found


def rows_in(rows, several):
    """Whether each row is one of several, to rounding."""
    return all(np.abs(several - row).max(axis=1).min() < 1e-9 for row in np.atleast_2d(rows))


KINDS = {
    "error": kb_of((E,)), "error and rate": kb_of((E, RATE)), "output": kb_of((PLACE,)),
    "output and rate": kb_of((RATE, PLACE)), "integral": kb_of((E, Z)), "minimum": kb_of((E, RATE), t_norm="minimum"),
    "trapezoids": kb_of((replace(E, shape="trapezoid"), RATE)), "half authority": kb_of((E, PLACE), authority=0.5),
    "some off": kb_of((E, RATE), on=[k not in {0, 3} for k in range(6)]), "affine": kb_of((E, RATE), order=1),
    "gaussian": kb_of((replace(E, shape="gaussian", widths=()), PLACE)), "hardly fading": kb_of((E, PLACE), fade=1e9),
}  # fmt: skip
NEAR = {"place": (0.5, 1.1)}


@pytest.mark.parametrize("name", KINDS)
def test_all_probed_gains_are_given_by_inputs_near_the_point(name):
    kb = KINDS[name]
    gains, probes = probed_gains(kb, NEAR, 60)
    inputs = inputs_of(kb, probes)
    np.testing.assert_allclose(gains, kb.gains(inputs), rtol=1e-12, atol=1e-12)
    for column, variable in zip(inputs.T, kb.channels[0].inputs, strict=True):
        ends = {"place": NEAR["place"], "z": (-3.0, 3.0)}.get(variable.name, (-np.inf, np.inf))
        assert ends[0] <= column.min() < column.max() <= ends[1]


@pytest.mark.parametrize("name", [k for k in KINDS if k not in {"affine", "gaussian", "minimum"}])
def test_all_gains_near_the_point_are_in_the_hull_of_the_probed_ones(name):
    """With strong partitions and the product every gain is a mean of its cell's corners, which are probed."""
    kb, rng = KINDS[name], np.random.default_rng(5)
    gains, _ = probed_gains(kb, NEAR)
    ends = {"place": NEAR["place"], "z": (-3.0, 3.0)}
    reach = [ends.get(v.name, (v.low - 3.0, v.high + 3.0)) for v in kb.channels[0].inputs]  # outside as well
    found = kb.gains(rng.uniform(*np.transpose(reach), (300, len(reach))))
    assert np.ptp(found, axis=0).min() > 0.3
    assert all(in_hull(gains, row) for row in found)


@pytest.mark.parametrize("name", ["output", "output and rate"])
def test_rules_that_no_input_near_the_point_fires_are_not_asked(name):
    kb = KINDS[name]
    number = [rule.terms[-1] for rule in kb.channels[0].rules].index(2)  # place is large
    wild = tuple(
        replace(rule, gains=(0.0, 10.0, 0.0)) if rule.terms[-1] == 2 else rule for rule in kb.channels[0].rules
    )
    spoiled = kb.with_channel(0, replace(kb.channels[0], rules=wild))
    below = {"place": (-np.inf, 0.9)}
    np.testing.assert_array_equal(probed_gains(spoiled, below)[0], probed_gains(kb, below)[0])
    assert rows_in(wild[number].gains, probed_gains(spoiled, {"place": (1.4, np.inf)})[0])


@pytest.mark.parametrize("name", ["affine", "gaussian"])
def test_gains_that_change_up_to_the_ends_of_the_ranges_are_asked_there(name):
    """Beyond the outer centres a strong partition holds its gains; slopes and bells go on."""
    kb = KINDS[name]
    gains, _ = probed_gains(kb, count=0)
    corners = [[low, high] for low, high in [(v.low, v.high) for v in kb.channels[0].inputs]]
    ends = kb.gains(np.array(np.meshgrid(*corners)).reshape(2, -1).T)
    assert rows_in(ends, gains)
    centres = [v.centres for v in kb.channels[0].inputs]
    at_rules = kb.gains(np.array(np.meshgrid(*centres)).reshape(2, -1).T)
    assert rows_in(at_rules, gains)
    assert not rows_in(ends, at_rules)


def test_every_rule_is_met_where_it_speaks_alone_wherever_a_search_moves_the_terms():
    kb = KINDS["error and rate"]
    controller = FuzzyController(kb)
    theta = np.tile(controller.theta, (2, 1))
    theta[1, controller.theta_names.index("e.Z.centre")] += 0.4
    schedule = controller.schedule
    gains = gains_at(schedule, theta, schedule.probes(theta, {}, 16))
    for rows in gains:
        np.testing.assert_allclose(rows[:6], [rule.gains for rule in kb.channels[0].rules], rtol=1e-9)
        np.testing.assert_array_equal(rows[6], REFERENCE)
    assert gains.shape == (2, 6 + 1 + 16, 3)
    inside = np.array([-1.2 < x < 1.5 for x in schedule.probes(theta, {}, 16).signals[0][0, 7:]])
    np.testing.assert_allclose(gains[0, 7:][inside], gains[1, 7:][inside], rtol=1e-9)  # the same places, in terms


def test_rules_that_are_off_leave_the_reference_gains():
    kb = KINDS["some off"]
    gains, _ = probed_gains(kb)
    rules = [rule.gains if rule.on else REFERENCE for rule in kb.channels[0].rules]
    np.testing.assert_allclose(gains[:6], rules, rtol=1e-9)


def test_authority_draws_gains_to_the_reference():
    kb = kb_of((E, RATE))
    whole, half = probed_gains(kb)[0], probed_gains(replace(kb, inference=Inference(authority=0.5)))[0]
    np.testing.assert_allclose(half, 0.5 * (whole + REFERENCE), rtol=1e-12)


def test_some_places_are_where_gains_fade_to_the_reference():
    kb = kb_of((E, RATE))
    _, probes = probed_gains(kb, count=400)
    drawn = inputs_of(kb, probes)[7:]
    outside = [np.maximum(v.low - x, x - v.high) / (v.high - v.low) for x, v in zip(drawn.T, (E, RATE), strict=True)]
    share = [np.mean((far > 0.0) & (far < 1.0)) for far in outside]
    assert all(0.05 < one < 0.2 for one in share)
    assert max(far.max() for far in outside) < 1.0


@pytest.mark.parametrize("seed", [0, 3])
def test_places_depend_on_the_seed_alone(seed):
    one, again, other = (probed_gains(KINDS["error and rate"], seed=s)[0] for s in (seed, seed, seed + 1))
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_equal(one[:7], other[:7])
    assert (one[7:] != other[7:]).any()


# ------------------------------------------------------------------------------------------------------------ at rest


def rest_of(kb, *columns):
    controller = FuzzyController(kb)
    schedule, theta = controller.schedule.settled, controller.theta[None]
    return gains_at(schedule, theta, schedule.at_rest(theta, [np.array([column]) for column in columns]))[0]


def test_gains_at_rest_are_those_without_an_error():
    np.testing.assert_allclose(
        rest_of(KINDS["error and rate"]), KINDS["error and rate"].gains([[0.0, 0.0]]), rtol=1e-12
    )
    places = [0.1, 0.7, 1.9, 5.0]  # the last one far outside: the reference gains
    expected = KINDS["output and rate"].gains([[0.0, place] for place in places])
    np.testing.assert_allclose(rest_of(KINDS["output and rate"], places), expected, rtol=1e-12)
    np.testing.assert_array_equal(expected[-1], REFERENCE)


def test_an_integral_may_have_any_value_at_rest():
    """Point by point: none, then that of each term, as far as the integral goes."""
    kb = kb_of((Z, PLACE))
    kb = kb.with_channel(0, replace(kb.channels[0], integral_limit=2.0))
    places = [0.3, 1.2]
    expected = kb.gains([[z, place] for place in places for z in (0.0, -0.6, 0.9, 2.0)])
    np.testing.assert_allclose(rest_of(kb, places), expected, rtol=1e-12)
    _, probes = probed_gains(kb, count=300)
    assert np.abs(probes.states[0]).max() <= 2.0


def test_integrals_of_several_channels_go_through_their_terms_together():
    few = replace(Z, centres=(-0.5, 2.0), labels=())
    kb = KnowledgeBase("p", (base((Z,), 1, name="a"), base((few,), 2, name="b")), tick=0.04)
    expected = kb.gains([[0.0, 0.0], [-0.6, -0.5], [0.9, 2.0], [2.5, 2.0]])
    np.testing.assert_allclose(rest_of(kb), expected, rtol=1e-12)


# --------------------------------------------------------------------------------------------------- several channels


def test_each_channel_has_its_rules_beside_the_others_at_rest():
    kb = KnowledgeBase("p", (base((E, RATE), 1, name="a"), base((E,), 2, name="b")), tick=0.04)
    gains, probes = probed_gains(kb)
    np.testing.assert_allclose(gains, kb.gains(inputs_of(kb, probes)), rtol=1e-12)
    assert gains.shape == (7 + 4 + 2 * 16, 6)
    rest, first, second = rest_of(kb)[0], *([rule.gains for rule in base.rules] for base in kb.channels)
    np.testing.assert_allclose(gains[:6], np.hstack([first, np.tile(rest[3:], (6, 1))]), rtol=1e-9)
    np.testing.assert_allclose(gains[7:10], np.hstack([np.tile(rest[:3], (3, 1)), second]), rtol=1e-9)
    drawn = probed_gains(kb, count=500)[0][11:]
    both = [np.abs(drawn[:, None, part] - np.array(rules)).max(axis=2).min(axis=1) < 1e-9
            for part, rules in ((slice(3), first), (slice(3, 6), second))]  # fmt: skip
    assert 0.05 < np.mean(both[0] & both[1]) < 0.5  # rules beside rules
    assert np.mean(~both[0] & ~both[1]) > 0.2  # mixtures beside mixtures


def test_channels_that_read_the_same_output_have_gains_of_the_same_value():
    """As an output gives them: with terms at different places, and with common ones."""
    moved = replace(PLACE, centres=(0.6, 1.2, 1.9))
    for second, common in ((moved, False), (PLACE, True)):
        channels = base((PLACE,), 1, name="a"), base((second,), 2, name="b")
        kb = KnowledgeBase("p", channels, tick=0.04, common_terms=common)
        gains, probes = probed_gains(kb, NEAR, 60)
        np.testing.assert_allclose(gains, kb.gains(inputs_of(kb, probes)), rtol=1e-12)
        line = np.linspace(*NEAR["place"], 200)[:, None]
        assert all(in_hull(gains, row) for row in kb.gains(line))


def test_a_slew_limit_is_waited_for():
    """At rest, and where inputs stay: gains arrive in the end."""
    kb = kb_of((E, RATE))
    slow = replace(kb, slew=0.1)
    np.testing.assert_array_equal(probed_gains(slow)[0], probed_gains(kb)[0])
    np.testing.assert_array_equal(rest_of(slow), rest_of(kb))
    assert FuzzyController(slow).schedule.n_states == 3
