"""Imitation: terms and rules of a knowledge base fitted to a teaching signal, weak rules left out.

It is the start, not the end: a knowledge base that repeats a teacher well can control worse than fixed gains. Refine it
in closed loop and judge it there. Weak are the rules that hardly fire over the teaching signal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.learning.config import NetworkConfig
from flcs.learning.least_squares import fit_consequents
from flcs.learning.rows import TeachingRows, column_of, validation_situations

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from flcs.knowledge_base.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]
    Evaluate = Callable[[Array], Array]


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

    Raises
    ------
    ModuleNotFoundError
        If torch is not installed and there are rounds of training.
    """
    settings, rows = config or NetworkConfig(), arranged(kb, TeachingRows.of(teaching_signal))
    full, course = _learned(kb, rows, settings, seed)
    pruned, report = prune(full, rows, settings)
    summary = {
        "rows": len(rows.weight),
        "effective_rows": float(rows.weight.sum()),
        "situations": len(np.unique(rows.situation)),
        "explained_variance": explained_variance(pruned, rows),
        "rules_before_pruning": report.before,
        "rules": report.after,
        "error_before_pruning": report.error_before,
        "error": report.error_after,
        **course,
        "seed": seed,
    }
    return replace(pruned.compact(), training=summary)


def retrained(
    kb: KnowledgeBase, teaching_signal: Any, config: NetworkConfig | None = None, seed: int = 0
) -> KnowledgeBase:
    """Return a knowledge base of the same structure with numbers trained on from its own; no rule is left out.

    Parameters
    ----------
    kb, teaching_signal, config, seed
        As for :func:`imitate`, whose errors it has.
    """
    return _learned(kb, arranged(kb, TeachingRows.of(teaching_signal)), config or NetworkConfig(), seed)[0]


def _learned(
    kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig, seed: int
) -> tuple[KnowledgeBase, dict[str, Any]]:
    """The knowledge base with all its rules fitted, by the network where there are rounds, and how that went."""
    learn = _trained if config.rounds else _by_least_squares
    full, course = learn(replace(kb, inference=replace(kb.inference, authority=1.0)), rows, config, seed)
    return replace(full, inference=kb.inference), course


def _trained(
    kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig, seed: int
) -> tuple[KnowledgeBase, dict[str, Any]]:
    """Terms and rules by training the network, and how that went."""
    try:
        from flcs.learning.network import SugenoNetwork  # torch: more than a second to start
        from flcs.learning.training import fit
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(NO_TORCH, name=error.name) from error
    network = SugenoNetwork(kb)
    history = fit(network, rows, config, seed)
    return network.knowledge_base(), {
        "rounds": len(history.training) - 1,
        "best_round": history.best_round,
        "validation_situations": list(history.validation_situations),
        "validation_error": float(np.sqrt(min(history.validation))) if history.validation else None,
    }


NO_TORCH = (
    "training the network needs torch, which is not installed: pip install 'sscq[torch]' (a build of torch for "
    "processors alone is a tenth of its usual size), or ask for no rounds of training (network.rounds=0): rules by "
    "least squares over the terms as they are placed"
)


def _by_least_squares(
    kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig, seed: int
) -> tuple[KnowledgeBase, dict[str, Any]]:
    """Rules alone, over the terms as they are: no network is needed."""
    held = validation_situations(rows.situation, config.validation_share, seed)
    is_held, error = np.isin(rows.situation, held), None
    if held:
        low, high = (np.concatenate([getattr(base, end) for base in kb.channels]) for end in ("low", "high"))
        test = rows.chosen(is_held)
        inside = replace(test, gains=np.clip(test.gains, low, high))  # what rules cannot give is no error of theirs
        error = gain_error(fit_consequents(kb, rows.chosen(~is_held), config), inside)
    course = {"rounds": 0, "best_round": 0, "validation_situations": list(held), "validation_error": error}
    return fit_consequents(kb, rows, config), course


def arranged(kb: KnowledgeBase, rows: TeachingRows) -> TeachingRows:
    """Return the rows with the input columns of a knowledge base, in its order."""
    places: dict[str, int] = {}
    for channel, base in enumerate(kb.channels):
        for column, name in zip(kb.columns(channel), base.input_names, strict=True):
            places[kb.input_names[column]] = column_of(rows.input_names, name, channel)
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


