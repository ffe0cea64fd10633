"""Reference gains that a search can start from: they keep what the whole schedule has to keep.

All gains that a knowledge base may give lie in the hull of its rules and of its reference gains. The best fixed PID
lies on the limit of the margins itself, while a search keeps off that limit by a share of it: with such reference gains
no rule can make the hull admissible, and the search sees its own floor in place of the loop. Other reference gains
inside the limits take it away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flcs.refinement import certified

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from controllers.protocols import Law
    from flcs.knowledge_base import KnowledgeBase
    from flcs.rule_base import Rule
    from sscq.operating import OperatingMargins


def anchored(kb: KnowledgeBase, gains: Sequence[float] | np.ndarray) -> KnowledgeBase:
    """Return the knowledge base with other reference gains [n_gains]; its rules stay as they are."""
    channels, first = [], 0
    for base in kb.channels:
        own = tuple(float(gain) for gain in gains[first : first + len(base.gain_names)])
        channels.append(replace(base, reference=own))
        first += len(own)
    return replace(kb, channels=tuple(channels))


def repaired(kb: KnowledgeBase, margins: OperatingMargins | None, laws: tuple[Law, ...] = ()) -> KnowledgeBase:
    """Return the knowledge base with its rules drawn to the reference gains until their hull keeps the margins.

    The share of the way that is left is in the rules, and the authority as it was before.
    """
    share = certified(replace(kb, inference=replace(kb.inference, authority=1.0)), margins, laws).inference.authority
    if share == 1.0:
        return kb
    channels = [
        replace(base, rules=tuple(_drawn(rule, base.reference, share) for rule in base.rules)) for base in kb.channels
    ]
    return replace(kb, channels=tuple(channels))


def _drawn(rule: Rule, reference: tuple[float, ...], share: float) -> Rule:
    gains = tuple(middle + share * (gain - middle) for gain, middle in zip(rule.gains, reference, strict=True))
    return replace(rule, gains=gains, slopes=tuple(tuple(share * slope for slope in row) for row in rule.slopes))
