"""Gauss' principle, bodies of the text books, and the transfer from Cartesian to joint coordinates."""

from dataclasses import replace

import numpy as np
import pytest

from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism
from plants.mechanics.checks import check, samples
from plants.mechanics.declaration.declaration import DeclarationError

G = 9.81


# ------------------------------------------------------------------------------------------------------- text-book bodies


def plane_body(mech, name, m, J):
    """Centre of mass and angle of a plane body."""
    x, y, phi = mech.coordinates(f"{name}x {name}y {name}phi")
    vx, vy, om = mech.rates()
    mech.kinetic(m / 2 * (vx**2 + vy**2) + J / 2 * om**2)
    return (x, y, phi), (vx, vy, om)


def test_plane_rigid_body():
    """m x'' = F_x, m y'' = F_y, J phi'' = M, a force at a point that is carried along gives its moment."""
    mech = Mechanism("plane")
    m, J, d = mech.parameters(m=2.0, J=0.3, d=0.4)
    (x, y, phi), _ = plane_body(mech, "", m, J)
    Fx, Fy, M = mech.inputs("Fx Fy M")
    mech.force({x: Fx, y: Fy, phi: M + d * (cos(phi) * Fy - sin(phi) * Fx)})
    plant = mech.build()
    for x0 in np.random.default_rng(0).uniform(-2.0, 2.0, (5, 6)):
        u = (1.0, -0.7, 0.2)
        wanted = (0.5, -0.35, (0.2 + 0.4 * (-0.7 * np.cos(x0[2]) - np.sin(x0[2]))) / 0.3)
        np.testing.assert_allclose(plant.derivative(0.0, tuple(x0), u, (), plant.nominal())[3:], wanted, rtol=1e-13)


def pinned(*, moving=False):
    """A plane body on a pin, by a joint; the pin on a given path where it moves."""
    mech = Mechanism("pinned")
    m, J, d = mech.parameters(m=2.0, J=0.3, d=0.4)
    (x, y, phi), (_vx, _vy, om) = plane_body(mech, "", m, J)
    M = mech.inputs("M")
    angle = mech.joints("angle")
    px = 0.2 * sin(3.0 * mech.time) if moving else 0.0
    mech.place({x: px + d * sin(angle), y: -d * cos(angle), phi: angle})
    mech.potential(m * G * y)
    mech.force({phi: M})
    mech.force({phi: -0.1 * om}, kind="dissipative")
    return mech


@pytest.mark.parametrize("way", ["symbols", "tape"])
@pytest.mark.parametrize("moving", [False, True])
def test_fixed_and_moving_axis(way, moving):
    """(J + m d^2) phi'' = M - m g d sin phi - c phi' - m d cos phi X''."""
    plant = pinned(moving=moving).build(derivatives=way)
    assert plant.equations.form == "joints"
    for t, (phi, om), (M,) in samples(plant.equations, 20):
        pin = -1.8 * np.sin(3.0 * t) if moving else 0.0
        wanted = (M - 2.0 * G * 0.4 * np.sin(phi) - 0.1 * om - 2.0 * 0.4 * np.cos(phi) * pin) / (0.3 + 2.0 * 0.16)
        found = plant.derivative(t, (phi, om), (M,), (), plant.nominal())
        np.testing.assert_allclose(found, (om, wanted), rtol=1e-12, atol=1e-12)
        seen = plant.equations.observe(t, (phi, om), (M,))
        wanted = 0.4 * (np.cos(phi) * wanted - np.sin(phi) * om**2) + pin
        assert seen["accelerations"][0] == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        # the pin holds the body: reactions on x and y are its force, that on the angle is the moment of this force
        Rx, Ry, moment = seen["reactions"]
        assert moment == pytest.approx(-0.4 * (np.cos(phi) * Rx + np.sin(phi) * Ry), rel=1e-10, abs=1e-10)


def double_from_bodies():
    """Two plane bodies of three coordinates each, on two pins."""
    mech = Mechanism("double_from_bodies")
    m1, J1, m2, J2, l1, c1, c2 = mech.parameters(m1=1.0, J1=0.1, m2=0.7, J2=0.05, l1=0.9, c1=0.4, c2=0.3)
    (x1, y1, a1), _ = plane_body(mech, "a", m1, J1)
    (x2, y2, a2), _ = plane_body(mech, "b", m2, J2)
    p, q = mech.joints("p q", initial=(0.3, -0.2))
    M = mech.inputs("M")
    mech.place({x1: c1 * sin(p), y1: -c1 * cos(p), a1: p})
    mech.place({x2: l1 * sin(p) + c2 * sin(q), y2: -l1 * cos(p) - c2 * cos(q), a2: q})
    mech.potential(G * (m1 * y1 + m2 * y2))
    mech.force({a1: -M, a2: M})
    return mech


def double_direct():
    """The same with its energies in the two angles, as text books have them."""
    mech = Mechanism("double_direct")
    p, q = mech.coordinates("p q", initial=(0.3, -0.2))
    dp, dq = mech.rates()
    m1, J1, m2, J2, l1, c1, c2 = mech.parameters(m1=1.0, J1=0.1, m2=0.7, J2=0.05, l1=0.9, c1=0.4, c2=0.3)
    M = mech.inputs("M")
    mech.kinetic((J1 + m1 * c1**2 + m2 * l1**2) / 2 * dp**2 + (J2 + m2 * c2**2) / 2 * dq**2)
    mech.kinetic(m2 * l1 * c2 * cos(p - q) * dp * dq)
    mech.potential(-G * ((m1 * c1 + m2 * l1) * cos(p) + m2 * c2 * cos(q)))
    mech.force({p: -M, q: M})
    return mech


