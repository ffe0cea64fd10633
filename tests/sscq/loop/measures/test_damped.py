"""The entropy measure with given dampers: what a controller gains by its gains alone is not in it."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import PID, ConstantGains, Controller, GainTable, gain_names
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import DAMPED
from sscq.situations.situation import Situation

VDP, STEP = plants.get("van_der_pol"), 0.01
STEPPED = Situation("step", 1.0, initial=(0.2, -0.3), t_end=3.0)


def measured(plant, controller, theta, damping=(), situation=STEPPED, **options):
    loop = ClosedLoop(plant, controller, (situation,), STEP, observe=True, damping=damping, **options)
    quality = loop.evaluate(np.atleast_2d(np.asarray(theta, float)), threads=1)
    return {name: float(values[0, 0]) for name, values in quality.until_lost.items()}


def constant(plant):
    laws = (PID(),) * len(plant.channels)
    return Controller(laws, ConstantGains(gain_names(laws)))


def test_with_its_own_damping_it_is_the_published_difference():
    found = measured(VDP, constant(VDP), (12.0, 3.0, 4.0), (4.0,))
    assert found[DAMPED] == found["entropy_difference_abs"] > 0.0


def test_without_dampers_it_is_what_the_plant_alone_produces():
    """A pendulum dissipates in its own friction: its rate is never negative, so the magnitude changes nothing."""
    plant = plants.get("pendulum")
    found = measured(plant, constant(plant), (12.0, 3.0, 4.0), situation=replace(STEPPED, initial=None))
    assert found[DAMPED] == found["entropy_plant"] > 0.0


def test_channels_add_up_and_a_scale_is_in_the_damping():
    """Scaled by 0.5 the own production is that of dampers half as large, negative ones with it."""
    plant, kd = plants.get("cart_pole"), np.array([3.0, -8.0])
    theta = (2.0, 0.1, kd[0], -60.0, -1.0, kd[1])
    found = measured(plant, constant(plant), theta, 0.5 * kd, Situation("held", 0.0, t_end=1.0), entropy_scale=0.5)
    assert found[DAMPED] == pytest.approx(found["entropy_difference_abs"], rel=1e-12)  # products in another order


def test_lower_derivative_gain_counts_for_what_the_motion_does_alone():
    """A table that damps less far from the target: by its own gain it claims less entropy than the motion has."""
    controller = Controller((PID(),), GainTable("error", (0.0, 1.0), "magnitude", tick=0.04))
    same = np.tile((12.0, 3.0, 4.0), 2)
    found = measured(VDP, controller, same, (4.0,))
    assert found[DAMPED] == pytest.approx(found["entropy_difference_abs"], rel=1e-12)
    lower = same.copy()
    lower[5] = 3.0
    found = measured(VDP, controller, lower, (4.0,))
    assert found["entropy_difference_abs"] < 0.97 * found[DAMPED]


def test_damping_that_nothing_would_use_is_refused():
    with pytest.raises(ValueError, match="a number for each of 1 channels"):
        measured(VDP, constant(VDP), (12.0, 3.0, 4.0), (4.0, 1.0))
    with pytest.raises(ValueError, match="for observed loops"):
        ClosedLoop(VDP, constant(VDP), (STEPPED,), STEP, damping=(4.0,))
