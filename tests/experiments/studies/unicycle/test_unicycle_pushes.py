"""Unforeseen situations of the unicycle drawn at random; the region of survived pushes on regions that are known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from experiments.studies.unicycle import pushes
from experiments.studies.unicycle.comparison import UnicycleStudy
from plants.unicycle import UNICYCLE_SPEED_HOLD
from plants.unicycle.parameters import NOMINAL, PARAMETERS
from plants.unicycle.tasks import NOISE

DECLARED = UnicycleStudy().declaration().own
RANGES = DECLARED["drawn"]["ranges"]
GRID = pushes.PushGrid(directions=24, largest=300.0, sizes=15, halvings=3)
RIDE = pushes.Condition(1.0, 0.0, 0.4)
STEP = 300.0 / 15 / 2**3  # N: what the bisection leaves open


def force(situation):
    """Push of a situation as (forward, left), N."""
    signals = situation.excitation
    return tuple(signals[k].parts[0].height if k in signals else 0.0 for k in ("Fx", "Fy"))


def inside(region):
    """Survival by a test of the force."""
    return lambda situations: np.array([region(*force(one)) for one in situations])


def test_the_same_seed_draws_the_same_situations_and_another_one_others():
    """Also a longer draw begins with the shorter one."""
    first, again, other = (pushes.drawn(RANGES, n, seed) for n, seed in ((5, 3), (7, 3), (5, 4)))
    assert first == again[:5]
    assert all(a.excitation != b.excitation for a, b in zip(first, other, strict=True))


def test_drawn_situations_lie_in_their_ranges_and_fill_them():
    """Of 200 uniform draws the extremes reach into the outer 5 % on both sides but for a chance of 2 * 0.95^200."""
    several = pushes.drawn(RANGES, 200, 0)
    index = {q.name: k for k, q in enumerate(PARAMETERS)}
    found = {
        "speed": [s.initial[8] * NOMINAL[index["Rw"]] for s in several],
        "phase": [s.initial[3] for s in several],
        "size": [math.hypot(*force(s)) for s in several],
        "direction": [math.atan2(force(s)[1], force(s)[0]) for s in several],
        "rider": [s.parameters["MB"] / NOMINAL[index["MB"]] for s in several],
        "yaw": [s.parameters["Dcor"] / NOMINAL[index["Dcor"]] for s in several],
        "noise": [s.noise["pitch"] / NOISE["pitch"] for s in several],
        "delay": [s.delay for s in several],
        "slope": [s.excitation["sx"].level for s in several],
    }
    for name, values in found.items():
        low, high = RANGES[name]
        room = 0.05 * (high - low)
        assert low - 1e-9 <= min(values) < low + room, name
        assert high - room < max(values) <= high + 1e-9, name


def test_drawn_situations_can_be_simulated_on_the_plant():
    """Names of references, disturbances, parameters and sensors are the plant's."""
    one = pushes.drawn(RANGES, 1, 0)[0]
    assert len(one.excitations(UNICYCLE_SPEED_HOLD)) == 6
    assert len(one.references(UNICYCLE_SPEED_HOLD)) == 2
    assert sum(level > 0.0 for level in one.noise_levels(UNICYCLE_SPEED_HOLD)) == len(NOISE)


def test_the_largest_push_of_a_disc_is_its_radius():
    """From below, to what the bisection leaves open."""
    found = pushes.largest_pushes(inside(lambda x, y: math.hypot(x, y) <= 123.0), [RIDE], GRID)
    assert np.all(found <= 123.0)
    assert np.all(found > 123.0 - STEP)


def test_the_area_of_an_ellipse_is_pi_a_b():
    """Radii are short by up to STEP of 60 N at least: half of that on average, so 2 % and less than 4 % of the area."""
    found = pushes.largest_pushes(inside(lambda x, y: (x / 150.0) ** 2 + (y / 60.0) ** 2 <= 1.0), [RIDE], GRID)
    assert pushes.areas(found)[0] == pytest.approx(math.pi * 150.0 * 60.0, rel=0.05)
    exact = 150.0 * 60.0 / np.hypot(60.0 * np.cos(GRID.angles), 150.0 * np.sin(GRID.angles))
    assert pushes.areas(exact) == pytest.approx(math.pi * 150.0 * 60.0, rel=1e-3)


def test_what_is_survived_beyond_a_fall_does_not_count():
    """A ring from 50 to 90 N in which it falls ends the region."""
    found = pushes.largest_pushes(inside(lambda x, y: not 50.0 < math.hypot(x, y) < 90.0), [RIDE], GRID)
    assert np.all(found <= 50.0)
    assert np.all(found > 50.0 - STEP)


def test_a_region_without_a_fall_ends_with_the_grid_and_one_without_survival_is_empty():
    """Both ends of the search."""
    assert np.all(pushes.largest_pushes(inside(lambda *_: True), [RIDE], GRID) == GRID.largest)
    assert np.all(pushes.largest_pushes(inside(lambda *_: False), [RIDE], GRID) < STEP + 1e-9)


def test_each_ride_has_its_own_region():
    """Rides and directions are not mixed up: what a fast ride survives to the left alone."""

    def survives(situations):
        return np.array([force(s)[1] > 1.0 and s.initial[8] > 10.0 for s in situations])

    rides = [replace(RIDE, speed=1.0), replace(RIDE, speed=2.0)]
    found = pushes.largest_pushes(survives, rides, GRID)
    assert np.all(found[0] < STEP)
    left = np.sin(GRID.angles) > 0.1
    assert np.all(found[1][left] == GRID.largest)
    assert np.all(found[1][np.sin(GRID.angles) < 0.0] < STEP)


def test_areas_count_up_to_a_largest_size():
    """A half disc of 200 N, up to 100 N."""
    sizes = np.where(np.arange(24) < 12, 200.0, 0.0)
    assert pushes.areas(sizes, 100.0) == pytest.approx(0.5 * math.pi * 100.0**2)


def test_rides_are_spread_over_the_speeds_and_reproducible():
    """Crank angles and heights are drawn."""
    ranges = DECLARED["region"]
    rides = pushes.conditions(ranges, 5, 1)
    assert rides == pushes.conditions(ranges, 5, 1)
    assert [ride.speed for ride in rides] == pytest.approx([0.75, 1.25, 1.75, 2.25, 2.75])
    assert rides[0].phase != rides[1].phase
