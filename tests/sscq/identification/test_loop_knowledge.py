"""What is known of a loop beside its log: forms of gains, and entries that are none."""

from __future__ import annotations

import json

import pytest

from plants.core.reading.files import FileError
from sscq.identification.loop_knowledge import LoopKnowledge


@pytest.fixture
def read(tmp_path):
    def from_entries(**entries):
        path = tmp_path / "loop.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
        return LoopKnowledge.read(path)

    return from_entries


def test_nothing_need_be_known(read):
    found = read()
    assert found == LoopKnowledge()
    assert found.gains() is None
    assert found.output_limits == (0.0, 100.0)


@pytest.mark.parametrize(
    ("present", "gains"),
    [
        ({"kp": 0.4, "ki": 0.02}, (0.4, 0.02, 0.0)),
        ({"form": "standard", "K": 0.8, "Ti": 40.0, "Td": 5.0}, (0.8, 0.02, 4.0)),
        ({"form": "standard", "K": 0.8}, (0.8, 0.0, 0.0)),
        ({"form": "series", "K": 0.8, "Ti": 40.0, "Td": 10.0}, (1.0, 0.02, 8.0)),
    ],
)
def test_forms_of_the_present_gains(read, present, gains):
    assert read(present=present).gains().vector == pytest.approx(gains)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"output_limit": [0, 100]}, "no entry 'output_limit'"),
        ({"output_limits": [100, 0]}, "output_limits must be .low, high. with low < high"),
        ({"measured_span": 100}, "measured_span must be .low, high., got 100"),
        ({"sample_time": 0}, "sample_time must be above 0 s"),
        ({"longest_dead_time": -1}, "longest_dead_time must be above 0 s"),
        ({"sample_time": "1 s"}, "sample_time must be a finite number, got '1 s'"),
        ({"present": 3}, "present must be a mapping"),
        ({"present": {"form": "ideal", "K": 1}}, "no form of the present gains 'ideal'"),
        ({"present": {"K": 1}}, "no entry of present gains of the parallel form 'K'"),
        ({"present": {"ki": 1}}, "the present gains have no kp"),
        ({"present": {"form": "standard", "K": 1, "Ti": 0}}, "integral_time"),
        ({"scenario": {"steps": 1}}, "no entry of scenario 'steps'"),
        ({"scenario": {"set_point": 0}}, "a step of the set_point other than 0"),
        ({"scenario": {"horizon": -1}}, "the horizon must be above 0"),
        ({"limits": {"max_sensitivity": 0.5}}, "max_sensitivity must be above 1"),
        ({"columns": {"measured": 3}}, "columns must be texts"),
        ({"limits": {"travel_factor": True}}, "travel_factor must be a finite number, got True"),
    ],
)
def test_entries_that_are_none(read, entries, message):
    with pytest.raises(FileError, match=message):
        read(**entries)
