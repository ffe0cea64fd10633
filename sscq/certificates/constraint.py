"""A stability certificate as a constraint of a search: one Lyapunov function is given, and the gains keep within it.

For a fixed P the gain sets whose frozen loops all decay in V = x' P x are a convex set, and a schedule whose vertices
lie in it is certified, however fast its gains move. What a candidate pays is the largest eigenvalue by which a vertex
violates the inequality, so that a search is led back into that set. Which P: see :func:`roomiest`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.certificates.gain_hull import GainHull
from sscq.certificates.quadratic_lyapunov import common_lyapunov
from sscq.margins.scheduled_gains import PASSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sscq.certificates.certificate import Certificate
    from sscq.certificates.certify import FrozenFamily
    from sscq.margins.operating import OperatingMargins
    from sscq.margins.scheduled_gains import Focus

    Array = NDArray[np.float64]

_INSIDE = 0.02  # of the reference gains' own decay: so far inside searched gains stay, for the final check
_MEAN_SHARE = 0.1  # of the mean violation beside the worst: a slope for vertices that are not the worst
_WIDEST, _BISECTIONS = 4.0, 5  # of a hull that is blown up, and in how many steps its size is found


@dataclass(frozen=True, eq=False)
class LyapunovSet:
    """Gain sets whose frozen loops decay in one quadratic Lyapunov function.

    Attributes
    ----------
    constant : array [n_loops, n, n]
    slopes : array [n_loops, n_gains, n, n]
        Of the loops A(K) = constant + sum K_g slopes_g, in coordinates in which V = x' x.
    sample_time : float or None
        From sample to sample [s]; None: continuous time.
    least : float
        Decay in V that is asked: of x' A x in continuous time [1/s], of the norm over a sample otherwise.
    size : float
        Unit of a violation [1/s, or per sample].
    """

    constant: Array
    slopes: Array
    sample_time: float | None
    least: float
    size: float

    @classmethod
    def of(cls, family: FrozenFamily, P: Array, reference: Array) -> LyapunovSet:
        """Return the set of a family's loops for one P; `reference` [n_gains] lies inside and says what is asked."""
        lower = np.linalg.cholesky(P)
        back = np.linalg.inv(lower).T
        constant = np.array([lower.T @ loop.constant @ back for loop in family.loops])
        slopes = np.array([[lower.T @ one @ back for one in loop.slopes] for loop in family.loops])
        bare = cls(constant, slopes, family.sample_time, 0.0, 1.0)
        own = float(bare.excess(np.reshape(reference, (1, -1)))[0].max())  # negative: inside
        return replace(bare, least=_INSIDE * -own, size=-own)

    def excess(self, gains: Array) -> tuple[Array, Array]:
        """Return by how much V grows at worst [n_sets, n_loops] for gain sets [n_sets, n_gains], and along what.

        Its second part are the directions' slopes with respect to the gains [n_sets, n_loops, n_gains].
        """
        loops = self.constant + np.einsum("sg,lgij->slij", gains, self.slopes)
        if self.sample_time is None:
            values, vectors = np.linalg.eigh(0.5 * (loops + np.swapaxes(loops, -1, -2)))
            worst, along = values[..., -1], vectors[..., -1]
            return worst, np.einsum("sli,lgij,slj->slg", along, self.slopes, along)
        left, values, right = np.linalg.svd(loops)
        return values[..., 0] - 1.0, np.einsum("sli,lgij,slj->slg", left[..., 0], self.slopes, right[..., 0, :])

    def violation(self, gains: Array) -> tuple[Array, Array]:
        """Return the graded violation [n] of gain sets [n, n_sets, n_gains], and its slopes [n, n_sets, n_gains]."""
        n, n_sets, n_gains = gains.shape
        worst, slopes = self.excess(gains.reshape(-1, n_gains))
        loop = worst.argmax(axis=1)[:, None]
        over = (np.take_along_axis(worst, loop, 1)[:, 0] + self.least) / self.size
        paid = np.maximum(over, 0.0).reshape(n, n_sets)
        rows = np.take_along_axis(slopes, loop[..., None], 1)[:, 0].reshape(gains.shape) / self.size
        share = np.full(paid.shape, _MEAN_SHARE / n_sets)
        np.put_along_axis(share, paid.argmax(axis=1)[:, None], 1.0 + _MEAN_SHARE / n_sets, axis=1)
        return (share * paid).sum(axis=1), np.where(paid[..., None] > 0.0, share[..., None] * rows, 0.0)


