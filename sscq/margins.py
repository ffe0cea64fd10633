"""Stability margins of many PID gain sets at many operating points, fast enough to be a constraint of a search.

    responses = loop_responses(plants, loop, low, high)         # once per search
    penalty(gains, responses, MarginLimits(1.8, 0.05))          # gains [..., 3] -> [...], 0 where all limits are kept
    loop_margins(gains, responses).worst()                      # what a report prints

The set of stabilising gains is not convex, so a schedule is judged on samples of the hull of its rules and the
reference gains (:func:`hull_samples`), not on its corners. Margins belong to gains that stand still: they say nothing
about how fast a schedule may move them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.run import call_in_chunks, thread_count
from sscq import margin_kernel, margin_screen
from sscq.frequency_response import LoopResponse, loop_responses
from sscq.linear_loop import LinearPlant, Loop
from sscq.margin_table import LoopMargins, Margins, Worst
from sscq.sampled_loop import spectral_radius

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

__all__ = [
    "LinearPlant",
    "Loop",
    "LoopMargins",
    "LoopResponse",
    "MarginLimits",
    "Margins",
    "Worst",
    "hull_samples",
    "loop_margins",
    "loop_responses",
    "penalty",
    "spectral_radius",
]

_HUGE = 1e100  # gains beyond are no numbers: their squares would overflow
_ROUNDING = 1e-12  # of an eigenvalue: a mode at rest is not stable
_BLOCK, _BLOCKS = 128, 8  # gain sets that are looked at together, and such blocks in one call of a thread
_CONCENTRATIONS = (0.1, 0.3, 1.0)  # of the hull's weights in turn: near corners and edges, between, uniform


@dataclass(frozen=True)
class MarginLimits:
    """What every frozen loop of a schedule must keep.

    No limit on the gain margin is needed: a maximum sensitivity Ms bounds it by Ms / (Ms - 1), and the phase margin by
    2 asin(1 / (2 Ms)) (Astrom and Hagglund, Advanced PID Control, sec. 4.6).

    Attributes
    ----------
    sensitivity : float
        Largest allowed maximum sensitivity, above 1.
    delay_margin : float
        Least delay margin [s]; 0: no limit.
    """

    sensitivity: float = 2.0
    delay_margin: float = 0.0

    def __post_init__(self) -> None:
        """Check."""
        if not 1.0 < self.sensitivity < math.inf:
            raise ValueError(f"sensitivity must be a finite limit above 1, got {self.sensitivity}")
        if not 0.0 <= self.delay_margin < math.inf:
            raise ValueError(f"delay_margin must be a finite time >= 0 [s], got {self.delay_margin}")


def loop_margins(gains: ArrayLike, responses: Sequence[LoopResponse]) -> LoopMargins:
    """Compute all margins of gain sets.

    Parameters
    ----------
    gains : array [gain_set, 3] or [3]
        kp, ki, kd.
    responses : sequence of LoopResponse
        From :func:`loop_responses`.

    Returns
    -------
    LoopMargins
    """
    table = _table(np.atleast_2d(_checked(gains)), responses)
    values = {key: np.ascontiguousarray(table[:, :, i].T) for i, key in enumerate(margin_kernel.COLUMNS)}
    verdict = values.pop("verdict")
    return LoopMargins(tuple(r.name for r in responses), verdict == margin_kernel.STABLE, **values)


def penalty(gains: ArrayLike, responses: Sequence[LoopResponse], limits: MarginLimits, threads: int | None = 1) -> Any:
    """Return by how much gain sets violate the limits, summed over operating points: finite and graded everywhere.

    A stable loop pays max(0, 1 - limit / Ms) + max(0, 1 - delay margin / limit): the relative violation to first order,
    and 2 at the boundary of stability. An unstable one pays 2 + g / (g + w), with its growth rate g and the loop's own
    rate w: less than 3.

    Parameters
    ----------
    gains : array [..., 3]
        kp, ki, kd; sets that are not finite pay 3 at each point.
    responses : sequence of LoopResponse
    limits : MarginLimits
    threads : int, optional
        None: all processors. The result does not depend on it.

    Returns
    -------
    array [...]
        Between 0 and 3 times the number of operating points.
    """
    gains = _checked(gains)
    rows = np.require(gains.reshape(-1, 3), requirements=["C", "W"])  # one compilation for all
    paid = np.zeros(len(rows))

    def pay(first: int, last: int) -> None:
        part = slice(first * _BLOCK, last * _BLOCK)
        for response in responses:  # in their order: sums of the same numbers in the same order
            unsure = np.flatnonzero(~_surely_kept(rows[part], response, limits))
            paid[part][unsure] += _paid(rows[part][unsure], response, limits)

    call_in_chunks(pay, -(-len(rows) // _BLOCK), _BLOCKS, thread_count(threads))
    return paid.reshape(gains.shape[:-1])


def _surely_kept(rows: Array, response: LoopResponse, limits: MarginLimits) -> NDArray[np.bool_]:
    """Gain sets that pay nothing at an operating point, as far as a quick look tells; a delay margin it does not."""
    if limits.delay_margin > 0.0 or response.sampled.hidden_growth > 0.0:
        return np.zeros(len(rows), dtype=bool)
    distance = (1.0 + _ROUNDING) / limits.sensitivity
    parts = (response.basis, response.regular[0], response.at_rest, response.at_nyquist)
    return margin_screen.kept(rows, *parts, distance) & (np.abs(rows) < _HUGE).all(axis=1)


def _paid(rows: Array, response: LoopResponse, limits: MarginLimits) -> Array:
    """What gain sets pay at one operating point."""
    level = margin_kernel.DELAY if limits.delay_margin > 0.0 else margin_kernel.SENSITIVITY
    table = _table(rows, [response], level, (1.0 + _ROUNDING) / limits.sensitivity)[0]
    violation = np.maximum(0.0, 1.0 - limits.sensitivity / table[:, 2])
    if limits.delay_margin > 0.0:
        violation += np.maximum(0.0, 1.0 - table[:, 7] / limits.delay_margin)
    unstable = 3.0 - response.rate / (table[:, 1] + response.rate)
    return np.where(table[:, 0] == margin_kernel.STABLE, violation, unstable)


def hull_samples(gains: ArrayLike, reference: ArrayLike, n: int, seed: int) -> Array:
    """Draw gain sets that a schedule may give: its rules, the reference, and convex combinations of them.

    The weights are Dirichlet distributed with concentrations 0.1, 0.3 and 1 in turn, so that corners, edges and the
    interior are all met. They depend on the seed and on the number of rules only: every candidate of a search is judged
    on the same combinations.

    Parameters
    ----------
    gains : array [..., n_rules, n_gains]
        Of one knowledge base, or of many.
    reference : array [n_gains] or [..., n_gains]
        The fixed gains that stand where no rule fires.
    n : int
        Number of combinations.
    seed : int

    Returns
    -------
    array [..., n_rules + 1 + n, n_gains]
        Rules, reference, combinations, in this order.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    gains, reference = np.asarray(gains, dtype=float), np.asarray(reference, dtype=float)
    if gains.ndim < 2 or reference.shape[-1:] != gains.shape[-1:]:
        raise ValueError(
            "gains must have shape [..., n_rules, n_gains] and reference [n_gains], "
            f"got {gains.shape} and {reference.shape}"
        )
    reference = np.broadcast_to(reference, (*gains.shape[:-2], gains.shape[-1]))
    corners = np.concatenate([gains, reference[..., None, :]], axis=-2)
    rng = np.random.default_rng(seed)
    size = corners.shape[-2]
    weights = [rng.dirichlet(np.full(size, _CONCENTRATIONS[i % len(_CONCENTRATIONS)])) for i in range(n)]
    return np.concatenate([corners, np.array(weights).reshape(n, size) @ corners], axis=-2)


