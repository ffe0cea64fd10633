"""Frequency responses of a sampled loop, prepared once per operating point and used for any number of gain sets.

The loop transfer is linear in the gains, L = kp B0 + ki B1 + kd B2, so three responses on a well-chosen grid are all
that a search needs. Beside them stands the regular factor R = prod (z - p) / (z - q) (:func:`regular_factor`): it
replaces every open-loop pole p at or near the stability boundary, or beyond it, by a well damped q. So R (1 + L) has
no pole near the boundary, and neither has R det(I + L) of several loops together; its turns about 0 count the unstable
closed-loop poles without indentations (the principle of the argument; Astrom and Murray, Feedback Systems, 2nd ed.,
sec. 10.3). The same on circles |z| = e^(g h) outside the unit circle tells how fast an unstable loop grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from sscq.margins.kernel import Evaluation
from sscq.margins.sampled_loop import SampledPlant, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.margins.linear_loop import LinearPlant, LoopSettings

    Array = NDArray[np.float64]
    Complex = NDArray[np.complex128]


STEP = 0.15  # largest step of ln(response) between neighbours of the grid where |L| may come near 1
RELEVANT = 0.02  # |L| below this changes neither margins nor turns
TOP = 1.0 - 1e-3  # of the Nyquist frequency; the point at it is real and kept apart
_CLOSEST = 3e-4  # of ln(frequency): finer is never needed with the interpolation of the kernel
_ROUNDS = 11
_LARGEST = 1500  # points; reached only with delays of hundreds of samples
_DAMPED = 0.3  # damping ratio below which a pole counts as near the boundary


def regular_factor(poles: Complex, sample_time: float, s: Complex, ends: tuple[float, float]) -> Complex:
    """Return R with and without the factor of a law's integrator [2, n_s]; `ends` of the grid say what is slow."""
    h, middle = sample_time, float(np.sqrt(ends[0] * ends[1]))
    slope = np.expm1(s * h) / h
    sizes = np.abs(poles)
    near = poles[(poles.real >= -_DAMPED * sizes) | (sizes < ends[0])]
    factors = [(slope - np.expm1(p * h) / h) / (slope - np.expm1(_damped(p, ends[0], middle) * h) / h) for p in near]
    without = np.prod(factors, axis=0) if factors else np.ones_like(slope)
    return np.array([without * slope / (slope - np.expm1(-middle * h) / h), without])


def _damped(pole: complex, lowest: float, middle: float) -> complex:
    """What takes the pole's place in R: as fast, well damped; a pole at rest may come as a tiny pair by rounding."""
    if abs(pole) < lowest:
        return -middle
    turned = abs(pole.imag) > 0.1 * abs(pole)
    return abs(pole) * np.exp(0.75j * np.pi * np.sign(pole.imag)) if turned else -abs(pole)


def refined_frequencies(
    poles: Complex,
    sample_time: float,
    ends: tuple[float, float],
    coarse: Callable[[Array], NDArray[np.bool_]],
    start: Array | None = None,
) -> Array:
    """Return frequencies [rad/s]: logarithmic, then halved where a response turns quickly.

    Parameters
    ----------
    poles : array [n]
        Of the continuous plant [1/s].
    sample_time : float
    ends : (float, float)
    coarse : callable
        Frequencies [n_w] to which of the intervals between them [n_w - 1] turn too far.
    start : array [n], optional
        Frequencies to begin with, those of a similar plant; left out, evenly in the logarithm.
    """
    begin = np.geomspace(*ends, 60) if start is None else start
    points = np.unique(np.concatenate([begin, _resonances(poles, sample_time, ends)]))
    for _ in range(_ROUNDS):
        points = apart(points, _folded(poles, sample_time))
        wide = coarse(points) & (np.diff(np.log(points)) > _CLOSEST)
        if not wide.any() or len(points) > _LARGEST:
            break
        points = np.sort(np.concatenate([points, np.sqrt(points[1:] * points[:-1])[wide]]))
    return points


def lowest_frequency(poles: Complex, sample_time: float, level: Callable[[Complex], Array]) -> float:
    """Return a frequency [rad/s] below which every loop of the range follows a power law: nothing happens there.

    `level` gives |L| of the weakest gains at points s [n_s].
    """
    top = np.pi / sample_time
    probes = apart(np.geomspace(1e-7 * top, TOP * top, 240), _folded(poles, sample_time))
    weak = probes[level(np.asarray(1j * probes)) < 3.0]
    slow = np.abs(poles)[np.abs(poles) > 1e-6 * top]
    return float(max(1e-7 * top, min(0.3 * weak.min(initial=0.1 * top), 0.03 * slow.min(initial=top))))