@dataclass(frozen=True, eq=False)
class CertifiedMargins:
    """Margins, and a Lyapunov function that all vertices of a schedule keep within: the constraint of a search.

    It takes the place of :class:`sscq.margins.operating.OperatingMargins` where schedules are searched.

    Attributes
    ----------
    inside : LyapunovSet
    margins : OperatingMargins or None
    """

    inside: LyapunovSet
    margins: OperatingMargins | None = None

    @property
    def watched(self) -> int:
        """As of the margins."""
        return PASSING if self.margins is None else self.margins.watched

    def violation_of(
        self,
        controller: Any,
        theta: Array,
        threads: int | None = 1,
        focus: Focus | None = None,
        count: int = PASSING,
    ) -> Array:
        """Return the graded violation [n] of a schedule with parameters theta [n, n_theta]."""
        own = self.inside.violation(controller.schedule.vertices(theta))[0]
        return (
            own if self.margins is None else own + self.margins.violation_of(controller, theta, threads, focus, count)
        )

    def focus(self, controller: Any, theta: Array, threads: int | None = 1) -> Focus | None:
        """As of the margins; None: there are none."""
        return None if self.margins is None else self.margins.focus(controller, theta, threads)

    def violation_slopes(
        self,
        controller: Any,
        theta: Array,
        ahead: Array,
        nudges: Array,
        threads: int | None = 1,
        focus: Focus | None = None,
    ) -> Array:
        """Return slopes of :meth:`violation_of` [n, n_genes]; arguments as of the margins' own."""
        n, m = nudges.shape
        here = controller.schedule.vertices(theta)
        there = controller.schedule.vertices(ahead.reshape(n * m, -1)).reshape(n, m, *here.shape[1:])
        by_gene = (there - here[:, None]) / nudges[..., None, None]
        own = np.einsum("nmsg,nsg->nm", by_gene, self.inside.violation(here)[1])
        if self.margins is None:
            return np.asarray(own)
        return np.asarray(own + self.margins.violation_slopes(controller, theta, ahead, nudges, threads, focus))

    def keeps_of(self, controller: Any, theta: Array) -> bool:
        """Return whether a schedule with parameters [n_theta] keeps all of it."""
        row = np.atleast_2d(theta)
        if self.inside.violation(controller.schedule.vertices(row))[0][0] > 0.0:
            return False
        return self.margins is None or self.margins.keeps_of(controller, theta)

    def tightened(self, share: float) -> CertifiedMargins:
        """Return the same with tighter margins; the Lyapunov function is asked as it was."""
        return self if self.margins is None else replace(self, margins=self.margins.tightened(share))


def roomiest(family: FrozenFamily, reference: Array) -> Certificate | None:
    """Return a certificate of the family whose Lyapunov function leaves room around it; None: there is none.

    The hull of the gains is blown up about the reference gains as far as a common function is found. Half-way there
    (of the logarithm) the function with the largest decay is taken: at the end only one is left, in which hardly
    anything decays, and a search would find no step that it allows.

    Parameters
    ----------
    family : FrozenFamily
    reference : array [n_gains]
        Gains inside the hull.
    """

    def blown_up(factor: float) -> Array:
        gains = reference + factor * (family.hull.gains - reference)
        return replace(family, hull=GainHull(family.hull.names, gains)).members()[1]

    def found(factor: float, *, largest: bool = False) -> Certificate:
        return common_lyapunov(blown_up(factor), sample_time=family.sample_time, largest=largest)

    if not found(1.0).holds:
        return None
    low, high = 1.0, _WIDEST
    for _ in range(_BISECTIONS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if found(middle).holds else (low, middle)
    return found(float(np.sqrt(low)), largest=True)
