"""A common quadratic Lyapunov function for a family of matrices, with the largest decay rate that a search finds.

The inequalities are linear in P once the decay rate is fixed (a semidefinite program for the solver clarabel, which is
loaded when it is needed); the rate is bisected. What the solver gives is only a proposal:
:mod:`sscq.certificates.certificate` verifies it, and a certificate that the check refuses is none.

States come scaled by powers of two, and are turned into the coordinates in which the mean of the family has the unit
matrix for its own P: there the semidefinite program is easy. Few members bind, so it holds those only, and takes in
others as they are found violated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, matrix_balance, solve_continuous_lyapunov, solve_discrete_lyapunov
from scipy.sparse import csc_matrix

from sscq.certificates.certificate import MOST_EXACT, Certificate, decays, excludes, proved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


_LIFTED = 1e-9  # of the largest eigenvalue: what makes a weight of a face one of the interior


class SolverMissingError(ImportError):
    """The solver of semidefinite programs is not installed."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What the solver gave.

    Attributes
    ----------
    width : float
        t: above 0 the inequalities have a common solution.
    P : array [n, n] or None
        None where the solver failed.
    weights : array [n_members, n, n] or None
        Dual variables, made positive definite.
    """

    width: float
    P: Array | None
    weights: Array | None


def widest(matrices: Array, decay: float, sample_time: float | None, size: float) -> Answer:
    """Maximise t with P - t I >= 0, trace P = n and -(A' P + P A + 2 a P) / size - t I >= 0 for all members.

    From sample to sample the last is e^(-2 a h) P - A' P A - t I >= 0. The program always has a solution; the sign of t
    tells whether the inequalities have.

    The solver's variables are P as a vector (see :class:`_Triangle`) and t; each inequality is a block of rows.

    Raises
    ------
    SolverMissingError
        If clarabel is not installed.
    """
    clarabel = _clarabel()
    triangle = _Triangle(matrices.shape[1])
    basis, m = triangle.basis, len(triangle.basis)
    turned = np.swapaxes(matrices, 1, 2)[:, None]
    if sample_time is None:
        half = basis @ matrices[:, None]
        left = -(half + np.swapaxes(half, 2, 3) + 2.0 * decay * basis) / size
    else:
        left = np.exp(-2.0 * decay * sample_time) * basis - turned @ basis @ matrices[:, None]
    blocks = [*np.swapaxes(triangle.vectors(left), 1, 2), np.eye(m)]  # of P's entries, [row, entry]
    unit = triangle.vectors(np.eye(triangle.n))[:, None]
    inequalities = np.vstack([np.hstack([-block, unit]) for block in blocks])
    trace = np.append(unit[:, 0], 0.0)
    quadratic, linear = csc_matrix((m + 1, m + 1)), np.append(np.zeros(m), -1.0)
    rows, right = (
        csc_matrix(np.vstack([trace, inequalities])),
        np.append(float(triangle.n), np.zeros(len(inequalities))),
    )
    cones = [clarabel.ZeroConeT(1), *(clarabel.PSDTriangleConeT(triangle.n) for _ in blocks)]
    found = clarabel.DefaultSolver(quadratic, linear, rows, right, cones, _settings(clarabel)).solve()
    if str(found.status) not in _SOLVED:
        return Answer(-np.inf, None, None)
    x, dual = np.array(found.x), np.array(found.z)[1:].reshape(len(blocks), m)
    weights = np.array([_lifted(triangle.matrix(one)) for one in dual[:-1]])
    return Answer(float(x[-1]), triangle.matrix(x[:-1]), weights)


_SOLVED = ("Solved", "AlmostSolved")  # a proposal is judged by the check, not by the solver


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError as error:
        message = (
            "a common Lyapunov function needs the solver clarabel, which is not installed; "
            "use: pip install 'sscq[assurance]'"
        )
        raise SolverMissingError(message) from error
    return clarabel


def _settings(clarabel: Any) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    return settings


class _Triangle:
    """Symmetric matrices [n, n] as the solver has them: the upper triangle, column after column.

    What is off the diagonal is multiplied by the root of two, so that products of vectors are traces of products.
    """

    def __init__(self, n: int) -> None:
        columns, rows = np.tril_indices(n)
        self.n, self._places = n, (rows, columns)
        self._scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
        self.basis = np.array([self.matrix(unit) for unit in np.eye(len(rows))])

    def vectors(self, matrices: Array) -> Array:
        """Return matrices [..., n, n] as vectors [..., n (n + 1) / 2]."""
        return np.asarray(matrices[(..., *self._places)] * self._scale)

    def matrix(self, vector: Array) -> Array:
        """Return a vector as its matrix."""
        upper = np.zeros((self.n, self.n))
        upper[self._places] = vector / self._scale
        return upper + np.triu(upper, 1).T


def _lifted(weight: Array) -> Array:
    """The nearest positive definite matrix, about: dual solutions lie on a face of the cone."""
    values, vectors = np.linalg.eigh(0.5 * (weight + weight.T))
    lowest = _LIFTED * max(float(values[-1]), _LIFTED)
    lifted = (vectors * np.maximum(values, lowest)) @ vectors.T
    return np.asarray(0.5 * (lifted + lifted.T))


_RESOLUTION = 0.02  # of the bound: where the bisection of the decay rate stops
_ROUNDS = 40
_BATCH = 4


def own_decays(matrices: Array, sample_time: float | None = None) -> Array:
    """Return the decay rate of each member by itself [n_members], 1/s: of its slowest mode."""
    poles = np.linalg.eigvals(matrices)
    if sample_time is None:
        return np.asarray(-poles.real.max(axis=1))
    return np.asarray(-np.log(np.maximum(np.abs(poles).max(axis=1), 1e-300)) / sample_time)


@dataclass
class DecaySearch:
    """Bisection of the decay rate, and the members that have bound so far.

    Attributes
    ----------
    scaled : array [n_members, n, n]
        Family of stable members.
    sample_time : float or None
    bound : float
        Decay rate of the slowest member [1/s].
    """

    scaled: Array
    sample_time: float | None
    bound: float

    def __post_init__(self) -> None:
        self.active: list[int] = []
        self.root = self._preconditioner()
        turned = np.linalg.solve(self.root, np.swapaxes(self.scaled, 1, 2) @ self.root)
        self.family = np.swapaxes(turned, 1, 2)  # x -> root' x
        self.size = 1.0 if self.sample_time else float(np.linalg.norm(self.family, 2, axis=(1, 2)).max())

    def _preconditioner(self) -> Array:
        """Lower factor L of the P of the family's mean, or of its slowest member where the mean is not stable."""
        mean = self.scaled.mean(axis=0)
        slowest = self.scaled[int(np.argmin(own_decays(self.scaled, self.sample_time)))]
        for A in (mean, slowest):
            if own_decays(A[None], self.sample_time)[0] <= 0.0:
                continue
            solve = solve_continuous_lyapunov if self.sample_time is None else _solve_sampled
            try:
                P = np.asarray(solve(A.T, -np.eye(len(A))))
                return np.linalg.cholesky(0.5 * (P + P.T))
            except LinAlgError:
                continue
        return np.eye(len(mean))

    def any_decay(self) -> Array | None:
        """Return the first P of scaled states that is found, or None."""
        return self._proposed(0.0)

    def largest_decay(self) -> Array | None:
        """Return the P of scaled states with the largest decay found, or None."""
        best = self.any_decay()
        if best is None:
            return None
        low, high = self._decay(best), self.bound
        while high - low > _RESOLUTION * self.bound:
            middle = 0.5 * (low + high)
            P = self._proposed(middle)
            if P is None or self._decay(P) <= low:
                high = middle
            else:
                best, low = P, self._decay(P)
        return best

    def _decay(self, P: Array) -> float:
        return float(decays(self.scaled, P, self.sample_time).min())

    def _proposed(self, decay: float) -> Array | None:
        """Return a P whose decay is more than `decay` with all members, or None where the solver finds none."""
        if not self.active:
            each = decays(self.family, np.eye(len(self.root)), self.sample_time)
            self.active = [int(k) for k in np.argsort(each, kind="stable")[:_BATCH]]
        for _ in range(_ROUNDS):
            answer = widest(self.family[self.active], decay, self.sample_time, self.size)
            if answer.P is None:
                return None
            P = self.root @ answer.P @ self.root.T
            P = 0.5 * (P + P.T)
            each = decays(self.scaled, P, self.sample_time)
            if each.min() > decay:
                return P
            others = [int(k) for k in np.argsort(each, kind="stable")[:_BATCH] if k not in self.active]
            if answer.width <= 0.0 or not others:
                return None
            self.active += others
        return None

    def excluded(self) -> bool:
        """Return whether the dual solution proves that no P exists at all."""
        if len(self.root) > MOST_EXACT:
            return False
        weights = widest(self.family[self.active], 0.0, self.sample_time, self.size).weights
        if weights is None:
            return False
        back = np.linalg.inv(self.root)
        turned = back.T @ weights @ back
        own = 0.5 * (turned + np.swapaxes(turned, 1, 2))
        return excludes(self.scaled[self.active], own, self.sample_time)


def _solve_sampled(A: Array, Q: Array) -> Array:
    return np.asarray(solve_discrete_lyapunov(A, -Q))


_AT_REST = 1e-9  # of the size of a member: decay that rounding explains
_KEPT = 1.0 - 1e-6  # of the decay found: what is promised, and proved exactly


def _scaled(family: Array) -> tuple[Array, Array]:
    """Return powers of two [n], and the members in states over them."""
    scale = np.diag(matrix_balance(np.abs(family).mean(axis=0), permute=False)[1])
    return scale, family * scale / scale[:, None]


def _at_rest(scaled: Array, sample_time: float | None) -> Array:
    """Decay rates [n_members], 1/s, that rounding explains."""
    sizes = np.linalg.norm(scaled, 2, axis=(1, 2)) if sample_time is None else np.full(len(scaled), 1.0 / sample_time)
    return np.asarray(_AT_REST * sizes)


def slowest_member(matrices: ArrayLike, sample_time: float | None = None) -> tuple[int, float, float]:
    """Return which member is slowest, its decay rate by itself [1/s], and how much of it rounding explains.

    Parameters
    ----------
    matrices : array [n_members, n, n]
    sample_time : float, optional
        As for :func:`common_lyapunov`.
    """
    _, scaled = _scaled(_checked(matrices, (), ()))
    rates = own_decays(scaled, sample_time)
    slowest = int(np.argmin(rates))
    return slowest, float(rates[slowest]), float(_at_rest(scaled, sample_time)[slowest])


def common_lyapunov(
    matrices: ArrayLike,
    *,
    sample_time: float | None = None,
    names: Sequence[str] = (),
    states: Sequence[str] = (),
    largest: bool = True,
) -> Certificate:
    """Find P > 0 with A' P + P A + 2 a P < 0 for all members, or A' P A < e^(-2 a h) P from sample to sample.

    Parameters
    ----------
    matrices : array [n_members, n, n]
    sample_time : float, optional
        h [s]: the members are maps from sample to sample. Left out: continuous time.
    names : sequence of str [n_members], optional
    states : sequence of str [n], optional
    largest : bool
        Look for the largest decay rate; else the first P that is found will do.

    Returns
    -------
    Certificate
        "unstable member" where one is, so that no P can exist; "not found" where all members are stable and no P was
        found, which says nothing about stability (``excluded``: there is none).

    Raises
    ------
    ValueError
        If these are no finite square matrices of one size, or names or states do not fit.
    SolverMissingError
        If clarabel is not installed.
    """
    family = _checked(matrices, names, states)
    labels = tuple(names) or tuple(f"member {k + 1}" for k in range(len(family)))
    scale, scaled = _scaled(family)
    rates = own_decays(scaled, sample_time)
    slowest = int(np.argmin(rates))
    found = Certificate(
        holds=False, verdict="unstable member", decay=0.0, P=None, condition=np.inf, worst=labels[slowest],
        bound=float(rates[slowest]), n_members=len(family), states=tuple(states), scale=scale, sample_time=sample_time,
    )  # fmt: skip
    if (rates <= _at_rest(scaled, sample_time)).any():
        return found
    search = DecaySearch(scaled, sample_time, float(rates[slowest]))
    P = search.largest_decay() if largest else search.any_decay()
    return _judged(found, scaled, labels, P, excluded=P is None and search.excluded())


def _checked(matrices: ArrayLike, names: Sequence[str], states: Sequence[str]) -> Array:
    family = np.asarray(matrices, dtype=float)
    if family.ndim != 3 or not family.size or family.shape[1] != family.shape[2]:
        raise ValueError(f"matrices must have shape [n_members, n, n], got {family.shape}")
    if not np.isfinite(family).all():
        raise ValueError(f"matrices must be finite; member {int(np.argwhere(~np.isfinite(family))[0][0]) + 1} is not")
    for what, given, size in (("names", names, len(family)), ("states", states, family.shape[1])):
        if given and len(given) != size:
            raise ValueError(f"{what} must have {size} entries, got {len(given)}")
    return family


def _judged(
    found: Certificate, scaled: Array, labels: Sequence[str], P: Array | None, *, excluded: bool
) -> Certificate:
    """The verdict on a proposal, by the check alone."""
    missed = replace(found, verdict="not found", excluded=excluded)
    if P is None or found.scale is None:
        return missed
    each = decays(scaled, P, found.sample_time)
    worst = int(np.argmin(each))
    decay, exact = _KEPT * float(each[worst]), scaled.shape[1] <= MOST_EXACT
    if not decay > 0.0 or (exact and not proved(scaled, P, decay, found.sample_time)):
        return missed
    values = np.linalg.eigvalsh(P)
    own = P / values[0] / found.scale / found.scale[:, None]
    return replace(
        found, holds=True, verdict="holds", decay=decay, P=own, condition=float(values[-1] / values[0]),
        worst=labels[worst], exact=exact,
    )  # fmt: skip
