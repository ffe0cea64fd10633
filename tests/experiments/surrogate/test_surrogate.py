"""Designing for slow plants through fitted models: the fits, the rounds, the command."""

import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import PID, pid_form
from experiments import cli
from experiments.runtime.errors import UserError
from experiments.surrogate import grey_fit, linear_fit, models
from experiments.surrogate.command import declaration
from experiments.surrogate.rounds import Plan, Rounds
from experiments.surrogate.runs import Run, SlowRuns
from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from plants.adapters.stepped import stepped
from plants.linear import linear_plant
from sscq.loop.slow import crew

STEP = 0.05


def lag(name, late=0, damping=0.4, gain=2.0, start=0.3):
    """A second-order lag about an output of 1, with inputs that arrive late, starting away from rest."""
    natural = 3.0
    return linear_plant(
        name, [[0.0, 1.0], [-natural**2, -2.0 * damping * natural]], [[0.0], [gain * natural**2]], [[1.0, 0.0]],
        inputs=(plants.Quantity("u", "V"),), measurements=(plants.Quantity("y", "m"),), offset=(1.0,), initial=(start, 0.0),
        channels=(plants.Channel("y", low=-2.0, high=2.0, collocated=False),), dead_time=late * STEP, step=STEP,
    )  # fmt: skip


