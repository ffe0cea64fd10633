"""Slopes of closed loops: the way back against forward mode and against differences, in all lanes, for all segments."""

import itertools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from benchmarks.accuracy.forward_mode import tangents
from controllers import PID
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from plants.core.kernel import dependence, lanes, pieces
from plants.core.kernel.run_adjoint import segment_of
from plants.excitation import WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.slopes import LoopSlopes
from tests.reference.closed_loop_twin import uncompiled

WEIGHTS = {"iae": 1.0, "ise": 0.5, "entropy_difference_abs": 0.1, "total_variation": 0.01}
NOISE = WhiteNoise(0.3, hold=0.1)
REAL = sscq.Situation(
    "real", reference=1.5, initial=(0.1, 0.0), excitation=NOISE, noise=0.01, delay=0.035, output_delay=0.02, t_end=4.0,
    quantisation=1e-4, jitter=0.3, dropout=0.05, command_dropout=0.05, rate_limit=200.0, backlash=0.01, seed=3,
)  # fmt: skip
PLAIN = sscq.Situation("plain", reference=-1.0, initial=(2.0, 0.0), excitation=NOISE, noise=0.01, t_end=4.0, seed=4)


def rules(plant):
    """A fuzzy controller whose rules, terms and consequents are all parameters, none of them symmetric."""
    variables = (
        Variable("e", "m", -2.0, 2.0, (-2.0, 0.1, 2.0)),
        Variable("e_rate", "m/s", -4.0, 4.0, (-4.0, -0.3, 4.0)),
    )
    steps = enumerate(full_grid([3, 3], (4.0, 0.5, 3.0)))
    several = tuple(replace(rule, gains=(4.0 + 0.3 * k, 0.5 + 0.02 * k, 3.0 - 0.1 * k)) for k, rule in steps)
    base = RuleBase("position", variables, several, (0.0,) * 3, (10.0,) * 3, (4.0, 0.5, 3.0))
    kb = KnowledgeBase(plant.name, (base,), Inference(), tick=0.02, plant_parameters={"mu": 1.0})
    return FuzzyController(kb, laws=(PID(limits=(-20.0, 20.0), derivative_filter_time=0.05),))


def middle(plant):
    low, high = ([g for c in plant.channels for g in getattr(c, key)] for key in ("gains_low", "gains_high"))
    return np.array(low) + 0.31 * (np.array(high) - np.array(low))


def loop_of(name, situations=None, controller=None, measures=tuple(WEIGHTS), t_end=None, **more):
    plant = plants.get(name)
    several = situations or [replace(s, t_end=t_end) for s in sscq.standard_sets(plant)["taught"][:1]]
    law = controller or PID(limits=(-20.0, 20.0) if situations else None, derivative_filter_time=5.0 * plant.step)
    return ClosedLoop(plant, law, several, plant.step, measures=measures, **more)


def total(loop, theta):
    values = loop.evaluate(theta).values
    return sum(weight * values[name] for name, weight in WEIGHTS.items())


@pytest.mark.parametrize(
    ("name", "t_end"), [("cart_pole", 3.0), ("magnetic_levitation", 0.5), ("two_tanks", 100.0), ("quarter_car", 0.5)]
)
def test_slopes_are_those_of_differences(name, t_end):
    """Central differences with a step of 1e-6 have some nine digits of a smooth measure; none jumps here."""
    loop = loop_of(name, t_end=t_end)
    theta = middle(loop.plant)[None]
    quality, slopes = LoopSlopes(loop).evaluate(theta, WEIGHTS)
    assert not quality.failed.any()
    for k in range(theta.shape[1]):
        way = np.zeros_like(theta)
        way[0, k] = 1e-6 * max(1.0, abs(theta[0, k]))
        expected = (total(loop, theta + way) - total(loop, theta - way)) / (2.0 * way[0, k])
        np.testing.assert_allclose(slopes[..., k], expected, rtol=3e-6, atol=1e-7 * np.abs(slopes).max())


