"""Loops that are commanded from outside move as simulated loops do, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from plants.excitation import GaussianFilter, Sine, Step, WhiteNoise
from sscq.loop.stepping.lanes import Lanes, commanded

STEP, SAMPLE = 0.01, 0.02
PLANT = plants.get("van_der_pol")
PLAIN = sscq.Situation("plain", reference=Step(1.0, at=0.3), excitation=WhiteNoise(0.1, hold=0.05), t_end=2.0)
REAL = replace(
    PLAIN, name="real", excitation=Sine(0.3, 2.0) + WhiteNoise(0.1, hold=0.05), noise=0.02, jitter=0.5, dropout=0.2,
    command_dropout=0.2, quantisation=0.01, delay=0.035, output_delay=0.05, rate_limit=40.0, backlash=0.1, dead_zone=0.2,
)  # fmt: skip
SENSORS = replace(
    PLAIN,
    name="sensors",
    excitation=GaussianFilter(0.3, 2.0),
    noise=0.02,
    jitter=0.5,
    reference=Sine(1.0, 1.0),
)
# Each alone: what one of them keeps alive in the kernel, another might need.
LOSSES = replace(SENSORS, name="losses", jitter=0.0, dropout=0.3, quantisation=0.01)
ACTUATORS = replace(PLAIN, name="actuators", command_dropout=0.3, rate_limit=40.0, backlash=0.1, dead_zone=0.2)
LATE = replace(PLAIN, name="late", output_delay=0.05, noise=0.02)
COMMAND = 1.5


def recorded(situation, seed, plant=PLANT):
    """What a simulation with a constant command gives: states at the samples, what the sensors show, the reference."""
    controller, channels = commanded(plant, SAMPLE), len(plant.channels)
    run = sscq.record(plant, controller, [COMMAND] * channels, replace(situation, seed=seed), step=STEP)
    return run.group("states")[::2], np.hstack([run.group("signals")[:, 2 * channels :], run.group("reference")])[::2]


def stepped(lanes, n):
    """States and what is seen, sample by sample [n + 1, lane, ...]."""
    states, seen = [lanes.states.copy()], [lanes.look()]
    for _ in range(n):
        lanes.command(np.full((lanes.count, len(lanes.plant.channels)), COMMAND))
        states.append(lanes.states.copy())
        seen.append(lanes.look())
    return np.array(states), np.array(seen)


@pytest.mark.parametrize("situation", [PLAIN, REAL, SENSORS, LOSSES, ACTUATORS, LATE], ids=lambda s: s.name)
def test_lanes_that_start_at_different_times_move_as_simulations_do(situation):
    lanes = Lanes(PLANT, [situation], 3, step=STEP, sample_time=SAMPLE)
    lanes.reset([0, 1, 2], [0, 0, 0], [5, 6, 7])
    stepped(lanes, 7)
    lanes.reset([1], [0], [8])  # 7 samples behind the others now
    states, seen = stepped(lanes, 60)
    for lane, seed, first in ((0, 5, 7), (1, 8, 0), (2, 7, 7)):
        expected_states, expected = recorded(situation, seed)
        np.testing.assert_array_equal(states[:, lane], expected_states[first : first + 61])
        np.testing.assert_array_equal(seen[:, lane], expected[first : first + 61])


def test_situations_of_one_environment_keep_their_own_numbers():
    other = replace(PLAIN, name="other", reference=-1.0, excitation=WhiteNoise(0.3, hold=0.05), initial=(1.0, 0.0))
    lanes = Lanes(PLANT, [PLAIN, other], 2, step=STEP, sample_time=SAMPLE)
    lanes.reset([0, 1], [1, 0], [3, 4])
    states, _ = stepped(lanes, 30)
    np.testing.assert_array_equal(states[:, 0], recorded(other, 3)[0][:31])
    np.testing.assert_array_equal(states[:, 1], recorded(PLAIN, 4)[0][:31])


def test_situations_of_unequal_delays_are_refused():
    with pytest.raises(ValueError, match="the same delays"):
        Lanes(PLANT, [PLAIN, replace(PLAIN, name="late", delay=0.1)], 1, step=STEP, sample_time=SAMPLE)


# The heater loses at rest, the quarter car has measures of its own.
@pytest.mark.parametrize("name", ["van_der_pol", "heater", "quarter_car"])
def test_measures_are_those_of_an_evaluation(name):
    plant = plants.get(name)
    task = replace(sscq.standard_sets(plant)["taught"][0], t_end=200 * plant.step, seed=9)
    measures = ("iae", "entropy_plant", "total_variation", "itae", *(measure.name for measure in plant.measures))
    lanes = Lanes(plant, [task], 1, step=plant.step, sample_time=2 * plant.step, measures=measures)
    lanes.reset([0], [0], [9])
    stepped(lanes, 100)
    controller, commands = commanded(plant, 2 * plant.step), [[COMMAND] * len(plant.channels)]
    expected = sscq.evaluate(plant, controller, commands, [task], step=plant.step, measures=measures)
    for measure in measures:
        np.testing.assert_array_equal(lanes.quality()[measure], expected[measure])
    assert lanes.finished.all()


def test_a_lane_that_falls_over_stays_where_it_was_and_leaves_its_neighbour_alone():
    plant = plants.get("cart_pole")
    situation = sscq.Situation("fall", initial=(0.0, 0.1, 0.0, 0.0), t_end=20.0)
    lanes = Lanes(plant, [situation], 2, step=STEP, sample_time=SAMPLE)
    lanes.reset([0, 1], [0, 0], [1, 1], [None, {"angle": 0.0}])
    for _ in range(200):
        lanes.command(np.zeros((2, 2)))
    assert lanes.diverged.tolist() == [True, False]
    assert 1.0 < abs(lanes.states[0, 1]) < 1.2  # the region ends at 1.2 rad
    np.testing.assert_array_equal(lanes.states[1], 0.0)  # upright without a push: an equilibrium


def test_the_last_measurement_is_at_the_horizon():
    lanes = Lanes(PLANT, [replace(PLAIN, noise=0.1)], 1, step=STEP, sample_time=SAMPLE)
    lanes.reset([0], [0], [5])
    _, seen = stepped(lanes, 100)
    noise = seen[:, 0, 0] - stepped_states(5)
    assert np.unique(noise).size == noise.size  # every sample, the last too, has a draw of its own


def stepped_states(seed):
    lanes = Lanes(PLANT, [replace(PLAIN, noise=0.1)], 1, step=STEP, sample_time=SAMPLE)
    lanes.reset([0], [0], [seed])
    return stepped(lanes, 100)[0][:, 0, 0]
