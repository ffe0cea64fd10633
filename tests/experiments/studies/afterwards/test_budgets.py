"""What a longer search is worth: where it makes things worse is told, and the page counts."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.runtime import formats
from experiments.studies.afterwards import budgets
from experiments.studies.afterwards.budgets import RUNGS, Budgeted
from experiments.studies.afterwards.fresh import StudyCase
from experiments.studies.engine.template import Template


def change(value):
    return {"value": value, "low": value - 0.01, "high": value + 0.01}


SHORT = Budgeted("fopdt", 1500, 0, dict.fromkeys(RUNGS, 1.0), {name: change(-0.1) for name in RUNGS[1:]})
LONG = replace(SHORT, evaluations=6000, taught=dict.fromkeys(RUNGS, 0.9), fresh={"table": change(-0.2)})


def test_a_longer_search_that_is_worse_is_told():
    worse = replace(LONG, taught={**LONG.taught, "table": 1.02})
    assert budgets.worse([SHORT, LONG], 0.01) == []
    assert budgets.worse([SHORT, worse], 0.01) == ["fopdt, seed 0, table: +2.0% from 1500 to 6000"]
    assert budgets.worse([SHORT, worse], 0.03) == []
    assert budgets.worse([SHORT, replace(worse, plant="cstr")], 0.01) == []  # another design
    assert budgets.worse([SHORT, replace(worse, seed=1)], 0.01) == []


def test_means_are_of_what_there_is():
    found = budgets.means([SHORT, LONG, replace(LONG, seed=1, fresh={"table": change(-0.4)})])
    assert found[1500] == pytest.approx([-0.1] * 3)
    assert found[6000][0] == pytest.approx(-0.3)
    assert math.isnan(found[6000][1])


def test_the_page_counts_and_tells():
    text = budgets.page(
        Template.of("budgets"), [SHORT, replace(LONG, taught={**LONG.taught, "table": 1.02})], "1a2b (2)"
    )
    assert "In 4 steps to more evaluations" in text
    assert "by more than 1 % in 1:" in text
    assert "- fopdt, seed 0, table: +2.0% from 1500 to 6000" in text
    assert "| fopdt, seed 0 | 6000 | 0.9000 | 1.0200 |" in text
    assert "None." in budgets.page(Template.of("budgets"), [SHORT, LONG], "")


def test_designs_are_those_of_the_template():
    head = Template.of("budgets").head
    several = budgets.cases(head, ["cstr"])
    assert [case.name for *_, case in several] == ["cstr-1500-0", "cstr-6000-0", "cstr-20000-0"]
    assert several[1][2].words == ("plant=cstr", "budget=small", "budget.evaluations=6000")


def test_what_became_of_a_design_is_what_it_was_taught_and_fresh_draws(finished):
    found = budgets.outcome(finished.folder, 8)
    taught = formats.read_json(finished.folder / "metrics.json")["controllers"]["fixed"]["fitness"]["taught"]
    assert found["taught"]["fixed"] == taught > 0.0
    assert found["fresh"]["knowledge_base"].low <= found["fresh"]["knowledge_base"].value


def test_the_page_is_written_once_all_designs_are_recorded(own_folder, monkeypatch, capsys):
    monkeypatch.setattr(StudyCase, "designed", lambda case, folder: folder / case.name)
    monkeypatch.setattr(budgets, "outcome", lambda *_, **__: {"taught": SHORT.taught, "fresh": SHORT.fresh})
    budgets.main(["duffing"])
    assert "page" not in capsys.readouterr().out
    monkeypatch.setattr(
        StudyCase, "designed", lambda case, _: pytest.fail(case.name) if "duffing" in case.title else Path()
    )
    budgets.main([])
    text = (own_folder / "docs/studies/budgets.md").read_text(encoding="utf-8")
    assert text.count("| duffing, seed 0 |") == 3
    assert "unknown (21)" in text
