"""Frequencies at which sampled loops are prepared, and the factor that takes poles near the stability boundary away.

The regular factor R = prod (z - p) / (z - q) replaces every open-loop pole p at or near the stability boundary, or
beyond it, by a well damped q: R (1 + L) has no pole there, and neither has R det(I + L) of several loops together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Complex = NDArray[np.complex128]

STEP = 0.15  # largest step of ln(response) between neighbours of the grid where |L| may come near 1
RELEVANT = 0.02  # |L| below this changes neither margins nor turns
TOP = 1.0 - 1e-3  # of the Nyquist frequency; the point at it is real and kept apart
_CLOSEST = 3e-4  # of ln(frequency): finer is never needed with the interpolation of the kernel
_ROUNDS = 11
_LARGEST = 1500  # points; reached only with delays of hundreds of samples
_DAMPED = 0.3  # damping ratio below which a pole counts as near the boundary


def regular(poles: Complex, sample_time: float, s: Complex, ends: tuple[float, float]) -> Complex:
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


def grid(
    poles: Complex,
    sample_time: float,
    ends: tuple[float, float],
    coarse: Callable[[Array], NDArray[np.bool_]],
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
    """
    points = np.unique(np.concatenate([np.geomspace(*ends, 60), _resonances(poles, sample_time, ends)]))
    for _ in range(_ROUNDS):
        points = apart(points, _folded(poles, sample_time))
        wide = coarse(points) & (np.diff(np.log(points)) > _CLOSEST)
        if not wide.any() or len(points) > _LARGEST:
            break
        points = np.sort(np.concatenate([points, np.sqrt(points[1:] * points[:-1])[wide]]))
    return points


def lowest(poles: Complex, sample_time: float, level: Callable[[Complex], Array]) -> float:
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


def parts(values: Complex) -> Array:
    """Return rows of real and imaginary parts in turn [2 n, n_w]."""
    return np.ascontiguousarray(np.stack([values.real, values.imag], axis=1).reshape(-1, values.shape[-1]))
