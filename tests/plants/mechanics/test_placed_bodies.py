"""Bodies placed by joints on other bodies, with their weight: a double pendulum against equations derived by hand."""

import math

import numpy as np
import pytest

import plants
from plants import DeclarationError, Mechanism, cos, sin

G, M1, M2, L1, H1, H2, I1, I2 = 9.81, 1.3, 0.7, 0.8, 0.35, 0.25, 0.05, 0.02
UPRIGHT = math.pi / 2  # theta: the body's third axis is level, phi turns about it


def chain(relative, gravity=G):
    """Two bars, the lower one hinged at the upper one's end; the second joint is its own angle, or that between them."""
    mech = Mechanism("double_pendulum")
    first, second = mech.joints("first second", units="rad", initial=(0.7, 1.2))
    start = (0, 0, 0, 0, UPRIGHT, 0)
    upper = mech.body("upper", mass=M1, inertia=(0.01, 0.01, I1), initial=start, gravity=gravity)
    lower = mech.body("lower", mass=M2, inertia=(0.01, 0.01, I2), initial=start, gravity=gravity)
    turned = upper.angles[2] + second if relative else second
    # The lower one is placed before what it hangs on: the order does not matter.
    lower.place(upper.point((0, H1 - L1, 0)), (0, UPRIGHT, turned), point=(0, H2, 0))
    upper.place((0, 0, 0), (0, UPRIGHT, first), point=(0, H1, 0))
    return mech


def by_hand(a, b, da, db):
    """Accelerations of the bars' angles from the vertical, and the energy; both angles absolute."""
    m = np.array([
        [I1 + M1 * H1**2 + M2 * L1**2, M2 * L1 * H2 * math.cos(a - b)],
        [M2 * L1 * H2 * math.cos(a - b), I2 + M2 * H2**2],
    ])  # fmt: skip
    force = [
        -M2 * L1 * H2 * math.sin(a - b) * db**2 - (M1 * H1 + M2 * L1) * G * math.sin(a),
        M2 * L1 * H2 * math.sin(a - b) * da**2 - M2 * H2 * G * math.sin(b),
    ]
    rates = np.array([da, db])
    potential = -M1 * G * H1 * math.cos(a) - M2 * G * (L1 * math.cos(a) + H2 * math.cos(b))
    return np.linalg.solve(m, force), 0.5 * rates @ m @ rates + potential


@pytest.mark.parametrize("relative", [False, True])
def test_the_equations_and_the_energy_are_those_derived_by_hand(relative):
    plant = chain(relative).build()
    assert [q.name for q in plant.states] == ["first", "second", "d_first", "d_second"]
    for a, b, da, db in np.random.default_rng(3).uniform(-2.0, 2.0, (20, 4)):
        x = (a, b - a, da, db - da) if relative else (a, b, da, db)
        expected, energy = by_hand(a, b, da, db)
        if relative:
            expected = np.array([expected[0], expected[1] - expected[0]])
        mass = np.array(plant.mass_matrix(0.0, x, (), (), ())).reshape(2, 2)
        found = np.linalg.solve(mass, plant.force(0.0, x, (), (), ()))
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)
        assert plant.energy(0.0, x, (), (), ()) == pytest.approx(energy, rel=1e-12, abs=1e-12)


def test_it_keeps_its_energy_and_moves_alike_in_both_coordinates():
    runs = [plants.simulate(chain(relative).build(), 5.0, 1e-3) for relative in (False, True)]
    for run, plant in zip(runs, (chain(False).build(), chain(True).build()), strict=True):
        energies = [plant.energy(0.0, tuple(x), (), (), ()) for x in run.states[::500]]
        assert np.ptp(energies) < 1e-8
    first, second = runs[0].states[:, 0], runs[0].states[:, 1]
    assert first[0] == runs[1].states[0, 0]
    assert np.ptp(first) > 0.5
    assert np.ptp(second) > 0.5


def test_a_body_without_gravity_has_no_potential():
    plant = chain(relative=False, gravity=0).build()
    assert plant.force(0.0, (0.7, 1.2, 0.0, 0.0), (), (), ()) == pytest.approx((0.0, 0.0), abs=1e-15)


@pytest.mark.parametrize("zero", [0, 0.0, np.float64(0.0), np.int64(0), False])
@pytest.mark.parametrize("one", [1, 1.0, np.int64(1)])
def test_whole_numbers_and_zero_offsets_are_numbers_like_others(zero, one):
    mech = Mechanism("bars")
    a, b = mech.joints("a b", units="rad", initial=(0.3, 1))
    upper = mech.body("upper", mass=one, inertia=(one, one, one), initial=(0, 0, 0, 0, 1, 0), gravity=10)
    lower = mech.body("lower", mass=2 * one, inertia=(one, 1, one), initial=(0, 0, 0, 0, 1, 0), gravity=10)
    x, y, z = upper.position
    mech.place({x: sin(a) * one, y: zero, z: -cos(a) + zero})
    mech.place({upper.angles[0]: zero, upper.angles[1]: one * UPRIGHT, upper.angles[2]: a * one + zero})
    lower.place(upper.point((zero, -one, zero)), (zero, one * UPRIGHT, b + zero), point=(zero, zero, zero))
    plant = mech.build()
    # At rest: the lower centre lies at the upper one's end, two lengths from the hinge.
    energy = plant.energy(0.0, (0.3, 1.0, 0.0, 0.0), (), (), ())
    assert energy == pytest.approx(-(1 + 2 * 2) * 10 * math.cos(0.3), rel=1e-14)


def test_bodies_that_are_placed_by_each_other_are_refused():
    mech = Mechanism("circle")
    mech.joints("a", units="rad")
    one, other = (mech.body(name, mass=1, inertia=(1, 1, 1), initial=(0, 0, 0, 0, 1, 0)) for name in ("one", "other"))
    one.place(other.position, (0, 1, 0))
    other.place(one.position, (0, 1, 0))
    with pytest.raises(DeclarationError, match="places go in a circle: one_x <- other_x <- one_x"):
        mech.build()


def test_a_body_on_one_that_is_not_placed_is_refused():
    mech = Mechanism("loose")
    angle = mech.joints("a", units="rad")
    one, other = (mech.body(name, mass=1, inertia=(1, 1, 1), initial=(0, 0, 0, 0, 1, 0)) for name in ("one", "other"))
    other.place(one.position, (0, 1, angle))
    with pytest.raises(DeclarationError, match="'one_x'.*every coordinate needs a place"):
        mech.build()