def _checked(gains: ArrayLike) -> Array:
    gains = np.asarray(gains, dtype=float)
    if gains.shape[-1:] != (3,):
        raise ValueError(f"gains must have shape [..., 3] (kp, ki, kd), got {gains.shape}")
    return gains


def _table(
    gains: Array, responses: Sequence[LoopResponse], level: int = margin_kernel.FULL, enough: float = np.inf
) -> Array:
    """Kernel results [operating_point, gain_set, column], with doubtful verdicts settled by eigenvalues."""
    wild = np.asarray(~(np.abs(gains) < _HUGE).all(axis=1))
    gains = np.where(wild[:, None], 0.0, gains)
    table = np.zeros((len(responses), len(gains), len(margin_kernel.COLUMNS)))
    for response, out in zip(responses, table, strict=True):
        margin_kernel.evaluate(
            gains,
            response.log_frequency,
            response.basis,
            response.regular,
            response.at_rest,
            response.at_nyquist,
            response.log_frequency[::2].copy(),
            response.growth,
            response.rings,
            response.sampled.loop.sample_time,
            level,
            enough,
            out,
        )
        _settle(gains, wild, response, out)
    return table


def _settle(gains: Array, wild: NDArray[np.bool_], response: LoopResponse, out: Array) -> None:
    """Decide what the grid was too coarse for, loops with a hidden mode that grows, and gains that are no numbers."""
    hidden = response.sampled.hidden_growth
    asked = out[:, 0] == margin_kernel.DOUBTFUL
    if asked.any():
        radius = np.asarray(spectral_radius(response.sampled, gains[asked]))
        rate = np.log(np.maximum(radius, 1e-300)) / response.sampled.loop.sample_time
        out[asked, 0] = np.where(radius < 1.0 - _ROUNDING, margin_kernel.STABLE, margin_kernel.UNSTABLE)
        out[asked, 1] = np.maximum(rate, 0.0)
    out[wild, 0], out[wild, 1] = margin_kernel.UNSTABLE, np.inf
    lost = (out[:, 0] != margin_kernel.STABLE) | (hidden > 0.0)
    out[lost, 0], out[lost, 1] = margin_kernel.UNSTABLE, np.maximum(out[lost, 1], hidden)
    out[lost, 2:4], out[lost, 4:] = np.inf, 0.0
