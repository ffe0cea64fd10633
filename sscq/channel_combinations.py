"""Gain sets of several channels together: which rule of one is judged beside which of another.

Every channel has a rule base of its own, with its own error as input, so any mixture of one channel's rules may meet
any mixture of another's: what a schedule may give is the product of the channels' hulls. Its vertices are too many to
be judged all in a search, so it is sampled:

- every vertex of each channel beside the reference gains of the others, and all references together;
- vertices beside vertices: all combinations where they are few, else as many drawn as there are mixtures;
- mixtures beside mixtures, drawn for each channel by itself.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def together(parts: Sequence[Array], n_mixtures: int, seed: int) -> Array:
    """Return gain sets [n, n_sets, n_gains of all channels] of candidates.

    Parameters
    ----------
    parts : sequence of array [n, n_vertices + 1 + n_mixtures, n_gains]
        Of each channel: vertices, reference gains, mixtures, as :func:`sscq.margins.hull_samples` gives them.
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
