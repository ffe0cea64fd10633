"""The teacher: what it sees and what it must not, and rows that a controller could have lived through."""

from dataclasses import fields, replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller, TimeGains
from plants.core.signals import noise
from plants.excitation import Feed, GaussianFilter, Recorded, WhiteNoise
from sscq.fitness import Fitness
from sscq.loop.closed_loop import ClosedLoop
from sscq.search.box import Box
from sscq.search.genetic import GeneticAlgorithm
from sscq.teaching.teach import teach
from sscq.teaching.teacher import ENCODINGS, Teacher
from sscq.teaching.teaching_signal import TeachingSignal
from sscq.teaching.window_search import continued
from tests.reference.closed_loop_twin import plain_record, uncompiled

POSITION, VELOCITY = plants.get("van_der_pol").states
VDP = replace(plants.get("van_der_pol"), states=(replace(POSITION, low=-3.0, high=3.0), VELOCITY))
H, WINDOW = 0.01, 0.4
LAW = PID(derivative_filter_time=0.05)
BOX = Box((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))
START = np.array([3.0, 0.5, 3.0])
SEARCH = GeneticAlgorithm(population=10, generations=3, stall_generations=None)
SMALL = Teacher(window=WINDOW, horizon=1.2, continuations=3, search=SEARCH)
SITUATIONS = (
    sscq.Situation("rough", 1.5, GaussianFilter(0.3, 5.0), initial=(0.1, 0.0), noise=0.01, t_end=2.8, seed=1),
    sscq.Situation("back", 0.0, WhiteNoise(0.3, hold=0.1), initial=(2.0, 0.0), t_end=2.8, seed=2),
)
WAYS = [replace(SMALL, encoding=name, gain_step=(0.5,) if name == "stepwise" else ()) for name in ENCODINGS]
COLUMNS = ("situation", "time", "inputs", "gains", "weight", "fitness")


def taught(situations=SITUATIONS, teacher=SMALL, **options):
    settings = {"fitness": Fitness(), "step": H, "threads": 1} | options
    return teach(VDP, LAW, situations, box=BOX, reference=START, teacher=teacher, **settings)


@pytest.fixture(scope="module")
def signal():
    return taught()


@pytest.fixture(scope="module", params=WAYS, ids=ENCODINGS)
def either(request):
    """Signals of all ways of teaching."""
    return taught(teacher=request.param)


def same(a, b, rows=slice(None)):
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(a, name)[rows], getattr(b, name)[rows], err_msg=name)


# ------------------------------------------------------------------------------------------------------- the rows


def test_a_row_for_every_window_of_every_situation(either):
    assert len(either) == 14
    np.testing.assert_array_equal(either.situation, np.repeat([0, 1], 7))
    np.testing.assert_allclose(either.time, np.tile(np.arange(7) * WINDOW, 2), atol=1e-12)
    assert either.situation_names == ("rough", "back")
    assert either.input_names == ("error", "error_rate", "error_integral")
    assert either.gain_names == ("kp", "ki", "kd")
    assert not either.clairvoyant
    assert (either.gains >= 0.0).all()
    assert (either.gains <= 10.0).all()
    assert ((either.weight >= 0.0) & (either.weight <= 1.0)).all()
    assert np.isfinite(either.fitness).all()


