"""Fewer rules: by how much they fire over the teaching signal, and by what the closed loop loses without them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from flcs.consequents import fit_consequents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from flcs.fuzzy_controller import FuzzyController
    from flcs.knowledge_base import KnowledgeBase
    from flcs.network_config import NetworkConfig
    from flcs.teaching_rows import TeachingRows

    Array = NDArray[np.float64]
    Evaluate = Callable[[Array], Array]


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


def rule_importance(controller: FuzzyController, evaluate: Evaluate) -> tuple[float, list[Array]]:
    """Return the closed-loop fitness and its change when each rule is left out.

    Parameters
    ----------
    controller : FuzzyController
        With "rules" among its free numbers.
    evaluate : callable
        theta [n, n_theta] to fitness [n] (minimised); called once. NaN counts as infinitely bad.

    Returns
    -------
    fitness : float
        With all rules that are on.
    change : list of array [n_rules], one per channel
        Positive: the loop is worse without the rule. 0 for rules that are off.

    Raises
    ------
    ValueError
        If the fitness with all rules is not finite, or the rules are not free.
    """
    theta, places = controller.theta, _presence_places(controller)
    on = [place for channel in places for place in channel if theta[place] > 0.5]
    candidates = np.tile(theta, (len(on) + 1, 1))
    candidates[np.arange(1, len(on) + 1), on] = 0.0
    fitness = np.asarray(evaluate(candidates), dtype=float)
    base = float(fitness[0])
    if not np.isfinite(base):
        raise ValueError(f"the closed loop with all rules needs a finite fitness, got {base}; refine the rules first")
    change = {place: float(f) - base if f < np.inf else np.inf for place, f in zip(on, fitness[1:], strict=True)}
    return base, [np.array([change.get(place, 0.0) for place in channel]) for channel in places]


def prune_by_importance(
    controller: FuzzyController, evaluate: Evaluate, tolerance: float = 0.0, fewest: int = 1
) -> tuple[KnowledgeBase, Reduction]:
    """Leave out rules one after the other as long as the closed loop hardly loses.

    Parameters
    ----------
    controller, evaluate
        As for :func:`rule_importance`; one call per rule left out, and one more.
    tolerance : float
        Largest loss of fitness against that of all rules, as a share of its magnitude.
    fewest : int
        Rules to keep, at least.

    Returns
    -------
    KnowledgeBase
        With the rules that were left out switched off.
    Reduction
        With the fitness before and after.
    """
    kb, before = controller.kb, controller.kb.n_rules
    start, change = rule_importance(controller, evaluate)
    allowed, present = start + tolerance * abs(start), start
    while kb.n_rules > fewest:
        candidates = [(change[i][k], i, k) for i, base in enumerate(kb.channels) for k in base.active]
        loss, i, k = min(candidates)
        if present + loss > allowed:
            break
        kb = _without(kb, i, k)
        present, change = rule_importance(replace(controller, kb=kb), evaluate)
    return kb, Reduction(before, kb.n_rules, start, present)


def _without(kb: KnowledgeBase, channel: int, rule: int) -> KnowledgeBase:
    base = kb.channels[channel]
    return kb.with_channel(channel, base.switched([r.on and k != rule for k, r in enumerate(base.rules)]))


def _presence_places(controller: FuzzyController) -> list[Sequence[int]]:
    """Places in theta of the rules' presence, channel after channel."""
    layout = controller.schedule.layout
    if "rules" not in layout.free:
        raise ValueError(f'rule importance needs "rules" among the free numbers, got free={layout.free}')
    return layout.presence_places()
