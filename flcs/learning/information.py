"""How much linguistic terms tell: entropy of their use, information about the gains, and inputs that tell nothing.

With p_j the mean membership in term j of an input, q_m that in term m of a gain, p_jm the mean of their product,

    H = -sum_j p_j ln p_j,   I = sum_jm p_jm ln(p_jm / (p_j q_m)),
    Phi = -a mean_i H_i / ln n_i - b mean_i I_i + c mean_i n_i / 9        (minimised)

prefers terms that are used evenly, inputs that tell about the gains, and few terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flcs.learning.terms import Population, term_use

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from flcs.inference.variable import Variable

    Array = NDArray[np.float64]
    Search = Callable[[Callable[[Array], Array], Array, Array], Array]


FEWEST, MOST = 2, 9
_GAIN_TERMS = 5


def mutual_information(p: Array, q: Array, weight: Array) -> float:
    """Return the mutual information [nat] of two sets of terms over weighted rows.

    Parameters
    ----------
    p, q : array [n, n_terms], [n, m_terms]
        Memberships; rows are scaled to sum to 1.
    weight : array [n]
    """
    w = weight if weight.sum() > 0.0 else np.ones(len(p))
    w = w / w.sum()
    left, right = (terms / np.maximum(terms.sum(axis=1, keepdims=True), 1e-300) for terms in (p, q))
    joint = np.einsum("nj,nm->jm", left * w[:, None], right)
    expected = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None, :]
    used = joint > 0.0
    return max(0.0, float(np.sum(joint[used] * np.log(joint[used] / expected[used]))))


def term_entropy(variable: Variable, x: Array, weight: Array) -> float:
    """Return the entropy of the terms' use as a share of its largest value ln n."""
    use = term_use(variable, x, weight)
    used = use[use > 0.0]
    return float(-(used * np.log(used)).sum() / np.log(variable.n_terms))


def gain_terms(gains: Array, weight: Array) -> list[Array]:
    """Return the memberships of each gain in terms of its own; gains that never change are left out."""
    return [_grades(column, weight, _GAIN_TERMS) for column in moving(gains)]


def moving(gains: Array) -> list[Array]:
    """Return the gains [n] that change at all."""
    return [column for column in gains.T if np.ptp(column) > 1e-9 * max(1.0, float(np.abs(column).max()))]


def _grades(x: Array, weight: Array, n_terms: int) -> Array:
    """Memberships [n, n_terms] in terms that are used equally often."""
    return np.stack(Population(x, weight).variable("x", n_terms, evenness=1.0).memberships(x), axis=1)


def informative_inputs(
    inputs: Array,
    gains: Array,
    weight: Array,
    situation: Array | NDArray[np.int64],
    seed: int,
    *,
    n_terms: int = 5,
    permutations: int = 200,
    level: float = 0.95,
) -> tuple[list[int], Array, Array]:
    """Return the inputs that tell more about the gains than shifted copies of themselves do.

    The information about the best-known gain is compared with that of copies in which each situation's rows are shifted
    around by a random number of rows: neighbouring rows stay neighbours, as correlated as before.

    Parameters
    ----------
    inputs : array [n, n_inputs]
    gains : array [n, n_gains]
    weight, situation : array [n]
    seed : int
    n_terms, permutations : int
    level : float
        Quantile of the copies' information that must be exceeded.

    Returns
    -------
    kept : list of int
        At least one: the most informative, if none passes.
    information, threshold : array [n_inputs]
        [nat].
    """
    rng = np.random.default_rng(seed)
    outputs = gain_terms(gains, weight)
    groups = [np.flatnonzero(situation == number) for number in np.unique(situation)]
    information, threshold = np.zeros(inputs.shape[1]), np.zeros(inputs.shape[1])
    for k, x in enumerate(inputs.T):
        terms = _grades(x, weight, n_terms)
        information[k] = _best(terms, outputs, weight)
        copies = [_best(terms[_shifted(groups, len(x), rng)], outputs, weight) for _ in range(permutations)]
        threshold[k] = np.quantile(copies, level)
    kept = [int(k) for k in np.flatnonzero(information > threshold)]
    return kept or [int(np.argmax(information))], information, threshold


def _best(terms: Array, outputs: Sequence[Array], weight: Array) -> float:
    return max((mutual_information(terms, output, weight) for output in outputs), default=0.0)


def _shifted(groups: Sequence[NDArray[np.intp]], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    order = np.arange(n)
    for group in groups:
        order[group] = np.roll(group, int(rng.integers(len(group))))
    return order
