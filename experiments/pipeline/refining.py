"""How a knowledge base is refined within one candidate's budget: reference gains, coarse searches, fine searches.

The best fixed PID lies on the limit of the margins. Where a knowledge base with these reference gains cannot keep what
its search demands, other ones are found first (:mod:`flcs.refinement.refinement`). Random gains in the regions of its
rules may be tried then, and the gains of one region searched after the other. Gains over one input alone are searched
(:mod:`flcs.refinement.coarse`), then all rules, from what was found, from the imitated rules and from the reference
gains. Everything is paid from the candidate's evaluations, and the validation situations choose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline import search_results
from flcs import FuzzyController
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement import coarse
from flcs.refinement import regions as scatter
from flcs.refinement.genome import Genes, candidate, number_of_genes, with_reference
from flcs.refinement.refinement import anchored, certified, refine, repaired
from flcs.refinement.regions import draw_gains, regions_with_genes, with_gains, words
from flcs.refinement.transfer import transferred
from sscq.baselines import candidates
from sscq.baselines.objective import Objective
from sscq.baselines.tuned import Tuned
from sscq.margins.operating import SLACK
from sscq.search.cmaes import CmaEs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from experiments.pipeline.ladder import Bench
    from experiments.runtime.progress import Progress
    from experiments.settings import Setup
    from flcs import KnowledgeBase
    from sscq.baselines.candidates import Candidate
    from sscq.baselines.objective import Task
    from sscq.baselines.search_plan import Method, SearchPlan
    from sscq.margins.operating import OperatingMargins

    Found = list[tuple[float, KnowledgeBase]]


_PASSES, _OF_REGION = 2, 104_729  # rounds of random gains; between the seeds of two draws
_TAKEN = 4  # best that searches start from


def scattered(
    setup: Setup, task: Task, kept: OperatingMargins | None, kb: KnowledgeBase, name: str, title: str
) -> tuple[Tuned | None, tuple[KnowledgeBase, ...]]:
    """Return the best of random gains in one region after the other, twice, all other rules as in the best so far.

    Parameters
    ----------
    setup : Setup
        Its `scatter_share` of the evaluations is spent.
    task : Task
    kept : OperatingMargins, optional
        Margins that the gains, at rest and in passing, must keep.
    kb : KnowledgeBase
        Where it begins.
    name, title : str

    Returns
    -------
    entry : Tuned or None
        The best of them, and what all of them cost; None where too few evaluations are left for any.
    bases : tuple of KnowledgeBase
        The best few, the best first.
    """
    regions = scatter.regions(kb) * _PASSES
    each = round(setup.config.search.scatter_share * setup.evaluations) // len(regions)
    if each == 0:
        return None, ()
    mirror = setup.network.mirrored
    whole = candidate(kb, (kb,), setup.laws, name, title, mirrored=mirror)
    objective = Objective(task, whole.controller, whole.decode, kept)
    genes, found = Genes(whole.controller, mirror), [(float(objective(whole.start)[0]), kb)]
    judge = _Judge(setup, kept, whole, genes)
    for number, region in enumerate(regions):
        best = min(found, key=_value)[1]
        rows = draw_gains(
            best, each, region, setup.seed + _OF_REGION * number, judge.keeps, partial(judge.admits, best, region)
        )
        several = [with_gains(best, region, gains) for gains in rows]
        if several:
            found += zip(objective(judge.genomes(several)).tolist(), several, strict=True)
    value, best = min(found, key=_value)
    theta = objective.decode(genes.of(best)[None])[0]
    return Tuned(name, title, theta=theta, evaluations=len(found), fitness=value), tuple(
        one for _, one in sorted(found, key=_value)[:_TAKEN]
    )


@dataclass(frozen=True)
class _Judge:
    """Margins of drawn gains, and of all that a knowledge base with them may give."""

    setup: Setup
    kept: OperatingMargins | None
    whole: Candidate
    genes: Genes

    def keeps(self, gains: np.ndarray) -> np.ndarray:
        """Return whether gains [n, n_gains] by themselves keep the margins."""
        return self._good(lambda kept: kept.violation(gains[:, None, :], self.setup.threads), len(gains))

    def admits(self, kb: KnowledgeBase, region: scatter.Region, gains: np.ndarray) -> np.ndarray:
        """Return whether the knowledge base with gains [n, n_gains] in a region keeps the margins."""
        theta = self.genes.decode(self.genomes([scatter.with_gains(kb, region, row) for row in gains]))
        return self._good(lambda kept: kept.violation_of(self.whole.controller, theta, self.setup.threads), len(gains))

    def genomes(self, several: Sequence[KnowledgeBase]) -> np.ndarray:
        """Return the genomes [n, n_genes] of knowledge bases."""
        return np.clip(np.array([self.genes.of(one) for one in several]), self.whole.low, self.whole.high)

    def _good(self, violation: Callable[[OperatingMargins], np.ndarray], n: int) -> np.ndarray:
        return np.ones(n, bool) if self.kept is None else violation(self.kept) <= 0.0


def _value(pair: tuple[float, KnowledgeBase]) -> float:
    return pair[0]


_WIDE = 0.2  # first steps of the searches of one region, whose gains may be far from all others
_STEP = 0.1  # first steps of the small searches, in boxes
_NEARER = 0.03  # first steps of all rules together from gains that were searched before and lie on a limit
_FROM = {"imitation": "from the imitated rules", "reference": "from the reference gains"}
_ENOUGH = 60  # evaluations for each gene of a small search: more find nothing that all rules would not find sooner
_FEW = 60  # evaluations for each gene of all rules: with more there is time for the usual steps and a crowd
_GENTLER = (1.0, 0.9, 0.75)  # shares of the fixed gains: where the search of the reference gains starts


@dataclass(frozen=True)
class Tried:
    """One search's result, and its fitness in the validation situations."""

    validation: float
    kb: KnowledgeBase
    entry: Tuned


