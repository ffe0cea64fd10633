"""The fuzzy controller: a schedule like any other, its parameters, its states, and the way back to a knowledge base."""

from dataclasses import replace

import numpy as np
import pytest

from controllers import PID, TwoDegreePID, as_controller
from controllers.pid_form import build, describe
from flcs import FuzzyController, FuzzySchedule, KnowledgeBase
from plants.core.tracing.trace import names, trace

EXACT = 1e-12


def program_of(schedule, n_signals):
    n = len(schedule.theta_names)
    return trace(schedule.gains, "t", names("s", n_signals), names("k", schedule.n_states), names("theta", n))


def run(controller, x):
    """Gains of the first update at every row of (e, e_rate), by the tape with the controller's own numbers."""
    program = program_of(controller.schedule, 2)
    return np.array([program(0.0, *map(float, row), *controller.theta.tolist()) for row in x])


@pytest.mark.parametrize("shape", ["triangular", "trapezoid", "gaussian", "bell"])
@pytest.mark.parametrize("order", [0, 1])
def test_traced_with_its_own_numbers_it_is_the_knowledge_base(builders, shape, order):
    kb = builders["kb"](shape, order)
    kb = kb.with_channel(0, kb.channels[0].switched([k != 2 for k in range(9)]))
    x = np.random.default_rng(0).uniform(-6.0, 6.0, (40, 2))
    for controller in (FuzzyController(kb), FuzzyController(kb, free=("terms",)), FuzzyController(kb).frozen()):
        np.testing.assert_allclose(run(controller, x), kb.gains(x), atol=EXACT)
    assert FuzzyController(kb).frozen().theta_names == ()


@pytest.mark.parametrize("shape", ["triangular", "gaussian"])
def test_any_theta_written_back_gives_the_same_gains(builders, shape):
    """Also numbers no search should propose: terms out of order, widths below zero, gains outside the box."""
    kb = builders["kb"](shape, order=1)
    controller = FuzzyController(kb)
    rng = np.random.default_rng(6)
    x = rng.uniform(-4.0, 4.0, (20, 2))
    program = program_of(controller.schedule, 2)
    for wild in (1.0, 3.0):
        middle, half = (
            0.5 * (controller.theta_low + controller.theta_high),
            controller.theta_high - controller.theta_low,
        )
        theta = middle + wild * half * rng.uniform(-0.5, 0.5, len(middle))
        written = controller.with_theta(theta)
        traced = [program(0.0, *map(float, row), *theta.tolist()) for row in x]
        np.testing.assert_allclose(traced, written.gains(x), atol=EXACT)
        # What is written back is within bounds, so it reads back unchanged.
        again = FuzzyController(written)
        assert again.with_theta(again.theta) == written


def test_own_theta_is_within_its_bounds_and_writes_back_the_same(kb, several, builders):
    for base in (kb, several, builders["kb"]("bell", 1)):
        controller = FuzzyController(base)
        assert (controller.theta_low <= controller.theta).all()
        assert (controller.theta <= controller.theta_high).all()
        assert len(set(controller.theta_names)) == len(controller.theta)
        assert controller.with_theta(controller.theta) == base


def test_names_of_the_parameters(kb, several):
    named = FuzzyController(kb).theta_names
    assert named[:3] == ("kp[N,N]", "ki[N,N]", "kd[N,N]")
    assert named[27:29] == ("on[N,N]", "on[N,Z]")
    assert named[36:] == tuple(f"{name}.{label}.centre" for name in ("e", "e_rate") for label in "NZP")
    assert {"kp_2[N,Z,B]", "on_1[P,S]", "z_2.N.centre", "speed_1.M.centre"} <= set(FuzzyController(several).theta_names)


def test_operations_of_a_tick_are_few(kb):
    """Memberships are shared and no rule costs more than its conjunction, presence, sum and three weighted gains."""
    program = program_of(FuzzyController(kb).schedule, 2)
    assert sum(program.counts().values()) <= 2 * 25 + 9 * (1 + 2 + 1 + 6) + 3 * 6 + 6
    frozen = program_of(FuzzyController(kb).frozen().schedule, 2)
    assert sum(frozen.counts().values()) < sum(program.counts().values()) - 25


def test_it_is_a_controller(kb, several):
    for base in (kb, several):
        controller = as_controller(FuzzyController(base), len(base.channels))
        assert controller.gain_names == base.gain_names
        assert controller.schedule.tick == base.tick == 0.02
    assert as_controller(FuzzyController(several), 2).schedule.signals == ("speed",)


def test_integral_is_its_own_clamped_state(builders):
    kb = KnowledgeBase("p", replace(builders["base"](inputs=("e", "z")), integral_limit=0.5), tick=0.1)
    schedule = FuzzyController(kb).frozen().schedule
    assert (schedule.n_states, schedule.initial()) == (1, (0.0,))
    z, k = 0.0, schedule.initial()
    for e in (1.0, 2.0, 3.0, -1.0, np.nan):
        gains, k = schedule.gains(0.0, (e, 99.0), k, ())
        if np.isfinite(e):
            np.testing.assert_allclose(gains, kb.gains([[e, z]])[0], atol=EXACT)
            z = min(max(z + 0.1 * e, -0.5), 0.5)
            assert k == pytest.approx((z,), abs=1e-15)
    assert k == (-0.5,)  # a measurement that is not a number leaves a finite state


