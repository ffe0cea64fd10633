"""Several knowledge bases, blended by a small gate: K = sum_s pi_s(x) K_s(x) with pi_s >= 0 and sum_s pi_s = 1.

One base a situation, each with few rules, beside one pooled base with as many rules in all. The gate is a soft-max of
functions linear in error and error rate; it is fitted so that the blend repeats the teaching signal, by a quasi-Newton
method with the exact gradient. A blend of gains in their box is in the box.
Source: R. A. Jacobs, M. I. Jordan, S. J. Nowlan and G. E. Hinton, Adaptive mixtures of local experts, Neural
Computation 3 (1991) 79.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.fuzzy_controller import FuzzyController, FuzzySchedule
from plants.core.elementary import clip, exp, maximum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


@dataclass(frozen=True)
class BlendedSchedule:
    """Gains of all channels from several knowledge bases; see :class:`controllers.Schedule`.

    Attributes
    ----------
    kbs : tuple of KnowledgeBase
        Of the same channels, gains and tick; all their numbers are compiled in.
    gate : Gate
    """

    kbs: tuple[KnowledgeBase, ...]
    gate: Gate

    def __post_init__(self) -> None:
        """Check that the bases fit together."""
        if not self.kbs or len(self.gate.weights) != len(self.kbs):
            raise ValueError(f"a gate of {len(self.gate.weights)} shares needs as many bases, got {len(self.kbs)}")
        first = self.kbs[0]
        for kb in self.kbs:
            if (kb.gain_names, kb.tick) != (first.gain_names, first.tick) or kb.signals:
                raise ValueError(
                    f"blended knowledge bases need the same gains and tick, and error inputs only, got "
                    f"{kb.gain_names}, {kb.tick}, {kb.signals} beside {first.gain_names}, {first.tick}"
                )

    @cached_property
    def parts(self) -> tuple[FuzzySchedule, ...]:
        """The schedules of the bases."""
        return tuple(FuzzySchedule(kb, kb.inference.authority, ()) for kb in self.kbs)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains it gives."""
        return self.kbs[0].gain_names

    @property
    def theta_names(self) -> tuple[str, ...]:
        """No parameters."""
        return ()

    @property
    def tick(self) -> float | None:
        """Time between two updates [s]."""
        return self.kbs[0].tick

    @property
    def signals(self) -> tuple[str, ...]:
        """No extra plant outputs."""
        return ()

    @property
    def n_states(self) -> int:
        """Number of states: those of all bases."""
        return len(self.initial())

    def initial(self) -> tuple[float, ...]:
        """Return the states at t = 0, base after base."""
        return tuple(value for part in self.parts for value in part.initial())

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the gains at this tick and the new state: a block."""
        values: list[Numbers] = []
        states: list[Number] = []
        for part in self.parts:
            own, state = part.gains(t, s, k[len(states) : len(states) + part.n_states], theta)
            values.append(own)
            states += state
        shares = self.gate.shares(s)
        return tuple(_mixed(shares, column) for column in zip(*values, strict=True)), tuple(states)


def _mixed(shares: Sequence[Number], values: Sequence[Number]) -> Number:
    products = [share * value for share, value in zip(shares, values, strict=True)]
    return sum(products[1:], products[0])


@dataclass(frozen=True)
class BlendedController:
    """A controller for :func:`sscq.evaluate`: PID laws whose gains follow blended knowledge bases.

    Attributes
    ----------
    kbs : tuple of KnowledgeBase
    gate : Gate
    laws : tuple of laws, optional
        One per channel; left out, those that the first base was designed for.
    """

    kbs: tuple[KnowledgeBase, ...]
    gate: Gate
    laws: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Complete the laws."""
        object.__setattr__(self, "laws", FuzzyController(self.kbs[0], laws=self.laws).laws)

    @cached_property
    def schedule(self) -> BlendedSchedule:
        """The gain schedule."""
        return BlendedSchedule(self.kbs, self.gate)


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


def per_situation(kb_of: Callable[[TeachingRows], KnowledgeBase], signal: Any) -> list[KnowledgeBase]:
    """Return one knowledge base for the rows of each situation: ``kb_of(rows)`` makes it, as :func:`flcs.design`."""
    from flcs.teaching_rows import TeachingRows

    rows = TeachingRows.of(signal)
    return [kb_of(rows.chosen(rows.situation == number)) for number in np.unique(rows.situation)]
