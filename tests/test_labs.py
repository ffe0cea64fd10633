"""The labs run, print what is stored in them, and every exercise has a solution."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

LABS = Path(__file__).parents[1] / "docs/labs"
NAMES = sorted(path.stem for path in LABS.glob("*.ipynb"))
BOOKS = sorted(path.relative_to(LABS).as_posix() for path in LABS.glob("**/*.ipynb"))
QUICK = {"5_algebraic_loops.ipynb", "solutions/1_pid_by_hand.ipynb"}  # the others need more than some seconds
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def cells(path, kind):
    """Return the cells of a notebook of one kind."""
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def text(path):
    return "\n\n".join("".join(cell["source"]) for cell in cells(path, "markdown"))


def printed(book):
    """Return what the cells of a notebook print, a text a cell."""
    outputs = [cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code"]
    return ["".join("".join(output.get("text", "")) for output in of_cell) for of_cell in outputs]


def executor():
    """Return the script that executes notebooks."""
    spec = importlib.util.spec_from_file_location("execute", LABS / "execute.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_there_are_six_each_with_solutions():
    assert len(NAMES) == 6
    assert sorted(path.stem for path in LABS.glob("solutions/*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_exercise_has_a_solution(name):
    _, _, exercises = text(LABS / f"{name}.ipynb").partition("## Exercises")
    asked = re.findall(r"^(\d)\. \*\*(.+?)\.?\*\*", exercises.replace("?**", "?.**"), re.MULTILINE)
    solved = re.findall(r"^## (\d)\. (.+)$", text(LABS / "solutions" / f"{name}.ipynb"), re.MULTILINE)
    assert len(asked) >= 4
    assert [(number, title.rstrip(".")) for number, title in asked] == solved


@pytest.mark.parametrize("book", BOOKS)
def test_outputs_are_stored_and_none_is_an_error(book):
    outputs = [output for cell in cells(LABS / book, "code") for output in cell["outputs"]]
    assert outputs
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert all(output.get("name", "stdout") == "stdout" for output in outputs)


@pytest.mark.parametrize(
    "book", [pytest.param(book, marks=() if book in QUICK else pytest.mark.slow) for book in BOOKS]
)
@pytest.mark.filterwarnings("default")  # of asyncio and zmq
def test_a_notebook_prints_what_is_stored(book, monkeypatch):
    """Words to the letter, numbers to 2 % or a unit of the last digit but one: other processors round otherwise."""
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(LABS.parents[1]), prepend=":")
    stored = printed(json.loads((LABS / book).read_text(encoding="utf-8")))
    fresh = printed(executor().executed(LABS / book))
    assert [NUMBER.sub("#", one) for one in fresh] == [NUMBER.sub("#", one) for one in stored]
    for one, other in zip(fresh, stored, strict=True):
        found = [float(number) for number in NUMBER.findall(one)]
        assert found == pytest.approx([float(number) for number in NUMBER.findall(other)], rel=0.02, abs=0.02)
