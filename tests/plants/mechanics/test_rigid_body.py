"""Rigid bodies in six coordinates: closed form, free precession, loads, points, and two of them on a spherical joint."""

import numpy as np
import pytest

import plants
from plants.mechanics import Mechanism
from plants.mechanics.checks import samples
from plants.mechanics.forms import pseudo_inverse

# The jointed bodies begin with a guess, which is meant to be moved onto their joints.
pytestmark = pytest.mark.filterwarnings("ignore::plants.core.plant.StartWarning")

MASS, INERTIA = 2.0, (0.3, 0.5, 0.7)
AWAY = (0.0, 0.0, 0.0, 0.4, 1.1, -0.3)  # from the singular theta = 0


def free_body(inertia=INERTIA, *, driven=False):
    mech = Mechanism("free_body")
    m = mech.parameters(m=MASS)
    J = mech.parameters(**{f"J{k}": value for k, value in enumerate(inertia, 1)})
    body = mech.body("b", mass=m, inertia=J, initial=AWAY)
    if driven:
        u = mech.inputs("Fx Fy Fz M1 M2 M3")
        body.load(u[:3], u[3:])
    return mech, body


def states(count, seed=0):
    rng = np.random.default_rng(seed)
    return [np.array(AWAY + (0.0,) * 6) + rng.uniform(-0.9, 0.9, 12) for _ in range(count)]


def axes(angles):
    """K and its slopes by theta and phi."""
    _, th, ph = angles
    (st, ct), (sf, cf) = ((np.sin(a), np.cos(a)) for a in (th, ph))
    k = np.array([[st * sf, cf, 0.0], [st * cf, -sf, 0.0], [ct, 0.0, 1.0]])
    by_theta = np.array([[ct * sf, 0.0, 0.0], [ct * cf, 0.0, 0.0], [-st, 0.0, 0.0]])
    by_phi = np.array([[st * cf, -sf, 0.0], [-st * sf, -cf, 0.0], [0.0, 0.0, 0.0]])
    return k, by_theta, by_phi


def turned(angles):
    """Rotation matrix about z, x', z''."""

    def about(axis, a):
        c, s = np.cos(a), np.sin(a)
        return (
            np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
            if axis == "z"
            else np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
        )

    psi, theta, phi = angles
    return about("z", psi) @ about("x", theta) @ about("z", phi)


