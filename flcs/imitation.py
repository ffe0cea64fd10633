"""Imitation: terms and rules of a knowledge base fitted to a teaching signal, weak rules left out.

It is the start, not the end: a knowledge base that repeats a teacher well can control worse than fixed gains. Refine it
in closed loop and judge it there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs import reduction
from flcs.network_config import NetworkConfig
from flcs.teaching_rows import TeachingRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs.knowledge_base import KnowledgeBase


def imitate(
    kb: KnowledgeBase, teaching_signal: Any, config: NetworkConfig | None = None, seed: int = 0
) -> KnowledgeBase:
    """Return a knowledge base with terms and rules fitted to a teaching signal, weak rules left out.

    Parameters
    ----------
    kb : KnowledgeBase
        Structure and start values, such as an earlier result that shall learn from more rows.
    teaching_signal, config, seed
        As for :func:`design`.
    """
    from flcs.network import SugenoNetwork
    from flcs.training import fit

    settings, rows = config or NetworkConfig(), arranged(kb, TeachingRows.of(teaching_signal))
    network = SugenoNetwork(replace(kb, inference=replace(kb.inference, authority=1.0)))
    history = fit(network, rows, settings, seed)
    full = replace(network.knowledge_base(), inference=kb.inference)
    pruned, report = reduction.prune(full, rows, settings)
    summary = {
        "rows": len(rows.weight),
        "effective_rows": float(rows.weight.sum()),
        "situations": len(np.unique(rows.situation)),
        "explained_variance": explained_variance(pruned, rows),
        "rules_before_pruning": report.before,
        "rules": report.after,
        "error_before_pruning": report.error_before,
        "error": report.error_after,
        "rounds": len(history.training) - 1,
        "best_round": history.best_round,
        "validation_situations": list(history.validation_situations),
        "validation_error": float(np.sqrt(min(history.validation))) if history.validation else None,
        "seed": seed,
    }
    return replace(pruned.compact(), training=summary)


def arranged(kb: KnowledgeBase, rows: TeachingRows) -> TeachingRows:
    """Return the rows with the input columns of a knowledge base, in its order."""
    places: dict[str, int] = {}
    for channel, base in enumerate(kb.channels):
        for column, name in zip(kb.columns(channel), base.input_names, strict=True):
            places[kb.input_names[column]] = rows.column_of(name, channel)
    chosen = rows.columns([places[name] for name in kb.input_names], kb.input_names)
    return replace(chosen, inputs=np.clip(chosen.inputs, -_integral_limits(kb), _integral_limits(kb)))


def _integral_limits(kb: KnowledgeBase) -> NDArray[np.float64]:
    """Largest magnitude of each input column that the controller can see: error integrals are limited on line."""
    limits = np.full(len(kb.input_names), np.inf)
    for channel, base in enumerate(kb.channels):
        for column, name in zip(kb.columns(channel), base.input_names, strict=True):
            if name == "z" and base.integral_limit is not None:
                limits[column] = base.integral_limit
    return limits


def explained_variance(kb: KnowledgeBase, rows: TeachingRows) -> dict[str, float | None]:
    """Return the share of each gain's weighted variance that the knowledge base reproduces; None: it never moves."""
    w = rows.weight / max(rows.weight.sum(), 1e-300)
    found = kb.gains(rows.inputs, 1.0)
    result: dict[str, float | None] = {}
    for k, name in enumerate(kb.gain_names):
        variance = float((w * (rows.gains[:, k] - (w * rows.gains[:, k]).sum()) ** 2).sum())
        missed = float((w * (rows.gains[:, k] - found[:, k]) ** 2).sum())
        result[name] = 1.0 - missed / variance if variance > 0.0 else None
    return result
