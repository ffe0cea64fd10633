"""Ultimate gain and period of a sampled loop: proportional control at the edge of stability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from sscq.frequency_response import loop_transfer
from sscq.sampled_loop import sample, spectral_radius

if TYPE_CHECKING:
    from sscq.linear_loop import LinearPlant, Loop
    from sscq.sampled_loop import SampledPlant

_POINTS = 2000
_SLOWEST = 1e-7  # of the Nyquist frequency
_SAMPLES = 10  # a period shorter than these belongs to the sampling, not to the plant
_ASIDE = 1e-3  # of the gain: how near to it the loop is asked whether it is stable


def ultimate_gain(plant: LinearPlant, loop: Loop) -> tuple[float, float] | None:
    """Return the ultimate gain (positive, in the sense of the loop's action) and its period [s].

    None where proportional control alone never holds the plant, where it holds it with any gain, or where the period
    is that of the sampling (below ten samples): then the plant itself has no ultimate gain.

    Source: J. G. Ziegler, N. B. Nichols, Optimum settings for automatic controllers, Trans. ASME 64 (1942) 759-768.
    """
    sampled = sample(plant, loop)
    top = np.pi / loop.sample_time
    frequency = np.geomspace(_SLOWEST * top, 0.999 * top, _POINTS)
    response = _of_p(sampled, frequency)
    turns = np.flatnonzero((np.diff(np.sign(response.imag)) != 0.0) & (response.real[1:] < 0.0))
    found = []
    for k in turns:
        w = brentq(lambda w: float(_of_p(sampled, np.array([w]))[0].imag), frequency[k], frequency[k + 1], rtol=1e-12)
        value = float(_of_p(sampled, np.array([w]))[0].real)
        if value < 0.0:
            found.append((-1.0 / value, 2.0 * np.pi / w))
    for gain, period in sorted(found):
        if _is_edge(sampled, gain):
            return (gain, period) if period >= _SAMPLES * loop.sample_time else None
    return None


def _of_p(plant: SampledPlant, frequency: np.ndarray) -> np.ndarray:
    return loop_transfer(plant, np.asarray(1j * frequency))[0]


def _is_edge(plant: SampledPlant, gain: float) -> bool:
    """Whether the loop is stable just below the gain and unstable just above it."""
    sets = np.array([[gain * (1.0 + side), 0.0, 0.0] for side in (-_ASIDE, _ASIDE)])
    below, above = spectral_radius(plant, sets)
    return bool(below < 1.0 <= above)
