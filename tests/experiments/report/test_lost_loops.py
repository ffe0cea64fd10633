"""Lost loops on the page and at the terminal: counted, told, and in no mean of J."""

from dataclasses import replace

import numpy as np
import pytest

from configs.schema import DrawsConfig
from experiments.report.answer import lost_loops, named_situations
from experiments.report.builders import estimates, results, verdict
from experiments.report.drawing.numbers import percent
from experiments.report.page import render
from experiments.report.records.results import Estimate, JudgedRuns
from sscq.verdict.comparison import Sample, compare
from tests.experiments import finished_run
from tests.experiments.report.reading import words
from tests.experiments.report_example import example

DRAWS, LOST = 12, 6
KB, OWN = "knowledge_base", "own"


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A design whose fixed PID loses the first half of the draws that judge, and whose knowledge base loses none."""
    draws = DrawsConfig(taught=0, validation=0, verdict=DRAWS)
    run = finished_run.stored(tmp_path_factory.mktemp("lost") / "one", finished_run.configuration(draws=draws))
    quality, fitness = (dict(table) for table in (run.judgement.quality, run.judgement.fitness))
    for name, lost in (("fixed", LOST), (KB, 0)):
        quality[name, "drawn"] = quality[name, "drawn"].copy()
        quality[name, "drawn"][0] = np.where(np.arange(DRAWS) < lost, 1.0, np.nan)
        fitness[name, "drawn"] = np.where(np.arange(DRAWS) < lost, 1e3, run.judgement.fitness[name, "drawn"])
    one, fixed = (
        Sample(fitness[name, "drawn"].T, np.ones((DRAWS, 1)), np.isfinite(quality[name, "drawn"][0]).T)
        for name in (KB, "fixed")
    )
    found = run.judgement.verdict
    changed = replace(
        found, recommended=KB, comparisons={**found.comparisons, KB: compare(one, fixed, run.case.setup.seed)}
    )
    chosen_on = {**run.judgement.chosen_on, KB: one, "fixed": fixed}
    judgement = replace(run.judgement, quality=quality, fitness=fitness, verdict=changed, chosen_on=chosen_on)
    return replace(run.case, judgement=judgement)


def test_means_and_changes_of_the_cost_are_of_the_runs_that_survive(case):
    values = {name: case.judgement.fitness[name, "drawn"][0] for name in (KB, "fixed")}
    both = values[KB][LOST:].mean() / values["fixed"][LOST:].mean() - 1.0
    text = verdict.verdict(case)
    costs = [m for m in text.measures if (m.measure, m.against) == ("cost", "fixed")]
    compared = [c for c in text.comparisons if (c.controller, c.against, c.group) == (KB, "fixed", "drawn")]
    assert [m.change.value for m in costs] == [pytest.approx(both)]
    assert [c.change.value for c in compared] == [pytest.approx(both)]
    shown = {one.key: one.cost["drawn"].value for one in results.controllers(case, {}) if "drawn" in one.cost}
    assert shown["fixed"] == pytest.approx(values["fixed"][LOST:].mean())
    assert shown[KB] == pytest.approx(values[KB].mean())
    assert case.judgement.surviving_mean("fixed", "drawn") == pytest.approx(shown["fixed"])
    assert case.judgement.mean("fixed", "drawn") > 100.0  # as a search sees it


def test_conditions_say_what_is_asked_of_one_that_loses_fewer(case):
    found = case.judgement.verdict.comparisons[KB]
    assert found.fewer
    told = {criterion.text: criterion for criterion in verdict.verdict(case).criteria}
    assert told["mean of J improves"].detail.endswith("; fewer loops are lost")
    assert told["mean of J improves"].passed == (found.mean.improves or found.mean.low <= 0.0)
    assert told["no new failure"].detail == f"0 of {DRAWS} runs; lost 0, of the fixed gains {LOST}"


def test_a_mean_of_survivors_has_an_interval_of_resampled_survivors():
    values, lost = np.array([[1.0], [3.0], [1e3], [2.0]]), np.array([[False], [False], [True], [False]])
    rows = estimates.draws(4, 0)
    found = estimates.surviving_mean(values, lost, rows)
    assert found.value == 2.0
    assert 1.0 <= found.low < 2.0 < found.high <= 3.0
    assert estimates.surviving_mean(values, np.zeros_like(lost), rows) == estimates.mean(values, rows)
    assert np.isnan(estimates.surviving_mean(values, np.ones_like(lost), rows).value)


# --------------------------------------------------------------------------------------------------------- in words


def with_losses(own, fixed):
    """The example's report with so many of 256 runs lost by the recommended controller and by the fixed gains."""
    data, runs = example(5.0, 0.02), {"kb": own, "fixed": fixed}
    found = [replace(c, judged=JudgedRuns(256, runs[c.key], {})) if c.key in runs else c for c in data.controllers]
    return replace(data, controllers=tuple(found))


def test_the_first_screen_says_who_loses_how_many_loops():
    lost, none = with_losses(0, 12), with_losses(0, 0)
    names = [none.controller(key).name for key in ("kb", "fixed")]
    told = "Changes are of the runs that both survive; the loop is lost by the {} in 0 of 256, by the {} in 12 of 256.".format(
        *names
    )
    assert lost_loops(lost) == told
    assert lost_loops(none) == ""
    first, clean = (words(render(one)).partition("Conditions of the verdict")[0] for one in (lost, none))
    assert told.rstrip(".") in first
    assert "the loop is lost" not in clean


def test_named_situations_that_one_of_them_loses_are_in_no_mean():
    """Else a penalty of a thousand would be the change."""
    data = example(5.0, 0.02)
    data = replace(data, verdict=replace(data.verdict, group="drawn"))
    place = data.group("unforeseen")[0].name

    def compared(one):
        base = data.controller("fixed")
        results = (
            replace(r, change=Estimate(r.cost.value / base.result(r.situation).cost.value - 1.0)) for r in one.results
        )
        return replace(one, results=tuple(results)) if one.key == "kb" else one

    data = replace(data, controllers=tuple(map(compared, data.controllers)))
    before = named_situations(data)

    def lost(one):
        results = (
            replace(r, cost=Estimate(1500.0), failures=1, diverged_at=1.0) if r.situation == place else r
            for r in one.results
        )
        return replace(one, results=tuple(results)) if one.key == "fixed" else one

    told = named_situations(replace(data, controllers=tuple(map(lost, data.controllers))))
    assert "loop lost" not in before
    assert told.endswith(f"; loop lost in none, by the {data.controller('fixed').name} in {place}")
    kept = [s.name for s in data.group("unforeseen") if s.name != place]
    own, other = ([data.controller(key).result(name).cost.value for name in kept] for key in ("kb", "fixed"))
    assert f"cost J {percent(sum(own) / sum(other) - 1.0)}, worse in" in told


def test_one_that_passes_and_loses_more_is_said_to_be_left_out(case):
    found = case.judgement.verdict
    chosen_on = {**case.judgement.chosen_on, OWN: case.judgement.chosen_on["fixed"]}
    passing = replace(found.comparisons[OWN], reasons=())
    changed = replace(found, comparisons={**found.comparisons, OWN: passing})
    case = replace(case, judgement=replace(case.judgement, chosen_on=chosen_on, verdict=changed))
    outcomes = {one.controller: one.outcome for one in verdict.verdict(case).judgements}
    assert outcomes[OWN] == f"holds all, but is left out: it loses more loops ({LOST} of {DRAWS}, not 0)"
