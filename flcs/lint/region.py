"""Points that fill the declared ranges of a channel's inputs, each with its share of them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs.inference.rule_base import RuleBase
    from flcs.inference.variable import Variable

    Array = NDArray[np.float64]

MOST_POINTS = 100_000
_MOST_STRENGTHS = 20_000_000  # points times rules: 160 MB
_MOST_GRID_INPUTS = 3
_PER_WIDTH = 8  # points in the narrowest term, where the number of points allows it
_FEWEST = 101  # a step of 1 % of the range


def filled(base: RuleBase) -> tuple[Array, Array]:
    """Return points in the declared ranges [n, n_inputs] and their shares of them [n], which sum to 1.

    Up to three inputs it is a grid fine enough for the narrowest term, as far as 1e5 points allow, on which the centres
    of the terms and the middles between them lie. For more inputs it is a Sobol set with a fixed seed, and, with share
    0, the centres of the rules, so that a narrow rule is not overlooked.
    """
    most = min(MOST_POINTS, _MOST_STRENGTHS // max(1, len(base.rules)))
    if len(base.inputs) > _MOST_GRID_INPUTS:
        return _scattered(base, most)
    per_axis = int(most ** (1.0 / len(base.inputs)) + 1e-9)
    axes = [axis(variable, per_axis) for variable in base.inputs]
    points = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    shares = np.ones(1)
    for each in axes:
        shares = np.multiply.outer(shares, axis_shares(each)).ravel()
    return points, shares


def axis(variable: Variable, most: int) -> Array:
    """Return points on the range of an input, in order: even ones, the terms' centres and the middles between them."""
    centres = np.clip(variable.centres, variable.low, variable.high)
    middles = 0.5 * (centres[1:] + centres[:-1])
    narrowest = min((*variable.widths, *np.diff(variable.centres)))
    wanted = int(_PER_WIDTH * (variable.high - variable.low) / narrowest) + 1
    even = np.linspace(variable.low, variable.high, max(3, min(max(wanted, _FEWEST), most - 2 * variable.n_terms)))
    return np.unique(np.concatenate([even, centres, middles]))


def axis_shares(points: Array) -> Array:
    """Return the share of the range that belongs to each point (trapezoidal rule)."""
    gaps = np.diff(points)
    shares = 0.5 * (np.append(gaps, 0.0) + np.insert(gaps, 0, 0.0))
    return np.asarray(shares / shares.sum())


def _scattered(base: RuleBase, most: int) -> tuple[Array, Array]:
    from scipy.stats import qmc

    n = len(base.inputs)
    unit = qmc.Sobol(n, seed=0).random_base2(int(np.log2(most)))
    low, high = (np.array([getattr(v, end) for v in base.inputs]) for end in ("low", "high"))
    centres = np.array([centre_of(base, number) for number in range(len(base.rules))]).reshape(-1, n)
    shares = np.concatenate([np.full(len(unit), 1.0 / len(unit)), np.zeros(len(centres))])
    return np.concatenate([low + (high - low) * unit, centres]), shares


def centre_of(base: RuleBase, rule: int) -> tuple[float, ...]:
    """Return the point of the declared ranges nearest to the centres of a rule's terms [n_inputs]."""
    pairs = zip(base.inputs, base.rules[rule].terms, strict=True)
    return tuple(float(v.limited(v.centres[term])) for v, term in pairs)


def similarity(variable: Variable) -> Array:
    """Return the similarity of the terms [n_terms, n_terms]: area of the minimum over that of the maximum.

    Source: M. Setnes et al., Similarity measures in fuzzy rule base simplification, IEEE Trans. Systems, Man and
    Cybernetics B 28 (1998) 376 (the fuzzy Jaccard index); here over the declared range.
    """
    x = axis(variable, 2_000)
    share, grades = axis_shares(x), np.stack(variable.memberships(x))
    result = np.eye(variable.n_terms)
    for i, k in itertools.combinations(range(variable.n_terms), 2):
        joint = float(share @ np.maximum(grades[i], grades[k]))
        result[i, k] = result[k, i] = float(share @ np.minimum(grades[i], grades[k])) / joint if joint > 0.0 else 1.0
    return result
