"""The plant file of a stored run: found beside the knowledge base, executed only where it is what the run executed."""

import shutil
from pathlib import Path

import pytest

from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from experiments.starting.plant_choice import find_plant, load, stored_plant_file, stored_step
from plants.core import registry

pytestmark = pytest.mark.usefixtures("own_folder")

PLANT = """
import plants

plants.register(plants.Plant("kept_tank", (plants.Quantity("level", "m"),), derivative=lambda t, x, u, w, p: (-x[0],)))
"""


class Evaluation:
    """What `find_plant` reads of the settings of `sscq evaluate`."""

    plant = plant_file = step = None
    quiet = True

    def __init__(self, kb):
        self.kb = kb


@pytest.fixture
def kb(tmp_path, monkeypatch):
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "cache"))
    Path("tank.py").write_text(PLANT)
    known = registry.snapshot()
    load("tank.py", quiet=True)  # as the run did, in a process of its own
    registry.restore(known)
    RunFolder.create("run", command="design", config={"plant_file": "tank.py"}, inputs=["tank.py"]).close()
    return "run/knowledge_base.json"


def test_the_file_that_the_run_was_started_with_is_executed_and_named_in_a_line(kb, capsys):
    config = Evaluation(kb)
    find_plant(config, typed=True)
    assert config.plant_file == "tank.py"
    assert capsys.readouterr().err == "executing tank.py (the plant file of the run run; a plant file is Python code)\n"


def test_where_it_has_changed_or_gone_the_copy_of_the_run_is(kb):
    Path("tank.py").write_text("raise SystemExit('not this one')")
    assert stored_plant_file(kb) == "run/inputs/0-tank.py"
    Path("tank.py").unlink()
    assert stored_plant_file(kb) == "run/inputs/0-tank.py"


def test_what_the_run_has_not_executed_is_not_executed(kb):
    Path("tank.py").unlink()
    Path("run/inputs/0-tank.py").write_text("raise SystemExit('changed')")
    with pytest.raises(UserError, match="have changed or are gone; name the file by plant_file=FILE"):
        stored_plant_file(kb)


def test_a_file_that_is_named_counts_and_a_knowledge_base_alone_names_none(kb, capsys):
    Path("other.py").write_text(PLANT)
    config = Evaluation(kb)
    config.plant_file = "other.py"
    find_plant(config, typed=True)
    assert config.plant_file == "other.py"
    shutil.copytree("run/inputs", "elsewhere")
    assert stored_plant_file("elsewhere/knowledge_base.json") is None
    assert stored_plant_file(None) is None
    assert capsys.readouterr().err == ""


def test_the_step_is_that_of_the_design_unless_another_is_given(kb):
    kept = {"plant_file": "tank.py", "step": 0.0002}
    RunFolder.create("refined", command="design", config=kept, inputs=["tank.py"]).close()
    for given, expected in ((None, 0.0002), (0.005, 0.005)):
        config = Evaluation("refined/knowledge_base.json")
        config.plant, config.step = "kept_tank", given
        find_plant(config, typed=True)
        assert config.step == expected
    assert stored_step("refined/knowledge_base.json") == 0.0002
    assert stored_step(kb) is stored_step("elsewhere/knowledge_base.json") is stored_step(None) is None
