"""Units, bounds and initial rates, as declared, on the states of the plant: of joints and quasi-velocities, too."""

import pytest

from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism
from plants.mechanics.declaration.declaration import DeclarationError


def blade():
    mech = Mechanism("blade")
    mech.coordinates("x y th", units="m m rad")
    vx, vy, om = mech.rates("vx vy om", initial=(0.3, 0.0, 0.2))
    th = mech.symbol("th")
    mech.kinetic((vx**2 + vy**2 + om**2) / 2)
    mech.velocity_constraint(-vx * sin(th) + vy * cos(th))
    return mech, th


def test_one_names_unit_may_have_blanks():
    mech = Mechanism("m")
    mech.inputs("turn", units="N m")
    mech.inputs("pull twist", units=("N", "N m"))
    mech.disturbances("a b", units="m s")
    assert [q.unit for q in mech.names.quantities["u"]] == ["N m", "N", "N m"]
    assert [q.unit for q in mech.names.quantities["w"]] == ["m", "s"]
    with pytest.raises(DeclarationError, match=r"'m': units of c, d: one value or 2 were expected, got 3: .*\['N m'"):
        mech.inputs("c d", units="N m N")


def test_joints_have_bounds_and_initial_rates():
    mech = Mechanism("pendulum")
    x, y = mech.coordinates("x y", units="m")
    vx, vy = mech.rates()
    mech.kinetic((vx**2 + vy**2) / 2)
    a = mech.joints("a", units="rad", initial=0.4, rates=-0.7, low=-2.0, high=3.0)
    mech.place({x: sin(a), y: -cos(a)})
    places, turning = mech.build().states
    assert (places.name, places.nominal, places.low, places.high) == ("a", 0.4, -2.0, 3.0)
    assert (turning.name, turning.unit, turning.nominal) == ("d_a", "rad/s", -0.7)
    with pytest.raises(DeclarationError, match="the name 'd_a' is taken"):
        mech.parameter("d_a", 1.0)


def test_a_rate_of_a_joint_in_an_energy_is_refused():
    mech = Mechanism("pendulum")
    x = mech.coordinates("x", units="m")
    mech.rates()
    a = mech.joints("a")
    mech.kinetic(mech.symbol("d_a") ** 2 / 2)
    mech.place({x: a})
    with pytest.raises(DeclarationError, match="kinetic energy depends on the joint's rate 'd_a'.*coordinates' rates"):
        mech.build()


def test_quasi_velocities_of_a_basis_have_units_and_bounds():
    mech, th = blade()
    mech.basis(speed=(cos(th), sin(th), 0), turn=(0, 0, 1))
    mech.quasi_velocities("turn speed", units="rad/s m/s", low=(-9.0, -2.0), high=(9.0, 5.0))
    states = {q.name: q for q in mech.build().states}
    assert list(states) == ["x", "y", "th", "turn", "speed"]  # the order in which they were named
    assert (states["speed"].unit, states["speed"].low, states["speed"].high) == ("m/s", -2.0, 5.0)
    assert states["speed"].nominal == pytest.approx(0.3, abs=1e-14)  # the initial rates, by the basis
    assert (states["turn"].unit, states["turn"].nominal) == ("rad/s", pytest.approx(0.2, abs=1e-14))
    assert states["turn"].text == "quasi-velocity"


def test_quasi_velocities_and_basis_name_the_same():
    mech, th = blade()
    mech.basis(speed=(cos(th), sin(th), 0), turn=(0, 0, 1))
    mech.quasi_velocities("turn", units="rad/s")
    with pytest.raises(DeclarationError, match=r"names turn, mech.basis\(...\) has vectors for speed, turn"):
        mech.build()


def test_quasi_velocities_without_anything_that_says_what_they_are():
    mech, _ = blade()
    mech.quasi_velocities("a b")
    with pytest.raises(DeclarationError, match=r"needs all 3 rates.*missing are \['vx', 'vy', 'om'\]"):
        mech.build()


def test_an_unknown_rate_is_called_a_rate():
    mech, _ = blade()
    w = mech.quasi_velocities("w")
    with pytest.raises(DeclarationError, match="rate of mechanism 'blade'.*'vz'.*vx, vy"):
        mech.admissible({"vz": w})
