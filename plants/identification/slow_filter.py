"""The Kalman filter row by row in plain NumPy, for one parameter set: the reference of the compiled one.

It keeps what it sees, so it is also what pictures and tests of residuals are made from; :func:`smoothed` adds the loads
as all rows together tell them (Rauch, Tung and Striebel, AIAA Journal 3, 1965).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.identification.row import PER_CENT, ExactStep, Row, curved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.identification.record import LoopRecord
    from plants.identification.row import PlantStructure, Spans, StartOfLog

    Array = NDArray[np.float64]

SKIPPED = 3
"""First rows that do not count: the filter does not know yet where the loop is."""

VAGUE = 1e4
"""Variance of the walking load at the start, in percent squared."""

_BENT, _SLOPE = 16.0, 8.0  # squared innovations count in full up to four deviations, in proportion beyond


@dataclass(frozen=True, eq=False)
class Filtered:
    """What a filter saw.

    Attributes
    ----------
    log_likelihood : float
    innovation, variance : array [n]
        Of each row's measured output, before it is known; NaN where it is missing.
    state, covariance : array [n, 4], [n, 4, 4]
        Of (inner, y, d, c), deviations from the origin, when each row's output is known.
    ahead, ahead_covariance : array [n, 4], [n, 4, 4]
        The same of the next row, before its output is known.
    transition : array [n, 4, 4]
        From each row to the next.
    """

    log_likelihood: float
    innovation: Array
    variance: Array
    state: Array
    covariance: Array
    ahead: Array
    ahead_covariance: Array
    transition: Array


def bent(squared: Array | float) -> Array:
    """Return what a squared standard innovation counts: itself up to 16, beyond it in proportion to its root."""
    squared = np.asarray(squared, float)
    return np.where(squared <= _BENT, squared, _SLOPE * np.sqrt(np.maximum(squared, _BENT)) - _BENT)


def filtered(
    structure: PlantStructure, record: LoopRecord, parameters: Array, sense: float = 1.0, spans: Spans = PER_CENT
) -> Filtered:
    """Run the filter over a record.

    Parameters
    ----------
    structure : PlantStructure
    record : LoopRecord
    parameters : array [n_parameters]
    sense : float
        1 or -1.
    spans : (output, input)
        Of the signals: what is vague at the start is so in hundredths of them.
    """
    values = dict(zip(structure.parameters, parameters.tolist(), strict=True))
    transition, own_noise, acting = _rows(structure, record, np.atleast_2d(parameters), values)
    inputs = sense * curved(record.input - record.origin[1], values["curve"])
    pushes = np.einsum("kip,kp->ki", acting.shares, inputs[acting.rows])
    measured, origin = record.measured, record.origin[0]
    start = float(record.output[measured][0]) - origin
    begun = structure.start(np.atleast_2d(parameters), spans)
    state = np.array([begun.share[0] * inputs[0], start, 0.0, 0.0])
    covariance = _start(values, begun, spans)
    n, total = len(record), 0.0
    innovations, variances = np.full(n, np.nan), np.full(n, np.nan)
    states, covariances = np.empty((2, n, 4)), np.empty((2, n, 4, 4))
    for k in range(n):
        if measured[k]:
            innovations[k] = record.output[k] - origin - state[1]
            variances[k] = covariance[1, 1] + values["noise"] ** 2
            gain = covariance[:, 1] / variances[k]
            state, covariance = state + gain * innovations[k], covariance - np.outer(gain, covariance[1])
            if k >= SKIPPED:
                total -= 0.5 * float(np.log(variances[k]) + bent(innovations[k] ** 2 / variances[k]))
        states[0, k], covariances[0, k] = state, covariance
        state = transition[k] @ state
        state[:2] += pushes[k]
        covariance = transition[k] @ covariance @ transition[k].T + own_noise[k]
        states[1, k], covariances[1, k] = state, covariance
    return Filtered(total, innovations, variances, states[0], covariances[0], states[1], covariances[1], transition)


def smoothed(found: Filtered) -> tuple[Array, Array]:
    """Return states [n, 4] and their covariances [n, 4, 4] as all rows together tell them."""
    state, covariance = found.state.copy(), found.covariance.copy()
    for k in range(len(state) - 2, -1, -1):
        gain = np.linalg.solve(found.ahead_covariance[k], found.transition[k] @ found.covariance[k]).T
        state[k] += gain @ (state[k + 1] - found.ahead[k])
        covariance[k] += gain @ (covariance[k + 1] - found.ahead_covariance[k]) @ gain.T
    return state, covariance


@dataclass(frozen=True, eq=False)
class _ActingInputs:
    """Which rows' inputs act in each row [n, n_pieces], and what they give to (inner, y) [n, 2, n_pieces]."""

    rows: NDArray[np.intp]
    shares: Array


