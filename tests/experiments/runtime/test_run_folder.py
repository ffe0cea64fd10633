"""The run folder: refused, locked, resumed, and whole whenever it is killed."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder, new_path, read_record

ROOT = Path(__file__).parents[3]


def create(path, **changes):
    return RunFolder.create(path, **{"command": "design", "config": {"seed": 1}, **changes})


def number_stage(folder, name, compute):
    """A stage whose result is a number in a JSON file."""
    return folder.stage(
        name,
        compute,
        lambda place, value: formats.write_json(place / "value.json", value),
        lambda place: formats.read_json(place / "value.json"),
    )


def never(_):
    raise AssertionError("a finished stage was computed again")


def python(code, *arguments):
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def content(path):
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != "times.json")
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in files}


# ---------------------------------------------------------------------------------------------------- making a folder


def test_a_new_run_holds_what_was_asked_and_which_programs_answer(tmp_path):
    with create(tmp_path / "run", overrides=["seed=1"]) as folder:
        assert not folder.resumed
    record = read_record(tmp_path / "run")
    assert (record["command"], record["config"], record["overrides"]) == ("design", {"seed": 1}, ["seed=1"])
    versions = formats.read_json(tmp_path / "run" / "versions.json")
    assert versions["python"] == sys.version.split()[0]
    assert versions["numpy"]


def test_settings_keep_their_order(tmp_path):
    # situations are evaluated, and summed, in the order in which they are given
    with create(tmp_path / "run", config={"b": {"z": 1, "a": 2}, "a": 0}) as folder:
        assert list(folder.config) == ["b", "a"]
        assert list(folder.config["b"]) == ["z", "a"]


def test_a_folder_with_other_content_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"not empty \(thesis.tex"):
        create(tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_with_a_run_is_refused_with_the_way_to_go_on(tmp_path):
    create(tmp_path / "run").close()
    with pytest.raises(UserError, match="go on with it by resume="):
        create(tmp_path / "run")


def test_leftovers_of_a_run_killed_before_it_began_do_not_stand_in_the_way(tmp_path):
    (tmp_path / ".lock").write_text("1\n")
    (tmp_path / ".config.json.tmp-1-0").write_text("{")
    create(tmp_path).close()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["config.json", "versions.json"]


def test_an_output_folder_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written: not a directory; choose another with output="):
        create(tmp_path / "file" / "run")


def test_a_read_only_output_folder_is_refused(tmp_path):
    # Root may write anywhere, so the attempt is made by a fork that has given its rights up.
    tmp_path.chmod(0o555)
    done = python(
        """
        import os, sys
        from pathlib import Path
        from experiments.runtime.errors import UserError
        from experiments.runtime.run_folder import RunFolder
        folder = os.open(sys.argv[1], os.O_RDONLY)
        os.fchdir(folder)  # reached although the way there is closed to others
        if os.getuid() == 0:
            os.setuid(65534)
        try:
            RunFolder.create(Path("run"), command="design", config={})
        except UserError as error:
            print(error)
        """,
        tmp_path,
    )
    tmp_path.chmod(0o755)
    assert done.stdout == "output folder run cannot be written: permission denied; choose another with output=FOLDER\n"
    assert done.stderr == ""


def test_new_folders_are_named_by_command_and_never_twice(tmp_path):
    paths = [new_path("design", tmp_path) for _ in range(3)]
    assert len(set(paths)) == 3
    assert {path.parent for path in paths} == {tmp_path / "design"}


# ------------------------------------------------------------------------------------------------------------- locking


def test_a_folder_in_use_is_refused_and_free_again_when_its_process_is_gone(tmp_path):
    holder = """
        import sys
        from experiments.runtime.run_folder import RunFolder
        folder = RunFolder.create(sys.argv[1], command="design", config={"seed": 1})
        print("held", flush=True)
        sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(holder), str(tmp_path / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"in use by process {process.pid}"):
            RunFolder.resume(tmp_path / "run", command="design")
        process.kill()
        process.wait()
    assert (tmp_path / "run" / ".lock").exists()  # it could not tidy up, and yet:
    with RunFolder.resume(tmp_path / "run", command="design") as folder:
        assert (folder.path / ".lock").read_text() == f"{os.getpid()}\n"
    assert not (tmp_path / "run" / ".lock").exists()


# -------------------------------------------------------------------------------------------------------------- stages


def test_a_finished_stage_is_read_back_and_an_unfinished_one_entered_with_its_checkpoints(tmp_path):
    def stopped(checkpoints):
        (checkpoints / "half").write_text("done so far")
        raise KeyboardInterrupt

    def first_session():
        with create(tmp_path / "run") as folder:
            assert number_stage(folder, "first", lambda _: 0.1) == 0.1
            number_stage(folder, "second", stopped)

    with pytest.raises(KeyboardInterrupt) as stop:
        first_session()
    assert stop.value.__notes__ == [f"go on with: sscq design resume={tmp_path / 'run'}"]

    with RunFolder.resume(tmp_path / "run", command="design") as folder:
        assert folder.resumed
        assert number_stage(folder, "first", never) == 0.1
        assert number_stage(folder, "second", lambda checkpoints: len((checkpoints / "half").read_text())) == 11
    assert not (tmp_path / "run" / "checkpoints").exists()
    assert set(formats.read_json(tmp_path / "run" / "times.json")) == {"first", "second"}


