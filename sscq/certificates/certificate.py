"""A certificate of a family of matrices: what it says, and the check of it that no solver takes part in.

The claim is P > 0 and, for every member A of the family and the decay rate a,

    A' P + P A + 2 a P < 0          in continuous time,
    A' P A - e^(-2 a h) P < 0       from sample to sample.

Both are convex in A (the second by its Schur complement): what holds at the vertices of a hull holds inside, and also
where the matrix moves inside the hull, however fast.
Source: S. Boyd, L. El Ghaoui, E. Feron and V. Balakrishnan, Linear Matrix Inequalities in System and Control Theory
(SIAM, 1994), sec. 5.1.

The check is exact: no rounding, no doubt. A float is an integer times a power of two, so a matrix of floats is one of
integers times one power of two. Its leading minors come from Bareiss' elimination, whose divisions leave no remainder;
all of them positive means positive definite (Sylvester).
Source: E. H. Bareiss, Mathematics of Computation 22 (1968) 565.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, eigh

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Exact:
    """A matrix as Python integers [n, m] (of any length) over a power of two."""

    integers: Any
    halvings: int

    @classmethod
    def of(cls, matrix: ArrayLike) -> Exact:
        """Return the floats of a matrix as they are: not what they stand for."""
        ratios = [[value.as_integer_ratio() for value in row] for row in np.asarray(matrix, float).tolist()]
        most = max(denominator for row in ratios for _, denominator in row)
        rows = [[numerator * (most // denominator) for numerator, denominator in row] for row in ratios]
        return cls(np.array(rows, dtype=object), most.bit_length() - 1)

    @property
    def T(self) -> Exact:
        """The transpose."""
        return Exact(self.integers.T, self.halvings)

    def __matmul__(self, other: Exact) -> Exact:
        return Exact(self.integers @ other.integers, self.halvings + other.halvings)

    def __add__(self, other: Exact) -> Exact:
        most = max(self.halvings, other.halvings)
        return Exact(self._over(most) + other._over(most), most)

    def __neg__(self) -> Exact:
        return Exact(-self.integers, self.halvings)

    def __sub__(self, other: Exact) -> Exact:
        return self + -other

    def times(self, factor: float) -> Exact:
        """Return the multiple by a float."""
        numerator, denominator = float(factor).as_integer_ratio()
        return Exact(self.integers * numerator, self.halvings + denominator.bit_length() - 1)

    def _over(self, halvings: int) -> Any:
        return self.integers * 2 ** (halvings - self.halvings)

    def is_positive_definite(self) -> bool:
        """Return whether the matrix is symmetric and positive definite."""
        rows = self.integers.tolist()
        size, before = len(rows), 1
        if any(rows[i][k] != rows[k][i] for i in range(size) for k in range(i)):
            return False
        for pivot in range(size):
            minor = rows[pivot][pivot]
            if minor <= 0:
                return False
            for i in range(pivot + 1, size):
                for k in range(i, size):
                    rows[i][k] = (rows[i][k] * minor - rows[pivot][i] * rows[pivot][k]) // before
            before = minor
        return True


MOST_EXACT = 12  # states up to which members are checked in integers as well
_ROUNDING = 64.0 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Certificate:
    """Whether one quadratic Lyapunov function V = x' P x serves all members of a family of closed loops.

    Attributes
    ----------
    holds : bool
        P is there and was verified.
    verdict : {"holds", "not found", "unstable member"}
    decay : float
        a [1/s], verified: |x(t)| <= sqrt(condition) e^(-a t) |x(0)| in scaled states. 0 where it does not hold.
    P : ndarray [n, n] or None
        Of the states as they are, its smallest eigenvalue in scaled states 1.
    condition : float
        Largest over smallest eigenvalue of P in the states scaled by `scale`; infinite where there is none.
    worst : str
        Member with the least decay in V; of a family with an unstable member, that one; of one without a P, the
        slowest.
    bound : float
        Decay rate of the slowest member by itself [1/s]: no certificate can promise more. Not above 0: unstable.
    n_members : int
    states : tuple of str
    scale : ndarray [n]
        Powers of two: scaled states are states over scale.
    exact : bool
        Verified in integers, too, not only by eigenvalues in float64.
    excluded : bool
        It was proved that there is no P: a dual solution, verified in the same way. That is no instability.
    text : str
    """

    holds: bool
    verdict: str
    decay: float
    P: Array | None
    condition: float
    worst: str
    bound: float
    n_members: int
    states: tuple[str, ...] = ()
    scale: Array | None = None
    sample_time: float | None = None
    exact: bool = False
    excluded: bool = False
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.text

    def numbers(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "decay": self.decay,
            "bound": self.bound,
            "condition": self.condition if math.isfinite(self.condition) else None,
            "worst": self.worst,
            "n_members": self.n_members,
            "sample_time": self.sample_time,
            "states": list(self.states),
            "P": None if self.P is None else self.P.tolist(),
            "exact": self.exact,
            "excluded": self.excluded,
            "text": self.text,
        }


def decays(matrices: Array, P: ArrayLike, sample_time: float | None = None) -> Array:
    """Return the decay rate of V = x' P x with each member [n_members], 1/s: -infinity everywhere unless P > 0.

    By eigenvalues of the pencil in float64, less a margin of 64 n eps times the size of the member in the norm of P.
    """
    P = np.asarray(P, float)
    size = len(P)
    try:
        values = eigh(P, eigvals_only=True)
        if not (np.isfinite(P).all() and (P == P.T).all() and values[0] > _ROUNDING * size * values[-1]):
            return np.full(len(matrices), -np.inf)
        lower = np.linalg.cholesky(P)
    except (LinAlgError, ValueError):
        return np.full(len(matrices), -np.inf)
    turned = np.linalg.solve(lower, (np.swapaxes(matrices, 1, 2) @ lower))  # L^-1 A' L: A' in the norm of P
    norms = np.linalg.norm(turned, 2, axis=(1, 2))
    margin = _ROUNDING * size * np.maximum(norms, 1e-300)
    if sample_time is None:
        largest = np.linalg.eigvalsh(turned + np.swapaxes(turned, 1, 2))[:, -1]
        return np.asarray(-0.5 * largest - margin)
    return np.asarray(-np.log(norms + margin) / sample_time)


def proved(matrices: Array, P: ArrayLike, decay: float, sample_time: float | None = None) -> bool:
    """Return whether P > 0 and the inequality hold for all members, in exact arithmetic on these very floats.

    Parameters
    ----------
    matrices : array [n_members, n, n]
    P : array [n, n]
    decay : float
        a [1/s].
    sample_time : float, optional
        h [s]; left out: continuous time.
    """
    exact = Exact.of(P)

    def left(A: Exact) -> Exact:
        if sample_time is None:
            moved = exact @ A
            return -(moved + moved.T + exact.times(2.0 * decay))
        return exact.times(math.exp(-2.0 * decay * sample_time)) - A.T @ exact @ A

    return exact.is_positive_definite() and all(left(Exact.of(A)).is_positive_definite() for A in matrices)


def excludes(matrices: Array, weights: Array, sample_time: float | None = None) -> bool:
    """Return whether weights Z [n_members, n, n] prove that no P exists, in exact arithmetic.

    With all Z > 0 and S = sum (A Z + Z A') > 0, or sum (A Z A' - Z) > 0, a P would make trace(P S) both positive and
    negative.
    """
    total = Exact.of(np.zeros(matrices.shape[1:]))
    for member, weight in zip(matrices, weights, strict=True):
        A, Z = Exact.of(member), Exact.of(weight)
        if not Z.is_positive_definite():
            return False
        moved = A @ Z
        total += moved + moved.T if sample_time is None else moved @ A.T - Z
    return total.is_positive_definite()
