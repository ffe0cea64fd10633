"""What a knowledge base schedules over: the tables' word counts, the user's before it; a margin design is a start."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

import plants
from configs import FOLDER, store
from controllers import Controller, GainTable
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


def tables(bench, better):
    """A table for each variable with the fixed gains everywhere; over the `better` ones gains where the plant is weak."""
    found = []
    for variable in candidates.variables(VALVE):
        nodes = (variable.least, variable.most)
        schedule = GainTable(variable.signal, nodes, transform=variable.transform, tick=bench.setup.tick)
        more = better.get(variable.name, 1.0)
        theta = np.concatenate([more * GAINS, GAINS])
        found.append(Tuned(f"table_{variable.name}", "table", "", Controller(bench.setup.laws, schedule), theta))
    return found


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


def test_the_two_inputs_whose_tables_do_best_are_taken():
    bench = bench_of()
    free = replace(bench.setup.fitness, travel_limit=None)
    found = chosen(bench, fixed(bench), free, tables(bench, {"output": 3.0, "rate": 0.5}))
    assert found.setup.network.inputs == ("e", "sensor")
    assert len(found.setup.network.centres["sensor"]) == 5  # at the operating points
    assert bench.setup.network.inputs == ("e", "e_rate")
    slower = chosen(bench_of(), fixed(bench), free, tables(bench, {"output": 0.2}))
    assert slower.setup.network.inputs == ("e", "e_rate")
    assert not slower.setup.network.centres


def test_what_breaks_the_margins_speaks_for_nothing():
    bench = bench_of()
    wild = tables(bench, {"output": 3.0})
    wild[2] = replace(wild[2], theta=np.concatenate([3.0 * GAINS, 30.0 * GAINS]))
    free = replace(bench.setup.fitness, travel_limit=None)
    assert chosen(bench, fixed(bench), free, wild).setup.network.inputs == ("e", "e_rate")


def test_named_inputs_stay():
    bench = bench_of("network.inputs=[e,travel]")
    free = replace(bench.setup.fitness, travel_limit=None)
    assert chosen(bench, fixed(bench), free, tables(bench, {"output": 3.0})) is bench


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
