"""What the verdict rests on, in the words of the report."""

from copy import copy
from dataclasses import replace
from types import SimpleNamespace

from experiments.report.builders import evidence
from plants.excitation import Step


def test_what_the_intervals_cover(run):
    covers = evidence.evidence(run.case).covers
    seeds, situations = run.judgement.fitness["fixed", "unforeseen"].shape
    assert covers.startswith(f"{seeds * situations} paired runs: {situations} unforeseen situations, {seeds} seeds")
    assert "cover the noise alone: not other situations, other plants or another search" in covers


def test_runs_without_chance_have_no_interval(run):
    case = run.case
    fitness = {key: 0.0 * values for key, values in case.judgement.fitness.items()}
    still = replace(case, judgement=replace(case.judgement, fitness=fitness))
    assert "there are no intervals" in evidence.evidence(still).covers


def test_what_no_situation_had_was_not_tested(run):
    untested = evidence.evidence(run.case).untested
    assert "a delayed measurement" in untested
    assert any(text.startswith("another seed of the search") for text in untested)
    assert "a constant disturbance" in untested  # their noise has the mean 0


def test_a_constant_disturbance_that_was_there_was_tested(run):
    bench = copy(run.bench)
    judged = [replace(s, excitation=Step(0.5, at=1.0)) for s in bench.setup.sets["unforeseen"]]
    bench.setup = replace(bench.setup, sets=bench.setup.sets | {"unforeseen": tuple(judged)})
    assert "a constant disturbance" not in evidence.evidence(run._replace(bench=bench).case).untested


def test_several_searches_are_part_of_what_is_covered(run):
    """What each of them found stands beside, and no search is left to be asked."""
    found = run.judgement.verdict
    of_kb = replace(found.comparisons["knowledge_base"], searches=(-0.191, -0.13, -0.15))
    verdict = replace(found, recommended="knowledge_base", comparisons=found.comparisons | {"knowledge_base": of_kb})
    fresh = {("fixed", "drawn"): run.judgement.fitness["fixed", "unforeseen"]}
    judged = replace(run.judgement, verdict=verdict, judged="drawn", fitness=run.judgement.fitness | fresh)
    bench = copy(run.bench)
    sets = bench.setup.sets | {"drawn": bench.setup.sets["unforeseen"]}
    bench.setup = replace(bench.setup, config=replace(run.config, seeds=3), sets=sets)
    text = evidence.evidence(run._replace(judgement=judged, bench=bench).case).covers
    assert "and what 3 other searches would deliver" in text
    assert "−19.1 % (delivered, the best on validation), −13.0 %, −15.0 %" in text.replace("\u00a0", " ")
    named = evidence.evidence(run._replace(bench=bench).case)
    assert "cover the noise alone and the luck of the search: not other situations, other plants." in named.covers
    assert not any("another seed of the search" in text for text in named.untested)


def test_the_plant_is_told_with_its_equations(run):
    about = evidence.about(run.case)
    facts = dict(about.facts)
    assert facts["controls"].startswith("position [m] by force, −20 … 20 N")
    assert facts["sample time"].startswith("0.01 s")
    assert "mu * (1.0 - q * q) * v" in about.equations


def test_margins_over_ranges_are_told_where_they_were_computed(run):
    worst = next(iter(run.judgement.over_ranges.values()), None)
    told = evidence.evidence(run.case).range_margins
    assert bool(told) == (worst is not None)
    none = replace(run.case, judgement=replace(run.judgement, over_ranges={}))
    assert not evidence.evidence(none).range_margins
    of = SimpleNamespace(sensitivity=3.2, sensitivity_95=1.9, pairs=40, stable=0.975)
    some = replace(run.case, judgement=replace(run.judgement, over_ranges={"fixed": of}))
    text = evidence.evidence(some).range_margins
    assert "fixed PID: Ms 3.20 at worst, 1.90 in 95 % of 40 drawn plants and points, 97.5" in text
