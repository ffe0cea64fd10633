"""What the ground's patch, steps shorter than the averaging time's bound, and the vehicle's measures do to numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plants.balancing_vehicle import BALANCER, BALANCING_VEHICLE, standing
from plants.balancing_vehicle.parameters import VehicleParameters
from plants.balancing_vehicle.wheels import dynamics
from tests.plants.balancing_vehicle.test_balancing_vehicle import DRY, X3, P

STILL, H = (0.0, 0.0), 1e-3
MEASURES = {one.name: one for one in BALANCING_VEHICLE.measures}


def updated(name, x, before=(0.0,), w=DRY):
    return MEASURES[name].update(0.0, x, STILL, w, P, before, H)[0]


def test_a_patch_under_one_wheel_takes_that_wheels_friction():
    """On top of the scale of the ground that runs give."""
    patch = {"patch": 0.15, "patch_x": -0.5, "patch_length": 1.0, "patch_y": 0.3, "patch_width": 0.5}
    now = dynamics(standing(), STILL, (0.5, 1.0, 0.0, 0.0), VehicleParameters(**(BALANCER | patch)))
    assert [touch.scale for touch in now.touches] == [pytest.approx(0.5 * 0.15), 1.0]


def test_an_averaging_time_below_two_and_a_half_steps_counts_as_that():
    lifted = (*X3[:2], X3[2] - 1e-4, *X3[3:])
    ends = [
        BALANCING_VEHICLE.advance(0.0, lifted, STILL, DRY, tuple((BALANCER | {"averaging": time}).values()), H)
        for time in (1e-5, 2.5 * H, 5.0 * H)
    ]
    assert ends[0] == ends[1]
    assert ends[1] != ends[2]


def test_only_wheels_on_the_ground_slide_and_only_others_are_in_the_air():
    slips = [math.hypot(*dynamics(X3, STILL, DRY, VehicleParameters(*P)).slip(wheel)) for wheel in range(2)]
    high = (*X3[:2], 0.6, *X3[3:])
    assert updated("slip_distance", X3, (2.0,)) == pytest.approx(2.0 + H * sum(slips), rel=1e-9)
    assert updated("slip_distance", high, (2.0,)) == 2.0
    assert updated("time_in_air", X3) == 0.0
    assert updated("time_in_air", high, (0.5,)) == pytest.approx(0.5 + 2.0 * H)


def test_an_impact_costs_the_work_of_the_loads_on_closing_gaps():
    """A wheel that comes down at 0.5 m/s: at gap 0 the averaged gap's load is 3 m v / h of each wheel's 6 kg."""
    start = list(standing())
    start[10] = -0.5
    weight, stop = 12.0 * 9.81, 3.0 * 12.0 * 0.5 / BALANCER["averaging"]
    assert updated("impact_loss", tuple(start)) == pytest.approx(H * (weight + stop) * 0.5, rel=1e-6)


def test_lean_is_a_mean_square():
    total = (0.0,)
    for pitch in (0.3, -0.4):
        total = (updated("lean", standing(pitch), total),)
    assert MEASURES["lean"].value((np.array(total[0]),), 2.0 * H) == pytest.approx(math.sqrt(0.125))
