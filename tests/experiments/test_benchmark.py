"""The benchmark of control quality: its words, its page, and a whole small suite."""

import json
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from experiments import benchmark
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from experiments.studies.engine.pooling import Pooled, PooledCosts, joined
from experiments.suites import benchmark_page, suite
from flcs import KnowledgeBase
from sscq.verdict import comparison
from sscq.verdict.comparison import Sample, compare


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """No test here asks how wide an interval is."""
    monkeypatch.setattr(comparison, "_BOOTSTRAPS", 100)


@cache
def judged(scale=1.0, seeds=20):
    """Controllers with known changes against the fixed PID, J of it around 1.5 and IAE around 1 (times `scale`)."""
    rng = np.random.default_rng(0)
    base = Sample(scale * rng.uniform(1.0, 2.0, (seeds, 3)), np.ones((seeds, 3)), np.zeros((seeds, 3), bool))
    better = Sample(0.9 * base.fitness, 0.95 * base.travel, base.failed)
    lost = np.arange(3 * seeds).reshape(seeds, 3) == 1
    worse = Sample(1.2 * base.fitness, 2.0 * base.travel, lost)
    samples = {"rule SIMC": worse, "fixed": base, "table": better, "knowledge_base": worse}
    error = scale * rng.uniform(0.5, 1.5, (seeds, 3))
    cut = np.where(lost, 1e-3, 1.1 * error)  # a rollout cut short has a small integral
    return PooledCosts.of(
        samples, {"rule SIMC": cut, "fixed": error, "table": 0.8 * error, "knowledge_base": cut}, ("up",)
    )


def pooled(seeds=20):
    titles = {"rule SIMC": "SIMC rule", "fixed": "fixed PID", "table": "gain table", "knowledge_base": "knowledge base"}
    kinds = {"taught": judged(0.5, seeds), "validation": judged(1.0, seeds), "unforeseen": judged(2.0, seeds)}
    spent = {"rule SIMC": 0.0, "fixed": 1200.0, "table": 600.0}
    return Pooled(
        "fopdt", titles, kinds, {"table": 2, "fixed": 1}, ("SIMC: at rest: gain 1",), spent, ("sensors: no noise",)
    )


def test_the_overview_has_a_line_for_each_plant_and_no_links():
    text = benchmark_page.overview({"fopdt": pooled()}, suite.options(["plants=fopdt"]))
    assert "| fopdt | " in text
    assert "](#" not in text
    assert "##" not in text


def test_a_plant_whose_design_fails_stops_no_other(tmp_path, monkeypatch, capsys):
    def design(folder, own, others):
        if "plant=duffing" in own:
            raise SystemExit(2)

    monkeypatch.setattr(suite, "design_in", design)
    monkeypatch.setattr("experiments.studies.engine.pooling.pool", lambda folders: pooled())
    with pytest.raises(SystemExit) as stop:
        benchmark.main(["plants=duffing,fopdt", f"folder={tmp_path}"])
    assert stop.value.code == 2
    assert "no result of duffing" in capsys.readouterr().err
    assert list(json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))) == ["fopdt"]


def test_words_are_its_own_or_the_designs():
    chosen = suite.options(["plants=fopdt,duffing", "seeds=2", "budget=standard", "network.terms=3", "folder=x"])
    assert (chosen.plants, chosen.seeds, chosen.folder) == (("fopdt", "duffing"), 2, Path("x"))
    assert chosen.overrides == ("budget=standard", "ladder.further=[all]", "network.terms=3")
    assert suite.options(["ladder.further=[lqi]"]).overrides == ("budget=small", "ladder.further=[lqi]")
    assert len(suite.options([]).plants) >= 18


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("fopdt", "expected settings such as plants=fopdt"),
        ("plants=fopd", "did you mean 'fopdt'"),
        ("suite=quality", "control_quality"),
        ("seeds=0", "seeds must be a whole number of at least 1, got '0'"),
        ("seeds=many", "got 'many'"),
        ("seed=5", "seed is the benchmark's own affair: say seeds="),
    ],
)
def test_wrong_words_are_refused(word, message):
    with pytest.raises((UserError, ValueError), match=message):
        suite.options([word])


