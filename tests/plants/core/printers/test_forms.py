"""Every form of every benchmark system, derived both ways, against the pseudo-inverse and against other people's code.

The pseudo-inverse reads the kit's own blocks; what it cannot see (a wrong block) is seen by `sympy.physics.mechanics`,
which derives the same systems from frames and points, and by the reference values of `test_references.py`.
"""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.mechanics import systems
from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism
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


@pytest.mark.parametrize("form", ["gauss", "maggi"])
def test_forms_with_multipliers_are_built(form):
    t, q, v, u, wanted = admissible(systems.snakeboard(), 5)
    plant = systems.snakeboard().build(form)
    assert misfit(accelerations(plant.equations, t, np.vstack([q, v]), u), wanted) < CLOSE


@pytest.mark.parametrize("way", ["symbols", "tape"])
def test_a_free_body(way):
    mech = systems.rigid_body()
    plant = mech.build("free", derivatives=way, check=False)
    for t, x, _u in samples(plant.equations, STATES):
        wanted = pseudo_inverse.accelerations(plant.equations.full.at(t, x[:6], x[6:]))
        assert misfit(np.array(plant.derivative(t, x, (), (), plant.nominal())[6:]), wanted) < CLOSE


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


def test_the_rolling_disk_by_kanes_method():
    """Angular velocities as speeds, frames and points: nothing of the kit's declaration is used."""
    sympy = pytest.importorskip("sympy")
    import sympy.physics.mechanics as me

    q = me.dynamicsymbols("q1 q2 q3")
    u = me.dynamicsymbols("u1 u2 u3")
    r, m, g = sympy.Rational(1, 2), 1, sympy.Float("9.81")
    ground = me.ReferenceFrame("N")
    heading = ground.orientnew("Y", "Axis", [q[0], ground.z])
    leaning = heading.orientnew("L", "Axis", [q[1], heading.x])
    disk = leaning.orientnew("R", "Axis", [q[2], leaning.y])
    turning = disk.ang_vel_in(ground)
    disk.set_ang_vel(ground, sum((s * axis for s, axis in zip(u, leaning, strict=True)), me.Vector(0)))
    contact = me.Point("C")
    contact.set_vel(ground, 0)
    centre = contact.locatenew("D", r * leaning.z)
    centre.v2pt_theory(contact, ground, disk)
    inertia = me.inertia(leaning, sympy.Rational(1, 16), sympy.Rational(1, 8), sympy.Rational(1, 16))
    body = me.RigidBody("disk", centre, disk, m, (inertia, centre))
    kinematic = [me.dot(disk.ang_vel_in(ground) - turning, axis) for axis in leaning]
    method = me.KanesMethod(ground, q_ind=q, u_ind=u, kd_eqs=kinematic)
    method.kanes_equations([body], [(centre, -m * g * ground.z)])
    numbers = sympy.lambdify([*q, *u], [method.mass_matrix, method.forcing], "numpy")

    plant = systems.rolling_disk().build("quasi")
    for t, x, _u in samples(plant.equations, 20, seed=3):
        _x, _y, ps, th, ph, vps, vth, vph = x
        mass, forcing = numbers(ps, th, ph, vth, vph + vps * np.sin(th), vps * np.cos(th))
        u1, u2, u3 = np.linalg.solve(np.array(mass, float), np.array(forcing, float)).ravel()
        yaw = (u3 + vps * vth * np.sin(th)) / np.cos(th)
        wanted = (yaw, u1, u2 - yaw * np.sin(th) - vps * vth * np.cos(th))
        found = plant.derivative(t, x, (), (), plant.nominal())[5:]
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


def test_pendulum_on_a_cart_by_lagranges_method():
    sympy = pytest.importorskip("sympy")
    import sympy.physics.mechanics as me

    s, a = me.dynamicsymbols("s a")
    ds, da = s.diff(), a.diff()
    big, small, length, g, push, drag = 1.3, 0.4, 0.7, 9.81, 2.1, 0.3
    energy = big / 2 * ds**2 + small / 2 * (ds**2 + 2 * length * ds * da * sympy.cos(a) + length**2 * da**2)
    ground = me.ReferenceFrame("N")
    cart = me.Point("C")
    cart.set_vel(ground, ds * ground.x)
    method = me.LagrangesMethod(
        energy + small * g * length * sympy.cos(a),
        [s, a],
        forcelist=[(cart, (push - drag * ds) * ground.x)],
        frame=ground,
    )
    method.form_lagranges_equations()
    numbers = sympy.lambdify([s, a, ds, da], [method.mass_matrix, method.forcing], "numpy")

    for way in ("symbols", "tape"):
        mech = Mechanism("cart")
        _, angle = mech.coordinates("s a")
        speed, turning = mech.rates()
        M, m, l = mech.parameters(M=big, m=small, l=length)
        F = mech.inputs("F")
        vx, vy = speed + l * turning * cos(angle), l * turning * sin(angle)
        mech.kinetic(M / 2 * speed**2 + m / 2 * (vx**2 + vy**2))
        mech.potential(-m * g * l * cos(angle))
        mech.force({"s": F})
        mech.force({"s": -drag * speed}, kind="dissipative")
        plant = mech.build(derivatives=way)
        for x in np.random.default_rng(0).uniform(-3.0, 3.0, (20, 4)):
            mass, forcing = numbers(*x)
            wanted = np.linalg.solve(np.array(mass, float), np.array(forcing, float)).ravel()
            found = plant.derivative(0.0, tuple(x), (push,), (), plant.nominal())[2:]
            np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_multipliers_of_the_pendulum_are_those_of_lagranges_method():
    """Sign and size: M a = f + A' lam with A of the residual as declared."""
    plant = systems.pendulum().build("routh")
    for t, x, _u in samples(plant.equations, 20, seed=5):
        px, py, vx, vy = x
        # |r| = 1, tension along -r: lam = -(m v^2 - m g y)
        seen = plant.equations.observe(t, x)
        assert seen["multipliers"][0] == pytest.approx(9.81 * py - (vx**2 + vy**2), rel=1e-10)
        np.testing.assert_allclose(seen["reactions"], np.array((px, py)) * seen["multipliers"][0], atol=1e-10)
