"""What the reactors' comparison declares: situations known by hashes, others refused."""

from __future__ import annotations

import hashlib
import json

import pytest
import yaml
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from configs import FOLDER, store
from experiments.runtime.errors import UserError
from experiments.runtime.stages import digest_of
from experiments.studies import reactors as comparison
from experiments.studies.engine import declaration as engine_declaration
from experiments.studies.reactors import DECLARED, declaration, require_declared

SITUATIONS = {
    "taught": {"a": {"reference": 1.0, "initial": [1.0, 2.0], "excitation": {"kind": "white", "hold": 10.0}}},
    "validation": {"b": {"reference": 2.0, "seed": 6}},
    "unforeseen": {"c": {"reference": 3.0, "parameters": {"transfer": 700.0}}, "d": {"reference": 4.0}},
}


def test_the_recipes_are_what_is_declared():
    """Whoever changes a situation has to declare it anew, with its history."""
    found = declaration()
    assert set(found.situations) == set(comparison.RECIPES)
    assert found.digest == hashlib.sha256(DECLARED.read_bytes()).hexdigest()
    for recipe, digest in found.situations.items():
        assert digest == digest_of(engine_declaration.plain(FOLDER / "situations" / f"{recipe}.yaml"))


def test_hard_steps_are_those_first_written():
    """The two that had been made milder: as they were before any controller was run in them."""
    steps = yaml.safe_load((FOLDER / "situations" / "cstr_steps.yaml").read_text())["unforeseen"]
    assert (steps["cold to hot"]["reference"], steps["cold to hot"]["initial"]) == (360.0, [676.0, 340.0])
    fouled = steps["fouled jacket"]
    assert (fouled["reference"], fouled["initial"], fouled["parameters"]) == (
        355.0, [676.0, 340.0], {"transfer": 666.7}
    )  # fmt: skip


def test_the_page_says_what_was_declared_when():
    found = declaration()
    chosen = comparison.ReactorOptions(("cstr_steps",), None, (0,), ("budget=small",))
    page = comparison.page(["## A recipe"], chosen, found)
    assert found.digest in page
    assert found.rule in page
    assert all(entry in page for entry in found.history)
    assert page.index(found.digest) < page.index("## A recipe")


# ---------------------------------------------------------------------------------------------------------- refusals


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


@pytest.fixture
def declared(tmp_path):
    folder = write(tmp_path / "situations" / "steps.yaml", SITUATIONS).parent
    given = {
        "declared": "2026-01-01", "rule": "as first written", "history": ["2026-01-01, first written"],
        "situations": {"steps": digest_of(SITUATIONS)},
    }  # fmt: skip
    return given, folder, tmp_path / "study.yaml"


def test_comments_do_not_count_but_numbers_do(declared):
    given, folder, path = declared
    (folder / "steps.yaml").write_text("# words\n" + (folder / "steps.yaml").read_text())
    assert declaration(write(path, given), folder).declared == "2026-01-01"
    milder = {**SITUATIONS, "unforeseen": {**SITUATIONS["unforeseen"], "d": {"reference": 3.5}}}
    write(folder / "steps.yaml", milder)
    with pytest.raises(UserError, match=r"steps.yaml says something else than was declared on 2026-01-01"):
        declaration(path, folder)


@pytest.mark.parametrize(("key", "name"), [("rule", None), (None, "rules")])
def test_entries_that_are_missing_or_unknown_are_refused(declared, key, name):
    given, folder, path = declared
    given = {k: v for k, v in given.items() if k != key} | ({name: "x"} if name else {})
    with pytest.raises(UserError, match=f"missing or unknown: {key or name}$"):
        declaration(write(path, given), folder)


def stored(tmp_path, situations):
    """A run's record: its settings hold every default beside what is declared."""
    full = {
        kind: {name: {"noise": 0.0, "seed": 1} | given for name, given in several.items()}
        for kind, several in situations.items()
    }
    full["taught"]["a"]["excitation"] = {"variance": 0.3} | full["taught"]["a"]["excitation"]
    run = tmp_path / "run"
    run.mkdir(exist_ok=True)
    record = {"schema": "sscq-run", "version": 1, "config": {"situations": full | {"taught_spread": 0.0}}}
    (run / "config.json").write_text(json.dumps(record))
    return run


@pytest.fixture
def any_record(monkeypatch):
    monkeypatch.setattr(
        comparison, "read_record", lambda run: json.loads((run / "config.json").read_text(encoding="utf-8"))
    )


def test_a_run_in_the_declared_situations_passes(declared, tmp_path, any_record):
    _, folder, _ = declared
    require_declared("steps", stored(tmp_path, SITUATIONS), folder)


@pytest.mark.parametrize("recipe", list(comparison.RECIPES))
def test_every_recipe_is_made_with_what_is_declared(recipe, tmp_path, monkeypatch):
    """The settings that a run stores, numbers written like 1e-4 among them."""
    store.register()
    with initialize_config_dir(version_base="1.3", config_dir=str(FOLDER)):
        settings = OmegaConf.to_container(compose("design", overrides=[f"experiment={recipe}"]))
    monkeypatch.setattr(comparison, "read_record", lambda _: {"config": settings})
    require_declared(recipe, tmp_path)
    next(iter(settings["situations"]["unforeseen"].values()))["reference"] += 0.5
    with pytest.raises(UserError, match="other unforeseen situations than are declared"):
        require_declared(recipe, tmp_path)


@pytest.mark.parametrize(
    ("kind", "several", "named"),
    [
        ("unforeseen", {"c": SITUATIONS["unforeseen"]["c"]}, "d"),  # one is missing
        ("validation", {"b": {"reference": 2.1, "seed": 6}}, "b"),  # another number
        ("unforeseen", {**SITUATIONS["unforeseen"], "e": {"reference": 5.0}}, "e"),  # one more
        ("taught", {"a": {**SITUATIONS["taught"]["a"], "excitation": {"kind": "none", "hold": 10.0}}}, "a"),
    ],
)
def test_a_run_in_other_situations_is_refused(declared, tmp_path, any_record, kind, several, named):
    _, folder, _ = declared
    run = stored(tmp_path, {**SITUATIONS, kind: several})
    with pytest.raises(UserError, match=rf"other {kind} situations than are declared \({named}\)"):
        require_declared("steps", run, folder)
