"""A plant's closed loop is tried before anything is searched on it."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from experiments import cli
from plants.core.elementary import where
from plants.measures import rms
from sscq.loop.trial import checked

BLOCK = plants.get("van_der_pol")
TAKEN = replace(BLOCK, measures=(rms("ise", "1", lambda t, x, u, w, p: x[0]),))


def switched(t, x, u, w, p):
    """A drive that is on or off: only a select reads the input."""
    return x[1], where(u[0], 1.0, -1.0) - x[1]


def both(t, x, commands, p):
    """On where the command is above the position and the speed below a limit."""
    return (where(commands[0] - x[0], 1.0, 0.0) * where(2.0 - x[1], 1.0, 0.0),)


def test_truth_values_that_only_selects_read_compile():
    plant = replace(
        BLOCK,
        derivative=switched,
        allocate=both,
        entropy_rate=None,
        energy=None,
        supplied_power=None,
        operating_points=(),
    )
    quality = sscq.evaluate(plant, PID(), [[1.0, 0.0, 0.0]], sscq.Situation(reference=1.0, t_end=2.0))
    assert np.isfinite(quality.iae).all()
    assert checked(plant).passed[-1] == "its closed loop compiles and runs 8 steps"


def test_what_a_closed_loop_meets_is_reported():
    assert plants.check(TAKEN).ok
    (problem,) = checked(TAKEN).problems
    assert problem.startswith("its closed loop cannot be compiled and run: ValueError: ")
    assert "'ise' is a name that results of closed loops have already" in problem


def test_a_plant_without_channels_or_with_problems_is_left_alone():
    assert not any("closed loop" in line for line in checked(replace(BLOCK, channels=())).passed)
    report = checked(replace(TAKEN, outputs=lambda t, x, u, w, p: x[:1]))
    assert report.problems
    assert not any("closed loop" in line for line in report.problems)


def test_the_command_tries_the_loop(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "_load", lambda _: {TAKEN.name: TAKEN})
    with pytest.raises(SystemExit):
        cli.main(["check", str(tmp_path)])
    assert "problem: its closed loop cannot be compiled and run" in capsys.readouterr().out
