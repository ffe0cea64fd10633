"""A candidate that breaks margins is moved back inside them, and what has no part in it stays where it is."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller, GainTable
from sscq.baselines.candidates import Candidate
from sscq.baselines.moved_back import moved_back
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins

PLANT, LIMITS = plants.get("fopdt"), MarginLimits(1.4, transient=1.6)
LOW, HIGH = np.zeros(6), np.full(6, 3.0)
GENTLE, WILD = (0.6, 0.5, 0.0), (2.6, 2.4, 0.0)


@pytest.fixture(scope="module")
def margins():
    return OperatingMargins(PLANT, PID(), [sscq.Situation()], 0.1, [0.0] * 3, [3.0] * 3, LIMITS)


def over_error(at_rest, far):
    """Gains over the error's magnitude: at rest, and where it is large."""
    controller = Controller(PID(), GainTable("error", (0.0, 1.0), transform="magnitude"))
    return Candidate("table", "", controller, LOW, HIGH, np.array([[*at_rest, *far]]))


def test_wild_gains_in_passing_move_until_the_margins_hold(margins):
    given = over_error(GENTLE, WILD)
    theta = moved_back(given, margins)
    assert margins.violation_of(given.controller, given.start)[0] > 0.1
    assert margins.violation_of(given.controller, theta[None])[0] == 0.0
    assert (theta >= LOW).all()
    assert (theta <= HIGH).all()
    at_rest, far = theta[:3], theta[3:]
    assert np.abs(at_rest - GENTLE).max() < 0.3 * np.abs(far - WILD).max()  # the gains that break them do most of it
    assert far[:2].sum() > sum(GENTLE[:2])  # and go no farther than they have to


def test_it_moves_about_as_little_as_the_straight_way_to_gentle_gains(margins):
    """On the way from wild gains straight to gentle ones, everywhere, the margins hold from somewhere on."""
    given, target = over_error(WILD, WILD), np.array([*GENTLE, *GENTLE])
    shares = np.linspace(0.0, 1.0, 101)[:, None]
    straight = given.start + shares * (target - given.start)
    first = straight[np.argmax(margins.violation_of(given.controller, straight) <= 0.0)]
    theta = moved_back(given, margins, steps=120)
    assert margins.keeps_of(given.controller, theta)
    assert np.linalg.norm(theta - given.start) < 1.2 * np.linalg.norm(first - given.start)


def test_what_keeps_them_stays(margins):
    given = over_error(GENTLE, GENTLE)
    assert moved_back(given, margins).tolist() == given.start[0].tolist()


def test_no_more_steps_than_allowed(margins):
    given = over_error(WILD, WILD)
    assert moved_back(given, margins, steps=0).tolist() == given.start[0].tolist()
    moved = moved_back(given, margins, steps=1)
    assert 0.0 < np.abs(moved - given.start[0]).max() <= 0.05 * 3.0 + 1e-12
