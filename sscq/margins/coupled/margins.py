"""Margins of each of several channels, its loop opened while the others stay closed with their own gains.

    responses = coupled_responses(plants, loops, low, high)         # once per search
    coupled_penalty(gains, responses, MarginLimits(1.8, 0.05))      # gains [..., 3 n_channels] -> [n_channels, ...]
    coupled_margins(gains, responses)[0].worst()                    # of the first channel

All channels are stable together or none is. One loop at a time is what is asked: that all loops change at once, each by
less than its own margin, is not covered (J. C. Doyle, Robustness of multiloop linear feedback systems, Proc. 17th IEEE
Conf. Decision and Control (1978) 12-18).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel.run import call_in_chunks, thread_count
from sscq.margins import kernel
from sscq.margins.coupled.kernel import evaluate_together
from sscq.margins.coupled.sampled_loops import GAINS
from sscq.margins.margins import LoopMargins, asked_of_kernel, charge, check_gains, tame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sscq.margins.coupled.frequency_response import CoupledResponse
    from sscq.margins.coupled.screen import ScreenedTogether
    from sscq.margins.margins import MarginLimits

    Array = NDArray[np.float64]

_ROUNDING = 1e-9  # of a growth per sample: a mode at rest, also a multiple one, is not stable
_SLOW = 1e-6  # of what kp and kd do: an integral that adds less in a sample, and leaves a mode at rest, takes no part
_POINTS = 8  # operating points in one call of a thread
_BLOCK, _BLOCKS = 32, 4  # gain sets that are looked at together, and such blocks in one call of a thread


def coupled_margins(gains: ArrayLike, responses: Sequence[CoupledResponse]) -> tuple[LoopMargins, ...]:
    """Compute all margins of all channels.

    Parameters
    ----------
    gains : array [gain_set, 3 n_channels] or [3 n_channels]
        kp, ki, kd of each channel in turn.
    responses : sequence of CoupledResponse

    Returns
    -------
    tuple of LoopMargins
        One for each channel; `stable` and `growth` are those of all loops together.
    """
    rows = np.atleast_2d(_checked(gains, responses))
    tables = np.array([_table(rows, response) for response in responses])  # [point, gain set, channel, column]
    names = tuple(r.name for r in responses)
    found = []
    for i in range(tables.shape[2]):
        values = {key: np.ascontiguousarray(tables[:, :, i, k].T) for k, key in enumerate(kernel.COLUMNS)}
        found.append(LoopMargins(names, values.pop("verdict") == kernel.STABLE, **values))
    return tuple(found)


def limited_coupled_margins(
    gains: ArrayLike, responses: Sequence[CoupledResponse], threads: int | None = 1, *, delays: bool = True
) -> Array:
    """Return what limits are put on, of gain sets [operating_point, gain_set, 3 n_channels], each point's own.

    Parameters
    ----------
    gains : array [operating_point, gain_set, 3 n_channels]
        kp, ki, kd of each channel in turn.
    responses : sequence of CoupledResponse
    threads : int, optional
        None: all processors. The result does not depend on it.
    delays : bool
        False: delay margins, which are limited at rest alone, are not computed, and 0.

    Returns
    -------
    array [3, operating_point, gain_set]
        1 where all loops together are stable, else 0; of the worst channel maximum sensitivity and delay margin [s].
    """
    own = _checked(gains, responses)
    table = np.zeros((*own.shape[:2], own.shape[2] // GAINS, len(kernel.COLUMNS)))
    level = kernel.DELAY if delays else kernel.SENSITIVITY

    def fill(first: int, last: int) -> None:
        for number in range(first, last):
            table[number] = _table(own[number], responses[number], level)

    call_in_chunks(fill, len(responses), _POINTS, thread_count(threads))
    stable = (table[..., 0] == kernel.STABLE).all(axis=-1)
    return np.stack([stable, table[..., 2].max(axis=-1), table[..., 7].min(axis=-1)])


def coupled_penalty(
    gains: ArrayLike, responses: Sequence[CoupledResponse], limits: MarginLimits, threads: int | None = 1
) -> Array:
    """Return by how much gain sets violate the limits, for each channel: finite and graded everywhere.

    A stable channel pays what :func:`sscq.margins.margins.penalty` asks of a single loop. Where the loops are unstable
    together each pays 2 + g / (g + w), with the growth rate g.

    Parameters
    ----------
    gains : array [..., 3 n_channels]
        Sets that are not finite pay 3 for each channel at each point.
    responses : sequence of CoupledResponse
    limits : MarginLimits
    threads : int, optional
        None: all processors. The result does not depend on it.

    Returns
    -------
    array [n_channels, ...]
        Between 0 and 3 times the number of operating points.
    """
    gains = _checked(gains, responses)
    rows = gains.reshape(-1, gains.shape[-1])
    paid = np.zeros((len(rows), gains.shape[-1] // GAINS))
    quick = limits.delay_margin <= 0.0  # a quick look tells no delay margin
    looks = [response.screened if quick else None for response in responses]

    def pay(first: int, last: int) -> None:
        part = slice(first * _BLOCK, last * _BLOCK)
        for response, look in zip(responses, looks, strict=True):  # sums of the same numbers in the same order
            paid[part] += _paid(rows[part], response, look, limits)

    call_in_chunks(pay, -(-len(rows) // _BLOCK), _BLOCKS, thread_count(threads))
    return np.moveaxis(paid.reshape(*gains.shape[:-1], -1), -1, 0)


def _paid(rows: Array, response: CoupledResponse, look: ScreenedTogether | None, limits: MarginLimits) -> Array:
    """What gain sets pay at one operating point [gain set, channel]; a quick look spares what it is sure of."""
    level, enough = asked_of_kernel(limits)
    if look is None:
        return charge(_table(rows, response, level, enough), response.rate, limits)
    gains, wild = tame(rows)
    stable, far = look.look(gains, enough)
    stable &= ~wild
    paid = np.zeros((len(rows), gains.shape[1] // GAINS))
    for part, seen in ((~stable, None), (stable & ~far.all(axis=1), far)):
        if part.any():
            spared = None if seen is None else seen[part]
            paid[part] = charge(
                _table(rows[part], response, level, enough, spared, stable[part]), response.rate, limits
            )
    return paid


def _table(
    gains: Array,
    response: CoupledResponse,
    level: int = kernel.FULL,
    enough: float = np.inf,
    far: NDArray[np.bool_] | None = None,
    sure: NDArray[np.bool_] | None = None,
) -> Array:
    """Kernel results [gain set, channel, column]; where a quick look cannot tell stable loops, their eigenvalues do.

    Where it is known which loops stay `far` enough from -1 [gain set, channel], results of these are not computed:
    their sensitivity is put at 1. `sure` are those known to be stable [gain set]; None: not looked at yet.
    """
    gains, wild = tame(gains)
    table = np.zeros((len(gains), len(response.sampled.loops), len(kernel.COLUMNS)))
    if far is None:
        far = np.zeros(table.shape[:2], bool)
    if sure is None:
        look = response.screened
        sure = np.zeros(len(gains), bool) if look is None else look.look(gains, 1.0)[0] & ~wild
    gains, growth = gains.copy(), np.full(len(gains), -np.inf)
    if not sure.all():
        gains[~sure], growth[~sure] = _grown(gains[~sure], response)
        growth[wild] = np.inf
    stable = growth < -_ROUNDING / response.sampled.sample_time
    rows = np.ascontiguousarray(gains[stable])
    if len(rows):
        found, passed = np.zeros((len(rows), *table.shape[1:])), far[stable].astype(np.int64)
        evaluate_together(
            rows, response.log_frequency, response.answers, response.integrator, response.regular, response.rest,
            response.sampled.at_rest(rows), response.sampled.sample_time, level, enough, passed, found,
        )  # fmt: skip
        table[stable] = found
    table[~stable, :, 0], table[~stable, :, 1] = kernel.UNSTABLE, np.maximum(growth[~stable], 0.0)[:, None]
    table[~stable, :, 2:4], table[~stable, :, 4:] = np.inf, 0.0
    return table


def _grown(gains: Array, response: CoupledResponse) -> tuple[Array, Array]:
    """Gains and the growth rates of their loops [1/s], without integrals too slow to be told from none.

    Between two rules one of which has no integral action, ki may be as small as one likes. Its mode is then at rest to
    rounding, but is no failure: in a thousand million samples it does nothing.
    """
    growth, sample = response.sampled.growth(gains), response.sampled.sample_time
    resting = np.abs(growth) <= _ROUNDING / sample
    if not resting.any():
        return gains, growth
    kp, ki, kd = (np.abs(gains[resting, k::GAINS]) for k in range(GAINS))
    slow = gains[resting]
    slow[:, 1::GAINS][ki * sample <= _SLOW * (kp + kd / sample)] = 0.0
    gains, growth = gains.copy(), growth.copy()
    gains[resting], growth[resting] = slow, response.sampled.growth(slow)
    return gains, growth


def _checked(gains: ArrayLike, responses: Sequence[CoupledResponse]) -> Array:
    return check_gains(gains, GAINS * len(responses[0].sampled.loops), "kp, ki, kd of each channel")