def test_losses_are_marked_beside_wins():
    rows = {
        row[0]: [cell.replace("\u00a0", " ") for cell in row] for row in benchmark_page.rows(pooled(), "unforeseen")
    }
    head = benchmark_page.HEAD
    simc, table = (dict(zip(head, rows[name], strict=True)) for name in ("SIMC rule", "gain table"))
    assert simc["change: mean"] == "+20.0 % LOSS"  # the same in all rollouts: no interval
    assert simc["change of IAE"].startswith("+10.0 %")  # of the rollouts that survive
    assert simc["change of IAE"].endswith("LOSS")
    assert (simc["travel"], simc["failed"], simc["wins"], simc["evaluations"]) == ("+100 %", "1 (1)", "0 %", "0")
    assert (table["change: mean"], table["median"], table["worst 5 %"]) == ("−10.0 %",) * 3
    assert (table["change of IAE"], table["travel"], table["failed"], table["wins"]) == (
        "−20.0 %",
        "−5 %",
        "0",
        "100 %",
    )
    assert rows["fixed PID"][2:5] == [""] * 3
    assert rows["knowledge base"][-1] == "-"


def test_means_are_of_each_kind_of_situations_and_iae_of_what_survives():
    found = pooled()
    values = {kind: benchmark_page.rows(found, kind)[1] for kind in found.kinds}
    for kind, scale in (("taught", 0.5), ("validation", 1.0), ("unforeseen", 2.0)):
        rng = np.random.default_rng(0)
        fitness, error = scale * rng.uniform(1.0, 2.0, (20, 3)).mean(), scale * rng.uniform(0.5, 1.5, (20, 3)).mean()
        # four digits are printed
        assert float(values[kind][1]) == pytest.approx(fitness, rel=1e-3)
        assert float(values[kind][5]) == pytest.approx(error, rel=1e-3)
    one = found.kinds["unforeseen"]
    alive = ~one.samples["rule SIMC"].failed
    assert one.error("rule SIMC") == one.errors["rule SIMC"][alive].mean()


def test_where_no_rollout_survives_there_is_no_change_of_the_error():
    base = judged()
    dead = replace(base.samples["table"], failed=np.ones((20, 3), bool))
    found = PooledCosts.of(base.samples | {"table": dead}, base.errors)
    row = benchmark_page.rows(replace(pooled(), kinds={"unforeseen": found}), "unforeseen")[2]
    assert row[5:9] == ("not available", "-", "-", "60 (60)")


def test_the_page_has_a_table_for_each_kind_with_verdicts_and_reasons():
    text = benchmark_page.page({"fopdt": pooled()}, suite.options(["plants=fopdt"]))
    assert text.count("| SIMC rule | ") == text.count("| fixed PID | ") == 3
    for kind in ("taught situations (training)", "validation situations", "unforeseen situations (test)"):
        assert f"### fopdt: {kind}" in text
    assert "Rollouts of each controller: 60; seeds of each situation: 20." in text
    assert (
        "| [fopdt](#fopdt) | +20.0 % **loss** | +20.0 % **loss** | +20.0 % **loss** | +10.0 % **loss** | "
        "gain table: −10.0 % | gain table (2 of 3), fixed PID (1 of 3) |"
    ) in text.replace("\u00a0", " ")
    assert "- SIMC: at rest: gain 1" in text
    assert "- sensors: no noise" in text
    assert "A look, not a comparison" not in text


def test_too_few_seeds_or_designs_are_told():
    chosen = suite.options(["plants=fopdt", "seeds=2"])
    assert "**A look, not a comparison:** designs of each plant: 2, seeds of each situation: 20;" in (
        benchmark_page.page({"fopdt": pooled()}, chosen)
    )
    text = benchmark_page.page({"fopdt": pooled(seeds=1)}, replace(chosen, seeds=3))
    assert "designs of each plant: 3, seeds of each situation: 1;" in text
    assert "One seed has no intervals." in text


