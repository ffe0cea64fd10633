"""The filter that reads logs: sixteen parameter sets side by side, one at a time, and by another program."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner.report import FigureSection, at_least
from experiments.runtime.timing import alternate, ratio
from plants.core.kernel.kernel import LANES
from plants.identification.lane_filter import each_log_likelihood
from plants.identification.record import LoopRecord
from plants.identification.row import PER_CENT, Row, curved
from plants.identification.slow_filter import VAGUE
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.prior import LoopScales, TwoLagsPrior

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.runner.size import Size
    from plants.identification.row import PlantStructure

    Array = NDArray[np.float64]

_PEER = "statsmodels"
_ROWS, _MOST = 600, 16_000
_FASTER, _PER_ROW = 3.0, 4.0  # than one lane; ns a row and likelihood
_OTHERS = 20  # likelihoods that the other program is timed with


def log_filter(size: Size) -> FigureSection:
    """Time likelihoods of plants drawn from the prior, on a log of ten minutes."""
    rng = np.random.default_rng(1)
    u = 40.0 + np.repeat(rng.uniform(-6.0, 6.0, _ROWS // 30), 30)
    y = 50.0 + np.convolve(u - 40.0, 0.05 * np.exp(-np.arange(_ROWS) / 30.0))[:_ROWS] + 0.1 * rng.standard_normal(_ROWS)
    record = LoopRecord(y, u, 1.0)
    prior = TwoLagsPrior(LoopScales.of([record]))
    n = min(size.candidates, _MOST) // LANES * LANES
    plants = prior.parameters(prior.draws(n, rng))
    moving = LoopRecord(y, u + 0.1 * rng.standard_normal(_ROWS), 1.0)
    calls: dict[str, Callable[[], object]] = {
        "16 lanes, an input that always moves": lambda: each_log_likelihood(TWO_LAGS, [moving], plants, threads=1),
        "16 lanes": lambda: each_log_likelihood(TWO_LAGS, [record], plants, threads=1),
        "one lane": lambda: each_log_likelihood(TWO_LAGS, [record], plants, threads=1, lanes=1),
    }
    if importlib.util.find_spec(_PEER) is not None:
        calls[_PEER] = lambda: [by_statsmodels(TWO_LAGS, record, one).loglike() for one in plants[:_OTHERS]]
    times = alternate(calls, size.rounds)
    section = FigureSection("log_filter", "Likelihoods of plants in a log of 600 rows")
    for name, timing in times.items():
        section.time(f"{name}, a row", timing, "ns", 1e9 / (_ROWS * (_OTHERS if name == _PEER else n)))
    factor = ratio(times["one lane"], times["16 lanes"])
    section.ratio("one lane / 16 lanes", factor, at_least(factor, _FASTER))
    if _PEER in times:
        best, median = ratio(times[_PEER], times["16 lanes"])
        share = n / _OTHERS
        section.ratio(f"{_PEER} / 16 lanes, as many likelihoods", (share * best, share * median))
    else:
        section.notes.append(f"{_PEER} is not installed: no other program is timed.")
    each = times["16 lanes"].best * 1e9 / (_ROWS * n)
    section.notes.append(
        f"Asked: at most {_PER_ROW:g} ns a row and likelihood; {'met' if each <= _PER_ROW else 'MISSED'}."
    )
    same = (
        each_log_likelihood(TWO_LAGS, [record], plants[:64]).tobytes()
        == each_log_likelihood(TWO_LAGS, [record], plants[:64], lanes=1).tobytes()
    )
    section.notes.append(f"Both widths give {'the same bits' if same else 'DIFFERENT BITS'}.")
    return section


def by_statsmodels(structure: PlantStructure, record: LoopRecord, parameters: Array) -> Any:
    """Return statsmodels' filter of the same model, prepared as a user of it would: its `filter()` and `loglike()`.

    Parameters
    ----------
    structure : PlantStructure
    record : LoopRecord
    parameters : array [n_parameters]
    """
    row = Row.of(structure, parameters[None], record.step)
    given = dict(zip(structure.parameters, parameters.tolist(), strict=True))
    output = record.output - record.origin[0]
    model = import_module(f"{_PEER}.tsa.statespace.kalman_filter").KalmanFilter(k_endog=1, k_states=4)
    model.bind(output[None])
    transition = np.eye(4)
    transition[:2, :2], transition[3, 3] = row.whole.states[0], row.fading[0]
    transition[:2, 2] = transition[:2, 3] = row.whole.input[0]
    model["design"], model["transition"], model["selection"] = np.array([[0.0, 1.0, 0.0, 0.0]]), transition, np.eye(4)
    model["obs_cov"] = np.array([[given["noise"] ** 2]])
    noise = [0.0, 0.0, given["walk"] ** 2 * record.step, given["load"] ** 2 * (1.0 - row.fading[0] ** 2)]
    model["state_cov"] = np.diag(noise)
    acting = curved(record.input - record.origin[1], given["curve"])
    late, rows = int(row.rows[0]), np.arange(len(record))
    intercept = np.zeros((4, len(record)))
    for share, more in ((row.before[0], 1), (row.after[0], 0)):
        intercept[:2] += np.outer(share, acting[np.maximum(rows - late - more, 0)])
    model["state_intercept"] = intercept
    begun = structure.start(parameters[None], PER_CENT)
    covariance = np.diag([begun.variance[0], 4.0 * given["noise"] ** 2 + 1.0, VAGUE, given["load"] ** 2])
    covariance[0, 2] = covariance[2, 0] = begun.shared[0]
    first = output[record.measured][0]
    model.initialize_known(np.array([begun.share[0] * acting[0], first, 0.0, 0.0]), covariance)
    return model
