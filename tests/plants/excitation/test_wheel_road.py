"""The road under four wheels as signals: one road for all, drawn by the seed, with rates that are its derivatives."""

import numpy as np
import pytest

import plants
from plants import Plant, Quantity
from plants.core.signals import noise
from plants.excitation import Bump, BumpRate, Road, WheelRoad, WheelRoadRate
from plants.suspension.roads import bump, rough_road, together, waves
from tests.reference.closed_loop_twin import uncompiled
from tests.reference.self_test.streams import Streams

NAMES = [f"{label}_{wheel}" for label in ("R", "Rdot") for wheel in ("i", "ii", "iii", "iv")]
CARRIER = Plant(
    name="carrier", states=(Quantity("rest", "1"),), disturbances=tuple(Quantity(name, "1") for name in NAMES),
    derivative=lambda *_: (0.0,),
)  # fmt: skip


def driven(road, t_end, step, seed=0):
    """The eight signals [n + 1, 8] as the kernel's text gives them."""
    with uncompiled():
        return plants.simulate(CARRIER, t_end, step, disturbances=road, seed=seed, name="road").group("disturbances")


@pytest.mark.parametrize("speed", [18.0, 20.0])
def test_rear_wheels_meet_the_road_of_the_front_ones(speed):
    """After 2.7 m: 15 steps of 10 ms at 18 m/s, 13.5 at 20 m/s, where two samples are mixed."""
    values = driven(rough_road("C", speed), 3.0, 0.01)
    front, rear = values[:, [0, 1, 4, 5]], values[:, [2, 3, 6, 7]]
    delay = 2.7 / speed / 0.01
    whole, late = int(np.ceil(delay - 1e-9)), np.ceil(delay - 1e-9) - delay
    expected = (1.0 - late) * front[:-whole] + late * front[1 : len(front) - whole + 1]
    np.testing.assert_allclose(rear[whole:], expected, rtol=1e-12, atol=1e-15)
    assert np.abs(rear[:whole]).min() > 0.0  # they come from the road before


def test_rates_belong_to_the_heights():
    """R of the second stage moves by (x - R)(1 - decay) in a step, its rate is (v / L)(x - R)."""
    speed, step = 20.0, 0.002
    values = driven(rough_road("C", speed), 2.0, step)
    share = -np.expm1(-speed / 0.1 * step) / (speed / 0.1)
    moved = values[1:, [0, 1]] - values[:-1, [0, 1]]
    np.testing.assert_allclose(moved, share * values[:-1, [4, 5]], atol=1e-14)


def test_left_and_right_are_one_road_with_the_correlation_asked_for():
    """400 roads are 400 independent pairs: correlations err by (1 - r^2) / 20, deviations by 1 / sqrt(800) of themselves."""
    for correlation in (0.5, 1.0, -0.3):
        ends = []
        for right in (False, True):
            part = WheelRoad("C", 20.0, right, correlation=correlation)
            names = [("road", seed, "any") for seed in range(400)]
            ends.append(Streams(part, 0.05, names).values(2)[-1])
        assert np.corrcoef(ends)[0, 1] == pytest.approx(correlation, abs=4.0 * (1.0 - correlation**2) / 20.0 + 1e-12)
        assert np.std(ends[1]) == pytest.approx(Road("C", 20.0).deviation, rel=4.0 / np.sqrt(800.0))


def test_seeds_draw_roads_and_the_left_wheel_has_a_road_alone():
    one, other = (driven(rough_road("B", 20.0), 0.5, 0.01, seed) for seed in (1, 2))
    assert np.abs(one - other).min() > 0.0
    alone = driven({"R_i": WheelRoad("B", 20.0)}, 0.5, 0.01, 1)
    np.testing.assert_array_equal(alone[:, 0], one[:, 0])  # whatever else there is


def test_numbers_from_any_sample_on():
    """A stream that is asked for from an odd or even place gives what it gives from there."""
    key = noise.stream_key("road", 3, "road left")
    long = noise.samples(noise.GAUSSIAN, 3 * 1024, key)
    out = np.zeros(1024)
    for ahead in (0, 1, 134, 135):
        noise.fill(out, noise.GAUSSIAN, 1, (*key, ahead), np.zeros((1, 1)))
        np.testing.assert_array_equal(out, long[1024 + ahead : 2048 + ahead])


def test_bumps_and_waves_have_exact_rates():
    step = 1e-3
    for road in (bump(0.05, 1.0, 10.0, at=1.0), waves(0.02, 1.5, (0.0, 0.4, 1.0, 2.0))):
        values = driven(road, 1.0, step)
        slope = (values[2:, :4] - values[:-2, :4]) / (2.0 * step)
        # Second differences of a haversine of 10 Hz: (2 pi 10)^3 0.025 h^2 / 6 = 1e-3, half as much again at its ends.
        np.testing.assert_allclose(slope, values[1:-1, 4:], atol=0.05)
    values = driven(bump(0.05, 1.0, 10.0, at=1.0, side="left"), 1.0, step)
    assert values[:, 0].max() == pytest.approx(0.05)
    assert np.flatnonzero(values[:, 0])[[0, -1]].tolist() == [101, 199]
    assert np.flatnonzero(values[:, 2])[[0, -1]].tolist() == [371, 469]
    np.testing.assert_array_equal(values[:, [1, 3, 5, 7]], 0.0)
    assert Bump(0.1, 1.0, 5.0).value(0.1, Bump(0.1, 1.0, 5.0).settings(step), 0.0) == pytest.approx(0.1)
    assert BumpRate(0.1, 1.0, 5.0).value(-1.0, BumpRate(0.1, 1.0, 5.0).settings(step), 0.0) == 0.0


def test_roads_add_up():
    both = driven(together(rough_road("A", 20.0), bump(0.03, 1.0, 10.0)), 1.0, 0.01)
    parts = driven(rough_road("A", 20.0), 1.0, 0.01) + driven(bump(0.03, 1.0, 10.0), 1.0, 0.01)
    np.testing.assert_allclose(both, parts, atol=1e-15)


def test_roads_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"WheelRoadRate: correlation must lie in \[-1, 1\], got 2"):
        WheelRoadRate("C", 20.0, correlation=2.0)
    with pytest.raises(ValueError, match="road_class is one of A, B, C, D, E, got 'F'"):
        WheelRoad("F", 20.0)
    with pytest.raises(ValueError, match="got side 'middle'"):
        bump(0.1, 1.0, 5.0, side="middle")
