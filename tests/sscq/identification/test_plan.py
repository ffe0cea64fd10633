"""Planned moves: large enough to be told, within what the members do, and longer for slower plants."""

from __future__ import annotations

import numpy as np
import pytest

from plants.identification.record import LoopRecord
from sscq.identification.ensemble import identify
from sscq.identification.plan import planned, two_digits
from sscq.identification.promise import loop_law
from tests.plants.identification.reference_logs import R1


@pytest.fixture(scope="module")
def quiet():
    """A loop that nobody moved: R1 without its steps."""
    _, y, u = R1.run()
    return identify([LoopRecord(y[:45], u[:45], 1.0), LoopRecord(y[190:240], u[190:240], 1.0)])


def test_a_move_tells_what_a_quiet_log_does_not(quiet):
    told = []
    moves = planned(quiet, (R1.kp, R1.ki, 0.0), loop_law(quiet), tried=3, tell=lambda *given: told.append(given))
    assert moves.height >= quiet.telling_step
    assert moves.told == len(moves.after) == 3
    assert np.median(moves.after) < 0.5 * moves.before
    assert moves.measured[0] < 0.0 < moves.height < moves.measured[1] < 3.0 * moves.height
    assert told[-1][1:] == (3, 3)


def test_a_loop_that_follows_nothing_has_no_plan(quiet):
    with pytest.raises(ValueError, match="none of the plants that explain the log follows a set point"):
        planned(quiet, (0.0, 0.0, 0.0), loop_law(quiet), tried=1)


@pytest.mark.parametrize(("value", "expected"), [(0.6871, 0.69), (0.69, 0.69), (1234.0, 1300.0), (10.0, 10.0)])
def test_numbers_of_two_digits_are_not_below(value, expected):
    assert two_digits(value) == pytest.approx(expected, rel=1e-12)
