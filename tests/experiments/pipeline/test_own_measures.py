"""A plant's own measures in a design run: weighed, judged, written down and shown."""

import csv
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import plants
import sscq
from configs.schema import FitnessConfig, FrontConfig
from experiments import evaluate
from experiments.pipeline.ladder import at_own_limits, validation_task
from experiments.plant_list import description
from experiments.report import files, outputs
from experiments.report.builders import words
from experiments.report.sections.tables import _cell
from experiments.runtime.errors import UserError
from experiments.settings import setup
from plants.core import registry
from plants.measures import peak, rms
from tests.experiments import finished_run

OWN = ("top_speed", "swing")
WEIGHTS = {"top_speed": 0.5}


def measured():
    """The Van der Pol oscillator with two measures: one to be weighed, one to be looked at."""
    return replace(
        plants.get("van_der_pol"),
        measures=(
            peak("top_speed", "m/s", lambda t, x, u, w, p: x[1], text="largest speed", scale=2.0),
            replace(rms("swing", "m", lambda t, x, u, w, p: x[0]), less_is_better=None),
        ),
    )


def configured(**own):
    return finished_run.configuration(fitness=FitnessConfig(own_measures=own or WEIGHTS))


@pytest.fixture(scope="module", autouse=True)
def plant():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_PLANTS", registry.snapshot() | {"van_der_pol": measured()})
        yield measured()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("own") / "one"


@pytest.fixture(scope="module")
def run(place, plant):
    run = finished_run.stored(place, configured())
    run.refined["equal"].kb.save(place / "knowledge_base.json")
    return run


@pytest.fixture(scope="module")
def metrics(run):
    return outputs.metrics(run.bench, run.reference, run.group, run.judgement, run.refined)


# ------------------------------------------------------------------------------------------------------------ the setup


def test_weights_reach_the_fitness_with_what_counts_as_large():
    fitness = setup(configured()).fitness
    assert fitness.terms == {"iae": 1.0, "entropy_difference_abs": 0.3, "top_speed": 0.5}
    assert fitness.reference == {"top_speed": 2.0}


def test_what_cannot_be_weighed_is_told_with_the_setting():
    with pytest.raises(UserError, match=r"fitness\.own_measures: .*did you mean 'top_speed'"):
        setup(configured(top_sped=1.0))
    with pytest.raises(UserError, match=r"fitness\.own_measures: .*'swing'.* cannot be minimised"):
        setup(configured(swing=1.0))


def test_limits_reach_the_fitness_and_are_the_fixed_gains_elsewhere():
    """When taught as given; in other situations what the fixed gains have there, with or without a travel limit."""
    given = finished_run.configuration(fitness=FitnessConfig(own_limits={"top_speed": 1.5}, limits_first=True))
    job = setup(given)
    assert job.fitness.own_limits == {"top_speed": 1.5}
    assert job.fitness.limits_first
    bench, gains = SimpleNamespace(setup=job), np.array([[3.0, 0.5, 2.0]])
    fixed = SimpleNamespace(theta=gains[0])
    task = validation_task(bench, job.fitness, fixed)
    there = sscq.evaluate(job.plant, job.laws, gains, job.sets["validation"], job.step)["top_speed"].mean()
    assert task.fitness.own_limits == {"top_speed": pytest.approx(there, rel=1e-9)}
    assert task.fitness.travel_limit is None
    assert not task.fitness.limits_first  # nobody declared what the fixed gains have there
    (one,) = at_own_limits(bench, job.task("validation", job.fitness).on(job.sets["taught"][:1]), fixed).situations
    assert one == job.sets["taught"][0]
    limited = validation_task(bench, replace(job.fitness, travel_limit=1.0), fixed).fitness
    assert limited.own_limits == task.fitness.own_limits
    own = sscq.evaluate(job.plant, job.laws, gains, job.sets["validation"], job.step)["total_variation"].mean()
    assert limited.travel_limit == pytest.approx(own, rel=1e-9)  # all that the fixed gains have: equal limits
    with pytest.raises(UserError, match=r"fitness\.own_limits: .*did you mean 'top_speed'"):
        setup(finished_run.configuration(fitness=FitnessConfig(own_limits={"top_sped": 1.5})))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"own_measures": {"a": -1.0}}, "weight of 'a' must be finite and at least 0"),
        ({"own_measures": {"a": float("nan")}}, "weight of 'a' must be finite and at least 0"),
        ({"own_limits": {"a": 0.0}}, "limit of 'a' must be finite and above 0"),
        ({"own_measures": {"a": 1.0}, "kind": "lexicographic"}, "kind=tracking_and_entropy alone"),
    ],
)
def test_settings_that_contradict_each_other_are_told(given, words):
    assert any(words in line for line in FitnessConfig(**given).complaints())
    assert not list(FitnessConfig().complaints())


