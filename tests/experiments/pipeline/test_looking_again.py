"""A verdict that leaves something open is asked once more, in more fresh situations, of all controllers alike."""

from dataclasses import replace

import numpy as np
import pytest

from configs.schema import DrawsConfig
from experiments.pipeline import judging
from experiments.report import outputs
from experiments.report.builders import evidence
from experiments.runtime import formats
from experiments.runtime.run_folder import RunFolder
from tests.experiments import finished_run

DRAWS = 40


@pytest.fixture
def looks(monkeypatch):
    """The verdicts of a run, in their order; the first is made to leave the knowledge base open."""
    decide, found = judging.decide, []

    def first_leaves_open(*told):
        found.append(verdict := decide(*told))
        return replace(verdict, undecided="knowledge_base" if len(found) == 1 else "")

    monkeypatch.setattr(judging, "decide", first_leaves_open)
    return found


def made(place, again):
    draws = DrawsConfig(taught=0, validation=0, verdict=DRAWS, again=again)
    folder = RunFolder.create(place, command="design", config={"plant": "van_der_pol", "seed": 0}, overrides=[])
    with folder:
        return finished_run.run(folder, finished_run.configuration(draws=draws))


def test_what_is_left_open_is_judged_again_in_more_situations(tmp_path, looks):
    run = made(tmp_path / "run", again=2)
    assert len(looks) == 2
    assert run.judgement.left_open == "knowledge_base"
    assert len(run.bench.setup.sets["drawn"]) == 2 * DRAWS
    for one in run.group:
        if one.name != "oracle":
            first, again = (
                formats.read_npz(tmp_path / "run" / "stages" / stage / "quality.npz")[f"{one.name}.drawn"]
                for stage in ("judgement", "judgement_again")
            )
            assert again.shape[1:] == (1, 2 * DRAWS)
            np.testing.assert_array_equal(again[:, :, :DRAWS], first)  # the same rollouts, and others
            np.testing.assert_array_equal(run.judgement.quality[one.name, "drawn"], again)
    assert run.judgement.chosen_on["fixed"].failed.size == 2 * DRAWS
    covers = evidence.evidence(run.case).covers
    assert covers.startswith(f"{2 * DRAWS} fresh situations")
    assert f"The first {DRAWS} of those that judge left undecided whether to recommend the knowledge base" in covers
    told = outputs.metrics(run.bench, run.reference, run.group, run.judgement, run.refined)
    assert told["left_open"] == "knowledge_base"


def test_a_stopped_run_goes_on_behind_both_looks(tmp_path, looks, monkeypatch):
    place = tmp_path / "run"
    first = made(place, again=2)
    looks.clear()
    monkeypatch.setattr(judging, "rollouts", None)  # no loop is run any more
    with RunFolder.resume(place, command="design") as folder:
        again = finished_run.run(folder, first.config)
    assert len(looks) == 2
    assert again.judgement.verdict == first.judgement.verdict
    assert again.judgement.left_open == first.judgement.left_open


def test_it_is_asked_once_more_only_where_that_is_wished(tmp_path, looks):
    run = made(tmp_path / "run", again=1)
    assert len(looks) == 1
    assert run.judgement.left_open == ""
    assert len(run.bench.setup.sets["drawn"]) == DRAWS
    assert not (tmp_path / "run" / "stages" / "judgement_again").exists()
    assert "so that these favour none." in evidence.evidence(run.case).covers
    assert "left_open" not in outputs.metrics(run.bench, run.reference, run.group, run.judgement, run.refined)
