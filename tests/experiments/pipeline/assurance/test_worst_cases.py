"""The worst case in a design: the same search for both, who must not be recommended because of it, what is skipped."""

import math
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from configs.schema import AssuranceConfig
from experiments.pipeline.assurance.worst_cases import WorstFinding, WorstSearches
from experiments.pipeline.bench import Bench
from experiments.settings import setup
from experiments.suites.variants import Scratch
from sscq.worst.envelope import Envelope
from tests.experiments import finished_run
from tests.experiments.finished_run import FIXED
from tests.experiments.pipeline.test_choice import tuned


def bench(**changes):
    config = finished_run.configuration(**changes)
    return Bench(setup(config), cast("object", Scratch()), quiet=True)


def test_a_finished_run_has_both_with_equal_budget(run):
    found = run.judgement.worst_cases
    assert set(found) >= {"fixed", run.judgement.verdict.recommended}
    for name, one in found.items():
        assert set(one.costs) == {"fixed", name}
        assert not one.reason
        assert one.costs[name] >= one.median_cost
        assert one.searched + one.skipped >= 20
        assert one.drawn == one.searched


def test_the_worst_case_is_the_worst_of_all_places_where_it_was_simulated(run):
    searches = WorstSearches(run.bench, run.case.fitness, run.group)
    genes, found = searches.loops("fixed").genes, run.judgement.worst_cases
    for name in found:
        there = searches.outcome(name, genes.genome(found["fixed"].values)[None])
        assert found[name].costs[name] >= there.cost[0] * (1.0 - 1e-12)
    name = "knowledge_base"
    searches.found = {"fixed": found["fixed"]}
    mild, harsh = genes.draw(40, 1)[np.argsort(searches.outcome(name, genes.draw(40, 1)).cost)[[0, -1]]]
    searches.found["fixed"] = replace(found["fixed"], values=genes.values(harsh))
    assert np.array_equal(searches._worse_of(name, mild, genes), genes.genome(genes.values(harsh)))
    assert np.array_equal(searches._worse_of(name, harsh, genes), harsh)
    assert np.array_equal(searches._worse_of("fixed", mild, genes), mild)


def test_the_worst_case_is_what_the_search_command_finds(run):
    """The same function with the same seeds: J of the situation that is stored is that of the loop in it."""
    searches = WorstSearches(run.bench, run.case.fitness, run.group)
    searches.found = dict(run.judgement.worst_cases)
    one = searches.found["fixed"]
    genes = searches.loops("fixed").genes
    again = searches.outcome("fixed", genes.genome(one.values)[None])
    assert again.cost[0] == pytest.approx(one.costs["fixed"], rel=1e-12)


def test_none_is_searched_where_none_is_asked_for():
    searches = WorstSearches(bench(assurance=AssuranceConfig(worst_evaluations=0)), None, [])
    assert searches.ask("fixed") == ()
    assert searches.found == {}


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (WorstFinding(lost_alone=3), "found 3 situations in which it loses the loop and the fixed gains do not"),
        (WorstFinding(lost_alone=1), "found a situation in which it loses the loop"),
        (WorstFinding(broken={"knowledge_base": ["top speed"], "fixed": []}), "breaks limits that the fixed gains keep there: top speed"),
        (WorstFinding(broken={"knowledge_base": ["top speed"], "fixed": ["top speed"]}), ""),
        (WorstFinding(reason="no start", lost_alone=3), ""),
    ],
)  # fmt: skip
def test_what_speaks_against_a_schedule(finding, words):
    reasons = finding.against("knowledge_base")
    assert finding.against("fixed") == ()
    assert len(reasons) == bool(words)
    assert words in "".join(reasons)


def test_a_schedule_that_alone_loses_its_loop_is_told_from_fixed_gains_that_keep_theirs():
    """The derivative of one sample acts a sample late: sixty times the gain is too much of it."""
    here = bench()
    wide = Envelope(initial={"position": (-1.0, 1.0)}, reference={"position": (-1.0, 1.0)}, t_end=4.0)
    law = replace(here.setup.laws[0], limits=(-1e6, 1e6))
    here.setup = replace(here.setup, ranges=wide, laws=(law,))
    fixed, wild = tuned(here, FIXED), tuned(here, FIXED * (20.0, 1.0, 60.0), "table")
    searches = WorstSearches(here, here.setup.fitness, [fixed, wild])
    (reason,) = searches.ask("table")
    found = searches.found["table"]
    assert list(searches.found) == ["fixed", "table"]  # its own search is made first
    assert found.lost_alone > 0
    assert found.diverged_at["fixed"] is None
    assert found.diverged_at["table"] is not None
    assert f"{found.lost_alone} situations in which it loses the loop" in reason


def test_starts_that_a_plant_refuses_are_counted_and_a_plant_that_refuses_all_is_told():
    def refusing(x, p, held=()):
        if x[0] > limit:
            raise ValueError("no start fulfils the constraints")
        return x

    here, limit = bench(), 0.5
    chain = replace(here.setup.plant, constraints=lambda t, x, u, w, p: (), admissible=refusing)
    ranges = Envelope(initial={"position": (-1.0, 1.0)}, t_end=2.0)
    here.setup = replace(here.setup, plant=chain, ranges=ranges)
    searches = WorstSearches(here, here.setup.fitness, [tuned(here, FIXED)])
    searches.ask("fixed")
    found = searches.found["fixed"]
    assert found.skipped > 0
    assert found.values["initial.position"] <= limit
    assert math.isfinite(found.costs["fixed"])
    limit = -2.0
    again = WorstSearches(here, here.setup.fitness, [tuned(here, FIXED)])
    assert again.ask("fixed") == ()
    assert "refuses all of" in again.found["fixed"].reason


def test_limits_of_the_fitness_count_where_it_has_some(run):
    limited = replace(run.case.fitness, saturation_limit=1e-6)
    searches = WorstSearches(run.bench, limited, run.group)
    genome = searches.loops("fixed").genes.draw(1, 0)
    hard = replace(run.bench.setup.laws[0], limits=(-0.01, 0.01))
    one = searches.contenders["fixed"]
    searches.contenders["fixed"] = replace(one, controller=replace(one.controller, laws=(hard,)))
    assert searches.outcome("fixed", genome).broken == ["saturated time"]
