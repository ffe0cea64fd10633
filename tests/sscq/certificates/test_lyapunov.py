"""Common quadratic Lyapunov functions: known families, a pair without one, and a check that no solver can talk round."""

import sys

import numpy as np
import pytest
from scipy.linalg import expm

from sscq.certificates import quadratic_lyapunov
from sscq.certificates.certificate import Exact, decays, excludes, proved
from sscq.certificates.quadratic_lyapunov import common_lyapunov

needs_solver = pytest.mark.usefixtures("solver")


@pytest.fixture(scope="module")
def solver():
    return pytest.importorskip("clarabel")


def rotations(a):
    """Both stable with poles at -1 +- i. They share a quadratic function exactly for 1/s < a < s, s = 3 + sqrt(8).

    Stable under any switching up to a near 10 nevertheless: W. P. Dayawansa and C. F. Martin, IEEE Trans. Automatic
    Control 44 (1999) 751.
    """
    return np.array([[[-1.0, -1.0], [1.0, -1.0]], [[-1.0, -a], [1.0 / a, -1.0]]])


def symmetric(n_members=6, n=4, seed=0):
    rng = np.random.default_rng(seed)
    frames = [np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(n_members)]
    rates = rng.uniform(0.5, 3.0, (n_members, n))
    return np.array([q @ np.diag(-r) @ q.T for q, r in zip(frames, rates, strict=True)]), rates.min()


# ---------------------------------------------------------------------------------------------------- known families


@needs_solver
def test_symmetric_matrices_decay_as_the_slowest():
    """P = 1 serves them all, and no P can do better than the slowest mode."""
    family, slowest = symmetric()
    found = common_lyapunov(family)
    assert found.holds
    assert found.exact
    assert found.bound == pytest.approx(slowest, rel=1e-9)
    assert 0.97 * slowest < found.decay < slowest  # the bisection stops within 2 % of the bound
    assert decays(family, found.P).min() >= found.decay


@needs_solver
def test_triangular_matrices_have_one():
    rng = np.random.default_rng(1)
    rates = rng.uniform(0.5, 3.0, (6, 4))
    family = np.array([np.triu(rng.standard_normal((4, 4)), 1) - np.diag(r) for r in rates])
    found = common_lyapunov(family)
    assert found.holds
    assert 0.95 * rates.min() < found.decay < rates.min()


@needs_solver
def test_maps_from_sample_to_sample_decay_alike():
    family, slowest = symmetric()
    found = common_lyapunov([expm(0.1 * A) for A in family], sample_time=0.1)
    assert found.holds
    assert 0.97 * slowest < found.decay < slowest
    as_maps = common_lyapunov(family, sample_time=0.1)  # the same matrices taken for maps: poles beyond -1
    assert as_maps.verdict == "unstable member"


@needs_solver
def test_a_solver_that_gives_up_proves_nothing(monkeypatch):
    monkeypatch.setattr(quadratic_lyapunov, "_SOLVED", ())
    found = common_lyapunov(rotations(9.0))
    assert found.verdict == "not found"
    assert not found.excluded


@needs_solver
def test_units_do_not_matter():
    family, slowest = symmetric()
    units = np.array([1e-6, 1.0, 1e4, 3e2])
    found = common_lyapunov(1e3 * family * units / units[:, None])
    assert found.holds
    assert found.decay == pytest.approx(1e3 * slowest, rel=0.03)


# --------------------------------------------------------------------------------------------------- none to be found


@needs_solver
@pytest.mark.parametrize(("a", "there_is_one"), [(5.7, True), (5.95, False), (9.0, False)])
def test_a_pair_of_stable_matrices_without_one_is_not_called_unstable(a, there_is_one):
    """The bound is 3 + sqrt(8) = 5.83; by another criterion, A1 A2 must have no negative real eigenvalue.

    (Second order: R. N. Shorten and K. S. Narendra, Int. J. Adaptive Control and Signal Processing 16 (2002) 709; A1
    and the inverse of A2 give the other half, which this pair keeps.)
    """
    pair = rotations(a)
    negative = [
        any(v.real < 0.0 and abs(v.imag) < 1e-9 for v in np.linalg.eigvals(pair[0] @ other))
        for other in (pair[1], np.linalg.inv(pair[1]))
    ]
    assert any(negative) is not there_is_one
    found = common_lyapunov(pair)
    assert found.verdict == ("holds" if there_is_one else "not found")
    assert found.excluded is not there_is_one  # the dual solution proves it
    assert found.bound == pytest.approx(1.0)


