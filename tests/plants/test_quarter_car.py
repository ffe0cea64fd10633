"""The quarter car against its characteristic polynomial, its invariant point and an exact solution."""

import numpy as np
import pytest
from scipy.linalg import expm

import plants
import sscq
from controllers import PID
from plants.quarter_car import QUARTER_CAR

NOMINAL = QUARTER_CAR.nominal()


def matrices(p):
    """Newton's law for body and wheel, and the road, as x' = A x + b u + e w."""
    body, wheel, k, c, kt, ct, corner = p
    A = np.zeros((5, 5))
    A[0, 3] = A[1, 4] = 1.0
    A[2, 2] = -corner
    A[3] = np.array([-k, k, 0.0, -c, c]) / body
    A[4] = np.array([k, -k - kt, kt - ct * corner, c, -c - ct]) / wheel
    b = np.array([0.0, 0.0, 0.0, 1.0 / body, -1.0 / wheel])
    e = np.array([0.0, 0.0, 1.0, 0.0, ct / wheel])
    return A, b, e


def test_it_moves_as_the_matrix_exponential_says():
    """Constant force and road speed; rk4 at 1 ms on the wheel's 72 / s: (0.072)^5 / 120 a step, decaying with it; measured 5e-8."""
    A, b, e = matrices(NOMINAL)
    start, force, road = np.array([0.02, -0.01, 0.005, 0.1, -0.3]), 200.0, 0.05
    augmented = np.zeros((6, 6))
    augmented[:5, :5], augmented[:5, 5] = A, b * force + e * road
    expected = (expm(0.5 * augmented) @ [*start, 1.0])[:5]
    run = plants.simulate(QUARTER_CAR, 0.5, 0.001, start, inputs=(force,), disturbances=(road,))
    np.testing.assert_allclose(run.states[-1], expected, atol=1e-6 * np.abs(expected).max())


def test_its_poles_are_roots_of_the_known_polynomial():
    body, wheel, k, c, kt, ct, corner = NOMINAL
    strut, tyre = [c, k], [ct, kt]
    # (M s^2 + S) (m s^2 + S + T) - S^2 with S = c s + k, T = ct s + kt
    polynomial = np.polysub(
        np.polymul(np.polyadd([body, 0, 0], strut), np.polyadd([wheel, 0, 0], np.polyadd(strut, tyre))),
        np.polymul(strut, strut),
    )
    expected = np.append(np.roots(polynomial), -corner)
    found = plants.linearise(QUARTER_CAR, (0.0,) * 5).poles
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), rtol=1e-9)


@pytest.mark.parametrize("changed", [{}, {"stiffness": 4e4}, {"damping": 3e3}, {"stiffness": 0.0, "damping": 50.0}])
def test_at_the_wheels_frequency_no_strut_changes_what_the_body_feels(changed):
    """With an undamped tyre, body acceleration over road height is kt / M at w^2 = kt / m, whatever is in the strut.

    J. K. Hedrick and T. Butsuen, Invariant properties of automotive suspensions (1990).
    """
    parameters = {"tyre_damping": 0.0, **changed}
    model = plants.linearise(QUARTER_CAR, (0.0,) * 5, parameters)
    body, wheel, *_, kt, _, _ = QUARTER_CAR.values("parameters", parameters)
    s = 1j * np.sqrt(kt / wheel)
    state = np.linalg.solve(s * np.eye(5) - model.A, model.E[:, 0])
    assert s * state[3] / state[2] == pytest.approx(kt / body, rel=1e-9)


def test_only_what_is_sheared_gets_warm():
    """A car that rises with its road loses nothing; a body held above a rising wheel heats the damper alone, a wheel held
    on a rising road the tyre alone."""
    c, ct, speed = NOMINAL[3], NOMINAL[5], 0.2
    cases = {(speed, speed): 0.0, (0.0, speed): c * speed**2, (0.0, 0.0): ct * speed**2}
    for (body, wheel), heat in cases.items():
        found = QUARTER_CAR.entropy_rate(0.0, (0.01, 0.02, 0.0, body, wheel), (50.0,), (speed,), NOMINAL)
        assert found == pytest.approx(heat, rel=1e-12, abs=1e-15)


@pytest.mark.slow
def test_the_wheel_keeps_to_the_road_in_every_situation():
    """So the linear tyre holds: it never pulls as much as both masses weigh, with weak and with strong gains."""
    for situation in [s for group in sscq.standard_sets(QUARTER_CAR).values() for s in group]:
        for gains in ((0.0, 0.0, 0.0), (20e3, 20e3, 2.5e3), (40e3, 40e3, 5e3)):
            run = sscq.record(QUARTER_CAR, PID(), np.array(gains), situation, step=0.002)
            p = QUARTER_CAR.values("parameters", dict(situation.parameters or {}))
            (road_rate,) = run.group("disturbances").T
            _, wheel, road, _, wheel_speed = run.group("states").T
            pull = p[4] * (wheel - road) + p[5] * (wheel_speed - road_rate + p[6] * road)
            assert pull.max() < 0.8 * 9.81 * (p[0] + p[1]), situation.name  # measured: at most 0.72


@pytest.mark.parametrize("height", [-0.03, 0.05])
def test_a_height_is_held_by_the_springs_force(height):
    model = plants.linearise(QUARTER_CAR, (height, 0.0, 0.0, 0.0, 0.0))
    np.testing.assert_allclose(model.input, [16e3 * height], rtol=1e-12)
