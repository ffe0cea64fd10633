"""Energy: its rate along the equations is what is supplied less what is lost, at random states with inputs.

Jacobi's integral h = v.dT/dv - T + V obeys dh/dt = v.(Q + R) - dT/dt + dV/dt (partial by time), R the constraints'
forces: differentiate h, insert d/dt dT/dv - dT/dq + dV/dq = Q + R. For constraints A v + b = 0 it is v.R = -lam.b.
"""

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.core.elementary import cos, sin, tanh, where
from plants.core.replay import replay
from plants.core.tracing.gradients import along
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program
from plants.mechanics import Mechanism
from plants.mechanics.checks import samples

CLOSE = 1e-10  # of 1 + the powers


def balance(plant):
    """The rate of the energy along the derivative, and supplied - lost, as one program in (t, x, u, w, p)."""
    tape = Tape()
    kinds = {"x": plant.states, "u": plant.inputs, "w": plant.disturbances, "p": plant.parameters}
    names = {kind: [f"{kind}{k}" for k in range(len(group))] for kind, group in kinds.items()}
    t, block = tape.input("t"), {kind: tuple(map(tape.input, group)) for kind, group in names.items()}
    arguments = (t, block["x"], block["u"], block["w"], block["p"])
    rates = plant.derivative(*arguments)
    stored = along([tape.lift(plant.energy(*arguments))], [*block["x"], t], [*rates, 1.0])[0]
    values = [stored, plant.supplied_power(*arguments), plant.entropy_rate(*arguments)]
    inputs = ("t", *(name for group in names.values() for name in group))
    return Program(tape, inputs, tuple(tape.lift(value).index for value in values))


def powers(plant, count=50):
    """[3, n_points] stored, supplied, lost at random admissible states."""
    program, rng, rows = balance(plant), np.random.default_rng(2), []
    for t, x, u in samples(plant.equations, count, seed=11):
        w = rng.uniform(-1.0, 1.0, len(plant.disturbances))
        rows.append(replay(program, t, *x, *u, *w, *plant.nominal()))
    return np.array(rows, float).T


def rheonomic_bead():
    """On a hoop of radius R that turns about the vertical at a given angle al(t): placed by a joint and time."""
    mech = Mechanism("bead")
    x, y, z = mech.coordinates("x y z")
    vx, vy, vz = mech.rates()
    m, R, c = mech.parameters(m=0.4, R=0.6, c=0.2)
    push = mech.inputs("push")
    th = mech.joints("th", initial=0.4)
    al = 1.5 * mech.time + 0.3 * sin(2.0 * mech.time)
    mech.kinetic(m / 2 * (vx**2 + vy**2 + vz**2))
    mech.potential(m * 9.81 * z)
    mech.place({x: R * sin(th) * cos(al), y: R * sin(th) * sin(al), z: -R * cos(th)})
    mech.force({x: push})
    mech.force({x: -c * vx, y: -c * vy, z: -c * vz}, kind="dissipative")
    return mech


def lifted_pendulum():
    """The pivot moves up and down: T depends on time and has terms of first and of no degree in the rate."""
    mech = Mechanism("lifted_pendulum")
    a = mech.coordinates("a")
    da = mech.rates()
    m, l = mech.parameters(m=0.5, l=0.8)
    lift, rise = 0.1 * sin(3.0 * mech.time), 0.3 * cos(3.0 * mech.time)
    mech.kinetic(m / 2 * ((l * cos(a) * da) ** 2 + (l * sin(a) * da + rise) ** 2))
    mech.potential(m * 9.81 * (lift - l * cos(a)) * (1.0 + 0.1 * mech.time))
    mech.force({"a": mech.inputs("M")})
    return mech


def moved_pendulum():
    """In Cartesian coordinates, the pivot on a given path: a holonomic constraint that moves."""
    mech = Mechanism("moved_pendulum")
    x, y = mech.coordinates("x y", initial=(0.6, -0.8))
    vx, vy = mech.rates()
    m, c = mech.parameters(m=1.2, c=0.1)
    mech.kinetic(m / 2 * (vx**2 + vy**2))
    mech.potential(m * 9.81 * y)
    mech.position_constraint(((x - 0.3 * sin(mech.time)) ** 2 + y**2 - 1.0) / 2)
    mech.force({x: mech.inputs("F")})
    mech.force({x: -c * vx, y: -c * vy}, kind="dissipative")
    return mech


def rubbed_cart():
    """Rayleigh's, Coulomb's (smooth and by a select) and disturbing forces on the cart."""
    mech = systems.cart(1)
    wind = mech.disturbances("wind")
    vx, _vy, vps, vL, vR, va = mech.names.symbols["v"]
    mech.force({"x": wind})
    mech.force({"fL": -0.1 * vL, "fR": -0.1 * vR, "ps": -0.3 * tanh(vps / 0.01)}, kind="dissipative")
    mech.force({"al0": where(va, -0.2, 0.2), "x": -0.05 * vx}, kind="dissipative")
    return mech


SCLERONOMIC = {
    "sleigh": systems.sleigh, "rolling disk": systems.rolling_disk, "cart": lambda: systems.cart(1),
    "snakeboard": systems.snakeboard, "trailers": systems.trailers, "pendulum": systems.pendulum,
    "rubbed cart": rubbed_cart,
}  # fmt: skip
RHEONOMIC = {
    "turntable": systems.turntable, "bead": rheonomic_bead, "lifted pendulum": lifted_pendulum,
}  # fmt: skip


@pytest.mark.parametrize("name", [*SCLERONOMIC, *RHEONOMIC])
def test_what_is_stored_is_supplied_and_not_lost(name):
    plant = (SCLERONOMIC | RHEONOMIC)[name]().build()
    stored, supplied, lost = powers(plant)
    assert np.abs(supplied).max() > 1e-3 or not (plant.inputs or name in RHEONOMIC)
    assert (np.abs(stored - supplied + lost) / (1.0 + np.abs(supplied) + np.abs(lost))).max() < CLOSE
    assert plant.equations.moving == (name in {"turntable", "bead"})


@pytest.mark.parametrize("form", ["routh", "gauss"])
@pytest.mark.parametrize("make", [moved_pendulum, systems.turntable, rubbed_cart])
def test_the_balance_with_multipliers(form, make):
    stored, supplied, lost = powers(make().build(form))
    assert (np.abs(stored - supplied + lost) / (1.0 + np.abs(supplied) + np.abs(lost))).max() < CLOSE


def test_scleronomic_energy_is_kinetic_plus_potential_and_power_is_force_times_velocity():
    plant = rubbed_cart().build()
    for t, x, u in samples(plant.equations, 5):
        seen = plant.equations.observe(t, x, u, (0.3,))
        vx, _vy, _vps, vL, vR, va = seen["rates"]
        assert seen["energy"] == pytest.approx(seen["kinetic"] + seen["potential"], rel=1e-13)
        assert seen["supplied"] == pytest.approx(0.3 * vx + u[0] * vL + u[1] * vR - (u[0] + u[1]) * va, rel=1e-12)
