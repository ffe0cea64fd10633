"""Random gains in the regions of a knowledge base's rules, paid from its budget: where its searches may start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.found_files import Entry
from flcs import scatter
from flcs.refinement import Genes, candidate
from sscq.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.setup import Setup
    from flcs import KnowledgeBase
    from sscq.baselines import Candidate
    from sscq.objective import Task
    from sscq.operating import OperatingMargins

    Found = list[tuple[float, KnowledgeBase]]

_PASSES, _OF_REGION = 2, 104_729  # rounds of random gains; between the seeds of two draws
_TAKEN = 4  # best that searches start from


def scattered(
    setup: Setup, task: Task, kept: OperatingMargins | None, kb: KnowledgeBase, name: str, title: str
) -> tuple[Entry | None, tuple[KnowledgeBase, ...]]:
    """Return the best of random gains in one region after the other, twice, all other rules as in the best so far.

    Parameters
    ----------
    setup : Setup
        Its `scatter_share` of the evaluations is spent.
    task : Task
    kept : OperatingMargins, optional
        Margins that the gains and all mixtures of rules must keep.
    kb : KnowledgeBase
        Where it begins.
    name, title : str

    Returns
    -------
    entry : Entry or None
        The best of them, and what all of them cost; None where too few evaluations are left for any.
    bases : tuple of KnowledgeBase
        The best few, the best first.
    """
    regions = scatter.regions(kb) * _PASSES
    each = round(setup.scatter_share * setup.evaluations) // len(regions)
    if each == 0:
        return None, ()
    mirror = setup.network.mirrored
    whole = candidate(kb, (kb,), setup.laws, name, title, mirrored=mirror)
    objective = Objective(task, whole.controller, whole.decode, kept, whole.gain_sets)
    genes, found = Genes(whole.controller, mirror), [(float(objective(whole.start)[0]), kb)]
    judge = _Judge(setup, kept, whole, genes)
    for number, region in enumerate(regions):
        best = min(found, key=_value)[1]
        rows = scatter.drawn(
            best, each, region, setup.seed + _OF_REGION * number, judge.keeps, partial(judge.admits, best, region)
        )
        several = [scatter.with_gains(best, region, gains) for gains in rows]
        if several:
            found += zip(objective(judge.genomes(several)).tolist(), several, strict=True)
    value, best = min(found, key=_value)
    theta = objective.decode(genes.of(best)[None])[0]
    return Entry(name, title, theta, value, len(found)), tuple(one for _, one in sorted(found, key=_value)[:_TAKEN])


@dataclass(frozen=True)
class _Judge:
    """Margins of drawn gains, and of all that a knowledge base with them may give."""

    setup: Setup
    kept: OperatingMargins | None
    whole: Candidate
    genes: Genes

    def keeps(self, gains: np.ndarray) -> np.ndarray:
        """Return whether gains [n, n_gains] by themselves keep the margins."""
        return self._good(gains[:, None, :])

    def admits(self, kb: KnowledgeBase, region: scatter.Region, gains: np.ndarray) -> np.ndarray:
        """Return whether the knowledge base with gains [n, n_gains] in a region keeps the margins."""
        if self.kept is None:
            return np.ones(len(gains), bool)
        several = [scatter.with_gains(kb, region, row) for row in gains]
        return self._good(self.whole.gain_sets(self.genes.decode(self.genomes(several))))

    def genomes(self, several: Sequence[KnowledgeBase]) -> np.ndarray:
        """Return the genomes [n, n_genes] of knowledge bases."""
        return np.clip(np.array([self.genes.of(one) for one in several]), self.whole.low, self.whole.high)

    def _good(self, sets: np.ndarray) -> np.ndarray:
        if self.kept is None:
            return np.ones(len(sets), bool)
        return np.asarray(self.kept.violation(sets, self.setup.threads) <= 0.0)


def _value(pair: tuple[float, KnowledgeBase]) -> float:
    return pair[0]
