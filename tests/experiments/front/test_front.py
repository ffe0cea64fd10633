"""`sscq.design`: the same files as the command's, without its arguments, its output or the process's state."""

import hashlib
import os
import sys
import threading
from importlib.metadata import version

import numpy as np
import pytest

import plants
import sscq
from experiments import design
from experiments.front.words import words_of
from experiments.starting.opening import composed
from flcs import KnowledgeBase
from tests.experiments.front import smallest

SETTINGS = smallest.SETTINGS | {"ladder.further": []}


def digests(folder):
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "times.json"
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("front")


@pytest.fixture(scope="module")
def result(place):
    return sscq.design("fopdt", budget="small", seed=3, folder=place / "python", settings=SETTINGS)


def test_the_files_are_those_of_the_command(place, result, capsys):
    words = words_of({"plant": smallest.PLANT, "budget": "small", "seed": 3, **SETTINGS})
    design.main([*words, "quiet=true", f"output={place / 'command'}"])
    capsys.readouterr()
    assert digests(result.folder) == digests(place / "command")


def test_what_comes_back_is_what_the_folder_says(result):
    assert result.recommended == result.metrics["recommended"] == result.verdict.recommended
    assert result.recommended in result.controllers
    assert result.knowledge_base.plant == "fopdt"
    assert result.report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "What to type" in result.what_to_type()
    assert repr(result) == f"<DesignResult {result.folder}: {result.recommended} recommended>"
    assert "What to type" in result._repr_html_()
    assert str(result) == f"{result.sentence}\n\n{result.what_to_type().strip()}\n\nreport: {result.report}"


def test_it_draws_how_all_controllers_compare(result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = result.plot()
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert set(shown) == {
        result.metrics["controllers"][key]["title"] for key in result.metrics["comparisons"] if key != "open_loop"
    }
    matplotlib.pyplot.close("all")


def test_what_is_recommended_is_a_file_to_export_whatever_it_is(result, tmp_path, monkeypatch):
    kb = KnowledgeBase.load(result.recommended_file)
    if result.recommended in result.knowledge_bases:
        assert kb.content_hash == result.knowledge_base.content_hash
    else:
        assert {base.name for base in kb.channels} == {channel.output for channel in plants.find(kb.plant).channels}
    monkeypatch.setattr(result, "folder", tmp_path)
    assert result.recommended_file is None


@pytest.mark.parametrize("oracle", [True, False])
def test_only_the_oracle_is_hollow(result, oracle, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    keys = [key for key in result.metrics["comparisons"] if key != "open_loop" and (oracle or key != "oracle")]
    monkeypatch.setattr(type(result), "controllers", dict.fromkeys(keys))
    axes = result.plot()
    marked = [line for line in axes.lines if line.get_marker() == "o"]
    hollow = [len(line.get_xdata()) for line in marked if str(line.get_markerfacecolor()) == "none"]
    full = [len(line.get_xdata()) for line in marked if str(line.get_markerfacecolor()) != "none"]
    assert (sum(full), sum(hollow)) == (len(keys) - oracle, oracle)
    matplotlib.pyplot.close("all")


def test_a_thread_designs_beside_another_silently_and_tells_how_far_it_is(place, result, capsys):
    """Two at once, on one thread each: the same bytes, nothing printed, arguments and environment left alone."""
    before, told, found = (list(sys.argv), dict(os.environ)), [], {}

    def job(name):
        found[name] = sscq.design(
            "fopdt",
            budget="small",
            seed=3,
            folder=place / name,
            on_progress=told.append,
            settings=SETTINGS | {"threads": 1},
        )

    threads = [threading.Thread(target=job, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests(found["one"].folder) == digests(found["two"].folder) == digests(result.folder)
    assert capsys.readouterr().out == ""
    assert (list(sys.argv), dict(os.environ)) == before
    assert told
    assert all(0.0 <= note.share <= 1.0 for note in told if not np.isnan(note.share))


def test_a_finished_run_is_opened_again(result):
    again = sscq.design("fopdt", folder=result.folder, resume=True)
    assert again.sentence == result.sentence


def test_situations_of_ones_own_take_the_place_of_the_plants(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "experiments.front.design.run", lambda name, job, check, settings, words: asked.append(words) or "."
    )
    own = {
        kind: [{"name": kind, "reference": {"output": 1.0}, "seed": 1}]
        for kind in ("taught", "validation", "unforeseen")
    }
    sscq.design("fopdt", situations=own)
    (word,) = [word for word in asked[0] if word.startswith("plant=")]
    plant = plants.find(word.partition("=")[2].strip("'"))
    assert plant.situations == own
    assert plant.derivative == plants.get("fopdt").derivative
    sscq.design("fopdt")
    assert "plant=fopdt" in asked[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"settings": {"seed": 4}}, "'seed' is an argument of design itself"),
        ({"resume": True}, "resume=True needs the folder"),
        ({"settings": {"fitnes.error": "iae"}}, "fitness"),
        ({"settings": {"seeds": object()}}, "seeds must be a number, a text, None"),
    ],
)
def test_what_does_not_fit_is_said(arguments, said):
    with pytest.raises((TypeError, ValueError, RuntimeError), match=said):
        sscq.design("fopdt", **arguments)


def test_the_version_is_the_packages():
    assert sscq.__version__ == version("sscq")


def test_an_unknown_plant_is_named_with_the_near_miss():
    with pytest.raises(ValueError, match="fopdt"):
        sscq.design("fopdtt")


def test_values_are_read_back_as_they_were_given():
    given = {
        "controller.high": [40, 40.5, 1e-3], "controller.limits": [-float("inf"), 5], "fitness.max_sensitivity": None,
        "network.inputs": ["e", "room temperature"], "controller.widen": False,
        "envelope.parameters": {"K": [0.5, 2], "room temperature": [0, 1]},
    }  # fmt: skip
    settings = composed("design", words_of(given))
    assert list(settings.controller.high) == [40, 40.5, 1e-3]
    assert list(settings.controller.limits) == [-float("inf"), 5]
    assert settings.fitness.max_sensitivity is None
    assert settings.controller.widen is False
    assert list(settings.network.inputs) == ["e", "room temperature"]
    assert dict(settings.envelope.parameters) == {"K": [0.5, 2], "room temperature": [0, 1]}
    with pytest.raises(TypeError, match="reads no quotes"):
        words_of({"draws": {"it's": 1}})
    assert words_of({"a": np.float64(0.5), "b": np.array([1, 2])}) == ["a=0.5", "b=[1,2]"]
