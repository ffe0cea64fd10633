"""A loop that MuJoCo simulates: from its log to gains, and whether what they promise comes true in MuJoCo."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from experiments import cli

pytest.importorskip("mujoco")
EXAMPLE = Path(__file__).parents[3] / "docs/examples/winch_log.py"


def error(winch, gains, scenario):
    """Integral of the error without noise in the scenario, from rest, in MuJoCo."""
    n, rows = round(scenario["horizon"]), winch["ROWS"]
    height = winch["SPEEDS"][0][1]
    pull = np.where(np.arange(rows) >= n // 2, 0.02 * scenario["load"], 0.0)  # 0.02 N m a per cent
    run = np.array(winch["logged"](*gains, speeds=((0, height), (1, height + scenario["set_point"])), pull=pull))
    noise = winch["NOISE"] * np.random.default_rng(0).standard_normal(rows)
    return np.abs(run[:, 1] - (run[:, 2] - noise))[:n].sum()


def test_what_a_sheet_promises_comes_true_in_another_simulator(tmp_path, monkeypatch, capsys):
    winch = runpy.run_path(str(EXAMPLE))
    monkeypatch.chdir(tmp_path)
    winch["write"]("before.csv", winch["logged"](*winch["PRESENT"]))
    cli.main(["commission", "before.csv", "--present", "4,0.1", "--output", "sheet", "--quiet"])
    sheet = json.loads(Path("sheet/commissioning.json").read_text(encoding="utf-8"))
    assert sheet["status"] == "advised"
    gains = (sheet["controller"]["kp"], sheet["controller"]["ki"])
    before, after = (error(winch, each, sheet["scenario"]) for each in (winch["PRESENT"], gains))
    assert sheet["improvement"]["low"] < 1.0 - after / before < sheet["improvement"]["high"]
    winch["write"]("after.csv", winch["logged"](*gains, seed=1))
    capsys.readouterr()
    cli.main(["verify", "after.csv", "--sheet", "sheet", "--before", "before.csv"])
    assert "the plants of the sheet still explain the loop" in capsys.readouterr().out