def constrained_bodies():
    """The same two bodies held by position constraints, without a basis."""
    mech = Mechanism("constrained_bodies")
    m1, J1, m2, J2, l1, c1, c2 = mech.parameters(m1=1.0, J1=0.1, m2=0.7, J2=0.05, l1=0.9, c1=0.4, c2=0.3)
    (x1, y1, a1), _ = plane_body(mech, "a", m1, J1)
    (x2, y2, a2), _ = plane_body(mech, "b", m2, J2)
    M = mech.inputs("M")
    mech.position_constraint(x1 - c1 * sin(a1))
    mech.position_constraint(y1 + c1 * cos(a1))
    mech.position_constraint(x2 - l1 * sin(a1) - c2 * sin(a2))
    mech.position_constraint(y2 + l1 * cos(a1) + c2 * cos(a2))
    mech.potential(G * (m1 * y1 + m2 * y2))
    mech.force({a1: -M, a2: M})
    return mech


@pytest.mark.parametrize("way", ["symbols", "tape"])
def test_double_pendulum_from_two_bodies(way):
    joined, direct = double_from_bodies().build(derivatives=way), double_direct().build(derivatives=way)
    held = constrained_bodies().build("routh", derivatives=way)
    p = direct.nominal()
    for t, x, u in samples(direct.equations, 30):
        wanted = direct.derivative(t, x, u, (), p)
        np.testing.assert_allclose(joined.derivative(t, x, u, (), p), wanted, rtol=1e-12, atol=1e-12)
        ours, theirs = (plant.mass_matrix(t, x, u, (), p) for plant in (joined, direct))
        np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=1e-12, atol=1e-13)
        seen = joined.equations.observe(t, x, u)
        assert seen["energy"] == pytest.approx(direct.energy(t, x, u, (), p), rel=1e-12)
        found = held.derivative(t, (*seen["coordinates"], *seen["rates"]), u, (), p)[6:]
        np.testing.assert_allclose(found, seen["accelerations"], rtol=1e-10, atol=1e-10)
        found = held.equations.observe(t, (*seen["coordinates"], *seen["rates"]), u)["reactions"]
        np.testing.assert_allclose(found, seen["reactions"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("way", ["symbols", "tape"])
def test_a_rigid_body_on_a_fixed_axis(way):
    """Six coordinates to one angle: (J3 + m d^2) phi'' = moment of gravity about the axis, which is inclined by th."""
    mech = Mechanism("gate")
    m, d, tilt = mech.parameters(m=2.0, d=0.4, tilt=0.7)
    J = mech.parameters(J1=0.3, J2=0.5, J3=0.7)
    body = mech.body("gate", mass=m, inertia=J)
    angle = mech.joints("angle", initial=0.2)
    # The axis e = R e3 of the body through the ground's origin, the mass centre at d e1 of the body.
    psi = 0.3
    turned = (cos(psi) * cos(angle) - sin(psi) * cos(tilt) * sin(angle), sin(psi) * cos(angle) + cos(psi) * cos(tilt) * sin(angle),
              sin(tilt) * sin(angle))  # fmt: skip
    mech.place(dict(zip(body.position, (d * s for s in turned), strict=True)))
    mech.place(dict(zip(body.angles, (psi, tilt, angle), strict=True)))
    mech.potential(m * G * body.position[2])
    M = mech.inputs("M")
    body.load(moment=(0.0, 0.0, M))
    plant = mech.build(derivatives=way)
    for t, (phi, om), (M0,) in samples(plant.equations, 20):
        wanted = (M0 - 2.0 * G * 0.4 * np.sin(0.7) * np.cos(phi)) / (0.7 + 2.0 * 0.16)
        found = plant.derivative(t, (phi, om), (M0,), (), plant.nominal())
        np.testing.assert_allclose(found, (om, wanted), rtol=1e-12, atol=1e-12)


def test_joints_must_fulfil_the_constraints_that_are_declared_beside_them():
    mech = double_from_bodies()
    x1, y1, a1 = mech.names.symbols["q"][:3]
    mech.position_constraint(x1 * cos(a1) + y1 * sin(a1))  # they do
    assert mech.build().equations.form == "joints"
    mech.position_constraint(x1 - 0.1)
    with pytest.raises(ValueError, match="its joints do not fulfil the declared constraints"):
        mech.build()


def ringed(form, extra=0.0):
    """A bead on a ring, `extra` heavier in one direction."""
    mech = Mechanism("ring")
    x, y = mech.coordinates("x y", initial=(0.6, -0.8))
    vx, vy = mech.rates()
    mech.kinetic(((1.0 + extra) * vx**2 + vy**2) / 2)
    mech.potential(G * y)
    if form == "joints":
        a = mech.joints("a", initial=0.4)
        mech.place({x: sin(a), y: -cos(a)})
    else:
        mech.position_constraint((x**2 + y**2 - 1.0) / 2)
        mech.basis(w=(-y, x))
    return mech.build(form, check=False).equations


@pytest.mark.parametrize("form", ["quasi", "routh", "gauss", "maggi", "joints"])
def test_the_check_at_building_sees_wrong_equations(form):
    """The parts of a slightly heavier system under the declaration of the right one."""
    right, wrong = ringed(form), ringed(form, 1e-6)
    assert check(right) < 1e-12
    with pytest.raises(DeclarationError, match="differ from those of least constraint"):
        check(replace(right, parts=wrong.parts))
