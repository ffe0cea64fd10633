"""Which coordinates and rates of a constrained mechanism are independent: the choice, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.mechanics.deriving.full import Matrices

    Array = NDArray[np.float64]
    Numbers = NDArray[np.intp]

_RANK = 1e-9  # of the largest pivot: what is smaller repeats other rows


@dataclass(frozen=True)
class Partition:
    """Which coordinates and which rates are independent.

    Attributes
    ----------
    places, speeds : ndarray of int
        Independent coordinates, independent rates.
    tied_places, tied_speeds : ndarray of int
        The dependent ones.
    worth : float
        Smallest singular value of the dependent blocks when chosen.
    """

    places: Numbers
    speeds: Numbers
    tied_places: Numbers
    tied_speeds: Numbers
    worth: float = 0.0


def chosen(at: Matrices) -> Partition:
    """Return the partition whose dependent columns a pivoted QR of the constraints takes first."""
    tied_places, tied_speeds = _pivots(at.jacobian[: len(at.residuals)]), _pivots(at.jacobian)
    everything = np.arange(len(at.load))
    places, speeds = np.setdiff1d(everything, tied_places), np.setdiff1d(everything, tied_speeds)
    choice = Partition(places, speeds, tied_places, tied_speeds)
    return replace(choice, worth=worth(at, choice))


def worth(at: Matrices, choice: Partition) -> float:
    """Return the smallest singular value of the dependent blocks at a state; 1 without constraints."""
    blocks = at.jacobian[: len(at.residuals), choice.tied_places], at.jacobian[:, choice.tied_speeds]
    return min((float(np.linalg.svd(b, compute_uv=False)[-1]) for b in blocks if b.size), default=1.0)


def _pivots(rows: Array) -> Numbers:
    if not len(rows):
        return np.zeros(0, np.intp)
    _q, r, order = qr(rows, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    return np.sort(order[: int((size > _RANK * size[0]).sum())])
