"""The hand-made fuzzy PID as a rung: which gain ranges its rules get."""

from typing import cast

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from configs import FOLDER, store
from experiments.pipeline.bench import Bench
from experiments.pipeline.rungs import hand_made as rung
from experiments.settings import setup
from experiments.suites.variants import Scratch
from flcs.refinement.hand_made import from_gains
from sscq.baselines.tuned import Tuned

GENTLE, WILD = (0.8, 0.5, 0.1), (6.0, 20.0, 4.0)  # the second loses the loop


@pytest.fixture(scope="module")
def bench():
    store.register()
    words = ["plant=fopdt", "fitness.relative=false", "fitness.max_sensitivity=null", "budget.evaluations=20"]
    with initialize_config_dir(version_base="1.3", config_dir=str(FOLDER)):
        config = OmegaConf.to_object(compose("design", overrides=words))
    return Bench(setup(config), cast("object", Scratch()), quiet=True)


def entry(gains):
    return Tuned("fixed", "fixed PID", theta=np.array(gains), evaluations=20)


def test_ranges_are_the_better_ones_when_taught(bench):
    gentle, wild = (from_gains(gains, 5.0) for gains in (GENTLE, WILD))
    fitness = bench.setup.fitness
    for candidates in ([[gentle], [wild]], [[wild], [gentle]]):
        kb, ranges = rung._by_hand(bench, entry(GENTLE), candidates, fitness)
        assert ranges == [gentle]
        assert kb == rung._with_ranges(bench, entry(GENTLE), [gentle], fitness, 0)
    assert rung._by_hand(bench, entry(GENTLE), [[wild]], fitness)[1] == [wild]  # nothing to choose from


def test_candidates_are_the_papers_ranges_and_those_of_the_fixed_pid(bench, monkeypatch):
    known = from_gains(GENTLE, 5.0)
    monkeypatch.setattr(rung, "_from_ultimate", lambda _bench, _channel: None)
    only = rung._candidates(bench, entry(GENTLE))
    assert len(only) == 1
    assert only[0][0].kp == pytest.approx(known.kp)
    monkeypatch.setattr(rung, "_from_ultimate", lambda _bench, _channel: from_gains(WILD, 5.0))
    both = rung._candidates(bench, entry(GENTLE))
    assert [one[0].kp for one in both] == [from_gains(WILD, 5.0).kp, only[0][0].kp]
    no_action = rung._candidates(bench, entry((0.8, 0.0, 0.0)))  # ki has nothing to be ranged by
    assert [one[0].kp for one in no_action] == [from_gains(WILD, 5.0).kp]