def test_the_derived_blocks_are_those_of_the_closed_form():
    """M = diag(m I, K'JK), c = (0, K'(J K' Theta' + w x J w))."""
    plant = free_body()[0].build()
    J = np.diag(INERTIA)
    for x in states(50):
        angles, rates = x[3:6], x[9:]
        k, by_theta, by_phi = axes(angles)
        w, slope = k @ rates, by_theta * rates[1] + by_phi * rates[2]
        at = plant.equations.full.at(0.0, x[:6], x[6:])
        mass = np.zeros((6, 6))
        mass[:3, :3], mass[3:, 3:] = MASS * np.eye(3), k.T @ J @ k
        np.testing.assert_allclose(at.mass, mass, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(
            -at.load, [0, 0, 0, *(k.T @ (J @ slope @ rates + np.cross(w, J @ w)))], rtol=1e-13, atol=1e-13
        )


@pytest.mark.parametrize("way", ["symbols", "tape"])
def test_eulers_equations(way):
    """J w' + w x J w = M in the body's frame, m a = F on the ground."""
    plant = free_body(driven=True)[0].build(derivatives=way)
    J, u = np.diag(INERTIA), np.array((1.0, -2.0, 0.5, 0.3, -0.2, 0.4))
    for x in states(10):
        k, by_theta, by_phi = axes(x[3:6])
        rates = x[9:]
        a = np.array(plant.derivative(0.0, tuple(x), tuple(u), (), plant.nominal())[6:], float)
        w, turning = k @ rates, k @ a[3:] + (by_theta * rates[1] + by_phi * rates[2]) @ rates
        np.testing.assert_allclose(J @ turning + np.cross(w, J @ w), u[3:], rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(a[:3], u[:3] / MASS, rtol=1e-13)
        power = plant.supplied_power(0.0, tuple(x), tuple(u), (), plant.nominal())
        assert power == pytest.approx(u[:3] @ x[6:9] + u[3:] @ w, rel=1e-12)


def numbers(body, values, x):
    """Declared expressions of a body at one state."""
    tape = body.mechanism.names.tape
    from plants.core.replay import replay
    from plants.core.tracing.trace import Program

    inputs = tuple(tape.input_names.values())
    given = {f"{kind}{k}": value for kind, group in (("q", x[:6]), ("v", x[6:])) for k, value in enumerate(group)}
    program = Program(tape, inputs, tuple(tape.lift(value).index for value in values))
    return np.array(replay(program, *(given.get(name, 1.0) for name in inputs)), float)


def test_points_of_the_body_and_their_velocities():
    _, body = free_body()
    place, h = (0.3, -0.5, 0.8), 1e-5
    for x in states(10):
        at, moving = x.copy(), np.concatenate([x[6:], np.zeros(6)])
        wanted = x[:3] + turned(x[3:6]) @ np.array(place)
        np.testing.assert_allclose(numbers(body, body.point(place), at), wanted, rtol=1e-13, atol=1e-13)
        ahead, behind = (numbers(body, body.point(place), at + s * h * moving) for s in (1.0, -1.0))
        # central differences: h^2 times the third derivative, some 1e-9, and rounding over h, some 1e-11
        np.testing.assert_allclose(numbers(body, body.point_velocity(place), at), (ahead - behind) / (2 * h), atol=1e-8)
        rotation = np.array([numbers(body, row, at) for row in body.rotation()])
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(rotation, turned(x[3:6]), atol=1e-14)


def two_bodies():
    """Hinged to the ground and to each other by spherical joints: twelve coordinates, six constraints."""
    mech = Mechanism("two_bodies")
    m1, m2 = mech.parameters(m1=1.0, m2=0.6)
    upper = mech.body("a", mass=m1, inertia=(0.10, 0.12, 0.05), initial=(0, 0, -0.5, 0.2, 1.2, 0.1))
    lower = mech.body("b", mass=m2, inertia=(0.03, 0.05, 0.04), initial=(0, 0, -1.2, -0.3, 0.9, 0.4))
    for residual in upper.point((0.0, 0.4, 0.1)):
        mech.position_constraint(residual)
    for one, other in zip(upper.point((0.1, -0.4, 0.0)), lower.point((0.0, 0.3, 0.2)), strict=True):
        mech.position_constraint(one - other)
    mech.potential(9.81 * (m1 * upper.position[2] + m2 * lower.position[2]))
    M = mech.inputs("M")
    upper.load(moment=(0.0, M, 0.0))
    lower.load(force=tuple(-0.1 * v for v in lower.velocity), kind="dissipative")
    return mech


@pytest.mark.parametrize("form", ["routh", "gauss"])
def test_two_bodies_on_spherical_joints(form):
    mech = two_bodies()
    plant = mech.build(form)
    found = list(samples(plant.equations, 10))
    assert len(found) == 10
    for t, x, u in found:
        at = plant.equations.full.at(t, x[:12], x[12:], u)
        assert np.abs(at.residuals).max() < 1e-11
        assert np.abs(at.speeds).max() < 1e-10
        wanted = pseudo_inverse.accelerations(at)
        a = np.array(plant.derivative(t, x, u, (), plant.nominal())[12:], float)
        np.testing.assert_allclose(a, wanted, atol=1e-10 * (1.0 + np.abs(wanted).max()))
        # Newton's third law: the lower joint's force on the lower body is what Newton's equation asks for
        lam = np.array(plant.equations.multipliers(*plant.equations.block(t, x, u)), float)
        force = 0.6 * a[6:9] - (0.0, 0.0, -0.6 * 9.81) + 0.1 * np.array(x[18:21])
        np.testing.assert_allclose(-lam[3:], force, atol=1e-9 * (1.0 + np.abs(force).max()))


def test_two_bodies_swing_and_keep_their_joints_together():
    plant = two_bodies().build("routh", stabilise="project", check=False)
    start = plant.equations.state_from(plant.initial()[:12], (0.0,) * 12)
    run = plants.simulate(plant, 0.5, 2e-3, start)
    for state in run.states[::50]:
        residuals = plant.equations.residuals(*plant.equations.block(0.0, state))
        assert np.abs(np.array(residuals, float)).max() < 1e-9
    energy = np.array(plant.energy(0.0, tuple(run.states.T), (0.0,), (), plant.nominal()))
    assert (np.diff(energy[::10]) < 0.0).all()  # the lower body is dragged


def test_a_state_is_moved_back_onto_its_joints():
    """What is 1e-3 away is 1e-6 away after one round and 1e-12 after two: rounds converge quadratically."""
    plant = two_bodies().build("routh", stabilise="project", check=False)
    rng = np.random.default_rng(0)
    for t, x, u in samples(plant.equations, 3):
        off = tuple(np.array(x) + 1e-3 * rng.standard_normal(24))
        p = plant.nominal()
        back = plant.after_step(t, off, u, (), p, 1e-3)
        before, after = (np.array(plant.equations.residuals(t, s, u, (), p), float) for s in (off, back))
        assert np.abs(before).max() > 1e-4
        assert np.abs(after).max() < 1e-10
        assert np.abs(np.array(back) - off).max() < 2e-2  # and no further than it takes


def test_a_body_takes_its_own_six_rates():
    mech = Mechanism("late")
    s = mech.coordinates("s")
    mech.body("b", mass=1.0, inertia=(1.0, 1.0, 1.0), initial=AWAY)
    (ds,) = mech.names.symbols["v"][:1]
    mech.kinetic(ds**2 / 2)
    mech.force({s: 1.0, "b_x": 3.0})
    plant = mech.build()
    np.testing.assert_allclose(plant.derivative(0.0, plant.initial(), (), (), ())[7:9], (1.0, 3.0))
