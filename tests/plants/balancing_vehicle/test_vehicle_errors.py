"""The vehicle's errors against the references, true speed and all: against the recorded motion."""

import numpy as np
import pytest

import sscq
from controllers import PID
from plants.balancing_vehicle import BALANCING_VEHICLE, NOMINAL_GAINS, dropped
from plants.balancing_vehicle.tasks import NO_LOAD
from plants.excitation import Step

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
