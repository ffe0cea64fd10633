"""Second order and integrating plus dead time: analytic step responses, ultimate gain, no loss at rest."""

from __future__ import annotations

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import Step
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from tests.reference.closed_loop_twin import uncompiled

SECOND, INTEGRATING = plants.get("second_order_dead_time"), plants.get("integrating_dead_time")


def simulated(plant, t_end, step, **more):
    with uncompiled():  # a few hundred steps: not worth compiling
        return plants.simulate(plant, t_end, step, inputs=(Step(1.0),), disturbances=(Step(0.5, at=5.0),), **more)


def unit_step(t, T, zeta):
    """Answer of T^2 y'' + 2 zeta T y' + y = 1 from rest: the text book's two cases."""
    t = np.maximum(t, 0.0)
    if zeta < 1.0:
        damped = np.sqrt(1.0 - zeta**2)
        angle = damped * t / T
        return 1.0 - np.exp(-zeta * t / T) * (np.cos(angle) + zeta / damped * np.sin(angle))
    slow, fast = (T / (zeta + sign * np.sqrt(zeta**2 - 1.0)) for sign in (-1.0, 1.0))
    return 1.0 - (slow * np.exp(-t / slow) - fast * np.exp(-t / fast)) / (slow - fast)


# rk4 at a step of T / 20: errors of (1 / 20)^5 a step, gathered over a few T: below 1e-6. Both jumps fall on steps.
@pytest.mark.parametrize("zeta", [0.3, 1.6])
def test_second_order_answers_as_the_text_book_says(zeta):
    p = {"K": 1.5, "T": 2.0, "zeta": zeta, "L": 0.7}
    run = simulated(SECOND, 20.0, 0.1, parameters=p)
    expected = 1.5 * (unit_step(run.time - 0.7, 2.0, zeta) + 0.5 * unit_step(run.time - 5.0, 2.0, zeta))
    np.testing.assert_allclose(run["output"], expected, atol=2e-6)


def test_two_lags_are_the_poles_of_large_damping():
    T, zeta = 2.0, 1.25  # (T s)^2 + 2.5 T s + 1 = (2 T s + 1)(T s / 2 + 1)
    model = plants.linearise(SECOND, (0.0, 0.0), {"T": T, "zeta": zeta})
    np.testing.assert_allclose(model.poles.real, [-0.25, -1.0], rtol=1e-12)


def test_the_integrator_gathers_what_arrives():
    run = simulated(INTEGRATING, 12.0, 0.1, parameters={"K": 0.4, "L": 1.5})
    expected = 0.4 * (np.maximum(run.time - 1.5, 0.0) + 0.5 * np.maximum(run.time - 5.0, 0.0))
    np.testing.assert_allclose(run["output"], expected, atol=1e-12)


def test_the_integrators_ultimate_gain():
    """kp K / omega = 1 where omega L = pi / 2; a held command counts as half a sample of dead time more."""
    step, kp = 0.02, 1.0
    found = OperatingMargins(
        INTEGRATING, PID(), [sscq.Situation()], step, (0.0, 0.0, 0.0), (5.0, 1.0, 1.0), MarginLimits()
    ).margins(np.array([[kp, 0.0, 0.0]]))[0]
    expected = np.pi / (2.0 * 0.2 * (1.0 + 0.5 * step)) / kp
    assert found.gain_margin[0, 0] == pytest.approx(expected, rel=1e-3)  # of the frequency grid


@pytest.mark.parametrize("plant", [SECOND, INTEGRATING], ids=lambda plant: plant.name)
def test_losses_are_positive_and_vanish_at_rest(plant):
    p, n = plant.nominal(), len(plant.states)
    u = 0.7 / p[0] if plant is SECOND else 0.0
    at_rest = (0.7, *(0.0,) * (n - 1))
    assert plant.derivative(0.0, at_rest, (u,), (0.0,), p) == pytest.approx((0.0,) * n)
    assert plant.entropy_rate(0.0, at_rest, (u,), (0.0,), p) == 0.0
    assert plant.entropy_rate(0.0, (0.7, -0.3)[:n], (1.0,), (0.5,), p) > 0.0
