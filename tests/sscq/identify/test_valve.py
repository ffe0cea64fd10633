"""Valves that lag: their positions, what is found in the reference log with play, and sound ones that are not accused."""

from __future__ import annotations

import numpy as np
import pytest

from plants.identification.record import LoopRecord
from sscq.identify.ensemble import identify
from sscq.identify.valve import GAIN, valve_finding, with_play, with_sticking
from tests.plants.identification.reference_logs import LOOPS

COMMAND = np.array([0.0, 1.0, 3.0, 3.0, 2.5, 1.0, -1.0, 4.0])


def test_play_follows_at_half_its_width():
    assert with_play(COMMAND, 2.0).tolist() == [0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 3.0]
    assert with_play(COMMAND, 0.0).tolist() == COMMAND.tolist()


def test_a_sticking_valve_stands_until_its_band_is_left():
    """A band of 2 with a jump of half of it: it ends 1 short of its command; with a jump of all, where that is."""
    assert with_sticking(COMMAND, 2.0, 0.5).tolist() == [0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 3.0]
    assert with_sticking(COMMAND, 2.0, 1.0).tolist() == [0.0, 0.0, 3.0, 3.0, 3.0, 3.0, -1.0, 4.0]
    assert with_sticking(COMMAND, 0.0, 0.5).tolist() == COMMAND.tolist()


@pytest.mark.parametrize(("name", "lags"), [("R1", False), ("R3", True)])
def test_the_reference_log_with_play_is_found_and_a_sound_one_is_not(name, lags):
    """Play of 2, whose gain in log density was 19.6 in another program; the size is told within a factor of two."""
    _, y, u = LOOPS[name].run()
    told = []
    found = valve_finding(identify([LoopRecord(y, u, 1.0)]), on_trial=lambda done, of: told.append((done, of)))
    assert found.lags is lags
    assert told[-1] == (32, 32)
    if lags:
        assert found.gain == pytest.approx(19.6, abs=2.0)
        assert 1.0 <= found.width <= 4.0
        assert found.text.startswith("the valve sticks or has play of about")
    else:
        assert found.gain < GAIN
        assert found.text == "the valve follows its command, as far as the log tells"
