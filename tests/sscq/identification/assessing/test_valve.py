"""Valves that lag: their positions, and what is said of them (what is found in logs: test_assessment)."""

from __future__ import annotations

import numpy as np

from sscq.identification.assessing.valve import GAIN, ValveFinding, with_play, with_sticking

COMMAND = np.array([0.0, 1.0, 3.0, 3.0, 2.5, 1.0, -1.0, 4.0])


def test_play_follows_at_half_its_width():
    assert with_play(COMMAND, 2.0).tolist() == [0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 3.0]
    assert with_play(COMMAND, 0.0).tolist() == COMMAND.tolist()


def test_a_sticking_valve_stands_until_its_band_is_left():
    """A band of 2 with a jump of half of it: it ends 1 short of its command; with a jump of all, where that is."""
    assert with_sticking(COMMAND, 2.0, 0.5).tolist() == [0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 3.0]
    assert with_sticking(COMMAND, 2.0, 1.0).tolist() == [0.0, 0.0, 3.0, 3.0, 3.0, 3.0, -1.0, 4.0]
    assert with_sticking(COMMAND, 0.0, 0.5).tolist() == COMMAND.tolist()


def test_what_is_said_of_a_valve():
    """From a gain of 5 on it lags; below it follows, as far as the log tells."""
    lagging, sound = ValveFinding("play", 1.5, 0.0, GAIN + 0.1), ValveFinding("play", 1.5, 0.0, GAIN - 0.1)
    assert lagging.lags
    assert lagging.text == "the valve sticks or has play of about 1.5 %"
    assert not sound.lags
    assert sound.text == "the valve follows its command, as far as the log tells"