def test_the_dual_proof_can_fail():
    """The worst directions of the pair prove that there is no P for a = 9, and nothing for a = 5."""
    worst = {}
    for a in (5.0, 9.0):
        best = -np.inf
        for angle in np.linspace(0.0, np.pi, 61):
            for other in np.linspace(0.0, np.pi, 61):
                z = [np.outer(v, v) for v in ([np.cos(angle), np.sin(angle)], [np.cos(other), np.sin(other)])]
                moved = [A @ Z for A, Z in zip(rotations(a), z, strict=True)]
                total = sum(m + m.T for m in moved)
                smallest = 0.5 * (total[0, 0] + total[1, 1]) - np.hypot(0.5 * (total[0, 0] - total[1, 1]), total[0, 1])
                if smallest > best:
                    best, weights = smallest, np.array(z) + 1e-6 * np.eye(2)
        worst[a] = best
        assert excludes(rotations(a), weights) is (a > 5.83)
    assert worst[5.0] <= 0.0 < worst[9.0]


def test_an_unstable_member_is_named_without_asking_a_solver(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    found = common_lyapunov([-np.eye(2), [[-1.0, 0.0], [0.0, 0.1]]], names=("good", "bad"))
    assert (found.verdict, found.worst, found.bound) == ("unstable member", "bad", pytest.approx(-0.1))
    at_rest = common_lyapunov([[[0.0, 1.0], [0.0, -1.0]]])
    assert at_rest.verdict == "unstable member"
    assert not at_rest.holds


def test_without_its_solver_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(quadratic_lyapunov.SolverMissingError, match="pip install"):
        common_lyapunov(rotations(2.0))


# -------------------------------------------------------------------------------------------------------- the check


def test_the_check_refuses_a_wrong_P():
    pair = rotations(4.0)
    good = np.diag([0.5, 2.0])  # between the unit matrix, P of the first, and diag(1, 16), P of the second
    assert decays(pair, good).min() > 0.1
    assert proved(pair, good, 0.1)
    assert not proved(pair, good, 1.0)  # too fast
    assert not proved(pair, np.diag([2.0, 0.5]), 0.1)  # the wrong way round
    assert not proved(pair, np.diag([0.5, -2.0]), 0.1)
    assert not proved(pair, good + np.array([[0.0, 1e-16], [0.0, 0.0]]), 0.1)  # not symmetric
    assert decays(pair, np.diag([0.5, -2.0])).max() == -np.inf
    assert decays(pair, np.diag([0.5, np.nan])).max() == -np.inf


@needs_solver
def test_a_solver_that_lies_makes_no_certificate(monkeypatch):
    lie = quadratic_lyapunov.Answer(1.0, np.diag([2.0, 0.5]), None)
    monkeypatch.setattr("sscq.certificates.quadratic_lyapunov.widest", lambda *_: lie)
    assert common_lyapunov(rotations(9.0)).verdict == "not found"


def test_exact_arithmetic_sees_what_rounding_hides():
    """A determinant of -2^-104 (the square of 1 + 2^-52 rounds down), and one of about 2^-52."""
    one = 1.0 + 2.0**-52
    assert not Exact.of([[one * one, one], [one, 1.0]]).is_positive_definite()
    assert Exact.of([[one * one, one], [one, one]]).is_positive_definite()
    assert not Exact.of([[1.0, 0.5], [0.25, 1.0]]).is_positive_definite()
    rng = np.random.default_rng(2)
    for _ in range(20):
        A = rng.standard_normal((5, 5))
        shifted = A @ A.T - rng.uniform(0.0, 1.0) * np.eye(5)
        shifted = 0.5 * (shifted + shifted.T)
        assert Exact.of(shifted).is_positive_definite() == (np.linalg.eigvalsh(shifted)[0] > 0.0)


def test_what_is_no_family_is_refused():
    with pytest.raises(ValueError, match=r"shape \[n_members, n, n\]"):
        common_lyapunov(np.eye(2))
    with pytest.raises(ValueError, match="member 2 is not"):
        common_lyapunov([np.eye(2), [[np.nan, 0.0], [0.0, 1.0]]])
    with pytest.raises(ValueError, match="names must have 1"):
        common_lyapunov([np.eye(2)], names=("a", "b"))
