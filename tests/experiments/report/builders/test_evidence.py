"""What the verdict rests on, in the words of the report."""

from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import plants
from experiments.report.builders import evidence, results
from experiments.report.records.gains import ChannelGains
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
    assert any(text.startswith("another search (this is the one of seed=") for text in untested)
    assert "noise of the measured velocity" in untested  # the law takes it for the rate
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
    assert "−19.1 % (delivered, the best where it was chosen), −13.0 %, −15.0 %" in text.replace("\u00a0", " ")
    named = evidence.evidence(run._replace(bench=bench).case)
    assert "cover the noise alone and the luck of the search: not other situations, other plants." in named.covers
    assert not any("another seed of the search" in text for text in named.untested)


def test_equations_come_with_the_constants_and_functions_they_go_by(run):
    case = replace(run.case, bench=copy(run.bench))
    case.bench.setup = replace(run.bench.setup, plant=plants.get("two_tanks"))
    told = evidence.about(case).equations
    assert "_BIAS = 9.2" in told
    assert told.index("def outflow") < told.index("def derivative") < told.index("def allocate")
    assert told.count("def outflow") == 1


def test_a_mechanism_is_told_by_what_was_derived(run):
    case = replace(run.case, bench=copy(run.bench))
    press = plants.load_plant_file(Path(__file__).parents[4] / "docs" / "examples" / "crank_press.py")[0]
    case.bench.setup = replace(run.bench.setup, plant=press)
    told = evidence.about(case).equations
    assert "rate of w_crank: " in told
    assert "slider_mass_" in told
    assert "def " not in told


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
    of = SimpleNamespace(sensitivity=3.2, sensitivity_95=1.9, pairs=40, stable=0.975, kept=0.9, transient=3.2)
    kb = SimpleNamespace(sensitivity=3.0, sensitivity_95=1.8, pairs=40, stable=1.0, kept=0.925, transient=3.5)
    verdict = replace(run.judgement.verdict, recommended="knowledge_base")
    found = {"fixed": of, "knowledge_base": kb}
    some = replace(run.case, judgement=replace(run.judgement, verdict=verdict, over_ranges=found))
    text = evidence.evidence(some).range_margins.replace("\u00a0", " ")
    assert text == (
        "knowledge base (in brackets: fixed PID): margins kept in 92.5 % (90.0 %) of 40 drawn plants and points, stable "
        "in 100 % (97.5 %); Ms at or below 1.80 (1.90) in 95 %, 3.00 (3.20) in the worst drawn, in passing 3.50 (3.20)"
        "; beyond a limit, which is asked of the taught plants alone: Ms 3.000, limit 1.80; in passing 3.500, limit 2.60"
    )
    still = replace(run.case, judgement=replace(run.judgement, verdict=verdict, over_ranges={"fixed": of}))
    assert "in passing" not in evidence.evidence(still).range_margins  # gains that stand pass through none


@pytest.mark.parametrize(
    ("axis", "told"),
    [("parameters.upper hole", "upper hole"), ("excitation.excitation", "excitation"), ("excitation.inflow", "excitation inflow"),
     ("initial.position", "initial position"), ("rate_limit", "rate limit"), ("delay", "delay")],
)  # fmt: skip
def test_ranges_are_named_once(axis, told):
    assert evidence.axis_name(axis) == told


def test_a_schedule_without_integral_action_somewhere_says_so_beside_the_constant_disturbance(run, monkeypatch):
    gains = ChannelGains(10.0, 1.0, 5.0, at="|e| = 0 m; kp, ki, kd linear in between", horizon=20.0)
    still = replace(gains, ki=0.0, at="|e| = 1 m and beyond")
    for given, told in (((replace(gains, nodes=(still,)),), "no integral action at |e| = 1 m and beyond)"),
                        ((replace(gains, low=(1.0, 0.0, 1.0), high=(9.0, 1.0, 9.0)),), "at some of its rules)"),
                        ((gains,), ""), ((still,), "")):  # fmt: skip
        monkeypatch.setattr(results, "gains_of", lambda *_, given=given: given)
        (text,) = (t for t in evidence.evidence(run.case).untested if t.startswith("a constant disturbance"))
        assert text.endswith(told) if told else text == "a constant disturbance"
