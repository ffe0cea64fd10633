"""Models for tuning rules: exact where the plant is such a model, near it elsewhere, refused where there is none."""

import math

import control
import numpy as np
import pytest

import plants
from sscq.baselines.tuning_rules import NoStepModelError, step_model


def test_first_order_plus_dead_time_is_found_again():
    values = dict(zip((q.name for q in plants.get("fopdt").parameters), plants.get("fopdt").nominal(), strict=True))
    found = step_model(plants.get("fopdt"))
    # Interpolation on 250 points a time constant: 2e-6; exp(-16) of the answer is left at the end: 1e-7.
    assert found.gain == pytest.approx(values["K"], rel=1e-6)
    assert found.time_constant == pytest.approx(values["T"], rel=1e-5)
    assert found.dead_time == pytest.approx(values["L"], abs=1e-5)
    assert found.overshoot == pytest.approx(0.0, abs=1e-12)


def test_integrating_plus_dead_time_is_found_again():
    plant = plants.get("integrating_dead_time")
    slope, delay = plant.nominal()
    found = step_model(plant)
    assert (found.gain, found.dead_time) == pytest.approx((slope, delay), rel=1e-9)
    assert math.isinf(found.time_constant)


def test_a_motor_is_an_integrator_with_its_lags_as_dead_time():
    """y'' T + y' = k u: the asymptote is k (t - T), for several lags their sum."""
    plant = plants.get("dc_motor")
    model = plants.linearise(plant, commands=True)
    poles = model.poles
    lags = sum((-1.0 / pole).real for pole in poles if abs(pole) > 1e-6 * abs(poles).max())
    assert step_model(plant).dead_time == pytest.approx(lags, rel=1e-3)


@pytest.mark.parametrize("name", ["second_order_dead_time", "two_tanks", "heater"])
def test_the_model_goes_through_two_points_of_the_answer_that_python_control_gives(name):
    plant = plants.get(name)
    model, found = plants.linearise(plant, commands=True), step_model(plant)
    row = model.row(plant.channels[0].output)
    loop = control.ss(model.A, model.B[:, :1], row[None], [[0.0]])
    for share in (1.0 - math.exp(-1.0 / 3.0), 1.0 - math.exp(-1.0)):
        t = found.dead_time - model.delay - found.time_constant * math.log(1.0 - share)
        y = control.step_response(loop, np.linspace(0.0, t, 500)).outputs[-1]
        # Linear between 4000 points of sixteen slowest times: 1e-5 of the answer at most.
        assert y / found.gain == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "reason"), [("van_der_pol", "is unstable there"), ("magnetic_levitation", "is unstable there")]
)
def test_a_plant_without_such_a_model_is_refused_with_the_reason(name, reason):
    with pytest.raises(NoStepModelError, match=reason):
        step_model(plants.get(name))


def test_an_integrator_that_the_output_does_not_see_changes_nothing():
    """y' = u - y beside a counter z' = u: one zero pole, and an answer that settles."""
    plant = plants.Plant(
        name="beside", states=(plants.Quantity("y", ""), plants.Quantity("z", "")), inputs=(plants.Quantity("u", ""),),
        channels=(plants.Channel(output="y"),), derivative=lambda t, x, u, w, p: (u[0] - x[0], u[0]),
    )  # fmt: skip
    found = step_model(plant)
    assert (found.gain, found.time_constant, found.dead_time) == pytest.approx((1.0, 1.0, 0.0), abs=1e-5)
