"""Designs that go on from the knowledge base of an earlier one, from end to end, and resumed without its file."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from experiments import design
from experiments.cases import kb_case
from experiments.pipeline.judged_rollouts import recommendable
from experiments.pipeline.refining import on_task
from experiments.report.outputs import leaves
from experiments.runtime import formats
from experiments.settings import begun
from experiments.settings.start import given
from experiments.starting.opening import configured
from flcs import KnowledgeBase
from tests.experiments.front import smallest

TINY = smallest.words()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """An earlier design and one that goes on from it, with a rung that is searched, too."""
    place = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        design.main([*TINY, "output=first"])
        shutil.copy("first/knowledge_base.json", "kb.json")
        design.main(
            [*TINY, "output=second", "start=kb.json", "seed=1", "ladder.further=[direct]", "exports.to=[python]"]
        )
    return place


def controllers(run):
    return formats.read_json(run / "metrics.json")["controllers"]


def cost(job, kb, limit):
    """Fitness in the taught situations with a limit on travel, or None."""
    task = job.task(fitness=replace(kb_case.fitness_of(kb), travel_limit=limit))
    return on_task(SimpleNamespace(setup=job), task)(kb)


def test_what_comes_out_is_no_worse_than_what_was_given_at_the_same_limits(runs, monkeypatch):
    monkeypatch.chdir(runs)
    job = begun(configured("design", [*TINY, "start=kb.json"]))
    names = ("knowledge_base", "knowledge_base_direct", "knowledge_base_free_travel")
    equal, direct, free = (KnowledgeBase.load(runs / "second" / f"{name}.json") for name in names)
    stored = replace(given(job), fitness=equal.fitness)
    travel = controllers(runs / "second")["fixed"]["measures"]["taught"]["total_variation"]
    assert cost(job, equal, travel) <= cost(job, stored, travel)
    assert cost(job, direct, travel) <= cost(job, stored, travel)
    assert cost(job, free, None) < cost(job, stored, None)


def test_what_was_given_is_judged_and_may_be_recommended(runs):
    found = controllers(runs / "second")["given"]
    assert (found["title"], found["evaluations"]) == ("knowledge base given as start", 0)
    assert recommendable(["two_degree", "given", "rival_x", "fixed"]) == ("fixed", "rival_x", "given", "two_degree")


def test_what_is_recommended_is_exported(runs):
    run = runs / "second"
    kbs = {
        name: KnowledgeBase.load(run / f"{name}.json") for name in ("given", "knowledge_base", "knowledge_base_direct")
    }
    recommended = formats.read_json(run / "metrics.json")["recommended"]
    delivered = KnowledgeBase.load(run / "recommended.json")
    exported = formats.read_json(run / "exports" / "manifest.json")["knowledge_base"]
    assert exported == delivered.content_hash
    if recommended in kbs:
        assert delivered.content_hash == kbs[recommended].content_hash
    assert leaves("given", kbs) == "given"
    assert leaves("fixed", kbs) == "knowledge_base"


def test_inputs_are_those_of_the_earlier_design(runs):
    first, second = (KnowledgeBase.load(runs / name / "knowledge_base.json") for name in ("first", "second"))
    assert second.input_names == first.input_names


def test_what_was_given_is_stored_with_its_record(runs):
    first, given = (KnowledgeBase.load(runs / name) for name in ("first/knowledge_base.json", "second/given.json"))
    assert given.channels == first.channels
    assert given.validation[0]["fitness"] == pytest.approx(
        controllers(runs / "second")["given"]["fitness_declared"]["validation"]
    )
    assert "given.json" in (runs / "second" / "report.html").read_text()


def resumed(runs, tmp_path, monkeypatch):
    """A copy of the second run whose refinement is still to be done."""
    shutil.copytree(runs / "second", tmp_path / "second")
    shutil.copy(runs / "kb.json", tmp_path / "kb.json")
    for stage in ("knowledge_base_equal", "judgement"):
        shutil.rmtree(tmp_path / "second" / "stages" / stage)
    monkeypatch.chdir(tmp_path)


def test_a_resumed_design_reads_its_copy_where_the_file_is_gone(runs, tmp_path, monkeypatch):
    resumed(runs, tmp_path, monkeypatch)
    Path("kb.json").unlink()
    design.main(["resume=second", "quiet=true"])
    for name in ("knowledge_base.json", "metrics.json", "given.json"):
        assert Path("second", name).read_bytes() == (runs / "second" / name).read_bytes()


def test_a_changed_file_is_refused(runs, tmp_path, monkeypatch, capsys):
    resumed(runs, tmp_path, monkeypatch)
    shutil.copy(runs / "second" / "knowledge_base.json", "kb.json")
    with pytest.raises(SystemExit):
        design.main(["resume=second"])
    said = capsys.readouterr().err
    assert said == (
        "error: kb.json has changed since the run was started (inputs/0-kb.json is what it was); start anew\n"
    )


def test_another_start_is_refused(runs, tmp_path, monkeypatch, capsys):
    resumed(runs, tmp_path, monkeypatch)
    with pytest.raises(SystemExit):
        design.main(["resume=second", "start=other.json"])
    assert "start: 'kb.json' in the run, 'other.json' now" in capsys.readouterr().err
