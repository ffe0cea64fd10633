"""Two tanks: Torricelli's law, the kit's published time constant and gain, and the edge of an empty tank."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants
from plants.core.analysis.slopes import Slopes
from plants.tanks import outflow

TANKS = plants.get("two_tanks")
AREA, HOLE, _, PUMP = TANKS.nominal()
G = 9.81


def run(levels, t_end, voltage=0.0, inflow=0.0):
    def rates(t, x):
        return TANKS.derivative(t, tuple(x), (voltage,), (inflow,), TANKS.nominal())

    return solve_ivp(rates, (0.0, t_end), levels, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]


def test_both_tanks_move_as_the_roots_of_their_levels():
    """In v = sqrt(h) Torricelli's law is linear for the upper tank: another form of the same equations."""
    c, q = HOLE / AREA * np.sqrt(0.5 * G), (PUMP * 7.0 + 2e-6) / AREA

    def roots(t, v):
        return 0.5 * q / v[0] - c, c * v[0] / v[1] - c

    expected = solve_ivp(roots, (0.0, 60.0), np.sqrt([0.2, 0.1]), method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(run((0.2, 0.1), 60.0, 7.0, 2e-6), expected**2, rtol=1e-4)  # of the smoothing


def test_the_kits_published_time_constant_and_gain():
    """15.2 s and 3.2 cm/V for the upper tank at 15 cm (workbook of the kit, to its digits)."""
    model = plants.linearise(TANKS, "level 0.15 m")
    time_constant = -1.0 / model.A[0, 0]
    assert time_constant == pytest.approx(15.2, abs=0.05)
    assert 100.0 * model.B[0, 0] * time_constant == pytest.approx(3.2, abs=0.05)
    assert model.input[0] == pytest.approx(HOLE * np.sqrt(2.0 * G * 0.15) / PUMP, rel=1e-4)


def test_each_hole_empties_its_own_tank():
    """Torricelli's levels for unequal holes and one flow, to the smoothing of 2e-5 at 11 cm."""
    flow, upper, lower = 2.5e-5, 1.3 * HOLE, 0.9 * HOLE
    levels = tuple((flow / hole) ** 2 / (2.0 * G) for hole in (upper, lower))
    p = TANKS.values("parameters", {"upper hole": upper, "lower hole": lower})
    np.testing.assert_allclose(TANKS.derivative(0.0, levels, (flow / PUMP,), (0.0,), p), 0.0, atol=1e-4 * flow / AREA)


def test_nothing_breaks_at_an_empty_tank():
    levels = np.array([-0.01, -1e-9, 0.0, 1e-12, 1e-3, 0.02])
    flows = outflow(HOLE, levels)
    assert np.isfinite(flows).all()
    assert flows[2] == 0.0
    assert (np.diff(flows) >= 0.0).all()
    np.testing.assert_array_equal(outflow(HOLE, -levels), -flows)
    at = Slopes(TANKS).at(0.0, np.zeros(2), np.zeros(1), np.zeros(1), np.array(TANKS.nominal()))
    assert np.isfinite(at.A).all()
    assert (run((0.01, 0.0), 200.0) >= -1e-9).all()  # an empty tank stays empty, within the integrator's tolerance
