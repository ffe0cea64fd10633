"""The trade-off front of a run: its points are real, its choice is judged, its files and page say the same."""

import csv
import re
from types import SimpleNamespace

import numpy as np
import pytest

from configs.rules import check
from configs.schema import ControllerConfig, DesignConfig, FrontConfig
from experiments.pipeline import front, front_files
from experiments.pipeline.bench import Bench
from experiments.pipeline.front import CHOICE_NAME, Choice, Front, contenders, decided
from experiments.report.builders import learning
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from experiments.settings import FrontPlan, setup
from sscq.search.nsga2 import NonDominatedSorting, ranks
from tests import schemas
from tests.experiments import finished_run

WORDS = ("error", "entropy", "travel")


def plan(**changes):
    given = {"choice": "knee", "error_budget": 0.2, "error_span": 2.0} | changes
    return FrontPlan(NonDominatedSorting(evaluations=10), WORDS, False, **given)


# 1, 1.1 and 1.2 are affordable at a budget of 0.2; the knee is the third: 0.2 / 4 + 0.1 + 0.2 is the least sum.
HAND = Front(
    "fixed", "fixed PID", ("kp", "ki", "kd"), WORDS, np.arange(15.0).reshape(5, 3),
    np.array([[1.0, 10.0, 5.0], [1.1, 8.0, 6.0], [1.2, 1.9, 1.8], [1.9, 1.8, 1.7], [5.0, 1.0, 1.0]]), 10,
)  # fmt: skip


def test_named_points_by_hand():
    points = HAND.points(plan())
    assert points == {
        "least error": 0, "least entropy within 1.2 x the least error": 2, "least travel within 1.2 x the least error": 2,
        "knee": 2, "least entropy": 4, "least travel": 4,
    }  # fmt: skip
    assert chosen(plan()).position == 2
    assert chosen(plan(choice="budget", error_budget=0.1)).position == 1
    assert HAND.saved("entropy", 0.2) == pytest.approx(0.81)
    assert HAND.saved("travel", 0.1) == pytest.approx(0.0)


def chosen(given, front=HAND):
    bench = SimpleNamespace(setup=SimpleNamespace(front=given))
    (found,) = decided(bench, None, [front], [])
    return found.chosen


def test_the_first_objective_is_least_where_the_second_keeps_its_limit():
    assert chosen(plan(choice="limit", limit=8.0)) == Choice(1, 8.0)
    assert chosen(plan(choice="limit", limit=7.9)) == Choice(2, 7.9)
    lost = chosen(plan(choice="limit", limit=0.5))
    assert lost == Choice(4, 0.5, kept=False)
    assert lost.words(plan(choice="limit"), "error", "entropy") == "the least entropy, none being at most 0.5"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("front") / "one"


@pytest.fixture(scope="module")
def run(place):
    front = FrontConfig(of="fixed_and_knowledge_base", evaluations=160, population=16)
    # Sixteen points cover this box densely; in the plant's wider one crowding leaves out the gains it was begun from.
    box = ControllerConfig(own_gains=[2.0, 0.5, 1.0], low=[0.0, 0.0, 0.0], high=[10.0, 10.0, 10.0])
    return finished_run.stored(place, finished_run.configuration(front=front, controller=box))


def test_the_points_are_what_the_verdict_measures(run):
    """The chosen gains, judged with everything else, have the objectives that the search saw."""
    fixed, fitness = run.fronts[0], run.reference.fitness
    i = fixed.chosen.position
    judged = front_files.placed(run.judgement, fitness, CHOICE_NAME, WORDS)
    np.testing.assert_allclose(judged, fixed.values[i], rtol=1e-9)
    contender = next(c for c in run.group if c.name == CHOICE_NAME)
    np.testing.assert_array_equal(contender.theta, fixed.theta[i])
    assert CHOICE_NAME in run.judgement.verdict.comparisons
    assert run.judgement.verdict.recommended != CHOICE_NAME


@pytest.mark.parametrize("number", [0, 1], ids=["fixed", "knowledge base"])
def test_fronts_are_fronts_and_keep_the_constraints(run, number):
    found, bench = run.fronts[number], run.bench
    assert (ranks(found.values) == 0).all()
    assert (np.diff(found.column("error")) >= 0.0).all()
    error = front_files.placed(run.judgement, run.reference.fitness, "fixed", WORDS)[0]
    assert found.column("error").max() <= bench.setup.front.error_span * error * (1.0 + 1e-9)
    assert found.evaluations == 160
    if number == 0:
        assert (bench.margins.violation(found.theta[:, None, :]) == 0.0).all()


