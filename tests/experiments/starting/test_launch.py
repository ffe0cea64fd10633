"""How a command starts: settings composed, checked and explained; the run folder opened, resumed or refused."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from experiments.runtime.run_folder import read_record
from experiments.starting.launch import command

pytestmark = pytest.mark.usefixtures("own_folder")

ROOT = Path(__file__).parents[3]


class Job:
    """Keeps what it is called with; raises what it is told to."""

    def __init__(self, error=None):
        self.calls = []
        self.error = error

    def run(self, *words):
        def design(config, folder):
            self.calls.append((config, folder.path, folder.resumed))
            if self.error is not None:
                raise self.error

        command("design", design)(list(words))

    def config(self, *words):
        self.run(*words)
        return self.calls[-1][0]

    def refused(self, capsys, *words, code=2):
        """Run with something wrong and return what is said."""
        with pytest.raises(SystemExit) as stop:
            self.run(*words)
        assert stop.value.code == code
        error = capsys.readouterr().err
        assert "Traceback" not in error
        return error


# ------------------------------------------------------------------------------------------------------------ settings


def test_the_job_gets_checked_settings_of_the_schema():
    config = Job().config("seed=3", "budget=small", "controller.limits=[-inf, 5]")
    assert (config.seed, config.controller.limits) == (3, [-float("inf"), 5.0])
    assert dataclasses.is_dataclass(config.search)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("stp=0.1", "no setting 'stp'; did you mean 'step'? (see `sscq design --help`)"),
        ("+stp=0.1", "no setting stp; did you mean 'step'?"),
        ("search.elit=3", "no setting 'search.elit'; did you mean 'search.elite'?"),
        ("elite=3", "no setting 'elite'; did you mean 'search.elite'?"),
        ("device=cuda", "no setting 'device' of `sscq design`: it is one of `sscq worst` and `sscq map`"),
        ("bugdet=small", "no setting 'bugdet'; did you mean 'budget'?"),
        ("budget=smal", "no budget called 'smal'; did you mean 'small'? (known: large, medium, small, standard)"),
        ("experiment=nothing", "no experiment called 'nothing' (known: "),
        ("step=abc", "step must be a number or null [s], got 'abc'"),
        ("seed=1.5", "seed must be a whole number, got '1.5'"),
        ("quiet=maybe", "quiet must be true or false, got 'maybe'"),
        ("step=-1", "step must be above 0 s, got -1.0"),
        ("step=nan", "step must be above 0 s, got nan"),
        ("seed=-1", "seed must be at least 0, got -1"),
        ("integrator=rk5", "integrator must be one of euler, heun, rk2, rk4, rosenbrock, got 'rk5'; did you mean"),
        (
            "controller.low=[20,0,0] controller.high=[10,1,1]",
            "controller.low[0] must not exceed high[0], got 20.0 and 10.0; swap them",
        ),
        (
            "controller.low=[0] controller.high=[1,2,3]",
            "controller.low and high must have one entry a gain each, got 1 and 3",
        ),
        ("controller.low=[1,2", "cannot read 'controller.low=[1,2'; write setting=value"),
        ("controller.low=[x]", "controller.low[0]: "),
        ("plant=van_der_pool", "no plant 'van_der_pool'; did you mean 'van_der_pol'?"),
        ("plant_file=none.py", "there is no plant file none.py"),
        ("output=/proc/nowhere", "output folder /proc/nowhere cannot be written: "),
        ("resume=nowhere", "there is no run folder nowhere"),
        ("--experimental-rerun=job.pickle", "would load a pickle, which executes it"),
        ("--exp=job.pickle", "would load a pickle, which executes it"),
        ("--config-dir=nowhere", "nowhere' not found"),
    ],
)
def test_a_wrong_setting_is_refused_in_a_sentence(capsys, word, message):
    job = Job()
    error = job.refused(capsys, *word.split())
    assert message in error
    assert len(error.splitlines()) == 1 + error.startswith("executing")
    assert job.calls == []
    assert not Path("runs").exists()


def test_several_settings_out_of_range_are_told_at_once(capsys):
    error = Job().refused(capsys, "step=0", "search.elite=0")
    assert error == "error: step must be above 0 s, got 0.0\nsearch.elite must be at least 1, got 0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("taught: {a: {refrence: 2}}", "no setting 'situations.taught.a.refrence'; did you mean"),
        ("taught: {a: {reference: x}}", "situations.taught.a.reference: Value 'x'"),
        ("taught: {a: {jitter: 1.5}}", "situations.taught.a.jitter must be at least 0 and at most 1, got 1.5"),
        ("taught: {a: {rate_limit: 0}}", "situations.taught.a.rate_limit must be above 0 1/s, got 0.0"),
        ("dropout: 1", "situations.dropout must be at least 0 and below 1, got 1.0"),
        ("taught: {a: {t_end: -1}}", "situations.taught.a.t_end must be above 0 s, got -1.0"),
        ("taught:\n  a: {reference: 2\n  b: 3", "mine.yaml, line 3: this is no YAML"),
    ],
)
def test_a_users_own_part_is_read_and_its_mistakes_told(capsys, text, message):
    Path("own/situations").mkdir(parents=True)
    Path("own/situations/mine.yaml").write_text("taught: {a: {reference: 2}}")
    assert list(Job().config("--config-dir=own", "situations=mine").situations.taught) == ["a"]
    Path("own/situations/mine.yaml").write_text(text)
    assert message in Job().refused(capsys, "--config-dir=own", "situations=mine")


def test_the_help_lists_parts_and_settings(capsys):
    with pytest.raises(SystemExit) as stop:
        Job().run("--help")
    assert stop.value.code in {0, None}
    text = capsys.readouterr().out
    assert "budget: large, medium, small, standard" in text
    assert "step                                 integration step; null: the plant's own  (s; null; above 0 s)" in text


def test_a_reader_of_the_help_who_leaves_early_sees_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "experiments.cli", "design", "--help"]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""


def test_the_help_lists_no_parts_that_a_command_has_not(capsys):
    with pytest.raises(SystemExit):
        command("simulate", print)(["--help"])
    text = capsys.readouterr().out
    assert "Settings (unit; default; range):" in text
    assert "Parts" not in text


def test_the_configuration_is_printed_on_demand(capsys):
    Job().run("--cfg", "job", "seed=5")
    assert "\nseed: 5\n" in capsys.readouterr().out


# --------------------------------------------------------------------------------------------------------- run folders


def test_a_run_gets_a_new_folder_and_a_sweep_one_for_each_job():
    job = Job()
    job.run()
    job.run("-m", "seed=1,2", "hydra/hydra_logging=none")
    (_, single, _), (_, first, _), (_, second, _) = job.calls
    assert single.parent == Path("runs/design")
    assert first.parent == second.parent
    assert first.parent.parent.name == "design-sweep"
    assert [read_record(path)["config"]["seed"] for path in (single, first, second)] == [0, 1, 2]


def test_a_sweep_is_summed_up_after_its_last_run_and_a_single_run_is_not():
    told = []
    main = command("design", lambda config, folder: None, summary=lambda runs: told.append(list(runs)))
    main(["quiet=true"])
    assert told == []
    main(["-m", "seed=1,2", "quiet=true", "hydra/hydra_logging=none"])
    assert [[path.name for path in runs] for runs in told] == [["0", "1"]]


def test_a_sweep_tells_which_run_of_how_many_begins_and_what_is_left(capsys):
    command("design", lambda config, folder: None)(
        ["-m", "seed=1,2,3", "seeds=1,2", "step=0.01", "hydra/hydra_logging=none"]
    )
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("run ")]
    assert told[0] == "run 1 of 6: seed=1, seeds=1"
    assert [line.partition("; about")[0] for line in told[1:3]] == [
        "run 2 of 6: seed=1, seeds=2",
        "run 3 of 6: seed=2, seeds=1",
    ]
    assert all(re.fullmatch(r".*; about (\d+ s|1 min \d+ s) left", line) for line in told[1:])


def test_a_resumed_run_has_the_stored_settings_and_this_sessions_own():
    job = Job()
    before = job.config("output=run", "seed=4", "situations=van_der_pol", "controller.limits=[-inf,inf]", "threads=2")
    after = job.config("resume=run", "threads=1", "quiet=true")
    assert [resumed for _, _, resumed in job.calls] == [False, True]
    assert (after.threads, after.quiet) == (1, True)
    session = {"threads": None, "quiet": False, "output": None, "resume": None}
    assert dataclasses.replace(before, **session) == dataclasses.replace(after, **session)
    assert list(before.situations.taught) == list(after.situations.taught)


def test_a_resume_may_repeat_the_settings_of_the_run():
    job = Job()
    job.run("output=run", "seed=4", "budget=small")
    job.run("resume=run", "budget=small", "seed=4", "plant=van_der_pol")
    assert job.calls[-1][2]


def test_a_resume_with_other_settings_is_refused_with_old_and_new(capsys):
    job = Job()
    job.run("output=run", "seed=4", "budget=small")
    error = job.refused(capsys, "resume=run", "seed=5", "budget=standard")
    assert "run was started with other settings" in error
    assert "  seed: 4 in the run, 5 now" in error
    assert "  budget.evaluations: 1500 in the run, 6000 now" in error
    assert len(job.calls) == 1


def test_a_resume_cannot_be_swept(capsys):
    Job().run("output=run")
    assert "cannot be combined with -m" in Job().refused(capsys, "-m", "resume=run", "hydra/hydra_logging=none")


def test_an_interrupted_run_says_how_to_go_on(capsys):
    error = Job(KeyboardInterrupt()).refused(capsys, "output=run", code=130)
    assert error == "interrupted\ngo on with: sscq design resume=run\n"


def test_an_error_of_the_user_is_a_sentence_and_a_defect_keeps_its_traceback(capsys, monkeypatch):
    assert (
        Job(ValueError("gains must be finite")).refused(capsys, "output=a").startswith("error: gains must be finite\n")
    )
    with pytest.raises(RuntimeError, match="a defect"):
        Job(RuntimeError("a defect")).run("output=b")
    monkeypatch.setenv("SSCQ_TRACEBACK", "1")
    with pytest.raises(ValueError, match="gains must be finite"):
        Job(ValueError("gains must be finite")).run("output=c")


def test_ctrl_c_in_a_process_ends_with_the_way_to_go_on(tmp_path):
    script = """
        import time
        from experiments.starting.launch import command

        def design(config, folder):
            print("working", flush=True)
            time.sleep(60)

        command("design", design)()
    """
    words = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), "output=run"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A shell's background job ignores Ctrl-C and hands that on to its children: the tests may be one.
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(words, cwd=tmp_path, env=environment, **pipes, **heard) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
    assert (process.returncode, error) == (130, "interrupted\ngo on with: sscq design resume=run\n")


# ---------------------------------------------------------------------------------------------------------- plant files

PLANT = """
import plants

