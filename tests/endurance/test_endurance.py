"""Some seconds of what `tests.endurance` does for hours, and that it notices what it looks for."""

import shutil

import numpy as np
import pytest

from flcs.export import guard
from tests.endurance import exports, hostile


def test_hostile_gains_move_no_neighbour():
    assert hostile.endure(500_000, seed=1) >= 500_000


def test_a_moved_bit_is_noticed():
    company = hostile.Company("fopdt", np.random.default_rng(0))
    company.alone[3, 0, 17] ^= 1
    with pytest.raises(hostile.Failure, match="moved by one of their neighbours"):
        company.call()


def test_a_fitness_that_is_not_finite_is_noticed(monkeypatch):
    monkeypatch.setattr(hostile.Fitness, "__call__", lambda *_: np.array([0.0, np.nan]))
    with pytest.raises(hostile.Failure, match="a tracking_and_entropy that is not finite"):
        hostile.Company("fopdt", np.random.default_rng(0)).call()


def installed():
    return [name for name, program in (("c", "gcc"), ("js", "node")) if shutil.which(program)] + ["python", "st"]


def test_exports_stand_hostile_samples_and_agree():
    done, largest = exports.endure(2_000, installed())
    assert done >= 2_000
    assert largest < exports.AGREEMENT


def test_an_output_beyond_its_limits_is_noticed(monkeypatch):
    monkeypatch.setattr(guard, "inside", lambda value, low, high: 1.0 + 0.0 * value)
    with pytest.raises(exports.Failure, match=r"python: sequence \d+, sample \d+: \w+ is"):
        exports.endure(2_000, ["python"])


def test_targets_that_do_not_agree_are_noticed():
    machine = exports.job_with(exports.LAWS[0]).machine
    watch, outputs = exports.Watch(machine, np.ones(len(machine.outputs))), np.zeros((2, 3, len(machine.outputs)))
    other = outputs.copy()
    other[1, -1, 1] = 1e-6
    assert watch.agree({"c": outputs, "js": outputs.copy()}) == 0.0
    with pytest.raises(exports.Failure, match="js and c: sequence 1 ends with command_position 1e-06 and 0.0"):
        watch.agree({"c": outputs, "js": other})
