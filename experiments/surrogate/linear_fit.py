"""A linear model of low order with dead time, fitted to runs by its simulated output.

All outputs share one denominator; for given poles and dead time the output is linear in numerators, initial state and
rest values, so these follow from linear least squares and only the poles are searched (variable projection).
Source: G. H. Golub and V. Pereyra, Inverse Problems 19 (2003) R1; L. Ljung, System Identification, 2nd ed. (Prentice
Hall, 1999), sec. 7.3 (output error).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import lfilter

from sscq.margins.hold import hold_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from experiments.surrogate.runs import Run

    Array = NDArray[np.float64]

_ENOUGH = 1.1  # times the best error: a lower order that comes so near is taken
_SMALL = 0.02  # of the spread in all runs: moves smaller than that are not blown up
_TINY = 1e-3  # of the outputs' spread: beyond that there is nothing left to explain
_LATE = (0, 1, 2, 3, 5, 8, 13, 20, 30)  # steps of dead time that are tried
_KEPT, _REFINED = 6, 3  # poles for which all dead times are tried, and starts that are refined
_SEARCHED = 40  # evaluations of a search for poles
_FASTEST = 1.0  # poles times the step: faster ones cannot be told from the sampled outputs
_BAD = 1e3  # residual where there is no response


@dataclass(frozen=True, eq=False)
class LinearFit:
    """x' = A x + B (u - u0), y = offset + C x with x(0) = initial, and how well it fits.

    Attributes
    ----------
    A, B, C, offset, initial : arrays
    late : int
        Dead time in steps.
    error : float
        Root mean square of the simulated outputs' error, as a share of their spread in each run.
    order : int
        Of the denominator.
    """

    A: Array
    B: Array
    C: Array
    offset: Array
    initial: Array
    late: int
    error: float
    order: int


def fit(runs: Sequence[Run], rest: Array, step: float, highest: int = 3) -> LinearFit:
    """Return the model of the lowest order that explains the runs about as well as the best.

    Parameters
    ----------
    runs : sequence of Run
    rest : array [n_u]
        u0.
    step : float
        [s].
    highest : int
        Order of the denominator up to which is tried.

    Raises
    ------
    ValueError
        If the runs hold fewer samples than a model has numbers.
    """
    usable = [r for r in runs if len(r.inputs) > 2 * highest]
    if sum(len(r.outputs) for r in usable) < 20 * highest:
        raise ValueError(
            "too few samples to fit a model: the runs left the plant's region at once; narrow the commands"
        )
    data = _Data(usable, rest, step)
    found = [_of_order(data, order) for order in range(1, highest + 1)]
    best = min(one.error for one in found)
    return next(one for one in found if one.error <= max(_ENOUGH * best, _TINY))


class _Data:
    """Runs, scaled: outputs by their spread in each run, so that small moves count as much as large ones."""

    def __init__(self, runs: Sequence[Run], rest: Array, step: float) -> None:
        self.step = step
        self.inputs = [r.inputs - rest for r in runs]
        every = np.concatenate([r.outputs for r in runs])
        whole = np.maximum(every.std(axis=0), 1e-12 + 1e-9 * np.abs(every).max(axis=0))
        sizes = [np.maximum(r.outputs.std(axis=0), _SMALL * whole) for r in runs]
        self.target = np.concatenate([r.outputs for r in runs])
        self.weight = 1.0 / np.concatenate([np.tile(s, (len(r.outputs), 1)) for s, r in zip(sizes, runs, strict=True)])
        self.longest = max(map(len, self.inputs)) * step

    def regressors(self, denominator: Array, late: int) -> Array:
        """Responses [samples, n_u * n + n + 1]: of each input through each numerator, free ones, and 1."""
        n = len(denominator)
        A = _observer(denominator)
        moved, driven = hold_inputs(A, np.eye(n), self.step)
        recursion: Any = np.poly(moved).real
        powers = [np.eye(n)[0]]
        for _ in range(n):
            powers.append(powers[-1] @ moved)  # rows C A^k
        rows = []
        for u in self.inputs:
            free = [_filtered(recursion, [p[m] for p in powers[:n]], _impulse(len(u) + 1)) for m in range(n)]
            shifted = np.vstack([np.zeros((late, u.shape[1])), u])[: len(u)]
            held = np.vstack([shifted, np.zeros((1, u.shape[1]))])
            forced = [
                _filtered(recursion, [0.0, *(p @ driven[:, m] for p in powers[:n])], held[:, i])
                for i in range(u.shape[1]) for m in range(n)
            ]  # fmt: skip
            rows.append(np.stack([*forced, *free, np.ones(len(u) + 1)], axis=1))
        return np.concatenate(rows)

    def residual(self, denominator: Array, late: int) -> tuple[Array, Array]:
        """What is left of the outputs [samples, n_y], and the numbers that leave it."""
        n_columns = len(denominator) * (self.inputs[0].shape[1] + 1) + 1
        if np.abs(np.roots([1.0, *denominator])).max() * self.step > _FASTEST:
            return np.full_like(self.target, _BAD), np.zeros((n_columns, self.target.shape[1]))
        with np.errstate(all="ignore"):
            columns = self.regressors(denominator, late)
        if not np.isfinite(columns).all() or np.abs(columns).max() > 1e9:
            return np.full_like(self.target, _BAD), np.zeros((n_columns, self.target.shape[1]))
        scale = np.maximum(np.abs(columns).max(axis=0), 1e-300)
        columns = columns / scale
        several = [np.linalg.lstsq(columns * w[:, None], y * w, rcond=1e-12)[0] for w, y in self._weighted()]
        numbers = np.stack(several, axis=1)
        return (columns @ numbers - self.target) * self.weight, numbers / scale[:, None]

    def _weighted(self) -> Iterator[tuple[Array, Array]]:
        """Weights and values of each output."""
        yield from zip(self.weight.T, self.target.T, strict=True)


def _of_order(data: _Data, order: int) -> LinearFit:
    lates = [late for late in _LATE if late * data.step < 0.3 * data.longest]
    coarse = [(start, late) for start in _starts(order, data) for late in lates[:8:4]]
    poles = [start for start, _ in _best(data, coarse, _KEPT)]
    fine = [(start, late) for start in poles for late in lates]
    firsts = {late: start for start, late in reversed(_best(data, fine, len(fine)))}
    several = [late for _, late in _best(data, [(start, late) for late, start in firsts.items()], _REFINED)]
    refined = [_refined(data, firsts[late], late) for late in several]
    best = min(refined, key=lambda one: one[0])
    for way in (-1, 1):
        while 0 <= best[2] + way <= lates[-1]:
            other = _refined(data, best[1], best[2] + way)
            if other[0] >= best[0]:
                break
            best = other
    return _model(data, best[1], best[2], np.sqrt(best[0]))


def _refined(data: _Data, start: Array, late: int) -> tuple[float, Array, int]:
    """Mean square, denominator and dead time after a search for poles."""
    size = np.maximum(np.abs(start), 1e-6)
    done = least_squares(lambda z: data.residual(z * size, late)[0].ravel(), start / size, max_nfev=_SEARCHED)
    return float(np.square(done.fun).mean()), done.x * size, late


def _best(data: _Data, tried: Sequence[tuple[Array, int]], count: int) -> list[tuple[Array, int]]:
    errors = [float(np.square(data.residual(start, late)[0]).mean()) for start, late in tried]
    return [tried[place] for place in np.argsort(errors, kind="stable")[:count]]


def _starts(order: int, data: _Data) -> Iterator[Array]:
    """Denominators s^n + a_1 s^(n-1) + ...: lags and oscillations between the step and the longest run; integrators."""
    times = np.geomspace(3.0 * data.step, data.longest, 5)
    for T in times:
        if order == 1:
            yield np.array([1.0 / T])
            continue
        for damping in (0.15, 0.6, 2.0):
            pair = np.array([1.0, 2.0 * damping / T, 1.0 / T**2])
            yield np.polymul(pair, _more(order - 2, T))[1:]
        yield np.polymul([1.0, 1.0 / T], _more(order - 1, 1e6 * T))[1:]
    yield np.full(order, 1e-9)


def _more(count: int, T: float) -> Array:
    found: Any = np.ones(1)
    for _ in range(count):
        found = np.polymul(found, [1.0, 1.0 / T])
    return found


def _model(data: _Data, denominator: Array, late: int, error: float) -> LinearFit:
    """The model in observer form, a block for each output."""
    _, numbers = data.residual(denominator, late)
    n, n_y, n_u = len(denominator), data.target.shape[1], data.inputs[0].shape[1]
    A: Any = np.kron(np.eye(n_y), _observer(denominator))
    C: Any = np.kron(np.eye(n_y), np.eye(n)[:1])
    B, initial = np.zeros((n * n_y, n_u)), np.zeros(n * n_y)
    for j in range(n_y):
        B[n * j : n * (j + 1)] = numbers[: n * n_u, j].reshape(n_u, n).T
        initial[n * j : n * (j + 1)] = numbers[n * n_u : n * n_u + n, j]
    return LinearFit(A, B, C, numbers[-1], initial, late, float(error), n)


def _observer(denominator: Array) -> Array:
    n = len(denominator)
    A = np.zeros((n, n))
    A[:, 0] = -denominator
    A[: n - 1, 1:] = np.eye(n - 1)
    return A


def _impulse(length: int) -> Array:
    found = np.zeros(length)
    found[0] = 1.0
    return found


def _filtered(recursion: Array, first: Sequence[float], signal: Array) -> Array:
    """The response whose first values to an impulse are given, and whose others follow from the recursion."""
    numerator = np.convolve(recursion, first)[: len(first)]
    return np.asarray(lfilter(numerator, recursion, signal))
