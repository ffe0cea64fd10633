"""Rollouts of the verdict: which situations, how often, and that their seeds are what differs."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from configs.schema import BudgetConfig, SituationsConfig
from controllers import ConstantGains, Controller, gain_names
from experiments.pipeline import judged_rollouts
from experiments.pipeline.bench import Bench
from experiments.settings import setup
from experiments.suites.variants import Scratch
from sscq.baselines.tuned import Tuned
from tests.experiments import finished_run
from tests.experiments.finished_run import SEEDS
from tests.reference.closed_loop_twin import uncompiled


def bench(repeat_taught, **situations):
    """Situations of 0.3 s; the budget asks for the taught ones with all seeds, or not."""
    kinds = {
        kind: {name: replace(one, t_end=0.3) for name, one in given.items()}
        for kind, given in vars(finished_run.configuration().situations).items()
        if kind in {"taught", "validation", "unforeseen"}
    }
    config = finished_run.configuration(
        situations=SituationsConfig(**kinds, **situations),
        budget=BudgetConfig(evaluations=60, verdict_seeds=SEEDS, repeat_taught=repeat_taught),
    )
    return Bench(setup(config), cast("object", Scratch()), quiet=True)


def rollouts(bench, **changes):
    laws = bench.setup.laws
    constant = Controller(laws, ConstantGains(gain_names(laws)))
    contender = Tuned("fixed", "", "", constant, finished_run.FIXED, **changes)
    with uncompiled():
        return judged_rollouts.rollouts(bench, contender, 1.0)


def test_taught_situations_are_judged_as_searched_and_where_wished_with_all_seeds():
    once, often = rollouts(bench(False)), rollouts(bench(True))
    assert {kind: table.shape[1:] for kind, table in once.items()} == {
        "taught": (1, 2), "validation": (SEEDS, 1), "unforeseen": (SEEDS, 2),
    }  # fmt: skip
    assert often["taught"].shape[1:] == (SEEDS, 2)
    np.testing.assert_array_equal(often["taught"][:, :1], once["taught"])  # the searched ones first
    iae = often["taught"][judged_rollouts.MEASURES.index("iae")]
    assert len(np.unique(iae)) == iae.size  # other noise each time
    for kind in ("validation", "unforeseen"):
        np.testing.assert_array_equal(often[kind], once[kind])


def test_an_oracle_keeps_the_gains_of_each_situation_in_all_seeds():
    """Its gains are those of five declared situations; where these are the same it is the fixed PID."""
    made, gains = bench(True), np.tile(finished_run.FIXED, (5, 1))
    fixed, same = rollouts(made), rollouts(made, per_situation=gains)
    other = rollouts(made, per_situation=gains * np.array([1.0, 2.0, 1.0, 1.0, 1.0])[:, None])
    np.testing.assert_array_equal(same["taught"], fixed["taught"])
    np.testing.assert_array_equal(other["taught"][:, :, 0], fixed["taught"][:, :, 0])
    assert (other["taught"][1, :, 1] != fixed["taught"][1, :, 1]).all()
    np.testing.assert_array_equal(other["unforeseen"], fixed["unforeseen"])


@pytest.mark.parametrize("situations", [{}, {"taught_spread": 0.2, "taught_plants": 3}, {"taught_delays": [0.0, 0.1]}])
def test_repeated_taught_situations_are_the_taught_plants_and_delays_with_other_seeds(situations):
    job = bench(True, unforeseen_spread=0.3, **situations).setup
    first, again = job.repetition("taught", 0), job.repetition("taught", 2)
    assert [(s.name, s.parameters, s.delay) for s in again] == [(s.name, s.parameters, s.delay) for s in first]
    assert all(one.seed != other.seed for one, other in zip(first, again, strict=True))
    assert job.repetition("unforeseen", 2)[0].parameters != job.repetition("unforeseen", 0)[0].parameters