def test_slopes_of_a_real_loop_are_those_of_differences():
    """Delays, noise, jitter, lost packets and play; a quantiser has slope 0, so its step is out of the differences."""
    loop = loop_of("van_der_pol", [replace(REAL, quantisation=0.0)])
    theta = np.array([[3.6, 0.6, 3.2]])
    _, slopes = LoopSlopes(loop).evaluate(theta, WEIGHTS)
    for k in range(3):
        way = np.zeros_like(theta)
        way[0, k] = 1e-7
        expected = (total(loop, theta + way) - total(loop, theta - way)) / 2e-7
        np.testing.assert_allclose(slopes[..., k], expected, rtol=1e-5)


@pytest.mark.parametrize("of", ["gains", "rules"])
def test_slopes_are_those_of_forward_mode(of):
    """Both are exact but for rounding: 1e-9 of the largest term leaves three digits of room."""
    plant = plants.get("van_der_pol")
    controller = rules(plant) if of == "rules" else None
    loop = loop_of("van_der_pol", [PLAIN, replace(PLAIN, name="other", reference=0.5)], controller)
    theta = controller.theta if controller else np.array([3.6, 0.6, 3.2])
    found = LoopSlopes(loop)
    for seed in range(3):
        way = np.random.default_rng(seed).standard_normal(len(theta))
        _, slopes = found.evaluate(theta[None], WEIGHTS)
        (moved,) = tangents(loop, theta, way)
        columns = [1 + loop.scoring.built_in.index(name) for name in WEIGHTS]
        np.testing.assert_allclose(slopes[:, 0] @ way, moved[:, columns] @ list(WEIGHTS.values()), rtol=1e-9)


def test_slopes_of_several_channels_are_those_of_forward_mode():
    """Nine gains, each in a direction of its own; the two differ by rounding alone."""
    loop = loop_of("planar_quadrotor", t_end=1.0)
    theta = middle(loop.plant)
    _, slopes = LoopSlopes(loop).evaluate(theta[None], WEIGHTS)
    columns = [1 + loop.scoring.built_in.index(name) for name in WEIGHTS]
    moved = tangents(loop, theta, np.eye(len(theta)))[:, 0, columns] @ list(WEIGHTS.values())
    np.testing.assert_allclose(slopes[0, 0], moved, rtol=1e-10, atol=1e-12 * np.abs(moved).max())


def test_at_a_limit_the_slope_is_that_of_the_limit():
    """A command that stands at its limit throughout does not change with the gains, nor does the motion."""
    far = replace(PLAIN, reference=50.0, initial=(0.0, 0.0), t_end=0.5)
    loop = loop_of("van_der_pol", [far])
    theta = np.array([[30.0, 0.0, 0.0], [0.3, 0.0, 0.0]])
    slopes = LoopSlopes(loop).evaluate(theta, {"iae": 1.0, "total_variation": 0.01})[1][0]
    np.testing.assert_array_equal(slopes[0], 0.0)
    assert (slopes[1] != 0.0).all()


def test_a_magnitude_has_the_slope_of_its_side():
    """The error keeps its sign for half a second: IAE falls with kp as the mean error does, whichever sign that is."""
    several = [
        replace(PLAIN, reference=r, initial=(0.0, 0.0), noise=0.0, excitation=None, t_end=0.5) for r in (1.0, -1.0)
    ]
    slopes = LoopSlopes(loop_of("van_der_pol", several)).evaluate(np.array([[3.6, 0.6, 3.2]]), {"iae": 1.0})[1]
    assert slopes[0, 0, 0] < 0.0
    np.testing.assert_array_equal(slopes[0], slopes[1])