def seen_runs(plant, count=3, n=160):
    rng, found = np.random.default_rng(0), []
    late = round(plant.nominal()[0] / STEP) if plant.input_delay else 0
    for _ in range(count):
        u = np.repeat(rng.uniform(-1.0, 1.0, (n // 10, 1)), 10, axis=0)
        shifted = np.vstack([np.zeros((late, 1)), u])[:n]
        x = plants.simulate(replace(plant, input_delay=None), n * STEP, STEP / 5, inputs=np.repeat(shifted, 5, axis=0))
        found.append(Run(u, x.outputs[::5]))
    return found


@pytest.mark.parametrize("late", [0, 3])
def test_linear_fit_finds_poles_gain_rest_and_dead_time(late):
    """The runs are exact but for the integrator's error of 1e-7 of the outputs; orders 1 and 3 are tried as well."""
    found = linear_fit.fit(seen_runs(lag("known", late)), np.zeros(1), STEP)
    assert (found.order, found.late) == (2, late)
    assert found.error < 1e-5
    np.testing.assert_allclose(np.poly(found.A).real, [1.0, 2.4, 9.0], rtol=1e-3)
    assert (found.C @ np.linalg.solve(-found.A, found.B))[0, 0] == pytest.approx(2.0, rel=1e-4)
    np.testing.assert_allclose(found.offset, 1.0, rtol=1e-4)
    np.testing.assert_allclose(found.C @ found.initial, 0.3, rtol=1e-3)


def test_linear_fit_finds_an_integrator():
    runs = [
        Run(run.inputs, np.vstack([np.zeros(1), np.cumsum(run.inputs, axis=0) * STEP])) for run in seen_runs(lag("any"))
    ]
    found = linear_fit.fit(runs, np.zeros(1), STEP)
    assert found.order == 1
    assert abs(found.A[0, 0]) < 1e-4
    assert found.B[0, 0] == pytest.approx(1.0, rel=1e-3)


def test_small_moves_count_as_much_as_large_ones():
    """One run of large moves with gain 1, three of small ones with gain 2.

    Shares of each run's own moves are least where (g - 1) + 3 (g - 2) / 4 = 0, at g = 1.43; that the inputs of the runs
    differ moves it by a few hundredths. Without the weights it would be 1.1.
    """
    one, two = (seen_runs(lag(f"gain_{gain:g}", gain=gain, start=0.0), 4) for gain in (1.0, 2.0))
    small = [Run(0.1 * run.inputs, 1.0 + 0.1 * (run.outputs - 1.0)) for run in two[1:]]
    found = linear_fit.fit([one[0], *small], np.zeros(1), STEP, highest=2)
    assert (found.C @ np.linalg.solve(-found.A, found.B))[0, 0] == pytest.approx(1.43, abs=0.1)


def test_linear_fit_needs_samples():
    with pytest.raises(ValueError, match="too few samples"):
        linear_fit.fit([Run(np.zeros((3, 1)), np.zeros((4, 1)))], np.zeros(1), STEP)


def test_model_file_gives_the_same_plant(tmp_path):
    like = lag("like", 3)
    fit = linear_fit.fit(seen_runs(like), np.zeros(1), STEP)
    plant, text = models.linear("like_model", fit, like, STEP)
    file = tmp_path / "model.py"
    file.write_text(text)
    (loaded,) = plants.load_plant_file(file)
    assert loaded.derivative(0.0, (0.1, 0.2), (0.3,), (), ()) == plant.derivative(0.0, (0.1, 0.2), (0.3,), (), ())
    assert (loaded.parameters, loaded.channels, loaded.states) == (plant.parameters, plant.channels, plant.states)
    assert loaded.nominal() == (3 * STEP,)
    (channel,) = loaded.channels  # sized by gain 2 and the slowest mode's time constant 1 / 1.2
    np.testing.assert_allclose(channel.gains_high, (5.0, 6.0, 1.25), rtol=0.05)  # to two digits
    opposite = models.linear("opposite", replace(fit, B=-fit.B), like, STEP)[0].channels[0]
    assert opposite.gains_high == (0.0, 0.0, 0.0)
    assert opposite.opposed


def test_grey_fit_finds_parameters():
    plant = plants.get("van_der_pol")
    true, rng = {"mu": 0.4}, np.random.default_rng(1)
    runs = []
    for _ in range(2):
        u = np.repeat(rng.uniform(-2.0, 2.0, (20, 1)), 10, axis=0)
        runs.append(Run(u, plants.simulate(plant, 2.0, 0.01, parameters=true, inputs=u).outputs))
    found = grey_fit.fit(plant, ["mu"], runs, plant, 0.01)
    assert found.values["mu"] == pytest.approx(0.4, rel=1e-5)
    assert found.error < 1e-5
    _, text = models.grey("fitted_oscillator", found)
    assert repr(found.values) in text
    with pytest.raises(UserError, match="which parameters"):
        grey_fit.check(plant, [], plant)
    with pytest.raises(UserError, match="must have the outputs"):
        grey_fit.check(plant, ["mu"], lag("other"))


# -------------------------------------------------------------------------------------------------------- runs and rounds


def hardening():
    """A lag whose spring hardens: no linear model holds for large and for small moves."""
    q = plants.Quantity
    return plants.Plant(
        "hardening", (q("y", "m", 0.0, -5.0, 5.0), q("v", "m/s")), inputs=(q("u", "N"),), step=STEP,
        channels=(plants.Channel("y", scale=0.3, low=-8.0, high=8.0),),
        derivative=lambda t, x, u, w, p: (x[1], u[0] - x[0] - 2.0 * x[0] ** 3 - 1.5 * x[1]),
    )  # fmt: skip


def constant_base(plant, file, _folder):
    """In the place of a search: fixed gains that hold the plant, as a knowledge base whose rules all say the same."""
    (plant,) = plants.load_plant_file(file)
    variables = tuple(Variable(name, "m", -1.0, 1.0, (-1.0, 1.0)) for name in ("e", "e_rate"))
    law, gains = pid_form.describe(PID(sample_time=STEP)), (3.0, 2.0, 0.5)
    rules = tuple(full_grid([2, 2], gains))
    base = RuleBase(plant.channels[0].output, variables, rules, (0.0,) * 3, (10.0,) * 3, gains, law=law)
    return KnowledgeBase(plant.name, (base,), Inference(), tick=STEP, fitness={"entropy_weight": 0.15})


@pytest.fixture
def slow():
    plant = plants.register(hardening(), replace=True)
    return stepped(plant)


def plan(**changes):
    given = Plan(None, (), 2, 10.0, 3, 0.01, 0)
    return replace(given, **changes)


def test_runs_are_counted_and_limited(slow):
    with closing(crew(slow, 0)) as members:
        runs = SlowRuns(slow, members, STEP, 7)
        found = runs.experiments(6, 5.0, 0)
        assert (runs.used, runs.left) == (6, 1)
        assert {run.inputs.shape for run in found} == {(100, 1)}
        assert max(np.abs(run.inputs).max() for run in found) <= 8.0
        again = SlowRuns(slow, members, STEP, 7).experiments(6, 5.0, 0)
        assert all(np.array_equal(a.outputs, b.outputs) for a, b in zip(found, again, strict=True))
        with pytest.raises(UserError, match="1 of 7 are left"):
            runs.experiments(2, 5.0, 0)
        unlimited = replace(slow, plant=replace(slow.plant, channels=(plants.Channel("y"),)))
        with pytest.raises(UserError, match="finite command limits"):
            SlowRuns(unlimited, members, STEP, 7).experiments(1, 5.0, 0)


def test_rounds_learn_from_what_differed(slow, tmp_path):
    """The first model is that of large moves; closed-loop runs teach it the small ones that the task consists of."""
    told, kept = [], []
    with closing(crew(slow, 0)) as members:
        runs = SlowRuns(slow, members, STEP, 200)
        keep = lambda done: kept.append(len(done))  # noqa: E731
        done = Rounds(runs, plan(rounds=2, horizon=5.0), tmp_path, constant_base, told.append, keep).run()
    assert len(done) > 1
    assert kept == list(range(1, len(done) + 1))  # each round is written when it ends
    assert done[1].difference < done[0].difference
    assert done[-1].runs == runs.used <= 200
    assert all(len(one.slow) == len(one.fast) == len(one.situations) for one in done)
    assert len(told) >= len(done)
    assert (tmp_path / "hardening_model_2.py").is_file()


def test_rounds_end_where_model_and_plant_agree(tmp_path):
    plant = plants.register(hardening(), replace=True)
    soft = replace(plant, name="soft", derivative=lambda t, x, u, w, p: (x[1], u[0] - x[0] - 1.5 * x[1]))
    slow = stepped(plants.register(soft, replace=True))
    with closing(crew(slow, 0)) as members:
        done = Rounds(SlowRuns(slow, members, STEP, 200), plan(), tmp_path, constant_base, lambda _: None).run()
    assert len(done) == 1
    assert done[0].difference < 0.01
    np.testing.assert_allclose(done[0].slow, done[0].reference, rtol=1e-9)  # its rules say the reference gains


# ------------------------------------------------------------------------------------------------------------ the command


def test_declaration_is_read_and_checked(tmp_path):
    file = tmp_path / "unit.json"
    file.write_text('{"channels": [{"output": "y"}], "substeps": 2}')
    assert declaration(str(file)).substeps == 2
    file.write_text('{"chanels": []}')
    with pytest.raises(ValueError, match=r"unit\.json: .* did you mean 'channels'"):
        declaration(str(file))
    file.write_text("[1]")
    with pytest.raises(ValueError, match=r"unit\.json is damaged: Expected `object`, got `array`"):
        declaration(str(file))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give a functional mock-up unit"),
        (["none.fmu"], "there is no file"),
        (["--plant", "van_der_pol", "--fit", "mu"], "--fit needs --model"),
        (["--plant", "van_der_pol", "--runs", "0"], "--runs must be"),
        (["--plant", "van_der_pol", "--set", "budget"], "expected settings"),
        (["--plant", "fopdt"], "dead time or an allocation"),
        (["--plant", "van_der_pol", "--set", "budgt=small"], "did you mean 'budget'"),
        (["--plant", "van_der_pol", "--set", "budget.evaluations=-1"], "budget.evaluations must be"),
    ],
)
def test_command_refuses(words, told, tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["surrogate", *words, "--output", str(tmp_path / "new")])
    assert told in capsys.readouterr().err
    assert not (tmp_path / "new").exists()  # no slow run was spent


@pytest.mark.slow
def test_command_designs_for_a_slow_plant(tmp_path, capsys):
    """From the command line to a knowledge base that holds the slow plant; the model's parameter is found."""
    out = tmp_path / "new"
    cli.main([
        "surrogate", "--plant", "van_der_pol", "--model", "van_der_pol", "--fit", "mu", "--horizon", "3",
        "--output", str(out), "--set", "budget=small", "budget.evaluations=300", "network.inputs=[e,e_rate]", "budget.teacher_generations=1",
        "budget.verdict_seeds=2",
    ])  # fmt: skip
    stored = json.loads((out / "surrogate.json").read_text())
    assert stored["rounds"][-1]["difference"] < 0.1
    assert stored["rounds"][-1]["runs"] <= 200
    assert (out / "design_1" / "knowledge_base.json").is_file()
    assert "mean |error|" in capsys.readouterr().out
