"""Laws of the plant's own field stand in the ladder of a design, tuned and judged like the others."""

import json
from pathlib import Path

import numpy as np

from experiments import cli
from experiments.pipeline.judged_rollouts import recommendable
from experiments.runtime import formats

FILE = """
from dataclasses import replace
import plants
from plants import Quantity, Rival

STIFF = Rival("stiff", "proportional feedback", "for tests", (Quantity("k", "N/m", 1.0, 0.0, 20.0),),
              lambda t, x, constants, p: (-constants[0] * x[0] - 2.0 * x[1],))
PLANT = replace(plants.get("van_der_pol"), name="with_rival", rivals=(STIFF,))
"""


def test_a_design_tunes_and_judges_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE)
    cli.main(["design", "plant_file=mine.py", "plant=with_rival", "budget.evaluations=60", "network.inputs=[e,e_rate]", "budget.verdict_seeds=2",
              "budget.teacher_generations=1", "teacher.window=2", "teacher.horizon=4",
              "draws={taught: 0, validation: 0, verdict: 40}", "assurance={certificate: false, worst_evaluations: 20, map_points: 0}",
              "output=run", "quiet=true"])  # fmt: skip
    shown = capsys.readouterr().out
    assert "proportional feedback" in shown
    assert "Laws of the plant's own field" in shown
    metrics = json.loads(Path("run/metrics.json").read_text())
    assert "rival_stiff" in json.dumps(metrics)
    assert Path("run/stages/rival_stiff").is_dir()
    drawn = formats.read_npz(next(Path("run").rglob("responses.npz")))  # constants are no commands: nothing to draw
    assert np.isnan(drawn["rival_stiff.0.command"]).all()
    assert np.isfinite(drawn["fixed.0.command"]).all()


def test_they_may_be_recommended_after_the_fixed_pid():
    names = ["knowledge_base", "rival_a", "lqi", "fixed", "table"]
    assert recommendable(names) == ("fixed", "rival_a", "table", "knowledge_base")
