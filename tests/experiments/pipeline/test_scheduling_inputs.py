"""What a knowledge base schedules over: short searches of pairs choose, the user before them; margin designs to start."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import plants
from configs import FOLDER, store
from experiments.pipeline import scheduling_inputs
from experiments.pipeline.bench import Bench
from experiments.pipeline.scheduling_inputs import chosen, designed_starts, designed_table
from experiments.settings import setup
from experiments.suites.variants import Scratch
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from sscq.baselines import candidates
from sscq.baselines.tuned import Tuned

VALVE = plants.get("equal_percentage_valve")
GAINS = np.array([0.008, 0.0004, 0.05])  # of the steepest point


def bench_of(*words):
    store.register()
    few = "draws={taught: 0, validation: 0, verdict: 0}"
    with initialize_config_dir(version_base="1.3", config_dir=str(FOLDER)):
        fixed = ["plant=equal_percentage_valve", few, "fitness.relative=false", "fitness.entropy_weight=0"]
        job = setup(OmegaConf.to_object(compose("design", overrides=[*fixed, *words])))
    return Bench(replace(job, threads=1), cast("object", Scratch()), quiet=True)


def fixed(bench):
    one = candidates.fixed(bench.setup.laws, bench.setup.low, bench.setup.high, GAINS)
    return Tuned("fixed", "fixed PID", "", one.controller, GAINS)


def test_the_output_table_of_a_plant_whose_points_lie_on_one_side_is_over_the_output_itself():
    """Its nodes are the ends of the operating points: a square of kelvins would tell nothing."""
    variable = candidates.variables(VALVE)[2]
    assert (variable.transform, variable.as_input) == ("identity", "sensor")
    assert variable.least == pytest.approx(291.2, abs=0.1)
    assert variable.most == pytest.approx(337.0, abs=0.1)
    job = bench_of().setup
    table = candidates.table(job.laws, job.low, job.high, GAINS[None], variable, None)
    assert len(table.low) == 6
    np.testing.assert_allclose(table.decode(table.start)[0], np.tile(GAINS, 2), rtol=1e-12)


@pytest.fixture
def short(monkeypatch):
    """Searches of a pair that are shorter than usual."""
    monkeypatch.setattr(scheduling_inputs, "EVALUATIONS", 60)


def test_the_pair_whose_rules_do_best_is_taken(short):
    """Of a valve sixteen times as steep at one end: rules that know where it is, begun at the margin design there."""
    bench = bench_of()
    free = replace(bench.setup.fitness, travel_limit=None)
    found, table = chosen(bench, fixed(bench), free)
    assert found.setup.network.inputs == ("e", "sensor")
    assert len(found.setup.network.centres["sensor"]) == 5  # at the operating points
    assert len(table.nodes) == 5
    assert bench.setup.network.inputs == ("e", "e_rate")
    assert 3 * 30 <= found.before_refinement <= 3 * 90  # the searches of all three pairs
    assert bench.before_refinement == 0


@pytest.mark.parametrize(("evaluations", "share"), [(1500, 0.5), (750, 1.0), (60, 1.0)])
def test_the_search_of_a_pair_has_no_more_than_a_candidate(evaluations, share):
    assert scheduling_inputs.share(bench_of(f"budget.evaluations={evaluations}").setup) == share


def test_pairs_are_those_of_error_rate_and_output():
    assert list(scheduling_inputs.pairs(bench_of().setup).values()) == [
        ("e", "e_rate"),
        ("e", "sensor"),
        ("e_rate", "sensor"),
    ]


@pytest.mark.parametrize("words", ["network.inputs=[e,travel]", "network.centres={e: [-1, 0, 1]}"])
def test_named_inputs_and_terms_stay(words):
    bench = bench_of(words)
    free = replace(bench.setup.fitness, travel_limit=None)
    assert chosen(bench, fixed(bench), free) == (bench, None)


def kb_over(bench, names=("sensor", "e")):
    of_sensor = Variable("sensor", "K", 285.0, 345.0, (291.2, 300.4, 337.0), labels=("A", "B", "C"))
    variables = {"sensor": of_sensor, "e": Variable("e", "K", -10.0, 10.0, (-10.0, 10.0))}
    inputs = tuple(variables[name] for name in names)
    rules = full_grid([v.n_terms for v in inputs], tuple(GAINS))
    box = (tuple(bench.setup.low), tuple(bench.setup.high))
    base = RuleBase("sensor", inputs, rules, *box, tuple(GAINS))
    return KnowledgeBase("equal_percentage_valve", (base,), Inference(), tick=bench.setup.tick)


def test_starts_know_what_the_margins_allow_at_each_point():
    """Where the plant is 16 times as weak, the gains are that many times as large; at rest they keep the margins."""
    bench = bench_of()
    table = designed_table(bench_of("network.inputs=[sensor,e]"))
    designed, scaled = designed_starts(bench, table, kb_over(bench), fixed(bench))
    gains = {rule.terms[0]: np.array(rule.gains) for rule in designed.channels[0].rules}
    assert gains[0][0] / gains[2][0] == pytest.approx(16.0, rel=0.1)
    controller = FuzzyController(designed, laws=bench.setup.laws)
    assert (bench.margins.at_rest(controller, controller.theta)[0].sensitivity[:, [0, -1]] < 1.81).all()
    own = {rule.terms[0]: np.array(rule.gains) for rule in scaled.channels[0].rules}
    np.testing.assert_allclose(own[2], GAINS, rtol=0.02)  # the steepest point is the fixed PID's
    assert own[0][0] == pytest.approx(16.0 * GAINS[0], rel=0.1)


def test_without_the_output_or_margins_there_are_no_such_starts():
    assert designed_table(bench_of("network.inputs=[e]")) is None
    free = bench_of("fitness.max_sensitivity=null", "network.inputs=[sensor,e]")
    assert designed_table(free) is None
    assert designed_starts(free, None, kb_over(free), fixed(free)) == ()
