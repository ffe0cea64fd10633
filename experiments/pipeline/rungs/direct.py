"""The knowledge base without imitation: the same refinement from the reference gains, with all the evaluations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.pipeline import search_results
from experiments.pipeline.judging import of_kb, taught_loops
from experiments.pipeline.knowledge import seen_by_fixed
from experiments.pipeline.ladder import validation_task
from experiments.pipeline.refining import Refining
from experiments.pipeline.rungs.rung import Rungs
from flcs.refinement.direct import direct

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.rungs import Starts
    from flcs import KnowledgeBase
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

NAME = "knowledge_base_direct"
_TITLE = "knowledge base without imitation"


def rungs(bench: Bench, fixed: Tuned, equal: Fitness, imitated: KnowledgeBase, starts: Starts) -> Rungs:
    """Return the rung: its search gets what teaching and the refinement of the knowledge base may spend."""
    setup = bench.setup
    share = 1.0 + taught_loops(bench) / setup.evaluations

    def compute(checkpoints: Path) -> tuple[KnowledgeBase, Tuned]:
        task, validation = setup.task(fitness=equal), validation_task(bench, equal, fixed)
        start = direct(imitated, seen_by_fixed(bench.setup, fixed), setup.plant, setup.network)
        searches = Refining(bench, task, validation, NAME, _TITLE, checkpoints, starts(start), share)
        kb, found, _ = searches.finished(start)
        kb = replace(kb, training={"rules_before_pruning": start.n_rules, "rules": kb.n_rules})
        return kb, found

    kb, entry = bench.stage(NAME, compute, *search_results.REFINED)
    text = "terms where the fixed PID's loop has been, rules from its gains; refined with the teacher's budget, too"
    spent = entry.spent + bench.before_refinement
    return Rungs((of_kb(NAME, _TITLE, text, bench, kb, spent),), (), {NAME: kb})
