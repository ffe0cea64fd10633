"""`sscq.sweep`: the folder of the command's sweep, on any executor; bad runs are named, stopped ones go on."""

import json
import math
import multiprocessing
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import pytest

import sscq
from experiments import design as command
from experiments.front import sweeping
from experiments.runtime.errors import UserError

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def calls(monkeypatch):
    """Designs whose fitness is their seed; some seeds fail."""
    made, errors = [], {}

    def design(config, folder, *, show, listener=None):
        assert not show
        made.append((config.plant, config.seed, config.threads, folder.resumed))
        if config.seed in errors:
            raise errors[config.seed]
        measures = {"iae": 2.0 * config.seed, "total_variation": 1.0}
        told = {
            "title": "fixed PID",
            "fitness": {"unforeseen": float(config.seed)},
            "measures": {"unforeseen": measures},
            "failures": {"unforeseen": 0},
        }
        (folder.path / "metrics.json").write_text(json.dumps({"recommended": "fixed", "controllers": {"fixed": told}}))

    monkeypatch.setattr(command, "design", design)
    design.made, design.errors = made, errors
    return design


class Inline:
    """Runs a call when it is asked for its result, as far as `most` calls."""

    def __init__(self, most=math.inf):
        self.most, self.cancelled = most, 0

    def submit(self, function, /, *arguments):
        outer = self

        class Call(Future):
            def result(self):
                outer.most -= 1
                if outer.most < 0:
                    raise KeyboardInterrupt
                return function(*arguments)

            def cancel(self):
                outer.cancelled += 1

        return Call()


OVER = {"plant": ["fopdt", "duffing"], "seed": [1, 2]}


def test_every_combination_is_designed_and_the_table_tells_it(calls):
    notes = []
    found = sscq.sweep(OVER, folder="S", on_progress=notes.append)
    assert calls.made == [(plant, seed, None, False) for plant in OVER["plant"] for seed in OVER["seed"]]
    assert [one.settings for one in found.designs] == [{"plant": p, "seed": s} for p in OVER["plant"] for s in (1, 2)]
    assert [note.share for note in notes] == [0.25, 0.5, 0.75, 1.0]
    assert notes[-1].line == "design 4 of 4 is over: plant=duffing seed=2"
    assert "plant=duffing seed=2" in found.table()
    assert (Path("S") / "summary.csv").read_text().count("\n") == 5
    assert repr(found) == f"<DesignSweep {Path('S').resolve()}: 4 designs>"


def test_what_fails_is_named_and_is_done_again(calls):
    calls.errors[2] = UserError("no such gain")
    found = sscq.sweep(OVER, folder="S")
    assert [(one.settings["plant"], one.reason) for one in found.failed] == [
        ("fopdt", "no such gain"),
        ("duffing", "no such gain"),
    ]
    assert "plant=fopdt seed=2: no such gain" in found._repr_html_()
    calls.errors.clear()
    calls.made.clear()
    assert sscq.sweep(OVER, folder="S").failed == []
    assert [resumed for *_, resumed in calls.made] == [True] * 4


def test_an_executor_gives_each_design_one_thread_and_ctrl_c_takes_back_the_rest(calls):
    pool = Inline(most=3)
    with pytest.raises(KeyboardInterrupt) as stop:
        sscq.sweep(OVER, folder="S", executor=pool)
    assert "sscq design resume=" in stop.value.__notes__[0]
    assert [threads for _, _, threads, _ in calls.made] == [1, 1, 1]
    assert pool.cancelled == 4
    sscq.sweep(OVER, folder="S", settings={"threads": 2}, executor=Inline())
    assert [(threads, resumed) for *_, threads, resumed in calls.made[3:]] == [(2, True)] * 3 + [(2, False)]


def test_processes_share_nothing_but_the_folder(calls):
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = sscq.sweep(OVER, folder="S", executor=pool)
    assert [one.metrics["controllers"]["fixed"]["fitness"]["unforeseen"] for one in found.results] == [1, 2, 1, 2]


def test_the_command_goes_on_with_it(calls, capsys):
    calls.errors[2] = UserError("not yet")
    sscq.sweep({"seed": [1, 2]}, folder="S", settings={"plant": "fopdt", "draws": {"taught": 2}})
    words = json.loads(Path("S/sweep.json").read_text())["words"]
    place = Path("S").resolve()
    assert words == ["-m", "budget=small", "plant=fopdt", "draws={taught:2}", "seed=1,2", f"hydra.sweep.dir={place}"]


@pytest.mark.parametrize(
    ("over", "settings", "told"),
    [
        ({}, {}, "over must name settings with a list of values each"),
        ({"seed": []}, {}, "over must name settings with a list of values each"),
        ({"plant": "fopdt"}, {}, "over must name settings with a list of values each"),
        ({"sede": [1, 2]}, {}, "did you mean 'seed'"),
    ],
)
def test_what_cannot_be_swept_is_refused_before_anything_is_written(over, settings, told, calls):
    with pytest.raises(UserError, match=told):
        sscq.sweep(over, folder="S", settings=settings)
    with pytest.raises(TypeError, match="'output' is an argument of sweep itself; give it as folder="):
        sscq.sweep({"seed": [1]}, folder="S", settings={"output": "x"})
    assert not Path("S").exists()
    assert calls.made == []


def test_the_folder_of_another_sweep_is_refused(calls):
    sscq.sweep({"seed": [1]}, folder="S")
    with pytest.raises(UserError, match="holds a sweep with other settings"):
        sscq.sweep({"seed": [1, 2]}, folder="S")
    assert sweeping.designed(["plant=fopdt", "seed=4"], "other/0") == 4.0
