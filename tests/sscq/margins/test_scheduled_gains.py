"""Gains of a schedule at rest and in passing: those that a loop ends at, those near a point, and what each level asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import plants
import sscq
from controllers import PID, Controller, GainTable, TwoDegreePID, gain_names
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import SLACK, OperatingMargins
from sscq.margins.scheduled_gains import PASSING, WATCHED, RestOutputs, ScheduledGains

VDP, VALVE, FOPDT = (plants.get(name) for name in ("van_der_pol", "equal_percentage_valve", "fopdt"))
CALM = (3.62, 0.59, 3.17)
LIMITS = MarginLimits(1.6)  # and 2.6 in passing


def margins_of(plant, limits=LIMITS, delays=(0.0,), step=0.01):
    n, laws, situations = (
        3 * len(plant.channels),
        (PID(),) * len(plant.channels),
        [sscq.Situation(delay=d) for d in delays],
    )
    high = [h for c in plant.channels for h in c.gains_high] if plant is VALVE else [10.0] * n
    return OperatingMargins(plant, laws, situations, step, [0.0] * n, high, limits)


@pytest.fixture(scope="module")
def oscillator():
    return margins_of(VDP)


def kb_over(variables, gains, reference=CALM, high=10.0, plant="van_der_pol", **how):
    """One channel with a full grid of rules, their gains [n_rules, 3]."""
    rules = [replace(rule, gains=tuple(map(float, row)))
             for rule, row in zip(full_grid([v.n_terms for v in variables], reference), gains, strict=True)]  # fmt: skip
    base = RuleBase("y", tuple(variables), tuple(rules), (0.0,) * 3, (high,) * 3, reference, law={"sample_time": 0.01})
    return KnowledgeBase(plant, (base,), Inference(**how), 0.04)


ERROR = Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0))
RATE = Variable("e_rate", "m/s", -4.0, 4.0, (-3.0, 1.0))
POSITION = Variable("position", "m", -2.5, 2.5, (-1.8, 0.2, 1.9))
SETS = np.random.default_rng(3).uniform((3.0, 0.3, 3.0), (6.0, 0.9, 5.0), (18, 3))


# ------------------------------------------------------------------------------------------------------------ at rest


@pytest.mark.parametrize("variables", [(ERROR, RATE), (ERROR, POSITION), (ERROR, RATE, POSITION)], ids=len)
@pytest.mark.parametrize("slew", [None, 0.2])
def test_gains_at_rest_are_those_that_a_closed_loop_ends_at(oscillator, variables, slew):
    """The oscillator held at 1 from 0.3: its third point of rest."""
    n = int(np.prod([v.n_terms for v in variables]))
    kb = replace(kb_over(variables, SETS[:n]), slew=slew)
    controller = FuzzyController(kb)
    situation = sscq.Situation("held", reference=1.0, initial=(0.3, 0.0), t_end=200.0)
    run = sscq.record(VDP, controller, controller.theta, situation, step=0.01)
    given = ScheduledGains(controller, oscillator.channels.outputs)
    (rest,) = given.at_rest(controller.theta[None])
    at_point = rest[2 if POSITION in variables else 0, 0]
    np.testing.assert_allclose(run.group("gains")[-1], at_point, rtol=1e-5)
    assert np.abs(run.group("gains")[0] - at_point).max() > 0.05
    held = {"e": 0.0, "e_rate": 0.0, "position": 1.0}
    np.testing.assert_allclose(at_point, kb.gains([[held[name] for name in kb.input_names]])[0], rtol=1e-12)


@pytest.mark.parametrize("signal", ["position", "error"])
def test_a_table_at_rest_has_the_gains_of_each_point(oscillator, signal):
    table = Controller(PID(), GainTable(signal, (0.0, 2.0)))
    (rest,) = ScheduledGains(table, oscillator.channels.outputs).at_rest(np.array([[*CALM, *SETS[0]]]))
    share = np.array([0.0, 0.25, 0.5, 0.75, 1.0])[:, None] if signal == "position" else np.zeros((1, 1))
    np.testing.assert_allclose(rest[:, 0], CALM + share * (SETS[0] - CALM), rtol=1e-12)


def test_a_mirrored_plant_rests_at_mirrored_points_too():
    """The oscillator is odd, and its points are declared on one side: a table that is not alike there shows it."""
    margins = margins_of(VDP)
    table, wild = Controller(PID(), GainTable("position", (-2.0, -0.3))), (1.0, 9.0, 1.5)
    assert not margins.keeps_of(table, np.array([*wild, *CALM]))
    assert margins.at_rest(table, np.array([*wild, *CALM]))[0].sensitivity.shape == (2, 5)
    uneven = replace(VDP, derivative=lambda t, x, u, w, p: (x[1], VDP.derivative(t, x, u, w, p)[1] + 1e-3 * x[0] ** 2))
    assert margins_of(uneven).at_rest(table, np.array([*wild, *CALM]))[0].sensitivity.shape == (1, 5)


# ---------------------------------------------------------------------------------------------------- neighbourhoods


def outputs(columns, points=None, odd=()):
    values = np.array(columns, float).T
    points = range(len(values)) if points is None else points
    return RestOutputs(tuple("ab"[: values.shape[1]]), values, np.array(points), frozenset(odd))


@pytest.mark.parametrize(
    ("column", "points", "odd", "expected"),
    [
        ([1.0, 3.0, 2.0], None, (), [(-np.inf, 1.5), (2.5, np.inf), (1.5, 2.5)]),  # half-way, in any order
        ([4.0], None, (), [(-np.inf, np.inf)]),
        ([1.0, 1.0, 3.0], None, (), [(-np.inf, 2.0), (-np.inf, 2.0), (2.0, np.inf)]),
        ([0.0, 0.0], None, (), [(-np.inf, np.inf)] * 2),
        ([350.1, 350.1 + 1e-8, 360.1], None, (), [(-np.inf, 355.1)] * 2 + [(355.1, np.inf)]),  # the same to rounding
        ([1e-9, 3e-9], None, (), [(-np.inf, 2e-9), (2e-9, np.inf)]),  # whatever the unit
        ([1.0, 3.0, 1.2, 3.4], [0, 1, 0, 1], (), [(-np.inf, 2.15), (2.15, np.inf)]),  # two plants: between their means
        ([0.0, 1.0, 2.0], None, "a", [(-0.5, 0.5), (0.5, 1.5), (1.5, np.inf)]),  # mirrored: -1 and -2 as well
        ([1.0, 2.0], None, "a", [(0.0, 1.5), (1.5, np.inf)]),
        ([-1.0, 1.0], None, "a", [(-np.inf, 0.0), (0.0, np.inf)]),
        ([1.0, 2.0], None, "b", [(-np.inf, 1.5), (1.5, np.inf)]),
    ],
)  # fmt: skip
def test_neighbourhoods_end_half_way_to_the_next_points(column, points, odd, expected):
    np.testing.assert_allclose(outputs([column], points, odd).near("a"), expected, rtol=1e-9)


def test_outputs_that_a_mirrored_plant_mirrors():
    rest = np.zeros((1, len(VDP.measurements)))
    assert RestOutputs.of(VDP, rest, [0]).odd == {"position", "velocity"}
    assert RestOutputs.of(VALVE, np.zeros((1, len(VALVE.measurements))), [0]).odd == frozenset()


def groups_of(given, theta):
    return [(cases.tolist(), gains) for cases, gains in given.passing(np.atleast_2d(theta))]


def test_points_that_share_their_outputs_are_asked_together():
    """And points that share one of two outputs have the other to themselves."""
    kb = kb_over((replace(ERROR, name="a"), replace(RATE, name="b")), SETS[:6])
    controller = FuzzyController(kb)
    for column, members in (([0.0, 0.0, 2.0], [[0], [1], [2]]), ([0.0, 0.0, 2.0, 0.0], [[0, 3], [1], [2]])):
        other = [1.0, 2.0, 1.0, 1.0][: len(column)]
        given = ScheduledGains(controller, outputs([column, other]))
        assert [cases for cases, _ in groups_of(given, controller.theta)] == members


def test_errors_come_to_any_value_at_every_point(oscillator):
    controller = FuzzyController(kb_over((ERROR, RATE), SETS[:6]))
    ((cases, gains),) = groups_of(ScheduledGains(controller, oscillator.channels.outputs), controller.theta)
    assert cases == [0, 1, 2, 3, 4]
    assert gains.shape == (1, 6 + 1 + PASSING, 3)


# --------------------------------------------------------------------------------------------- what each level asks


def gains_of_peak(margins, peak):
    """Calm gains with less damping, of this maximum sensitivity over all points."""

    def excess(kd):
        return margins.worst(np.array([*CALM[:2], kd]))[0].sensitivity.value - peak

    return (*CALM[:2], brentq(excess, 1.3, CALM[2], xtol=1e-10))


def over_error(margins, at_rest, elsewhere):
    """A knowledge base and a table that have gains at rest, and others where there is an error."""
    rules = FuzzyController(kb_over((ERROR,), [elsewhere, at_rest, elsewhere]))
    yield rules, rules.theta
    table = GainTable("error", (0.0, 1.0), transform="magnitude")
    yield Controller(PID(), table), np.array([*at_rest, *elsewhere])


@pytest.mark.parametrize(
    ("at_rest", "passing", "kept"),
    [(1.59, 2.58, True), (1.61, 1.5, False), (1.61, 2.5, False), (1.5, 2.62, False), (2.5, 2.5, False)],
)
def test_each_level_keeps_its_own_limit(oscillator, at_rest, passing, kept):
    """A rule at rest beyond its limit is refused though it is within that of gains in passing."""
    rest, other = (gains_of_peak(oscillator, peak) for peak in (at_rest, passing))
    for controller, theta in over_error(oscillator, rest, other):
        assert oscillator.keeps_of(controller, theta) == kept
        (found,), (least,) = oscillator.at_rest(controller, theta), oscillator.passing(controller, theta)
        assert found.worst().sensitivity.value == pytest.approx(at_rest, rel=1e-6)
        assert least.sensitivity.value == pytest.approx(max(at_rest, passing), rel=1e-6)
        paid = oscillator.violation_of(controller, theta[None])[0]
        searched = [1.0 + (limit - 1.0) * (1.0 - SLACK) for limit in (1.6, 2.6)]
        assert (paid > 0.0) == (at_rest > searched[0] or passing > searched[1])


@pytest.mark.parametrize("place", [None, 0, 15, 16, 127, 128, 299])
def test_one_gain_set_that_breaks_the_limit_is_found_wherever_it_is(oscillator, monkeypatch, place):
    """They are looked at in parts, the first that breaks it ends that."""
    gains = np.tile(CALM, (1, 300, 1))
    if place is not None:
        gains[0, place] = gains_of_peak(oscillator, 2.7)
    monkeypatch.setattr(ScheduledGains, "by_group", lambda *_: [(0, None, gains)])
    controller, theta = next(over_error(oscillator, CALM, CALM))
    assert oscillator.keeps_of(controller, theta) is (place is None)


def test_no_delay_margin_is_asked_in_passing(oscillator):
    late = oscillator.with_limits(MarginLimits(1.6, 0.22))
    slow = gains_of_peak(oscillator, 2.2)
    assert (
        oscillator.worst(np.array(slow))[0].delay_margin.value
        < 0.22
        < oscillator.worst(np.array(CALM))[0].delay_margin.value
    )
    for controller, theta in over_error(oscillator, CALM, slow):
        assert late.keeps_of(controller, theta)
    assert not late.with_limits(MarginLimits(2.5, 0.22)).keeps(np.array(slow))


def test_a_limit_in_passing_below_that_at_rest_does_not_count(oscillator):
    low = oscillator.with_limits(MarginLimits(2.3, transient=1.1))
    gains = gains_of_peak(oscillator, 2.2)
    for controller, theta in over_error(oscillator, CALM, gains):
        assert low.keeps_of(controller, theta)


@pytest.fixture(scope="module")
def valve():
    """A valve whose gain rises 16:1 over the travel, with gains for either end: those of the low end oscillate at the top."""
    return margins_of(VALVE, limits=MarginLimits(1.8), step=0.2)


def valve_gains(valve, point, peak):
    """A PI controller for one point, of this maximum sensitivity there."""

    def excess(kp):
        gains = np.array([[kp, kp / 25.0, 0.0]])
        return min(float(valve.channels.margins(gains, [point])[0].sensitivity[0, 0]), 1e3) - peak

    kp = brentq(excess, 1e-5, 1.0)
    return kp, kp / 25.0, 0.0


def test_a_rule_that_would_be_unstable_elsewhere_is_asked_where_it_fires(valve):
    """Over the output each rule stays at its own end; over the error it comes to every point in passing."""
    places = valve.channels.outputs.column("sensor")
    low, high = int(places.argmin()), int(places.argmax())
    strong, weak = (valve_gains(valve, point, 1.5) for point in (low, high))
    assert not valve.channels.margins(np.array([strong]), [high])[0].stable.any()
    order = np.argsort(places)
    rows = np.array([valve_gains(valve, point, 1.5) for point in order])
    sensor = Variable("sensor", "K", 280.0, 345.0, tuple(places[order]))
    kb = kb_over((sensor,), rows, tuple(weak), high=1.0, plant=VALVE.name)
    by_output = FuzzyController(kb, laws=(PID(),))
    table = Controller(PID(), GainTable("sensor", tuple(places[order])))
    for controller, theta in ((by_output, by_output.theta), (table, rows.ravel())):
        assert valve.keeps_of(controller, theta)
        assert valve.violation_of(controller, theta[None])[0] == 0.0
        assert valve.at_rest(controller, theta)[0].sensitivity.max() == pytest.approx(1.5, rel=1e-3)
    error = Variable("e", "K", -20.0, 20.0, (-20.0, 0.0, 20.0))
    by_error = FuzzyController(
        kb_over((error,), (strong, weak, weak), tuple(weak), high=1.0, plant=VALVE.name), laws=(PID(),)
    )
    mixed = Controller(PID(), GainTable("error", (0.0, 20.0), transform="magnitude"))
    for controller, theta in ((by_error, by_error.theta), (mixed, np.array([*weak, *strong]))):
        assert not valve.keeps_of(controller, theta)
        assert valve.violation_of(controller, theta[None])[0] > 2.0
        assert valve.at_rest(controller, theta)[0].sensitivity.max() <= 1.5 * (1.0 + 1e-3)
    turned = FuzzyController(kb.with_channel(0, replace(kb.channels[0], rules=tuple(
        replace(rule, gains=tuple(row)) for rule, row in zip(kb.channels[0].rules, rows[::-1], strict=True)
    ))), laws=(PID(),))  # fmt: skip
    assert not valve.keeps_of(turned, turned.theta)


def test_the_worst_margins_in_passing_are_over_all_neighbourhoods(valve):
    """Of each kind of margin by itself: the largest Ms and the smallest delay margin belong to different points."""
    table, order = GainTable("sensor", (300.0, 305.0)), np.argsort(valve.channels.outputs.column("sensor"))
    theta = np.array([*valve_gains(valve, order[0], 1.3), *valve_gains(valve, order[-1], 1.7)])
    controller = Controller(PID(), table)
    (found,) = valve.passing(controller, theta)
    each = [valve.channels.margins(gains[0], cases)[0].worst()
            for cases, gains in ScheduledGains(controller, valve.channels.outputs).passing(theta[None])]  # fmt: skip
    assert len(each) == 5
    assert found.sensitivity.value == max(one.sensitivity.value for one in each)
    for name in ("delay_margin", "gain_margin", "phase_margin"):
        assert getattr(found, name).value == min(getattr(one, name).value for one in each)
    assert found.stable


# --------------------------------------------------------------------------------------------- gains that stand still


@pytest.mark.parametrize("plant", [VDP, FOPDT, plants.get("two_tanks")], ids=lambda p: p.name)
def test_constant_gains_cost_what_they_cost_at_all_points(plant):
    n = len(plant.channels)
    margins = margins_of(plant, delays=(0.0, 0.05))
    gains = np.random.default_rng(0).uniform(0.0, 8.0, (12, 3 * n))
    expected = margins.violation(gains[:, None, :])
    np.testing.assert_array_equal(margins.violation_of((PID(),) * n, gains), expected)
    assert len(np.unique(expected)) > 4
    assert not margins.passing((PID(),) * n, gains[0])
    for row in gains[:4]:
        assert margins.keeps_of((PID(),) * n, row) == margins.keeps(row)
        found, known = margins.at_rest((PID(),) * n, row)[0], margins.margins(row)[0]
        np.testing.assert_array_equal(found.sensitivity, known.sensitivity)
        assert found.names == known.names


def test_set_point_weights_and_equal_rules_cost_as_much(oscillator):
    gains = np.array([[3.0, 3.0, 2.0], list(CALM)])
    expected = oscillator.violation(gains[:, None, :])
    weighted = TwoDegreePID()
    np.testing.assert_array_equal(oscillator.violation_of(weighted, np.hstack([gains, [[0.3], [0.7]]])), expected)
    assert gain_names(weighted)[-1] == "b"
    for row, cost in zip(gains, expected, strict=True):
        controller = FuzzyController(kb_over((ERROR, POSITION), [tuple(row)] * 9, tuple(row)))
        at_rest = oscillator.with_limits(replace(LIMITS, transient=1e3))
        assert at_rest.violation_of(controller, controller.theta[None])[0] == pytest.approx(cost, rel=1e-9)
    assert expected[0] > 0.0 == expected[1]


def test_several_candidates_at_once_cost_what_each_costs_alone(oscillator):
    controller = FuzzyController(kb_over((ERROR, POSITION), SETS[:9]))
    theta = np.tile(controller.theta, (3, 1))
    theta[0, :27] *= 0.4
    theta[1, :27] *= 0.5
    theta[2] = theta[1]
    theta[2, controller.theta_names.index("position.Z.centre")] += 0.3
    together = oscillator.violation_of(controller, theta)
    alone = [oscillator.violation_of(controller, row[None])[0] for row in theta]
    np.testing.assert_allclose(together, alone, rtol=1e-12)
    assert len(set(together.tolist())) == 3
    np.testing.assert_array_equal(together, oscillator.violation_of(controller, theta, threads=2))


def test_a_focus_asks_the_worst_places_alone(oscillator):
    """What it finds is what all places say, for each of two schedules by itself; of their variations as well."""
    controller = FuzzyController(kb_over((ERROR, RATE), SETS[:6]))
    damping = [k for k, name in enumerate(controller.theta_names) if name.startswith("kd")]
    theta = np.tile(controller.theta, (2, 1))
    theta[0, damping[:2]] *= 0.1  # too little of it at one end of the errors, or at the other
    theta[1, damping[-2:]] *= 0.1
    focus = oscillator.focus(controller, theta)
    near = oscillator.violation_of(controller, theta, focus=focus)
    whole = oscillator.violation_of(controller, theta, count=WATCHED)
    assert (focus.places[0][0] != focus.places[0][1]).any()
    assert focus.places[0].shape[1] < 10
    assert ((whole > 0.0) == (near > 0.0)).all()
    np.testing.assert_allclose(near[whole > 0.0], whole[whole > 0.0], rtol=0.1)  # a tenth is a mean over places
    twice = oscillator.violation_of(controller, np.repeat(theta[1:], 3, axis=0), focus=focus.repeated(np.array([1]), 3))
    np.testing.assert_array_equal(twice, np.repeat(near[1], 3))


def test_slopes_of_what_a_schedule_pays_are_those_of_differences(oscillator):
    """In rules, and in places of terms, by which the places that are looked at move."""
    controller = FuzzyController(kb_over((ERROR, RATE), SETS[:6]))
    theta = controller.theta[None].copy()
    theta[0, [k for k, name in enumerate(controller.theta_names) if name.startswith("kd")][:2]] *= 0.1
    genes = [k for k, name in enumerate(controller.theta_names) if name[0] == "k" or name.endswith("centre")]
    nudges = np.full((1, len(genes)), 1e-6)
    ahead = np.repeat(theta[:, None], len(genes), axis=1)
    ahead[0, np.arange(len(genes)), genes] += 1e-6
    focus = oscillator.focus(controller, theta)
    found = oscillator.violation_slopes(controller, theta, ahead, nudges, focus=focus)
    there = oscillator.violation_of(controller, ahead[0], focus=focus.repeated(np.array([0]), len(genes)))
    direct = (there - oscillator.violation_of(controller, theta, focus=focus)) / nudges
    assert np.abs(direct).max() > 0.1
    np.testing.assert_allclose(found, direct, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("peak", [2.0, 3.5])
def test_slopes_where_one_of_several_points_pays_are_those_of_differences(valve, monkeypatch, peak):
    """At rest alone, or in passing too: the other neighbourhoods are not asked for the gains of moved genomes."""
    order = np.argsort(valve.channels.outputs.column("sensor"))
    rows = [valve_gains(valve, point, peak if k == 2 else 1.4) for k, point in enumerate(order)]
    places = tuple(valve.channels.outputs.column("sensor")[order])
    controller, theta = Controller(PID(), GainTable("sensor", places)), np.ravel(rows)[None]
    size = theta.shape[1]
    nudges = np.full((1, size), 1e-8)
    ahead = np.repeat(theta[:, None], size, axis=1) + np.diag(nudges[0])
    focus, asked, every = valve.focus(controller, theta), [], ScheduledGains.by_group

    def spied(self, *given):
        for found in every(self, *given):
            asked.append(len(found[2]))
            yield found

    monkeypatch.setattr(ScheduledGains, "by_group", spied)
    found = valve.violation_slopes(controller, theta, ahead, nudges, focus=focus)
    assert asked.count(1) == 5
    assert asked.count(size) < 5
    there = valve.violation_of(controller, ahead[0], focus=focus.repeated(np.array([0]), size))
    direct = (there - valve.violation_of(controller, theta, focus=focus)) / nudges
    assert np.abs(direct).max() > 0.1
    np.testing.assert_allclose(found, direct, rtol=1e-2, atol=1e-3 * np.abs(direct).max())
