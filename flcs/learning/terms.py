"""Linguistic variables from data or by hand: their ranges, and where the terms stand.

From data: the range holds all rows but a few, and the terms stand where the rows are, evenly, or in between. By hand,
as an expert names them: these centres over a range that suits the data.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flcs.inference.meaning import kept_true, room_for_signs
from flcs.inference.membership import Shape, shape_of, spread_apart
from flcs.inference.rule_base import OWN_INPUTS
from flcs.inference.variable import SMALLEST_GAP, Variable, evenly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants import Plant

    Array = NDArray[np.float64]


_TAIL = 0.005
_WIDENED = 0.2


def robust_range(x: Array) -> tuple[float, float]:
    """Return the range between the 0.5 % and 99.5 % quantiles, widened by 20 % of itself in all.

    An input that never moves gets 1 unit to both sides.

    Parameters
    ----------
    x : array [n]
    """
    low, high = (float(q) for q in np.quantile(x, [_TAIL, 1.0 - _TAIL]))
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return low - 1.0, high + 1.0
    return widened(low, high)


def widened(low: float, high: float) -> tuple[float, float]:
    """Return a range with a tenth of itself more on both sides."""
    margin = 0.5 * _WIDENED * (high - low)
    return low - margin, high + margin


def equal_population(x: Array, weight: Array, n_terms: int) -> tuple[float, ...]:
    """Return centres at the weighted quantiles (j - 1/2) / n_terms: every term is used about equally often.

    That makes the entropy of the terms' use largest. Without any weight the rows count equally.

    Parameters
    ----------
    x : array [n]
    weight : array [n]
    n_terms : int
    """
    order = np.argsort(x, kind="stable")
    w = weight[order] if weight.sum() > 0.0 else np.ones(len(x))
    reached = (np.cumsum(w) - 0.5 * w) / w.sum()
    levels = (np.arange(n_terms) + 0.5) / n_terms
    return tuple(float(c) for c in np.interp(levels, reached, x[order]))


def _placed(
    populated: tuple[float, ...], limits: tuple[float, float], n_terms: int, evenness: float
) -> tuple[float, ...]:
    """Return the centres of a variable: equal population mixed with even spacing, kept apart.

    A closed loop spends most of its time near rest: by population alone (`evenness` 1) the terms crowd there and say
    nothing about large errors.
    """
    low, high = limits
    mixed = evenness * np.clip(populated, low, high) + (1.0 - evenness) * np.array(evenly(low, high, n_terms))
    gap = 2.0 * SMALLEST_GAP * (high - low)  # room below the smallest gap for the training to move them
    upwards, downwards = (np.array(spread_apart([float(c) for c in row], gap)) for row in (mixed, -mixed[::-1]))
    from_below = 0.5 * (upwards - downwards[::-1])  # what crowds moves apart both ways
    excess = max(0.0, float(from_below[-1]) - high)
    return spread_apart([float(c) for c in np.maximum(from_below - excess, low)], gap)


def true_centres(centres: tuple[float, ...], low: float, high: float) -> tuple[float, ...]:
    """Return centres that can be called negative, zero and positive, where the range has room on both sides of 0."""
    gap = SMALLEST_GAP * (high - low)
    if not room_for_signs(low, high, len(centres), gap):
        return centres
    return tuple(kept_true(np.array([centres]), gap)[0].tolist())


class Population:
    """The rows of one input of a teaching signal, looked at once: a search builds many variables from them.

    Parameters
    ----------
    x, weight : array [n]
    """

    def __init__(self, x: Array, weight: Array) -> None:
        self._x, self._weight, self._limits = x, weight, robust_range(x)
        self._centres: dict[int, tuple[float, ...]] = {}

    def variable(
        self,
        name: str,
        n_terms: int,
        *,
        unit: str = "",
        shape: Shape | str = "triangular",
        evenness: float = 0.5,
        overlap: float = 1.0,
    ) -> Variable:
        """Return a linguistic variable whose range and terms follow from the rows.

        Parameters
        ----------
        name, unit : str
        n_terms : int
            2 .. 9.
        shape : Shape, or its name
        evenness, overlap : float
            See :class:`flcs.NetworkConfig`.
        """
        if n_terms not in self._centres:
            self._centres[n_terms] = equal_population(self._x, self._weight, n_terms)
        form, (low, high) = shape_of(shape), self._limits
        centres = true_centres(_placed(self._centres[n_terms], self._limits, n_terms, evenness), low, high)
        smallest = SMALLEST_GAP * (high - low)
        widths = tuple(max(width, smallest) for width in form.default_widths(centres, overlap))
        return Variable(name, unit, low, high, centres, widths, form)


def term_use(variable: Variable, x: Array, weight: Array) -> Array:
    """Return how much each term is used: weighted means of the memberships as shares of their sum [n_terms]."""
    mean = _weighted_mean(np.stack(variable.memberships(x), axis=1), weight)
    return np.asarray(mean / mean.sum())


def _weighted_mean(values: Array, weight: Array) -> Array:
    w = weight if weight.sum() > 0.0 else np.ones(len(values))
    return np.asarray(np.einsum("n,nj->j", w, values) / w.sum())


_ROUNDING = 1e-9  # relative: a gap that is stretched to the smallest must not come out below it


def apart(centres: tuple[float, ...], low: float, high: float) -> tuple[float, ...]:
    """Centres stretched about their middle so that the nearest two keep the smallest gap; unchanged if they do."""
    wanted, nearest = SMALLEST_GAP * (high - low), float(np.diff(centres).min())
    if nearest >= wanted:
        return centres
    half = 0.5 * (centres[-1] - centres[0]) * wanted / nearest * (1.0 + _ROUNDING)
    middle = min(max(0.5 * (centres[0] + centres[-1]), low + half), high - half)
    if 2.0 * half > high - low:  # uneven ones would not fit
        return tuple(np.linspace(low, high, len(centres)).tolist())
    shares = (np.array(centres) - centres[0]) / (centres[-1] - centres[0])
    return tuple((middle + half * (2.0 * shares - 1.0)).tolist())


UNBOUNDED = (-math.inf, math.inf)


def given_variable(
    name: str,
    centres: Sequence[float],
    x: Array,
    *,
    unit: str = "",
    shape: Shape | str = "triangular",
    overlap: float = 1.0,
    seen: tuple[float, float] | None = None,
    bounds: tuple[float, float] = UNBOUNDED,
    mirrored: bool = False,
) -> Variable:
    """Return a linguistic variable with these centres, drawn apart where its range allows none that near.

    Its range holds the centres and the data, these as :func:`flcs.learning.terms.robust_range` has it, but ends at the
    bounds: noise beyond what a quantity can be is no reason for a wider range.

    Parameters
    ----------
    name, unit : str
    centres : sequence of float [n_terms]
        [unit], increasing, inside the bounds.
    x : array [n]
        The input in the rows of a teaching signal.
    shape : Shape, or its name
    overlap : float
        See :class:`flcs.NetworkConfig`.
    seen : (low, high), optional
        What a closed loop has met: the range holds it, too, widened as the data's is.
    bounds : (low, high)
        Of the quantity itself.
    mirrored : bool
        The range is its own mirror image: the wider side counts.

    Raises
    ------
    ValueError
        For a centre outside the bounds.
    """
    if not bounds[0] <= min(centres) <= max(centres) <= bounds[1]:
        raise ValueError(
            f"centres of {name!r} must be in [{bounds[0]:g}, {bounds[1]:g}], where {name} is, got {tuple(centres)}"
        )
    ranges = [robust_range(x), *([] if seen is None else [widened(*seen)])]
    low = min(max(min(part[0] for part in ranges), bounds[0]), *centres)
    high = max(min(max(part[1] for part in ranges), bounds[1]), *centres)
    if mirrored:
        low, high = -max(-low, high), max(-low, high)
    form, smallest, placed = shape_of(shape), SMALLEST_GAP * (high - low), apart(tuple(centres), low, high)
    widths = tuple(max(width, smallest) for width in form.default_widths(placed, overlap))
    return Variable(name, unit, low, high, placed, widths, form)


def bounds_of(plant: Plant | str, name: str) -> tuple[float, float]:
    """Return what a plant says its measurement can be; errors of a channel, and plants by name, have no bounds."""
    if isinstance(plant, str) or name in OWN_INPUTS:
        return UNBOUNDED
    quantity = plant.measurements[plant.index("measurements", name)]
    return quantity.low, quantity.high