def least_gains(smallest: Array, largest: Array) -> Array:
    """Return the gains of the weakest loop of a range: a thousandth of the largest where the range holds 0."""
    return np.where(smallest > 0.0, smallest, 1e-3 * largest)


def box_ends(low: object, high: object, size: int) -> tuple[Array, Array]:
    """Return the smallest and the largest magnitudes [size] of gains in a box.

    Raises
    ------
    ValueError
        If the box is none.
    """
    ends = np.array([np.broadcast_to(np.asarray(end, dtype=float), size) for end in (low, high)])
    if not (np.isfinite(ends).all() and (ends[0] <= ends[1]).all() and ends.any()):
        raise ValueError(f"low and high must be finite with low <= high and not all zero, got {ends[0]} and {ends[1]}")
    largest = np.abs(ends).max(axis=0)
    return np.where(ends[0] * ends[1] > 0.0, np.abs(ends).min(axis=0), 0.0), largest


def _resonances(poles: Complex, sample_time: float, ends: tuple[float, float]) -> Array:
    """Points about each lightly damped pole, so that the first grid cannot step over it."""
    light = (poles.imag > 0.0) & (poles.real > -_DAMPED * np.abs(poles))
    near = poles[light]
    widths = np.maximum(np.abs(near.real) / np.abs(near), 1e-2)
    points = _folded(poles, sample_time)[light, None] * (
        1.0 + widths[:, None] * np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
    )
    return points[(points > ends[0]) & (points < ends[1])]


def _folded(poles: Complex, sample_time: float) -> Array:
    """Frequencies of the poles as the samples see them, folded at the Nyquist frequency."""
    return np.asarray(np.abs(np.angle(np.exp(1j * poles.imag * sample_time))) / sample_time)


def apart(values: Array, poles: Array) -> Array:
    """Return `values`, moved off any pole that they would hit."""
    gap = np.abs(values[:, None] - np.abs(poles)[None, :])
    return np.where((gap < 1e-6 * values[:, None]).any(axis=1), values * (1.0 + 3e-6), values)


def real_and_imaginary(values: Complex) -> Array:
    """Return rows of real and imaginary parts in turn [2 n, n_w]."""
    return np.ascontiguousarray(np.stack([values.real, values.imag], axis=1).reshape(-1, values.shape[-1]))


_RINGS = 24
_PROBED = 8  # of many similar plants: how many say where their common grid begins and is fine


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
        Growth rates of the circles [1/s], ascending; without circles an unstable loop is said to grow infinitely fast.
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

    @cached_property
    def evaluation(self) -> Evaluation:
        """The kernel that computes margins from it."""
        points = (self.basis, self.regular, self.at_rest, self.at_nyquist, self.growth, self.rings)
        return Evaluation(self.log_frequency, *points, self.sampled.loop.sample_time)

    @property
    def rate(self) -> float:
        """Middle of the frequency grid [rad/s]: the scale on which a growth rate is fast or slow."""
        return float(np.sqrt(self.frequency[0] * self.frequency[-1]))


def loop_responses(
    plants: Sequence[LinearPlant], loop: LoopSettings, low: ArrayLike, high: ArrayLike
) -> tuple[LoopResponse, ...]:
    """Prepare the operating points of one loop.

    Parameters
    ----------
    plants : sequence of LinearPlant
        One for each operating point (and taught plant).
    loop : LoopSettings
    low, high : array [3]
        Range of kp, ki, kd that will be asked for; it decides where the grid is fine. Margins of gains outside are
        computed as well, less accurately.

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


def similar_responses(
    plants: Sequence[LinearPlant], loops: Sequence[LoopSettings], low: ArrayLike, high: ArrayLike
) -> tuple[LoopResponse, ...]:
    """Prepare many plants that are much like one another, each with its own loop, faster than one by one.

    The grid that suffices for some of them is where those of all begin, and is refined only where one turns faster; how
    fast an unstable loop grows cannot be asked of the result.

    Parameters
    ----------
    plants, loops : sequences of LinearPlant and LoopSettings, of equal length
        The sample time of all loops is the same.
    low, high : array [3]
        As for :func:`loop_responses`.
    """
    smallest, largest = box_ends(low, high, 3)
    sampled = [sample(plant, loop) for plant, loop in zip(plants, loops, strict=True)]
    ends = _common_ends(sampled, smallest, largest)
    grid = None
    for plant in _some(sampled):
        grid = _grid(plant, ends, largest, grid).frequency
    return tuple(_response(plant, _grid(plant, ends, largest, grid), ends, rings=0) for plant in sampled)


def _some(sampled: Sequence[SampledPlant]) -> Sequence[SampledPlant]:
    return sampled[:: max(1, len(sampled) // _PROBED)]


def _common_ends(sampled: Sequence[SampledPlant], smallest: Array, largest: Array) -> tuple[float, float]:
    """Ends of a grid for several plants: the slowest poles of all, the loops' own levels of a few."""
    h = sampled[0].loop.sample_time
    lowest = min(_ends(plant, smallest, largest)[0] for plant in _some(sampled))
    poles = np.concatenate([plant.poles for plant in sampled])
    return min(lowest, lowest_frequency(poles, h, lambda s: np.full(len(s), np.inf))), TOP * np.pi / h


