"""How a knowledge base is refined within one candidate's budget: by searches of all rules from several starts.

A search starts from the imitated rules, from the reference gains in all rules, and from what is known besides (a margin
design, a stored knowledge base). Further tries start from these in turn, farther around them, and share the budget. The
taught and validation situations together choose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.pipeline import search_results
from experiments.pipeline.assurance import authority
from experiments.pipeline.ladder import without_limits
from flcs import FuzzyController
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement.genome import number_of_genes, with_reference
from flcs.refinement.refinement import certified, refine
from flcs.refinement.rule_count import prune
from flcs.refinement.transfer import transferred
from sscq.baselines.search_plan import pooled
from sscq.certificates.constraint import CertifiedMargins
from sscq.search.descent import GradientDescent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from flcs import KnowledgeBase
    from flcs.refinement.rule_count import TradeOff
    from sscq.baselines.objective import Task
    from sscq.baselines.tuned import Tuned
    from sscq.certificates.constraint import LyapunovSet


_FROM = {"imitation": "from the imitated rules", "reference": "from the reference gains"}


_STEP = 0.01  # of the box: rules with a common Lyapunov function lie in a thin set, along which slopes lead


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
    name, title : str
    checkpoints : Path
    known : tuple of KnowledgeBase
        Of the same structure: further places to start from.
    share : float
        Of a candidate's budget.
    """

    def __init__(
        self, bench: Bench, task: Task, validation: Task, name: str, title: str, checkpoints: Path,
        known: tuple[KnowledgeBase, ...] = (), share: float = 1.0,
    ) -> None:  # fmt: skip
        self.bench, self.setup, self.task, self.validation = bench, bench.setup, task, validation
        self.name, self.title, self.checkpoints, self.share = name, title, checkpoints, share
        self.judged = on_tasks(bench, task, validation)
        # Searches keep within the fixed PID's travel and error; that it has all of them is no fault of its own.
        free = [replace(one, fitness=without_limits(one.fitness)) for one in (task, validation)]
        self.judged_free = on_tasks(bench, *free)
        self.tried: list[Tried] = []
        self.free, self._prefix = authority.free_share(self.setup), name
        self.known = tuple(map(self._whole, known))

    def best(self, start: KnowledgeBase) -> tuple[KnowledgeBase, Tuned]:
        """Return the best of all searches in the validation situations, and what all of them cost."""
        whole = self._whole(start)
        origins = (("imitation", whole), ("reference", with_reference(whole)))
        for number in range(self.setup.config.search.tries):
            self._search(number, *origins[number % 2])
        return self._chosen(with_reference(whole), self._transferred(whole))

    def finished(self, start: KnowledgeBase) -> tuple[KnowledgeBase, Tuned, TradeOff | None]:
        """Return the best of all searches without the rules that it does not need, held to margins and certificate.

        Also what all searches cost, and the trade-off of rules against fitness.
        """
        kb, entry = self.best(start)
        free = authority.goes_on_freely(self.setup, self.task, kb)
        if free:
            kb = self.all_freely(kb, start)
        network, laws = self.setup.network, self.setup.laws
        kb, curve = prune(
            self.task, kb, laws=laws, loss=network.rule_loss, most=network.max_rules or 25,
            validation=self.validation, margins=self.bench.asked,
        )  # fmt: skip
        kb = certified(kb, self.bench.asked, laws)  # fewer rules: other gains between what is left
        if not free:
            kb = authority.within_one(self.setup, self.task, kb, self.within)
        kb = authority.held(self.setup, self.task, kb)
        return kb, self._with_all(entry), curve

    def within(self, start: KnowledgeBase, inside: LyapunovSet, number: int) -> KnowledgeBase:
        """One search among rules with a common Lyapunov function; no worse than its start in the validation."""
        mirrored_alike = self.setup.network.mirrored
        n_genes = number_of_genes(start, self.setup.laws, mirrored=mirrored_alike)
        share = self.share * (1.0 - authority.free_share(self.setup)) / authority.ROUNDS
        title = f"{self.title}, certified"
        plan, progress = self.bench.plan(n_genes, self.checkpoints, title, 100 + number, share)
        budget = sum(method.evaluations or 0 for method in plan.methods)
        plan = replace(plan, methods=(GradientDescent(evaluations=budget, step=_STEP, spread=_STEP),))
        with progress:
            kb, found = refine(
                self.task, start, plan, CertifiedMargins(inside, self.bench.asked), laws=self.setup.laws,
                name=f"{self.name}_certified_{number}", title=title, validation=self.validation,
                mirrored=mirrored_alike,
            )  # fmt: skip
        self.tried.append(Tried(self.judged(kb), kb, search_results.labelled(found, "among certified rules")))
        return kb if self.tried[-1].validation <= self.judged(start) else start

    def all_freely(self, kb: KnowledgeBase, start: KnowledgeBase) -> KnowledgeBase:
        """Return what searches without a Lyapunov function find with all evaluations, as far as that has one.

        They begin as the shorter ones did, so these count no longer; `kb`, what those found, stays where it is better.
        """
        self.tried, self.free, self._prefix = [], 1.0, f"{self.name}_freely"  # with checkpoints of their own
        found = authority.held(self.setup, self.task, self.best(start)[0])
        return found if self.judged(found) <= self.judged(kb) else kb

    def _with_all(self, entry: Tuned) -> Tuned:
        histories = tuple(history for one in self.tried for history in one.entry.histories)
        return replace(entry, histories=histories, evaluations=sum(one.entry.spent for one in self.tried))

    def _transferred(self, whole: KnowledgeBase) -> tuple[KnowledgeBase, ...]:
        """The knowledge base that the design starts from on this grid, inside the margins, not searched."""
        if self.setup.start is None:
            return ()
        given = self._whole(transferred(self.setup.start, whole))
        return (certified(given, self.bench.asked, self.setup.laws),)

    def _chosen(self, unmoved: KnowledgeBase, given: tuple[KnowledgeBase, ...] = ()) -> tuple[KnowledgeBase, Tuned]:
        """The validation situations' choice; what was given is among them, and the fixed PID with its own travel."""
        found = min(self.tried, key=lambda one: one.validation)
        value, kb = found.validation, found.kb
        for one in given:
            if (other := self.judged(one)) < value:
                value, kb = other, one
        kb = unmoved if self.judged_free(unmoved) <= value else kb
        return kb, self._with_all(replace(found.entry, name=self.name, title=self.title))

    def _whole(self, kb: KnowledgeBase) -> KnowledgeBase:
        whole = completed(kb)
        return mirrored(whole) if self.setup.network.mirrored else whole

    def _search(self, number: int, origin: str, kb: KnowledgeBase) -> None:
        """All rules, near the start or, in a further try, far around it."""
        n_genes = number_of_genes(kb, self.setup.laws, mirrored=self.setup.network.mirrored)
        tries = self.setup.config.search.tries
        label = f"{self.title} {_FROM[origin]}" if tries > 1 else self.title
        share = self.free * self.share / tries
        plan, progress = self.bench.plan(n_genes, self.checkpoints, label, number, share, far=number > 0)
        with progress:
            better, found = refine(
                self.task, kb, plan, self.bench.asked, laws=self.setup.laws, name=f"{self._prefix}_{origin}_{number}",
                title=self.title, validation=self.validation, mirrored=self.setup.network.mirrored, starts=self.known,
            )  # fmt: skip
        entry = search_results.labelled(found, _FROM[origin]) if tries > 1 else found
        self.tried.append(Tried(self.judged(better), better, entry))


def on_tasks(bench: Bench, task: Task, validation: Task) -> Callable[[KnowledgeBase], float]:
    """Return the fitness of a knowledge base in the situations of both tasks."""
    taught, others = on_task(bench, task), on_task(bench, validation)
    return lambda kb: pooled(taught(kb), others(kb), task, validation)


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
