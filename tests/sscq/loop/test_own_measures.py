"""A plant's own measures in closed loops: against the slow twin, frozen, continued, recorded, and never in the way."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants import Measure
from plants.core.elementary import abs as magnitude
from plants.core.elementary import exp
from plants.measures import peak, rate_of, rms, share_beyond
from plants.ride import vibration_dose, weighted_rms
from sscq.baselines.objective import Objective, Task
from sscq.fitness import Fitness
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import all_measures, scales
from sscq.loop.quality import ALL_MEASURES, Quality
from tests.reference.closed_loop_twin import Twin, recorder_of, uncompiled

CAR = plants.get("quarter_car")
STEP = CAR.step
LAW = PID(limits=(-3000.0, 3000.0), sample_time=2.0 * STEP)
SITUATIONS = tuple(
    replace(sscq.Situation(**CAR.situations["taught"][k]), t_end=0.4, delay=0.004, reference=0.01 * k) for k in (0, 3)
)
FREE, WRONG = PID(limits=(-1e6, 1e6)), np.array([[-4e5, 0.0, 0.0]])  # a loop that diverges
GAINS = np.array([[8e3, 2e4, 1e3], [1e3, 0.0, 3e3]])


def felt(t, x, u, w, p):
    return CAR.derivative(t, x, u, w, p)[3]


def travel(t, x, u, w, p):
    return x[0] - x[1]


MEASURES = (
    weighted_rms("comfort", felt, "Wk"),
    vibration_dose("dose", felt, "Wd"),
    rms("force", "N", lambda t, x, u, w, p: u[0] * p[0] / 280.0 + exp(-t) * w[0]),
    peak("stroke", "m", travel),
    share_beyond("bumping", travel, 0.005),
    share_beyond("always", lambda t, x, u, w, p: 1.0, 0.5),
    Measure("smooth", "m", lambda t, x, u, w, p, m, h: (m[0] + h * (x[0] - m[0]), m[1] + h * m[0]),
            lambda m, time: m[1] / time, states=("filter", "sum"), initial=(0.2, -1.0), memory=("filter",)),
)  # fmt: skip
OFF = Measure("off", "m", lambda t, x, u, w, p, m, h, r: (m[0] + h * magnitude(r[0] - travel(t, x, u, w, p)),),
              lambda m, time: m[0], references=True)  # fmt: skip
MEASURES = (*MEASURES, OFF)
OWN = tuple(one.name for one in MEASURES)
PLANT = replace(CAR, measures=MEASURES)
BARE = replace(CAR, measures=())


@pytest.fixture(scope="module")
def loop():
    return ClosedLoop(PLANT, LAW, SITUATIONS, STEP, measures=all_measures(PLANT), observe=True)


@pytest.fixture(scope="module")
def quality(loop):
    return loop.evaluate(GAINS, 1)


# ----------------------------------------------------------------------------------------------------------- the values


def test_they_are_those_of_the_slow_twin(quality):
    """Fused products and another order of sums, over 400 steps of a stable loop."""
    for i, situation in enumerate(SITUATIONS):
        for k, gains in enumerate(GAINS):
            twin = Twin(PLANT, [LAW], lambda t, *seen, g=gains: g, situation, STEP, sample=2)
            twin.run()
            found = {name: quality[name][i, k] for name in OWN}
            assert found == pytest.approx(twin.own_values, rel=1e-8), (situation.name, gains)


def test_compiled_they_are_those_of_plain_python(quality):
    with uncompiled():
        plain = ClosedLoop(PLANT, LAW, SITUATIONS, STEP, measures=OWN, lanes=1).evaluate(GAINS, 1)
    for name in OWN:
        np.testing.assert_allclose(quality[name], plain[name], rtol=1e-9)


def test_each_is_found_by_name(quality):
    assert quality["comfort"].shape == (2, 2)
    np.testing.assert_array_equal(quality.comfort, quality["comfort"])
    np.testing.assert_array_equal(quality["iae"], quality.iae)
    with pytest.raises(KeyError, match="did you mean 'comfort'"):
        quality["comfrt"]


def test_evaluate_gives_them_unless_others_are_asked_for(quality):
    found = sscq.evaluate(PLANT, LAW, GAINS, SITUATIONS, STEP, threads=1)
    assert tuple(found.until_lost) == (*ALL_MEASURES, *OWN)
    np.testing.assert_allclose(found["comfort"], quality["comfort"], rtol=1e-11)  # observed loops are another kernel
    few = sscq.evaluate(PLANT, LAW, GAINS, SITUATIONS, STEP, measures=("dose", "iae"), threads=1)
    assert tuple(few.values) == ("iae", "dose")
    np.testing.assert_allclose(few["dose"], quality["dose"], rtol=1e-12)


# ------------------------------------------------------------------------------------------------------- in nobody's way


@pytest.mark.parametrize("observe", [False, True])
def test_kernels_that_do_not_ask_for_them_are_the_same_text(observe):
    with_them = ClosedLoop(PLANT, LAW, SITUATIONS, STEP, observe=observe)
    assert with_them.kernel.text == ClosedLoop(BARE, LAW, SITUATIONS, STEP, observe=observe).kernel.text
    asked = ClosedLoop(PLANT, LAW, SITUATIONS, STEP, observe=observe, measures=("iae", "stroke"))
    assert "m_stroke" in asked.kernel.text
    assert "m_comfort" not in asked.kernel.text


@pytest.mark.parametrize("observe", [False, True])
def test_the_built_in_measures_keep_their_bits(observe):
    several = (all_measures(PLANT), ALL_MEASURES)
    own, bare = (
        ClosedLoop(PLANT, LAW, SITUATIONS, STEP, observe=observe, measures=m).evaluate(GAINS, 1) for m in several
    )
    for name in ALL_MEASURES:
        np.testing.assert_array_equal(own[name], bare[name])


def test_they_do_not_depend_on_threads_or_neighbours(loop, quality):
    alone = loop.evaluate(GAINS[1:], 2)
    for name in OWN:
        np.testing.assert_array_equal(alone[name][:, 0], quality[name][:, 1])


@pytest.mark.parametrize("mode", ["iterated", "loop_free", "loop_free_filtered"])
def test_they_are_measured_in_every_mode_of_an_algebraic_loop(mode):
    """The watch on the loop's gain, behind them in the kernel's results, keeps its own; accelerations are the plant's."""
    bare = plants.get("nonlinear_inertia")
    acceleration, place = rate_of(bare, bare.states[1].name), sscq.Situation("push", 0.5, t_end=2.0)
    plant = replace(bare, measures=(rms("jolt", "m/s^2", acceleration), *MEASURES[5:6]))
    law, gains = PID(limits=(-20.0, 20.0)), np.array([[4.0, 1.0, 2.0]])
    own, other = (
        ClosedLoop(one, law, (place,), 0.005, algebraic_loop=mode, measures=all_measures(one)).evaluate(gains, 1)
        for one in (plant, bare)
    )
    assert own["always"] == pytest.approx(1.0, rel=1e-12)
    solved = sscq.evaluate(plant, law, gains, place, 0.005)
    assert own["jolt"] == pytest.approx(solved["jolt"], rel=0.02)  # loop-free modes are of first order
    np.testing.assert_allclose(own.iae, other.iae, rtol=1e-12)
    assert (own.loop_gain is None) == (other.loop_gain is None)
    if own.loop_gain is not None:
        np.testing.assert_allclose(own.loop_gain, other.loop_gain, rtol=1e-12)


