"""A pendulum on a cart in MuJoCo, designed for from the command line; slow plants that stand in plant files."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plants
from experiments import cli
from experiments.surrogate import grey_fit
from experiments.surrogate.runs import Run

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docs" / "examples" / "mujoco_cart.py"
SLOW = """
import plants
from plants.adapters.stepped import stepped
{name} = stepped(plants.get("van_der_pol"))
"""
QUICK = """
from dataclasses import replace
import plants
plants.register(replace(plants.get("van_der_pol"), name="quick"))
"""


def test_a_plant_file_may_give_a_slow_plant(tmp_path):
    file = tmp_path / "slow_one.py"
    file.write_text(SLOW.format(name="SLOW"))
    assert plants.load_plant_file(file) == ()
    (found,) = plants.slow_plants(file)
    assert found.name == "van_der_pol"


@pytest.mark.parametrize(("text", "told"), [
    (QUICK, "must have one slow plant at module level, it has 0"),
    (SLOW.format(name="ONE") + SLOW.format(name="TWO"), "it has 2"),
])  # fmt: skip
def test_a_file_without_one_slow_plant_is_refused(tmp_path, capsys, text, told):
    file = tmp_path / "refused.py"
    file.write_text(text)
    with pytest.raises(SystemExit):
        cli.main(["surrogate", "--plant-file", str(file), "--output", str(tmp_path / "out")])
    assert told in capsys.readouterr().err


def test_something_to_design_for_must_be_given(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["surrogate", "--output", str(tmp_path / "out")])
    assert "--plant-file that has a slow plant" in capsys.readouterr().err


def test_parameters_of_an_unstable_plant_are_found_from_runs_that_leave_its_region():
    plant, step, inputs = plants.get("cart_pole"), 0.01, np.zeros((200, 1))
    wide = replace(plant, states=tuple(replace(q, low=-np.inf, high=np.inf) for q in plant.states))
    seen = plants.simulate(wide, 2.0, step, parameters={"half_length": 0.6}, inputs=inputs).outputs
    last = int(np.argmax(np.abs(seen[:, 1]) >= 1.2))
    assert 0 < last < 200  # the pole falls out of the region
    run = Run(inputs[: last - 1], seen[:last])
    found = grey_fit.fit(plant, ("half_length",), [run], plant, step)
    # Nothing disturbs the run: what is left is where the least squares stop.
    assert found.values["half_length"] == pytest.approx(0.6, rel=1e-6)
    assert found.plant.states == plant.states


@pytest.mark.slow
def test_a_pendulum_on_a_cart_in_mujoco_is_designed_for(tmp_path):
    pytest.importorskip("mujoco", reason="mujoco is not installed (extra: adapters)")
    folder = tmp_path / "run"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a small budget's own advice
        cli.main([
            "surrogate", "--plant-file", str(FILE), "--model", "cart_and_pole_model", "--fit", "cart,pole", "--horizon",
            "4", "--set", "budget.evaluations=300", "network.inputs=[e,e_rate]", "budget.teacher_generations=1", "budget.verdict_seeds=2", "--output",
            str(folder),
        ])  # fmt: skip
    last = json.loads((folder / "surrogate.json").read_text())["rounds"][-1]
    assert (
        "cart = 1.4, pole = 0.15" in last["model"]
    )  # what stands in the file of the model, and the plant does not know
    assert last["runs"] <= 200
    assert last["difference"] < 0.01
    assert max(last["slow"]) < 0.5
    assert (folder / last["folder"] / "knowledge_base.json").is_file()
