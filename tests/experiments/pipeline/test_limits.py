"""What the fixed PID has is what the others may have: travel and tracking error, where they are judged."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import sscq
from configs.schema import FitnessConfig
from experiments.pipeline.ladder import Reference, equal_limits, validation_task, without_limits
from experiments.settings import setup
from sscq.baselines.objective import Task
from tests.experiments import finished_run

FIXED = SimpleNamespace(theta=np.array([3.0, 0.5, 2.0]))


def bench_of(**fitness):
    return SimpleNamespace(setup=setup(finished_run.configuration(fitness=FitnessConfig(**fitness))))


def of_fixed(job, kind, measure):
    return float(sscq.evaluate(job.plant, job.laws, FIXED.theta[None], job.sets[kind], job.step)[measure].mean())


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_taught_and_validation_situations_have_limits_of_their_own(share):
    bench = bench_of(error_share=share)
    job = bench.setup
    equal = equal_limits(bench, Reference(job.fitness, FIXED.theta[None], None), FIXED)
    for kind, fitness in (("taught", equal), ("validation", validation_task(bench, equal, FIXED).fitness)):
        assert fitness.error_limit == pytest.approx(share * of_fixed(job, kind, "iae"), rel=1e-9)
        assert fitness.travel_limit == pytest.approx(of_fixed(job, kind, "total_variation"), rel=1e-9)
    free = without_limits(equal)
    assert free == replace(job.fitness, diverged=equal.diverged, margin_weight=equal.margin_weight)
    task = validation_task(bench, free, FIXED)
    assert (task.fitness.error_limit, task.fitness.travel_limit) == (None, None)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"error_share": None}, "not asked"),
        ({"error_weight": 0.0}, "the fitness weighs no error"),
        ({"kind": "lexicographic"}, "errors are a level of their own"),
    ],
)
def test_no_limit_on_the_error(settings, why):
    bench = bench_of(**settings)
    fitness = equal_limits(bench, Reference(bench.setup.fitness, FIXED.theta[None], None), FIXED)
    assert fitness.error_limit is None, why
    assert fitness.travel_limit > 0.0


def test_errors_of_rollouts_that_are_cut_short_are_no_limit(monkeypatch):
    bench, whole = bench_of(), Task.quality

    def one_is_lost(*given):
        found = whole(*given)
        return replace(found, diverged_at=np.where(np.arange(len(found.diverged_at))[:, None] == 0, 1.0, np.nan))

    monkeypatch.setattr(Task, "quality", one_is_lost)
    fitness = equal_limits(bench, Reference(bench.setup.fitness, FIXED.theta[None], None), FIXED)
    assert fitness.error_limit is None
    assert fitness.travel_limit > 0.0
