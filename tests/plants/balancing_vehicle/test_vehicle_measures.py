"""What the vehicle measures and counts: errors against the references, slip, air, impacts, and the ground's patch."""

import math

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.balancing_vehicle import BALANCER, BALANCING_VEHICLE, NOMINAL_GAINS, dropped, standing
from plants.balancing_vehicle.parameters import VehicleParameters
from plants.balancing_vehicle.signals import SEEN_GROWTH, SEEN_TURN, slip_seen
from plants.balancing_vehicle.tasks import NO_LOAD
from plants.balancing_vehicle.wheels import dynamics
from plants.excitation import Step
from tests.plants.balancing_vehicle.test_balancing_vehicle import DRY, X3, P

STEP, AT = 0.005, 1.0
LAWS = tuple(PID(limits=(channel.low, channel.high), sample_time=0.01) for channel in BALANCING_VEHICLE.channels)
RIDE = sscq.Situation(
    name="onto ice", t_end=2.0, reference={"speed": 0.3 + Step(-0.5, at=0.5), "yaw_rate": 0.2},
    parameters={"no_load_speed": NO_LOAD, "encoder": 1.0}, excitation=dropped(0.3, at=AT, wheels="L"),
)  # fmt: skip


@pytest.fixture(scope="module")
def ride():
    return sscq.record(BALANCING_VEHICLE, LAWS, np.array(NOMINAL_GAINS), RIDE, step=STEP)


def _off(ride, output, scale=1.0):
    reference = "speed" if output == "true_speed" else output
    return STEP * np.abs(ride[f"reference {reference}"] - ride[f"output {output}"])[:-1] / scale


def test_the_speeds_error_is_that_of_the_true_speed(ride):
    """Left sums over the record; the references are recorded at samples and hold, so they agree to rounding."""
    assert ride["speed_error"][-1] == pytest.approx(_off(ride, "true_speed").sum(), rel=1e-9)
    assert np.abs(ride["output true_speed"] - ride["output speed"]).max() > 1e-3


def test_the_dry_error_ends_where_slippery_ground_begins(ride):
    """A wheel's friction falls at 1 s: nothing counts from that step on, though errors go on."""
    off = _off(ride, "pitch", 0.1) + _off(ride, "true_speed", 0.5) + _off(ride, "yaw_rate", 0.5)
    dry = ride.time[:-1] < AT - 1e-9
    assert ride["dry_error"][-1] == pytest.approx(off[dry].sum(), rel=1e-9)
    assert off[~dry].sum() > 0.1 * off[dry].sum()


SHORT = 1e-4


@pytest.fixture(scope="module")
def spinning():
    """Torque on ice: both wheels spin, the left one more."""
    return plants.simulate(
        BALANCING_VEHICLE, initial=standing(0.05), inputs={"tau_L": 1.0, "tau_R": 0.6}, t_end=0.15, step=SHORT,
        disturbances=dropped(0.05, at=0.0),
    )  # fmt: skip


def test_growth_is_that_of_the_mean_slip(spinning):
    """Central differences of the slip over 2 ms; yawing adds products of rates, a hundredth here."""
    slip = 0.5 * (spinning["slip_t_L"] + spinning["slip_t_R"])
    k = np.arange(400, 1400, 50)
    rate = -(slip[k + 10] - slip[k - 10]) / (20 * SHORT)
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
