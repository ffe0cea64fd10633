"""From the teaching signal to refined knowledge bases, as stages of a run.

The fixed PID's way through the taught situations gives ranges that a knowledge base must know its way in. Its inputs
are chosen by measurement: information first, then what the closed loop loses without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from experiments.pipeline import search_results
from experiments.pipeline.ladder import validation_task
from experiments.pipeline.refining import Refining, completed, on_task
from experiments.runtime import formats
from flcs import FuzzyController, KnowledgeBase
from flcs import design as imitate
from flcs import imitate as imitation_of
from flcs.inference.rule_base import OWN_INPUTS
from flcs.learning.imitation import arranged
from flcs.learning.rows import TeachingRows, merged
from flcs.learning.term_search import genetic
from flcs.refinement.input_choice import eliminate
from flcs.refinement.rule_count import TradeOff
from sscq.loop.record import visited
from sscq.search.box import Box
from sscq.teaching.teach import teach
from sscq.teaching.teaching_signal import TeachingSignal, balanced, importance_of

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.ladder import Reference
    from experiments.settings import Setup
    from flcs.learning.config import NetworkConfig
    from flcs.refinement.input_choice import InputValue
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.loop.record import Visited

Judge = Callable[[KnowledgeBase], float]

_NAMES = {"equal": "knowledge base", "free": "knowledge base, free travel"}


@dataclass(frozen=True)
class Refined:
    """A refined knowledge base and how it was found."""

    kb: KnowledgeBase
    entry: Tuned
    curve: TradeOff | None = None


_ROUND_STRIDE = 7_919  # between the seeds of two rounds of teaching: each has noise continuations of its own


def teaching_signal(
    bench: Bench, ref: Reference, fixed: Tuned, number: int = 1, along: KnowledgeBase | None = None
) -> TeachingSignal:
    """Best gains over time in the taught situations, starting from the fixed gains.

    In round `number` > 1 of the states that the knowledge base `along` visits.
    """
    setup = bench.setup

    def compute(_: Path) -> TeachingSignal:
        box = Box(tuple(setup.low), tuple(setup.high))
        total = sum(int(s.t_end / setup.teacher.window + 1e-9) for s in setup.sets["taught"])
        title = "teaching signal" if number == 1 else f"teaching signal, round {number}"
        followed = None if along is None else FuzzyController(along, laws=setup.laws).frozen()
        with bench.progress(total, bench.labelled(title), "windows") as progress:

            def tick(done: int, _total: int, _evaluations: int) -> None:
                progress.at(done)

            return teach(
                setup.plant, setup.laws, setup.sets["taught"], ref.fitness, box, fixed.theta, setup.teacher,
                seed=setup.seed + _ROUND_STRIDE * (number - 1), step=setup.step, options=setup.options,
                threads=setup.threads, progress=tick, along=followed,
                outputs=tuple(name for name in setup.network.inputs if name not in OWN_INPUTS),
            )  # fmt: skip

    return bench.stage(
        _of_round("teaching_signal", number), compute,
        lambda folder, signal: signal.save(folder / "teaching_signal.csv"),
        lambda folder: TeachingSignal.load(folder / "teaching_signal.csv"),
    )  # fmt: skip


def _of_round(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"


def imitation(bench: Bench, ref: Reference, fixed: Tuned, signal: TeachingSignal, number: int = 1) -> KnowledgeBase:
    """The fuzzy network's knowledge base of the teaching signal, rules that hardly fire left out."""
    setup = bench.setup

    def compute(_: Path) -> KnowledgeBase:
        kb = learned(setup, ref, fixed, signal)
        if not setup.network.choose_inputs and setup.network.max_inputs is None:
            return kb
        taught, validation = (on_task(bench, setup.task(kind, ref.fitness)) for kind in ("taught", "validation"))
        rows = _pooled(setup, ref, fixed, signal)
        return with_needed_inputs(kb, rows, setup.network, setup.seed, taught, validation, completed)

    return bench.stage(_of_round("imitation", number), compute, *search_results.KB)


def learned(setup: Setup, ref: Reference, fixed: Tuned, signal: Any) -> KnowledgeBase:
    """Return what the network learns from a teaching signal; outside a run's stages."""
    return imitate(
        _pooled(setup, ref, fixed, signal), setup.low, setup.high, fixed.theta, config=setup.network, seed=setup.seed,
        plant=setup.plant, laws=setup.laws, tick=setup.tick, search_terms=genetic(setup.seed),
        seen=ranges(setup, fixed), **records_of(setup, ref.fitness),
    )  # fmt: skip


def records_of(setup: Setup, fitness: Fitness) -> dict[str, Any]:
    """Return what a knowledge base says of its making: fitness, taught situations, valid range."""
    return {
        "fitness": fitness.plain(),
        "taught": [{"name": s.name, "seed": s.seed} for s in setup.sets["taught"]],
        "valid_range": _valid_range(setup),
    }


def seen_by_fixed(setup: Setup, fixed: Tuned) -> Visited:
    """Return where the fixed PID takes the plant in the taught situations."""
    # All kinds of situations, so that it is the kernel that the verdict uses; only the taught ones are run.
    every = [s for kind in ("taught", "validation", "unforeseen") for s in setup.sets[kind]]
    return visited(
        setup.plant, setup.laws, fixed.theta, every, setup.step, setup.tick, count=len(setup.sets["taught"]),
        options=setup.options,
    )  # fmt: skip


