"""Situations that no design has seen, controllers in them, and designs and findings that are kept."""

import subprocess

import numpy as np
import pytest

from configs.schema import DrawsConfig
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.settings import setup
from experiments.studies.afterwards.fresh import StudyCase, change_of, fresh_situations, named, rollouts
from sscq.loop.quality import Quality
from sscq.verdict.bootstrap import Change
from tests.experiments.finished_run import SEEDS, configuration


def test_where_named_situations_judge_fresh_ones_repeat_them_with_other_numbers(design):
    job = design.bench.setup
    blocks = fresh_situations(job, 5)
    assert [len(block) for block in blocks] == [2, 2, 2]
    assert [[s.name for s in block] for block in blocks] == [["far", "louder"]] * 3
    judged = {s.seed for number in range(SEEDS) for s in job.repetition("unforeseen", number)}
    fresh = {s.seed for block in blocks for s in block}
    assert len(fresh) == 6
    assert not judged & fresh


def test_fresh_draws_are_none_of_the_verdicts_and_have_what_all_situations_have():
    config = configuration(draws=DrawsConfig(taught=2, validation=0, verdict=40))
    config.situations.noise = 0.1
    job = setup(config)
    blocks = fresh_situations(job, 30)
    assert [len(block) for block in blocks] == [1] * 30
    fresh = [block[0] for block in blocks]
    assert {max(s.noise_levels(job.plant)) for s in (*fresh, *job.sets["drawn"])} == {0.1}
    assert not {repr(s.initial) for s in fresh} & {repr(s.initial) for s in job.sets["drawn"]}
    assert [s.initial for (s,) in fresh_situations(job, 30)] == [s.initial for s in fresh]


def test_in_the_verdicts_own_situations_controllers_do_what_they_did_there(design, run, monkeypatch):
    """To the bit, however many are simulated together."""
    job = run.bench.setup
    blocks = [job.repetition("unforeseen", number) for number in range(SEEDS)]
    monkeypatch.setattr("experiments.studies.afterwards.fresh._AT_ONCE", 4)
    for one in (c for c in run.group if c.name in ("fixed", "knowledge_base")):
        found = rollouts(design, one, blocks)
        table = run.judgement.quality[one.name, "unforeseen"]
        rows = dict(zip(run.judgement.measures, table, strict=True))
        np.testing.assert_array_equal(found.sample.fitness, run.judgement.fitness[one.name, "unforeseen"])
        np.testing.assert_array_equal(found.sample.travel, rows["total_variation"])
        np.testing.assert_array_equal(found.sample.error, rows["iae"])
        np.testing.assert_array_equal(found.entropy, rows["entropy_difference_abs"])
        assert not found.sample.failed.any()


def test_a_lost_loop_is_a_failure(design, run, monkeypatch):
    blocks = [run.bench.setup.repetition("unforeseen", 0)]
    lost = Quality(("",) * 2, np.full(2, 4.0), np.array([[np.nan], [1.0]]), {
        name: np.ones((2, 1)) for name in ("iae", "total_variation", "entropy_difference_abs")
    })  # fmt: skip
    monkeypatch.setattr("experiments.studies.afterwards.fresh.quality_in", lambda *_: lost)
    found = rollouts(design, run.group[0], blocks)
    assert found.sample.failed.tolist() == [[False, True]]
    assert found.sample.fitness[0, 1] >= run.reference.fitness.diverged


def test_a_change_is_read_back_as_it_was(tmp_path):
    formats.write_json(tmp_path / "x.json", [Change(-0.25, -0.5, 0.125), Change(float("inf"), 0.0, float("nan"))])
    one, other = map(change_of, formats.read_json(tmp_path / "x.json"))
    assert one == Change(-0.25, -0.5, 0.125)
    assert np.isnan([other.value, other.high]).all()


CASE = StudyCase("heater", 3, ("plant=heater", "budget=small"), 40)


@pytest.fixture
def commands(monkeypatch):
    """Command lines of designs, which end at once: with the given code."""

    class Commands(list):
        code = 0

    found = Commands()

    def run(command, **_):
        found.append(command[3:])
        return subprocess.CompletedProcess(command, found.code, "", "error: no such plant")

    monkeypatch.setattr(subprocess, "run", run)
    return found


def test_a_design_is_made_gone_on_with_or_left_as_it_is(tmp_path, commands):
    run = tmp_path / "heater-3"
    assert CASE.designed(tmp_path) == run
    run.mkdir()
    CASE.designed(tmp_path)
    (run / "report.html").touch()
    CASE.designed(tmp_path)
    new = ["plant=heater", "budget=small", "seed=3", f"output={run}", "quiet=true"]
    assert commands == [new, [f"resume={run}", "quiet=true"]]


def test_a_design_that_fails_says_why(tmp_path, commands):
    commands.code = 2
    with pytest.raises(UserError, match="the design heater-3 failed: error: no such plant"):
        CASE.designed(tmp_path)


def test_names_are_known_ones():
    assert named("a,c", "group", "abc") == ("a", "c")
    with pytest.raises(UserError, match="group"):
        named("a,d", "group", "abc")
