"""What the tests of the commands share."""

from dataclasses import replace

import pytest

from controllers import PID, pid_form
from experiments import cli
from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from tests.experiments import finished_run

OVERRIDES = ["plant=van_der_pol", "controller.own_gains=[2,0.5,1]"]
"""Of the finished run."""


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """Where the finished run is."""
    return tmp_path_factory.mktemp("run") / "one"


@pytest.fixture(scope="session")
def run(place):
    """A finished run that tests of its report and of its stages only read."""
    return finished_run.stored(place, overrides=OVERRIDES)


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Be in a folder of the test's own, where runs land; return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def knowledge_base():
    """A knowledge base of the Van der Pol oscillator that only lets kp grow with the error."""
    variables = (
        Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0)),
        Variable("e_rate", "m/s", -4.0, 4.0, (-4.0, 0.0, 4.0)),
    )
    reference = (4.0, 0.5, 3.0)
    rules = [
        replace(rule, gains=(4.0 + 2.0 * abs(rule.terms[0] - 1), 0.5, 3.0))
        for rule in full_grid([3, 3], reference)
    ]  # fmt: skip
    law = pid_form.describe(PID(sample_time=0.02))
    base = RuleBase("position", variables, tuple(rules), (0.0,) * 3, (10.0,) * 3, reference, law=law)
    return KnowledgeBase(
        "van_der_pol", (base,), Inference(), tick=0.04, plant_parameters={"mu": 1.0},
        fitness={"entropy_weight": 0.15}, valid_range={"delay": [0.0, 0.0]},
    )  # fmt: skip


@pytest.fixture
def kb_file(knowledge_base, tmp_path):
    """Its file."""
    file = tmp_path / "knowledge_base.json"
    knowledge_base.save(file)
    return file


@pytest.fixture
def refused(capsys, own_folder):
    """Run a command line that must end with exit code 2, no traceback and no new folder; return what it says of the error."""

    def run(*words):
        before = sorted(own_folder.iterdir())
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main(list(map(str, words)))
        assert stop.value.code == 2
        out, error = capsys.readouterr()
        assert "Traceback" not in out + error
        assert sorted(own_folder.iterdir()) == before
        return error

    return run
