"""What a design will compute, stage after stage: planned evaluations, for the share that is done and the time left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.pipeline import scheduling_inputs
from experiments.pipeline.bench import Bench, stage_name
from experiments.pipeline.judging import taught_loops, verdict_loops
from experiments.pipeline.ladder import MOST_BOX_LOOPS
from experiments.runtime.progress import JobProgress, PlannedWork
from sscq.baselines import candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from experiments.runtime.progress import ProgressNote
    from experiments.runtime.run_folder import RunFolder
    from experiments.settings import Setup

    Listener = Callable[[ProgressNote], object]

_OF_RULES = 2.0  # what a loop with a knowledge base costs, in loops with fixed gains
_NETWORK, _MARGINS, _CERTIFICATE, _RESPONSES, _KERNEL = 3.0, 4.0, 2.0, 1.5, 4.0  # s that hardly depend on the budget
_DESIGNED = 0.5  # s
_JUDGED = 8  # controllers, about
_ROUNDS_OF_WORST = 2  # a search, and as many situations drawn


def followed(setup: Setup, folder: RunFolder, *, quiet: bool, listener: Listener | None = None) -> Bench:
    """Return the bench of a design whose progress lines, and the listener, tell how far the whole of it is."""
    bench = Bench(setup, folder, quiet=quiet)
    bench.job = JobProgress("design", dict(_stages(bench)), folder.times())
    bench.job.listener = listener
    return bench


def _stages(bench: Bench) -> Iterator[tuple[str, PlannedWork]]:
    setup = bench.setup
    if setup.may_widen:
        yield "gain_box", PlannedWork(MOST_BOX_LOOPS * setup.searches[0])
    for number, loops in enumerate(setup.searches):
        yield stage_name("fixed_genetic", number), PlannedWork(loops)
        yield stage_name("fixed_cmaes", number), PlannedWork(loops)
    yield "oracle", PlannedWork(setup.evaluations)
    for number in range(len(setup.searches)):
        for name, work in _of_search(bench.of_search(number)):
            yield stage_name(name, number), work
    yield from _fronts(setup)
    yield from _of_verdict(bench)


def _fronts(setup: Setup) -> Iterator[tuple[str, PlannedWork]]:
    front = setup.front
    if front is None:
        return
    size = front.method.evaluations or 0
    yield "front_fixed", PlannedWork(size)
    if front.with_knowledge_base:
        yield "front_knowledge_base", PlannedWork(_OF_RULES * size)
    if front.with_rivals:
        yield from ((f"front_rival_{rival.name}", PlannedWork(size)) for rival in setup.plant.rivals)


def _of_verdict(bench: Bench) -> Iterator[tuple[str, PlannedWork]]:
    setup, searches = bench.setup, len(bench.setup.searches)
    taught, rollouts = len(setup.sets["taught"]), verdict_loops(setup)
    judged = _JUDGED + len(setup.config.ladder.further)
    if bench.margins is not None:
        yield "moved_inside", PlannedWork(0.0, _MARGINS)
    yield "judgement", PlannedWork(judged * rollouts, _KERNEL)
    if searches > 1:
        yield "judgement_of_other_searches", PlannedWork((searches - 1) * judged * rollouts)
    if bench.margins is not None:
        yield "margins_over_ranges", PlannedWork(0.0, _MARGINS)
    worst = PlannedWork(_ROUNDS_OF_WORST * setup.config.assurance.worst_evaluations / taught)
    yield from ((f"worst_of_{name}", worst) for name in ("fixed", "knowledge_base"))
    if setup.config.assurance.certificate:
        yield "stability", PlannedWork(0.0, _CERTIFICATE)
    yield "responses", PlannedWork(0.0, _RESPONSES)


def _of_search(bench: Bench) -> Iterator[tuple[str, PlannedWork]]:
    """The stages that each search of a design has, after the fixed gains are known to all."""
    setup, loops, teaching = bench.setup, bench.setup.evaluations, taught_loops(bench)
    further = setup.config.ladder.further
    yield "two_degree", PlannedWork(loops)
    if len(setup.plant.channels) == 1:
        yield from ((f"table_{one.name}", PlannedWork(loops)) for one in candidates.variables(setup.plant))
    if scheduling_inputs.are_chosen(setup):
        first, *others = scheduling_inputs.pairs(setup)
        tried = PlannedWork(_OF_RULES * scheduling_inputs.share(setup) * loops)
        yield first, tried
        yield "designed_start", PlannedWork(0.0, _DESIGNED)
        yield from ((stage, tried) for stage in others)
    rounds = setup.config.teacher.rounds
    for number in range(1, rounds + 1):
        end = "" if number == 1 else f"_{number}"
        yield f"teaching_signal{end}", PlannedWork(teaching / rounds)
        yield f"imitation{end}", PlannedWork(0.0, _NETWORK)
    yield "knowledge_base_equal", PlannedWork(_OF_RULES * loops)
    yield "knowledge_base_free", PlannedWork(_OF_RULES * loops)
    yield from ((f"rival_{rival.name}", PlannedWork(loops)) for rival in setup.plant.rivals if rival.constants)
    for name, stage, size in (
        ("hand_made", "hand_made_scaled", _OF_RULES * loops),
        ("lqi", "lqi", loops),
        ("direct", "knowledge_base_direct", _OF_RULES * (loops + teaching)),
    ):
        if {name, "all"} & set(further):
            yield stage, PlannedWork(size)
