"""The hand-made fuzzy PID with its scaling factors searched: two of the inputs, two of the gains, per channel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from flcs.hand_made import TERMS, GainRanges, rule_gains
from sscq.baselines import Candidate
from sscq.operating import hull

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from controllers.protocols import Law
    from flcs.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]

WIDEST = 4.0  # factor on a range, and its inverse: beyond it the terms would not be apart any more
FACTORS = 4  # per channel: error, error rate, kp, kd
FREE = ("consequents", "terms")  # all rules take part: without their masks the kernel is compiled in half the time
_RULES = TERMS * TERMS
REST = _RULES // 2  # the rule of no error and no rate
_WIDTH = 3 * _RULES + 2 * TERMS  # of a channel's parameters: gains of the rules, places of the terms


def written(candidate: Candidate, theta: Array) -> KnowledgeBase:
    """Return the knowledge base of searched parameters; where its authority is taken back, its rule at rest rules."""
    kb: KnowledgeBase = candidate.controller.with_theta(theta)
    return replace(kb, channels=tuple(replace(base, reference=base.rules[REST].gains) for base in kb.channels))


def scaled(kb: KnowledgeBase, ranges: Sequence[GainRanges], laws: tuple[Law, ...], name: str, title: str) -> Candidate:
    """Return the candidate; its start is the knowledge base itself.

    Parameters
    ----------
    kb : KnowledgeBase
        Of rule bases by :func:`flcs.hand_made.rule_base` with `widest` = WIDEST.
    ranges : sequence of GainRanges
        From which they were made, one per channel.
    laws : tuple of laws
    name, title : str
    """
    controller = FuzzyController(kb, laws=laws, free=FREE)
    own, n_channels = controller.theta, len(kb.channels)
    if len(own) != _WIDTH * n_channels:
        raise ValueError(f"the rules must be the {_RULES} of flcs.hand_made with triangular terms, got {kb.n_rules}")

    def decode(genomes: Array) -> Array:
        theta = np.tile(own, (len(genomes), 1))
        for i, (base, given) in enumerate(zip(kb.channels, ranges, strict=True)):
            of_e, of_rate, of_kp, of_kd = genomes[:, FACTORS * i : FACTORS * (i + 1)].T
            kp, kd = (factor[:, None] * np.array(pair) for factor, pair in ((of_kp, given.kp), (of_kd, given.kd)))
            gains = np.clip(rule_gains(kp, kd), base.low, base.high)
            first = _WIDTH * i
            theta[:, first : first + 3 * _RULES] = gains.reshape(len(genomes), -1)
            first += 3 * _RULES
            theta[:, first : first + TERMS] = np.outer(of_e, base.inputs[0].centres)
            theta[:, first + TERMS : first + 2 * TERMS] = np.outer(of_rate, base.inputs[1].centres)
        return theta

    def sets(theta: Array) -> Array:
        shaped = theta.reshape(len(theta), n_channels, _WIDTH)[..., : 3 * _RULES]
        rules = shaped.reshape(len(theta), n_channels, _RULES, 3).swapaxes(1, 2).reshape(len(theta), _RULES, -1)
        # The terms cover the ranges wholly, so the reference gains never act; the rule at rest stands for them.
        return hull(rules, rules[:, REST])

    n = FACTORS * n_channels
    return Candidate(
        name, title, controller, np.full(n, 1.0 / WIDEST), np.full(n, WIDEST), np.ones((1, n)), sets,
        "log", decode,
    )  # fmt: skip
