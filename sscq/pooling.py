"""How much each situation has to say where the teaching signals of several are pooled into one knowledge base.

Rows as they come give a situation with more windows, or with gains that matter more, more to say. Equal shares make
the base as much that of a calm situation as of a rough one; shares by 1 / J_ref, where J_ref is what the reference
controller reaches there, keep hard situations, whose fitness is large whatever is done, from deciding alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sscq.teaching_signal import TeachingSignal

POOLINGS = ("rows", "equal", "reference")


def balanced(signal: TeachingSignal, importance: ArrayLike) -> TeachingSignal:
    """Return the signal with the weights of each situation's rows scaled together; the sum of all weights stays.

    Parameters
    ----------
    signal : TeachingSignal
    importance : array [n_situations]
        What the weights of a situation's rows sum up to, in relation to the others; positive. A situation whose rows
        all have weight 0 stays without any.

    Raises
    ------
    ValueError
        If there is not one positive finite number for each situation.
    """
    shares = np.asarray(importance, dtype=np.float64)
    if shares.shape != (len(signal.situation_names),) or not (np.isfinite(shares).all() and (shares > 0.0).all()):
        raise ValueError(
            f"importance must be one positive number for each of the {len(signal.situation_names)} situations, got "
            f"{shares}"
        )
    sums = np.bincount(signal.situation, weights=signal.weight, minlength=len(shares))
    known = sums > 0.0
    total = sums.sum()
    factors = np.where(known, shares / np.where(known, sums, 1.0), 0.0)
    factors *= total / max(float((shares * known).sum()), 1e-300)
    return replace(signal, weight=signal.weight * factors[signal.situation])


def importance_of(pooling: str, reference: ArrayLike) -> np.ndarray | None:
    """Return the importance of each situation [n_situations], None where rows are taken as they come.

    Parameters
    ----------
    pooling : {"rows", "equal", "reference"}
    reference : array [n_situations]
        Fitness of the reference controller in each situation, J_ref; not 0 for "reference".
    """
    values = np.abs(np.asarray(reference, dtype=np.float64))
    if pooling == "reference" and not (values > 0.0).all():
        raise ValueError(f"pooling by 1 / J_ref needs a reference fitness that is not 0, got {values}; use 'equal'")
    if pooling == "rows":
        return None
    return 1.0 / values if pooling == "reference" else np.ones(len(values))
