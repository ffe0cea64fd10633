"""Sweeps (-m): one bad run ends none of the others, a stopped sweep goes on, sweepers get a number."""

import json
import math
from pathlib import Path

import pytest

from experiments.runtime.errors import UserError
from experiments.starting import sweep
from experiments.starting.launch import command

pytestmark = pytest.mark.usefixtures("own_folder")

QUIET = ("quiet=true", "hydra/hydra_logging=none")


class Jobs:
    """Remembers which runs it was called for; raises what it is told to for some seeds."""

    def __init__(self, errors=None):
        self.errors, self.calls, self.told = dict(errors or {}), [], []

    def run(self, *words):
        def design(config, folder):
            self.calls.append((config.seed, folder.resumed))
            if config.seed in self.errors:
                raise self.errors[config.seed]

        command("design", design, summary=lambda runs: self.told.append([path.name for path in runs]))([*words, *QUIET])


def stopped(jobs, *words):
    with pytest.raises(SystemExit) as stop:
        jobs.run(*words)
    return stop.value.code


def test_bad_runs_are_named_in_the_end_and_the_others_are_done(capsys):
    jobs = Jobs({2: UserError("no such gain"), 4: RuntimeError("a defect")})
    assert stopped(jobs, "-m", "seed=1,2,3,4", "hydra.sweep.dir=S") == 2
    told = capsys.readouterr().err
    assert [seed for seed, _ in jobs.calls] == [1, 2, 3, 4]
    assert jobs.told == [["0", "2"]]
    assert "no such gain" in told
    assert "RuntimeError: a defect" in told
    assert "mend what failed and go on with: sscq design resume=S" in told
    assert [(number, reason) for number, _, reason in sweep.failures(Path("S"))] == [
        ("1", "no such gain"),
        ("3", "RuntimeError: a defect"),
    ]


def test_what_is_mended_goes_on_and_is_no_failure_any_more(capsys):
    stopped(Jobs({2: UserError("no")}), "-m", "seed=1,2,3", "step=0.01", "hydra.sweep.dir=S")
    jobs = Jobs()
    jobs.run("resume=S")
    assert jobs.calls == [(1, True), (2, True), (3, True)]
    assert jobs.told == [["0", "1", "2"]]
    assert sweep.failures(Path("S")) == []
    capsys.readouterr()


def test_a_sweep_that_was_stopped_goes_on_with_the_runs_that_are_left(capsys):
    assert stopped(Jobs({2: KeyboardInterrupt()}), "-m", "seed=1,2,3", "hydra.sweep.dir=S") == 130
    assert "the whole sweep goes on with: sscq design resume=S\n" in capsys.readouterr().err
    jobs = Jobs()
    jobs.run("resume=S")
    assert jobs.calls == [(1, True), (2, True), (3, False)]


def test_the_same_words_again_go_on_as_well_and_others_are_refused(capsys):
    words = ("-m", "seed=1,2", "hydra.sweep.dir=S")
    Jobs().run(*words)
    jobs = Jobs()
    jobs.run(*words)
    assert jobs.calls == [(1, True), (2, True)]
    assert stopped(Jobs(), "-m", "seed=1,5", "hydra.sweep.dir=S") == 2
    assert "holds a run with other settings" in capsys.readouterr().err


@pytest.mark.parametrize("launcher", [("joblib", "hydra.launcher.n_jobs=2"), ("submitit_local",)])
def test_runs_side_by_side_in_processes_and_bad_ones_are_named(launcher, capsys):
    """Twelve runs of which two fail, by the command itself: what workers import is the program, not this test."""
    pytest.importorskip("joblib" if launcher[0] == "joblib" else "submitit")
    from experiments import simulate

    horizons = [0.1 * k for k in range(1, 11)] + [-1.0, -2.0]
    words = ["-m", "plant=fopdt", f"t_end={','.join(f'{t:g}' for t in horizons)}", f"hydra/launcher={launcher[0]}"]
    with pytest.raises(SystemExit) as stop:
        simulate.main([*words, *launcher[1:], "hydra.sweep.dir=S", "quiet=true", "hydra/hydra_logging=none"])
    assert stop.value.code == 2
    assert [number for number, _, _ in sweep.failures(Path("S"))] == ["10", "11"]
    told = capsys.readouterr().err
    assert "run 10 failed (plant=fopdt t_end=-1 quiet=True): t_end must be above 0" in told
    simulate.main(["plant=fopdt", "t_end=0.5", "output=alone", "quiet=true"])
    assert (Path("S/4") / "trajectory.csv").read_bytes() == Path("alone/trajectory.csv").read_bytes()
    assert len(sweep.runs(Path("S"))) == 10


def test_a_sweep_without_a_name_gets_a_new_folder_each_time():
    one, two = (sweep.folder_of(sweep.words_of("design", ["-m", "seed=1,2"])) for _ in range(2))
    assert one.parent == two.parent == Path("runs/design-sweep")
    one.mkdir(parents=True)
    assert sweep.folder_of(sweep.words_of("design", ["-m", "seed=1,2"])) != one
    assert sweep.folder_of(["seed=1"]) is None


def test_a_strangers_sweep_executes_no_plant_file_that_is_not_given_again():
    place = Path("S")
    place.mkdir()
    words = ["-m", "plant_file=evil.py", "--config-dir=evil", "hydra/launcher=evil", "seed=1,2", "output=../victim"]
    record = {"schema": "sscq-sweep", "version": 1, "command": "design", "words": words}
    (place / "sweep.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match="plant_file=evil.py, which is executed: give it again"):
        sweep.words_of("design", ["resume=S"])
    found = sweep.words_of("design", ["resume=S", "plant_file=mine.py"])
    assert found == ["-m", "seed=1,2", "plant_file=mine.py", "hydra.sweep.dir=S"]
    with pytest.raises(UserError, match="is no sweep of `sscq worst`"):
        sweep.words_of("worst", ["resume=S"])


def test_a_sweeper_gets_the_value_of_a_run_and_infinity_for_a_failed_one(capsys):
    place = Path("S/7")
    assert sweep.attempt(place, ["seed=1"], lambda: 0.5) == 0.5

    def fails():
        raise ValueError("no")

    assert sweep.attempt(place, ["seed=1"], fails) == math.inf
    assert sweep.failures(place.parent) == [("7", "seed=1", "ValueError: no")]
    assert sweep.attempt(place, ["seed=1"], lambda: 0.5) == 0.5
    assert sweep.failures(place.parent) == []
    capsys.readouterr()
