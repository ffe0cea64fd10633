"""A finished design with one part of the method taken out, each time at the design's own budget.

What does not hang on the part is read from the run folder, not computed anew: the reference, the fixed gains, the
teaching signal, the imitated and the refined knowledge base. The fitness, the travel limit, the seeds and the searches
are the design's.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from experiments.pipeline import judged_rollouts, judging, knowledge, ladder, refining, search_results
from experiments.pipeline.bench import Bench
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder, read_record
from experiments.settings import setup
from experiments.starting.opening import stored_settings
from flcs import FuzzyController, KnowledgeBase
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement.genome import number_of_genes, with_reference
from flcs.refinement.refinement import certified, refine
from flcs.refinement.rule_count import TradeOff, prune
from sscq.baselines.tuned import Tuned
from sscq.fitness import Fitness
from sscq.teaching.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Reference

FULL = "knowledge_base"


class Scratch:
    """Stages without a run folder: computed where they are asked for, and not kept."""

    kept = False

    def stage(self, name: str, compute: Any, save: Any, load: Any, inputs: Any = None) -> Any:  # noqa: ARG002
        """Compute a stage; its checkpoints go with it."""
        with tempfile.TemporaryDirectory() as folder:
            return compute(Path(folder))

    def branch(self) -> Scratch:
        """Return what serves a branch: there is nothing that branches could take from each other."""
        return self

    def join(self, branches: list[Scratch]) -> None:
        """Go on after branches."""


@dataclass(frozen=True)
class Design:
    """A finished design as far as its parts are used again.

    Attributes
    ----------
    bench : Bench
        Of the design's settings; its stages are not kept.
    ref : Reference
    fixed : Tuned
    equal : Fitness
        The design's, with its travel limit.
    signal : TeachingSignal
    imitated : KnowledgeBase
    refined : Refined
    rollouts : ndarray [measure, seed, situation]
        Of the full method in unforeseen situations, as the design judged it.
    """

    bench: Bench
    ref: Reference
    fixed: Tuned
    equal: Fitness
    signal: TeachingSignal
    imitated: KnowledgeBase
    refined: Refined
    rollouts: np.ndarray


def read(folder: Path) -> Design:
    """Read a finished design from its run folder."""
    stages, metrics = folder / "stages", formats.read_json(folder / "metrics.json")
    bench = Bench(
        setup(stored_settings("design", read_record(folder)["config"])), cast("RunFolder", Scratch()), quiet=True
    )
    if (rounds := bench.setup.config.teacher.rounds) > 1:
        raise UserError(f"{folder} was taught in {rounds} rounds; ablations need teacher.rounds=1")
    if (searches := len(bench.setup.searches)) > 1:
        raise UserError(f"{folder} is of {searches} searches; ablations need seeds=1 and budget.evaluations below 3000")
    start = formats.read_json(stages / "reference" / "result.json")["start"]
    ref = ladder.Reference(Fitness(**metrics["fitness"]), np.array(start), None)
    searched = [search_results.load(stages / name)[0] for name in ("fixed_cmaes", "fixed_genetic")]
    fixed = min(searched, key=lambda one: one.fitness)
    kept = stages / "knowledge_base_equal"
    refined = knowledge.Refined(
        KnowledgeBase.load(kept / "knowledge_base.json"), search_results.load(kept)[0],
        TradeOff.of(formats.read_json(kept / "trade_off.json")),
    )  # fmt: skip
    return Design(
        bench=bench,
        ref=ref,
        fixed=fixed,
        equal=ladder.equal_limits(bench, ref, fixed),
        signal=TeachingSignal.load(stages / "teaching_signal" / "teaching_signal.csv"),
        imitated=KnowledgeBase.load(stages / "imitation" / "knowledge_base.json"),
        refined=refined,
        rollouts=formats.read_npz(stages / "judgement" / "quality.npz")[f"{FULL}.unforeseen"],
    )


def without_entropy(design: Design) -> FuzzyController:
    """Fixed gains, teacher and refinement without the entropy term, at the full method's travel limit."""
    ref = replace(design.ref, fitness=replace(design.ref.fitness, entropy_weight=0.0))
    fixed = ladder.fixed_gains(design.bench, ref)
    signal = knowledge.teaching_signal(design.bench, ref, fixed)
    imitated = knowledge.imitation(design.bench, ref, fixed, signal)
    return _refined(design, design.bench, imitated, replace(design.equal, entropy_weight=0.0), fixed)


