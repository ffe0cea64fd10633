"""Linear plants from sample to sample, their inputs held in between: exact, also where A has no inverse.

Source: C. F. Van Loan, Computing integrals involving the matrix exponential, IEEE Trans. Automatic Control 23 (1978)
395; K. J. Astrom and B. Wittenmark, Computer-Controlled Systems, 3rd ed. (Prentice Hall, 1997), sec. 2.3 (delay).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_ROUNDING = 1e-9  # of a sample: times are given in decimals


def hold_inputs(A: Array, B: Array, time: float) -> tuple[Array, Array]:
    """Return A [n, n] and B [n, m] over a time [s] in which the inputs are held: e^(A time), its integral times B."""
    n, m = B.shape
    block = np.zeros((n + m, n + m))
    block[:n, :n], block[:n, n:] = A * time, B * time
    whole = scipy.linalg.expm(block)
    return np.asarray(whole[:n, :n]), np.asarray(whole[:n, n:])


def integral_of_exponential(A: Array, time: float) -> Array:
    """Return the integral of e^(A s) over [0, time], [n, n] in s, for A [n, n] in 1/s."""
    return hold_inputs(A, np.eye(len(A)), time)[1]


def hold_late_inputs(A: Array, B: Array, sample_time: float, delay: float) -> tuple[Array, Array, int]:
    """Return what inputs that act late add in a sample.

    Returns
    -------
    now, before : arrays [n, m]
        G0 and G1 of x[k+1] = e^(A h) x[k] + G0 u[k-samples] + G1 u[k-samples-1].
    samples : int
        Whole samples of the delay.
    """
    samples, late = split_delay(delay, sample_time)
    rest = integral_of_exponential(A, sample_time - late)
    if late == 0.0:
        return rest @ B, np.zeros_like(B), samples
    return rest @ B, (np.eye(len(A)) + A @ rest) @ (integral_of_exponential(A, late) @ B), samples


def split_delay(delay: float, sample_time: float) -> tuple[int, float]:
    """Return the whole samples of a delay, and the rest [s]."""
    samples = math.floor(delay / sample_time + _ROUNDING)
    late = delay - samples * sample_time
    return samples, late if late > _ROUNDING * sample_time else 0.0
