"""What encoders and inertial sensors of the balancing vehicle tell about slip, against the motion."""

import numpy as np
import pytest

import plants
from plants.balancing_vehicle import BALANCING_VEHICLE, dropped, standing
from plants.balancing_vehicle.signals import SEEN_GROWTH, SEEN_TURN, slip_seen

STEP = 1e-4


@pytest.fixture(scope="module")
def spinning():
    """Torque on ice: both wheels spin, the left one more."""
    return plants.simulate(
        BALANCING_VEHICLE, initial=standing(0.05), inputs={"tau_L": 1.0, "tau_R": 0.6}, t_end=0.15, step=STEP,
        disturbances=dropped(0.05, at=0.0),
    )  # fmt: skip


def test_growth_is_that_of_the_mean_slip(spinning):
    """Central differences of the slip over 2 ms; yawing adds products of rates, a hundredth here."""
    slip = 0.5 * (spinning["slip_t_L"] + spinning["slip_t_R"])
    k = np.arange(400, 1400, 50)
    rate = -(slip[k + 10] - slip[k - 10]) / (20 * STEP)
    assert np.abs(rate).max() > 5.0
    assert spinning["slip_growth"][k] == pytest.approx(rate, rel=0.02, abs=0.05)


def test_turn_is_the_slip_difference_over_the_track(spinning):
    """Right less left, by definition of both."""
    difference = spinning["slip_t_L"] - spinning["slip_t_R"]
    assert spinning["slip_turn"][-1] == pytest.approx(difference[-1] / 0.5, rel=1e-6, abs=1e-9)


def test_what_is_seen_rises_from_0_to_1():
    """Half where one of them is at its mark."""
    assert slip_seen(0.0, 0.0) == 0.0
    assert slip_seen(SEEN_TURN, 0.0) == slip_seen(0.0, -SEEN_GROWTH) == 0.5
    assert slip_seen(10.0, 100.0) > 0.99