def without_pruning(design: Design) -> FuzzyController:
    """The refined knowledge base with the rules that were switched off: their gains are still in it."""
    controller = FuzzyController(design.refined.kb, laws=design.bench.setup.laws)
    theta = controller.theta
    for name in design.refined.curve.dropped if design.refined.curve is not None else ():
        theta[controller.theta_names.index(name)] = 1.0
    return replace(controller, kb=controller.with_theta(theta))


def without_refinement(design: Design) -> FuzzyController:
    """The imitation alone."""
    return FuzzyController(design.imitated, laws=design.bench.setup.laws)


def with_table(design: Design) -> FuzzyController:
    """The look-up table of the default grid in place of the rules."""
    return FuzzyController(design.refined.kb, laws=design.bench.setup.laws, lookup=True)


def with_clairvoyant_teacher(design: Design) -> FuzzyController:
    """A teacher that knows the noise to come."""
    setup = design.bench.setup
    bench = _bench(design, teacher=replace(setup.teacher, clairvoyant=True))
    signal = knowledge.teaching_signal(bench, design.ref, design.fixed)
    return _refined(design, bench, knowledge.imitation(bench, design.ref, design.fixed, signal))


def without_imitation(design: Design) -> FuzzyController:
    """All rules at the reference gains, searched with what refinement and teacher may spend; terms as taught."""
    setup, bench = design.bench.setup, design.bench
    task, whole = setup.task(fitness=design.equal), with_reference(refining.completed(design.imitated))
    alike = setup.network.mirrored
    if alike:
        whole = mirrored(whole)
    n_genes = number_of_genes(whole, setup.laws, mirrored=alike)
    share = 1.0 + judging.taught_loops(bench) / setup.evaluations
    plan, _ = bench.plan(n_genes, None, "", 1, share)
    validation = ladder.validation_task(bench, design.equal, design.fixed)
    kb, _ = refine(task, whole, plan, bench.margins, laws=setup.laws, validation=validation, mirrored=alike)
    kb, _ = prune(
        task, kb, laws=setup.laws, loss=setup.network.rule_loss, most=setup.network.max_rules or 25,
        validation=validation, margins=bench.margins,
    )  # fmt: skip
    return FuzzyController(certified(kb, bench.margins, setup.laws), laws=setup.laws)


def with_error_alone(design: Design) -> FuzzyController:
    """One input, the error; the teaching signal is the design's."""
    network, terms = design.bench.setup.network, design.bench.setup.network.terms
    first = terms if terms is None or isinstance(terms, int) else tuple(terms)[:1]
    bench = _bench(design, network=replace(network, inputs=("e",), terms=first))
    return _refined(design, bench, knowledge.imitation(bench, design.ref, design.fixed, design.signal))


VARIANTS: Mapping[str, tuple[str, Callable[[Design], FuzzyController]]] = {
    "entropy": ("without the entropy term", without_entropy),
    "pruning": ("without pruning", without_pruning),
    "refinement": ("without refinement (imitation alone)", without_refinement),
    "table": ("look-up table instead of rules", with_table),
    "foresight": ("teacher that knows the noise to come", with_clairvoyant_teacher),
    "imitation": ("without imitation, from the reference gains", without_imitation),
    "inputs": ("error alone as input", with_error_alone),
}
"""Name of each variant, its title, and what makes its controller."""


def rollouts(design: Design, controller: FuzzyController) -> np.ndarray:
    """Return all measures [measure, seed, situation] of a variant in the unforeseen rollouts of the design."""
    one = Tuned("variant", "", "", controller, controller.theta)
    return judged_rollouts.rollouts(design.bench, one, design.ref.fitness.entropy_scale)["unforeseen"]


def _bench(design: Design, **changes: Any) -> Bench:
    setup = replace(design.bench.setup, **changes)
    return Bench(setup, cast("RunFolder", Scratch()), quiet=True)


def _refined(
    design: Design, bench: Bench, imitated: KnowledgeBase, fitness: Fitness | None = None, fixed: Tuned | None = None
) -> FuzzyController:
    found = knowledge.refined(bench, fitness or design.equal, imitated, fixed or design.fixed, "equal")
    return FuzzyController(found.kb, laws=bench.setup.laws)