def test_a_budget_of_few_seeds_gets_those_that_a_comparison_needs(tmp_path, monkeypatch):
    (tmp_path / "budget").mkdir()
    for name, seeds in (("hasty", 5), ("thorough", 100)):
        (tmp_path / "budget" / f"{name}.yaml").write_text(f"budget: {{verdict_seeds: {seeds}}}\n")
    monkeypatch.setattr(suite, "FOLDER", tmp_path)
    assert suite.options(["budget=hasty"]).overrides[-1] == "budget.verdict_seeds=20"
    assert suite.options(["budget=hasty", "budget.verdict_seeds=3"]).overrides[-1] == "budget.verdict_seeds=3"
    assert suite.options(["budget=thorough"]).overrides == ("budget=thorough", "ladder.further=[all]")


@pytest.mark.parametrize("budget", ["small", "standard", "large"])
def test_every_budget_has_the_seeds_of_a_comparison(budget):
    assert len(suite.options([f"budget={budget}"]).overrides) == 2


def test_numbers_are_plain_data():
    numbers = json.loads(json.dumps(pooled().numbers(), default=list))
    assert numbers["recommended"] == {"table": 2, "fixed": 1}
    assert numbers["controllers"][2] == {"name": "table", "title": "gain table", "evaluations": 600.0}
    for kind in ("taught", "validation", "unforeseen"):
        assert numbers[kind]["seeds"] == 20
        assert numbers[kind]["fitness"]["rule SIMC"]["failures"] == 1
        assert numbers[kind]["comparisons"]["table"]["mean"]["value"] == pytest.approx(-0.1)
        assert numbers[kind]["comparisons"]["table"]["iae"]["value"] == pytest.approx(-0.2)
    assert numbers["unforeseen"]["fitness"]["table"]["iae"] == pytest.approx(
        4.0 * numbers["taught"]["fitness"]["table"]["iae"]
    )


def _controllers(folder):
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["controllers"]


def test_designs_share_their_rollouts():
    """Three times the same design says no more than one of them."""
    rng = np.random.default_rng(1)
    one = Sample(rng.uniform(1.0, 2.0, (8, 3)), np.ones((8, 3)), np.zeros((8, 3), bool))
    other = Sample(one.fitness * rng.uniform(0.9, 1.15, (8, 3)), one.travel, one.failed)
    alone, thrice = compare(other, one), compare(joined([other] * 3), joined([one] * 3))
    assert (thrice.mean.low, thrice.mean.high) == pytest.approx((alone.mean.low, alone.mean.high), rel=1e-9)


def test_a_design_may_recommend_its_own_rule():
    found = replace(pooled(), choices={"rule": 1}, titles=pooled().titles | {"rule": "SIMC tuning rule"})
    assert found.recommended() == "SIMC tuning rule (1 of 1)"


def test_designs_made_with_other_words_are_not_taken(tmp_path):
    chosen = suite.options(["plants=fopdt", f"folder={tmp_path}", "budget=standard"])
    made = ["plant=fopdt", "budget=small", "ladder.further=[all]"]
    with RunFolder.create(tmp_path / "fopdt-0", command="design", config={}, overrides=made):
        pass
    with pytest.raises(
        UserError, match=r"fopdt-0 was made with budget=small ladder.further=\[all\]; choose another folder"
    ):
        suite.run("fopdt", 0, chosen)


RULES = [
    f"rule {name}" for name in ("Ziegler-Nichols", "Chien-Hrones-Reswick", "Cohen-Coon", "AMIGO", "SIMC", "lambda")
]
RUNGS = (
    "open_loop", "fixed", "two_degree", "table", "margin_table", "hand_made",
    "hand_made_scaled", "imitation", "knowledge_base_direct", "knowledge_base", "knowledge_base_free", "lqi", "oracle",
)  # fmt: skip