@dataclass(frozen=True)
class Reduction:
    """What a reduction did.

    Attributes
    ----------
    before, after : int
        Rules that are on.
    error_before, error_after : float
        Weighted root mean square error of the gains, as a share of their box; or the fitness, for importance.
    """

    before: int
    after: int
    error_before: float
    error_after: float


def rank_rules(kb: KnowledgeBase, rows: TeachingRows, prior_weight: float = 1.0) -> KnowledgeBase:
    """Return the knowledge base with firing strength, rank and confidence of every rule.

    Firing strength is sum_t w_t R_l(x_t); confidence the share sum_t w_t s_l^2 / (sum_t w_t s_l^2 + prior_weight) of
    the data in the rule's gains, s_l the rule's share in the gains of a row.
    """
    for number, base in enumerate(kb.channels):
        total = np.einsum("n,nr->r", rows.weight, kb.firing(rows.inputs, number))
        support = np.einsum("n,nr->r", rows.weight, kb.shares(rows.inputs, number) ** 2)
        confidence = support / np.maximum(support + prior_weight, 1e-300)
        ranks = np.empty(len(total), dtype=int)
        ranks[np.argsort(-total, kind="stable")] = np.arange(1, len(total) + 1)
        rules = [
            replace(rule, firing=float(f), rank=int(k), confidence=float(c))
            for rule, f, k, c in zip(base.rules, total, ranks, confidence, strict=True)
        ]
        kb = kb.with_channel(number, replace(base, rules=tuple(rules)))
    return kb


def prune(kb: KnowledgeBase, rows: TeachingRows, config: NetworkConfig) -> tuple[KnowledgeBase, Reduction]:
    """Switch off weak rules and fit the others again.

    Kept is the smallest set of rules that carries ``keep_firing`` of the firing strength, without rules whose share is
    below ``weakest_firing``, at most ``max_rules`` per channel. Strengths are sums over the rows, or, with
    ``firing="maximum"``, the largest: then rules stay that fire rarely but fully.

    Parameters
    ----------
    kb : KnowledgeBase
    rows : TeachingRows
        Columns as of the knowledge base.
    config : NetworkConfig

    Returns
    -------
    KnowledgeBase
        Ranked; rules that were dropped are off.
    Reduction
    """
    before, error_before = kb.n_rules, gain_error(kb, rows)
    for number, base in enumerate(kb.channels):
        strengths = kb.firing(rows.inputs, number) * rows.weight[:, None]
        used = strengths.max(axis=0) if config.firing == "maximum" else strengths.sum(axis=0)
        kb = kb.with_channel(number, base.switched(_kept(used * [rule.on for rule in base.rules], config)))
    kb = rank_rules(fit_consequents(kb, rows, config), rows, config.prior_weight)
    return kb, Reduction(before, kb.n_rules, error_before, gain_error(kb, rows))


def _kept(strength: Array, config: NetworkConfig) -> list[bool]:
    kept = np.zeros(len(strength), dtype=bool)
    if strength.sum() > 0.0:
        order = np.argsort(-strength, kind="stable")
        share = strength[order] / strength.sum()
        needed = int(np.searchsorted(np.cumsum(share), config.keep_firing - 1e-12)) + 1
        strong = order[:needed][share[:needed] >= config.weakest_firing]
        kept[strong[: config.max_rules]] = True
    return [bool(k) for k in kept]


def gain_error(kb: KnowledgeBase, rows: TeachingRows) -> float:
    """Return the weighted root mean square error of the gains over the rows, as a share of their box."""
    low = np.concatenate([base.low for base in kb.channels])
    high = np.concatenate([base.high for base in kb.channels])
    span = np.where(high > low, high - low, 1.0)
    squared = (((kb.gains(rows.inputs, 1.0) - rows.gains) / span) ** 2).mean(axis=1)
    return float(np.sqrt((rows.weight * squared).sum() / max(rows.weight.sum(), 1e-300)))
