"""Motion under one-sided constraints, one state at a time: published values, optimality, general solvers."""

import numpy as np
import pytest

from plants.mechanics.algebra.blocks import Full, Matrices
from plants.mechanics.contacts.active_sets import ContactError, contact_accelerations, holding, impact
from tests.plants.mechanics.contact_systems import G, ball, box, hinged_bar

TILTED = (0.0, 0.3 * np.sin(0.3) + 0.5 * np.cos(0.3), 0.3)  # lower left corner on the floor
ARRIVING = (0.5, -2.0, 0.1)


@pytest.fixture(scope="module")
def full_box():
    return Full(box().declared())


def resting(full, push):
    return full.at(0.0, (0.0, 0.5, 0.0), (0.0, 0.0, 0.0), (push,))


def drawn(seed, n_gaps, n=6, n_rows=1):
    """A random problem; none is infeasible: the gap targets leave out a motion that fulfils everything."""
    rng = np.random.default_rng(seed)
    root, rows, pushes = rng.normal(size=(n, n)), rng.normal(size=(n_rows, n)), rng.normal(size=(n_gaps, n))
    inside = rng.normal(size=n)
    none = np.zeros(0)
    return Matrices(
        mass=root @ root.T + 0.3 * np.eye(n), load=3.0 * rng.normal(size=n), residuals=none, jacobian=rows,
        speeds=np.zeros(n_rows), drift=np.zeros(n_rows), curvature=-rows @ inside, gaps=np.zeros(n_gaps), gap_jacobian=pushes,
        gap_speeds=np.zeros(n_gaps), gap_curvature=-pushes @ inside + rng.exponential(size=n_gaps),
    )  # fmt: skip


def test_a_box_pushed_little_rests_on_both_corners(full_box):
    found = contact_accelerations(resting(full_box, 5.0), [True, True])
    np.testing.assert_allclose(found.forces, (6.4766666667, 13.1433333333), rtol=1e-10)  # digits given
    np.testing.assert_allclose(found.motion, (2.5, 0.0, 0.0), atol=1e-12)


def test_a_box_pushed_hard_tips(full_box):
    found = contact_accelerations(resting(full_box, 25.0), [True, True])
    np.testing.assert_allclose(found.forces, (0.0, 25.6898360656), rtol=1e-10)
    np.testing.assert_allclose(found.motion, (12.5, 3.0349180328, -10.1163934426), rtol=1e-10)
    assert found.active == (1,)


def test_the_box_tips_at_the_force_that_statics_gives(full_box):
    limit = 2.0 * G * 0.3 / 0.4
    assert limit == pytest.approx(14.715)
    assert contact_accelerations(resting(full_box, limit * (1 - 1e-9)), [True, True]).active == (0, 1)
    assert contact_accelerations(resting(full_box, limit * (1 + 1e-9)), [True, True]).active == (1,)


def test_impact_of_a_corner(full_box):
    at = full_box.at(0.0, TILTED, ARRIVING)
    np.testing.assert_allclose(at.gap_jacobian[0], (0.0, 1.0, -0.1388408), atol=5e-8)  # digits given
    found = impact(at, np.array(ARRIVING), at.gaps < 1e-9, [0.5, 0.5])
    np.testing.assert_allclose(found.motion, (0.5, 0.5817058, -3.0627606), atol=5e-8)
    np.testing.assert_allclose(found.forces, (5.1634116, 0.0), atol=5e-8)