# -------------------------------------------------------------------------------------------- divergence, continuation


def test_a_rollout_that_diverges_is_measured_up_to_there():
    """Its peak and sums stop; means are over the steps that were measured, the one of the divergence included."""
    loop = ClosedLoop(PLANT, FREE, SITUATIONS[1:], STEP, measures=all_measures(PLANT))
    found = loop.evaluate(WRONG, 1)
    steps = round(float(found.diverged_at[0, 0]) / STEP)
    assert 0 < steps < 399
    cut = (replace(SITUATIONS[1], t_end=(steps + 1) * STEP),)
    up_to_there = ClosedLoop(PLANT, FREE, cut, STEP, measures=all_measures(PLANT)).evaluate(WRONG, 1)
    for name in OWN:
        np.testing.assert_array_equal(found.until_lost[name], up_to_there.until_lost[name])
    assert found.until_lost["always"] == pytest.approx(1.0, rel=1e-12)


def test_windows_joined_end_to_end_are_one_run(loop):
    """Filters go on bit for bit; sums and peaks begin again, so that each window has its own value."""
    whole = loop.run(GAINS[:1], [1], keep=True, threads=1)
    snapshot, parts, lengths = None, [], (1, 130, 69, 200)
    for n_steps in lengths:
        part = loop.run(GAINS[:1], [1], n_steps=n_steps, snapshot=snapshot, keep=True, threads=1)
        snapshot = part.snapshot
        parts.append(dict(zip(loop.measures, part.measures[0], strict=True)))
    total = dict(zip(loop.measures, whole.measures[0], strict=True))
    times, rows = STEP * np.array(lengths), loop.design.rows
    for group, measure in zip(loop.scoring.own.groups, MEASURES, strict=True):
        kept = np.array(measure.remembered)
        ours, theirs = (s.rows[0, rows.span(group)] for s in (snapshot, whole.snapshot))
        np.testing.assert_array_equal(ours[kept], theirs[kept])
    assert max(p["stroke"] for p in parts) == total["stroke"]
    assert parts[2]["stroke"] < total["stroke"]
    squares = sum(time * p["comfort"] ** 2 for time, p in zip(times, parts, strict=True))
    assert squares == pytest.approx(times.sum() * total["comfort"] ** 2, rel=1e-11)
    means = sum(time * p["smooth"] + 1.0 for time, p in zip(times, parts, strict=True))
    assert means == pytest.approx(times.sum() * total["smooth"] + 1.0, rel=1e-11)  # each window's sum begins at -1


