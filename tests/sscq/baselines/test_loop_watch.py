"""The watch on the loop's gain in loop-free closed loops: what it finds, when it warns, and that it changes no bit."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants import Channel, Plant, Quantity
from plants.core.algebraic_loop.gain import spectral_radius
from plants.core.motion.loop_watch import bound, radius, settled_scales
from plants.core.motion.modes import MODES
from plants.excitation import WhiteNoise
from sscq.baselines.objective import Objective, Task
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.quality import ALL_MEASURES
from tests.reference import algebraic_loop_twin as twin
from tests.reference.closed_loop_twin import uncompiled

INERTIA, CART_POLE = plants.get("nonlinear_inertia"), plants.get("cart_pole")
NEAR = sscq.Situation("near", 0.8, WhiteNoise(0.1, 0.1), {"a3": 0.5}, (0.3, 0.2), t_end=0.6, seed=1)
FAR = sscq.Situation("far", 1.2, WhiteNoise(0.1, 0.1), {"a3": 0.6}, (1.4, -0.5), t_end=0.4, seed=2)
GAINS = np.array([(6.0, 1.0, 4.0), (20.0, 0.5, 2.0), (1.0, 0.2, 1.0)])


def evaluated(plant, gains, situations, mode="loop_free", law=None):
    loop = ClosedLoop(plant, law or PID(), situations, 0.01, algebraic_loop=mode, lanes=1, measures=("iae",))
    with uncompiled():
        return loop.evaluate(np.atleast_2d(gains), threads=1)


def recorded(plant, gains, situation, mode="loop_free", law=None):
    """Record of one loop up to the beginning of its last step: where the watch looks."""
    with uncompiled(), warnings.catch_warnings():
        warnings.simplefilter("ignore", plants.LoopGainWarning)
        run = sscq.record(plant, law or PID(), gains, situation, 0.01, algebraic_loop=mode)
    return run.group("states")[:-1], run


def gain_at(plant, x, situation, disturbance):
    return plants.loop_gain(plant, x, situation.parameters, disturbances=disturbance)


# ------------------------------------------------------------------------------------------------- what it finds


@pytest.mark.parametrize("mode", ["loop_free", "loop_free_relaxed", "loop_free_filtered"])
def test_the_largest_gain_is_that_along_the_record(mode):
    position, velocity = INERTIA.states
    plant = replace(INERTIA, name="narrow", states=(replace(position, low=-1.6, high=1.6), velocity))
    candidates = np.vstack([GAINS, (60.0, 0.0, -20.0)])  # the last one leaves the region
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plants.LoopGainWarning)
        found = evaluated(plant, candidates, (NEAR, FAR), mode)
    for number, situation in enumerate((NEAR, FAR)):
        for k, gains in enumerate(candidates):
            states, run = recorded(plant, gains, situation, mode)
            reached = found.diverged_at[number, k]
            along = states if np.isnan(reached) else states[: round(reached / 0.01) + 1]
            pairs = zip(along, run.group("disturbances"), strict=False)
            expected = max(gain_at(plant, tuple(x), situation, tuple(w)) for x, w in pairs)
            # One formula, a3 q^2, on states that a kernel with other rows computed: bits of fused products apart.
            assert found.loop_gain[number, k] == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(found.diverged_at[:, 3]).any()
    assert len(np.unique(found.loop_gain)) > 4


def test_two_accelerations_are_exact():
    laws = (PID(), PID())
    situation = sscq.Situation(
        "swing", {"position": 0.5}, initial=(0.0, 0.4, 0.0, 0.0), parameters={"pole": 2.0}, t_end=0.5
    )
    gains = (40.0, 0.0, 8.0, 2.0, 0.1, 3.0)
    found = evaluated(CART_POLE, gains, (situation,), law=laws)
    states, _ = recorded(CART_POLE, gains, situation, law=laws)
    expected = max(plants.loop_gain(CART_POLE, tuple(x), situation.parameters) for x in states)
    assert found.loop_gain[0, 0] == pytest.approx(expected, rel=1e-12)
    assert 0.5 < expected < 1.0


def hanging(light=False):
    """The double pendulum of the twins on a driven cart: three coupled accelerations."""
    cart = twin.cart(light)
    return replace(cart, channels=(Channel(output="place", rate="speed", low=-30.0, high=30.0),))


DRIVE = sscq.Situation("drive", {"place": 1.0}, t_end=1.5)


def test_three_accelerations_get_a_narrow_bound():
    found = evaluated(hanging(), (8.0, 0.0, 6.0), (DRIVE,))
    states, _ = recorded(hanging(), (8.0, 0.0, 6.0), DRIVE)
    expected = max(plants.loop_gain(hanging(), tuple(x)) for x in states)
    assert np.ptp(states[:, 1]) > 0.3  # the pendulum swings: the scales have to follow
    # The bound's excess is how far the scales lag behind the motion: second order in the change of a step.
    assert expected * (1.0 - 1e-12) <= found.loop_gain[0, 0] < 1.02 * expected


def squared(t, x, a, u, w, p):
    """A mass whose equation is not affine: G = -0.2 a."""
    return (u[0] - x[0] - x[1] - 0.1 * a[0] * a[0],)


def test_a_gain_that_depends_on_the_acceleration_is_that_of_the_rebuilt_one():
    plant = Plant(
        name="squared", states=(Quantity("place", "m"), Quantity("speed", "m/s")), inputs=(Quantity("push", "N"),),
        channels=(Channel(output="place", rate="speed", low=-9.0, high=9.0),), acceleration=squared,
    )  # fmt: skip
    situation = sscq.Situation("up", 1.0, t_end=0.02)  # the second step is the first with an acceleration
    found = evaluated(plant, (3.0, 0.0, 1.0), (situation,))
    states, _ = recorded(plant, (3.0, 0.0, 1.0), situation)
    rebuilt = np.diff(states[:, 1], prepend=states[0, 1]) / 0.01
    # Differences of rounded velocities over the step: 1e-16 / 0.01.
    assert found.loop_gain[0, 0] == pytest.approx(0.2 * np.abs(rebuilt).max(), rel=1e-9)
    assert found.loop_gain[0, 0] > 0.1


def test_the_formula_of_two_and_the_bound_of_many():
    rng = np.random.default_rng(3)
    for n in (1, 2):
        for matrix in rng.standard_normal((50, n, n)):
            assert float(radius(matrix.tolist())) == pytest.approx(spectral_radius(matrix[None])[0], rel=1e-9)
    assert float(radius([[0.0, 0.0], [0.0, 0.0]])) == 0.0
    for n in (3, 5):
        for matrix in rng.standard_normal((20, n, n)):
            exact, positive = spectral_radius(matrix[None])[0], spectral_radius(np.abs(matrix)[None])[0]
            any_scales = tuple(rng.uniform(0.1, 10.0, n))
            assert bound(matrix.tolist(), any_scales)[0] >= exact * (1.0 - 1e-12)
            settled = bound(matrix.tolist(), settled_scales(matrix))[0]
            assert settled == pytest.approx(positive, rel=1e-6)  # 200 halved steps of the power method


def test_scales_survive_loops_that_are_not_coupled_or_not_finite():
    broken = np.array([[0.0, np.inf, 0.0], [np.nan, 0.0, 1.0], [0.0, 0.0, 0.0]])
    assert settled_scales(broken) == (1.0, 1.0, 1.0)
    alone = np.diag([0.0, 0.5, 0.0])
    largest, scales = bound(alone.tolist(), settled_scales(alone))
    assert (largest, min(scales)) == (0.5, 1e-6)
    _, after = bound(broken.tolist(), scales)
    assert all(0.0 < v <= 1.0 for v in after)


def test_windows_end_to_end_find_what_one_run_finds():
    back = replace(NEAR, reference=0.0, initial=(0.9, -0.5))  # the gain falls
    loop = ClosedLoop(INERTIA, PID(), (back,), 0.01, algebraic_loop="loop_free", lanes=1, measures=("iae",))
    with uncompiled():
        whole = loop.run(GAINS[:1], [0], n_steps=60, threads=1)
        first = loop.run(GAINS[:1], [0], n_steps=20, keep=True, threads=1)
        second = loop.run(GAINS[:1], [0], n_steps=40, snapshot=first.snapshot, threads=1)
    assert first.watched[0, 0] == whole.watched[0, 0] > second.watched[0, 0] > 0.0


# ------------------------------------------------------------------------------------------------ when it warns


def test_one_warning_names_plant_situation_candidates_and_the_remedy():
    longer = replace(FAR, name="longer", t_end=0.5)
    calm = GAINS[2] * 0.0
    loop = ClosedLoop(INERTIA, PID(), (NEAR, FAR, longer), 0.01, algebraic_loop="loop_free_relaxed", lanes=1)
    with uncompiled(), pytest.warns(plants.LoopGainWarning) as caught:
        quality = loop.evaluate(np.array([GAINS[0], calm]), threads=1)
    (warning,) = caught  # of three calls of the kernel: the situations have three horizons
    assert len(loop.groups()) == 3
    assert warning.filename == __file__
    text, gains = str(warning.message), quality.loop_gain
    risky = gains >= 1.0
    assert risky.any(axis=1).tolist() == [False, True, True]
    place = np.unravel_index(np.argmax(gains), gains.shape)
    assert f"algebraic loop of plant 'nonlinear_inertia' is {gains[place]:.4g} in situation 'far'" in text
    assert f"with {risky.any(axis=0).sum()} of 2 candidates, in 2 of 3 situations" in text
    assert "use algebraic_loop='solved'" in text


def test_evaluate_warns_at_its_callers_line():
    far = sscq.Situation("far", 1.0, initial=(1.8, 0.0), t_end=0.02)
    with uncompiled(), pytest.warns(plants.LoopGainWarning, match="is 1.296 in situation 'far'") as caught:
        quality = sscq.evaluate(INERTIA, PID(), (1.0, 0.0, 1.0), far, algebraic_loop="loop_free", measures=("iae",))
    assert [warning.filename for warning in caught] == [__file__]
    assert quality.loop_gain.shape == (1, 1)


def test_below_one_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mode in ("loop_free", "loop_free_relaxed"):
            assert evaluated(INERTIA, GAINS, (NEAR,), mode).loop_gain.max() < 1.0


def test_the_filtered_form_bears_more():
    """Negative gains up to 19, whichever way they are found: formula or bound."""
    heavy = [replace(NEAR, parameters={"a3": a3 / 4.0}, initial=(2.0, 0.0), t_end=0.02) for a3 in (18.9, 19.1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluated(INERTIA, GAINS[2], heavy[:1], "loop_free_filtered").loop_gain.max() > 18.0
        light = evaluated(hanging(light=True), (8.0, 0.0, 6.0), (replace(DRIVE, t_end=0.1),), "loop_free_filtered")
        assert 1.2 < light.loop_gain.max() < 2.0
    with pytest.warns(plants.LoopGainWarning, match="is 19.1 in situation"):
        evaluated(INERTIA, GAINS[2], heavy[1:], "loop_free_filtered")
    with pytest.warns(plants.LoopGainWarning, match="'cart' may be 1.2"):
        evaluated(hanging(light=True), (8.0, 0.0, 6.0), (replace(DRIVE, t_end=0.02),))


# ------------------------------------------------------------------------------------------- what it leaves alone


@pytest.mark.parametrize("mode", [mode for mode in MODES if not mode.startswith("loop_free")])
def test_other_modes_have_no_watch(mode):
    loop = ClosedLoop(INERTIA, PID(), (NEAR,), 0.01, algebraic_loop=mode, lanes=1, measures=("iae",))
    assert not {"loop_gain", "loop_factor", "loop_scales"} & set(loop.design.rows.first)
    assert "watch" not in loop.kernel.text


def test_without_a_watch_there_is_no_gain():
    assert evaluated(INERTIA, GAINS, (NEAR,), "solved").loop_gain is None


def test_the_watch_changes_no_bit_of_anything_else(monkeypatch):
    options = {"algebraic_loop": "loop_free_relaxed", "integrator": "heun"}
    gains = np.random.default_rng(0).uniform((1.0, 0.2, 1.0), (20.0, 2.0, 4.0), (19, 3))
    with pytest.warns(plants.LoopGainWarning):
        watched = ClosedLoop(INERTIA, PID(), (NEAR, FAR), 0.01, **options).evaluate(gains, threads=1)
    monkeypatch.setattr("sscq.loop.closed_loop.LoopWatch", lambda *_: None)
    plain = ClosedLoop(INERTIA, PID(), (NEAR, FAR), 0.01, **options).evaluate(gains, threads=1)
    assert plain.loop_gain is None
    for name in ALL_MEASURES:
        np.testing.assert_array_equal(getattr(watched, name), getattr(plain, name), err_msg=name)
    np.testing.assert_array_equal(watched.diverged_at, plain.diverged_at)
    assert len(np.unique(watched.loop_gain[0])) == len(gains)


def test_a_search_warns_once():
    """The words name counts, so each generation's would be a warning of its own."""
    task = Task(INERTIA, (FAR,), sscq.Fitness(entropy_weight=0.0), 0.01, {"algebraic_loop": "loop_free"}, 1)
    objective = Objective(task, PID())
    objective.loop = ClosedLoop(INERTIA, PID(), (FAR,), 0.01, algebraic_loop="loop_free", lanes=1, measures=("iae",))
    with uncompiled(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for gains in (GAINS, GAINS[:1]):
            objective(gains)
    assert [warning.category for warning in caught] == [plants.LoopGainWarning]
