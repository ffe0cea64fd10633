"""Searching gains: own gains, margins and boxes are kept; what cannot be searched is refused."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller, GainTable, TwoDegreePID
from sscq.baselines.objective import Task
from sscq.baselines.survey import SAMPLES, survey
from sscq.loop import closed_loop
from sscq.margins.operating import OperatingMargins
from tests.plants.core.gpu.emulated import on_cpu

STEP = 0.02
PLANT = plants.get("van_der_pol")
UP = sscq.Situation(name="up", reference=1.5, t_end=2.0)
GA = sscq.GeneticAlgorithm(population=12, generations=2)
QUICK = {"ga": GA, "step": STEP, "teacher": False, "threads": 1}


def test_the_same_seed_gives_the_same_result_for_any_number_of_threads():
    one, other = (sscq.optimize(PLANT, PID(), UP, **{**QUICK, "threads": n}, seed=5) for n in (1, 2))
    np.testing.assert_array_equal(one.gains, other.gains)
    np.testing.assert_array_equal(one.history.mean, other.history.mean)
    assert one.teaching_signal is None
    assert not np.array_equal(one.gains, sscq.optimize(PLANT, PID(), UP, **QUICK, seed=6).gains)


def test_a_gpu_finds_the_same_gains(monkeypatch):
    jobs = []
    monkeypatch.setattr(closed_loop, "on_gpu", lambda text, job: (jobs.append(job), on_cpu(text, job))[1])
    lanes, threads = (sscq.optimize(PLANT, PID(), UP, **QUICK, device=device) for device in ("cpu", "cuda"))
    np.testing.assert_array_equal(lanes.gains, threads.gains)
    assert lanes.criterion == threads.criterion
    assert {len(job.theta) for job in jobs} >= {SAMPLES, GA.population}


def test_what_the_fitness_refers_to_is_the_same_for_every_seed():
    one, other = (sscq.optimize(PLANT, PID(), UP, **QUICK, seed=seed).criterion for seed in (5, 6))
    assert one == other
    assert set(one.reference) == set(one.terms)


def test_the_search_starts_from_the_users_gains_and_refers_to_them():
    own = np.array((4.0, 0.5, 3.0))
    found = sscq.optimize(PLANT, PID(), UP, own=own, margins=False, **QUICK)
    quality = sscq.evaluate(PLANT, PID(), own, UP, step=STEP)
    # each term of the fitness is divided by its value for these gains, so they have the sum of the weights: 1 + 0.3
    assert found.criterion(quality)[0] == pytest.approx(1.3, rel=1e-12)
    assert found.fitness <= 1.3


def test_a_given_fitness_is_used_as_it_stands():
    raw = sscq.Fitness(entropy_weight=0.0)
    found = sscq.optimize(PLANT, PID(), UP, fitness=raw, margins=False, **QUICK)
    assert found.criterion == raw
    assert found.fitness == pytest.approx(sscq.evaluate(PLANT, PID(), found.gains, UP, step=STEP).iae[0, 0], rel=1e-12)


def test_the_box_is_kept_and_may_hold_gains_fixed():
    found = sscq.optimize(PLANT, PID(), UP, low=(1.0, 0.5, 0.0), high=(3.0, 0.5, 2.0), margins=False, **QUICK)
    assert found.gains[1] == 0.5
    assert (found.gains >= (1.0, 0.5, 0.0)).all()
    assert (found.gains <= (3.0, 0.5, 2.0)).all()


def test_margins_are_a_constraint_where_there_are_operating_points():
    strict, loose = sscq.MarginLimits(1.1), False
    keeps, breaks = (
        sscq.optimize(PLANT, PID(rate_source="difference"), UP, fitness=sscq.Fitness(), margins=margins, **QUICK)
        for margins in (strict, loose)
    )
    margins = operating_margins(strict)
    assert margins.violation(keeps.gains[None, None])[0] < margins.violation(breaks.gains[None, None])[0]
    nowhere = replace(PLANT, operating_points=())
    assert sscq.optimize(nowhere, PID(), UP, **QUICK).gains.shape == (3,)
    with pytest.raises(ValueError, match="declares no operating points, so margins cannot be computed"):
        sscq.optimize(nowhere, PID(), UP, margins=strict, **QUICK)


def operating_margins(limits):
    return OperatingMargins(PLANT, PID(rate_source="difference"), (UP,), STEP, [0.0] * 3, [10.0] * 3, limits)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"low": (5.0, 0.0, 0.0), "high": (1.0, 1.0, 1.0)}, ValueError, "low of gain 'kp' must not exceed its high"),
        ({"low": (0.0, 0.0)}, ValueError, r"low must have one entry for each gain \(kp, ki, kd\)"),
        ({"controller": "PID"}, TypeError, "a Controller, a law such as controllers.PID"),
        ({"controller": TwoDegreePID()}, ValueError, r"one entry for each gain \(kp, ki, kd, b\)"),
        ({"situations": ()}, ValueError, "at least one situation"),
        ({"plant": replace(PLANT, channels=(), situations={})}, ValueError, "declares no control channel"),
    ],
)
def test_what_does_not_fit_is_refused(changes, error, message):
    arguments = {"plant": PLANT, "controller": PID(), "situations": UP, **QUICK, **changes}
    with pytest.raises(error, match=message):
        sscq.optimize(**arguments)


def test_a_schedule_is_refined_elsewhere():
    table = Controller((PID(),), GainTable("error", (0.0, 1.0), transform="magnitude"))
    with pytest.raises(TypeError, match=r"got Controller with the schedule GainTable.*flcs\.refinement\.refine"):
        sscq.optimize(PLANT, table, UP, **QUICK)


def test_a_survey_finds_the_best_of_its_sample_and_refers_to_the_median():
    low, high = np.zeros(3), np.full(3, 10.0)
    task = Task(PLANT, (UP,), sscq.Fitness(), STEP, {}, 1)
    seen = survey(task, (PID(),), low, high)
    assert (np.diff(seen.fitness(sscq.evaluate(PLANT, PID(), seen.best, UP, step=STEP))) >= 0.0).all()
    rng = np.random.default_rng(0)
    quality = sscq.evaluate(PLANT, PID(), rng.uniform(low, high, (SAMPLES, 3)), UP, step=STEP)
    # another sample of the same box: medians of 256 agree to about 1.25 / sqrt(256) = 8 % of the spread
    for name, value in seen.fitness.reference.items():
        assert value == pytest.approx(np.median(quality.values[name]), rel=0.3)
    # the best of 256 is hardly beaten by another sample's, never by much
    assert seen.fitness(quality).min() > 0.8 * seen.fitness(sscq.evaluate(PLANT, PID(), seen.best, UP, step=STEP)).min()
    raw = survey(task, (PID(),), low, high, relative=False, adapt=False)
    assert raw.fitness == task.fitness


def test_with_raw_weights_failing_costs_more_than_any_survival():
    """Weights a million times as large: J is in the millions, and so are the penalties."""
    low, high = np.zeros(3), np.full(3, 10.0)
    heavy = sscq.Fitness(error_weight=1e6, entropy_weight=3e5)
    fragile = replace(PLANT, states=(replace(PLANT.states[0], low=-1.2, high=1.2), PLANT.states[1]))
    task = Task(fragile, (UP,), heavy, STEP, {}, 1)
    seen = survey(task, (PID(),), low, high, relative=False)
    quality = sscq.evaluate(fragile, PID(), np.random.default_rng(0).uniform(low, high, (400, 3)), UP, step=STEP)
    failed = quality.failed[0]
    assert 0 < failed.sum() < 400
    values = seen.fitness(quality)
    assert values[failed].min() > np.quantile(values[~failed], 0.99)
    assert heavy(quality)[failed].max() < heavy(quality)[~failed].min()  # as it was without
    assert seen.fitness.margin_weight > 1e5


def test_rates_of_one_unit_where_the_command_is_no_force():
    """The controller's entropy is scaled to be as large as the plant's for the reference, and stays so in J."""
    lag = plants.get("fopdt")
    situation = sscq.Situation("up", 1.0, initial=(0.2,), parameters={"L": 0.1}, t_end=3.0)
    law, own = PID(derivative_filter_time=0.1), np.array([2.0, 1.0, 0.3])
    task = Task(lag, (situation,), sscq.Fitness(), STEP, {}, 1)
    seen = survey(task, (law,), np.zeros(3), np.full(3, 4.0), own=own)
    run = sscq.record(lag, law, own, situation, STEP).group("entropy_rates")[:-1]
    scale = np.abs(run[:, 0]).sum() / run[:, 1].sum()
    assert seen.fitness.entropy_scale == pytest.approx(scale, rel=1e-12)
    assert abs(scale - 1.0) > 0.1
    quality = replace(task, fitness=seen.fitness).quality(law, own)
    assert quality.entropy_controller[0, 0] == pytest.approx(np.abs(run[:, 0]).sum() * STEP, rel=1e-10)
    collocated = Task(PLANT, (UP,), sscq.Fitness(), STEP, {}, 1)
    assert survey(collocated, (PID(),), np.zeros(3), np.full(3, 10.0)).fitness.entropy_scale == 1.0
    without = survey(task, (law,), np.zeros(3), np.full(3, 4.0), own=np.array([2.0, 1.0, 0.0]))
    assert without.fitness.entropy_scale == 1.0


def test_a_box_in_which_nothing_survives_is_told():
    narrow = replace(PLANT, states=(replace(PLANT.states[0], low=-0.2, high=0.2), PLANT.states[1]))
    thrown = sscq.Situation(name="thrown", initial=(0.1, 5.0), t_end=2.0)  # leaves within 0.02 s whatever the command
    with pytest.raises(ValueError, match="no gains of the reference survive all situations"):
        sscq.optimize(narrow, PID(), thrown, **QUICK)