# ---------------------------------------------------------------------------------------------- the numbers of the run


def test_the_numbers_are_those_of_the_library(run, metrics, plant):
    unforeseen = run.bench.setup.sets["unforeseen"]
    found = metrics["controllers"]["fixed"]["measures"]["unforeseen"]
    assert [*found][-2:] == [*OWN]
    several = [s for k in range(finished_run.SEEDS) for s in run.bench.setup.repetition("unforeseen", k)]
    quality = sscq.evaluate(plant, run.bench.setup.laws, finished_run.FIXED, several, run.bench.setup.step)
    assert len(several) == finished_run.SEEDS * len(unforeseen)
    for name in OWN:
        assert found[name] == pytest.approx(quality[name].mean(), rel=1e-9)


def test_they_are_in_the_fitness_of_the_verdict(run, metrics):
    """The made-up run weighs them raw, in units of what counts as large."""
    assert metrics["fitness"]["own_measures"] == WEIGHTS
    case = run.case
    expected = sum(
        weight / {"top_speed": 2.0}.get(name, 1.0) * case.measure("fixed", "unforeseen", name)
        for name, weight in {"iae": 1.0, "entropy_difference_abs": 0.3, "top_speed": 0.5}.items()
    )
    np.testing.assert_allclose(run.judgement.fitness["fixed", "unforeseen"], expected, rtol=1e-12)


def test_the_cost_names_them(run):
    assert "+ 0.5 top speed / 2.000" in words.cost(run.case)
    assert "% top speed" in words.cost(run.case)


def test_the_page_and_the_table_show_them(run, place):
    page = (place / "report.html").read_text(encoding="utf-8")
    assert page.count("top speed [m/s]") >= 2  # ladder and all numbers
    assert "swing [m]" in page
    assert "top speed: largest speed" in page
    with (place / "situations.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    row = next(r for r in rows if (r["situation"], r["controller"]) == ("far", "fixed"))
    assert float(row["top_speed"]) == pytest.approx(run.case.measure("fixed", "unforeseen", "top_speed")[:, 0].mean())


def test_the_terminal_shows_them(run, place):
    text = outputs.table_text(run.group, run.judgement, files.load(place), True)
    assert "top speed [m/s]" in text.splitlines()[0]
    assert "swing" in text.splitlines()[0]


def test_a_stored_base_is_judged_with_them(run, place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    situations = "situations.unforeseen={up: {reference: 1.5, t_end: 1}}"
    words = (f"kb={place / 'knowledge_base.json'}", "output=run", "seeds=1", "threads=1", situations)
    evaluate.main([*words, "plant=van_der_pol"])
    found = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert found["fitness"]["own_measures"] == WEIGHTS
    assert found["controllers"]["knowledge_base"]["unforeseen"]["measures"]["top_speed"] > 0.0
    assert "top speed" in capsys.readouterr().out


def test_marks_follow_what_is_better():
    assert "loss" in str(_cell(1.2, 1.0, True))
    assert "loss" not in str(_cell(1.2, 1.0, None))
    assert "loss" not in str(_cell(1.2, 1.0, False))
    assert "loss" in str(_cell(0.8, 1.0, False))


def test_the_plants_description_lists_them(plant):
    assert "top_speed" in description(plant)
    assert "own measures" not in description(plants.get("pendulum"))


# ------------------------------------------------------------------------------------------------------------- a front


def fronted(*objectives):
    return finished_run.configuration(front=FrontConfig("fixed", [*objectives], evaluations=60, population=8))


def test_a_front_may_be_of_them(tmp_path):
    """Every point's value is the measure of its gains, mean over the taught situations."""
    run = finished_run.stored(tmp_path / "front", fronted("error", "top_speed"))
    page = (tmp_path / "front" / "report.html").read_text(encoding="utf-8")
    front, job = run.fronts[0], run.bench.setup
    quality = sscq.evaluate(job.plant, job.laws, front.theta, job.sets["taught"], job.step)
    np.testing.assert_allclose(front.column("top_speed"), quality["top_speed"].mean(axis=0), rtol=1e-9)
    assert "least top speed" in front.points(job.front)
    assert "top speed" in page


def test_a_front_of_what_nobody_minimises_is_refused():
    with pytest.raises(UserError, match=r"front\.objectives: .*'swing'.* cannot be minimised"):
        setup(fronted("error", "swing"))
    with pytest.raises(UserError, match="got 'top_sped'; did you mean 'top_speed'"):
        setup(fronted("error", "top_sped"))