def test_the_fixed_gains_are_a_start_so_no_front_is_worse(run):
    own = front_files.placed(run.judgement, run.reference.fitness, "fixed", WORDS)
    assert run.bench.margins.violation(finished_run.FIXED[None, None])[0] == 0.0
    assert any((row <= own * (1.0 + 1e-9)).all() for row in run.fronts[0].values)


def test_files_hold_every_point(run, place):
    for one in run.fronts:
        with (place / f"front_{one.name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
        assert rows[0] == [*one.names, "iae", "entropy_difference_abs", "total_variation", "point"]
        numbers = np.array([[float(cell) for cell in row[:-1]] for row in rows[1:]])
        np.testing.assert_array_equal(numbers, np.hstack([one.theta, one.values]))
    summary = schemas.read("front", place / "front.json")
    fixed = run.fronts[0]
    assert summary["fronts"][0]["saved_within_error_budget"]["entropy"] == fixed.saved("entropy", 0.2)
    knee = summary["fronts"][0]["points"]["knee"]
    assert knee["values"] == dict(zip(WORDS, fixed.values[fixed.points(plan())["knee"]].tolist(), strict=True))
    assert summary["controllers"]["fixed"]["error"] > 0.0


def test_the_page_draws_all_points_and_names_the_choice(run, place):
    page = (place / "report.html").read_text(encoding="utf-8")
    part = re.search(r'<section id="front">.*?</section>|<section[^>]*id="front".*?</section>', page, re.DOTALL).group()
    given = learning.fronts(run.case)
    assert part.count('class="dot"') == sum(len(one.values) for one in run.fronts)
    assert "chosen</text>" in part
    assert given.series[0].text.split(". ", 1)[1] in part.replace("&#x27;", "'")
    assert 'href="#front"' in page


def test_the_printed_table_has_the_chosen_point(run):
    texts = front_files.texts(run.bench, run.reference.fitness, run.group, run.judgement, run.fronts)
    assert len(texts) == 2
    fixed = run.fronts[0]
    line = next(line for line in texts[0].splitlines() if "chosen" in line)
    assert f"{fixed.values[fixed.chosen.position, 0]:.4g}" in line
    assert "Within 1.2 times the least error of the fixed PID" in texts[0]


def test_a_resumed_run_reads_the_same_front_back(run, place, monkeypatch):
    monkeypatch.setattr(front, "_searched", None)  # whoever searches again fails
    entry = finished_run.entry("fixed", "fixed PID", finished_run.FIXED)
    with RunFolder.resume(place, command="design") as folder:
        bench = Bench(run.bench.setup, folder, quiet=True)
        again = front.search(bench, run.reference, entry, run.refined)
    for one, other in zip(run.fronts, again, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.theta, other.theta)


def test_without_a_front_nothing_is_searched_or_written(run, tmp_path):
    job = setup(finished_run.configuration())
    assert job.front is None
    with RunFolder.create(tmp_path / "none", command="design", config={}, overrides=[]) as folder:
        bench = SimpleNamespace(setup=job, folder=folder)
        assert front.search(bench, None, None, {}) == []
        assert contenders(bench, []) == []
        front_files.write(bench, run.reference.fitness, run.group, run.judgement, [])
        assert front_files.texts(bench, run.reference.fitness, run.group, run.judgement, []) == []
        assert not list(folder.path.glob("front*"))
    assert learning.fronts(SimpleNamespace(setup=job, fronts=())) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"objectives": ["error"]}, "objectives must be two or more different ones"),
        ({"choice": "limit"}, "needs one of limit .a number. and limit_of"),
        ({"choice": "limit", "limit": 1.0, "limit_of": "fixed"}, "got 2 of them"),
        ({"limit": 1.0}, "limit and limit_of need choice=limit, got choice=knee"),
        ({"error_span": 1.0}, "error_span"),
        ({"of": "everything"}, "of"),
    ],
)
def test_wrong_settings_are_told(given, says):
    with pytest.raises(Exception, match=says):
        check(DesignConfig(front=FrontConfig(**given)))


def test_objectives_that_the_plant_does_not_have_are_told():
    front_config = FrontConfig(objectives=["error", "heat"])
    with pytest.raises(UserError, match="objectives must be of error, entropy, travel, effort, got 'heat'"):
        setup(finished_run.configuration(front=front_config))


def test_limits_of_own_measures_are_told_with_the_fronts_they_bound():
    fitness = SimpleNamespace(aggregate="mean", kappa=1.0, share=0.25, own_limits={"tyre_load_variation": 0.15})
    case = SimpleNamespace(fronts=(), fitness=fitness, bench=SimpleNamespace(margins=None))
    plan = SimpleNamespace(objectives=("error", "travel"), error_span=2.0)
    told = learning._text(case, plan, ("error", "travel"))
    assert told.endswith("constraints: errors up to 2 times the fixed PID's, tyre load variation up to 0.15.")
