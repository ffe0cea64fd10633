"""Common terms: all channels of a knowledge base read the same plant outputs by the same terms.

Channels of one plant may schedule their gains over the same signal. With terms of their own any mixture of one
channel's rules may meet any mixture of another's, and margins have to hold for all of them, also where no value of the
signal gives such a pair. With common terms and the same rules all gains are one mean of the rules, with the same
weights: what the schedule may give is the hull of whole rules, the gains of all channels together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flcs.mirror import MirrorMap
from flcs.rule_base import OWN_INPUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flcs.knowledge_base import KnowledgeBase
    from flcs.rule_base import RuleBase


def check(channels: Sequence[RuleBase]) -> None:
    """Raise ValueError where channels cannot have common terms.

    Where the terms lie, and which rules are on, may differ for a moment, while a design goes from channel to channel.
    """
    first = channels[0]
    for base in channels:
        if own := [name for name in base.input_names if name in OWN_INPUTS]:
            raise ValueError(
                f"common terms need plant outputs as inputs, which all channels share; {own[0]!r} of channel "
                f"{base.name!r} is its own"
            )
        if (base.input_names, base.counts) != (first.input_names, first.counts):
            raise ValueError(
                f"common terms need the same inputs with as many terms in all channels, got {_counted(first)} in "
                f"{first.name!r} and {_counted(base)} in {base.name!r}"
            )


def _counted(base: RuleBase) -> str:
    return ", ".join(f"{name} ({n})" for name, n in zip(base.input_names, base.counts, strict=True))


def agree(channels: Sequence[RuleBase]) -> bool:
    """Return whether all channels have the same terms at the same places, and the same rules on, in the same order."""
    first = channels[0]
    rules = [(rule.terms, rule.on) for rule in first.rules]
    return all(base.inputs == first.inputs and [(r.terms, r.on) for r in base.rules] == rules for base in channels)


def terms_of_first(kb: KnowledgeBase) -> MirrorMap:
    """Return which parameters of a knowledge base with common terms follow others: all terms those of channel 1."""
    source: list[int] = []
    terms: range | None = None
    for base in kb.channels:
        per_gain = 1 + (len(base.inputs) if kb.inference.order else 0)
        source += range(len(source), len(source) + len(base.rules) * (len(base.gain_names) * per_gain + 1))
        terms = terms or range(len(source), len(source) + sum(v.n_terms + len(v.widths) for v in base.inputs))
        source += terms
    return MirrorMap(np.array(source), np.ones(len(source)))
