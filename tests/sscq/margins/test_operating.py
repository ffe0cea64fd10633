"""Margins at operating points: the right linear plants and loops, one number for a search, limits to the last digit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import plants
import sscq
from controllers import PID, Controller, GainTable, TwoDegreePID, gain_names
from flcs import FuzzyController, KnowledgeBase, Rule, RuleBase, Variable
from plants import Channel, OperatingPoint, Plant, Quantity
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import LinearPlant, LoopSettings
from sscq.margins.margins import MarginLimits, loop_margins, penalty
from sscq.margins.operating import SLACK, OperatingMargins

VDP, FOPDT = plants.get("van_der_pol"), plants.get("fopdt")
LOW, HIGH = [0.0, 0.0, 0.0], [10.0, 10.0, 10.0]
LIMITS = MarginLimits(1.8, 0.05)
SEARCHED = MarginLimits(1.0 + 0.8 * (1.0 - SLACK), 0.05 * (1.0 + SLACK))  # what a search is held to
STEP = 0.01
MUS = (0.5, 0.8, 1.0, 1.3, 1.6, 2.0)
POSITIONS = (0.0, 0.5, 1.0, 1.5, 2.0)
GAINS = np.random.default_rng(0).uniform(0.0, (8.0, 4.0, 6.0), (12, 3))


def oscillator(mu, q0):
    """Van der Pol about rest at q0: q'' = mu (1 - q0^2) q' - q + u."""
    return LinearPlant([[0.0, 1.0], [-1.0, mu * (1.0 - q0 * q0)]], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0])


def margins_of(plant=VDP, law=PID(), situations=(sscq.Situation(),), step=STEP, limits=LIMITS):  # noqa: B008  (frozen)
    """Margins in the box of 0 to 10 for every gain."""
    n = len(gain_names(law)) if isinstance(law, tuple) else 3 * len(plant.channels)
    return OperatingMargins(plant, law, list(situations), step, [0.0] * n, [10.0] * n, limits)


@pytest.fixture(scope="module")
def of_oscillator():
    situations = [
        sscq.Situation(f"mu {mu}", parameters={"mu": mu}, delay=0.01, output_delay=0.01, jitter=0.5) for mu in MUS
    ]
    law = PID(sample_time=0.02, derivative_filter_time=0.05)
    return margins_of(law=law, situations=[*situations, situations[0]])


@pytest.fixture(scope="module")
def directly():
    """The same from the linear equations written down here; jitter of half a sample counts as so much dead time."""
    loop = LoopSettings(0.02, derivative_filter_time=0.05, delay=0.03, rate_measured=True)
    return loop_responses([oscillator(mu, q0) for mu in MUS for q0 in POSITIONS], loop, LOW, HIGH)


# --------------------------------------------------------------------------------------------- against the margins


def test_it_asks_for_the_right_loops(of_oscillator, directly):
    sets = GAINS.reshape(4, 3, 3)
    each = penalty(sets, directly, SEARCHED)
    expected = each.max(axis=1) + 0.1 * each.mean(axis=1)
    # The linearisation is a derivative of the tape, exact to rounding.
    np.testing.assert_allclose(of_oscillator.violation(sets), expected, rtol=1e-6, atol=1e-9)
    assert (expected > 0.0).any()
    assert len(np.unique(expected)) == 4


def test_it_reports_the_right_margins(of_oscillator, directly):
    (found,) = of_oscillator.margins(GAINS)
    expected = loop_margins(GAINS, directly)
    np.testing.assert_array_equal(found.stable, expected.stable)
    for name in ("sensitivity", "gain_margin", "delay_margin", "phase_margin"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-5, err_msg=name)
    assert found.names[0] == "position 0, parameters 1"
    assert found.names[-1] == "position 2, parameters 6"
    (worst,) = of_oscillator.worst(GAINS[:1])
    assert worst.sensitivity.value == found.sensitivity[0].max()
    assert len(found.names) == 30  # the seventh situation has the parameters of the first


