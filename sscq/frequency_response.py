"""Frequency responses of a sampled loop, prepared once per operating point and used for any number of gain sets.

The loop transfer is linear in the gains, L = kp B0 + ki B1 + kd B2, so three responses on a well-chosen grid are all
that a search needs. Beside them stands a regular factor R (:func:`sscq.frequency_grid.regular`): R (1 + L) has no pole
near the stability boundary, and its turns about 0 count the unstable closed-loop poles without indentations (the
principle of the argument; Astrom and Murray, Feedback Systems, 2nd ed., sec. 10.3). The same on circles |z| = e^(g h)
outside the unit circle tells how fast an unstable loop grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sscq import frequency_grid
from sscq.frequency_grid import RELEVANT, STEP, TOP, apart, box_ends, least_gains, parts
from sscq.sampled_loop import SampledPlant, sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.linear_loop import LinearPlant, Loop

    Array = NDArray[np.float64]
    Complex = NDArray[np.complex128]

_RINGS = 24


@dataclass(frozen=True)
class LoopResponse:
    """What margins of one operating point are computed from, for any gains.

    Attributes
    ----------
    sampled : SampledPlant
    frequency, log_frequency : array [n_w]
        Grid inside the Nyquist range [rad/s], and its logarithm.
    basis : array [6, n_w]
        B0, B1, B2: real and imaginary part of each in turn.
    regular : array [2, 2, n_w]
        R with the law's integrator, and without it (for ki = 0): real and imaginary part.
    at_rest : array [3]
        Plant denominator, numerators to output and rate at zero frequency, to a common positive factor.
    at_nyquist : array [5]
        B0, B1, B2, R, R without integrator, all real there.
    growth : array [n_rings]
        Growth rates of the circles [1/s], ascending.
    rings : array [n_rings, 8, n_v]
        R, R B0, R B1, R B2 on the upper half of each circle: its real point z > 0, every other point of the grid, its
        real point z < 0.
    """

    sampled: SampledPlant
    frequency: Array
    log_frequency: Array
    basis: Array
    regular: Array
    at_rest: Array
    at_nyquist: Array
    growth: Array
    rings: Array

    @property
    def name(self) -> str:
        """Operating point."""
        return self.sampled.name

    @property
    def rate(self) -> float:
        """Middle of the frequency grid [rad/s]: the scale on which a growth rate is fast or slow."""
        return float(np.sqrt(self.frequency[0] * self.frequency[-1]))


def loop_responses(
    plants: Sequence[LinearPlant], loop: Loop, low: ArrayLike, high: ArrayLike
) -> tuple[LoopResponse, ...]:
    """Prepare the operating points of one loop.

    Parameters
    ----------
    plants : sequence of LinearPlant
        One for each operating point (and taught plant).
    loop : Loop
    low, high : array [3]
        Range of kp, ki, kd that will be asked for; it decides where the grid is fine. Margins of gains outside are
        computed as well, less accurately.

    Returns
    -------
    tuple of LoopResponse

    Raises
    ------
    ValueError
        If there is no plant, the range is not one, or the loop reads a rate that a plant does not give.
    """
    if not plants:
        raise ValueError("margins need at least one operating point, got none")
    smallest, largest = box_ends(low, high, 3)
    return tuple(_prepare(sample(plant, loop), smallest, largest) for plant in plants)


def loop_transfer(plant: SampledPlant, s: Complex) -> Complex:
    """Return B0, B1, B2 of L = kp B0 + ki B1 + kd B2 at z = e^(s h).

    Parameters
    ----------
    plant : SampledPlant
    s : array [n_s], complex
        Points [1/s].

    Returns
    -------
    array [3, n_s], complex
    """
    h, share = plant.loop.sample_time, plant.loop.filter_share
    y, rate = plant.output(s)
    filtered = rate * share / (1.0 - (1.0 - share) * np.exp(-s * h))
    return np.asarray(plant.loop.sense * np.array([y, y * h / np.expm1(s * h), filtered]), dtype=complex)


def _prepare(plant: SampledPlant, smallest: Array, largest: Array) -> LoopResponse:
    h = plant.loop.sample_time
    least = least_gains(smallest, largest)[:, None]

    def level(s: Complex) -> Array:
        return np.asarray((np.abs(loop_transfer(plant, s)) * least).sum(axis=0))

    def coarse(points: Array) -> NDArray[np.bool_]:
        axis = np.asarray(1j * points)
        return _coarse(plant, points, loop_transfer(plant, axis), _regular(plant, axis, ends)[0], largest)

    ends = (frequency_grid.lowest(plant.poles, h, level), TOP * np.pi / h)
    frequency = frequency_grid.grid(plant.poles, h, ends, coarse)
    axis, end = np.asarray(1j * frequency), np.array([1j * np.pi / h])
    basis, regular = loop_transfer(plant, axis), _regular(plant, axis, ends)
    nyquist = np.concatenate([loop_transfer(plant, end), _regular(plant, end, ends)])[:, 0].real.copy()
    denominator, of_output, of_rate = plant.at_rest()
    growth = apart(np.geomspace(ends[0], 5.0 / h, _RINGS), plant.poles.real)
    around = np.concatenate([[0.0], frequency[::2], [np.pi / h]])
    return LoopResponse(
        sampled=plant,
        frequency=frequency,
        log_frequency=np.log(frequency),
        basis=parts(basis),
        regular=parts(regular).reshape(2, 2, -1),
        at_rest=np.array([denominator, plant.loop.sense * of_output, plant.loop.sense * of_rate]),
        at_nyquist=nyquist,
        growth=growth,
        rings=np.array([_ring(plant, g + 1j * around, ends) for g in growth]),
    )


def _ring(plant: SampledPlant, s: Complex, ends: tuple[float, float]) -> Array:
    regular = _regular(plant, s, ends)[0]
    values = np.concatenate([regular[None], regular * loop_transfer(plant, s)])
    values[:, [0, -1]] = values[:, [0, -1]].real  # rounding of e^(j pi) aside, they are
    return parts(values)


def _regular(plant: SampledPlant, s: Complex, ends: tuple[float, float]) -> Complex:
    """R with and without the factor of the law's integrator."""
    return frequency_grid.regular(plant.poles, plant.loop.sample_time, s, ends)


def _coarse(plant: SampledPlant, points: Array, basis: Complex, regular: Complex, largest: Array) -> NDArray[np.bool_]:
    """Which intervals [n_w - 1] of the grid are to be halved."""
    lag = points * plant.samples * plant.loop.sample_time
    known = np.where(basis == 0.0, 1.0, basis) * np.exp(1j * lag)  # 0: a path that is not there
    steps = np.abs(np.log(known[:, 1:] / known[:, :-1]) - 1j * np.diff(lag))  # whole turns of a long delay count, too
    level = np.abs(basis) * largest[:, None]
    counts = np.maximum(level[:, 1:], level[:, :-1]) > RELEVANT
    return np.asarray((counts & (steps > STEP)).any(axis=0) | (np.abs(np.log(regular[1:] / regular[:-1])) > STEP))
