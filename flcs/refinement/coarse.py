"""Coarse before fine: gains that follow one input of a rule base alone, searched before all its rules are.

A gain table over one variable is a special rule base: the rules that differ in that input alone say the same, and
interpolation between the terms' centres is the table's. So the table's few numbers can be searched in the rule base's
own loop, with the same kernel, and what is found is a genome of the whole base: the fine search starts from there. Few
numbers find their way along a limit (margins, actuator travel) where steps in all rules at once would break it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flcs.refinement.genome import Genes, theta_width

if TYPE_CHECKING:
    from flcs.fuzzy_controller import FuzzyController
    from flcs.inference.rule_base import RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from sscq.baselines.candidates import Candidate

_FREE, _OWN = -1, -2  # a theta that keeps its start value; a term centre at zero


def inputs_of(kb: KnowledgeBase) -> tuple[str, ...]:
    """Return the inputs that all channels of a knowledge base have, in the order of the first."""
    first, *others = (base.input_names for base in kb.channels)
    return tuple(name for name in first if all(name in names for names in others))


@dataclass(frozen=True)
class OneInput:
    """Coarse genome of a knowledge base: gains of each term of one input, and the places of its terms.

    Where the input's range holds zero, gains follow its magnitude, as a gain table's do: mirrored terms have the same
    gains and mirrored places. Other inputs' terms stay where they are.

    Attributes
    ----------
    genes : Genes
        Genome of the whole knowledge base.
    name : str
        The input.
    """

    genes: Genes
    name: str

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """For each theta its coarse gene (or `_FREE`, `_OWN`) and sign; bounds of the coarse genes."""
        return _Numbering(self.genes.controller, self.name).result()

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the box of the coarse genes: gains in bent unit coordinates, places in the input's units."""
        return self._places[2], self._places[3]

    def whole(self, coarse: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Return genomes [n, n_genes] of the whole base; what is not coarse is as in `start` [n_genes]."""
        gene, sign, *_ = self._places
        searched = self.genes.searched
        gene, sign = gene[searched], sign[searched]
        found = np.tile(start, (len(coarse), 1))
        found[:, gene == _OWN] = 0.0
        taken = gene >= 0
        found[:, taken] = coarse[:, gene[taken]] * sign[taken]
        low, high = self.genes.bounds()
        return np.clip(found, low, high)

    def of(self, start: np.ndarray) -> np.ndarray:
        """Return the coarse genome nearest to a genome of the whole base: means of what becomes one."""
        gene, sign, low, high = self._places
        searched = self.genes.searched
        gene, sign = gene[searched], sign[searched]
        means = np.array([np.mean(start[gene == k] * sign[gene == k]) for k in range(len(low))])
        return np.clip(means, low, high)


class _Numbering:
    """Goes through a controller's theta and gives each number its coarse gene."""

    def __init__(self, controller: FuzzyController, name: str) -> None:
        self.gene = np.full(len(controller.theta_names), _FREE)
        self.sign = np.ones(len(self.gene))
        self.low: list[float] = []
        self.high: list[float] = []
        self.common = controller.kb.common_terms
        self.places: int | None = None  # of the first channel's terms
        first, order = 0, controller.kb.inference.order
        for base in controller.kb.channels:
            self._channel(base, name, first, 1 + (len(base.inputs) if order else 0))
            first += theta_width(base, order)

    def result(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.gene, self.sign, np.array(self.low), np.array(self.high)

    def _channel(self, base: RuleBase, name: str, first: int, per_gain: int) -> None:
        place = base.input_names.index(name)
        variable = base.inputs[place]
        even, n_gains = variable.low < 0.0 < variable.high, len(base.gain_names)
        groups = [min(k, variable.n_terms - 1 - k) if even else k for k in range(variable.n_terms)]
        begin = self._more(n_gains * (max(groups) + 1), 0.0, 1.0)
        for number, rule in enumerate(base.rules):
            own = begin + groups[rule.terms[place]] * n_gains
            places = first + (number * n_gains + np.arange(n_gains)) * per_gain
            self.gene[places] = own + np.arange(n_gains)
        terms = first + len(base.rules) * (n_gains * per_gain + 1)
        terms += sum(v.n_terms + len(v.widths) for v in base.inputs[:place])
        self._centres(variable, groups, terms, even=even)

    def _centres(self, variable: Variable, groups: list[int], first: int, *, even: bool) -> None:
        n = variable.n_terms
        if self.common and self.places is not None:
            begin = self.places
        elif even:
            begin = self._more(n // 2, variable.smallest_gap, max(-variable.low, variable.high))
        else:
            begin = self._more(n, variable.low, variable.high)
        self.places = begin
        if not even:
            self.gene[first : first + n] = begin + np.arange(n)
            return
        for k, group in enumerate(groups):
            middle = 2 * k == n - 1
            self.gene[first + k] = _OWN if middle else begin + group
            self.sign[first + k] = -1.0 if 2 * k < n - 1 else 1.0

    def _more(self, count: int, low: float, high: float) -> int:
        """Add genes with the same bounds; return the number of the first."""
        before = len(self.low)
        self.low += [low] * count
        self.high += [high] * count
        return before


def candidate(whole: Candidate, genes: Genes, name: str) -> Candidate:
    """Return the coarse form of a knowledge base's candidate (of :func:`flcs.refinement.genome.candidate`).

    Its first start are the coarse forms of the whole base's starts; `decode` gives parameters of the same controller.
    """
    form, base = OneInput(genes, name), whole.start[-1]
    low, high = form.bounds()
    starts = np.array([form.of(start) for start in whole.start])
    return replace(
        whole, name=f"{whole.name}_over_{name}", low=low, high=high, start=starts,
        decode=lambda coarse: genes.decode(form.whole(coarse, base)),
    )  # fmt: skip