def test_dead_time_of_the_plant_and_of_the_loop(directly):
    values = [(1.0, 1.0, 0.3), (1.2, 0.8, 0.2), (0.7, 1.5, 0.4), (1.0, 2.0, 0.0), (2.0, 1.0, 0.25), (0.5, 0.5, 0.1)]
    several = [sscq.Situation(str(v), parameters=v, delay=0.02 * (k % 2)) for k, v in enumerate(values)]
    found = margins_of(FOPDT, situations=several)
    linear = [LinearPlant([[-1.0 / T]], [K / T], [1.0], delay=L) for K, T, L in values]
    responses = loop_responses(linear, LoopSettings(STEP, delay=0.02), LOW, HIGH)  # the longest counts for all
    small = 0.2 * GAINS
    each = penalty(small[:, None, :], responses, SEARCHED)[:, 0]
    np.testing.assert_allclose(found.violation(small[:, None, :]), 1.1 * each, rtol=1e-6, atol=1e-9)
    assert {0.0} < set(each.tolist())


@pytest.mark.parametrize("changes", [{}, {"rate_source": "difference"}])
def test_the_rate_that_the_law_reads(changes):
    law = PID(derivative_filter_time=0.1, **changes)
    found = margins_of(law=law)
    loop = LoopSettings(STEP, derivative_filter_time=0.1, rate_measured=not changes)
    expected = loop_margins(GAINS, loop_responses([oscillator(1.0, q0) for q0 in POSITIONS], loop, LOW, HIGH))
    np.testing.assert_allclose(found.margins(GAINS)[0].delay_margin, expected.delay_margin, rtol=1e-5)
    assert found.margins(GAINS)[0].names[1] == "position 0.5"


def test_reverse_action():
    upside_down = replace(VDP, derivative=lambda t, x, u, w, p: VDP.derivative(t, x, (-u[0],), w, p))
    both = [
        margins_of(plant, PID(action=action)).margins(GAINS)[0]
        for plant, action in ((VDP, "direct"), (upside_down, "reverse"))
    ]
    np.testing.assert_array_equal(both[0].stable, both[1].stable)
    np.testing.assert_allclose(both[0].sensitivity, both[1].sensitivity, rtol=1e-9)
    assert both[0].stable.any()


def test_an_operating_point_has_its_own_parameters():
    points = (OperatingPoint("stiff", (0.0, 0.0), {"mu": 3.0}), OperatingPoint("usual", (0.0, 0.0)))
    found = margins_of(replace(VDP, operating_points=points), situations=[sscq.Situation(parameters={"mu": 0.4})])
    loop = LoopSettings(STEP, rate_measured=True)
    expected = loop_margins(GAINS, loop_responses([oscillator(3.0, 0.0), oscillator(0.4, 0.0)], loop, LOW, HIGH))
    np.testing.assert_array_equal(found.margins(GAINS)[0].stable, expected.stable)
    assert (expected.stable[:, 0] != expected.stable[:, 1]).any()


# ---------------------------------------------------------------------------------------------------- many channels


def pair_derivative(t, x, u, w, p):
    """Two damped masses; the second input also pushes the first."""
    a, b, va, vb = x
    return va, vb, -a - 0.5 * va + u[0] + 0.4 * u[1], -2.0 * b - p[0] * vb + u[1]


PAIR = Plant(
    "pair", tuple(Quantity(n, "") for n in ("a", "b", "va", "vb")), (Quantity("damping", "", 0.3),),
    inputs=(Quantity("left", ""), Quantity("right", "")),
    channels=(Channel("a", "va"), Channel("b")), derivative=pair_derivative,
    allocate=lambda t, x, commands, p: (2.0 * commands[0] - 0.8 * commands[1] + 0.1 * x[0], 2.0 * commands[1]),
    operating_points=(OperatingPoint("rest", (0.0,) * 4),),
)  # fmt: skip


