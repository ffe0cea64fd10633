"""One region before all: the gains of the rules of one region alone, all other rules as they are.

A region is one combination of terms, such as a wheel that slips. Its good gains may be far from those of all others,
and a search of all rules at once, whose steps must keep what the others do, hardly gets there. A search of these few
gains does, with large steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from flcs.refinement import Genes, theta_width
from flcs.scatter import regions

if TYPE_CHECKING:
    from controllers.protocols import Law
    from flcs.knowledge_base import KnowledgeBase
    from flcs.scatter import Region
    from sscq.baselines import Candidate


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


def searched(kb: KnowledgeBase, laws: tuple[Law, ...] = (), *, mirrored: bool = False) -> tuple[Region, ...]:
    """Return the regions of a knowledge base that have genes: of mirrored ones the other side follows."""
    genes = Genes(FuzzyController(kb, laws=laws), mirrored)
    return tuple(region for region in regions(kb) if len(genes_of(genes, region)))


def candidate(whole: Candidate, genes: Genes, region: Region) -> Candidate:
    """Return a knowledge base's candidate (of :func:`flcs.refinement.candidate`) with one region's gains searched.

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