def test_a_stage_hands_on_what_is_read_back(tmp_path):
    with create(tmp_path / "run") as folder:
        result = folder.stage(
            "rounded",
            lambda _: 1 / 3,
            lambda place, value: (place / "value").write_text(f"{value:.2f}"),
            lambda place: float((place / "value").read_text()),
        )
    assert result == 0.33


@pytest.mark.parametrize("value", [1, 10], ids=["equal", "another"])
def test_a_deleted_stage_is_computed_again_and_those_after_it_where_it_came_out_otherwise(tmp_path, value):
    with create(tmp_path / "run") as folder:
        number_stage(folder, "first", lambda _: 1)
        number_stage(folder, "second", lambda _: 2)
    for file in (tmp_path / "run/stages/first").iterdir():
        file.unlink()
    with RunFolder.resume(tmp_path / "run", command="design") as folder:
        assert number_stage(folder, "first", lambda _: value) == value
        assert number_stage(folder, "second", never if value == 1 else lambda _: 20) == 2 * value


def test_a_stage_that_fails_leaves_nothing_that_looks_finished(tmp_path):
    def half_saved(place, _):
        (place / "value.json").write_text("1")
        raise OSError("disk full")

    with create(tmp_path / "run") as folder:
        with pytest.raises(OSError, match="disk full"):
            folder.stage("first", lambda _: 1, half_saved, never)
        assert list((tmp_path / "run/stages").iterdir()) == []


def test_a_changed_stage_is_refused(tmp_path):
    with create(tmp_path / "run") as folder:
        number_stage(folder, "first", lambda _: 1)
    (tmp_path / "run/stages/first/value.json").write_text("2\n")
    with (
        RunFolder.resume(tmp_path / "run", command="design") as folder,
        pytest.raises(UserError, match=r"first/value\.json was changed since the run wrote it"),
    ):
        number_stage(folder, "first", never)


@pytest.mark.parametrize("name", ["../first", "First", "", "a b"])
def test_a_stage_name_cannot_leave_the_folder(tmp_path, name):
    with create(tmp_path / "run") as folder, pytest.raises(ValueError, match="made of a-z, 0-9 and _"):
        number_stage(folder, name, lambda _: 1)


def test_two_stages_cannot_share_a_name(tmp_path):
    with create(tmp_path / "run") as folder:
        number_stage(folder, "first", lambda _: 1)
        with pytest.raises(ValueError, match="has been run already"):
            number_stage(folder, "first", lambda _: 2)


# ------------------------------------------------------------------------------------------------------------ resuming


def test_resume_needs_a_run_of_the_same_command(tmp_path):
    create(tmp_path / "run").close()
    with pytest.raises(UserError, match="is a run of `sscq design`, not of `sscq evaluate`"):
        RunFolder.resume(tmp_path / "run", command="evaluate")
    with pytest.raises(UserError, match="there is no run folder"):
        RunFolder.resume(tmp_path / "other", command="design")
    with pytest.raises(UserError, match="holds no run"):
        RunFolder.resume(tmp_path, command="design")


def test_a_damaged_configuration_is_refused(tmp_path):
    create(tmp_path / "run").close()
    place = tmp_path / "run" / "config.json"
    place.write_text(place.read_text()[:40])
    with pytest.raises(ValueError, match=r"config\.json is not complete JSON"):
        RunFolder.resume(tmp_path / "run", command="design")


def test_a_users_file_is_copied_and_must_stay_the_same(tmp_path):
    plant = tmp_path / "my_plant.py"
    plant.write_text("gravity = 9.81\n")
    create(tmp_path / "run", inputs=[plant]).close()
    assert (tmp_path / "run/inputs/0-my_plant.py").read_text() == "gravity = 9.81\n"
    RunFolder.resume(tmp_path / "run", command="design").close()
    plant.write_text("gravity = 1.62\n")
    with pytest.raises(UserError, match=r"my_plant\.py has changed since the run was started"):
        RunFolder.resume(tmp_path / "run", command="design")
    plant.unlink()
    with pytest.raises(UserError, match="is not there"):
        RunFolder.resume(tmp_path / "run", command="design")


def test_other_versions_are_told(tmp_path, monkeypatch):
    create(tmp_path / "run").close()
    known = formats.read_json(tmp_path / "run" / "versions.json")
    monkeypatch.setattr("experiments.runtime.run_folder.versions", lambda: {**known, "numpy": "9.0"})
    with RunFolder.resume(tmp_path / "run", command="design") as folder:
        assert folder.changed_versions == [f"numpy is 9.0, the run was begun with {known['numpy']}"]


@pytest.mark.parametrize("stride", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_any_moment_a_run_ends_with_the_same_bytes(tmp_path, stride):
    script = Path(__file__).with_name("killed_runs.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", str(script), str(tmp_path), str(stride)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300  # so many moments does the run have; far fewer would mean that it was not killed


def test_equal_runs_are_equal_to_the_byte(tmp_path):
    for name in ("one", "two"):
        with create(tmp_path / name) as folder:
            number_stage(folder, "first", lambda _: 0.1 + 0.2)
            folder.write_csv("table.csv", ["x"], [[1.5]])
            folder.write_npz("arrays.npz", {"x": [1.5]})
            folder.write_text("report.html", "<p>")
    assert content(tmp_path / "one") == content(tmp_path / "two")
