"""Complementarity of contacts: the four cases, scaling, the averaged gap's stop, and any number of contacts."""

import math

import numpy as np
import pytest

from plants.contact import at_end, averaged, enumerated, fischer_burmeister, scaled, two_contacts
from plants.contact.gaps import (
    DAMPING,
    LIFT,
    PENETRATION,
    PENETRATION_FROM_ABOVE,
    RESTITUTION,
    RESTITUTION_FROM_ABOVE,
)

A = ((2.0e-6, 0.3e-6), (0.25e-6, 1.8e-6))


@pytest.mark.parametrize(
    ("offset", "forces"),
    [
        ((-1e-4, -4e-5), (47.6595744681, 15.6028368794)),
        ((-1e-4, 4e-5), (50.0, 0.0)),
        ((4e-5, -9e-5), (0.0, 50.0)),
        ((1e-5, 4e-5), (0.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0)),
    ],
)
def test_the_four_cases(offset, forces):
    np.testing.assert_allclose(two_contacts(A, offset), forces, rtol=1e-10)
    np.testing.assert_allclose(enumerated(A, offset), forces, rtol=1e-10, atol=1e-12)


def matrices(n, count, seed):
    """Positive definite matrices with some asymmetry, as friction gives, and offsets of all signs."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        root = rng.standard_normal((n, n))
        matrix = root @ root.T + 0.3 * np.eye(n)
        yield matrix + 0.1 * rng.standard_normal((n, n)), rng.standard_normal(n)


def complementary(matrix, offset, force, tolerance=1e-10):
    opening = np.asarray(matrix) @ force + offset
    assert (force >= 0.0).all()
    assert opening.min() >= -tolerance
    assert np.abs(force * opening).max() <= tolerance


def test_forces_push_where_they_keep_a_contact_closed_and_nowhere_else():
    for matrix, offset in matrices(2, 300, 0):
        force = np.array(two_contacts(matrix.tolist(), offset.tolist()))
        complementary(matrix, offset, force)
        np.testing.assert_allclose(force, enumerated(matrix, offset), rtol=1e-9, atol=1e-12)
        opening = matrix @ force + offset
        assert max(abs(fischer_burmeister(f, d)) for f, d in zip(force, opening, strict=True)) < 1e-9


def test_more_contacts_one_at_a_time():
    for matrix, offset in matrices(4, 60, 1):
        complementary(matrix, offset, enumerated(matrix, offset))


def test_a_problem_without_a_solution_is_told():
    with pytest.raises(ValueError, match="P-matrix"):
        enumerated([[-1.0]], [-1.0])


def test_scaling_leaves_entries_of_one():
    matrix, offset, k2 = scaled(A, (-1e-4, 4e-5))
    assert max(abs(v) for row in matrix for v in row) == pytest.approx(1.0)
    assert max(abs(v) for v in offset) == pytest.approx(1.0)
    np.testing.assert_allclose(np.array(two_contacts(matrix, offset)) / k2, two_contacts(A, (-1e-4, 4e-5)), rtol=1e-12)


def drop(h, dt, mass=2.0, speed=0.5, start=1e-9):
    """A free body against a stop, by semi-implicit steps: rebound over impact speed, penetration, peak force."""
    gap, rate, deepest, peak = start, -speed, 0.0, 0.0
    for _ in range(int((20 * h + start / speed) / dt)):
        matrix, offset = averaged([[1.0 / mass]], [0.0], [gap], [rate], h)
        force = max(0.0, -offset[0] / matrix[0][0])
        rate += dt * force / mass
        gap += dt * rate
        deepest, peak = min(deepest, gap), max(peak, force)
    return rate / speed, -deepest, peak


def test_the_stops_rebound_does_not_depend_on_averaging_time_or_speed():
    """Semi-implicit steps lose a little more: with dt = h / 200 half a percent of the speed."""
    assert pytest.approx(0.243544, abs=1e-6) == RESTITUTION
    assert pytest.approx(0.6124, abs=1e-4) == DAMPING
    found = [drop(h, h / 4000, speed=v)[0] for h in (1e-2, 1e-3) for v in (0.5, 5.0)]
    np.testing.assert_allclose(found, RESTITUTION, atol=2e-4)
    assert drop(1e-2, 5e-5)[0] == pytest.approx(0.24075, abs=1e-5)
    assert drop(1e-2, 1e-3)[0] == pytest.approx(0.1868, abs=1e-4)
    assert drop(1e-2, 2e-3)[0] == pytest.approx(0.1251, abs=1e-4)


def test_penetration_and_peak_force_are_bounded():
    h, v, mass = 5e-3, 1.3, 2.0
    _, deepest, peak = drop(h, h / 1000, mass, v)
    assert deepest == pytest.approx(PENETRATION * h * v, rel=4e-3)  # of first order in h / 1000
    assert peak == pytest.approx(3.0 * mass * v / h, rel=1e-2)
    assert drop(h, h / 5.0, mass, v)[1] <= PENETRATION * h * v  # at the steps that are used


@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_a_body_that_comes_from_above_is_stopped_earlier_and_rebounds_less(h):
    """It is pushed from h v / 2 on, so that the force begins at 0: a third of the rebound, of the way and of the peak."""
    v, mass = 0.7, 2.0
    rebound, deepest, peak = drop(h, h / 4000, mass, v, start=3.0 * h * v)
    assert pytest.approx(RESTITUTION_FROM_ABOVE, abs=2e-4) == rebound  # of first order in h / 4000
    assert pytest.approx(0.08773, abs=1e-5) == RESTITUTION_FROM_ABOVE
    assert deepest == pytest.approx(PENETRATION_FROM_ABOVE * h * v, rel=2e-3)
    assert peak < 1.25 * mass * v / h
    for above in np.linspace(2.0, 3.0, 11):  # the steps that are used, wherever they meet the ground
        found = drop(h, h / 5.0, mass, v, start=above * h * v)
        assert 0.0 <= found[0] < RESTITUTION_FROM_ABOVE
        assert found[1] < PENETRATION_FROM_ABOVE * h * v


def test_an_open_gap_is_pushed_only_within_the_way_it_would_fall():
    h, g = 5e-3, 9.81
    reach = g * h * h / 6.0  # a contact closing with g pushes from this gap on
    for gap, pushes in ((0.99 * reach, True), (1.01 * reach, False)):
        _, offset = averaged([[0.5]], [-g], [gap], [0.0], h)
        assert (offset[0] < 0.0) == pushes
    assert math.isclose(reach, 4.1e-5, rel_tol=0.01)


def bodies(seed):
    """Three bodies of coupled masses under a weight, with two straight gaps above the ground, on their way down."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 3))
    mass, lines = root @ root.T + 0.5 * np.eye(3), rng.standard_normal((2, 3))
    weight = -mass @ np.linalg.pinv(lines) @ rng.uniform(2.0, 10.0, 2)
    return mass, lines, weight, rng.uniform(0.0, 0.02, 2), rng.standard_normal(3)


