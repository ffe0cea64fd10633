"""Ensembles as files: they come back to the bit, refuse what is none, and explain later logs of the same loop."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from plants.core.reading.files import FileError
from plants.identification.record import LoopRecord
from sscq.identification.ensemble import identify
from sscq.identification.promise import LoopScenario
from sscq.identification.reading.log import Log
from sscq.identification.stored import StoredEnsemble, StoredLoop, document, load_ensemble
from sscq.identification.verification import verify
from tests.plants.identification.reference_logs import R2


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    """A stored ensemble: its file."""
    _, y, u = R2.run()
    path = tmp_path_factory.mktemp("stored") / "identified.json"
    ensemble = identify([LoopRecord(y, u, 1.0)])
    path.write_text(json.dumps(document(ensemble)), encoding="utf-8")
    return path, ensemble


def test_members_come_back_to_the_bit(identified):
    path, ensemble = identified
    found = load_ensemble(path)
    for group, other in zip(found.members, ensemble.members, strict=True):
        assert group.structure is other.structure
        assert group.parameters.tobytes() == other.parameters.tobytes()
    assert (found.sense, found.step, found.discrepancy, found.refusal) == (1.0, 1.0, 0.08, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other"}, "its schema is 'other', version 1; expected 'sscq-identified', 1"),
        ({"structures": []}, "it has no structures"),
        ({"structures": [3]}, "a structure must be a mapping, got int"),
        ({"structures": [{"name": "three lags"}]}, "no structure 'three lags'"),
        ({"structures": [{"name": "two lags", "parameters": []}]}, "parameters of two lags are slope, decay"),
        ({"sense": 0.5}, "sense must be 1 or -1"),
        ({"step": 0.0}, "step must be from 1e-06 to 1e"),
        ({"discrepancy": 2.0}, "discrepancy must be from 0 to 1"),
        ({"step": True}, "step must be a finite number, got True"),
        ({"refusal": 3}, "refusal must be a text"),
    ],
)
def test_files_that_are_none(identified, tmp_path, change, message):
    whole = json.loads(identified[0].read_text(encoding="utf-8"))
    path = tmp_path / "identified.json"
    path.write_text(json.dumps(whole | change), encoding="utf-8")
    with pytest.raises(FileError, match=message):
        load_ensemble(path)


@pytest.mark.parametrize(
    ("member", "message"),
    [([1.0] * 8, "must have 9 numbers"), ([-1.0] * 9, "a gain or a time that is none"), (["1"] * 9, "a finite number")],
)
def test_members_that_are_none(identified, tmp_path, member, message):
    whole = json.loads(identified[0].read_text(encoding="utf-8"))
    whole["structures"][0]["members"] = [member]
    path = tmp_path / "identified.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(FileError, match=message):
        load_ensemble(path)
    del whole["structures"][0]["members"]
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(FileError, match="it has no 'members'"):
        load_ensemble(path)


def log_of(loop):
    r, y, u = loop.run()
    return Log("after.csv", 1.0, r, y, u, None, ((0, len(y)),))


def test_a_later_log_of_the_same_plant_is_explained(identified):
    """With other gains, other moves, another load and other noise; a plant of a third of the gain is not explained."""
    stored = load_ensemble(identified[0])
    assert isinstance(stored, StoredEnsemble)
    later = replace(R2, kp=2.8, ki=0.05, set_point=((80, -4.0), (350, 3.0)), load=((250, -2.0),), seed=31)
    found = verify(stored, log_of(later))
    assert found.explained
    assert found.rows == 597
    changed = verify(stored, log_of(replace(later, slope=0.3 * R2.slope, dead_time=15.0)))
    assert not changed.explained
    assert changed.error > found.error


def test_a_log_with_more_rows_is_averaged(identified):
    """Two rows of half a second each are one."""
    log = log_of(R2)
    twice = {name: np.repeat(getattr(log, name), 2) for name in ("set_point", "measured", "output")}
    finer = replace(log, step=0.5, stretches=((0, 1200),), **twice)
    one, other = (verify(load_ensemble(identified[0]), each) for each in (log, finer))
    assert one == other


def test_a_log_of_another_period_is_refused(identified):
    log = log_of(R2)
    with pytest.raises(ValueError, match="rows of after.csv are 2 s apart, those of the ensemble 1 s"):
        verify(load_ensemble(identified[0]), replace(log, step=2.0))
    assert np.isfinite(log.measured).all()


LOOP = StoredLoop((50.0, 40.0), (0.0, 100.0), 1.0, (0.5, 0.02, 0.0), LoopScenario(200.0, 4.0, 2.0))


def test_the_loop_comes_back(identified, tmp_path):
    path = tmp_path / "identified.json"
    path.write_text(json.dumps(document(identified[1], loop=LOOP)), encoding="utf-8")
    assert load_ensemble(path).loop == LOOP


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rest": [1.0]}, "rest must be a list of 2 numbers"),
        ({"present": 3}, "present must be a list of 3 numbers"),
        ({"limits": [1.0, 0.0]}, "low < high"),
        ({"scenario": []}, "must be mappings"),
        ({"scenario": {"horizon": 10.0, "set_point": 0.0, "load": 1.0}}, "a step of the set_point"),
    ],
)
def test_loops_that_are_none(identified, tmp_path, change, message):
    whole = document(identified[1], loop=LOOP)
    path = tmp_path / "identified.json"
    path.write_text(json.dumps({**whole, "loop": whole["loop"] | change}), encoding="utf-8")
    with pytest.raises(FileError, match=message):
        load_ensemble(path)
