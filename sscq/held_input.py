"""What an input that is held over a while does to a linear plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

if TYPE_CHECKING:
    from numpy.typing import NDArray


def integral_of_exponential(A: NDArray[np.float64], time: float) -> NDArray[np.float64]:
    """Return the integral of e^(A s) over [0, time], also where A has no inverse.

    Parameters
    ----------
    A : array [n, n]
        1/s.
    time : float
        s.

    Returns
    -------
    array [n, n]
        s. Source: Van Loan, Computing integrals involving the matrix exponential, IEEE Trans. AC-23 (1978), 395-404.
    """
    n = len(A)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:] = A * time, np.eye(n) * time
    return np.asarray(expm(block)[:n, n:])