# ------------------------------------------------------------------------------------------------------------- records


def test_a_record_shows_them_running(loop, quality):
    run = recorder_of(loop)(GAINS[0], 1)
    shown = run.group("measures")
    assert shown.shape == (401, len(OWN))
    assert shown[-1] == pytest.approx([quality[name][1, 0] for name in OWN], rel=1e-14)
    strokes = np.abs(run.states[:, 0] - run.states[:, 1])
    assert shown[1:, OWN.index("stroke")] == pytest.approx(np.maximum.accumulate(strokes)[:-1], rel=1e-12)
    assert shown[0] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0 / STEP, 0.0])  # of the initial states


def test_a_record_stays_where_it_diverged():
    run = sscq.record(PLANT, FREE, WRONG[0], SITUATIONS[1], STEP)
    assert (run.group("measures")[-1] == run.group("measures")[-2]).all()
    assert np.isfinite(run.group("measures")).all()


# ------------------------------------------------------------------------------------------------------------- fitness


def table(**values):
    """Quality of three candidates in two situations."""
    given = {name: np.array(rows, float) for name, rows in values.items()}
    return Quality(("a", "b"), np.array([1.0, 1.0]), np.full((2, 3), np.nan), given)


def test_they_are_terms_like_the_others():
    fitness = Fitness(entropy_weight=0.0, own_measures={"comfort": 0.5, "stroke": 0.0}, reference={"comfort": 4.0})
    assert fitness.terms == {"iae": 1.0, "comfort": 0.5}
    assert fitness.measures == ("iae", "comfort")
    each = fitness.per_situation(table(iae=[[1, 2, 3], [1, 1, 1]], comfort=[[8, 4, 0], [0, 0, 8]]))
    np.testing.assert_allclose(each, [[2.0, 2.5, 3.0], [1.0, 1.0, 2.0]])


def test_they_are_normalised_like_the_others_and_fall_back_on_what_counts_as_large():
    fitness = Fitness(entropy_weight=0.0, own_measures={"comfort": 1.0, "bumping": 1.0}, reference={"bumping": 0.01})
    found = fitness.normalised_by(
        table(iae=[[1, 2, 3], [1, 2, 3]], comfort=[[2, 4, 9], [4, 4, 9]], bumping=[[0, 0, 1], [0, 0, 1]])
    )
    assert found.reference == {"iae": 2.0, "comfort": 4.0, "bumping": 0.01}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"own_measures": {"comfort": -1.0}}, "comfort.* at least 0, got -1"),
        ({"own_measures": {"comfort": float("inf")}}, "finite"),
        ({"own_measures": {"iae": 1.0}}, "'iae' is built in"),
        (
            {"own_measures": {"comfort": 1.0}, "kind": "lexicographic"},
            "weighed in kind=tracking_and_entropy alone, got kind=lexicographic",
        ),
        ({"reference": {"comfort": 1.0}}, "no measure for the fitness to refer to"),
        ({"own_limits": {"comfort": 0.0}}, "own_limits.*comfort.*above 0, got 0"),
        ({"own_limits": {"iae": 1.0}}, "own_limits are the plant's; 'iae' is built in"),
    ],
)
def test_weights_that_mean_nothing_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Fitness(**given)


def test_without_them_a_fitness_is_written_as_before():
    assert "own_measures" not in Fitness().plain()
    assert Fitness(own_measures={"comfort": 1.0}).plain()["own_measures"] == {"comfort": 1.0}
    assert "own_limits" not in Fitness().plain()
    assert Fitness(**Fitness(own_limits={"comfort": 1.0}).plain()).own_limits == {"comfort": 1.0}


