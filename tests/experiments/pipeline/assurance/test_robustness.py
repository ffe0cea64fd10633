"""The map of a design: over which ranges it is, that its corners are the loops there, and what the page says of it."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.pipeline.assurance import robustness as module
from experiments.report.builders.robustness import robustness
from experiments.report.sections.robustness import MapFigures
from experiments.report.sections.robustness import robustness as drawn
from experiments.report.sections.view import PageView
from sscq.loop.evaluate import evaluate
from sscq.situations.situation_sets import repeated
from sscq.worst.map_axes import MapAxis
from tests.experiments.report_example import example


@pytest.fixture(scope="module")
def found(run):
    return run.judgement.robustness


def weighed(run, names):
    """How far each range's ends change J of the fixed gains, one at a time."""
    bench, fixed = run.bench, run.case.contenders["fixed"]
    base, fitness = bench.setup.sets["taught"][0], run.case.fitness
    changes = {}
    for axis in module.axes_of(bench.setup.plant, bench.setup.ranges, 2):
        if axis.name.startswith(names):
            loops = [base, *(axis.set_in(base, float(v), bench.setup.plant) for v in axis.values)]
            cost = [module.cost_of(bench, fitness, fixed, one) for one in loops]
            changes[axis.name] = max(abs(np.array(cost[1:]) - cost[0]))
    return changes


def test_it_is_over_the_two_ranges_of_plant_delay_and_noise_that_matter_most(run, found):
    changes = weighed(run, ("parameters.", "noise.", "delay"))
    assert len(changes) > 2
    assert [found.x.name, found.y.name] == sorted(changes, key=lambda name: -changes[name])[:2]
    assert found.names[0] == "fixed"
    assert found.cost.shape == found.lost.shape == (2, 4, 4)


def test_corners_are_the_loops_there(run, found):
    setup, fitness = run.bench.setup, run.case.fitness
    for number, name in enumerate(found.names):
        one = run.case.contenders[name]
        for row, column in ((0, 0), (-1, 0), (0, -1), (-1, -1)):
            place = found.x.set_in(found.situation, float(found.x.values[column]), setup.plant)
            place = found.y.set_in(place, float(found.y.values[row]), setup.plant)
            costs = [
                fitness(evaluate(setup.plant, one.controller, one.theta, repeated([place], seed), setup.step,
                                 entropy_scale=fitness.entropy_scale, **setup.options))
                for seed in range(module.SEEDS)
            ]  # fmt: skip
            assert found.cost[number, row, column] == pytest.approx(np.mean(costs), rel=1e-9)


def test_starts_are_taken_where_nothing_else_is_declared_and_none_where_there_are_not_two(run):
    setup = run.bench.setup
    bare = replace(setup.ranges, parameters={}, noise={}, delay=(0.0, 0.0))
    fixed = run.case.contenders["fixed"]

    class Ranged:
        pass

    ranged = Ranged()
    ranged.setup = replace(setup, ranges=bare)
    pair = module.pair_of(ranged, run.case.fitness, fixed, setup.sets["taught"][0], 3)
    assert {axis.name for axis in pair} == {"initial.position", "initial.velocity"}
    ranged.setup = replace(setup, ranges=replace(bare, initial={"position": (-1.0, 1.0)}))
    assert module.pair_of(ranged, run.case.fitness, fixed, setup.sets["taught"][0], 3) is None
    config = replace(setup.config, assurance=replace(setup.config.assurance, map_points=0))
    ranged.setup = replace(setup, config=config)
    assert module.robustness(ranged, run.case.fitness, run.group, "fixed") is None


def test_the_page_draws_change_and_cost_and_says_where_nothing_is_lost_or_differs(run):
    seen = robustness(run.case)
    page = drawn(PageView(replace(example(), robustness=seen)))
    assert f"change of J by the {seen.controllers[1]} [%]" in page
    assert "No loop is lost anywhere on this map." in page
    alike = replace(seen, cost=np.stack([seen.cost[0]] * 2), lost=np.zeros_like(seen.lost))
    assert MapFigures(alike).change() == []
    assert "costs the same everywhere here" in drawn(PageView(replace(example(), robustness=alike)))
    lost = replace(seen, lost=np.ones_like(seen.lost))
    assert "Share of the seeds whose loop is lost:" in drawn(PageView(replace(example(), robustness=lost)))
    assert drawn(PageView(example())) == ""


def test_cells_of_cost_are_rounded_and_blanks_stay_blank(run, found):
    blank = found.cost.copy()
    blank[0, 0, 0] = np.nan
    case = replace(run.case, judgement=replace(run.judgement, robustness=replace(found, cost=blank)))
    cost = robustness(case).cost
    assert np.isnan(cost[0, 0, 0])
    assert cost[1] == pytest.approx(found.cost[1], rel=1e-4)
    assert len(repr(float(cost[1, 0, 0]))) < 10


def test_an_axis_that_leaves_the_quantitys_own_range_is_no_axis(run):
    plant, ranges = run.bench.setup.plant, run.bench.setup.ranges
    names = [axis.name for axis in module.axes_of(plant, ranges, 3)]
    beyond = replace(ranges, parameters={**ranges.parameters, "mu": (-1e9, 1e9)})
    assert "parameters.mu" in names
    assert [axis.name for axis in module.axes_of(plant, beyond, 3)] == [n for n in names if n != "parameters.mu"]
    assert all(isinstance(axis, MapAxis) for axis in module.axes_of(plant, ranges, 3))