def test_with_a_launcher_all_designs_are_a_sweep_into_the_folders_that_are_judged(monkeypatch):
    asked = []
    monkeypatch.setattr("experiments.design.main", asked.append)
    words = ["plants=fopdt,duffing", "seeds=2", "folder=B", "seed_of=1"]
    suite.run_side_by_side(suite.options(words))
    assert asked == []
    suite.run_side_by_side(suite.options([*words, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]))
    (given,) = asked
    assert given[:4] == ["-m", "plant=fopdt,duffing", "seed=0,1", "seeds=1"]
    assert {"seed_of=1", "hydra/launcher=joblib", "hydra.sweep.dir=B", "hydra.sweep.subdir=${plant}-${seed}"} < {*given}

    def bad(words):
        raise SystemExit(code)

    monkeypatch.setattr("experiments.design.main", bad)
    for code in (2, 130):  # a bad design is told in its turn, an interrupted sweep ends the suite
        with pytest.raises(SystemExit) if code == 130 else nullcontext():
            suite.run_side_by_side(suite.options([*words, "hydra/launcher=joblib"]))


def test_every_rung_of_the_ladder_is_judged_in_a_suite_that_is_not_repeated(tmp_path, capsys):
    """One plant, the least budget: not what any controller is worth, but that all are there, with what they spent."""
    words = [
        "plants=fopdt", "seeds=1", f"folder={tmp_path}", "budget.evaluations=60", "network.inputs=[e,e_rate]", "budget.verdict_seeds=2",
        "budget.teacher_generations=1", "teacher.population=6", "teacher.window=0.5", "network.rounds=2",
        "network.terms=2", "draws={taught: 0, validation: 0, verdict: 0}",
    ]  # fmt: skip
    benchmark.main(words)
    first = (tmp_path / "benchmark.json").read_bytes()
    assert "Cohen-Coon rule" in capsys.readouterr().out
    found = json.loads(first)["fopdt"]
    names = [one["name"] for one in found["controllers"]]
    for kind, rollouts in (("taught", 2), ("validation", 2), ("unforeseen", 6)):
        assert set(found[kind]["fitness"]) == set(names)
        assert all(one["rollouts"] == rollouts for one in found[kind]["fitness"].values())
    assert names == ["open_loop", *RULES, *RUNGS[1:]]
    assert any("cannot be recommended" in note for note in found["notes"])
    spent = {name: one["evaluations"] for name, one in _controllers(tmp_path / "fopdt-0").items()}
    assert spent["margin_table"] == spent["hand_made"] == 0
    # The choice by validation costs one evaluation for each best genome on the way: at most one in a generation of 4. A
    # descent takes genomes with their slopes, five evaluations each, so up to four are left over.
    searched = {name: spent[name] for name in ("hand_made_scaled", "lqi", "two_degree")}
    assert all(60 - 5 < n <= 60 + 60 // 4 for n in searched.values()), searched
    # Searches go by whole generations: what teaching and refining may take is met to within one of them.
    assert spent["knowledge_base_direct"] == pytest.approx(spent["knowledge_base"], abs=40)
    parameters = {name: one["parameters"] for name, one in _controllers(tmp_path / "fopdt-0").items()}
    assert (parameters["margin_table"], parameters["hand_made"], parameters["lqi"]) == (3, 4, 3)
    page = (tmp_path / "benchmark.md").read_text(encoding="utf-8")
    assert "state feedback (LQI): measures all states, upper reference" in page
    for name in ("hand_made", "hand_made_scaled", "knowledge_base_direct"):
        assert KnowledgeBase.load(tmp_path / "fopdt-0" / f"{name}.json").n_rules >= 1
    benchmark.main(words)
    assert "seed 0 ..." not in capsys.readouterr().out
    assert (tmp_path / "benchmark.json").read_bytes() == first
