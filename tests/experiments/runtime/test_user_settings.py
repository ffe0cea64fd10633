"""YAML and arguments from elsewhere set settings; nothing in them is executed, whatever way they come in."""

import json
import os
from pathlib import Path

import pytest

from experiments.runtime import user_settings
from experiments.runtime.errors import UserError
from experiments.starting.launch import command

pytestmark = pytest.mark.usefixtures("own_folder")


def design(*words):
    found = []
    command("design", lambda config, folder: found.append(config))(list(words))
    return found[-1]


@pytest.fixture
def refused(capsys):
    """Run a command that must be refused in a sentence; return what it says."""

    def run(*words):
        with pytest.raises(SystemExit) as stop:
            design(*words)
        error = capsys.readouterr().err
        assert stop.value.code == 2
        assert "Traceback" not in error
        assert not Path("victim").exists()
        return error

    return run


def own(text, part="situations/mine"):
    place = Path("own", f"{part}.yaml")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


FILES = {
    "callbacks": ("# @package _global_\nhydra: {callbacks: {evil: {_target_: shutil.copyfile, src: a, dst: victim}}}", "line 2: 'hydra' would change how"),
    "a package": ("# @package hydra\ncallbacks: {evil: {dst: victim}}", "'# @package hydra' would change how"),
    "a package within": ("# @package hydra.callbacks\nevil: {dst: victim}", "'# @package hydra.callbacks' would change how"),
    "a package by defaults": ("defaults: [/controller@hydra.callbacks: pid]", "'/controller@hydra.callbacks' would change how"),
    "another launcher": ("# @package _global_\ndefaults: [{override /hydra/launcher: joblib}]", "'override /hydra/launcher' would change how"),
    "a target": ("taught: {a: {_target_: shutil.copyfile}}", "line 1: settings call nothing, got '_target_'"),
    "the environment": ("taught: {a: {name: '${oc.env:HOME}'}}", "settings are values and refer to nothing"),
    "another setting": ("taught: {a: {reference: '${seed}'}}", "settings are values and refer to nothing"),
    "an alias": ("taught: &a {b: {reference: 1}}\nvalidation: *a", "written out, without anchors (&), aliases (*) and tags (!)"),
    "a tag": ("taught: !!python/object/apply:os.system [touch victim]", "without anchors (&), aliases (*) and tags"),
    "nesting": ("taught: " + "[" * 5000 + "]" * 5000, "settings are nested no deeper than 32"),
    "size": ("# " + "x" * 200_000, "mine.yaml is larger than 0.125 MiB"),
    "no text": ("taught: \udcff", "mine.yaml is no UTF-8 text"),
    "an unknown escape": ('taught: "\\q"', "this is no YAML"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_part_of_a_users_that_does_more_than_set_settings_is_refused(refused, kind):
    text, message = FILES[kind]
    own("")
    Path("own/situations/mine.yaml").write_bytes(text.encode(errors="surrogateescape"))
    assert message in refused("--config-dir=own", "situations=mine")


def test_a_list_of_lists_that_would_fill_the_memory_is_refused(refused):
    levels = "\n".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12))
    own(f"a0: &a0 [x]\n{levels}")
    assert "without anchors" in refused("--config-dir=own", "situations=mine")


@pytest.mark.parametrize(
    "words",
    [
        "hydra.callbacks.evil._target_=shutil.copyfile", "+hydra.callbacks.evil={_target_:shutil.copyfile}",
        "hydra.searchpath=[file://own]", "hydra/launcher=evil", "+hydra/callbacks=evil", "~hydra.run", "hydra.run.dir=x",
        "+controller@hydra.callbacks=pid", "hydra/job_logging=evil", "seed=${oc.env:HOME}", "+x._target_=os.system",
        "plant=${seed}", "+front.a={_target_: os.system}",
        "--config-path=own", "-cp own", "--config-name=mine", "-cn mine", "--config-n mine", "--experimental-rerun=a.pickle",
    ],
)  # fmt: skip
def test_arguments_that_do_more_than_set_settings_are_refused(refused, words):
    own("hydra: {callbacks: {evil: {_target_: shutil.copyfile}}}", "hydra/callbacks/evil")
    own("root: {}", "hydra/job_logging/evil")
    own("seed: 3", "mine")
    refused("--config-dir=own", *words.split(" ", 1))


@pytest.mark.parametrize(
    "way",
    [
        "../own/situations/mine",
        "../../../../../../../../../../../../../..{here}/own/situations/mine",
        "{here}/own/situations/mine",
    ],
)
def test_a_part_is_a_name_and_no_way_to_a_file(refused, way, own_folder):
    own("taught: {a: {reference: '${seed}'}}")
    refused("--config-dir=own", f"situations='{way.format(here=own_folder)}'")
    refused("--config-dir=own", "situations=" + way.format(here=own_folder))


def test_a_part_of_a_part_is_checked_too(refused):
    own("defaults: [other]\ntaught: {a: {reference: 2}}")
    own("validation: {b: {_target_: os.system}}", "situations/other")
    assert "settings call nothing" in refused("--config-dir=own", "situations=mine")


def test_parts_that_set_settings_work_as_before():
    own("defaults: [other]\ntaught: {a: {reference: 2}}")
    own("validation: {b: {reference: 3}}", "situations/other")
    own("# @package _global_\nbudget: {evaluations: 77}\nseed: 5", "experiment/mine")
    config = design("--config-dir=own", "situations=mine", "experiment=mine", "hydra/hydra_logging=none")
    assert (list(config.situations.taught), list(config.situations.validation)) == (["a"], ["b"])
    assert (config.seed, config.budget.evaluations) == (5, 77)


def test_a_runs_stored_settings_are_checked():
    for value in ({"a": ["${oc.env:HOME}"]}, {"_target_": 1}, {"a": {"b": "_partial_"}}):
        with pytest.raises(UserError, match=r"config\.json: settings"):
            user_settings.check_values(json.loads(json.dumps(value)), "config.json")
    user_settings.check_values({"a": [1, None, 2.5, True, "word"]}, "config.json")


@pytest.mark.parametrize("place", ["/dev/zero", "pipe"])
def test_a_part_that_is_no_file_is_not_waited_for(refused, place):
    os.mkfifo("pipe")
    Path("own/situations").mkdir(parents=True)
    Path("own/situations/mine.yaml").symlink_to(Path(place).absolute())
    refused("--config-dir=own", "situations=mine")


def test_where_the_runs_of_a_sweep_go_may_be_said_at_the_terminal_and_nowhere_else():
    user_settings.check_arguments(["-m", "seed=1,2", "hydra.sweep.dir=mine"])
    for word in ("hydra.sweep.dir=${oc.env:HOME}", "hydra.sweep.dir={_target_: x}", "hydra.sweep.dir.x=1"):
        with pytest.raises(UserError):
            user_settings.check_arguments([word])
    with pytest.raises(UserError, match="would change how commands are started"):
        user_settings.check_words(["hydra.sweep.dir=mine"])  # as a stored run has them
