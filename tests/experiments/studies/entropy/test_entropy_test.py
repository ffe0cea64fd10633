"""Entropy's own test: what is declared, the search on a grid's answer, and the rule that decides."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import plants
from experiments import benchmark
from experiments.runtime.errors import UserError
from experiments.studies.entropy import command, outcomes
from experiments.studies.entropy.command import page
from experiments.studies.entropy.outcomes import (
    DECLARED,
    AtBudget,
    Difference,
    OfPlant,
    Workshop,
    declaration,
    difference,
    verdict,
)

DECLARATION = declaration()


def test_the_declaration_is_known_by_its_hash():
    assert DECLARATION.digest == hashlib.sha256(DECLARED.read_bytes()).hexdigest()
    assert (DECLARATION.entropy, DECLARATION.judged_by) == ("entropy_difference_abs", "entropy_plant")
    assert len(DECLARATION.plants) == 3
    assert DECLARATION.budgets == (1.1, 1.2, 1.5)
    assert DECLARATION.verdict_seeds >= 20
    for name in DECLARATION.plants:
        assert plants.get(name).entropy_rate is not None


@pytest.mark.parametrize(("old", "new", "told"), [
    ("hypothesis:", "hypothesys:", "missing or unknown: hypothesis, hypothesys"),
    ("cstr:", "cstrr:", "did you mean 'cstr'"),
    ("  effort:", "  efort:", "did you mean 'effort'"),
    ("budgets: [1.1,", "budgets: [1.0,", "must be above 1"),
    ("verdict_seeds: 24", "verdict_seeds: 1", "verdict_seeds at least 2"),
])  # fmt: skip
def test_a_wrong_declaration_is_refused(tmp_path, old, new, told):
    file = tmp_path / "declared.yaml"
    text = DECLARED.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        declaration(file)


def tables(gap, error_gap=0.0, spread=0.1, lost=False):
    """Entropy and a rival in 24 seeds of 3 situations: entropy has `gap` J more heat, up to chance in each seed."""
    rng = np.random.default_rng(0)
    base = rng.uniform(5.0, 9.0, (24, 3))
    chance = rng.normal(0.0, spread, (24, 1))
    failed = np.zeros((2, 24, 3), bool)
    failed[0, 3, 1] = lost
    error = np.array([np.full((24, 3), 1.0 + error_gap), np.ones((24, 3))])
    return np.array([base + gap + chance, base]), error, failed


@pytest.mark.parametrize(("given", "result"), [
    ({"gap": -0.2}, "wins"),
    ({"gap": 0.2}, "loses"),
    ({"gap": -0.2, "error_gap": 0.03}, "undecided"),  # less heat, bought with 3 % of IAE
    ({"gap": -0.2, "error_gap": 0.019}, "wins"),
    ({"gap": 0.0}, "undecided"),
    ({"gap": -0.2, "lost": True}, "loses"),
])  # fmt: skip
def test_what_a_comparison_says(given, result):
    found = difference(*tables(**given), slack=0.02)
    assert found.result == result
    # 24 seeds of deviation 0.1: the interval's half width is 2 * 0.1 / sqrt(24) = 0.04, up to the draw.
    assert found.heat[1] <= given["gap"] + 0.06
    assert found.heat[2] >= given["gap"] - 0.06
    assert 0.04 < found.heat[2] - found.heat[1] < 0.12


def test_lost_rollouts_count_for_neither_mean():
    """A rollout that is cut short has little heat: with it the comparison would reward failing."""
    heat, error, failed = tables(0.2, spread=1e-9)
    failed[1, 5] = True
    heat[1, 5], error[1, 5] = 100.0, 50.0
    found = difference(heat, error, failed, slack=0.02)
    assert found.heat[0] == pytest.approx(0.2, abs=1e-6)
    assert found.new_failures == 0


def at_budget(*results):
    rivals = dict(zip(("effort", "total_variation"), results, strict=True))
    against = {name: Difference((0.1, 0.0, 0.2), (0.0, 0.0, 0.0), 0, result) for name, result in rivals.items()}
    names = list(DECLARATION.regularisers)
    found = {name: outcomes.Cheapest(np.array([1.0, 2.0, 3.0]), 1.0, 1.0, 10) for name in names}
    return AtBudget(1.1, found, dict.fromkeys(names, 2.0), dict.fromkeys(names, 1.0), against)


W, L, U = "wins", "loses", "undecided"


@pytest.mark.parametrize(("results", "expected"), [
    ([(W, W), (W, W), (U, U)], "holds"),
    ([(W, W), (W, W), (W, L)], "undecided"),
    ([(W, W), (U, W), (W, U)], "undecided"),
    ([(W, L), (W, L), (W, W)], "refuted"),
    ([(L, W), (W, L), (W, W)], "undecided"),
])  # fmt: skip
def test_the_declared_rule(results, expected):
    assert verdict([at_budget(*pair) for pair in results]) == expected


def test_the_page_says_losses_as_losses_and_what_was_changed():
    found = [OfPlant("cstr", 0.5, tuple(at_budget(U, L) for _ in range(3)), "refuted")]
    delays = {name: {"0": {"iae": 1.0, "failures": 0}, "0.2": {"iae": 3.0, "failures": 2}}
              for name in ("least IAE", *DECLARATION.regularisers)}  # fmt: skip
    saved = {name: {"iae": 1.0, "entropy_difference_abs": value}
             for name, value in zip(delays, (30.0, 27.0, 25.0, 29.0), strict=True)}  # fmt: skip
    text = page(found, {"delays": delays, "saved": saved}, DECLARATION, ("evaluations=5",))
    assert DECLARATION.digest in text
    assert "**Verdicts: cstr refuted.**" in text
    assert "The hypothesis is refuted" in text
    assert "0 won, 3 lost, 0 undecided; heat +5.0 %, +5.0 %, +5.0 %" in text
    assert text.count("**loses**") == 3
    assert "Wanted: 20 % less; **missed**, 10.0 %." in text
    assert "3 (2)" in text
    assert "**Not as declared: evaluations=5.**" in text
    for line in text.splitlines():  # bars within cells are escaped: all rows of a table are as wide as its head
        if line.startswith("| 1.1 x"):
            assert line.replace("\\|", "").count("|") == 10


def test_words(tmp_path):
    declared, folder, changed = command.options(["plants=cstr", "evaluations=7", f"folder={tmp_path}"])
    assert (list(declared.plants), declared.evaluations, folder) == (["cstr"], 7, tmp_path)
    assert changed == ("plants=cstr", "evaluations=7")
    assert declared.digest == DECLARATION.digest
    for word, told in (("plants=duffing", "duffing is not declared"), ("verdict_seeds=1", "got 'verdict_seeds=1'"),
                       ("budget=small", "expected folder=, plants= or a whole number")):  # fmt: skip
        with pytest.raises(UserError, match=told):
            command.options([word])


def test_the_benchmark_hands_its_suites_on(monkeypatch):
    seen = []
    monkeypatch.setattr(command, "main", seen.append)
    benchmark.main(["suite=entropy", "plants=cstr"])
    assert seen == [["plants=cstr"]]


@pytest.fixture(scope="module")
def shop():
    """The light first-order plant, one of its situations; no margins, so that a grid can give the answer."""
    setup = outcomes.settings_of("fopdt")
    setup = replace(setup, sets=setup.sets | {"taught": setup.sets["taught"][:1]}, limits=None)
    return Workshop(setup, ("effort", "entropy_plant"), 400, 2)


def test_the_search_finds_what_a_grid_finds(shop):
    """Least effort within 1.3 times the least IAE: not worse than the best of 20^3 gain sets, and within the budget."""
    least = shop.cheapest("iae", np.inf)
    low, high = shop.setup.low, shop.setup.high
    axes = [np.linspace(a, b, 20) for a, b in zip(low, high, strict=True)]
    means, lost = shop.quality(np.array(np.meshgrid(*axes)).reshape(3, -1).T)
    assert least.error <= means["iae"][lost == 0.0].min() * (1.0 + 1e-3)
    budget = 1.3 * least.error
    found = shop.cheapest("effort", budget, least.gains)
    allowed = (lost == 0.0) & (means["iae"] <= budget)
    assert found.error <= budget * (1.0 + 1e-4)
    assert found.value <= means["effort"][allowed].min() * (1.0 + 1e-3)
    assert found.value < float(shop.quality(least.gains)[0]["effort"][0])
    assert found.evaluations <= 2 * 400


@pytest.mark.slow
def test_a_small_test_runs_as_a_command(tmp_path, capsys):
    words = [
        "suite=entropy",
        "plants=dc_motor",
        "evaluations=40",
        "search_seeds=1",
        "verdict_seeds=2",
        f"folder={tmp_path}",
    ]
    benchmark.main(words)
    assert "Wanted: 20 % less" in capsys.readouterr().out
    text = (tmp_path / "entropy.md").read_text(encoding="utf-8")
    assert "**Not as declared: plants=dc_motor, evaluations=40, search_seeds=1, verdict_seeds=2.**" in text