class Refining:
    """The searches of one knowledge base: they share the budget of one candidate.

    Parameters
    ----------
    bench : Bench
    task, validation : Task
        With the fitness that is searched, its travel limit included.
    fixed : Tuned
        The best fixed PID.
    name, title : str
    checkpoints : Path
    known : tuple of KnowledgeBase
        Of the same structure: further places to start from.
    """

    def __init__(
        self, bench: Bench, task: Task, validation: Task, fixed: Tuned, name: str, title: str, checkpoints: Path,
        known: tuple[KnowledgeBase, ...] = (),
    ) -> None:  # fmt: skip
        self.bench, self.setup, self.task, self.validation = bench, bench.setup, task, validation
        self.shares = bench.setup.config.search
        self.fixed, self.name, self.title, self.checkpoints = fixed, name, title, checkpoints
        self.judged = on_task(bench, validation)
        # Searches keep off the fixed PID's travel by a share; that it has all of it is no fault of its own.
        self.judged_free = on_task(bench, replace(validation, fitness=replace(validation.fitness, travel_limit=None)))
        self.kept = bench.margins
        self.tried: list[Tried] = []
        self.before: list[Tuned] = []
        self.left = 1.0  # of the budget
        self.known = tuple(map(self._whole, known))
        self.moved = False

    def best(self, start: KnowledgeBase) -> tuple[KnowledgeBase, Tuned]:
        """Return the best of all searches in the validation situations, and what all of them cost."""
        whole = self._whole(start)
        unmoved, reference = with_reference(whole), self._reference_gains()
        if reference is not None:
            self.moved = True
            searched = None if self.kept is None else self.kept.tightened(SLACK)
            whole = repaired(self._whole(anchored(start, reference)), searched, self.setup.laws)
        thrown = self._scattered(with_reference(whole))
        thrown = self._by_region(thrown or (with_reference(whole),)) or thrown
        coarse = self._coarse(with_reference(whole), thrown)
        starts = (("imitation", whole), ("reference", with_reference(whole)))
        for number in range(self.shares.tries):
            self._fine(number, *starts[number % 2], coarse, thrown)
        return self._chosen(unmoved, self._transferred(whole))

    def _transferred(self, whole: KnowledgeBase) -> tuple[KnowledgeBase, ...]:
        """The knowledge base that the design starts from on this grid, inside the margins, not searched."""
        if self.bench.setup.start is None:
            return ()
        return (certified(self._whole(transferred(self.bench.setup.start, whole)), self.kept, self.setup.laws),)

    def _chosen(self, unmoved: KnowledgeBase, given: tuple[KnowledgeBase, ...] = ()) -> tuple[KnowledgeBase, Tuned]:
        """The validation situations' choice; what was given is among them, and the fixed PID with its own travel."""
        found = min(self.tried, key=lambda one: one.validation)
        value, kb = min([(found.validation, found.kb), *((self.judged(one), one) for one in given)], key=_value)
        kb = unmoved if self.judged_free(unmoved) <= value else kb
        entries = (*self.before, *(one.entry for one in self.tried))
        histories = tuple(history for one in entries for history in one.histories)
        spent = sum(one.spent for one in entries)
        return kb, replace(found.entry, name=self.name, title=self.title, histories=histories, evaluations=spent)

    def _whole(self, kb: KnowledgeBase) -> KnowledgeBase:
        whole = completed(kb)
        return mirrored(whole) if self.setup.network.mirrored else whole

    def _reference_gains(self) -> np.ndarray | None:
        """Reference gains that keep the search's margins and the travel limit; None where the fixed PID's will do."""
        gains = self.fixed.theta[None]
        share = min(self.shares.anchor_share, self._enough(len(self.fixed.theta)))
        if share == 0.0 or self.kept is None or self.kept.violation(gains[:, None, :])[0] <= 0.0:
            return None
        start = np.vstack([part * gains for part in _GENTLER])
        candidate = candidates.fixed(self.setup.laws, self.setup.low, self.setup.high, start)
        candidate = replace(candidate, name=f"{self.name}_anchor", title=self.title)
        objective = Objective(self.task, candidate.controller, None, self.kept)
        plan, progress = self._plan("its reference gains", share)
        with progress:
            found = plan.search(objective, candidate)
        self.before.append(search_results.labelled(found, "its reference gains"))
        self.left -= share
        return found.theta

    def _scattered(self, kb: KnowledgeBase) -> tuple[KnowledgeBase, ...]:
        """The best of random gains in one region of the rules after the other."""
        entry, found = scattered(self.setup, self.task, self.kept, kb, f"{self.name}_scatter", self.title)
        if entry is not None:
            self.before.append(entry)
            self.left -= entry.spent / self.setup.evaluations
        return found

    def _by_region(self, starts: tuple[KnowledgeBase, ...]) -> tuple[KnowledgeBase, ...]:
        """The gains of one region of the rules after the other, from the best so far; the last found comes first."""
        if self.shares.region_share == 0.0:
            return ()
        found, mirror = starts, self.setup.network.mirrored
        regions = regions_with_genes(starts[0], self.setup.laws, mirrored=mirror)
        for region in regions:
            label = f"in {words(starts[0], region)} alone"
            plan, progress = self._plan(label, self.shares.region_share / len(regions), _WIDE)
            narrowed = partial(scatter.candidate, region=region)
            with progress:
                self._refined(f"{self.name}_region", label, found[0], plan, found[1:], narrowed)
            found = (self.tried[-1].kb, *found)
        self.left -= self.shares.region_share
        return found

    def _coarse(self, kb: KnowledgeBase, starts: tuple[KnowledgeBase, ...] = ()) -> tuple[KnowledgeBase, ...]:
        """Gains over one input alone, input after input."""
        names = coarse.inputs_of(kb)
        if self.shares.coarse_share == 0.0 or not names:
            return ()
        share = min(self.shares.coarse_share, len(names) * self._enough(_genes_over_one(kb)))
        for name in names:
            plan, progress = self._plan(f"over {name} alone", share / len(names))
            narrowed = partial(coarse.candidate, name=name)
            with progress:
                label = f"over {name} alone"
                self._refined(f"{self.name}_coarse", label, kb, plan, starts=(*self.known, *starts), narrowed=narrowed)
        self.left -= share
        return tuple(one.kb for one in self.tried)

    def _fine(
        self, number: int, origin: str, kb: KnowledgeBase, coarse: tuple[KnowledgeBase, ...],
        thrown: tuple[KnowledgeBase, ...] = (),
    ) -> None:  # fmt: skip
        """All rules, near the best start or far around it."""
        n_genes = number_of_genes(kb, self.setup.laws, mirrored=self.setup.network.mirrored)
        label, share = f"{self.title} from {origin}", self.left / self.shares.tries
        plan, progress = self.bench.plan(n_genes, self.checkpoints, label, number, share, far=number > 0)
        few = share * self.setup.evaluations < _FEW * n_genes
        if number == 0 and few and (self.moved or coarse or self.shares.region_share > 0.0):
            plan = replace(plan, methods=tuple(self._nearer(method, n_genes) for method in plan.methods))
        # With time to look around, a search is not to be drawn to where few genes have led: it came out worse there.
        starts = (*self.known, *thrown, *(coarse if few else ()))
        with progress:
            self._refined(f"{self.name}_{origin}_{number}", _FROM[origin], kb, plan, starts=starts)

    def _refined(
        self, name: str, label: str, kb: KnowledgeBase, plan: SearchPlan, starts: tuple[KnowledgeBase, ...] = (),
        narrowed: Callable[[Candidate, Genes], Candidate] | None = None,
    ) -> None:  # fmt: skip
        better, found = refine(
            self.task, kb, plan, self.bench.margins, laws=self.setup.laws, name=name, title=self.title,
            validation=self.validation, mirrored=self.setup.network.mirrored, starts=starts, narrowed=narrowed,
        )  # fmt: skip
        entry = found
        if self.shares.coarse_share > 0.0 or self.shares.region_share > 0.0 or self.moved:
            entry = search_results.labelled(entry, label)
        self.tried.append(Tried(self.judged(better), better, entry))

    def _plan(self, label: str, share: float, step: float = _STEP) -> tuple[SearchPlan, Progress]:
        """A search of few genes, which need no crowd: CMA-ES of the usual size, whatever searches all rules."""
        plan, progress = self.bench.plan(1, self.checkpoints, f"{self.title}, {label}", 0, share)
        spent = max(1, round(share * self.setup.evaluations))
        method = CmaEs(evaluations=spent, sigma=step, renew_every=self.shares.renew_every)
        return replace(plan, methods=(method,)), progress

    def _enough(self, n_genes: int) -> float:
        """Share of the budget that a search of few genes can use."""
        return _ENOUGH * n_genes / self.setup.evaluations

    def _nearer(self, method: Method, n_genes: int) -> Method:
        if not isinstance(method, CmaEs):
            return method
        return replace(method, sigma=_NEARER, population=max(12, round(4.0 * np.sqrt(n_genes))))


def _genes_over_one(kb: KnowledgeBase) -> int:
    """Most genes of a search over one input: its gains at each term, and the terms' places."""
    return sum(max(v.n_terms for v in b.inputs) * (len(b.gain_names) + 1) for b in kb.channels)


def on_task(bench: Bench, task: Task) -> Callable[[KnowledgeBase], float]:
    """Return the fitness of a knowledge base in a task."""

    def judged(kb: KnowledgeBase) -> float:
        controller = FuzzyController(kb, laws=bench.setup.laws)
        return float(task.fitness(task.quality(controller, controller.theta[None]))[0])

    return judged


def completed(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base with all rules of its grid: those that it lacks are at the reference gains."""
    channels = []
    for base in kb.channels:
        known = {rule.terms: rule for rule in base.rules}
        grid = full_grid([v.n_terms for v in base.inputs], base.reference, kb.inference.order)
        channels.append(replace(base, rules=tuple(known.get(rule.terms, rule) for rule in grid)))
    return replace(kb, channels=tuple(channels))
