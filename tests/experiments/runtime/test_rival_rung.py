"""Laws of the plant's own field stand in the ladder of a design, tuned and judged like the others."""

import json
from pathlib import Path

import numpy as np

from experiments import cli
from experiments.pipeline.judged_rollouts import recommendable
from experiments.runtime import formats
from tests.experiments.front import smallest

FILE = """
from dataclasses import replace
import plants
from plants import Quantity, Rival

STIFF = Rival("stiff", "proportional feedback", "for tests", (Quantity("k", "1", 1.0, 0.0, 4.0),),
              lambda t, x, constants, p: (-constants[0] * x[0],))
PLANT = replace(plants.get("fopdt"), name="with_rival", rivals=(STIFF,))
"""


def test_a_design_tunes_and_judges_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE)
    cli.main(
        ["design", "plant_file=mine.py", *smallest.words(plant="with_rival", output="run", **{"ladder.further": []})]
    )
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
