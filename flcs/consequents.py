"""Consequents by least squares: the linear half of the training, with NumPy alone.

With the terms fixed the gains are linear in the consequents f_l, and the minimum of

    sum_t w_t |K_t - K(x_t)|^2 + prior_weight sum_l |f_l - K_ref|^2 + smoothness sum_neighbours |f_l - f_m|^2

(gains as shares of their box) within the box is found exactly. Where no data fire, the reference gains stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flcs import least_squares
from flcs.inference import scaled

if TYPE_CHECKING:
    from flcs.knowledge_base import KnowledgeBase
    from flcs.network_config import NetworkConfig
    from flcs.rule_base import RuleBase
    from flcs.teaching_rows import TeachingRows


def fit_consequents(kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig) -> KnowledgeBase:
    """Return the knowledge base with the consequents of its active rules fitted to the rows; terms stay.

    Parameters
    ----------
    kb : KnowledgeBase
    rows : TeachingRows
        Columns as of the knowledge base.
    config : NetworkConfig
        Its prior_weight, smoothness and ridge.
    """
    column = 0
    for number, base in enumerate(kb.channels):
        n_gains = len(base.gain_names)
        kb = kb.with_channel(number, _fitted(kb, rows, config, number, slice(column, column + n_gains)))
        column += n_gains
    return kb


def _fitted(kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig, place: int, gains: slice) -> RuleBase:
    base, order = kb.channels[place], kb.inference.order
    active = list(base.active)
    if not active:
        return base
    low, high, reference = (np.array(part) for part in (base.low, base.high, base.reference))
    span = np.where(high > low, high - low, 1.0)
    basis = kb.shares(rows.inputs, place)[:, active, None]
    if order:
        own = tuple(rows.inputs[:, k] for k in kb.columns(place))
        basis = basis * np.stack([np.ones(len(rows.inputs)), *scaled(base, own)], axis=1)[:, None, :]
    n_basis = basis.shape[2]
    penalty = (config.prior_weight + config.ridge) * np.eye(len(active) * n_basis)
    penalty += config.smoothness * least_squares.smoothness([base.rules[k].terms for k in active], n_basis)
    floor, ceiling = (np.full((len(active) * n_basis, len(low)), end) for end in (-np.inf, np.inf))
    floor[::n_basis], ceiling[::n_basis] = (low - reference) / span, (high - reference) / span
    wanted = (np.clip(rows.gains[:, gains], low, high) - reference) / span
    found = least_squares.solve(basis.reshape(len(basis), -1), wanted, rows.weight, penalty, floor, ceiling)
    found = found.reshape(len(active), n_basis, -1) * span
    rules = list(base.rules)
    for row, k in zip(found, active, strict=True):
        slopes = tuple(map(tuple, row[1:].T.tolist())) if order else ()
        rules[k] = replace(rules[k], gains=tuple(np.clip(row[0] + reference, low, high).tolist()), slopes=slopes)
    return replace(base, rules=tuple(rules))
