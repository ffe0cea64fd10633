"""`sscq.sweep`: the folder of the command's sweep, on any executor; bad runs are named, stopped ones go on."""

import json
import math
import multiprocessing
import sys
import types
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest

import sscq
from experiments import design as command
from experiments.front import sweeping
from experiments.runtime.errors import UserError
from tests import schemas
from tests.fences import blocks

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


class DaskFuture:
    """What `sscq.sweep` may use of Dask's: no future of concurrent.futures, and forgotten with the last reference."""

    def __init__(self, call):
        self.call, self.status = call, "pending"

    def result(self, timeout=None):
        if self.status == "cancelled":
            raise RuntimeError("cancelled")
        try:
            found = self.call()
        except BaseException:
            self.status = "error"
            raise
        self.status = "finished"
        return found

    def cancel(self, reason=None, msg=None):
        self.status = "cancelled"


class Client:
    """The surface of `dask.distributed.Client`: keywords of its own, one key for equal calls, plain data alone travels."""

    made: ClassVar[list] = []

    def __init__(self, address=None):
        self.address, self.known = address, {}
        Client.made.append(self)

    def submit(self, func, *args, key=None, workers=None, retries=None, priority=0, pure=True, **kwargs):
        token = json.dumps([func.__module__, func.__qualname__, args])
        self.known.setdefault(token, DaskFuture(lambda: func(*args)))
        return self.known[token]


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


def test_a_client_of_dask_runs_them(calls):
    client = Client()
    found = sscq.sweep(OVER, folder="S", executor=client)
    assert [one.metrics["controllers"]["fixed"]["fitness"]["unforeseen"] for one in found.results] == [1, 2, 1, 2]
    assert [future.status for future in client.known.values()] == ["finished"] * 4
    assert [threads for _, _, threads, _ in calls.made] == [1] * 4


def test_the_program_of_the_guide_runs_on_a_client(calls, monkeypatch, capsys):
    dask, distributed = types.ModuleType("dask"), types.ModuleType("dask.distributed")
    distributed.Client = Client
    monkeypatch.setitem(sys.modules, "dask", dask)
    monkeypatch.setitem(sys.modules, "dask.distributed", distributed)
    (program,) = blocks("docs/guide/sweeps.md", "python")
    quicker = program.replace('"two_tanks"', '"duffing"')  # less to compile
    exec(compile(quicker, "sweeps.md", "exec"), {})
    assert Client.made[-1].address == "tcp://scheduler:8786"
    assert [(plant, seed) for plant, seed, *_ in calls.made] == [(p, s) for p in ("fopdt", "duffing") for s in range(3)]
    assert "plant=duffing seed=2" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of the cluster's own
def test_a_cluster_of_dask_in_processes_designs():
    """What its workers import is the program, not this test, so these are designs; one of them is refused."""
    distributed = pytest.importorskip("distributed")
    settings = {
        "plant": "fopdt", "seeds": 1, "search.tries": 1, "network.inputs": ["e", "e_rate"], "budget.evaluations": 60,
        "budget.teacher_generations": 1, "budget.verdict_seeds": 2, "draws.taught": 2, "draws.validation": 2,
        "draws.verdict": 40, "assurance.worst_evaluations": 0, "assurance.map_points": 0,
    }  # fmt: skip
    over = {"step": [0.01, -1.0], "seed": [1, 2]}
    with (
        distributed.LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = sscq.sweep(over, folder="S", settings=settings, executor=client)
        assert [(one.settings["step"], one.reason) for one in found.failed] == [
            (-1.0, "step must be above 0 s, got -1.0")
        ] * 2
        again = sscq.sweep(over, folder="S", settings=settings, executor=client)
    alone = sscq.sweep({"step": [0.01], "seed": [1]}, folder="alone", settings={**settings, "threads": 1})
    assert [one.metrics for one in again.results] == [one.metrics for one in found.results]
    assert found.results[0].metrics == alone.results[0].metrics


def test_processes_share_nothing_but_the_folder(calls):
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = sscq.sweep(OVER, folder="S", executor=pool)
    assert [one.metrics["controllers"]["fixed"]["fitness"]["unforeseen"] for one in found.results] == [1, 2, 1, 2]


def test_the_command_goes_on_with_it(calls, capsys):
    calls.errors[2] = UserError("not yet")
    sscq.sweep({"seed": [1, 2]}, folder="S", settings={"plant": "fopdt", "draws": {"taught": 2}})
    words = schemas.read("sweep", Path("S/sweep.json"))["words"]
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
