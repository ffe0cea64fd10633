"""From the teaching signal to refined knowledge bases, as stages of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import formats, found_files
from experiments.progress import Progress
from flcs import FuzzyController, KnowledgeBase
from flcs import design as imitate
from flcs.refinement import prune, refine, with_reference
from flcs.rule_base import full_grid
from sscq import baselines
from sscq.box import Box
from sscq.teacher import teach
from sscq.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from experiments.found_files import Entry
    from experiments.ladder import Bench, Reference
    from sscq.fitness import Fitness

_NAMES = {"equal": "knowledge base", "free": "knowledge base, free travel"}


@dataclass(frozen=True)
class Refined:
    """A refined knowledge base and how it was found."""

    kb: KnowledgeBase
    entry: Entry
    dropped: list[Any]


def teaching_signal(bench: Bench, ref: Reference, fixed: Entry) -> TeachingSignal:
    """Best gains over time in the taught situations; receding windows, starting from the fixed gains."""
    setup = bench.setup

    def compute(_: Path) -> TeachingSignal:
        box = Box(tuple(setup.low), tuple(setup.high))
        total = sum(int(s.t_end / setup.teacher.window + 1e-9) for s in setup.sets["taught"])
        with Progress(total, "teaching signal", "windows", quiet=bench.quiet) as progress:

            def tick(done: int, _total: int, _evaluations: int) -> None:
                progress.at(done)

            return teach(
                setup.plant, setup.laws, setup.sets["taught"], ref.fitness, box, fixed.theta, setup.teacher,
                seed=setup.seed, step=setup.step, options=setup.options, threads=setup.threads, progress=tick,
            )  # fmt: skip

    return bench.folder.stage(
        "teaching_signal", compute,
        _save_signal,
        lambda folder: TeachingSignal.load(folder / "teaching_signal.csv"),
    )  # fmt: skip


def _save_signal(folder: Path, signal: TeachingSignal) -> None:
    signal.save(folder / "teaching_signal.csv")


def imitation(bench: Bench, ref: Reference, fixed: Entry, signal: TeachingSignal) -> KnowledgeBase:
    """The fuzzy network's knowledge base of the teaching signal, rules that hardly fire left out."""
    setup = bench.setup

    def compute(_: Path) -> KnowledgeBase:
        return imitate(
            signal, setup.low, setup.high, fixed.theta, config=setup.network, seed=setup.seed, plant=setup.plant,
            laws=setup.laws, tick=setup.tick, fitness=ref.fitness.plain(),
            taught=[{"name": s.name, "seed": s.seed} for s in setup.sets["taught"]],
            valid_range=_valid_range(bench),
        )  # fmt: skip

    return bench.folder.stage("imitation", compute, _save, _load)


def _valid_range(bench: Bench) -> dict[str, list[float]]:
    """Delays and noise that were taught: outside, the knowledge base has not proved itself."""
    taught = bench.setup.sets["taught"]
    levels = [max([0.0, *s.noise_levels(bench.setup.plant)]) for s in taught]
    return {
        "delay": [min(s.delay for s in taught), max(s.delay for s in taught)],
        "output_delay": [min(s.output_delay for s in taught), max(s.output_delay for s in taught)],
        "noise": [min(levels), max(levels)],
    }


def refined(bench: Bench, fitness: Fitness, start: KnowledgeBase, fixed: Entry, kind: str) -> Refined:
    """Closed-loop refinement of all rules of the grid, then pruning of those that the loop does not miss.

    Half of the budget starts from the imitated rules, half from the reference gains; the validation situations choose.
    """
    setup, name = bench.setup, f"knowledge_base_{kind}"

    def compute(checkpoints: Path) -> Refined:
        task, whole = setup.task(fitness=fitness), completed(start)
        judged = on_validation(bench, fitness, fixed)
        tried: list[tuple[float, KnowledgeBase, Entry]] = []
        for number, (origin, kb) in enumerate((("imitation", whole), ("reference", with_reference(whole)))):
            n_genes = sum(len(b.rules) * len(b.gain_names) + sum(v.n_terms for v in b.inputs) for b in kb.channels)
            plan, progress = bench.plan(n_genes, checkpoints, f"{_NAMES[kind]} from {origin}", number, 0.5)
            with progress:
                better, found = refine(
                    task, kb, plan, bench.margins, laws=setup.laws, name=f"{name}_{origin}", title=_NAMES[kind]
                )
            tried.append((judged(better), better, found_files.entry(found)))
        _, kb, entry = min(tried, key=lambda one: one[0])
        kb, dropped = prune(task, kb, laws=setup.laws, most=setup.network.max_rules or 25)
        histories = tuple(history for _, _, one in tried for history in one.histories)
        spent = sum(one.evaluations for _, _, one in tried)
        entry = replace(entry, name=name, title=_NAMES[kind], histories=histories, evaluations=spent)
        return Refined(kb, entry, [[rule, value] for rule, value in dropped])

    def save(folder: Path, result: Refined) -> None:
        _save(folder, result.kb)
        found_files.save(folder, [result.entry])
        formats.write_json(folder / "pruning.json", {"dropped": result.dropped})

    def load(folder: Path) -> Refined:
        dropped = formats.read_json(folder / "pruning.json")["dropped"]
        return Refined(_load(folder), found_files.load(folder)[0], dropped)

    return bench.folder.stage(name, compute, save, load)


def on_validation(bench: Bench, fitness: Fitness, fixed: Entry) -> Callable[[KnowledgeBase], float]:
    """Return the fitness in the validation situations, at no more travel than the fixed PID has there."""
    task = bench.setup.task("validation", fitness)
    if fitness.travel_limit is not None:
        own = baselines.fixed(bench.setup.laws, bench.setup.low, bench.setup.high, fixed.theta)
        travel = task.quality(own.controller, fixed.theta[None]).values["total_variation"].mean()
        fitness = replace(fitness, travel_limit=float(travel))

    def judged(kb: KnowledgeBase) -> float:
        controller = FuzzyController(kb, laws=bench.setup.laws)
        return float(fitness(task.quality(controller, controller.theta[None]))[0])

    return judged


def completed(kb: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base with all rules of its grid: those that it lacks are at the reference gains."""
    channels = []
    for base in kb.channels:
        known = {rule.terms: rule for rule in base.rules}
        grid = full_grid([v.n_terms for v in base.inputs], base.reference, kb.inference.order)
        channels.append(replace(base, rules=tuple(known.get(rule.terms, rule) for rule in grid)))
    return replace(kb, channels=tuple(channels))


def _save(folder: Path, kb: KnowledgeBase) -> None:
    kb.save(folder / "knowledge_base.json")


def _load(folder: Path) -> KnowledgeBase:
    return KnowledgeBase.load(folder / "knowledge_base.json")


def rule_gains(kb: KnowledgeBase) -> np.ndarray:
    """Return the gains [n_rules, n_gains] of the rules that are on, of a single-channel knowledge base."""
    return np.array([rule.gains for base in kb.channels for rule in base.rules if rule.on])
