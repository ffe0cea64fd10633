"""The published method beside today's: which designs, and what is told of them."""

from __future__ import annotations

import json

import pytest

from experiments.runtime.errors import UserError
from experiments.starting.opening import configured
from experiments.studies import published
from experiments.studies.afterwards.fresh import StudyCase
from experiments.studies.engine.template import Template

TEMPLATE = Template.of("published")
HEAD = TEMPLATE.head


def test_its_designs_differ_in_the_criterion_alone():
    every = [case for plant in HEAD["plants"] for _, designs in published.cases(HEAD, plant) for case in designs]
    assert len({case.name for case in every}) == len(every) == 2 * 4 * 3
    for plant in HEAD["plants"]:
        settings = {
            criterion: configured("design", list(designs[0].words))
            for criterion, designs in published.cases(HEAD, plant)
        }
        assert {one.plant_name for one in settings.values()} == {plant}
        assert [one.fitness.kind for one in settings.values()] == [
            "entropy_signed", "entropy_magnitude", "tracking_and_entropy", "tracking_and_entropy",
        ]  # fmt: skip
        ours = settings.pop("default")
        assert (ours.search.method, ours.fitness.max_sensitivity, ours.assurance.authority) == (
            "gradient",
            1.8,
            "margins",
        )
        for one in settings.values():
            assert (one.search.method, one.fitness.max_sensitivity) == ("genetic", None)
            assert one.situations.taught["let go"].excitation.variance == 0.3
            assert one.controller.own_gains == [1.0, 1.0, 1.0] == ours.controller.own_gains
            assert one.algebraic_loop == ("solved" if plant == "van_der_pol" else "loop_free_relaxed")
            assert one.draws.verdict == ours.draws.verdict == HEAD["draws"]


def metrics(iae, *, recommended="fixed", lost=0):
    measures = {"iae": iae, "entropy_difference_abs": 10.0 * iae, "total_variation": 100.0}
    one = {"measures": {"drawn": measures}, "failures": {"drawn": lost}}
    return {"recommended": recommended, "controllers": {"own": one, "fixed": one, "imitation": one}}


def test_a_rung_is_told_by_its_mean_and_range_over_seeds():
    found = published.rungs(
        "ours", [metrics(1.0), metrics(3.0, recommended="own", lost=6)], {"fixed": "PID", "table": "-"}
    )
    (rung,) = found  # the designs have no table
    assert rung.row() == ["ours", "PID", "2 [1, 3]", "20 [10, 30]", "100", "3 [0, 6]", "1 of 2"]
    gone = metrics(3.0, lost=256)  # no loop survives: there are no means
    gone["controllers"]["fixed"] = {
        "measures": {"drawn": dict.fromkeys(published.MEASURES)},
        "failures": {"drawn": 256},
    }
    (rung,) = published.rungs("ours", [metrics(1.0), gone], {"fixed": "PID"})
    assert rung.row()[2:6] == ["1", "10", "100", "128 [0, 256]"]
    (rung,) = published.rungs("ours", [gone], {"fixed": "PID"})
    assert rung.row()[2:5] == ["-", "-", "-"]


def test_the_page_has_a_table_for_each_plant_and_gains_of_1_once(own_folder, monkeypatch, capsys):
    def designed(case, folder):
        run = own_folder / case.name
        run.mkdir(exist_ok=True)
        (run / "metrics.json").write_text(json.dumps(metrics(2.0)))
        return run

    monkeypatch.setattr(StudyCase, "designed", designed)
    (own_folder / "docs/studies").mkdir(parents=True)
    published.main(["van_der_pol"])
    assert not list((own_folder / "docs/studies").iterdir())
    assert capsys.readouterr().out.count("gains of 1") == 1
    published.main([])
    page = (own_folder / HEAD["page"]).read_text(encoding="utf-8")
    assert page.count("| gains of 1 |") == 2
    assert page.count("\n## ") == 2
    assert page.count("1.00 times that of gains of 1") == 2
    assert page.count("is the fixed (3 of 3).") == 2
    with pytest.raises(UserError, match="van_der_poll"):
        published.main(["van_der_poll"])
