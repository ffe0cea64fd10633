"""Implicit integration in independent coordinates."""

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.runs.partitioned import PartitionError, integrate

G = 9.81


@pytest.mark.parametrize("method", ["BDF", "LSODA", "DOP853"])
def test_pendulum_keeps_its_length_where_any_fixed_partition_would_fail(method):
    run = integrate(systems.pendulum(), 5.0, method=method, rtol=1e-6)
    x, y, vx, vy = run.trajectory.states.T
    assert np.abs(x**2 + y**2 - 1).max() < 1e-11
    assert np.abs(x * vx + y * vy).max() < 1e-11
    np.testing.assert_allclose(run.trajectory.states[-1, :2], (0.9971099558, -0.0759719428), atol=5e-3)
    assert {names for _, names in run.partitions} == {("x",), ("y",)}  # it passes both poles of the fixed choices


def test_tight_tolerance_gives_the_reference():
    run = integrate(systems.pendulum(), 5.0, method="DOP853", rtol=1e-11, atol=1e-11, samples=2)
    np.testing.assert_allclose(run.trajectory.states[-1, :2], (0.9971099558, -0.0759719428), atol=1e-8)
    assert run.trajectory["multiplier_1"][0] == pytest.approx(4.0824004665, abs=1e-8)


def test_nonholonomic_rows_tie_speeds_alone():
    q, v = (0, 0, 0.2), (np.cos(0.2), np.sin(0.2), 1.5)
    run = integrate(systems.sleigh(), 5.0, (q, v), method="DOP853", rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.trajectory.states[-1, :3], (-2.0129519974, 5.9796149445, 2.3433494099), atol=1e-8)


def four_bar(repeated):
    """Parallelogram of three bars; with `repeated` a fourth bar in parallel says what the others say."""
    mech = Mechanism("parallelogram")
    a, b, c = mech.coordinates("a b c", initial=(-0.7, -0.7, 0.0))
    va, vb, vc = mech.rates()
    mech.kinetic((va**2 + vb**2) / 6 + vc**2 / 24 + (va**2) / 2)
    mech.potential(G * (sin(a) + sin(b)) / 2 + G * sin(a))
    mech.position_constraint(cos(a) + 2 * cos(c) - cos(b) - 2)
    mech.position_constraint(sin(a) + 2 * sin(c) - sin(b))
    if repeated:
        mech.position_constraint(cos(a) + 2 * cos(c) - cos(b) - 2 + sin(a) + 2 * sin(c) - sin(b))
    return mech


def test_repeated_constraints_change_nothing():
    ends = [integrate(four_bar(r), 1.0, method="DOP853", rtol=1e-10).trajectory.states[-1] for r in (False, True)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    alone = Mechanism("bar")  # a parallelogram turns like one bar with the coupler's mass at its end
    a = alone.coordinates("a", initial=-0.7)
    va = alone.rates()
    alone.kinetic(va**2 * (2 / 6 + 1 / 2))
    alone.potential(2 * G * sin(a))
    end = integrate(alone, 1.0, method="DOP853", rtol=1e-10).trajectory.states[-1]
    np.testing.assert_allclose(ends[0][0], end[0], atol=1e-8)


def test_stiff_motion_takes_an_implicit_method_few_evaluations():
    mech = Mechanism("stiff")
    x, y = mech.coordinates("x y", initial=(0.6, -0.8))
    vx, vy = mech.rates()
    mech.kinetic((vx**2 + vy**2) / 2)
    mech.potential(G * y)
    mech.force({x: -1e5 * vx, y: -1e5 * vy}, kind="dissipative")  # modes of 1e5 1/s and of 1e-4 1/s
    mech.position_constraint((x**2 + y**2 - 1) / 2)
    stiff = integrate(mech, 1.0, method="Radau", rtol=1e-6)
    assert stiff.trajectory.evaluations < 500
    slow = -G * 0.6**2 / 1e5  # creep: damping balances gravity along the circle, y' = -g x^2 / d
    assert stiff.trajectory["y"][-1] + 0.8 == pytest.approx(slow, rel=1e-3)


def test_singular_position_is_named():
    with pytest.raises(PartitionError, match="singular position"):
        integrate(
            systems.slider_crank(),
            3.0,
            method="DOP853",
            rtol=1e-6,
            initial=((0.3, 0.3, 2 * np.cos(0.3)), (1.5, 1.5, -3 * np.sin(0.3))),
        )


def test_what_is_asked_wrongly():
    with pytest.raises(ValueError, match="method"):
        integrate(systems.pendulum(), 1.0, method="Euler")
    with pytest.raises(ValueError, match="Fx"):
        integrate(systems.sleigh(), 1.0, inputs={"Fx": 1.0})
    with pytest.raises(ValueError, match="parameter"):
        integrate(systems.sleigh(), 1.0, parameters={"M": 1.0})


LEFT_OUT = {
    "gaps": lambda mech, x, v: mech.gap(x),
    "joints": lambda mech, x, v: mech.place({x: mech.joints("a")}),
    "not linear": lambda mech, x, v: mech.velocity_constraint(v * v - 1.0, linear=False),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_would_be_left_out_of_the_motion_is_refused(what):
    mech = Mechanism("mass")
    x, v = mech.coordinates("x", initial=1.0), mech.rates("v", initial=1.0)
    mech.kinetic(v * v / 2)
    LEFT_OUT[what](mech, x, v)
    with pytest.raises(DeclarationError, match=f"'mass' is not integrated in independent coordinates with .*{what}"):
        integrate(mech, 1.0)
