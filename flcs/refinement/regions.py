"""One region of the rules at a time: random gains in it as starts of a search, or a search of its gains alone.

A region is one combination of terms, such as a wheel that slips. Its good gains may be far from those of all others.
Searches of all rules begin at the reference gains and see what small steps bring: small steps towards such gains may
bring nothing, or cost. So a share of the budget tries random gains in the rules of one region, all other rules as in
the best so far, and the best of all are starts. Or the gains of that region are searched before all, with large steps,
all other rules as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from flcs.refinement.genome import Genes, theta_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controllers.protocols import Law
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from sscq.baselines.candidates import Candidate

    Region = tuple[tuple[str, ...], tuple[int, ...]]
    Array = np.ndarray


_KEEP = 0.5  # chance of a channel's gains to stay what they are: margins seldom survive a change of all
_NEAR, _FACTOR = 0.5, 1.5  # chance of a channel that changes to do so by at most this factor either way
_RANGE = 50.0  # largest over smallest gain drawn
_NONE, _NO_INTEGRAL = 0.1, 0.5  # chance of none where there may be none
_ASKED, _ENOUGH = 20, 3  # times as many as wanted: asked at most whether they are admitted, and enough of them
_DRAWS = 60  # random gains drawn at most for each one wanted that keeps the margins


def regions(kb: KnowledgeBase) -> tuple[Region, ...]:
    """Return the regions of a knowledge base: names of inputs, numbers of terms; equal ones are shared."""
    found = dict.fromkeys((base.input_names, rule.terms) for base in kb.channels for rule in base.rules)
    return tuple(found)


def words(kb: KnowledgeBase, region: Region) -> str:
    """Return a region as its inputs' terms: "slip_seen B"."""
    names, terms = region
    base = next(base for base in kb.channels if base.input_names == names)
    return ", ".join(f"{v.name} {v.labels[term]}" for v, term in zip(base.inputs, terms, strict=True))


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


def draw_gains(
    kb: KnowledgeBase, count: int, region: Region, seed: int, kept: Callable[[Array], Array] | None = None,
    admitted: Callable[[Array], Array] | None = None,
) -> Array:  # fmt: skip
    """Return random gains [up to count, n_gains] over the whole box, equal in ratios; some channels keep theirs.

    Every choice of channels that change has its turn; where all would keep theirs, no other draw may be used.

    A gain is drawn log-uniformly between its upper end and a fiftieth of that, or its lower end where that is more; one
    that may be 0 is 0 in a tenth of the cases, an integral gain in half of them. Half of the channels that change stay
    within a factor of 1.5 of what they were: margins may ask for that where another channel goes far.

    Parameters
    ----------
    kb : KnowledgeBase
    count : int
    region : pair of names and numbers
        Of :func:`regions`: whose gains some channels keep.
    seed : int
    kept : callable, optional
        Gains [n, n_gains] to whether they may be used [n]; those that may not are drawn anew, up to a number.
    admitted : callable, optional
        The same of what costs more to know: asked of those that are kept, as long as there are too few.
    """
    low, high = (np.array([g for base in kb.channels for g in getattr(base, end)], float) for end in ("low", "high"))
    rng, shape = np.random.default_rng(seed), (_DRAWS * count, len(low))
    least = np.maximum(low, high / _RANGE)
    ratio = np.divide(high, least, out=np.ones_like(high), where=least > 0.0)
    gains = np.where(least > 0.0, least * ratio ** rng.random(shape), low)
    none = np.array([_NO_INTEGRAL if name == "ki" else _NONE for base in kb.channels for name in base.gain_names])
    gains = np.where((low == 0.0) & (rng.random(shape) < none), 0.0, gains)
    widths, now = [len(base.gain_names) for base in kb.channels], gains_of(kb, region)
    stays, near = (rng.random((shape[0], len(kb.channels))) < share for share in (_KEEP, _NEAR))
    nearer = np.clip(now * _FACTOR ** rng.uniform(-1.0, 1.0, shape), low, high)
    gains = np.where(np.repeat(near, widths, axis=1), nearer, gains)
    gains = np.where(np.repeat(stays, widths, axis=1), now, gains)
    usable = np.arange(len(gains)) if kept is None else np.flatnonzero(kept(gains))
    chosen = usable[_in_turn(stays[usable])]
    if admitted is not None:
        chosen = _admitted(chosen, count, lambda places: admitted(gains[places]))
        chosen = chosen[_in_turn(stays[chosen])]
    return gains[chosen[:count]]


def _admitted(places: Array, count: int, admitted: Callable[[Array], Array]) -> Array:
    """The first of the places that are admitted: some times as many as wanted, so that every choice has its turn."""
    found: list[int] = []
    for first in range(0, min(len(places), _ASKED * count), count):
        if len(found) >= _ENOUGH * count:
            break
        part = places[first : first + count]
        found += part[admitted(part)].tolist()
    return np.array(found, int)


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


def genes_of(genes: Genes, region: Region) -> np.ndarray:
    """Return the places, among the genes, of the gains of a region's rules [n_free]; with slopes, theirs as well."""
    names, terms = region
    kb, first = genes.controller.kb, 0
    places: list[int] = []
    per_gain = 1 + (len(names) if kb.inference.order else 0)
    for base in kb.channels:
        width = len(base.gain_names) * per_gain
        for number, rule in enumerate(base.rules):
            if (base.input_names, rule.terms) == (names, terms):
                places += range(first + number * width, first + (number + 1) * width)
        first += theta_width(base, kb.inference.order)
    return np.flatnonzero(np.isin(genes.searched, places))


def regions_with_genes(kb: KnowledgeBase, laws: tuple[Law, ...] = (), *, mirrored: bool = False) -> tuple[Region, ...]:
    """Return the regions of a knowledge base that have genes: of mirrored ones the other side follows."""
    genes = Genes(FuzzyController(kb, laws=laws), mirrored)
    return tuple(region for region in regions(kb) if len(genes_of(genes, region)))


def candidate(whole: Candidate, genes: Genes, region: Region) -> Candidate:
    """Return a knowledge base's candidate (:func:`flcs.refinement.genome.candidate`) with one region's gains searched.

    All else stays as in its first start. Of a mirrored knowledge base what follows the region's gains follows them.
    """
    free, base = genes_of(genes, region), whole.start[0]

    def decode(few: np.ndarray) -> np.ndarray:
        full = np.tile(base, (len(few), 1))
        full[:, free] = few
        return genes.decode(full)

    name = f"{whole.name}_in_{'_'.join(map(str, region[1]))}"
    return replace(
        whole, name=name, low=whole.low[free], high=whole.high[free], start=whole.start[:, free], decode=decode
    )
