"""Complementarity of contacts: the four cases, scaling, the averaged gap's stop, and any number of contacts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plants.contact import averaged, enumerated, fischer_burmeister, scaled, two_contacts
from plants.contact.mean_gap import DAMPING, PENETRATION, RESTITUTION, force_range

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


def drop(h, dt, mass=2.0, speed=0.5):
    """A free body against a stop, by semi-implicit steps: rebound over impact speed, penetration, peak force."""
    gap, rate, deepest, peak = 1e-9, -speed, 0.0, 0.0
    for _ in range(int(20 * h / dt)):
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


def test_an_open_gap_is_pushed_only_within_the_way_it_would_fall():
    h, g = 5e-3, 9.81
    reach = force_range(g, h)
    for gap, pushes in ((0.99 * reach, True), (1.01 * reach, False)):
        _, offset = averaged([[0.5]], [-g], [gap], [0.0], h)
        assert (offset[0] < 0.0) == pushes
    assert math.isclose(reach, 4.1e-5, rel_tol=0.01)