def test_an_impact_keeps_two_sided_constraints():
    full = Full(hinged_bar().declared())
    v = np.array([0.0, -0.4, -1.0])
    at = full.at(0.0, (0.4, 0.0, 0.0), v)
    found = impact(at, v, [True], [0.5])
    np.testing.assert_allclose(found.motion, -0.5 * v, atol=1e-12)  # one degree of freedom: everything turns round
    np.testing.assert_allclose(at.jacobian @ found.motion, 0.0, atol=1e-12)
    # The momentum about the hinge changes by the impulse at 2 d: (J + m d^2) 1.5 = 0.8 r.
    np.testing.assert_allclose(found.forces, (0.1 + 2.0 * 0.16) * 1.5 / 0.8, rtol=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_energy_at_an_impact(full_box, restitution):
    rng = np.random.default_rng(3)
    for _ in range(50):
        v = rng.normal(size=3)
        at = full_box.at(0.0, (0.0, 0.5, 0.0) if rng.random() < 0.5 else TILTED, v)
        after = impact(at, v, at.gaps < 1e-9, [restitution] * 2)
        lost = 0.5 * v @ at.mass @ v - 0.5 * after.motion @ at.mass @ after.motion
        assert lost >= -1e-12
        if restitution == 1.0 and len(after.active) == 1 and (at.gaps < 1e-9).sum() == 1:
            assert abs(lost) < 1e-12


def test_a_gap_that_opens_is_left_alone():
    full = Full(ball().declared())
    after = impact(full.at(0.0, (0.0,), (2.0,)), np.array([2.0]), [True], [0.8])
    assert after.motion == pytest.approx([2.0])
    assert after.active == ()


def conditions(at, found):
    """Karush, Kuhn and Tucker: necessary and, for positive definite M, sufficient."""
    size = 1e-9 * (1.0 + np.abs(at.load).max() + np.abs(found.motion).max())
    left = at.mass @ found.motion - at.load - at.jacobian.T @ found.multipliers - at.gap_jacobian.T @ found.forces
    opening = at.gap_jacobian @ found.motion + at.gap_curvature
    assert np.abs(left).max() < size
    assert np.abs(at.jacobian @ found.motion + at.curvature).max(initial=0.0) < size
    assert opening.min() > -size
    assert found.forces.min() >= 0.0
    assert np.abs(opening * found.forces).max() < size * (1.0 + found.forces.max())


@pytest.mark.parametrize("seed", range(200))
def test_conditions_hold_whatever_the_active_set(seed):
    n_gaps = 1 + seed % 9
    at = drawn(seed, n_gaps, n=5, n_rows=seed % 3)
    conditions(at, contact_accelerations(at, [True] * n_gaps))


def test_the_dual_and_the_enumeration_agree(monkeypatch):
    at = drawn(11, 4)
    one = contact_accelerations(at, [True] * 4)
    monkeypatch.setattr("plants.mechanics.contacts.active_sets.ENUMERATED", 0)
    other = contact_accelerations(at, [True] * 4)
    np.testing.assert_allclose(one.motion, other.motion, atol=1e-11)
    assert one.active == other.active


def test_where_the_last_active_set_is_tried_first_the_result_is_the_same():
    at = drawn(4, 4)
    one = contact_accelerations(at, [True] * 4)
    for first in ((0,), (0, 1, 2, 3), one.active):
        np.testing.assert_allclose(contact_accelerations(at, [True] * 4, first).motion, one.motion, atol=1e-11)


def test_only_closed_gaps_push(full_box):
    at = resting(full_box, 5.0)
    assert contact_accelerations(at, [True, False]).active == (0,)
    assert contact_accelerations(at, [False, False]).motion[1] == pytest.approx(-G)


def test_redundant_contacts_share_the_load_and_do_not_change_the_motion():
    three = Full(box(((-1, -1), (0, -1), (1, -1))).declared())
    for push in (0.0, 5.0, 14.0, 20.0):
        at, two = resting(three, push), resting(Full(box().declared()), push)
        found, plain = contact_accelerations(at, [True] * 3), contact_accelerations(two, [True] * 2)
        np.testing.assert_allclose(found.motion, plain.motion, atol=1e-11)
        assert np.all(found.forces >= 0.0)
        np.testing.assert_allclose(at.gap_jacobian.T @ found.forces, two.gap_jacobian.T @ plain.forces, atol=1e-10)
    equal = contact_accelerations(resting(three, 0.0), [True] * 3).forces
    np.testing.assert_allclose(equal, 2.0 * G / 3.0, rtol=1e-10)  # the shortest forces that carry the weight


def test_redundant_two_sided_constraints_are_no_hindrance():
    at = drawn(5, 3, n_rows=2)
    twice = Matrices(**{
        **vars(at), "jacobian": np.vstack([at.jacobian, at.jacobian]), "curvature": np.tile(at.curvature, 2),
        "speeds": np.zeros(4), "drift": np.zeros(4),
    })  # fmt: skip
    np.testing.assert_allclose(
        contact_accelerations(twice, [True] * 3).motion, contact_accelerations(at, [True] * 3).motion, atol=1e-10
    )


def test_contradicting_gaps_are_refused():
    at = drawn(0, 2, n_rows=0)
    squeezed = Matrices(**{
        **vars(at), "gap_jacobian": np.vstack([at.gap_jacobian[0], -at.gap_jacobian[0]]), "gap_curvature": np.array([-1.0, -1.0]),
    })  # fmt: skip
    with pytest.raises(ContactError, match="contradict each other"):
        contact_accelerations(squeezed, [True, True])


def test_held_gaps_may_pull(full_box):
    found = holding(resting(full_box, 25.0), (0, 1))
    np.testing.assert_allclose(found.motion, (12.5, 0.0, 0.0), atol=1e-12)
    assert found.forces[0] < 0.0