@pytest.mark.parametrize("seed", range(20))
def test_a_step_to_the_gaps_end_gives_no_energy(seed):
    """The balance of the module's text to rounding; forces only where the step ends on the ground."""
    mass, lines, weight, gap, u = bodies(seed)
    responses = np.linalg.solve(mass, lines.T)
    matrix, h, pushed = lines @ responses, 1e-2, 0
    for _ in range(400):
        free = np.linalg.solve(mass, weight)
        known = at_end(gap + h * (lines @ u), lines @ free, gap, h)
        force = np.array(two_contacts((h * h * matrix).tolist(), known))
        change = h * (free + responses @ force)
        before, gap, u = gap, gap + h * (lines @ (u + change)), u + change
        assert (force >= 0.0).all()
        assert gap.min() >= -1e-12
        assert (np.abs(gap[force > 0.0]) <= 1e-12).all()
        gained = change @ mass @ (u - 0.5 * change) - h * weight @ u
        lost = force @ before + 0.5 * change @ mass @ change
        scale = 1.0 + abs(u) @ mass @ abs(u)
        assert gained == pytest.approx(-lost, abs=1e-11 * scale)
        assert gained <= 1e-12 * scale
        pushed += int((force > 0.0).any())
    assert pushed > 20


def test_an_impact_ends_within_two_steps_without_rebound():
    gap, rate, h, speeds = 0.0123, -1.0, 1e-3, []
    for _ in range(20):
        force = max(0.0, -at_end([gap + h * rate], [0.0], [gap], h)[0] / (h * h))
        assert force == 0.0 or gap <= h * 1.0 * (1.0 + 1e-9)  # at most one step's way above the ground
        rate += h * force
        gap += h * rate
        speeds.append(rate)
    np.testing.assert_allclose(speeds[11:15], (-1.0, -0.3, 0.0, 0.0), atol=1e-9)
    assert gap == pytest.approx(0.0, abs=1e-15)


def test_what_begins_inside_the_ground_is_lifted_slowly():
    gap, rate, h = -2e-3, 0.0, 1e-3
    for _ in range(40):
        force = max(0.0, -at_end([gap + h * rate], [-9.81], [gap], h)[0] / (h * h))
        rate += h * (force - 9.81)
        gap += h * rate
        assert rate <= LIFT * (1.0 + 1e-9)
    assert gap == pytest.approx(0.0, abs=1e-12)
