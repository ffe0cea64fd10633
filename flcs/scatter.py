"""Random gains in one region of the rules at a time: starts of a search far from the reference gains.

Searches of all rules begin at the reference gains and see what small steps bring. Where the good gains of one region
are far from those of all others (loose of a wheel's speed where it slips, say), small steps towards them may bring
nothing, or cost. So a share of the budget tries random gains in the rules of one region, all other rules at the
reference gains, and the best of them are starts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sscq.warp import Warp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flcs.knowledge_base import KnowledgeBase

    Region = tuple[tuple[str, ...], tuple[int, ...]]
    Array = np.ndarray

_KEEP = 0.5  # chance of a gain to stay what it is: margins seldom survive a change of all of them
_DRAWS = 60  # random gains drawn at most for each one wanted that keeps the margins


def regions(kb: KnowledgeBase) -> tuple[Region, ...]:
    """Return the regions of a knowledge base: names of inputs, numbers of terms; equal ones are shared."""
    found = dict.fromkeys((base.input_names, rule.terms) for base in kb.channels for rule in base.rules)
    return tuple(found)


def with_gains(kb: KnowledgeBase, region: Region, gains: Sequence[float] | Array) -> KnowledgeBase:
    """Return the knowledge base with gains [n_gains of all channels] in the rules of a region."""
    channels, first = [], 0
    for base in kb.channels:
        own = tuple(float(gain) for gain in gains[first : first + len(base.gain_names)])
        first += len(own)
        rules = tuple(
            replace(rule, gains=own) if (base.input_names, rule.terms) == region else rule for rule in base.rules
        )
        channels.append(replace(base, rules=rules))
    return replace(kb, channels=tuple(channels))


def drawn(kb: KnowledgeBase, count: int, seed: int, kept: Callable[[Array], Array] | None = None) -> Array:
    """Return random gains [up to count, n_gains] around the reference gains, over the whole box.

    Parameters
    ----------
    kb : KnowledgeBase
    count : int
    seed : int
    kept : callable, optional
        Gains [n, n_gains] to whether they may be used [n]; those that may not are drawn anew, up to a number.
    """
    low, high, middle = (np.array([g for base in kb.channels for g in getattr(base, name)], float)
                         for name in ("low", "high", "reference"))  # fmt: skip
    warp, rng = Warp(low, high, middle), np.random.default_rng(seed)
    genes = rng.random((_DRAWS * count, len(low)))
    genes = np.where(rng.random(genes.shape) < _KEEP, warp.genes(middle), genes)
    gains = warp.gains(genes)
    return gains[:count] if kept is None else gains[kept(gains)][:count]
