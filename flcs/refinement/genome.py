"""A knowledge base as a candidate of a search in closed loop: its genome and its starts.

Genes are the gains of all rules in bent unit coordinates, then the places of all terms. Rules are switched by masks, so
that search, importance and pruning share one compiled kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flcs.fuzzy_controller import FuzzyController
from flcs.inference.meaning import kept_true
from flcs.knowledge_base.mirror import MirrorMap, mirror_map, terms_of_first
from sscq.baselines.candidates import Candidate
from sscq.search.encoding import GainScale

if TYPE_CHECKING:
    from controllers.protocols import Law
    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase


@dataclass(frozen=True)
class Genes:
    """Genome of a refinement: the gains of all rules, then the places of all terms.

    Term places are searched over their whole range and ordered when decoded, so no bound ties neighbouring terms; those
    of terms that are called negative, zero and positive are moved to where these words are true.
    Of a mirrored knowledge base only one side is searched, the other one follows; of one with common terms only the
    terms of the first channel.
    """

    controller: FuzzyController
    mirrored: bool = False

    @cached_property
    def kinds(self) -> np.ndarray:
        """Kind of every parameter."""
        return np.array([_kind(name) for name in self.controller.theta_names])

    @property
    def searched(self) -> np.ndarray:
        """Positions of the parameters that are genes."""
        free = np.ones(len(self.kinds), dtype=bool) if self._ties is None else self._ties.free
        return np.flatnonzero(free & (self.kinds != "mask"))

    @cached_property
    def _ties(self) -> MirrorMap | None:
        kb = self.controller.kb
        mirror = mirror_map(kb) if self.mirrored else None
        if not kb.common_terms:
            return mirror
        common = terms_of_first(kb)
        return common if mirror is None else mirror.after(common)

    def _tied(self, theta: np.ndarray) -> np.ndarray:
        """Parameters with those that follow others."""
        return theta if self._ties is None else self._ties.applied(theta)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the box of the genes: gains in bent unit coordinates, terms in their own units."""
        low, high = self.controller.theta_low.copy(), self.controller.theta_high.copy()
        low[self._gain_rows], high[self._gain_rows] = 0.0, 1.0
        for rows, variable in self._groups():
            low[rows], high[rows] = variable.low, variable.high
        return low[self.searched], high[self.searched]

    @cached_property
    def _gain_rows(self) -> np.ndarray:
        """Positions of the constant gains of the rules; slopes keep their own units."""
        names = self.controller.theta_names
        return np.array([k for k, n in enumerate(names) if self.kinds[k] == "gain" and "." not in n.partition("[")[0]])

    @cached_property
    def _warp(self) -> GainScale:
        low, high = self.controller.theta_low[self._gain_rows], self.controller.theta_high[self._gain_rows]
        middles = [base.reference for base in self.controller.kb.channels for _ in base.rules]
        return GainScale(low, high, np.array([gain for reference in middles for gain in reference]))

    def _groups(self) -> list[tuple[np.ndarray, Variable]]:
        """Positions of the term centres of each input, with the input."""
        places = np.flatnonzero(self.kinds == "centre")
        groups, first = [], 0
        for base in self.controller.kb.channels:
            for variable in base.inputs:
                groups.append((places[first : first + variable.n_terms], variable))
                first += variable.n_terms
        return groups

    def decode(self, genomes: np.ndarray) -> np.ndarray:
        """Return parameters [n, n_theta]: masks from the knowledge base, term centres in order, apart, as called."""
        theta = np.tile(self.controller.theta, (len(genomes), 1))
        theta[:, self.searched] = genomes
        theta[:, self._gain_rows] = self._warp.gains(theta[:, self._gain_rows])
        theta = self._tied(theta)
        for rows, variable in self._groups():
            centres, gap = np.sort(theta[:, rows], axis=1), variable.smallest_gap
            centres = np.minimum(centres, variable.high - gap * np.arange(len(rows) - 1, -1, -1))  # room for the others
            for k in range(1, len(rows)):
                centres[:, k] = np.maximum(centres[:, k], centres[:, k - 1] + gap)
            centres = kept_true(centres, gap) if variable.signed else centres
            theta[:, rows] = 0.5 * (centres - centres[:, ::-1]) if self.mirrored else centres
        return theta

    def of(self, kb: KnowledgeBase) -> np.ndarray:
        """Return the genome of a knowledge base of the same structure."""
        theta = FuzzyController(kb, laws=self.controller.laws).theta.copy()
        theta[self._gain_rows] = self._warp.genes(theta[self._gain_rows])
        return theta[self.searched]


def _kind(name: str) -> str:
    if name.endswith((".centre", ".width")):
        return name.rpartition(".")[2]
    return "mask" if name.startswith("on") else "gain"


def theta_width(base: RuleBase, order: int) -> int:
    """Return how many parameters a channel's rule base has."""
    per_gain = 1 + (len(base.inputs) if order else 0)
    terms = sum(v.n_terms + len(v.widths) for v in base.inputs)
    return len(base.rules) * (len(base.gain_names) * per_gain + 1) + terms


def candidate(
    kb: KnowledgeBase,
    starts: tuple[KnowledgeBase, ...],
    laws: tuple[Law, ...],
    name: str,
    title: str,
    *,
    mirrored: bool = False,
) -> Candidate:
    """Return the knowledge base's structure as a candidate of a search; `starts` have the same structure."""
    controller = FuzzyController(kb, laws=laws)
    genes = Genes(controller, mirrored)
    low, high = genes.bounds()
    begin = np.clip(np.array([genes.of(start) for start in starts]), low, high)
    return Candidate(name, title, controller, low, high, begin, decode=genes.decode)


def number_of_genes(kb: KnowledgeBase, laws: tuple[Law, ...] = (), *, mirrored: bool = False) -> int:
    """Return how many numbers the refinement of a knowledge base searches; of a mirrored one, those of one side."""
    return len(Genes(FuzzyController(kb, laws=laws), mirrored).searched)


def with_reference(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base with every rule at the reference gains: the fixed-gain controller as a candidate."""
    channels = []
    for base in kb.channels:
        rules = tuple(replace(rule, gains=base.reference, slopes=_flat(rule), on=True) for rule in base.rules)
        channels.append(replace(base, rules=rules))
    return replace(kb, channels=tuple(channels))


def _flat(rule: Rule) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(0.0 for _ in row) for row in rule.slopes)
