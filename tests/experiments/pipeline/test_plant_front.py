"""A front that a plant declares: between its own measures, with the laws of its field, and limited by one of them."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from configs.schema import FrontConfig
from controllers import ConstantGains, Controller, gain_names
from controllers.state_feedback import DemandLaw
from experiments.pipeline import front_files
from experiments.pipeline.front import CHOICE_NAME, decided, rivals
from experiments.report.sections.front import least_within
from experiments.runtime.errors import UserError
from experiments.settings import setup
from plants import Quantity, Rival, with_rival
from plants.core import registry
from plants.measures import rms
from sscq.search.nsga2 import ranks
from tests.experiments import finished_run

WORDS = ("sway", "push")
STIFF = Rival(
    "stiff", "spring and damper", "for tests",
    (Quantity("k", "N/m", 1.0, 0.0, 20.0),), lambda t, x, constants, p: (-constants[0] * x[0] - 2.0 * x[1],),
)  # fmt: skip


def traded():
    """The Van der Pol oscillator: how far it sways against how hard it is pushed."""
    return replace(
        plants.get("van_der_pol"),
        measures=(rms("sway", "m", lambda t, x, u, w, p: x[0]), rms("push", "N", lambda t, x, u, w, p: u[0])),
        rivals=(STIFF,),
        trade_off=WORDS,
    )


@pytest.fixture(scope="module", autouse=True)
def plant():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_PLANTS", registry.snapshot() | {"van_der_pol": traded()})
        yield


def configured(**front):
    return finished_run.configuration(front=FrontConfig(evaluations=100, population=16, **front))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("plant_front") / "one"


@pytest.fixture(scope="module")
def run(place, plant):
    return finished_run.stored(place, configured(of="all", choice="limit", limit_of="best_rival"))


def lies(run, name):
    return front_files.placed(run.judgement, run.reference.fitness, name, WORDS)


def test_the_plant_says_what_is_traded_off():
    found = setup(configured(of="from_plant")).front
    assert found.objectives == WORDS
    assert found.with_knowledge_base
    assert not found.with_rivals
    assert setup(configured(of="from_plant", objectives=["error", "travel"])).front.objectives == ("error", "travel")
    assert plants.get("suspension").trade_off == ("ride_comfort", "tyre_load_variation")


def test_a_plant_without_a_trade_off_has_no_front_unasked(monkeypatch):
    plain = replace(traded(), trade_off=(), rivals=())
    monkeypatch.setattr(registry, "_PLANTS", registry.snapshot() | {"van_der_pol": plain})
    assert setup(configured(of="from_plant")).front is None
    assert setup(configured(of="fixed")).front.objectives == ("error", "entropy", "travel")
    with pytest.raises(UserError, match="fixed_and_rivals: plant 'van_der_pol' has no laws of its own field"):
        setup(configured(of="fixed_and_rivals"))


@pytest.mark.parametrize("words", [("sway",), ("sway", "sway"), ("sway", "pull")])
def test_a_trade_off_must_be_of_own_measures(words):
    with pytest.raises(ValueError, match=r"trade_off must name two or more of its own measures \(sway, push\)"):
        replace(traded(), trade_off=words)


def test_every_kind_has_a_front_at_the_same_budget(run):
    assert [one.name for one in run.fronts] == ["fixed", "knowledge_base", "rival_stiff"]
    for one in run.fronts:
        assert one.evaluations == 100
        assert (ranks(one.values) == 0).all()
        assert (np.diff(one.column("sway")) >= 0.0).all()
        assert one.column("sway").max() <= 2.0 * lies(run, "fixed")[0] * (1.0 + 1e-9)


def test_points_of_a_rival_are_what_its_constants_do(run):
    """The plant driven by the law itself, each point's constant as its demand."""
    one, job = run.fronts[2], run.bench.setup
    assert one.names == ("k",)
    laws = (DemandLaw(limits=(0.0, 20.0)),)
    controller = Controller(laws, ConstantGains(gain_names(laws)))
    theta = np.zeros((len(one.theta), controller.n_theta))
    theta[:, 0] = one.theta[:, 0]
    quality = sscq.evaluate(with_rival(job.plant, STIFF), controller, theta, job.sets["taught"], job.step)
    expected = np.column_stack([quality[word].mean(axis=0) for word in WORDS])
    np.testing.assert_allclose(one.values, expected, rtol=1e-9)


def test_no_law_is_worse_than_where_it_was_tuned(run):
    for one in run.fronts:
        tuned = lies(run, one.name)
        assert any((row <= tuned * (1.0 + 1e-9)).all() for row in one.values)
    (kind,) = rivals(run.bench, run.group)
    assert kind.candidate.start[0] == next(c.theta[0] for c in run.group if c.name == "rival_stiff")


def test_the_chosen_gains_push_no_harder_than_the_best_law_of_the_field(run):
    fixed, (_, limit) = run.fronts[0], lies(run, "rival_stiff")
    assert fixed.chosen.limit == pytest.approx(limit, rel=1e-9)
    assert fixed.chosen.of == "spring and damper"
    allowed = fixed.values[fixed.values[:, 1] <= limit * (1.0 + 1e-9)]
    expected = allowed[:, 0].min() if fixed.chosen.kept else fixed.values[:, 1].min()
    assert fixed.values[fixed.chosen.position, 0 if fixed.chosen.kept else 1] == expected
    np.testing.assert_allclose(lies(run, CHOICE_NAME), fixed.values[fixed.chosen.position], rtol=1e-9)
    assert run.judgement.verdict.recommended != CHOICE_NAME


@pytest.mark.parametrize("name", ["fixed", "knowledge_base"])
def test_the_limit_may_be_that_of_any_contender(run, name):
    job = run.bench.setup
    plan = replace(job.front, limit_of=name)
    bench = type("Bench", (), {"setup": replace(job, front=plan)})
    (found,) = decided(bench, run.reference, run.fronts[:1], run.group)
    sway, push = lies(run, name)
    assert found.chosen.limit == pytest.approx(push, rel=1e-9)
    if name == "fixed":  # the search started from it: its own limit costs nothing
        assert found.values[found.chosen.position, 0] <= sway * (1.0 + 1e-9)


def test_a_contender_that_there_will_not_be_is_told_before_the_search():
    with pytest.raises(UserError, match=r"front\.limit_of must be one of fixed, own, .*; did you mean 'rival_stiff'"):
        setup(configured(of="fixed", choice="limit", limit_of="rival_stif"))


def test_files_and_page_show_all(run, place):
    with (place / "front_rival_stiff.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["k", "sway", "push", "point"]
    page = (place / "report.html").read_text(encoding="utf-8")
    part = re.search(r'<section[^>]*id="front".*?</section>', page, re.DOTALL).group()
    chart = re.search(r"<figure.*?</figure>", part, re.DOTALL).group()
    assert chart.count("<circle") - chart.count('class="ring"') == sum(len(one.values) for one in run.fronts)
    assert "sway [m]" in chart
    assert "push [N]" in chart
    for name in ("spring and damper", "fixed PID", "knowledge base"):
        assert f"{name}</text>" in chart
    assert "at no more push than each controller has" in part
    assert "that of spring and damper" in part
    assert "front of a law of the plant" in page


def test_least_within_a_limit_by_hand():
    values = np.array([[1.0, 9.0], [2.0, 5.0], [4.0, 3.0]])
    assert least_within(values, 5.0) == 2.0
    assert least_within(values, 4.9) == 4.0
    assert least_within(values, 2.9) is None
