"""What the verdict rests on, in the words of the report."""

from dataclasses import replace
from types import SimpleNamespace

from experiments.report.builders import evidence


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
