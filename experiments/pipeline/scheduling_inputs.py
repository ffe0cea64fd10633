"""What a knowledge base schedules its gains over: two of the error, its rate and the output, chosen by measurement.

Every pair is searched for a little: rules over it that begin at the fixed gains (and, where they know the output, at a
margin design of every operating point). The pair whose rules do best in the taught and the validation situations
together becomes the inputs of the knowledge base; what the searches cost counts among the knowledge bases' evaluations.
They are as short for every budget, so that a longer search goes on with the same inputs. Where the user names inputs or
terms (`network.inputs`, `network.centres`), or there is more than one channel, nothing is chosen.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.knowledge import seen_by_fixed
from experiments.pipeline.ladder import validation_task
from experiments.pipeline.refining import Refining, on_task
from experiments.pipeline.rungs.margin_table import designed, read
from experiments.runtime import formats
from flcs.refinement.direct import blank, direct
from sscq.baselines import candidates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.settings import Setup
    from flcs import KnowledgeBase
    from flcs.inference.rule_base import Rule, RuleBase
    from sscq.baselines.margin_schedule import MarginSchedule
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

INPUTS = 2
"""So many are chosen."""

EVALUATIONS = 750
"""Of the search of a pair; no more than a candidate has."""

_FEWEST, _MOST = 3, 5  # terms that stand at operating points
_APART = 0.02  # of the range of the operating points: nearer ones have one term


def are_chosen(setup: Setup) -> bool:
    """Return whether a design chooses the inputs: one channel, and nobody has named them or their terms."""
    given = setup.config.network
    return len(setup.plant.channels) == 1 and given.inputs is None and not given.centres


def pairs(setup: Setup) -> dict[str, tuple[str, ...]]:
    """Return the inputs that are chosen among, by the name of the stage that tries them."""
    known = candidates.variables(setup.plant)
    return {
        "inputs_" + "_".join(v.name for v in several): tuple(v.as_input for v in several)
        for several in combinations(known, INPUTS)
    }


def share(setup: Setup) -> float:
    """Return what the search of a pair has of a candidate's evaluations."""
    return min(1.0, EVALUATIONS / setup.evaluations)


def chosen(bench: Bench, fixed: Tuned, equal: Fitness) -> tuple[Bench, MarginSchedule | None]:
    """Return the bench with the inputs whose rules do best, where they are chosen; a margin design to start from."""
    if not are_chosen(bench.setup):
        return bench, designed_table(bench)
    tried = [
        partial(_tried, stage=stage, inputs=inputs, fixed=fixed, equal=equal)
        for stage, inputs in pairs(bench.setup).items()
    ]
    # The first pair knows no output. The others do: they wait for the margin design.
    first, table = bench.side_by_side([partial(tried[0], table=None), designed_table])
    found = [first, *bench.side_by_side([partial(one, table=table) for one in tried[1:]])]
    best = min(found, key=lambda one: sum(one["fitness"]))
    other = _over(bench, best["inputs"])
    other.before_refinement = sum(one["evaluations"] for one in found)
    return other, table


def _over(bench: Bench, inputs: Sequence[str]) -> Bench:
    """The bench with these inputs."""
    other, centres = copy(bench), _at_points(bench.setup, inputs)
    other.setup = replace(bench.setup, network=replace(bench.setup.network, inputs=tuple(inputs), centres=centres))
    return other


def _tried(
    bench: Bench, stage: str, inputs: Sequence[str], fixed: Tuned, equal: Fitness, table: MarginSchedule | None
) -> dict[str, Any]:
    """Taught and validation fitness that a short search over these inputs comes to, and what it cost; a stage."""
    own = _over(bench, inputs)
    setup = own.setup

    def compute(checkpoints: Path) -> dict[str, Any]:
        task, validation = setup.task(fitness=equal), validation_task(own, equal, fixed)
        structure = blank(setup.plant, setup.laws, (setup.low, setup.high), fixed.theta, setup.tick, setup.network)
        start = direct(structure, seen_by_fixed(setup, fixed), setup.plant, setup.network)
        known = designed_starts(own, table, start, fixed)
        title = f"rules over {' and '.join(inputs)}"
        searches = Refining(own, task, validation, stage, title, checkpoints, known, share(setup))
        kb, entry = searches.best(start)
        fitness = [judged(kb) for judged in (on_task(own, task), on_task(own, validation))]
        return {"inputs": list(inputs), "fitness": fitness, "evaluations": entry.spent}

    return bench.stage(stage, compute, *formats.as_json("inputs.json"))


def _at_points(setup: Setup, inputs: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Terms of the output where the operating points are, if they are enough for a schedule and not too many."""
    plant, output = setup.plant, setup.plant.channels[0].output
    if output not in inputs or setup.network.mirrored:
        return {}
    values = candidates.outputs_at_points(plant)
    span = values[-1] - values[0] if values else 0.0
    apart = tuple(value for k, value in enumerate(values) if k == 0 or value - values[k - 1] > _APART * span)
    return {output: apart} if _FEWEST <= len(apart) <= _MOST else {}


def designed_table(bench: Bench) -> MarginSchedule | None:
    """Return a margin design at each operating point, a stage of the run; None: impossible, or nothing needs it."""
    setup = bench.setup
    channels = setup.plant.channels
    needed = are_chosen(setup) or channels[0].output in setup.network.inputs
    if len(channels) != 1 or not needed or bench.margins is None:
        return None

    def compute(_: Path) -> dict[str, Any]:
        return designed(bench, midpoints=False)

    stored = bench.stage("designed_start", compute, *formats.as_json("table.json"))
    return None if "reason" in stored else read(stored)


def designed_starts(
    bench: Bench, table: MarginSchedule | None, kb: KnowledgeBase, fixed: Tuned
) -> tuple[KnowledgeBase, ...]:
    """Return knowledge bases to start from that know what margins allow at each operating point; none: no output.

    The rules of every term of the controlled output have the gains of the margin design there: as they are, and the
    fixed PID's gains in the same proportions, which are the fixed PID's own where the design has the least.
    """
    base, output = kb.channels[0], bench.setup.plant.channels[0].output
    if table is None or len(table.nodes) < INPUTS or output not in base.input_names:
        return ()
    place = base.input_names.index(output)
    gains = table.at(base.inputs[place].centres)
    least = table.gains[np.argmin(np.abs(table.gains).sum(axis=1))]
    ratio = np.divide(gains, least, out=np.ones_like(gains), where=np.abs(least) > 0.0)
    several = (gains, ratio * fixed.theta)
    return tuple(_with(kb, base, place, np.clip(rows, bench.setup.low, bench.setup.high)) for rows in several)


def _with(kb: KnowledgeBase, base: RuleBase, place: int, gains: np.ndarray) -> KnowledgeBase:
    def moved(rule: Rule) -> Rule:
        return replace(rule, gains=tuple(gains[rule.terms[place]].tolist()))

    return kb.with_channel(0, replace(base, rules=tuple(map(moved, base.rules))))
