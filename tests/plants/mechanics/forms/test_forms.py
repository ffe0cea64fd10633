"""Every form of every benchmark system, derived both ways, against the pseudo-inverse.

The pseudo-inverse reads the kit's own blocks; what it cannot see (a wrong block) is seen by the reference values of
`test_references.py`.
"""

from dataclasses import replace

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.core.elementary import sin
from plants.mechanics.checks import samples
from plants.mechanics.forms import pseudo_inverse

CLOSE = 1e-10  # of 1 + |a|: conditioning of the mass matrices (up to 1e4) times rounding leaves 1e-12
STATES = 50
SYSTEMS = {
    "sleigh": systems.sleigh,
    "vertical disk": systems.vertical_disk,
    "rolling disk": systems.rolling_disk,
    "cart, 1 link": lambda: systems.cart(1),
    "cart, 2 links": lambda: systems.cart(2),
    "cart, 3 links": lambda: systems.cart(3),
    "snakeboard": systems.snakeboard,
    "trailers": systems.trailers,
    "pendulum": systems.pendulum,
    "double pendulum": systems.double_pendulum,
    "pinned body": systems.pinned_body,
    "turntable": systems.turntable,
    "slider-crank": systems.slider_crank,
}


def admissible(mech, count=STATES):
    """Columns of times, coordinates, rates and inputs on the constraints, and the oracle's accelerations."""
    plant = mech.build(check=False)
    rows = []
    for t, x, u in samples(plant.equations, count, seed=7):
        q, v = plant.equations.motion(*plant.equations.block(t, x, u))
        rows.append((t, q, v, u, pseudo_inverse.accelerations(plant.equations.full.at(t, q, v, u))))
    assert len(rows) == count
    return [np.array([row[k] for row in rows], float).T for k in range(5)]


def given_back(plant, t, q, v):
    """States of a form for coordinates and rates [n, n_points]."""
    if plant.equations.form != "quasi":
        return np.vstack([q, v])
    return np.array([plant.equations.state_from(*pair, t=at) for at, *pair in zip(t, q.T, v.T, strict=True)]).T


def accelerations(equations, t, x, u):
    block = equations.block(t, tuple(x), tuple(u))
    return np.array([np.broadcast_to(value, t.shape) for value in equations.coordinate_accelerations(*block)])


def misfit(found, wanted):
    return (np.abs(found - wanted) / (1.0 + np.abs(wanted).max(axis=0))).max()


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_form_gives_the_accelerations_of_least_constraint(name):
    t, q, v, u, wanted = admissible(SYSTEMS[name]())
    for way in ("symbols", "tape"):
        for form, others in (("quasi", ()), ("routh", ("gauss", "maggi"))):
            plant = SYSTEMS[name]().build(form, derivatives=way, check=False)
            x = given_back(plant, t, q, v)
            for equations in (plant.equations, *(replace(plant.equations, form=other) for other in others)):
                # forms with multipliers read the same parts and solve them in their own way
                assert misfit(accelerations(equations, t, x, u), wanted) < CLOSE, (equations.form, way)
            rates = plant.derivative(t, tuple(x), tuple(u), (), plant.nominal())
            moved = np.array([np.broadcast_to(value, t.shape) for value in rates[: len(q)]])
            np.testing.assert_allclose(moved, v, atol=1e-9)


@pytest.mark.parametrize("way", ["symbols", "tape"])
def test_rows_that_repeat_others_change_nothing(way):
    def mechanism(*, doubled):
        mech = systems.double_pendulum()
        if doubled:
            xa, ya, xb, yb = mech.names.symbols["q"]
            mech.position_constraint(3.0 * (xa * xa + ya * ya) - 3.0)
            mech.position_constraint((xb - xa) ** 2 + (yb - ya) ** 2 - 0.49 + 0.5 * (xa * xa + ya * ya - 1.0))
        return mech

    t, q, v, _u, wanted = admissible(mechanism(doubled=False))
    plant = mechanism(doubled=True).build("gauss", derivatives=way)
    assert misfit(accelerations(plant.equations, t, given_back(plant, t, q, v), ()), wanted) < CLOSE
    for k in range(len(t)):
        lam = plant.equations.multipliers(*plant.equations.block(t[k], (*q[:, k], *v[:, k])))
        assert lam[2:] == (0.0, 0.0)  # rows that repeat others push nothing
    # The pseudo-inverse has an opinion on redundant rows, too: the same one.
    for k in range(5):
        at = plant.equations.full.at(t[k], q[:, k], v[:, k])
        assert np.linalg.matrix_rank(at.jacobian, tol=1e-8) == 2 < len(at.jacobian)
        assert misfit(pseudo_inverse.accelerations(at), wanted[:, k]) < 1e-8


@pytest.mark.parametrize("form", ["routh", "gauss"])
@pytest.mark.parametrize("way", ["symbols", "tape"])
def test_baumgartes_feedback_off_the_constraints(form, way):
    """gam + 2 alpha phi' + beta^2 phi for holonomic rows, gam + alpha (A v + b) for the others."""

    def mechanism():
        mech = systems.turntable()
        x, y, _ = mech.names.symbols["q"]
        mech.position_constraint(x + 0.2 * sin(y) - 0.3)
        return mech

    plant = mechanism().build(form, derivatives=way, stabilise=("baumgarte", 3.0, 7.0))
    for x in np.random.default_rng(0).uniform(-1.0, 1.0, (5, 6)):
        at = plant.equations.full.at(0.4, x[:3], x[3:])
        assert np.abs((*at.residuals, *at.speeds)).min() > 1e-3
        a = np.array(plant.derivative(0.4, tuple(x), (), (), plant.nominal())[3:], float)
        fed = -(at.jacobian @ a + at.curvature)
        np.testing.assert_allclose(fed[0], 6.0 * at.speeds[0] + 49.0 * at.residuals[0], rtol=1e-9)
        np.testing.assert_allclose(fed[1], 3.0 * at.speeds[1], rtol=1e-9)


# ---------------------------------------------------------------------------------------------- other people's derivation


def test_multipliers_of_the_pendulum_are_those_of_lagranges_method():
    """Sign and size: M a = f + A' lam with A of the residual as declared."""
    plant = systems.pendulum().build("routh")
    for t, x, _u in samples(plant.equations, 20, seed=5):
        px, py, vx, vy = x
        # |r| = 1, tension along -r: lam = -(m v^2 - m g y)
        seen = plant.equations.observe(t, x)
        assert seen["multipliers"][0] == pytest.approx(9.81 * py - (vx**2 + vy**2), rel=1e-10)
        np.testing.assert_allclose(seen["reactions"], np.array((px, py)) * seen["multipliers"][0], atol=1e-10)
