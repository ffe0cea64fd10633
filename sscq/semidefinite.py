"""The semidefinite program behind a common Lyapunov function: cvxpy with an open solver, loaded when it is needed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SOLVERS = ("CLARABEL", "SCS")  # the second where the first gives up
_LIFTED = 1e-9  # of the largest eigenvalue: what makes a weight of a face one of the interior


class SolverMissingError(ImportError):
    """The solvers of semidefinite programs are not installed."""


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

    Raises
    ------
    SolverMissingError
        If cvxpy is not installed.
    """
    cp = _cvxpy()
    n = matrices.shape[1]
    P, t = cp.Variable((n, n), symmetric=True), cp.Variable()
    unit = np.eye(n)

    def left(A: Array) -> Any:
        if sample_time is None:
            return -(A.T @ P + P @ A + 2.0 * decay * P) / size
        return np.exp(-2.0 * decay * sample_time) * P - A.T @ P @ A

    kept = [_symmetric(left(A)) - t * unit >> 0 for A in matrices]
    problem = cp.Problem(cp.Maximize(t), [*kept, P - t * unit >> 0, cp.trace(P) == n])
    for solver in SOLVERS:
        if solver in cp.installed_solvers() and _solved(cp, problem, solver):
            weights = np.array([_lifted(one.dual_value) for one in kept])
            return Answer(float(t.value), np.array(P.value), weights)
    return Answer(-np.inf, None, None)


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as error:
        message = (
            "a common Lyapunov function needs cvxpy and its solvers, which are not installed; "
            "use: pip install 'sscq[assurance]'"
        )
        raise SolverMissingError(message) from error
    return cvxpy


def _solved(cp: Any, problem: Any, solver: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate proposal is judged by the check, not by the solver
        try:
            problem.solve(solver=solver)
        except cp.error.SolverError:
            return False
    return problem.status in {"optimal", "optimal_inaccurate"}


def _symmetric(matrix: Any) -> Any:
    return 0.5 * (matrix + matrix.T)


def _lifted(weight: Array) -> Array:
    """The nearest positive definite matrix, about: dual solutions lie on a face of the cone."""
    values, vectors = np.linalg.eigh(0.5 * (weight + weight.T))
    lowest = _LIFTED * max(float(values[-1]), _LIFTED)
    lifted = (vectors * np.maximum(values, lowest)) @ vectors.T
    return np.asarray(0.5 * (lifted + lifted.T))