def test_the_first_row_is_the_situations_start(either):
    for row, (position, reference) in ((0, (0.1, 1.5)), (7, (2.0, 0.0))):
        error = reference - position
        assert either.inputs[row, 0] == pytest.approx(error, abs=0.05)  # sensor noise of 0.01
        assert either.inputs[row, 1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("number", [0, 1])
def test_a_controller_with_these_gains_lives_through_these_inputs(either, number):
    """Gains over time as the rows say, in the same situation: at each window's start the inputs are the rows'."""
    rows = either.situation == number
    times = tuple(either.time[rows])
    controller = Controller((LAW,), TimeGains(times))
    run = plain_record(VDP, controller, SITUATIONS[number], either.gains[rows].ravel(), H)
    places = np.rint(np.array(times) / H).astype(int)
    error, rate = run["error position"], run["error rate position"]
    z = np.concatenate([[0.0], H * np.cumsum(error)])
    # The same loop in another compilation: rounding, over 280 steps.
    for column, expected in enumerate((error[places], rate[places], z[places])):
        np.testing.assert_allclose(either.inputs[rows, column], expected, atol=1e-10)
    np.testing.assert_allclose(run.group("gains")[places], either.gains[rows], atol=1e-12)


def test_the_weight_is_what_the_search_gained(either):
    """Where nothing is gained the gains hardly move from those before: by no more than a step where they have any."""
    for number in (0, 1):
        gains = np.vstack([START, either.gains[either.situation == number]])
        moved = np.abs(np.diff(gains, axis=0)).max(axis=1)
        weight = either.weight[either.situation == number]
        assert (moved <= 10.0 * np.maximum(weight, 0.1) + 1e-12).all()
    assert either.weight.max() > 0.3
    assert either.weight.min() < 0.1


# ------------------------------------------------------------------------------------- the same again, and not


def test_threads_change_nothing(signal):
    same(taught(threads=2), signal)


def test_a_situation_is_taught_as_it_would_be_alone(signal):
    """Other situations beside it change neither its noise nor its search."""
    first = taught((SITUATIONS[0], replace(SITUATIONS[1], name="another", seed=5, initial=(1.0, 1.0))))
    same(first, signal, slice(0, 7))
    assert (first.gains[7:] != signal.gains[7:]).any()


def test_another_seed_is_another_search(signal):
    other = taught(seed=1)
    assert (other.gains != signal.gains).any(axis=1).all()
    np.testing.assert_array_equal(other.inputs[[0, 7]], signal.inputs[[0, 7]])  # the situations stay what they are


# --------------------------------------------------------------------------------------------- not seeing the future


class Rewritten:
    """Makes the noise that really comes another one from a window on: only where the loop moves on, not where the
    search looks ahead."""

    def __init__(self, monkeypatch, window):
        self.original, self.window = ClosedLoop.run, window
        monkeypatch.setattr(ClosedLoop, "run", self.run())

    def run(self):
        original, first = self.original, round(self.window * WINDOW / H)

        def run(loop, theta, numbers, **options):
            snapshot = options.get("snapshot")
            if options.get("keep") and snapshot is not None and snapshot.step >= first:
                options["keys"] = [("what really came", 99)]
            return original(loop, theta, numbers, **options)

        return run


def test_gains_do_not_depend_on_the_noise_that_comes_later(signal, monkeypatch):
    Rewritten(monkeypatch, window=3)
    other = taught()
    for first in (0, 7):
        same(other, signal, slice(first, first + 3))
        for name in ("gains", "weight", "fitness"):  # those of window 3 are chosen before its noise is there
            np.testing.assert_array_equal(getattr(other, name)[first + 3], getattr(signal, name)[first + 3])
        assert (other.inputs[first + 4 : first + 7] != signal.inputs[first + 4 : first + 7]).any(axis=1).all()
        assert (other.fitness[first + 4 : first + 7] != signal.fitness[first + 4 : first + 7]).all()
    assert (other.gains != signal.gains).any()


TAILS = [Recorded.held(tuple(np.r_[np.zeros(12), size * np.ones(30)]), 0.1) for size in (0.8, -0.8)]


def known_to(teacher, tail):
    """Rows of a situation whose recorded noise begins at 1.2 s, with this tail."""
    situation = sscq.Situation("tail", 1.0, tail, initial=(0.1, 0.0), t_end=2.0, seed=3)
    return teach(VDP, LAW, (situation,), Fitness(), BOX, START, teacher, step=H, threads=1)


def test_the_clairvoyant_teacher_knows_what_comes_and_says_so():
    """Within its horizon of 1.2 s it prepares for a push that comes at 1.2 s."""
    clairvoyant = replace(SMALL, clairvoyant=True)
    up, down = (known_to(clairvoyant, tail) for tail in TAILS)
    assert up.clairvoyant
    assert down.clairvoyant
    np.testing.assert_array_equal(up.gains[0], down.gains[0])  # the push is beyond the first horizon
    np.testing.assert_array_equal(up.inputs[:2], down.inputs[:2])
    assert (up.gains[1:3] != down.gains[1:3]).any(axis=1).all()
    blind = known_to(SMALL, TAILS[0])
    assert not blind.clairvoyant
    assert (blind.gains[1:3] != up.gains[1:3]).any(axis=1).all()


@pytest.mark.parametrize("length", [2, 3, 200])
def test_a_recorded_series_is_never_continued_as_it_will_be(length):
    series = tuple(float(k) for k in range(length))
    feed = Feed(noise.RECORDED, 0.1, series)
    found = [continued([feed, Feed(noise.GAUSSIAN)], (f"window {k}", k)) for k in range(300)]
    for recorded, gaussian in found:
        assert recorded.series != series
        assert sorted(recorded.series) == list(series)
        assert gaussian == Feed(noise.GAUSSIAN)
    assert len({one[0].series for one in found}) == min(length - 1, len({one[0].series for one in found}))
    assert len({one[0].series for one in found}) > min(length - 2, 100)


def test_continuations_differ_and_go_on_from_the_present(monkeypatch):
    """What the search averages over: from the same snapshot, noise of its own for each continuation and window."""
    asked = []

    class Spy(ClosedLoop):
        def run(self, theta, numbers, **options):
            if not options.get("keep"):
                asked.append((options["keys"], options["snapshot"]))
            return super().run(theta, numbers, **options)

    monkeypatch.setattr("sscq.teaching.teacher.ClosedLoop", Spy)
    taught(SITUATIONS)
    keys = [tuple(one) for one, _ in asked]
    assert all(len(set(three)) == 3 for three in keys)
    assert not any(key in {("rough", 1), ("back", 2)} for three in keys for key in three)
    assert len(set(keys)) == 14  # one set of continuations for a window, common to all its candidates
    steps = {0 if snapshot is None else snapshot.step for _, snapshot in asked}
    assert steps == {round(w * WINDOW / H) for w in range(7)}
    assert all(snapshot is None or (snapshot.rows == snapshot.rows[0]).all() for _, snapshot in asked)


# ----------------------------------------------------------------------------------------------------- what it does


def test_windows_searched_at_once_do_not_see_the_noise_that_comes(monkeypatch):
    """All but the run that is recorded, one a situation, have streams of their own; as many loops as one by one."""
    keys, valued = [], []

    class Spy(ClosedLoop):
        def run(self, theta, numbers, **options):
            (keys if not options.get("record") else valued).append((options.get("keys"), len(theta)))
            return super().run(theta, numbers, **options)

    monkeypatch.setattr("sscq.teaching.teacher.ClosedLoop", Spy)
    taught(teacher=replace(SMALL, encoding="time_windows"))
    assert all(key is not None and len(set(key)) == 3 for key, _ in keys)
    assert not any(one in {("rough", 1), ("back", 2)} for key, _ in keys for one in key)
    assert [key for key, _ in valued] == [None, None]
    assert sum(n for _, n in keys) - 2 * (8 + 1) <= 2 * 7 * 10 * 3  # beside the weights and the rows' own fitness


def test_windows_searched_at_once_are_marked_where_they_see_it():
    signal = taught(
        SITUATIONS[:1], replace(SMALL, encoding="time_windows", clairvoyant=True, search=replace(SEARCH, generations=1))
    )
    assert signal.clairvoyant


@pytest.mark.parametrize("teacher", WAYS, ids=ENCODINGS)
def test_taught_gains_are_better_than_those_before(teacher):
    """Without noise, the mean fitness of the loop with the taught gains beats the gains that it started from."""
    calm = tuple(replace(s, excitation=None, noise=0.0) for s in SITUATIONS)
    signal = taught(calm, replace(teacher, continuations=1))
    values = []
    for number, situation in enumerate(calm):
        rows = signal.situation == number
        controller = Controller((LAW,), TimeGains(tuple(signal.time[rows])))
        theta = np.array([signal.gains[rows].ravel(), np.tile(START, rows.sum())])
        with uncompiled():
            loop = ClosedLoop(VDP, controller, (situation,), H, measures=Fitness().measures, lanes=1)
            values.append(Fitness()(loop.evaluate(theta, threads=1)))
    taught_value, before = np.mean(values, axis=0)
    assert taught_value < 0.95 * before


def test_the_fitness_is_that_of_the_rows_gains():
    """Recomputed from the first row of a situation without noise: the horizon ahead with just these gains."""
    calm = replace(SITUATIONS[1], excitation=None)
    signal = taught((calm,), replace(SMALL, continuations=1))
    with uncompiled():
        ahead = ClosedLoop(VDP, LAW, (replace(calm, t_end=1.2),), H, measures=Fitness().measures, lanes=1)
        value = Fitness()(ahead.evaluate(signal.gains[:1], threads=1))
    assert signal.fitness[0] == pytest.approx(value[0], rel=1e-10)


def test_shrinking_keeps_gains_where_they_were(signal):
    """Also with the signed entropy difference, whose fitness is negative."""
    for fitness in (Fitness(), Fitness("entropy_signed")):
        free, held = (taught(teacher=replace(SMALL, shrink=shrink), fitness=fitness) for shrink in (0.0, 1e6))
        np.testing.assert_allclose(held.gains, np.tile(START, (14, 1)), atol=0.1)
        assert np.abs(free.gains - START).max() > 1.0


def test_a_loop_that_is_lost_teaches_no_more():
    runaway = replace(SITUATIONS[0], name="runaway", initial=(2.9, 9.0))  # beyond the edge whatever the gains
    signal = taught((runaway, SITUATIONS[1]))
    assert (signal.situation == 0).sum() == 1
    assert (signal.situation == 1).sum() == 7
    assert np.isfinite(signal.fitness).all()
    assert signal.fitness[0] > 1e3


def test_progress_counts_windows_and_evaluations():
    seen = []
    taught(progress=lambda *told: seen.append(told))
    assert [told[0] for told in seen] == list(range(14))
    assert {told[1] for told in seen} == {14}
    evaluations = [told[2] for told in seen]
    assert evaluations == sorted(evaluations)
    assert 0 < evaluations[0] <= 30
    assert evaluations[-1] <= 14 * 30


def test_every_column_is_there_for_every_channel():
    two = replace(
        VDP, name="two", channels=(VDP.channels[0], replace(VDP.channels[0], output="velocity", rate=None)),
        inputs=(*VDP.inputs, replace(VDP.inputs[0], name="other")), energy=None, supplied_power=None,
        derivative=lambda t, x, u, w, p: VDP.derivative(t, x, (u[0] + u[1],), w, p),
    )  # fmt: skip
    short = tuple(replace(s, t_end=0.8, noise=0.0) for s in SITUATIONS)
    tiny = replace(SMALL, window=0.4, horizon=0.8, continuations=1)
    box = Box((0.0,) * 6, (5.0,) * 6)
    with uncompiled():
        signal = teach(two, PID(), short, Fitness(), box, np.ones(6), tiny, step=H, threads=1)
    assert signal.input_names == (
        "error_1", "error_rate_1", "error_integral_1", "error_2", "error_rate_2", "error_integral_2"
    )  # fmt: skip
    assert signal.gain_names == ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    assert signal.gains.shape == (4, 6)
    assert signal.inputs[1, 2] != 0.0 != signal.inputs[1, 5]
    assert isinstance(signal, TeachingSignal)
    assert {f.name for f in fields(signal)} >= set(COLUMNS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"window": 0.0}, "teacher: window must be above 0 s, got 0.0"),
        ({"window": 1.5}, "horizon must be at least two windows, got 2.0 s and 1.5 s"),
        ({"horizon": np.nan}, "teacher: horizon must be above 0 s, got nan"),
        ({"continuations": 0}, "teacher: continuations must be at least 1, got 0"),
        ({"shrink": -0.1}, "teacher: shrink must be at least 0, got -0.1"),
    ],
)
def test_wrong_settings_are_refused(given, says):
    with pytest.raises(ValueError, match=says):
        Teacher(**given)


@pytest.mark.parametrize("way", WAYS)
def test_plant_outputs_are_seen_as_the_sensors_show_them_and_change_nothing(way):
    """The error is the reference less the measured position: the column shows the same noise."""
    tiny = replace(way, search=GeneticAlgorithm(population=4, generations=1))
    plain = taught(SITUATIONS[:1], tiny)
    watched = taught(SITUATIONS[:1], tiny, outputs=("velocity", "position"))
    assert watched.input_names == (*plain.input_names, "velocity", "position")
    np.testing.assert_array_equal(watched.gains, plain.gains)
    np.testing.assert_array_equal(watched.inputs[:, :3], plain.inputs)
    np.testing.assert_allclose(watched.inputs[:, 4], 1.5 - watched.inputs[:, 0], atol=1e-12)
    assert np.ptp(watched.inputs[:, 3]) > 0.1
    with pytest.raises(ValueError, match="speed"):
        taught(SITUATIONS[:1], tiny, outputs=("speed",))
