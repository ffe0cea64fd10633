"""Random gains in one region of the rules at a time: starts of a search far from the reference gains.

Searches of all rules begin at the reference gains and see what small steps bring. Where the good gains of one region
are far from those of all others (loose of a wheel's speed where it slips, say), small steps towards them may bring
nothing, or cost. So a share of the budget tries random gains in the rules of one region, all other rules as in
the best so far, and the best of all are starts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flcs.knowledge_base import KnowledgeBase

    Region = tuple[tuple[str, ...], tuple[int, ...]]
    Array = np.ndarray

_KEEP = 0.5  # chance of a channel's gains to stay what they are: margins seldom survive a change of all
_RANGE, _NONE = 50.0, 0.25  # largest over smallest gain drawn; chance of none where there may be none
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


def gains_of(kb: KnowledgeBase, region: Region) -> Array:
    """Return the gains [n_gains of all channels] in the rules of a region; of channels without it the reference's."""
    found: list[float] = []
    for base in kb.channels:
        own = [rule.gains for rule in base.rules if (base.input_names, rule.terms) == region]
        found += own[0] if own else base.reference
    return np.array(found, float)


def drawn(
    kb: KnowledgeBase, count: int, region: Region, seed: int, kept: Callable[[Array], Array] | None = None
) -> Array:
    """Return random gains [up to count, n_gains] over the whole box, equal in ratios; some channels keep theirs.

    Every choice of channels that change has its turn; where all would keep theirs, no other draw may be used.

    A gain is drawn log-uniformly between its upper end and a fiftieth of that, or its lower end where that is more; one
    that may be 0 is 0 in a quarter of the cases.

    Parameters
    ----------
    kb : KnowledgeBase
    count : int
    region : pair of names and numbers
        Of :func:`regions`: whose gains some channels keep.
    seed : int
    kept : callable, optional
        Gains [n, n_gains] to whether they may be used [n]; those that may not are drawn anew, up to a number.
    """
    low, high = (np.array([g for base in kb.channels for g in getattr(base, end)], float) for end in ("low", "high"))
    rng, shape = np.random.default_rng(seed), (_DRAWS * count, len(low))
    least = np.maximum(low, high / _RANGE)
    ratio = np.divide(high, least, out=np.ones_like(high), where=least > 0.0)
    gains = np.where(least > 0.0, least * ratio ** rng.random(shape), low)
    gains = np.where((low == 0.0) & (rng.random(shape) < _NONE), 0.0, gains)
    stays = rng.random((shape[0], len(kb.channels))) < _KEEP
    wide = np.repeat(stays, [len(base.gain_names) for base in kb.channels], axis=1)
    gains = np.where(wide, gains_of(kb, region), gains)
    usable = np.arange(len(gains)) if kept is None else np.flatnonzero(kept(gains))
    return gains[usable[_in_turn(stays[usable])[:count]]]


def _in_turn(stays: Array) -> Array:
    """Order of draws [n] in which the choices of channels that stay [n, n_channels] take turns.

    Margins bind some channels hard and others hardly: taken as they come, nearly all draws that keep them would leave
    the hard ones as they are, and the few that do not would never be tried.
    """
    turns, seen = np.empty(len(stays), int), dict[bytes, int]()
    for number, row in enumerate(stays):
        turns[number] = seen[row.tobytes()] = seen.get(row.tobytes(), -1) + 1
    turns[stays.all(axis=1)] = len(stays)  # nothing changes: last of all
    return np.argsort(turns, kind="stable")