def test_slew_limit_slows_the_gains_down(builders):
    kb = builders["kb"](tick=0.1, slew=0.5)
    schedule = FuzzyController(kb).frozen().schedule
    reference = kb.channels[0].reference
    assert schedule.initial() == reference
    wanted = kb.gains([[-1.5, -3.0]])[0]
    k, before = schedule.initial(), np.array(reference)
    for _ in range(40):
        gains, k = schedule.gains(0.0, (-1.5, -3.0), k, ())
        assert np.abs(np.subtract(gains, before)).max() <= 0.5 * 0.1 * 10.0 + EXACT
        before = np.array(gains)
    np.testing.assert_allclose(before, wanted, atol=EXACT)


def test_several_channels_signals_and_states(several):
    schedule = FuzzyController(several).frozen().schedule
    assert schedule.n_states == 1 + 6
    assert schedule.initial() == (0.0, *several.channels[0].reference, *several.channels[1].reference)
    s = (0.5, 9.0, -0.3, 9.0, 4.0)  # e_1, e_rate_1, e_2, e_rate_2, speed; rates are no inputs here
    k = (0.2, *several.gains([[0.5, 4.0, -0.3, 0.2]])[0])
    gains, k_new = schedule.gains(0.0, s, k, ())
    np.testing.assert_allclose(gains, k[1:], atol=EXACT)
    assert k_new[0] == pytest.approx(0.2 + 0.02 * -0.3)
    np.testing.assert_allclose(k_new[1:], gains, atol=0.0)


def test_authority(kb):
    x = [[0.7, -1.0]]
    half = FuzzyController(kb, authority=0.5).frozen()
    np.testing.assert_allclose(run(half, x), kb.gains(x, 0.5), atol=EXACT)
    np.testing.assert_allclose(half.gains(x), kb.gains(x, 0.5), atol=EXACT)
    own = replace(kb, inference=replace(kb.inference, authority=0.25))
    np.testing.assert_allclose(run(FuzzyController(own), x), kb.gains(x, 0.25), atol=EXACT)
    with pytest.raises(ValueError, match="authority must be in"):
        FuzzyController(kb, authority=2.0)


def test_look_up_tables_in_place_of_rules(kb):
    table = kb.lookup_table(points=9, tolerance=None)
    controller = FuzzyController(kb, lookup=[table])
    assert controller.theta_names == ()
    x = np.random.default_rng(0).uniform(-4.0, 4.0, (20, 2))
    np.testing.assert_allclose(run(controller, x), table.gains(x), atol=1e-13)
    assert [a.points for a in FuzzyController(kb, lookup=True).schedule.tables[0].axes] == [33, 33]
    with pytest.raises(ValueError, match="look-up tables replace the rules of all 1 channels"):
        FuzzyController(kb, lookup=[table, table])
    with pytest.raises(ValueError, match="have no free numbers"):
        FuzzySchedule(kb, tables=(table,))


def test_laws_come_with_the_knowledge_base(builders):
    law = PID(limits=(-np.inf, 20.0), derivative_filter_time=0.05, anti_windup="back_calculation", tracking_time=1.0)
    base = replace(builders["base"](), law=describe(law))
    assert FuzzyController(KnowledgeBase("p", base)).laws == (law,)
    assert base.law["limits"] == [None, 20.0]
    assert FuzzyController(KnowledgeBase("p", base), laws=(PID(),)).laws == (PID(),)
    assert FuzzyController(KnowledgeBase("p", builders["base"]())).laws == (PID(),)
    for other in (PID(), TwoDegreePID(limits=(-1.0, 1.0)), law):
        assert build(describe(other)) == other


def test_wrong_use_is_refused(kb):
    with pytest.raises(TypeError, match="expected a KnowledgeBase"):
        FuzzyController("kb.json")
    with pytest.raises(ValueError, match="the laws take"):
        FuzzyController(kb, laws=(TwoDegreePID(),))
    with pytest.raises(ValueError, match="did you mean 'rules'"):
        FuzzyController(kb, free=("rulez",))
    with pytest.raises(ValueError, match="theta must be 42 finite numbers"):
        FuzzyController(kb).with_theta(np.zeros(41))
    with pytest.raises(ValueError, match="theta must be 42 finite numbers"):
        FuzzyController(kb).with_theta(np.full(42, np.nan))
    with pytest.raises(TypeError, match="got ManualLaw"):
        describe(type("ManualLaw", (), {})())


def test_a_knowledge_base_is_short_at_the_prompt_and_its_rules_in_a_notebook(kb):
    on = sum(rule.on for base in kb.channels for rule in base.rules)
    assert repr(kb) == f"<KnowledgeBase of {kb.plant}: {on} rules over {', '.join(kb.input_names)}>"
    assert kb._repr_html_().count("<tr>") == on + len(kb.channels)


def test_a_knowledge_base_draws_its_terms_and_gains(kb):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = kb.plot()
    base = kb.channels[0]
    assert len(axes[0, 0].lines) == base.inputs[0].n_terms
    assert axes.shape == (2, max(len(base.inputs), len(base.gain_names)))
    assert base.inputs[0].words in axes[1, 0].get_xlabel()
    matplotlib.pyplot.close("all")
