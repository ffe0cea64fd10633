"""Processes with dead time: responses in closed form, ultimate gain, what a dead time does to every kind of input."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import GaussianFilter, Recorded, Sine, Step
from plants.identification.row import ExactStep
from plants.identification.two_lags import TWO_LAGS
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from tests.reference.closed_loop_twin import uncompiled

FORCE, LOAD = Sine(0.6, 0.21, 0.4), Sine(0.15, 0.13, 1.0)
T_END = 8.0


def test_first_order_process_moves_as_the_text_book_says():
    """Each sine arrives weaker by sqrt(1 + (w T)^2) and later by atan(w T); the rest decays with T."""
    gain, T, start = 1.5, 0.8, 0.4

    def settled(t):
        turns = [(part, 2.0 * np.pi * part.frequency) for part in (FORCE, LOAD)]
        return sum(
            gain * s.amplitude / np.hypot(1.0, w * T) * np.sin(w * t + s.phase - np.arctan(w * T)) for s, w in turns
        )

    expected = settled(T_END) + (start - settled(0.0)) * np.exp(-T_END / T)
    p = {"K": gain, "T": T, "L": 0.0}
    run = plants.simulate(plants.get("fopdt"), T_END, 0.005, (start,), p, inputs=(FORCE,), disturbances=(LOAD,))
    # rk4 at 5 ms on rates of a few 1/s is accurate to (0.02)^4, some 1e-8.
    assert run["output"][-1] == pytest.approx(expected, abs=3e-8)


DELAYED = {
    "smooth": Sine(1.3, 0.4, 0.7),
    "constant": 0.8,
    "step": Step(1.0, at=0.5),
    "recorded": Recorded((0.0, 0.5, 1.0), (0.2, 1.0, -1.0)),
    "random": GaussianFilter(0.3, 5.0),
    "array": np.linspace(1.0, -1.0, 41),
}


@pytest.mark.parametrize("kind", DELAYED)
def test_dead_time_shifts_what_reaches_the_plant(kind):
    """After seven steps of dead time, at rest until then, the output is what it would have been seven steps before."""
    given = DELAYED[kind]
    inputs = given if isinstance(given, np.ndarray) else (given,)
    late, soon = (
        plants.simulate(plants.get("fopdt"), 2.0, 0.05, parameters={"L": dead}, inputs=inputs, seed=4)["output"]
        for dead in (0.35, 0.0)
    )
    assert (late[:8] == 0.0).all()
    assert np.abs(soon).max() > 0.1
    np.testing.assert_allclose(late[7:], soon[:-7], atol=1e-13)


def test_a_dead_time_between_steps_keeps_the_integral_of_a_held_input():
    """K / T times the integral of the input is what the output of a slow plant has gathered."""
    slow = {"T": 1e3, "K": 1e3}
    held = Recorded((0.0, 0.5, 1.0), (1.0, 3.0, 0.0))
    for dead in (0.3, 0.32, 0.349):
        run = plants.simulate(plants.get("fopdt"), 3.0, 0.05, parameters={"L": dead, **slow}, inputs=(held,))
        assert run["output"][-1] == pytest.approx(2.0, rel=4e-3)  # decays by a part of 3 s / T
        area = np.trapezoid(run["output"], run.time)  # of the ramps that begin at L, L + 0.5, L + 1
        begin = 1.0 * (3.0 - dead) ** 2 / 2 + 2.0 * (2.5 - dead) ** 2 / 2 - 3.0 * (2.0 - dead) ** 2 / 2
        assert area == pytest.approx(begin, rel=4e-3)


@pytest.mark.parametrize("decay", [0.4, 0.0, -0.05])
def test_two_lags_move_in_the_exact_steps_of_the_filter(decay):
    """Held inputs through the curve, late by whole steps: real lags, integrating, and mildly unstable."""
    slope, lag, dead, curve, h = 0.7, 0.6, 0.2, 0.3, 0.01
    held = Recorded((0.0, 0.5, 1.3), (0.8, -0.4, 1.1))
    p = {"slope": slope, "decay": decay, "lag": lag, "L": dead, "curve": curve}
    run = plants.simulate(plants.get("two_lags"), 3.0, h, parameters=p, inputs=(held,), disturbances=(Step(0.2),))
    row = ExactStep.of(TWO_LAGS, np.array([[slope, decay, lag, dead, 0.0, 0.0, 0.0, 1.0, curve]]), h)
    state, expected = np.zeros(2), [0.0]
    for k in range(300):
        late = k * h - dead
        u = 0.0 if late < -1e-9 else 0.8 if late < 0.5 - 1e-9 else -0.4 if late < 1.3 - 1e-9 else 1.1
        state = row.states[0] @ state + row.input[0] * (np.expm1(curve * u) / curve + 0.2)
        expected.append(state[1])
    np.testing.assert_allclose(run["output"], expected, atol=1e-9)  # rk4 with rates of 2 1/s: (0.02)^4 a step


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