@pytest.fixture(scope="module")
def of_pair():
    return margins_of(PAIR)


def test_channels_that_the_allocation_decouples_have_the_margins_of_each_alone(of_pair):
    """Channel a moves mass a by 2, channel b mass b by 2 and mass a by -0.8 + 0.8 = 0; the allocation softens a's spring.

    Both ways interpolate, on grids of their own: to a few parts in 1e5.
    """
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-0.9, 0, -0.5, 0], [0, -2, 0, -0.3]], float)
    first = LinearPlant(A, [0, 0, 2, 0], [1, 0, 0, 0], [0, 0, 1, 0])
    second = LinearPlant(A, [0, 0, 0, 2], [0, 1, 0, 0])
    gains = np.hstack([GAINS, GAINS[::-1]])
    found, alone = of_pair.margins(gains), []
    for k, (linear, rate) in enumerate(((first, True), (second, False))):
        responses = loop_responses([linear], LoopSettings(STEP, rate_measured=rate), LOW, HIGH)
        alone.append(loop_margins(gains[:, 3 * k : 3 * k + 3], responses))
    both = alone[0].stable & alone[1].stable
    assert 3 < both.sum() < 12
    for mine, other in zip(found, alone, strict=True):
        np.testing.assert_array_equal(mine.stable, both)
        np.testing.assert_allclose(mine.sensitivity[both], other.sensitivity[both], rtol=1e-4)


def test_violations_of_the_channels_add_up(of_pair):
    """Late loops, and unstable ones: what is unstable is so for both channels."""
    calm, late, wild = np.array([0.3, 0.1, 0.2]), np.array([3.0, 0.5, 0.5]), np.array([9.0, 9.0, 0.0])
    sets = np.array([np.r_[calm, calm], np.r_[late, calm], np.r_[calm, late], np.r_[late, late], np.r_[wild, calm]])
    none, first, second, both, unstable = of_pair.violation(sets[:, None, :])
    assert none == 0.0
    assert first > 0.0
    assert second > 0.0
    assert both == pytest.approx(first + second, rel=1e-4)  # each interpolates beside another loop
    assert unstable > 2.0 * 2.0 * 1.1


def crossed_derivative(t, x, u, w, p):
    """Two lags, each moved by the other's input twice as much."""
    return -x[0] + u[0] + p[0] * u[1], -x[1] + p[0] * u[0] + u[1]


CROSSED = Plant(
    "crossed", (Quantity("a", ""), Quantity("b", "")), (Quantity("coupling", "", 2.0),),
    inputs=(Quantity("left", ""), Quantity("right", "")), channels=(Channel("a"), Channel("b")),
    derivative=crossed_derivative, operating_points=(OperatingPoint("rest", (0.0, 0.0)),),
)  # fmt: skip


def test_gains_that_destabilise_only_through_the_coupling_are_refused():
    """The taught plants count: coupled by a half the same gains are as good as alone."""
    gains = np.tile([0.3, 0.3, 0.0], 2)
    kept = [
        margins_of(CROSSED, situations=[sscq.Situation("s", parameters={"coupling": c}) for c in couplings]).keeps(
            gains
        )
        for couplings in ((0.5,), (2.0,), (0.5, 2.0))
    ]
    assert kept == [True, False, False]


@pytest.mark.parametrize("found", ["keeps_of", "violation_of"])
def test_a_rule_of_one_channel_that_does_not_go_with_one_of_the_other_is_caught(found):
    """Strong integral action of both channels breaks Ms of 2 (2.9), of either it does not (1.95)."""
    late = sscq.Situation(delay=0.5, parameters={"coupling": 0.9})
    crossed = margins_of(CROSSED, situations=[late], limits=MarginLimits(2.0, transient=2.0))
    calm, strong = (0.3, 0.3, 0.0), (0.3, 1.2, 0.0)
    assert crossed.keeps(np.array([[*calm, *calm], [*strong, *calm], [*calm, *strong]]))
    assert not crossed.keeps(np.array([*strong, *strong]))
    error = Variable("e", "", -1.0, 1.0, (-0.5, 0.5))

    def kept(*last):
        bases = [RuleBase(name, (error,), (Rule((0,), calm), Rule((1,), gains)), (0.0,) * 3, (9.0,) * 3, calm)
                 for name, gains in zip("ab", last, strict=True)]  # fmt: skip
        controller = FuzzyController(KnowledgeBase("crossed", tuple(bases)))
        if found == "keeps_of":
            return crossed.keeps_of(controller, controller.theta)
        return crossed.violation_of(controller, controller.theta[None])[0] == 0.0

    assert kept(strong, calm)
    assert kept(calm, strong)
    assert not kept(strong, strong)


