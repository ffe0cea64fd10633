"""The reactors' comparison: its recipes, its words, its tables; slowly, recipes designed and judged."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from scipy.integrate import solve_ivp

import plants
from configs import FOLDER, rules, store
from experiments.pipeline.judged_rollouts import MEASURES
from experiments.runtime.errors import UserError
from experiments.settings import setup
from experiments.studies import reactors as comparison
from plants.core.analysis.equilibrium import Equilibria
from sscq.verdict.comparison import Sample, compare


def configured(recipe):
    store.register()
    with initialize_config_dir(version_base="1.3", config_dir=str(FOLDER)):
        config = OmegaConf.to_object(compose("design", overrides=[f"experiment={recipe}"]))
    rules.check(config)
    return config


# --------------------------------------------------------------------------------------------------------- recipes


@pytest.mark.parametrize("recipe", list(comparison.RECIPES))
def test_recipes_keep_taught_validation_and_unforeseen_apart(recipe):
    """No situation of a later set is one that was taught: names, seeds and what happens all differ."""
    job = setup(configured(recipe))
    several = [s for group in job.sets.values() for s in group]
    assert len({s.name for s in several}) == len({s.seed for s in several}) == len(several)
    happens = [(repr(s.reference), repr(s.excitation), repr(s.parameters), repr(s.initial), s.delay) for s in several]
    assert len(set(happens)) == len(several)
    assert {len(job.sets[kind]) for kind in job.sets} == {len(job.sets["taught"]), 2, 6}
    assert all(s.parameters is None for s in job.sets["taught"])
    assert sum(s.parameters is not None for s in job.sets["unforeseen"]) >= 2


def test_steps_begin_at_rest():
    """The states in the recipes are steady states of the reactor, to the digits in which they are given."""
    for recipe, digits in (("cstr_steps", 0.06), ("cstr_smooth", 0.06), ("cstr_dimensionless", 1e-5)):
        job = setup(configured(recipe))
        equilibria = Equilibria(job.plant)
        for s in (s for group in job.sets.values() for s in group if s.initial is not None):
            rest = equilibria.at([s.initial[1]]).state
            np.testing.assert_allclose(s.initial, rest, rtol=0.0, atol=digits)


def test_smooth_references_move_and_steps_stand_still():
    for recipe, moves in (("cstr_steps", False), ("cstr_smooth", True)):
        job = setup(configured(recipe))
        for group in job.sets.values():
            for s in group:
                signal = s.references(job.plant)[0]
                heights = [signal.at(t) for t in np.linspace(0.0, s.t_end, 50)]
                assert (np.ptp(heights) > 1.0) == moves
                assert max(np.abs(np.diff(heights))) < 6.0  # K in 16 s: none of them jumps


# ----------------------------------------------------------------------------------------------------------- words


def test_words_are_its_own_or_the_designs():
    chosen = comparison.options(["cstr_smooth", "seeds=1", "folder=x", "network.terms=3"])
    assert (chosen.recipes, chosen.seeds, str(chosen.folder)) == (("cstr_smooth",), (0,), "x")
    assert chosen.overrides == ("budget=small", "network.terms=3")
    assert comparison.options(["budget=large"]).overrides == ("budget=large",)
    assert comparison.options([]).recipes == tuple(comparison.RECIPES)


@pytest.mark.parametrize(
    ("word", "message"),
    [("cstr_step", "did you mean 'cstr_steps'"), ("seed=4", "study's own affair"), ("seeds=no", "got 'no'")],
)
def test_wrong_words_are_refused(word, message):
    with pytest.raises(UserError, match=message):
        comparison.options([word])


def test_a_finished_design_is_not_repeated_and_other_words_are_refused(tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr("experiments.design.main", called.append)
    record = {"overrides": ["experiment=cstr_steps", "seed=0", "budget=small"]}
    monkeypatch.setattr("experiments.studies.engine.series.read_record", lambda _: record)
    seen = []
    monkeypatch.setattr(comparison, "require_declared", lambda *given: seen.append(given))
    chosen = comparison.ReactorOptions(("cstr_steps",), tmp_path, (0,), ("budget=small",))
    folder = tmp_path / "cstr_steps-0"
    comparison.run("cstr_steps", 0, chosen)
    folder.mkdir()
    (folder / "config.json").touch()
    comparison.run("cstr_steps", 0, chosen)
    (folder / "metrics.json").touch()
    assert comparison.run("cstr_steps", 0, chosen) == folder
    assert called == [
        ["experiment=cstr_steps", "seed=0", "budget=small", f"output={folder}", "quiet=true"],
        [f"resume={folder}", "quiet=true"],
    ]
    with pytest.raises(UserError, match="was made with budget=small; choose another folder="):
        comparison.run("cstr_steps", 0, comparison.ReactorOptions(("cstr_steps",), tmp_path, (0,), ("budget=large",)))
    assert set(seen) == {("cstr_steps", folder)}
    assert len(seen) == 6  # each design when it is done, those that are there before anything is done with them, too


# ---------------------------------------------------------------------------------------------------------- tables


def controller(title, fitness, failures=0, overshoot=0.1):
    measures = {"iae": 2.0, "overshoot": overshoot, "settling_time": 3.0, "total_variation": 40.0}
    both = {"taught": fitness, "unforeseen": 2.0 * fitness}
    return {
        "title": title, "fitness": both, "measures": {"taught": measures, "unforeseen": measures},
        "failures": {"taught": 0, "unforeseen": failures},
    }  # fmt: skip


@pytest.fixture
def designs(tmp_path, monkeypatch):
    """Two designs: a table that is a tenth better than the fixed PID and a knowledge base that is a fifth worse."""
    rng = np.random.default_rng(0)
    base = Sample(rng.uniform(1.0, 2.0, (6, 3)), np.ones((6, 3)), np.zeros((6, 3), bool))
    others = {"table": 0.9, "knowledge_base": 1.2}
    several = {n: Sample(f * base.fitness, base.travel, base.failed) for n, f in others.items()} | {"fixed": base}

    comparisons = {n: compare(several[n], base) for n in others}
    pooled = SimpleNamespace(
        comparisons=comparisons, baseline="fixed", recommended=lambda: "gain table (2 of 2)",
        kinds={"unforeseen": SimpleNamespace(samples=several, comparisons=comparisons)},
    )  # fmt: skip
    monkeypatch.setattr(comparison, "pool", lambda _: pooled)
    folders = []
    for k in range(2):
        folders.append(tmp_path / str(k))
        (folders[-1] / "stages" / "judgement").mkdir(parents=True)
        controllers = {
            "fixed": controller("fixed PID", 1.0 + k),
            "table": controller(f"gain table over {'ab'[k]}", 0.9, overshoot=None if k else 0.3),
            "knowledge_base": controller("knowledge base", 1.2, failures=k),
        }
        metrics = {"controllers": controllers, "sentence": f"Verdict {k}."}
        metrics |= {"rules": {"equal": 1, "free": 4}} if k else {}
        (folders[-1] / "metrics.json").write_text(json.dumps(metrics))
        table = np.full((len(MEASURES), 1, 3), np.nan)
        for name, values in (("overshoot", (0.1, 0.2, 0.0)), ("settling_time", (1, 2, 3)), ("iae", (3, 2, 1))):
            table[MEASURES.index(name), 0] = np.array(values) * (1 + k)
        np.savez(folders[-1] / "stages" / "judgement" / "quality.npz", **{"fixed.taught": table})
    return folders


def test_the_ladder_marks_losses_and_averages_the_designs(designs):
    lines = comparison.ladder(designs, steps=True)
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}
    assert list(rows) == ["controller", "fixed PID", "best gain table", "knowledge base"]
    assert rows["fixed PID"].startswith("| fixed PID | 1.5 | 3 |  |  |  | 2 / 2 | 10 % / 10 % | 3 / 3 | 40 / 40 | 0 |")
    assert "-10.0 % [-10.0, -10.0] | -10.0 %" in rows["best gain table"]
    assert "30 % / 30 %" in rows["best gain table"]  # the other design has none
    assert "+20.0 % [+20.0, +20.0] **loss** | +20.0 %" in rows["knowledge base"]
    assert rows["knowledge base"].endswith("| 1 |")
    assert lines[-3:] == [
        "- Design 0: Verdict 0.",
        "- Design 1: Verdict 1. Rules left: 1 at equal travel, 4 at free travel.",
        "- Recommended: gain table (2 of 2).",
    ]


def test_lost_situations_are_left_out_beside_the_mean():
    """Where one of two is lost with one seed: what is left is a tenth better, though the mean hardly moves."""
    rng = np.random.default_rng(1)
    lost = np.zeros((6, 3), bool)
    lost[2, 1] = True
    base = Sample(rng.uniform(1.0, 2.0, (6, 3)), np.ones((6, 3)), np.zeros((6, 3), bool))
    other = Sample(np.where(lost, 900.0, 0.9 * base.fitness), base.travel, lost)
    dead = Sample(base.fitness, base.travel, np.ones((6, 3), bool))
    samples = {"fixed": base, "table": other, "open_loop": dead, "same": base}
    names = dict.fromkeys(["table", "open_loop", "same"])
    judged = SimpleNamespace(samples=samples, comparisons=names)
    pooled = SimpleNamespace(kinds={"unforeseen": judged}, baseline="fixed")
    assert comparison._alive(pooled, "table") == "-10.0 % [-10.0, -10.0]"
    assert [comparison._alive(pooled, n) for n in ("open_loop", "same", "fixed")] == ["-", "", ""]
    samples["table"] = Sample(1.2 * base.fitness, base.travel, lost)
    assert comparison._alive(pooled, "table") == "+20.0 % [+20.0, +20.0] **loss**"


def test_moving_references_have_no_overshoot(designs):
    row = next(line for line in comparison.ladder(designs, steps=False) if line.startswith("| fixed PID"))
    assert row.endswith("| 2 / 2 | - | - | 40 / 40 | 0 |")


def test_full_coolant_against_an_adaptive_integrator():
    """The event is found by SciPy's DOP853; ours is the first step of 0.002 beyond it, a left sum up to there."""
    plant = plants.get("cstr_dimensionless")
    start, goal, limit = 0.886, 2.752, 4.0

    def rate(t, y):
        return (*plant.derivative(t, tuple(y[:2]), (limit,), (0.0,), plant.nominal()), abs(goal - y[1]))

    def reached(t, y):
        return y[1] - goal

    reached.terminal = True
    exact = solve_ivp(
        rate, (0.0, 10.0), (*Equilibria(plant).at([start]).state, 0.0), "DOP853", events=reached, rtol=1e-10, atol=1e-12
    )
    time, iae = comparison.full_coolant(start, goal, limit)
    assert 0.0 <= time - exact.t[-1] <= 0.002
    assert iae == pytest.approx(exact.y[2, -1], abs=0.002 * (goal - start))  # a left sum errs by h/2 (first - last)
    assert comparison.full_coolant(start, goal, 0.1) == (np.inf, np.inf)


@pytest.mark.slow
def test_recipes_are_designed_and_judged(tmp_path, capsys):
    words = [f"folder={tmp_path}", "seeds=1", "budget.evaluations=60", "network.inputs=[e,e_rate]", "budget.teacher_generations=1",
             "budget.verdict_seeds=2"]  # fmt: skip
    for recipe in comparison.RECIPES:
        comparison.main([recipe, *words])
        text = capsys.readouterr().out
        assert comparison.RECIPES[recipe] in text
        assert "best gain table" in text
        assert "Design 0: " in text
        assert ("What the coolant can do at most" in text) == (recipe == "cstr_dimensionless")
