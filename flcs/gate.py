"""The gate of blended knowledge bases: shares that are positive and sum up to 1, from error and error rate.

A soft-max of functions linear in the signals, fitted so that the blend repeats a teaching signal, by a quasi-Newton
method with the exact gradient.
Source: R. A. Jacobs, M. I. Jordan, S. J. Nowlan and G. E. Hinton, Adaptive mixtures of local experts, Neural
Computation 3 (1991) 79.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import clip, exp, maximum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.knowledge_base import KnowledgeBase
    from flcs.membership import Number, Numbers
    from flcs.teaching_rows import TeachingRows

    Array = NDArray[np.float64]

_FARTHEST = 3.0  # standard deviations of the taught signals: beyond, the gate sees the edge


@dataclass(frozen=True)
class Gate:
    """Shares of the bases, from error and error rate of every channel.

    Attributes
    ----------
    centre, scale : tuple of float [n_signals]
        The signals are shifted and divided by these, then limited to +-3.
    weights : tuple of tuples [n_bases][1 + n_signals]
        Constant and slopes of each base's logarithmic odds.
    """

    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]

    def shares(self, s: Numbers) -> list[Number]:
        """Return the shares [n_bases], which sum up to 1, for signals [n_signals]: a block."""
        far = [
            clip((value - c) / width, -_FARTHEST, _FARTHEST)
            for value, c, width in zip(s, self.centre, self.scale, strict=True)
        ]
        odds = [row[0] + sum(a * b for a, b in zip(row[1:], far, strict=True)) for row in self.weights]
        highest = reduce(maximum, odds)
        powers = [exp(value - highest) for value in odds]
        total = sum(powers[1:], powers[0])
        return [power / total for power in powers]


def fit_gate(kbs: Sequence[KnowledgeBase], signal: Any, *, ridge: float = 1e-3) -> Gate:
    """Return the gate with which the blend repeats a teaching signal best.

    Minimised: sum_t w_t |K_t - sum_s pi_s(x_t) K_s(x_t)|^2 / sum_t w_t, gains as shares of their box, plus `ridge`
    times the squares of the slopes; from equal shares on.

    Parameters
    ----------
    kbs : sequence of KnowledgeBase
    signal : teaching signal
        As for :func:`flcs.design`: the rows of all situations.
    """
    from scipy.optimize import minimize

    from flcs.imitation import arranged
    from flcs.teaching_rows import TeachingRows

    rows = TeachingRows.of(signal)
    low, high = (np.array([v for base in kbs[0].channels for v in getattr(base, end)]) for end in ("low", "high"))
    span = np.where(high > low, high - low, 1.0)
    guesses = np.array([kb.gains(arranged(kb, rows).inputs) for kb in kbs]) / span  # [base, row, gain]
    seen, centre, scale = _seen(rows)
    share = rows.weight / max(rows.weight.sum(), 1e-300)

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(len(kbs), -1)
        odds = seen @ weights.T
        powers = np.exp(odds - odds.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        missed = np.einsum("ts,stg->tg", shares, guesses) - rows.gains / span
        slope = 2.0 * np.einsum("t,tg,stg->ts", share, missed, guesses)
        slope = shares * (slope - (shares * slope).sum(axis=1, keepdims=True))
        slopes = np.hstack([np.zeros((len(kbs), 1)), weights[:, 1:]])
        gradient = slope.T @ seen + 2.0 * ridge * slopes
        value = float((share[:, None] * missed**2).sum() + ridge * (slopes**2).sum())
        return value, gradient.ravel()

    found = minimize(loss, np.zeros(len(kbs) * seen.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    weights = found.x.reshape(len(kbs), -1)
    return Gate(tuple(centre.tolist()), tuple(scale.tolist()), tuple(map(tuple, weights.tolist())))


def _seen(rows: TeachingRows) -> tuple[Array, Array, Array]:
    """Ones and scaled signals [n, 1 + n_signals], their centre and their scale."""
    columns = [rows.column_of(name, channel) for channel in range(rows.n_channels) for name in ("e", "e_rate")]
    signals = rows.inputs[:, columns]
    centre, scale = signals.mean(axis=0), np.maximum(signals.std(axis=0), 1e-12)
    far = np.clip((signals - centre) / scale, -_FARTHEST, _FARTHEST)
    return np.hstack([np.ones((len(far), 1)), far]), centre, scale