@pytest.mark.parametrize("plant", [VDP, PAIR], ids=["one channel", "two channels"])
def test_set_point_weights_among_the_gains_change_nothing(plant):
    """A two-degree-of-freedom law has a fourth gain, which no margin depends on."""
    n = len(plant.channels)
    rng = np.random.default_rng(1)
    plain = rng.uniform(0.0, 5.0, (6, 4, 3 * n))
    by_channel = plain.reshape(6, 4, n, 3)
    weighted = np.concatenate([by_channel, rng.uniform(size=(6, 4, n, 1))], axis=-1).reshape(6, 4, 4 * n)
    found = [margins_of(plant, (law,) * n) for law in (PID(), TwoDegreePID())]
    expected = found[0].violation(plain)
    np.testing.assert_array_equal(found[0].violation(weighted), expected)  # margins made for PIDs are asked by all
    np.testing.assert_array_equal(found[1].violation(weighted), expected)
    assert (expected > 0.0).any()


# ------------------------------------------------------------------------------------------------------------ limits


@pytest.fixture(scope="module")
def simple():
    return margins_of(limits=MarginLimits(1.8))


def test_inside_the_limits_nothing_is_paid(simple):
    inside, outside = np.array([1.0, 0.2, 8.0]), np.array([1.0, 6.0, 1.5])
    assert simple.violation(inside[None, None])[0] == 0.0
    assert simple.violation(outside[None, None])[0] > 0.0
    assert simple.keeps(inside)
    assert not simple.keeps(outside)
    (worst,) = simple.worst(np.array([inside, outside]))
    assert worst.sensitivity.gain_set == 1