def _rows(
    structure: PlantStructure, record: LoopRecord, parameters: Array, values: dict[str, float]
) -> tuple[Array, Array, _ActingInputs]:
    """Transitions and noise of all rows [n, 4, 4], and the inputs that act in them."""
    many = np.broadcast_to(parameters, (len(record), parameters.shape[1]))
    whole = ExactStep.of(structure, many, record.lasting)
    fading = np.exp(-record.lasting / values["load_time"])
    transition, noise = np.zeros((2, len(record), 4, 4))
    transition[:, :2, :2], transition[:, 2, 2], transition[:, 3, 3] = whole.states, 1.0, fading
    transition[:, :2, 2] = transition[:, :2, 3] = whole.input
    noise[:, 2, 2], noise[:, 3, 3] = values["walk"] ** 2 * record.lasting, values["load"] ** 2 * (1.0 - fading**2)
    if record.times is not None:
        return transition, noise, _uneven_inputs(structure, record, parameters)
    row, rows = Row.of(structure, parameters, record.step), np.arange(len(record))
    late = rows - int(row.rows[0])
    shares = np.broadcast_to(np.stack([row.before[0], row.after[0]], axis=1), (len(record), 2, 2))
    return transition, noise, _ActingInputs(np.maximum(np.stack([late - 1, late], axis=1), 0), shares)


def _uneven_inputs(structure: PlantStructure, record: LoopRecord, parameters: Array) -> _ActingInputs:
    """Every row is parted where the input of a row begins to act; what a piece gives goes on to the end of the row."""
    late = float(structure.dead_time(parameters)[0])
    begins, n = record.instants + late, len(record)
    ends = record.instants + record.lasting
    parts = []
    for k in range(n):
        inside = begins[(begins > record.instants[k]) & (begins < ends[k])]
        edges = np.concatenate([[record.instants[k]], inside, [ends[k]]])
        acting = np.maximum(np.searchsorted(begins, edges[:-1], side="right") - 1, 0)
        lengths, after = np.diff(edges), ends[k] - edges[1:]
        several = np.broadcast_to(parameters, (len(lengths), parameters.shape[1]))
        pieces, rest = ExactStep.of(structure, several, lengths), ExactStep.of(structure, several, after)
        parts.append((acting, np.einsum("pij,pj->ip", rest.states, pieces.input)))
    most = max(len(acting) for acting, _ in parts)
    rows, shares = np.zeros((n, most), np.intp), np.zeros((n, 2, most))
    for k, (acting, given) in enumerate(parts):
        rows[k, : len(acting)], shares[k, :, : len(acting)] = acting, given
    return _ActingInputs(rows, shares)


def _start(values: dict[str, float], begun: StartOfLog, spans: Spans) -> Array:
    output, given = ((span / 100.0) ** 2 for span in spans)
    known = 4.0 * values["noise"] ** 2 + output
    covariance = np.diag([begun.variance[0], known, VAGUE * given, values["load"] ** 2])
    covariance[0, 2] = covariance[2, 0] = begun.shared[0]
    return covariance
