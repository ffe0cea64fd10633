"""The teacher with gains that move by steps: on a plant whose best gain at every time is planted."""

from dataclasses import replace

import numpy as np
import pytest

import sscq
from controllers import PID
from plants import Channel, Plant, Quantity
from plants.core.elementary import where
from sscq.fitness import Fitness
from sscq.search.box import Box
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.teach import teach
from sscq.teaching.teacher import Teacher

WINDOW, H, N = 0.4, 0.01, 8
STAIRS = (1.0, 1.5, 2.0, 2.0, 1.5, 1.0, 1.0, 0.5)
JUMP = (1.0, 1.0, 1.0, 3.5, 3.5, 3.5, 3.5, 3.5)
_SPEED, _LEAST, _STEEP = 40.0, 1.0, 0.1  # 1/s; error with the best gain; growth with the squared distance from it


def derivative(t, x, u, w, p):
    """A plant that settles within a window at the error 1 + 0.1 (kp - p(t))^2: kp is best at the window's p."""
    best = p[0]
    for number in range(1, N):
        best = where(t - number * WINDOW + 1e-9, p[number], best)
    distance = u[0] / (1.0 - x[0]) - best  # the command is kp times the error
    return (_SPEED * (1.0 - _LEAST - _STEEP * distance * distance - x[0]),)


PLANT = Plant(
    name="planted", states=(Quantity("output", "1", 1.0 - _LEAST, low=-1e3, high=1e3),),
    parameters=tuple(Quantity(f"best_{number}", "1", 1.0) for number in range(N)),
    inputs=(Quantity("command", "1", 0.0),), channels=(Channel("output", collocated=False),), derivative=derivative,
    entropy_rate=lambda t, x, u, w, p: 0.0 * x[0],
)  # fmt: skip
BOX = Box((0.0, 0.0, 0.0), (4.0, 0.0, 0.0))
FITNESS = Fitness(entropy_weight=0.0)
SEARCH = GeneticAlgorithm(population=40, generations=8, stall_generations=None)
TEACHER = Teacher(window=WINDOW, horizon=2 * WINDOW, continuations=1, search=SEARCH, shrink=0.0, gain_step=(0.5,))


def taught(wanted, teacher=TEACHER, start=(1.0, 0.0, 0.0), box=BOX, **options):
    settings = {"step": H, "threads": 1} | options
    situation = sscq.Situation("planted", 1.0, parameters=wanted, t_end=N * WINDOW)
    return teach(PLANT, PID(), (situation,), FITNESS, box, np.array(start), teacher, **settings)


def kp(signal):
    assert len(signal) == N
    assert (signal.gains[:, 1:] == 0.0).all()
    return signal.gains[:, 0]


def on_the_grid(gains, step, most):
    """Whether all gains are multiples of the step, to the bit, with moves of at most `most` steps."""
    places = np.rint(gains / step)
    return (gains == places * step).all() and np.abs(np.diff(places)).max() <= most


def best_ahead(wanted, start):
    """What the teacher's definition gives window after window: the best step for the mean of this window and the next.

    The reference for the receding search: the settled error is a known function of kp and time.
    """
    wanted, gains = np.append(wanted, wanted[-1]), []
    for w in range(N):
        levels = np.arange(0.0, 4.1, 0.5)
        reachable = levels if w == 0 else levels[np.abs(levels - gains[-1]) < 0.6]
        cost = sum((reachable - wanted[w + k]) ** 2 for k in range(2))
        gains.append(reachable[cost.argmin()])
    return np.array(gains)


def test_windows_at_once_find_the_planted_staircase():
    signal = taught(STAIRS, replace(TEACHER, encoding="stepwise"))
    np.testing.assert_array_equal(kp(signal), STAIRS)


def test_without_steps_no_level_is_hit():
    """That the test above says something."""
    signal = taught(STAIRS, replace(TEACHER, encoding="time_windows", gain_step=()))
    assert (kp(signal) != STAIRS).all()


@pytest.mark.parametrize("encoding", ["stepwise", "receding"])
def test_a_jump_is_climbed_by_no_more_than_the_largest_step(encoding):
    for most in (1, 2):
        gains = kp(taught(JUMP, replace(TEACHER, encoding=encoding, most_steps=(most,))))
        assert on_the_grid(gains, 0.5, most)
        assert gains[0] == 1.0
        assert gains[-1] == 3.5
        assert np.diff(gains).max() == 0.5 * most  # the limit is felt


def test_window_after_window_makes_the_best_of_its_steps():
    gains = kp(taught(JUMP, start=(4.0, 0.0, 0.0)))
    np.testing.assert_array_equal(gains, best_ahead(JUMP, 4.0))


def test_a_gain_without_steps_beside_one_with():
    """Of a PID: kp moves by steps, kd does not, ki may take two."""
    box = Box((0.0, 0.0, 0.0), (4.0, 0.1, 0.01))
    teacher = replace(TEACHER, gain_step=(0.5, 0.02, 0.0), most_steps=(1, 2, 1), search=replace(SEARCH, generations=2))
    for encoding in ("stepwise", "receding"):
        signal = taught(STAIRS, replace(teacher, encoding=encoding), (1.0, 0.05, 0.005), box)
        assert on_the_grid(signal.gains[:, 0], 0.5, 1)
        assert on_the_grid(signal.gains[:, 1], 0.02, 2)
        assert len(np.unique(signal.gains[:, 2] / 0.001 % 1.0)) > 2


@pytest.mark.parametrize("encoding", ["stepwise", "receding"])
def test_threads_change_nothing(encoding):
    teacher = replace(TEACHER, encoding=encoding)
    one, two = (taught(JUMP, teacher, threads=n) for n in (1, 2))
    for name in ("gains", "inputs", "weight", "fitness"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"encoding": "stepwise", "gain_step": ()}, "encoding=stepwise needs the size of a step"),
        ({"encoding": "time_windows"}, "gain_step .* is for encoding=stepwise or receding, got encoding=time_windows"),
    ],
)
def test_encodings_say_whether_they_know_steps(given, says):
    with pytest.raises(ValueError, match=says):
        replace(TEACHER, **given)
