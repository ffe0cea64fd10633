"""A common quadratic Lyapunov function for a family of matrices, with the largest decay rate that a search finds.

The inequalities are linear in P once the decay rate is fixed (a semidefinite program); the rate is bisected. What the
solver gives is only a proposal: :mod:`sscq.certificate` verifies it, and a certificate that the check refuses is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import matrix_balance

from sscq.certificate import MOST_EXACT, Certificate, decays, proved
from sscq.lyapunov_search import Search, own_decays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

_AT_REST = 1e-9  # of the size of a member: decay that rounding explains
_KEPT = 1.0 - 1e-6  # of the decay found: what is promised, and proved exactly


def common_lyapunov(
    matrices: ArrayLike,
    *,
    sample_time: float | None = None,
    names: Sequence[str] = (),
    states: Sequence[str] = (),
) -> Certificate:
    """Find P > 0 with A' P + P A + 2 a P < 0 for all members, or A' P A < e^(-2 a h) P from sample to sample.

    Parameters
    ----------
    matrices : array [n_members, n, n]
    sample_time : float, optional
        h [s]: the members are maps from sample to sample. Left out: continuous time.
    names : sequence of str [n_members], optional
    states : sequence of str [n], optional

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
        If cvxpy or its solvers are not installed.
    """
    family = _checked(matrices, names, states)
    labels = tuple(names) or tuple(f"member {k + 1}" for k in range(len(family)))
    scale = np.diag(matrix_balance(np.abs(family).mean(axis=0), permute=False)[1])
    scaled = family * scale / scale[:, None]
    rates = own_decays(scaled, sample_time)
    slowest = int(np.argmin(rates))
    found = Certificate(
        holds=False, verdict="unstable member", decay=0.0, P=None, condition=np.inf, worst=labels[slowest],
        bound=float(rates[slowest]), n_members=len(family), states=tuple(states), scale=scale, sample_time=sample_time,
    )  # fmt: skip
    sizes = np.linalg.norm(scaled, 2, axis=(1, 2)) if sample_time is None else np.full(len(scaled), 1.0 / sample_time)
    if (rates <= _AT_REST * sizes).any():
        return found
    search = Search(scaled, sample_time, float(rates[slowest]))
    P = search.largest_decay()
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
