"""A teacher that is asked along the run of another controller: whose states, whose gains, and what it does not see."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller
from controllers.schedule import MemorylessSchedule
from plants.core.elementary import clip, where
from plants.excitation import GaussianFilter
from sscq.fitness import Fitness
from sscq.loop.closed_loop import ClosedLoop, Snapshot
from sscq.search.box import Box
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.following import Following
from sscq.teaching.teach import teach
from sscq.teaching.teacher import Teacher
from tests.reference.closed_loop_twin import plain_record

VDP = plants.get("van_der_pol")
H, WINDOW, N = 0.01, 0.4, 6
LAW = PID(derivative_filter_time=0.05, sample_time=0.02)
BOX = Box((0.0,) * 3, (10.0,) * 3)
START = np.array([3.0, 0.5, 3.0])
SEARCH = GeneticAlgorithm(population=10, generations=3, stall_generations=None)
TEACHER = Teacher(window=WINDOW, horizon=0.8, continuations=2, search=SEARCH)
TRACKING = Fitness(entropy_weight=0.0)
# All that a loop remembers: delays of a broken number of steps and samples, filter, noise, the schedule's own memory.
ROUGH = sscq.Situation(
    "rough", 1.5, GaussianFilter(0.3, 5.0), initial=(0.1, 0.0), noise=0.01, delay=0.035, output_delay=0.03,
    t_end=N * WINDOW, seed=1,
)  # fmt: skip
CALM = replace(ROUGH, name="calm", excitation=None, noise=0.0)


@dataclass(frozen=True)
class Learning(MemorylessSchedule):
    """A schedule with a memory, kp follows the integral of the error; from `until` on, where given, constant gains."""

    tick: float = 0.04
    theta_names: tuple[str, ...] = ("kp", "ki", "kd", "growth")
    n_states: int = 1
    until: float | None = None
    then: tuple[float, ...] = ()

    def initial(self):
        return (0.1,)

    def gains(self, t, s, k, theta):
        z = clip(k[0] + self.tick * s[0], -1.0, 1.0)
        own = (theta[0] + theta[3] * z, theta[1], theta[2])
        if self.until is None:
            return own, (z,)
        over = t - self.until + 1e-9
        return tuple(where(over, b, a) for a, b in zip(own, self.then, strict=True)), (z,)


OWN = Controller((LAW,), Learning())
THETA = np.array([4.0, 1.0, 2.0, 1.5])


def asked(situations, teacher=TEACHER, fitness=TRACKING, **options):
    settings = {"step": H, "threads": 1} | options
    return teach(VDP, LAW, situations, fitness, BOX, START, teacher, along=OWN, theta=THETA, **settings)


@pytest.fixture(scope="module")
def signal():
    return asked((ROUGH, CALM))


def recorded(situation, controller=OWN):
    """The run of a controller alone, in plain Python."""
    return plain_record(VDP, controller, situation, THETA, H)


@pytest.mark.parametrize("number", [0, 1])
def test_the_rows_are_of_the_states_that_the_other_controller_visits(signal, number):
    """One run of it alone: its inputs at the start of every window are the rows', the taught gains move nothing."""
    rows = signal.situation == number
    run = recorded((ROUGH, CALM)[number])
    places = np.rint(signal.time[rows] / H).astype(int)
    error, rate = run["error position"], run["error rate position"]
    # Its integral adds the error at each tick, four steps; as the record holds it in between.
    z = np.concatenate([[0.0], H * np.cumsum(error)])
    # The same loop in another compilation: rounding, over 240 steps.
    for column, expected in enumerate((error[places], rate[places], z[places])):
        np.testing.assert_allclose(signal.inputs[rows, column], expected, atol=1e-10)
    assert np.abs(signal.gains[rows] - run.group("gains")[places]).max() > 1.0


def test_windows_under_the_own_gains_join_to_one_run_bit_for_bit(signal):
    """Also with candidates tried in between, which leave the snapshot alone."""
    way = Following(OWN, THETA)
    loop = ClosedLoop(VDP, way.controller, (ROUGH, CALM), H, measures=TRACKING.measures, observe=True)
    own, tried = way.goes_on(START), way.asked(np.array([START, 2.0 * START]))
    whole = loop.run(own, [0], n_steps=240, keep=True).snapshot
    part = None
    for _ in range(N):
        loop.run(tried, [0, 0], n_steps=80, snapshot=part and Snapshot(np.repeat(part.rows, 2, axis=0), part.step))
        part = loop.run(own, [0], n_steps=40, snapshot=part, keep=True).snapshot
    assert part.step == whole.step
    kept = np.ones(whole.rows.shape[1], dtype=bool)
    for name in ("steps", *(f"q_{name}" for name in loop.measures)):
        kept[loop.design.rows.span(name)] = False  # sums, which begin anew in every window
    np.testing.assert_array_equal(part.rows[:, kept], whole.rows[:, kept])


@pytest.mark.parametrize("window", [0, 3])
def test_candidates_start_from_where_the_other_controller_left_the_loop(signal, window):
    """The fitness of a row, recomputed by a schedule that changes to the row's gains at its window's start."""
    row = N + window
    gains, begin = tuple(signal.gains[row].tolist()), window * WINDOW
    changing = Controller((LAW,), Learning(until=begin, then=gains))
    error = recorded(replace(CALM, t_end=begin + 0.8), changing)
    position = error["position"]
    first = round(begin / H)
    iae = H * np.abs(1.5 - position[first : first + 80]).sum()
    assert signal.fitness[row] == pytest.approx(iae, rel=1e-9)


def test_what_is_taught_does_not_move_the_loop(signal):
    """Another search finds other gains for the very same states."""
    other = asked((ROUGH, CALM), seed=1)
    np.testing.assert_array_equal(other.inputs, signal.inputs)
    assert (other.gains != signal.gains).any(axis=1).all()


def test_no_candidate_sees_the_noise_that_comes(monkeypatch):
    asked_of, went_on = [], []

    class Spy(ClosedLoop):
        def run(self, theta, numbers, **options):
            (went_on if options.get("keep") else asked_of).append((theta[:, 4], options.get("keys")))
            return super().run(theta, numbers, **options)

    monkeypatch.setattr("sscq.teaching.teacher.ClosedLoop", Spy)
    asked((ROUGH,))
    assert all((held == 1.0).all() and len(set(keys)) == 2 and ("rough", 1) not in keys for held, keys in asked_of)
    assert [(held.tolist(), keys) for held, keys in went_on] == [([0.0], None)] * N


def test_threads_change_nothing(signal):
    other = asked((ROUGH, CALM), threads=2)
    for name in ("inputs", "gains", "weight", "fitness"):
        np.testing.assert_array_equal(getattr(other, name), getattr(signal, name))


def test_the_way_of_teaching_all_windows_at_once_is_asked_window_after_window(signal):
    """Along another's run there is no schedule of one's own to be searched."""
    other = asked((ROUGH, CALM), replace(TEACHER, encoding="time_windows"))
    np.testing.assert_array_equal(other.gains, signal.gains)


def test_gains_that_move_by_steps_stay_on_their_grid():
    teacher = replace(TEACHER, gain_step=(0.5, 0.0, 0.25), most_steps=(2,))
    signal = asked((ROUGH, CALM), teacher)
    for k, step in ((0, 0.5), (2, 0.25)):
        places = np.rint(signal.gains[:, k] / step)
        np.testing.assert_array_equal(signal.gains[:, k], places * step)
        assert np.abs(np.diff(places.reshape(2, N), axis=1)).max() <= 2