def derivative(t, x, u, w, p):
    return (u[0] - x[0],)

plants.register(plants.Plant(
    name="my_tank",
    states=(plants.Quantity("level", "m"),),
    inputs=(plants.Quantity("inflow", "m/s"),),
    derivative=derivative,
))
"""


def test_a_users_plant_is_executed_and_found_and_kept(capsys):
    Path("tank.py").write_text(PLANT)
    assert Job().config("plant_file=tank.py", "plant=my_tank", "output=run").plant == "my_tank"
    assert capsys.readouterr().err.startswith("executing tank.py")
    assert Path("run/inputs/0-tank.py").read_text() == PLANT
    Job().run("resume=run")


def test_a_plant_file_gives_its_only_plant_or_lists_several(capsys):
    Path("tank.py").write_text(PLANT)
    assert Job().config("plant_file=tank.py", "output=run").plant == "my_tank"
    Job().run("resume=run")
    Path("tanks.py").write_text(PLANT.replace("my_tank", "first_tank") + PLANT.replace("my_tank", "second_tank"))
    error = Job().refused(capsys, "plant_file=tanks.py", "output=none")
    assert "tanks.py gives several plants; say which one: plant=first_tank, plant=second_tank" in error
    assert not Path("none").exists()
    assert Job().config("plant_file=tanks.py", "plant=second_tank").plant == "second_tank"
    assert Job().config("plant_file=tanks.py", "plant=pendulum").plant == "pendulum"
    assert Job().config().plant == "van_der_pol"


def test_the_step_is_the_plants_own_unless_it_is_given():
    assert Job().config("plant=dc_motor").step == 0.002
    assert Job().config("plant=dc_motor", "step=0.001").step == 0.001


def test_a_plants_task_is_named_behind_it_and_files_hold_the_plants_own_name(capsys):
    assert Job().config("plant=balancing_vehicle:slippery", "output=run").plant == "balancing_vehicle_slippery"
    assert capsys.readouterr().err == ""
    assert Job().config("resume=run").plant == "balancing_vehicle_slippery"
    assert capsys.readouterr().err == ""
    assert Job().config("plant=balancing_vehicle_slippery").plant == "balancing_vehicle_slippery"
    assert "is deprecated: say plant=balancing_vehicle:slippery" in capsys.readouterr().err
