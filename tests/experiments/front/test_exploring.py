"""`sscq.map` and `sscq.worst_of`: the numbers of the commands, silently."""

import json

import numpy as np
import pytest

import sscq
from experiments import map as map_command
from experiments import worst as worst_command
from tests.experiments.front.test_exporting import kb  # noqa: F401  (a fixture)

pytestmark = pytest.mark.usefixtures("own_folder")
FEW = {"evaluations": 20, "threads": 1}


def test_the_worst_situation_is_that_of_the_command(kb, own_folder, capsys):  # noqa: F811
    found = sscq.worst_of(kb, folder=own_folder / "python", settings=FEW)
    assert not capsys.readouterr().out
    worst_command.main([f"kb={kb}", "evaluations=20", "threads=1", f"output={own_folder / 'command'}", "quiet=true"])
    theirs = json.loads((own_folder / "command/metrics.json").read_text())
    assert found["search"] == theirs["search"]
    assert found["certificate"] == theirs["certificate"]
    assert found["file"].name == "counter_example.json"
    assert found["situation"] == json.loads(found["file"].read_text())["situation"]


def test_a_map_is_that_of_the_command(kb, own_folder, capsys):  # noqa: F811
    settings = {"points": 4, "seeds": 1, "margin_points": 2, "threads": 1}
    drawn = sscq.map(kb, ("K", (0.5, 1.5)), ("delay", (0.0, 0.5)), folder=own_folder / "python", settings=settings)
    assert not capsys.readouterr().out
    assert drawn.arrays["cost"].shape == (2, 4, 4)
    assert drawn.margins["peak"].shape == (2, 2, 2)
    assert drawn.page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    words = [f"{name}={value}" for name, value in settings.items()]
    place = own_folder / "command"
    map_command.main([f"kb={kb}", "x=K:[0.5,1.5]", "y=delay:[0,0.5]", *words, f"output={place}", "quiet=true"])
    theirs = json.loads((place / "metrics.json").read_text())
    assert drawn.numbers == theirs
    assert np.isfinite(drawn.arrays["cost"]).any()


def test_what_does_not_fit_is_refused_before_a_folder_is_made(kb, own_folder):  # noqa: F811
    with pytest.raises(TypeError, match="'x' is an argument of map itself"):
        sscq.map(kb, ("K", (0.5, 1.5)), ("delay", (0.0, 0.5)), settings={"x": "K:[1,2]"})
    with pytest.raises(TypeError, match="an axis must be a name and two ends"):
        sscq.map(kb, "K", ("delay", (0.0, 0.5)))
    with pytest.raises(ValueError, match="gein"):
        sscq.map(kb, ("gein", (0.5, 1.5)), ("delay", (0.0, 0.5)))
    with pytest.raises(TypeError, match="'quiet' is of the command alone"):
        sscq.worst_of(kb, settings={"quiet": False})
    assert not (own_folder / "runs").exists()
