"""Windows in operation: parts joined, replays, handovers."""

import numpy as np
import pytest

from sscq.operation.course import read_course
from sscq.operation.running import RunningLoop

GAINS = np.array([15.0, 3.0, 4.0])


@pytest.fixture(scope="module")
def loop(contest):
    made = contest("mu:[0=1]")
    return RunningLoop(made.programme, made.knowledge.controller, made.parts, threads=1)


def _window(loop, number, course, state, theta=GAINS):
    records = []
    for part in range(loop.parts):
        records.append(loop.part(number, part, theta, course, state, log=True))
        state = records[-1].end
    return records


def test_joined_parts_are_the_window_run_at_once(loop):
    course, state = read_course("mu:[0=1.5]"), loop.begun()
    for window in range(2):
        records = _window(loop, window, course, state)
        again = loop.replay(window, state, GAINS, [course.at(0.0)], [loop.programme.seed])
        assert again.iae[0, 0] == pytest.approx(sum(one.iae for one in records), rel=1e-12)
        assert again.travel[0, 0] == pytest.approx(sum(one.travel for one in records), rel=1e-12)
        state = records[-1].end


def test_a_drift_moves_the_plant_from_part_to_part(loop):
    still, drifts = (_window(loop, 0, read_course(text), loop.begun()) for text in ("mu:[0=1]", "mu:[0=1,4=1,4=5]"))
    assert still[0].iae == drifts[0].iae
    assert still[1].iae != drifts[1].iae


def test_the_log_is_what_the_controller_saw_and_did(loop):
    records = _window(loop, 0, read_course("mu:[0=1]"), loop.begun())
    y, u, r = (np.concatenate([one.log[name][:, 0] for one in records]) for name in ("y", "u", "r"))
    assert len(y) == loop.programme.window_steps
    assert y[0] == pytest.approx(0.1)
    assert {*np.unique(r)} == {0.0, 1.5}
    assert u[0] == pytest.approx(20.0)  # at its limit: kp e = 21


def test_new_gains_take_over_without_a_bump(loop):
    course = read_course("mu:[0=1]")
    state = _window(loop, 0, course, loop.begun())[0].end
    new = np.array([8.0, 2.0, 6.0])
    plain = loop.part(0, 1, new, course, state, log=True).log["u"][:2, 0]
    taken, left = loop.handed_over(0, state, GAINS, new, course.at(0.0))
    smooth = loop.part(0, 1, new, course, taken, log=True).log["u"][:2, 0]
    kept = loop.part(0, 1, GAINS, course, state, log=True).log["u"][:2, 0]
    assert abs(left[0]) <= 1e-12
    assert smooth[0] == pytest.approx(kept[0], abs=1e-12)
    assert abs(plain[0] - kept[0]) > 1e-4


def test_without_integral_action_the_integral_is_left_alone(loop):
    course = read_course("mu:[0=1]")
    state = _window(loop, 0, course, loop.begun())[0].end
    taken, _ = loop.handed_over(0, state, GAINS, np.array([8.0, 0.0, 6.0]), course.at(0.0))
    assert np.array_equal(taken.rows, state.rows)


def test_parts_are_whole_ticks_and_fill_the_window(contest):
    made = contest("mu:[0=1]")
    ends = RunningLoop(made.programme, made.knowledge.controller, parts=7).ends
    assert (ends[0], ends[-1], len(ends)) == (0, made.programme.window_steps, 8)
    assert all(end % 2 == 0 for end in ends)  # samples of two steps
    with pytest.raises(ValueError, match="whole ticks"):
        RunningLoop(made.programme, made.knowledge.controller, parts=made.programme.window_steps)