def test_the_way_there_is_the_loop_itself_and_neither_segments_nor_lanes_change_a_bit():
    loop = loop_of("van_der_pol", [REAL, replace(REAL, name="other", reference=-0.5)])
    theta = np.random.default_rng(0).uniform(0.5, 4.0, (19, 3))
    found = LoopSlopes(loop)
    quality, slopes = found.evaluate(theta, WEIGHTS)
    for name, values in loop.evaluate(theta).values.items():
        np.testing.assert_array_equal(quality[name], values)
    for segment in (1, 7, 400):
        np.testing.assert_array_equal(found.evaluate(theta, WEIGHTS, segment=segment)[1], slopes)
    for threads in (1, 2):
        np.testing.assert_array_equal(found.evaluate(theta, WEIGHTS, threads)[1], slopes)
    for k in (0, 18):
        np.testing.assert_array_equal(found.evaluate(theta[k : k + 1], WEIGHTS)[1], slopes[:, k : k + 1])


def test_one_lane_gives_the_bits_of_all():
    theta = np.random.default_rng(0).uniform(0.5, 4.0, (19, 3))
    one, several = (
        LoopSlopes(loop_of("van_der_pol", [REAL, PLAIN], **more)).evaluate(theta, WEIGHTS)[1]
        for more in ({"lanes": 1}, {})
    )
    np.testing.assert_array_equal(one, several)


def test_the_way_back_runs_as_plain_python():
    loop, theta = loop_of("van_der_pol", [replace(REAL, t_end=0.3)], lanes=1), np.array([[3.6, 0.6, 3.2]])
    compiled = LoopSlopes(loop).evaluate(theta, WEIGHTS)[1]
    with uncompiled(), np.errstate(all="ignore"):
        plain = LoopSlopes(loop).evaluate(theta, WEIGHTS)[1]
    np.testing.assert_allclose(plain, compiled, rtol=1e-9)


def test_long_loops_in_pieces_give_the_same_bits(monkeypatch):
    """Both ways are cut, each hands on as many numbers as it needs, and delay lines lie behind them."""
    theta = np.array([[3.6, 0.6, 3.2], [2.0, 1.0, 2.0]])
    expected = LoopSlopes(loop_of("van_der_pol", [REAL])).evaluate(theta, WEIGHTS)[1]
    monkeypatch.setattr(lanes, "LONGEST", 20)
    monkeypatch.setattr(pieces, "_PIECE", 20)
    loop = loop_of("van_der_pol", [REAL])
    assert "spill" in loop.design.rows
    np.testing.assert_array_equal(LoopSlopes(loop).evaluate(theta, WEIGHTS)[1], expected)


@pytest.mark.parametrize("integrator", ["rk4", "heun", "rk2", "euler"])
def test_a_step_taken_apart_has_the_same_slopes(monkeypatch, integrator):
    """Long loops go back stage by stage; other roundings, but the same bits there, whatever the segments."""
    several = [REAL, replace(REAL, name="other", reference=-0.5)]
    theta = np.array([[3.6, 0.6, 3.2], [2.0, 1.0, 2.0]])
    loop = loop_of("van_der_pol", several, integrator=integrator)
    whole, expected = LoopSlopes(loop), loop.evaluate(theta).values
    monkeypatch.setattr(dependence, "LONG", 0)
    apart = LoopSlopes(loop)
    assert apart.kernel.text.count("# back_") > whole.kernel.text.count("# back_")
    quality, slopes = apart.evaluate(theta, WEIGHTS)
    for name, values in expected.items():
        np.testing.assert_array_equal(quality[name], values)
    np.testing.assert_allclose(slopes, whole.evaluate(theta, WEIGHTS)[1], rtol=1e-10)
    np.testing.assert_array_equal(apart.evaluate(theta, WEIGHTS, segment=7)[1], slopes)


def test_slopes_of_a_long_loop_are_those_of_differences(monkeypatch):
    """A vehicle's step is taken apart unasked, and then its parts are compiled in pieces."""
    monkeypatch.setattr(lanes, "LONGEST", 3000)
    loop = loop_of("suspension", t_end=0.02)
    theta = middle(loop.plant)
    found = LoopSlopes(loop)
    assert "rates" in found.kernel.text
    assert "def back_" in found.kernel.text
    way = np.random.default_rng(0).standard_normal(len(theta)) * np.maximum(1.0, theta)
    _, slopes = found.evaluate(theta[None], WEIGHTS)
    up, down = total(loop, np.array([theta + 1e-5 * way, theta - 1e-5 * way]))[0]
    np.testing.assert_allclose(slopes[0, 0] @ way, (up - down) / 2e-5, rtol=1e-6)


