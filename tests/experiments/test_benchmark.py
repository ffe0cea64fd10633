"""The benchmark of control quality: its words, its page, and (slowly) a whole small suite."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments import benchmark
from experiments.errors import UserError
from experiments.pooled import Pooled, _joined
from experiments.run_folder import RunFolder
from flcs import KnowledgeBase
from sscq.verdict import Sample, compare


def pooled():
    rng = np.random.default_rng(0)
    base = Sample(rng.uniform(1.0, 2.0, (6, 3)), np.ones((6, 3)), np.zeros((6, 3), bool))
    better = Sample(0.9 * base.fitness, 0.95 * base.travel, base.failed)
    worse = Sample(1.2 * base.fitness, 2.0 * base.travel, np.arange(18).reshape(6, 3) == 4)
    samples = {"rule SIMC": worse, "fixed": base, "table": better, "knowledge_base": worse}
    titles = {"rule SIMC": "SIMC rule", "fixed": "fixed PID", "table": "gain table", "knowledge_base": "knowledge base"}
    comparisons = {name: compare(sample, base) for name, sample in samples.items() if name != "fixed"}
    return Pooled("fopdt", titles, samples, comparisons, {"table": 2, "fixed": 1}, ("SIMC: at rest: gain 1",))


def test_words_are_its_own_or_the_designs():
    chosen = benchmark.options(["plants=fopdt,duffing", "seeds=2", "budget=standard", "network.terms=3", "folder=x"])
    assert (chosen.plants, chosen.seeds, chosen.folder) == (("fopdt", "duffing"), 2, Path("x"))
    assert chosen.overrides == ("budget=standard", "ladder.further=[all]", "network.terms=3")
    assert benchmark.options(["ladder.further=[lqi]"]).overrides == ("budget=small", "ladder.further=[lqi]")
    assert len(benchmark.options([]).plants) >= 18


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
        benchmark.options([word])


def test_losses_are_marked_beside_wins():
    rows = {row[0]: row for row in benchmark.rows(pooled())}
    assert rows["SIMC rule"][1].startswith("+20.0 %")
    assert rows["SIMC rule"][1].endswith("LOSS")
    assert rows["SIMC rule"][4:] == ("+100 %", "1", "0 %")
    assert rows["gain table"][1] == "-10.0 % [-10.0, -10.0]"
    assert rows["gain table"][4:] == ("-5 %", "0", "100 %")


def test_the_page_names_verdicts_and_reasons():
    text = benchmark.page({"fopdt": pooled()}, benchmark.options(["plants=fopdt"]))
    assert (
        "| [fopdt](#fopdt) | +20.0 % **loss** | gain table: -10.0 % | gain table (2 of 3), fixed PID (1 of 3) |" in text
    )
    assert "- SIMC: at rest: gain 1" in text


def test_numbers_are_plain_data():
    numbers = json.loads(json.dumps(pooled().numbers(), default=list))
    assert numbers["recommended"] == {"table": 2, "fixed": 1}
    assert numbers["fitness"]["rule SIMC"]["failures"] == 1
    assert numbers["comparisons"]["table"]["mean"]["value"] == pytest.approx(-0.1)


def _controllers(folder):
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["controllers"]


def test_designs_share_their_rollouts():
    """Three times the same design says no more than one of them."""
    rng = np.random.default_rng(1)
    one = Sample(rng.uniform(1.0, 2.0, (8, 3)), np.ones((8, 3)), np.zeros((8, 3), bool))
    other = Sample(one.fitness * rng.uniform(0.9, 1.15, (8, 3)), one.travel, one.failed)
    alone, thrice = compare(other, one), compare(_joined([other] * 3), _joined([one] * 3))
    assert (thrice.mean.low, thrice.mean.high) == pytest.approx((alone.mean.low, alone.mean.high), rel=1e-9)


def test_a_design_may_recommend_its_own_rule():
    found = replace(pooled(), choices={"rule": 1}, titles=pooled().titles | {"rule": "SIMC tuning rule"})
    assert found.recommended() == "SIMC tuning rule (1 of 1)"


def test_designs_made_with_other_words_are_not_taken(tmp_path):
    chosen = benchmark.options(["plants=fopdt", f"folder={tmp_path}", "budget=standard"])
    made = ["plant=fopdt", "budget=small", "ladder.further=[all]"]
    with RunFolder.create(tmp_path / "fopdt-0", command="design", config={}, overrides=made):
        pass
    with pytest.raises(
        UserError, match=r"fopdt-0 was made with budget=small ladder.further=\[all\]; choose another folder"
    ):
        benchmark.run("fopdt", 0, chosen)


RUNGS = (
    "open_loop", "rule SIMC", "rule AMIGO", "fixed", "two_degree", "table", "margin_table", "hand_made",
    "hand_made_scaled", "imitation", "knowledge_base_direct", "knowledge_base", "knowledge_base_free", "lqi", "oracle",
)  # fmt: skip


@pytest.mark.slow
def test_every_rung_of_the_ladder_is_judged_in_a_suite_that_is_not_repeated(tmp_path, capsys):
    """One plant, the least budget: not what any controller is worth, but that all are there, with what they spent."""
    words = [
        "plants=fopdt", "seeds=1", f"folder={tmp_path}", "budget.evaluations=60", "budget.verdict_seeds=2",
        "budget.teacher_generations=1", "teacher.population=6", "teacher.window=0.5", "network.rounds=2",
        "network.terms=2",
    ]  # fmt: skip
    benchmark.main(words)
    first = (tmp_path / "benchmark.json").read_bytes()
    assert "Cohen-Coon rule" in capsys.readouterr().out
    found = json.loads(first)["fopdt"]
    assert {name for name in found["fitness"] if not name.startswith("rule") or name in RUNGS} == set(RUNGS)
    assert all(one["rollouts"] == found["fitness"]["fixed"]["rollouts"] for one in found["fitness"].values())
    assert any("cannot be recommended" in note for note in found["notes"])
    spent = {name: one["evaluations"] for name, one in _controllers(tmp_path / "fopdt-0").items()}
    assert spent["margin_table"] == spent["hand_made"] == 0
    # The choice by validation costs one evaluation for each best genome on the way: at most one in a generation of 4.
    assert all(60 < spent[name] <= 60 + 60 // 4 for name in ("hand_made_scaled", "lqi", "two_degree"))
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
