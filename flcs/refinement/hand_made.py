"""The hand-made 7 x 7 fuzzy PID of Zhao, Tomizuka and Isaka as a knowledge base: nothing is learnt.

Rules over the error and its rate give kp' and kd', small or big within a range of each gain, and alpha, the ratio of
integral to derivative time: large errors ask for much kp, little kd and a strong integral, the region about the
reference for much kd and a weak integral. Then ki = kp^2 / (alpha kd), as Ziegler and Nichols have it with alpha = 4.

The gains of a rule are those where it alone fires: kp' = e^-4 (small) or 1 - e^-4 (big), the ends of the paper's
logarithmic memberships. Between rules the gains are their weighted mean, while the paper takes the mean of kp', kd' and
alpha, each in proportion to how much its rule fires: the same at the rules, and a blend of the same ends between them.

Its scaling factors can be searched: two of the inputs, two of the gains, per channel.

Source: Z.-Y. Zhao, M. Tomizuka, S. Isaka, Fuzzy gain scheduling of PID controllers, IEEE Trans. Systems, Man, and
Cybernetics 23 (1993) 1392-1398, tables I-III and eqs. (4)-(12).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from flcs.inference.rule_base import Rule, RuleBase
from flcs.inference.variable import Variable, evenly
from sscq.baselines.candidates import Candidate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from controllers.protocols import Law
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

    Array = NDArray[np.float64]


# Rows: error NB .. PB; columns: error rate NB .. PB.
PROPORTIONAL = ("BBBBBBB", "SBBBBBS", "SSBBBSS", "SSSBSSS", "SSBBBSS", "SBBBBBS", "BBBBBBB")
DERIVATIVE = ("SSSSSSS", "BBSSSBB", "BBBSBBB", "BBBBBBB", "BBBSBBB", "BBSSSBB", "SSSSSSS")
ALPHA = ("2222222", "3322233", "4332334", "5433345", "4332334", "3322233", "2222222")
TERMS = 7
_SMALL = math.exp(-4.0)
_SHARE = {"S": _SMALL, "B": 1.0 - _SMALL}

KP_OF_ULTIMATE = (0.32, 0.6)  # of Ku
KD_OF_ULTIMATE = (0.08, 0.15)  # of Ku Tu
_ZIEGLER_NICHOLS = (0.6, 0.075)  # kp / Ku and kd / (Ku Tu) of their PID: what other gains stand in for
_NO_DERIVATIVE = 1e-3  # of the box


@dataclass(frozen=True)
class GainRanges:
    """Ranges of kp and kd between which the rules choose; an end nearer to zero is the first.

    Attributes
    ----------
    kp, kd : tuple of float
    text : str
        Where they come from.
    """

    kp: tuple[float, float]
    kd: tuple[float, float]
    text: str


def from_ultimate(gain: float, period: float) -> GainRanges:
    """Return the paper's ranges from the ultimate gain and period [s]."""
    kp = tuple(share * gain for share in KP_OF_ULTIMATE)
    kd = tuple(share * gain * period for share in KD_OF_ULTIMATE)
    return GainRanges((kp[0], kp[1]), (kd[0], kd[1]), f"ultimate gain {gain:.3g}, period {period:.3g} s")


def from_gains(gains: Sequence[float], largest_kd: float) -> GainRanges | None:
    """Return ranges in which a fixed PID stands where the paper's has the gains of Ziegler and Nichols.

    Without derivative action (kd below a thousandth of `largest_kd`) kd = kp^2 / (4 ki) stands in, as their rule has
    it. None where there is neither: the paper's ki would be infinite.
    """
    kp, ki, kd = (float(value) for value in gains)
    text = "the fixed PID's gains"
    if abs(kd) <= _NO_DERIVATIVE * abs(largest_kd):
        if ki == 0.0:
            return None
        kd, text = kp * kp / (4.0 * ki), "the fixed PID's gains (it has no derivative action: kd from Ti = 4 Td)"
    if kp == 0.0 or kd == 0.0:
        return None
    of_kp = tuple(kp * share / _ZIEGLER_NICHOLS[0] for share in KP_OF_ULTIMATE)
    of_kd = tuple(kd * share / _ZIEGLER_NICHOLS[1] for share in KD_OF_ULTIMATE)
    return GainRanges((of_kp[0], of_kp[1]), (of_kd[0], of_kd[1]), text)


def rule_gains(kp: ArrayLike, kd: ArrayLike) -> Array:
    """Return the gains of all rules.

    Parameters
    ----------
    kp, kd : array [..., 2]
        Ranges; kd must not reach 0.

    Returns
    -------
    array [..., 49, 3]
        kp, ki, kd; error by error, and for each the rates.
    """
    ends = [np.asarray(pair, dtype=float)[..., None, :] for pair in (kp, kd)]
    shares = [np.array([_SHARE[word] for row in table for word in row]) for table in (PROPORTIONAL, DERIVATIVE)]
    alpha = np.array([float(word) for row in ALPHA for word in row])
    p, d = (pair[..., 0] + share * (pair[..., 1] - pair[..., 0]) for pair, share in zip(ends, shares, strict=True))
    return np.stack([p, p * p / (alpha * d), d], axis=-1)


def rule_base(
    name: str,
    reach: tuple[float, float],
    ranges: GainRanges,
    box: tuple[Sequence[float], Sequence[float]],
    *,
    units: tuple[str, str] = ("", ""),
    widest: float = 1.0,
    law: Mapping[str, Any] | None = None,
) -> RuleBase:
    """Return the rule base of one channel.

    Parameters
    ----------
    name : str
        The controlled output.
    reach : tuple of float
        Error and error rate at which the outer terms stand.
    ranges : GainRanges
    box : (low, high)
        Of kp, ki, kd; rules are cut off at it.
    units : tuple of str
        Of error and error rate.
    widest : float
        How many times `reach` the declared ranges are: room for a search to move the terms out.
    law : mapping, optional
        Of the PID; see :mod:`controllers.pid_form`.
    """
    variables = tuple(
        Variable(label, unit, -widest * end, widest * end, evenly(-end, end, TERMS))
        for label, unit, end in zip(("e", "e_rate"), units, reach, strict=True)
    )
    gains = np.clip(rule_gains(ranges.kp, ranges.kd), box[0], box[1])
    places = product(range(TERMS), range(TERMS))
    rules = tuple(Rule(terms, tuple(row)) for terms, row in zip(places, gains.tolist(), strict=True))
    low, high = (tuple(float(value) for value in end) for end in box)
    return RuleBase(name, variables, rules, low, high, rules[len(rules) // 2].gains, law=dict(law or {}))


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
        Of rule bases by :func:`flcs.refinement.hand_made.rule_base` with `widest` = WIDEST.
    ranges : sequence of GainRanges
        From which they were made, one per channel.
    laws : tuple of laws
    name, title : str
    """
    controller = FuzzyController(kb, laws=laws, free=FREE)
    own, n_channels = controller.theta, len(kb.channels)
    if len(own) != _WIDTH * n_channels:
        raise ValueError(
            f"the rules must be the {_RULES} of flcs.refinement.hand_made with triangular terms, got {kb.n_rules}"
        )

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

    n = FACTORS * n_channels
    return Candidate(
        name, title, controller, np.full(n, 1.0 / WIDEST), np.full(n, WIDEST), np.ones((1, n)), "log", decode,
    )  # fmt: skip
