"""A run's folder that somebody else made: resumed, opened or read, it does no harm, and says what is wrong with it."""

import json
import os
import py_compile
import shutil
from pathlib import Path

import pytest

from experiments.runtime.errors import UserError, tell
from experiments.runtime.run_folder import RunFolder, read_record
from experiments.starting import plant_choice
from experiments.starting.launch import command
from plants.core import registry
from plants.core.kernel import cache

PLANT = """
import plants
from pathlib import Path

Path({mark!r}).write_text("executed")


def derivative(t, x, u, w, p):
    return (u[0] - x[0],)


plants.register(plants.Plant(
    name="my_tank", states=(plants.Quantity("level", "m"),), inputs=(plants.Quantity("inflow", "m/s"),),
    channels=(plants.Channel(output="level", low=0.0, high=1.0),), derivative=derivative,
))
"""


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """A folder to be in, and a cache of this test's own, in which nothing was executed yet."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "cache"))


def design(*words):
    """Run a command that does nothing but begin; return its settings."""
    found = []
    command("design", lambda config, folder: found.append(config))(list(words))
    return found[0]


@pytest.fixture
def refused(capsys):
    """Run a command that must be refused in a sentence; return what it says."""

    def run(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            design(*words)
        error = capsys.readouterr().err
        assert stop.value.code == 2
        assert "Traceback" not in error
        assert len(error) < 2000
        return error

    return run


def changed(folder, change):
    """Change a run's record."""
    place = Path(folder, "config.json")
    record = json.loads(place.read_text())
    change(record)
    place.write_text(json.dumps(record))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A run that was begun, to be copied."""
    place = tmp_path_factory.mktemp("begun") / "run"
    design(f"output={place}")
    return place


@pytest.fixture
def run(begun):
    """A run that was begun, in the folder "run"."""
    return Path(shutil.copytree(begun, "run"))


@pytest.fixture
def foreign():
    """A run with a plant file, as it comes from somebody else: nothing of it was executed here."""
    known = registry.snapshot()
    Path("plant.py").write_text(PLANT.format(mark="mark"))
    design("plant_file=plant.py", "output=run")
    registry.restore(known)
    cache.clear()
    Path("mark").unlink()


# --------------------------------------------------------------------------------------------------- ways out of the folder


@pytest.mark.usefixtures("foreign")
def test_a_copy_of_an_input_is_never_written_outside(refused, tmp_path):
    (tmp_path / "victim").mkdir()
    changed("run", lambda record: record["inputs"][0].update(copy="../../victim/x"))
    assert "no run keeps 'plant.py' as '../../victim/x'" in refused("resume=run")
    assert not list((tmp_path / "victim").iterdir())


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to], ids=["link", "second name"])
@pytest.mark.usefixtures("run")
def test_the_lock_overwrites_nothing(refused, make):
    Path("victim").write_text("years of work")
    make(Path("run/.lock"), Path("victim").resolve())
    assert ".lock is " in refused("resume=run")
    assert Path("victim").read_text() == "years of work"
    Path("run/.lock").unlink()
    os.mkfifo("run/.lock")
    assert "run/.lock is " in refused("resume=run")


def test_a_lock_that_is_a_link_stands_in_the_way_of_a_new_run_too(tmp_path):
    Path("victim").write_text("years of work")
    (tmp_path / "new").mkdir()
    (tmp_path / "new/.lock").symlink_to(Path("victim").resolve())
    with pytest.raises(UserError, match=r"\.lock is a link; no run writes one: delete it"):
        RunFolder.create(tmp_path / "new", command="design", config={})
    assert Path("victim").read_text() == "years of work"


@pytest.mark.parametrize("name", ["stages", "inputs", "report.html", "stages/first/value.json"])
@pytest.mark.usefixtures("run")
def test_links_out_of_the_folder_are_refused(refused, tmp_path, name):
    (tmp_path / "outside").mkdir()
    place = Path("run", name)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "outside")
    assert f"{place} is a link to somewhere else, which no run makes; delete it" in refused("resume=run")
    place.unlink()
    place.symlink_to(place.name)
    assert "is a link to somewhere else" in refused("resume=run")
    place.unlink()
    os.mkfifo(place)
    assert f"{place} is neither a file nor a folder, which no run makes" in refused("resume=run")


@pytest.mark.usefixtures("run")
def test_a_link_within_the_folder_and_a_link_to_the_folder_are_no_harm():
    Path("run/again.json").symlink_to("config.json")
    Path("latest").symlink_to("run")
    design("resume=latest")


@pytest.mark.parametrize("file", ["/dev/zero", "/proc/self/mem", "pipe"])
@pytest.mark.usefixtures("foreign")
def test_an_input_that_is_no_file_is_not_waited_for(refused, file):
    os.mkfifo("pipe")
    changed("run", lambda r: r["inputs"][0].update(file=file, copy=f"inputs/0-{Path(file).name}"))
    refused("resume=run")


# -------------------------------------------------------------------------------------------------------------- execution


@pytest.mark.usefixtures("foreign")
def test_a_plant_file_that_only_the_folder_names_is_not_executed(refused):
    error = refused("resume=run", "quiet=true")
    assert "run names the plant file plant.py, of a content that was never executed here" in error
    assert error.endswith("if you trust it, say so by naming it: plant_file=plant.py\n")
    assert not Path("mark").exists()
    assert design("resume=run", "plant_file=plant.py").plant == "my_tank"
    assert Path("mark").exists()


def test_ones_own_run_goes_on_without_a_question_and_says_what_is_executed(capsys):
    Path("plant.py").write_text(PLANT.format(mark="mark"))
    design("plant_file=plant.py", "output=run")
    Path("mark").unlink()
    capsys.readouterr()
    design("resume=run", "quiet=true")
    assert capsys.readouterr().err.startswith("executing plant.py (the plant file of the run run")
    assert Path("mark").exists()


@pytest.mark.usefixtures("foreign")
def test_the_copy_in_a_folder_from_elsewhere_can_be_named_and_must_be_what_the_run_recorded(refused):
    Path("plant.py").unlink()
    assert "plant.py, which the run reads, is not there" in refused("resume=run")
    Path("other.py").write_text(PLANT.format(mark="other"))
    assert "other.py has changed since the run was started" in refused("resume=run", "plant_file=other.py")
    assert not Path("other").exists()
    assert design("resume=run", "plant_file=run/inputs/0-plant.py").plant == "my_tank"
    assert Path("mark").exists()


@pytest.mark.usefixtures("foreign")
def test_a_file_that_the_record_names_in_its_settings_alone_is_not_executed(refused):
    changed("run", lambda record: record.update(inputs=[]))
    assert "never executed here" in refused("resume=run")
    assert not Path("mark").exists()


@pytest.mark.usefixtures("foreign")
def test_a_knowledge_base_in_such_a_folder_executes_nothing():
    with pytest.raises(UserError, match=r"never executed here.*by naming it: plant_file=plant\.py"):
        plant_choice.stored_plant_file("run/knowledge_base.json")
    with pytest.raises(UserError, match=r"by naming it: --file plant\.py"):
        plant_choice.stored_plant_file("run/knowledge_base.json", "--file ")
    Path("plant.py").unlink()
    with pytest.raises(UserError, match=r"plant_file=run/inputs/0-plant\.py"):
        plant_choice.stored_plant_file("run/knowledge_base.json")
    plant_choice.load("run/inputs/0-plant.py", quiet=True)
    assert plant_choice.stored_plant_file("run/knowledge_base.json") == "run/inputs/0-plant.py"


def test_byte_code_beside_a_file_is_not_executed():
    Path("plant.py").write_text(PLANT.format(mark="evil"))
    code = py_compile.compile("plant.py", invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    Path("plant.py").write_text(PLANT.format(mark="good"))
    assert Path(code).is_file()
    plant_choice.load("plant.py", quiet=True)
    assert (Path("good").exists(), Path("evil").exists()) == (True, False)


@pytest.mark.usefixtures("foreign")
def test_what_is_remembered_is_this_users_alone():
    plant_choice.load("plant.py", quiet=True)
    (memory,) = cache.folder().glob("executed_*")
    assert memory.stat().st_mode & 0o777 == 0o600
    shutil.copyfile(memory, memory.with_name("executed_" + "0" * 64))
    assert cache.sealed(memory.with_name("executed_" + "0" * 64), memory.read_bytes().split(b"\n")[2].decode()) is None


# -------------------------------------------------------------------------------------------------------------- damage


def set_to(name, value):
    return lambda record: record.update({name: value})


def drop(name):
    return lambda record: record.pop(name)


DAMAGES = [
    *(drop(name) for name in ("command", "config", "overrides", "inputs", "schema", "version")),
    *(set_to(name, None) for name in ("command", "config", "overrides", "inputs")),
    *(set_to(name, 10**30) for name in ("command", "config", "overrides", "inputs")),
    set_to("overrides", [1]), set_to("overrides", ["=="]), set_to("overrides", ["seed=["]), set_to("inputs", [None]),
    set_to("inputs", [{}]), set_to("inputs", [{"file": 1, "copy": "inputs/0-1", "sha256": ""}]),
    set_to("overrides", ["+a=${oc.env:HOME}"]), set_to("overrides", ["hydra.searchpath=[/tmp]"]),
    lambda record: record["config"].update(controller=None), lambda record: record["config"].update(controller=[[[]]]),
    lambda record: record["config"].pop("assurance") and record["config"].pop("draws") and record["config"].update(controller=3),
    lambda record: record["config"].update(situations={"taught": {"a": None}}),
    lambda record: record["config"].update(plant=3), lambda record: record["config"].update(plant_file={}),
    lambda record: record["config"].update(step="${oc.env:HOME}"),
    lambda record: record["config"].update(front={"_target_": "shutil.copy"}),
    lambda record: record["config"].update({"": 1}), lambda record: record["config"].update(nothing=1),
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
@pytest.mark.usefixtures("run")
def test_a_damaged_record_is_refused_in_a_sentence(refused, damage):
    changed("run", damage)
    composed = json.loads(Path("run/config.json").read_text()).get("overrides") in (["=="], ["seed=["])
    refused("resume=run", *["seed=0"] * composed)  # which compares with what the run was begun with


@pytest.mark.parametrize(
    "content", ["", "[", "null", "[]", "3", '"x"', "[" * 10_000, "{" * 10_000, '{"a":' * 100 + "1" + "}" * 100]
)
@pytest.mark.usefixtures("run")
def test_files_that_are_not_what_they_were_are_refused_in_a_sentence(refused, content):
    for name in ("config.json", "versions.json"):
        before = Path("run", name).read_text()
        Path("run", name).write_text(content)
        assert name in refused("resume=run")
        Path("run", name).write_text(before)


@pytest.mark.parametrize(
    "content",
    [
        "null",
        '{"schema": "sscq-stage", "version": 1}',
        '{"schema": "sscq-stage", "version": 1, "inputs": 3, "files": []}',
    ],
)
def test_a_stage_whose_record_is_damaged_is_refused_in_a_sentence(content):
    def stage(folder, load):
        return folder.stage("one", lambda _: 1, lambda place, _: (place / "value").write_text("1"), load)

    with RunFolder.create("run", command="design", config={}) as folder:
        assert stage(folder, lambda place: int((place / "value").read_text())) == 1
    with (
        RunFolder.resume("run", command="design") as folder,
        pytest.raises(UserError, match="run/stages/one is damaged .KeyError: 'gone'"),
    ):
        stage(folder, lambda place: {}["gone"])
    Path("run/stages/one/stage.json").write_text(content)
    with RunFolder.resume("run", command="design") as folder, pytest.raises(ValueError, match=r"stage\.json"):
        stage(folder, lambda place: 1)


@pytest.mark.usefixtures("run")
def test_a_record_keeps_the_order_of_its_settings():
    assert list(read_record("run")["config"]) == list(json.loads(Path("run/config.json").read_text())["config"])


def test_signs_that_steer_a_terminal_are_written_out(capsys):
    tell("a\x1b[2Jb\rc\u202ed\ne\tf")
    assert capsys.readouterr().err == "a\\x1b[2Jb\\rc\\u202ed\ne\tf\n"