def ranges(setup: Setup, fixed: Tuned) -> tuple[dict[str, tuple[float, float]], ...]:
    """Return the extremes that the fixed PID meets, of each channel's inputs by name.

    The rows of a teaching signal stand at the windows' beginnings and miss what passes between: the largest rates
    above all.
    """
    seen, found = seen_by_fixed(setup, fixed), []
    for channel in range(len(setup.laws)):
        extremes = {}
        for name in setup.network.inputs:
            if name in OWN_INPUTS:
                column = seen.own[:, channel, OWN_INPUTS.index(name)]
            else:
                column = seen.outputs[:, setup.plant.index("measurements", name)]
            if len(column):
                extremes[name] = (float(column.min()), float(column.max()))
        found.append(extremes)
    return tuple(found)


def with_needed_inputs(
    kb: KnowledgeBase,
    signal: TeachingSignal,
    config: NetworkConfig,
    seed: int,
    taught: Judge,
    validation: Judge,
    whole: Callable[[KnowledgeBase], KnowledgeBase],
) -> KnowledgeBase:
    """Return the knowledge base with the inputs that the closed loop needs, imitated anew where some went.

    Parameters
    ----------
    kb : KnowledgeBase
        By imitation, with all candidates that the permutation test left.
    signal : TeachingSignal
    config : NetworkConfig
        Its `max_inputs`, and with `choose_inputs` its `input_loss`.
    seed : int
    taught, validation : callable
        Fitness of a knowledge base.
    whole : callable
        Gives a knowledge base all rules of its grid.

    Returns
    -------
    KnowledgeBase
        What every input is worth is in ``training["structure"]``.
    """
    rows = merged(TeachingRows.of(signal), config.merge_within)
    full = whole(kb)
    loss = config.input_loss if config.choose_inputs else None
    chosen, values = eliminate(full, rows, config, taught, validation, most=config.max_inputs, loss=loss)
    record = _record(kb, values)
    if chosen.input_names != full.input_names or any(not value.kept for value in values):
        kb = imitation_of(chosen, arranged(chosen, rows), config, seed)
    return replace(kb, training={**kb.training, "structure": record})


def _record(kb: KnowledgeBase, values: tuple[InputValue, ...]) -> dict[str, Any]:
    before = kb.training.get("structure", {})
    return {
        base.name: {
            **before.get(base.name, {}),
            "inputs": {value.name: value.document() for value in values if value.channel == number},
        }
        for number, base in enumerate(kb.channels)
    }


def stored(run: Path, number: int = 1) -> KnowledgeBase:
    """Return the knowledge base by imitation of a round that a run has finished."""
    kb: KnowledgeBase = search_results.KB[1](run / "stages" / _of_round("imitation", number))
    return kb


def _pooled(setup: Setup, ref: Reference, fixed: Tuned, signal: Any) -> Any:
    """The rows with each situation's share in what is learned, as asked for."""
    if setup.config.teacher.pooling == "rows":
        return signal
    quality = setup.task(fitness=ref.fitness).quality(setup.laws, fixed.theta)
    shares = importance_of(setup.config.teacher.pooling, ref.fitness.per_situation(quality)[:, 0])
    return signal if shares is None else balanced(signal, shares)


def _valid_range(setup: Setup) -> dict[str, list[float]]:
    """Delays and noise that were taught: outside, the knowledge base has not proved itself."""
    taught = setup.sets["taught"]
    levels = [max([0.0, *s.noise_levels(setup.plant)]) for s in taught]
    return {
        "delay": [min(s.delay for s in taught), max(s.delay for s in taught)],
        "output_delay": [min(s.output_delay for s in taught), max(s.output_delay for s in taught)],
        "noise": [min(levels), max(levels)],
    }


def refined(
    bench: Bench,
    fitness: Fitness,
    start: KnowledgeBase,
    fixed: Tuned,
    kind: str,
    known: tuple[KnowledgeBase, ...] = (),
) -> Refined:
    """Closed-loop refinement of all rules of the grid, then pruning of those that the loop does not miss.

    How its searches share the budget: :mod:`experiments.pipeline.refining`. `known` are further places to start from.
    """
    setup, name = bench.setup, f"knowledge_base_{kind}"

    def compute(checkpoints: Path) -> Refined:
        task, validation = setup.task(fitness=fitness), validation_task(bench, fitness, fixed)
        searches = Refining(bench, task, validation, name, _NAMES[kind], checkpoints, known)
        return Refined(*searches.finished(start))

    def save(folder: Path, result: Refined) -> None:
        search_results.REFINED[0](folder, (result.kb, result.entry))
        formats.write_json(folder / "trade_off.json", None if result.curve is None else result.curve.document())

    def load(folder: Path) -> Refined:
        curve = formats.read_json(folder / "trade_off.json")
        kb, entry = search_results.REFINED[1](folder)
        return Refined(kb, entry, None if curve is None else TradeOff.of(curve))

    return bench.stage(name, compute, save, load)