def test_a_limit_holds_for_the_mean_over_the_situations():
    """The second candidate is beyond the limit by a tenth, which costs all of its fitness once more; others pay nothing."""
    fitness = Fitness(entropy_weight=0.0, own_limits={"comfort": 2.0})
    assert fitness.measures == ("iae", "comfort")
    found = table(iae=[[1, 2, 3], [1, 2, 3]], comfort=[[3.0, 1.0, 2.0], [1.0, 3.4, 2.0]])
    np.testing.assert_allclose(fitness(found), [1.0, 2.0 * (1.0 + 10.0 * 0.1), 3.0], rtol=1e-12)
    np.testing.assert_allclose(fitness.per_situation(found), [[1, 2, 3], [1, 2, 3]])
    assert fitness.severity(found).tolist()[0::2] == [0.0, 0.0]
    assert fitness.severity(found)[1] > 0.0


def test_limits_may_come_first():
    """The first falls at the very end of both situations, the second breaks the limit by a tenth, the third both.

    As weighed, breaking the limit is cheaper than falling; put first, it is dearer than any such fall, and the sooner
    and the farther the worse.
    """
    given = {"entropy_weight": 0.0, "own_limits": {"comfort": 2.0}}
    found = table(iae=[[1, 1, 1], [1, 1, 1]], comfort=[[2.0, 2.2, 4.0], [1.0, 2.2, 4.0]])
    found.diverged_at[:, 0] = found.diverged_at[:, 2] = 1.0
    falls, breaks, both = Fitness(**given)(found)
    assert breaks < falls < both
    falls, breaks, both = Fitness(**given, limits_first=True)(found)
    assert falls == pytest.approx(1000.0)
    assert falls < breaks < both
    assert breaks == pytest.approx(1000.0 * 1.1 + 1.0 * (1.0 + 10.0 * 0.1))


def test_margins_come_first_with_the_limits():
    found = table(iae=[[1, 1, 1], [1, 1, 1]])
    found.diverged_at[:, 0] = 1.0
    margins = np.array([0.0, 0.5, 0.0])
    assert Fitness(entropy_weight=0.0, limits_first=True)(found, margins).tolist() == [1000.0, 1506.0, 1.0]
    assert Fitness(entropy_weight=0.0)(found, margins).tolist() == [1000.0, 6.0, 1.0]
    assert "limits_first" not in Fitness().plain()
    assert Fitness(**Fitness(limits_first=True).plain()).limits_first


def test_what_is_lost_keeps_no_limit():
    """A limited measure that weighs nothing may not be finite: that is worse than any excess, and still a number."""
    fitness = Fitness(entropy_weight=0.0, own_limits={"comfort": 2.0})
    found = table(iae=[[1, 1, 1]], comfort=[[np.nan, np.inf, 200.0]])
    lost, endless, far = fitness(found)
    assert far < lost == endless < np.inf
    assert (fitness.severity(found) < 1.0).all()


def test_what_may_be_weighed():
    assert scales(PLANT, {"bumping": 2.0}) == {"bumping": 0.01}
    with pytest.raises(ValueError, match="did you mean 'comfort'"):
        scales(PLANT, {"comfrt": 1.0})
    with pytest.raises(ValueError, match="has no own measures"):
        scales(BARE, {"comfort": 1.0})
    either = replace(BARE, measures=(replace(MEASURES[0], less_is_better=None),))
    with pytest.raises(ValueError, match="cannot be minimised"):
        scales(either, {"comfort": 1.0})


@pytest.mark.parametrize("name", ["iae", "t_end", "failed", "diverged_at"])
def test_names_of_the_results_are_taken(name):
    plant = replace(BARE, measures=(replace(MEASURES[0], name=name),))
    with pytest.raises(ValueError, match="give its measure another one"):
        ClosedLoop(plant, LAW, SITUATIONS, STEP)


def test_a_search_minimises_them():
    """Comfort alone: of the two sets of gains, the one with the lower measure has the lower fitness."""
    fitness = Fitness(error_weight=0.0, entropy_weight=0.0, own_measures={"comfort": 1.0})
    objective = Objective(Task(PLANT, SITUATIONS, fitness, STEP, threads=1), LAW)
    assert objective.loop.measures == ("comfort",)
    expected = sscq.evaluate(PLANT, LAW, GAINS, SITUATIONS, STEP, threads=1)["comfort"].mean(axis=0)
    np.testing.assert_allclose(objective(GAINS), expected, rtol=1e-12)
