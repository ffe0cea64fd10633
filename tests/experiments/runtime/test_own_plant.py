"""A user's own plant: the example of the manual is checked and designed for without touching the packages."""

import ast
from pathlib import Path

import pytest

from experiments import cli
from experiments.runtime.run_folder import read_record

pytestmark = pytest.mark.usefixtures("own_folder")

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "pendulum.py"


def test_the_example_is_some_twenty_lines():
    lines = EXAMPLE.read_text().splitlines()
    words = {line for node in ast.walk(ast.parse("\n".join(lines)))
             if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
             for line in range(node.lineno, node.end_lineno + 1)}  # fmt: skip
    assert len([line for k, line in enumerate(lines, 1) if line.strip() and k not in words]) <= 25


def test_the_example_keeps_its_contract_and_says_its_step(capsys):
    cli.main(["check", str(EXAMPLE)])
    out, error = capsys.readouterr()
    assert out.startswith("plant 'hanging_pendulum' keeps its contract\n")
    assert "3 operating points are equilibria" in out
    assert "the energy balance closes" in out
    assert error == f"executing {EXAMPLE} (a plant file is Python code)\n"


def test_the_example_is_simulated(capsys):
    cli.main(["simulate", f"plant_file={EXAMPLE}", "plant=hanging_pendulum", "t_end=1", "input.kind=step", "input.amplitude=5",
              "output=run"])  # fmt: skip
    assert "hanging_pendulum: 1 s in 100 steps" in capsys.readouterr().out
    assert Path("run/inputs/0-pendulum.py").read_bytes() == EXAMPLE.read_bytes()


@pytest.mark.slow
def test_the_example_is_designed_for(capsys):
    cli.main(["design", f"plant_file={EXAMPLE}", "plant=hanging_pendulum", "budget.evaluations=60", "network.inputs=[e,e_rate]", "budget.verdict_seeds=2",
              "budget.teacher_generations=1", "teacher.window=2", "teacher.horizon=4", "output=run", "quiet=true"])  # fmt: skip
    assert {"knowledge_base.json", "metrics.json", "report.html"} <= {path.name for path in Path("run").iterdir()}
    assert read_record("run")["config"]["plant"] == "hanging_pendulum"
    cli.main(["evaluate", "kb=run/knowledge_base.json", f"plant_file={EXAMPLE}", "seeds=2", "output=judged"])
    assert "of plant hanging_pendulum" in capsys.readouterr().out