def test_the_worst_set_counts_and_the_others_give_a_slope(simple):
    good, bad, worse = np.array([[1.0, 0.2, 8.0], [3.0, 2.0, 2.0], [3.0, 3.0, 1.8]])
    one = {k: simple.violation(np.array([[g]]))[0] / 1.1 for k, g in (("bad", bad), ("worse", worse))}
    assert 0.0 < one["bad"] < one["worse"]
    found = simple.violation(np.array([[good, bad, worse], [good, good, worse]]))
    expected = [one["worse"] + 0.1 * (one["bad"] + one["worse"]) / 3.0, one["worse"] + 0.1 * one["worse"] / 3.0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def sensitivity(margins, kd):
    return margins.worst(np.array([[2.0, 0.5, kd]]))[0].sensitivity.value


def at_sensitivity(margins, value):
    """Gains whose worst maximum sensitivity has this value; less damping, more sensitivity."""
    return np.array([2.0, 0.5, brentq(lambda kd: sensitivity(margins, kd) - value, 1.3, 9.0)])


def test_what_lies_on_the_limit_is_kept_and_nothing_beyond_it(simple):
    """As printed: Ms <= limit, without slack; a search keeps inside by the slack."""
    on = at_sensitivity(simple, 1.8)
    below, above = (at_sensitivity(simple, 1.8 + change) for change in (-1e-6, 1e-6))
    assert simple.keeps(below)
    assert not simple.keeps(above)
    assert simple.keeps_of(PID(), below)
    assert not simple.keeps_of(PID(), above)
    table = Controller(PID(), GainTable("position", (-5.0, 5.0)))  # the same gains about each point
    assert simple.keeps_of(table, np.tile(below, 2))
    assert not simple.keeps_of(table, np.tile(above, 2))
    assert simple.violation(on[None, None])[0] > 0.0
    searched = at_sensitivity(simple, 1.0 + 0.8 * (1.0 - SLACK) - 1e-6)
    assert simple.violation(searched[None, None])[0] == 0.0


def test_tighter_limits(simple):
    tighter = simple.tightened(0.1)
    assert tighter.limits.sensitivity == pytest.approx(1.72)
    assert simple.limits.sensitivity == 1.8
    on = at_sensitivity(simple, 1.78)
    assert simple.violation(on[None, None])[0] == 0.0
    assert tighter.violation(on[None, None])[0] > 0.0
    late = simple.with_limits(MarginLimits(1.8, 0.1)).tightened(0.1)
    assert late.limits.delay_margin == pytest.approx(0.11)
    assert tighter.limits.transient == pytest.approx(2.44)
    assert MarginLimits(1.8, 0.1, 2.4).in_passing == MarginLimits(2.4)
    assert MarginLimits(3.0, 0.1, 2.4).in_passing == MarginLimits(3.0)  # never narrower than at rest


def kb_of(gains, reference):
    """Three rules over the error, the middle one at rest."""
    error = Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0))
    rules = tuple(Rule((k,), tuple(row)) for k, row in enumerate(gains))
    base = RuleBase("position", (error,), rules, (0.0,) * 3, (10.0,) * 3, tuple(reference))
    return FuzzyController(KnowledgeBase("van_der_pol", (base,)))


def test_an_unstable_rule_is_caught(simple):
    calm = (2.0, 0.3, 8.0)
    gentle, wild = (kb_of((calm, calm, last), (1.0, 0.2, 8.0)) for last in ((3.0, 0.2, 7.0), (3.0, 9.0, 1.0)))
    paid = [simple.violation_of(one, one.theta[None])[0] for one in (gentle, wild)]
    assert paid[0] == 0.0
    assert paid[1] > 2.0  # unstable loops pay more than 2
    assert simple.keeps_of(gentle, gentle.theta)
    assert not simple.keeps_of(wild, wild.theta)


@pytest.mark.parametrize("between", ["rules", "rule and reference"])
def test_an_unstable_loop_between_stable_gains_is_caught(between):
    """Stabilising gains are no convex set: ki < (1 + kp) (kd - 1) at rest holds at both corners, not half-way.

    Outside the taught range the gains go from the outer rules to the reference gains, over a whole range.
    """
    corners = np.array([[2.0, 10.0, 4.6], [0.0, 0.05, 1.15]])
    loose = margins_of(
        replace(VDP, operating_points=VDP.operating_points[:1]), step=1e-3, limits=MarginLimits(1e6, transient=1e6)
    )
    assert loose.margins(corners)[0].stable.all()
    assert not loose.margins(corners.mean(axis=0))[0].stable.any()
    assert loose.violation(corners[None])[0] == 0.0
    one, other = corners.tolist()
    kb = kb_of((one, one, other), one) if between == "rules" else kb_of((one, one, one), other)
    assert loose.violation_of(kb, kb.theta[None])[0] > 2.0
    assert not loose.keeps_of(kb, kb.theta)
    same = kb_of((one, one, one), one)
    assert loose.keeps_of(same, same.theta)


def test_without_operating_points_there_are_no_margins():
    with pytest.raises(ValueError, match="declares no operating points, so margins cannot be computed; declare"):
        margins_of(replace(VDP, operating_points=()))


def test_points_of_the_same_name_both_count():
    first, second = VDP.operating_points[0], replace(VDP.operating_points[-1], name=VDP.operating_points[0].name)
    twice = margins_of(replace(VDP, operating_points=(first, second)))
    assert len(twice.margins(GAINS)[0].names) == 2
    assert len(twice.channels.outputs.values) == 2
