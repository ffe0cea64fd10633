"""Encodings: boxes, scales and what genomes mean to a schedule."""

import numpy as np
import pytest

from controllers.schedule import ConstantGains, TimeGains
from sscq.search.encoding import FixedGains, RecedingWindow, TimeWindows
from sscq.search.genetic import GeneticAlgorithm
from sscq.search.search import evolve

LOW, HIGH = (0.0, 0.01, 0.5), (10.0, 10.0, 4.0)
ENCODINGS = [
    FixedGains(low=LOW, high=HIGH),
    TimeWindows(low=LOW, high=HIGH, times=(0.0, 2.0, 5.0), kind="linear"),
    RecedingWindow(low=LOW, high=HIGH, previous=(3.0, 1.0, 2.0)),
]

every_encoding = pytest.mark.parametrize("encoding", ENCODINGS, ids=["fixed", "windows", "receding"])


@every_encoding
def test_theta_is_that_of_the_schedule(encoding):
    genomes = encoding.box.decode(np.random.Generator(np.random.PCG64(0)).random((5, len(encoding.box.free))))
    theta = encoding.decode(genomes)
    assert theta.shape == (5, len(encoding.schedule().theta_names))
    assert encoding.box.names == encoding.schedule().theta_names
    np.testing.assert_array_equal(theta, genomes)


@every_encoding
def test_start_is_the_same_gains_throughout_and_their_neighbours(encoding):
    start = encoding.start((3.0, 1.0, 2.0))
    assert start.shape == (5, encoding.box.n_genes)
    schedule = encoding.schedule()
    for t in (0.0, 1.0, 7.0):
        gains, _ = schedule.gains(t, (0.0, 0.0), (), tuple(start[0].tolist()))
        assert tuple(map(float, gains)) == (3.0, 1.0, 2.0)
    moved = np.abs(encoding.box.encode(start[1:]) - encoding.box.encode(start[0]))
    np.testing.assert_allclose(moved, 0.1, rtol=1e-9)


@every_encoding
def test_it_can_be_searched(encoding):
    target = encoding.start((7.0, 0.1, 1.0))[0]

    def evaluate(genomes):
        return ((encoding.decode(genomes) - target) ** 2).sum(axis=1)

    box = encoding.box
    start = encoding.start((3.0, 1.0, 2.0))
    result = evolve(evaluate, box.low, box.high, GeneticAlgorithm(), 0, start, scale=box.scale, names=box.names)
    assert result.fitness < 0.05 * evaluate(start[:1])[0]


def test_gains_whose_bounds_lie_more_than_a_factor_100_apart_are_searched_on_a_log_scale():
    encoding = FixedGains(low=(0.01, 0.1, 0.0, -50.0), high=(10.0, 10.0, 10.0, -0.1), gain_names=("a", "b", "c", "d"))
    assert encoding.box.scale == ("log", "linear", "linear", "log")


def test_time_windows_mean_what_the_schedule_makes_of_them():
    encoding = TimeWindows(low=LOW, high=HIGH, times=(0.0, 2.0, 4.0))
    assert isinstance(encoding.schedule(), TimeGains)
    theta = tuple(encoding.decode([1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0])[0].tolist())
    for t, expected in ((0.0, 1.0), (1.9, 1.0), (2.0, 2.0), (5.9, 3.0)):
        gains, _ = encoding.schedule().gains(t, (0.0, 0.0), (), theta)
        assert tuple(map(float, gains)) == (expected,) * 3


def test_gains_of_all_channels():
    names = ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    encoding = TimeWindows(low=(0.0,) * 6, high=(1.0,) * 6, times=(0.0, 1.0), gain_names=names)
    assert encoding.box.n_genes == 12
    assert encoding.box.names[6] == "kp_1@1"


def test_equal_bounds_fix_a_gain():
    encoding = FixedGains(low=(0.0, 0.0, 0.0), high=(10.0, 5.0, 0.0))
    assert encoding.box.free.tolist() == [0, 1]
    assert isinstance(encoding.schedule(), ConstantGains)


def test_receding_penalty_is_the_squared_distance_in_parts_of_the_ranges():
    encoding = RecedingWindow(low=(0.0, 0.01, 0.0), high=(10.0, 100.0, 4.0), previous=(3.0, 1.0, 2.0), shrink=0.5)
    penalty = encoding.penalty([[3.0, 1.0, 2.0], [4.0, 1.0, 2.0], [3.0, 10.0, 2.0], [3.0, 1.0, 4.0]])
    np.testing.assert_allclose(penalty, 0.5 * np.array([0.0, 0.1, 0.25, 0.5]) ** 2, atol=1e-15)


def test_receding_gains_move_part_of_the_way():
    encoding = RecedingWindow(low=(0.0, 0.01, 0.0), high=(10.0, 100.0, 4.0), previous=(3.0, 1.0, 2.0))
    assert tuple(encoding.towards((5.0, 4.0, 1.0), 0.0)) == (3.0, 1.0, 2.0)
    assert tuple(encoding.towards((5.0, 4.0, 1.0), 1.0)) == (5.0, 4.0, 1.0)
    np.testing.assert_allclose(encoding.towards((5.0, 4.0, 1.0), 0.5), (4.0, 2.0, 1.5), rtol=1e-14)  # 2: geometric mean
    assert encoding.following((5.0, 4.0, 9.0)).previous == (5.0, 4.0, 4.0)


def test_previous_gains_outside_the_box_are_moved_into_it():
    assert RecedingWindow(low=LOW, high=HIGH, previous=(-1.0, 1.0, 9.0)).previous == (0.0, 1.0, 4.0)


@pytest.mark.parametrize(
    ("encoding", "settings", "message"),
    [
        (FixedGains, {"low": (0.0, 5.0, 0.0)}, "low of gain 'ki' must not exceed its high, got 5.0 and 1.0; swap them"),
        (FixedGains, {"low": (0.0, np.nan, 0.0)}, "low of gain 'ki' must be a finite number"),
        (FixedGains, {"high": (1.0, 1.0, np.inf)}, "high of gain 'kd' must be a finite number"),
        (FixedGains, {"low": (0.0, 0.0)}, r"low must have one entry for each gain \(kp, ki, kd\), shape \(3,\)"),
        (FixedGains, {"low": (0.0, 0.0, -1.0)}, "the bounds of gain 'kd' must have one sign, got -1.0 and 1.0"),
        (FixedGains, {"gain_names": ("kp", "kp", "kd")}, "gain_names must be different names"),
        (TimeWindows, {"times": (0.0, 2.0, 2.0)}, "times must increase strictly"),
        (TimeWindows, {"times": (0.0, 2.0), "kind": "linaer"}, "did you mean 'linear'"),
        (RecedingWindow, {"previous": (1.0, 2.0)}, r"previous must have one entry for each gain \(kp, ki, kd\)"),
        (RecedingWindow, {"previous": (1.0, 1.0, 1.0), "shrink": -1.0}, "shrink must not be negative"),
    ],
)
def test_wrong_settings_are_refused(encoding, settings, message):
    with pytest.raises(ValueError, match=message):
        encoding(**{"low": (0.0,) * 3, "high": (1.0,) * 3, **settings})


def test_either_sign_must_be_asked_for():
    assert FixedGains(low=(-1.0,), high=(1.0,), gain_names=("k",), any_sign=True).box.low == (-1.0,)


def test_wrong_weights_are_refused():
    with pytest.raises(ValueError, match=r"weight must lie in \[0, 1\]"):
        ENCODINGS[2].towards((1.0, 1.0, 1.0), 1.5)
