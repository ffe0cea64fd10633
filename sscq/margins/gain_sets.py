"""Gain sets that a schedule may give, drawn so that a search can judge them: of one channel, and of several together.

The set of stabilising gains is not convex, so a schedule is judged on samples of the hull of its rules and the
reference gains, not on its corners.

Every channel has a rule base of its own, with its own error as input, so any mixture of one channel's rules may meet
any mixture of another's: what a schedule may give is the product of the channels' hulls. Its vertices are too many to
be judged all in a search, so it is sampled:

- every vertex of each channel beside the reference gains of the others, and all references together;
- vertices beside vertices: all combinations where they are few, else as many drawn as there are mixtures;
- mixtures beside mixtures, drawn for each channel by itself.
"""

from __future__ import annotations

import functools
import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


_CONCENTRATIONS = (0.1, 0.3, 1.0)  # of the hull's weights in turn: near corners and edges, between, uniform


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
    return np.concatenate([corners, _hull_weights(corners.shape[-2], n, seed) @ corners], axis=-2)


@functools.lru_cache(maxsize=64)
def _hull_weights(size: int, n: int, seed: int) -> Array:
    """Weights [n, size] of the combinations: the same in every generation of a search, so drawn once."""
    rng = np.random.default_rng(seed)
    drawn = [rng.dirichlet(np.full(size, _CONCENTRATIONS[i % len(_CONCENTRATIONS)])) for i in range(n)]
    weights = np.array(drawn).reshape(n, size)
    weights.flags.writeable = False
    return weights


HULL_SAMPLES = 16


def hull(rules: np.ndarray, reference: np.ndarray, seed: int = 0, n: int = HULL_SAMPLES) -> np.ndarray:
    """Return gain sets [candidates, n_sets, n_gains] that schedules with these rules may give, reference included."""
    return hull_samples(rules, reference, n, seed)


def together(parts: Sequence[Array], n_mixtures: int, seed: int) -> Array:
    """Return gain sets [n, n_sets, n_gains of all channels] of candidates.

    Parameters
    ----------
    parts : sequence of array [n, n_vertices + 1 + n_mixtures, n_gains]
        Of each channel: vertices, reference gains, mixtures, as :func:`sscq.margins.gain_sets.hull_samples` gives them.
    n_mixtures : int
    seed : int
        Of the combinations that are drawn; the same for all candidates.
    """
    if len(parts) == 1:
        return parts[0]
    rows = combinations([part.shape[1] - 1 - n_mixtures for part in parts], n_mixtures, seed)
    return np.concatenate([part[:, column] for part, column in zip(parts, rows.T, strict=True)], axis=2)


def combinations(vertices: Sequence[int], n_mixtures: int, seed: int) -> NDArray[np.int64]:
    """Return rows of each channel's gain sets that stand beside one another [n_sets, n_channels].

    Parameters
    ----------
    vertices : sequence of int
        How many each channel has; its reference gains come next, then the mixtures.
    n_mixtures : int
    seed : int
    """
    references = np.array(vertices)
    rows = [references]
    for channel, count in enumerate(vertices):
        beside = np.tile(references, (count, 1))
        beside[:, channel] = np.arange(count)
        rows.append(beside)
    if math.prod(vertices) <= n_mixtures:
        rows.append(np.array(list(product(*map(range, vertices))), dtype=int).reshape(-1, len(vertices)))
    else:
        rows.append(np.random.default_rng(seed).integers(0, references, (n_mixtures, len(vertices))))
    rows.append(references + 1 + np.arange(n_mixtures)[:, None])
    return np.vstack(rows)