def test_weights_of_each_situation_and_candidate():
    loop = loop_of("van_der_pol", [PLAIN, replace(PLAIN, name="other", reference=0.5)])
    theta, found = np.array([[3.6, 0.6, 3.2], [2.0, 1.0, 2.0]]), LoopSlopes(loop)
    _, one = found.evaluate(theta, {"iae": 1.0})
    _, each = found.evaluate(theta, {"iae": np.array([[1.0, 2.0], [3.0, 0.0]])})
    np.testing.assert_allclose(each, one * np.array([[1.0, 2.0], [3.0, 0.0]])[..., None], rtol=1e-12)


def test_a_lost_rollout_has_finite_slopes_and_its_neighbours_their_own():
    loop = loop_of("cart_pole", t_end=3.0)
    theta = np.array([middle(loop.plant), np.zeros(6)])  # nobody holds the pole
    found = LoopSlopes(loop)
    quality, slopes = found.evaluate(theta, WEIGHTS)
    assert quality.failed.tolist() == [[False, True]]
    np.testing.assert_array_equal(slopes[:, :1], found.evaluate(theta[:1], WEIGHTS)[1])
    assert np.isfinite(slopes).all()


def test_what_has_no_slopes_is_refused():
    with pytest.raises(ValueError, match="algebraic_loop='solved'"):
        LoopSlopes(loop_of("nonlinear_inertia", [PLAIN], algebraic_loop="iterated"))
    with pytest.raises(ValueError, match="observe=False"):
        LoopSlopes(loop_of("van_der_pol", [PLAIN], observe=True))
    car = plants.get("quarter_car")
    with pytest.raises(ValueError, match=f"plant's own: {car.measures[0].name}"):
        LoopSlopes(loop_of("quarter_car", t_end=0.1, measures=("iae", car.measures[0].name)))


def test_memory_grows_with_the_square_root_of_the_steps():
    """Numbers kept by a lane: those of a segment's steps, and a workspace for each segment."""
    short = LoopSlopes(loop_of("van_der_pol", [PLAIN])).kernel
    cases = [(short, 2**20), (replace(short, text=10_000 * "\n"), 2**23)]
    for (kernel, room), steps in itertools.product(cases, (1, 2, 10, 10**4, 10**6, 10**8)):
        small = room // (8 * 16)
        long = segment_of(kernel, steps)
        kept = long * kernel.n_kept + -(-steps // long) * kernel.n_saved
        assert kept <= small + 2.0 * (kernel.n_kept * kernel.n_saved * steps) ** 0.5 + kernel.n_kept + kernel.n_saved


def test_what_is_kept_of_a_step_does_not_grow_with_the_parameters():
    plant = plants.get("van_der_pol")
    few, many = (LoopSlopes(loop_of("van_der_pol", [PLAIN], law)).kernel for law in (None, rules(plant)))
    assert many.n_kept - few.n_kept < len(rules(plant).theta) / 2


def test_arrays_of_a_call_grow_with_the_square_root_of_the_steps():
    theta, peaks = np.tile([3.6, 0.6, 3.2], (16, 1)), []
    for steps in (16_000, 256_000):
        loop = loop_of("van_der_pol", [replace(PLAIN, t_end=0.01 * steps)])
        found = LoopSlopes(loop)
        for _ in range(2):  # compiles; draws the situations' random numbers, which are the loop's own and stay
            found.evaluate(theta, WEIGHTS, 1, segment=1 + steps // 10)
        tracemalloc.start()
        found.evaluate(theta, WEIGHTS, 1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4.0 * peaks[0]
