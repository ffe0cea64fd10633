"""Frequency responses of all loops of a plant together, prepared once per operating point for any number of gain sets.

As for one loop (:mod:`sscq.margins.frequency_response`), but what a command does to every channel's law is kept; the
determinants of one gain set follow from it point by point. The regular factor makes R det(I + L) and R det(I + L of
the other loops) smooth, whatever the gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from sscq.margins import frequency_response
from sscq.margins.coupled.sampled_loops import GAINS, SampledLoops, sample_together
from sscq.margins.coupled.screen import ScreenedTogether
from sscq.margins.frequency_response import RELEVANT, STEP, TOP, box_ends, least_gains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.margins.coupled.sampled_loops import CoupledPlant
    from sscq.margins.linear_loop import LoopSettings

    Array = NDArray[np.float64]
    Complex = NDArray[np.complex128]

_STEP = STEP / 1.5  # determinants hold products of responses and turn faster than each


@dataclass(frozen=True, eq=False)
class CoupledResponse:
    """What margins of all channels at one operating point are computed from, for any gains.

    Attributes
    ----------
    sampled : SampledLoops
    frequency, log_frequency : array [n_w]
        Grid inside the Nyquist range [rad/s], and its logarithm.
    answers : array [n_w + 1, 2, n_channels, n_channels, 2]
        Of every law (rows) to a unit command (columns), for kp and for kd; the last point is the Nyquist frequency. The
        last axis of all complex arrays here holds real and imaginary part.
    integrator : array [n_w + 1, 2]
        h / (z - 1).
    regular, rest : array [n_w, 2]
        R without laws' integrators, and the factor for each channel with one.
    """

    sampled: SampledLoops
    frequency: Array
    log_frequency: Array
    answers: Array
    integrator: Array
    regular: Array
    rest: Array

    @property
    def name(self) -> str:
        """Operating point."""
        return self.sampled.name

    @property
    def rate(self) -> float:
        """Middle of the frequency grid [rad/s]: the scale on which a growth rate is fast or slow."""
        return float(np.sqrt(self.frequency[0] * self.frequency[-1]))

    @cached_property
    def screened(self) -> ScreenedTogether | None:
        """The table for a quick look; None where there is none."""
        return ScreenedTogether.of(self.sampled, self.answers, self.integrator, self.regular, self.rest)


def coupled_responses(
    plants: Sequence[CoupledPlant], loops: tuple[LoopSettings, ...], low: ArrayLike, high: ArrayLike
) -> tuple[CoupledResponse, ...]:
    """Prepare the operating points of a plant with several loops.

    Parameters
    ----------
    plants : sequence of CoupledPlant
    loops : tuple of LoopSettings
        One for each channel.
    low, high : array [3 n_channels]
        Range of the gains that will be asked for; it decides where the grid is fine.

    Raises
    ------
    ValueError
        If there is no plant, the range is not one, or loops and plant do not fit.
    """
    if not plants:
        raise ValueError("margins need at least one operating point, got none")
    smallest, largest = box_ends(low, high, GAINS * len(loops))
    return tuple(_prepare(sample_together(plant, loops), smallest, largest) for plant in plants)


def similar_coupled_responses(
    plants: Sequence[CoupledPlant], loops: Sequence[tuple[LoopSettings, ...]], low: ArrayLike, high: ArrayLike
) -> tuple[CoupledResponse, ...]:
    """Prepare many plants that are much like one another: the grid of the first is where those of the others begin.

    Parameters
    ----------
    plants : sequence of CoupledPlant
    loops : sequence of tuple of LoopSettings
        One for each channel, of each plant in turn.
    low, high : array [3 n_channels]
        As for :func:`coupled_responses`.
    """
    smallest, largest = box_ends(low, high, GAINS * len(loops[0]))
    found: list[CoupledResponse] = []
    for plant, several in zip(plants, loops, strict=True):
        grid = found[0].frequency if found else None
        found.append(_prepare(sample_together(plant, several), smallest, largest, grid))
    return tuple(found)


def _prepare(sampled: SampledLoops, smallest: Array, largest: Array, start: Array | None = None) -> CoupledResponse:
    h, n = sampled.sample_time, len(sampled.loops)
    least, most = least_gains(smallest, largest).reshape(n, GAINS), largest.reshape(n, GAINS)

    last: list[tuple[Array, Complex]] = []  # where the loops were asked last, and what they answered

    def level(s: Complex) -> Array:
        own = np.diagonal(_levels(sampled.answers(s), s, h, least), axis1=1, axis2=2)
        return np.asarray(np.where(own.any(axis=0), own, np.inf).min(axis=1))

    def coarse(points: Array) -> NDArray[np.bool_]:
        last[:] = [(points, sampled.answers(np.asarray(1j * points)))]
        return _coarse(sampled, *last[0], most, ends)

    ends = (frequency_response.lowest_frequency(sampled.poles, h, level), TOP * np.pi / h)
    if start is not None:  # from its own lowest frequency on
        start = np.append(ends[0], start[start > ends[0]])
    frequency = frequency_response.refined_frequencies(sampled.poles, h, ends, coarse, start)
    s = np.append(1j * frequency, 1j * np.pi / h)
    inside = last[0][1] if last[0][0] is frequency else sampled.answers(s[:-1])
    answers = np.moveaxis(np.concatenate([inside, sampled.answers(s[-1:])], axis=-1), -1, 0)
    integrator = h / np.expm1(s * h)
    answers[-1], integrator[-1] = answers[-1].real, integrator[-1].real  # rounding of e^(j pi) aside, they are
    both, without = frequency_response.regular_factor(sampled.poles, h, s[:-1], ends)
    return CoupledResponse(
        sampled=sampled, frequency=frequency, log_frequency=np.log(frequency), answers=_pairs(answers),
        integrator=_pairs(np.asarray(integrator, complex)), regular=_pairs(without), rest=_pairs(both / without),
    )  # fmt: skip


def _pairs(values: Complex) -> Array:
    """Real and imaginary parts on a last axis."""
    return np.ascontiguousarray(np.stack([values.real, values.imag], axis=-1))


def _levels(answers: Complex, s: Complex, sample_time: float, gains: Array) -> Array:
    """Sizes of all L_ij [n_s, n_channels, n_channels] that gains [n_channels, 3] make at most."""
    sizes, integrator = np.abs(answers), np.abs(sample_time / np.expm1(s * sample_time))
    of_output = (gains[:, 0, None] + gains[:, 1, None] * integrator)[:, None]
    return np.moveaxis(of_output * sizes[0] + gains[:, 2, None, None] * sizes[1], -1, 0)


def _coarse(
    sampled: SampledLoops, points: Array, answers: Complex, largest: Array, ends: tuple[float, float]
) -> NDArray[np.bool_]:
    """Which intervals [n_w - 1] of the grid are to be halved: where what takes part in a loop turns too far."""
    s, h = np.asarray(1j * points), sampled.sample_time
    lag = points * sampled.samples * h
    known = np.where(answers == 0.0, 1.0, answers) * np.exp(1j * lag)  # 0: a path that is not there
    steps = np.abs(np.log(known[..., 1:] / known[..., :-1]) - 1j * np.diff(lag))
    counts = _largest_cycle(_levels(answers, s, h, largest)) > RELEVANT
    counts = np.moveaxis(counts[1:] | counts[:-1], 0, -1)
    both, without = frequency_response.regular_factor(sampled.poles, h, s, ends)
    factor = without * (both / without) ** len(sampled.loops)
    turns = np.abs(np.log(factor[1:] / factor[:-1]))
    return np.asarray((counts & (steps > _STEP)).any(axis=(0, 1, 2)) | (turns > _STEP))


def _largest_cycle(levels: Array) -> Array:
    """The largest mean gain of a way round through several channels on which each L_ij lies [n_s, n, n].

    Determinants hold nothing but such products: they do not depend on the units of the channels.
    """
    n, found = levels.shape[-1], np.zeros_like(levels)
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            for order in permutations(chosen[1:]):
                way = (chosen[0], *order)
                steps = list(zip(way, (*way[1:], way[0]), strict=True))
                mean = np.prod([levels[:, i, j] for i, j in steps], axis=0) ** (1.0 / size)
                for i, j in steps:
                    found[:, i, j] = np.maximum(found[:, i, j], mean)
    return found
