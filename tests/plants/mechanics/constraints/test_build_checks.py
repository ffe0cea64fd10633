"""What building refuses although it holds with nominal parameters, and what it must not refuse."""

import numpy as np
import pytest

import plants
from plants import DeclarationError, Mechanism, cos, sin
from plants.core.sharing.forms import LinearForms


def roller(radius):
    """A wheel that rolls, with a basis that has a number or the parameter in it."""
    mech = Mechanism("roller")
    mech.coordinates("x turn", units="m rad")
    v, w = mech.rates("v w")
    R, M = mech.parameter("R", 0.5, "m", low=0.1), mech.parameter("M", 2.0, "kg", low=0.1)
    mech.kinetic(M / 2 * v**2 + 0.1 * w**2)
    mech.velocity_constraint(v - R * w)
    mech.basis(rolling=(R if radius is None else radius, 1.0))
    return mech


def test_a_number_in_the_place_of_a_parameter_is_found():
    with pytest.raises(DeclarationError, match=r"with \(R = .*does a number stand where a parameter belongs"):
        roller(0.5).build()
    assert roller(None).build().equations.form == "quasi"
    roller(0.5).build(bake="R")  # a constant cannot change


def oscillator(loss):
    mech = Mechanism("oscillator")
    x, v = mech.coordinates("x", units="m", initial=0.1), mech.rates("v")
    mech.kinetic(v**2 / 2)
    mech.potential(x**2 / 2)
    mech.force({x: loss(x, v)}, kind="dissipative")
    return mech


@pytest.mark.parametrize("loss", [lambda x, v: 0.3 * v, lambda x, v: -2.0 * x])
def test_dissipative_forces_that_drive_are_refused(loss):
    with pytest.raises(DeclarationError, match=r"'dissipative' drive it.*Friction acts against the rate"):
        oscillator(loss).build()


def test_friction_is_accepted():
    assert oscillator(lambda x, v: -0.3 * v).build().entropy_rate is not None


def test_masses_far_apart_are_no_singular_matrix():
    mech = Mechanism("far_apart")
    x, y = mech.coordinates("x y", units="m")
    v, w = mech.rates("v w")
    mech.kinetic(1e-8 / 2 * v**2 + 1e6 / 2 * w**2)
    mech.potential(x**2 / 2 + y**2 / 2)
    np.testing.assert_allclose(mech.build().derivative(0.0, (0.0, 2.0, 0.0, 0.0), (), (), ())[3], -2e-6)


def test_like_terms_may_be_counted_in_integers():
    """Two bodies that are placed by joints: a rewritten sum has a coefficient of 2, not of 2.0."""
    forms = LinearForms()
    _, item = forms.input("x")
    _, entry = forms.sum({item: 2})
    assert sorted(forms.values.values()) == [2.0]
    assert forms.bags[entry]


def test_a_basis_that_becomes_dependent_is_named_where_a_run_ends():
    mech = Mechanism("ring")
    x, y = mech.coordinates("x y", units="m", initial=(1.0, 0.0), low=-1e3, high=1e3)
    vx, vy = mech.rates("vx vy")
    mech.kinetic((vx**2 + vy**2) / 2)
    mech.potential(9.81 * y)
    mech.position_constraint((x**2 + y**2 - 1.0) / 2)
    mech.basis(w=(-y * x, x * x))  # vanishes where the pendulum hangs
    with pytest.raises(plants.DivergedError, match=r"dependent there.*form='routh', stabilise='project'"):
        plants.simulate(mech.build(), 5.0, 0.005)


def test_the_rate_of_an_expression():
    mech = Mechanism("rates")
    x, a = mech.coordinates("x a", units="m rad")
    v, _ = mech.rates("v w")
    length = mech.parameter("length", 0.5, "m")
    place = x + length * sin(a)
    mech.kinetic((mech.rate_of(place) ** 2 + mech.rate_of(length * cos(a) + mech.time) ** 2) / 2 + v**2)
    mech.measure("speed", mech.rate_of(place))
    speed = mech.build().outputs(0.0, (0.1, 0.7, 2.0, 3.0), (), (), (0.5,))[0]
    assert speed == pytest.approx(2.0 + 0.5 * np.cos(0.7) * 3.0)
    with pytest.raises(DeclarationError, match=r"function of coordinates and time, got one of v"):
        mech.rate_of(v * x)


def test_arrays_of_names():
    mech = Mechanism("chain")
    q, v = mech.coordinates("q[3]", units="m", initial=np.array([0.1, 0.2, 0.3])), mech.rates("v[3]")
    mech.kinetic(sum(rate**2 for rate in v) / 2)
    mech.potential(sum(place**2 for place in q) / 2)
    plant = mech.build()
    assert [s.name for s in plant.states] == ["q1", "q2", "q3", "v1", "v2", "v3"]
    assert plant.initial()[:3] == (0.1, 0.2, 0.3)
    assert [s.label for s in Mechanism("listed").coordinates(["one", "two"])] == ["one", "two"]