def _prepare(plant: SampledPlant, smallest: Array, largest: Array) -> LoopResponse:
    ends = _ends(plant, smallest, largest)
    return _response(plant, _grid(plant, ends, largest), ends, _RINGS)


def _ends(plant: SampledPlant, smallest: Array, largest: Array) -> tuple[float, float]:
    h, least = plant.loop.sample_time, least_gains(smallest, largest)[:, None]

    def level(s: Complex) -> Array:
        return np.asarray((np.abs(loop_transfer(plant, s)) * least).sum(axis=0))

    return lowest_frequency(plant.poles, h, level), TOP * np.pi / h


@dataclass(frozen=True)
class _OnGrid:
    """B0, B1, B2 [3, n_w] and R with and without the law's integrator [2, n_w] on a grid [n_w, rad/s]."""

    frequency: Array
    basis: Complex
    regular: Complex

    @classmethod
    def of(cls, plant: SampledPlant, frequency: Array, ends: tuple[float, float]) -> Self:
        axis = np.asarray(1j * frequency)
        return cls(frequency, loop_transfer(plant, axis), _regular(plant, axis, ends))


def _grid(plant: SampledPlant, ends: tuple[float, float], largest: Array, start: Array | None = None) -> _OnGrid:
    last: list[_OnGrid] = []

    def coarse(points: Array) -> NDArray[np.bool_]:
        last[:] = [_OnGrid.of(plant, points, ends)]
        return _coarse(plant, points, last[0].basis, last[0].regular[0], largest)

    points = refined_frequencies(plant.poles, plant.loop.sample_time, ends, coarse, start)
    return last[0] if last[0].frequency is points else _OnGrid.of(plant, points, ends)


def _response(plant: SampledPlant, grid: _OnGrid, ends: tuple[float, float], rings: int) -> LoopResponse:
    h, frequency = plant.loop.sample_time, grid.frequency
    end = np.array([1j * np.pi / h])
    nyquist = np.concatenate([loop_transfer(plant, end), _regular(plant, end, ends)])[:, 0].real.copy()
    denominator, of_output, of_rate = plant.at_rest()
    growth = apart(np.geomspace(ends[0], 5.0 / h, rings), plant.poles.real)
    around = np.concatenate([[0.0], frequency[::2], [np.pi / h]])
    circles = [_ring(plant, g + 1j * around, ends) for g in growth]
    return LoopResponse(
        sampled=plant,
        frequency=frequency,
        log_frequency=np.log(frequency),
        basis=real_and_imaginary(grid.basis),
        regular=real_and_imaginary(grid.regular).reshape(2, 2, -1),
        at_rest=np.array([denominator, plant.loop.sense * of_output, plant.loop.sense * of_rate]),
        at_nyquist=nyquist,
        growth=growth,
        rings=np.array(circles).reshape(rings, 8, len(around)),
    )


def _ring(plant: SampledPlant, s: Complex, ends: tuple[float, float]) -> Array:
    regular = _regular(plant, s, ends)[0]
    values = np.concatenate([regular[None], regular * loop_transfer(plant, s)])
    values[:, [0, -1]] = values[:, [0, -1]].real  # rounding of e^(j pi) aside, they are
    return real_and_imaginary(values)


def _regular(plant: SampledPlant, s: Complex, ends: tuple[float, float]) -> Complex:
    """R with and without the factor of the law's integrator."""
    return regular_factor(plant.poles, plant.loop.sample_time, s, ends)


def _coarse(plant: SampledPlant, points: Array, basis: Complex, regular: Complex, largest: Array) -> NDArray[np.bool_]:
    """Which intervals [n_w - 1] of the grid are to be halved."""
    lag = points * plant.samples * plant.loop.sample_time
    known = np.where(basis == 0.0, 1.0, basis) * np.exp(1j * lag)  # 0: a path that is not there
    steps = np.abs(np.log(known[:, 1:] / known[:, :-1]) - 1j * np.diff(lag))  # whole turns of a long delay count, too
    level = np.abs(basis) * largest[:, None]
    counts = np.maximum(level[:, 1:], level[:, :-1]) > RELEVANT
    return np.asarray((counts & (steps > STEP)).any(axis=0) | (np.abs(np.log(regular[1:] / regular[:-1])) > STEP))
