"""What a knowledge base schedules its gains over: two of the error, its rate and the output, chosen by measurement.

The gain tables have been searched over each of the three alone, with a candidate's whole budget each. The two whose
tables do best in the validation situations become the inputs of the knowledge base: an error tells what is under way,
the output where the plant is. Where the user names inputs or terms (`network.inputs`, `network.centres`), or there are
no such tables, nothing is chosen.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.ladder import validation_task
from experiments.pipeline.rungs.margin_table import designed, read
from experiments.runtime import formats
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

_FEWEST, _MOST = 3, 5  # terms that stand at operating points
_APART = 0.02  # of the range of the operating points: nearer ones have one term


def chosen(bench: Bench, fixed: Tuned, equal: Fitness, entries: Sequence[Tuned]) -> Bench:
    """Return the bench with the inputs that the tables among the `entries` speak for."""
    setup = bench.setup
    by_name = {f"table_{v.name}": v.as_input for v in candidates.variables(setup.plant)}
    tables = [one for one in entries if one.name in by_name]
    given = setup.config.network
    if given.inputs is not None or given.centres or len(tables) < INPUTS:
        return bench

    def compute(_: Path) -> dict[str, Any]:
        task = validation_task(bench, equal, fixed)
        values = {by_name[one.name]: _value(bench, task, one) for one in tables}
        best = sorted(values, key=lambda name: values[name])[:INPUTS]
        inputs = [name for name in values if name in best]
        return {"validation": values, "inputs": inputs, "centres": _at_points(setup, inputs)}

    found = bench.stage("scheduling_inputs", compute, *formats.as_json("inputs.json"))
    other = copy(bench)
    other.setup = replace(setup, network=replace(setup.network, **_as_settings(found)))
    return other


def _as_settings(found: dict[str, Any]) -> dict[str, Any]:
    centres = {name: tuple(places) for name, places in found["centres"].items()}
    return {"inputs": tuple(found["inputs"]), "centres": centres}


def _at_points(setup: Setup, inputs: Sequence[str]) -> dict[str, list[float]]:
    """Terms of the output where the operating points are, if they are enough for a schedule and not too many."""
    plant, output = setup.plant, setup.plant.channels[0].output
    if output not in inputs or setup.network.mirrored:
        return {}
    values = candidates.outputs_at_points(plant)
    span = values[-1] - values[0] if values else 0.0
    apart = [value for k, value in enumerate(values) if k == 0 or value - values[k - 1] > _APART * span]
    return {output: apart} if _FEWEST <= len(apart) <= _MOST else {}


def _value(bench: Bench, task: Any, one: Tuned) -> float:
    """Fitness in the validation situations, with the limit on travel, of what keeps the margins before all else."""
    value = float(task.fitness(task.quality(one.controller, one.theta[None]))[0])
    kept = bench.margins is None or bench.margins.keeps_of(one.controller, one.theta)
    return value if kept else value + task.fitness.diverged


def designed_table(bench: Bench) -> MarginSchedule | None:
    """Return a margin design at each operating point, a stage of the run; None where the output schedules nothing."""
    setup = bench.setup
    channels = setup.plant.channels
    if len(channels) != 1 or channels[0].output not in setup.network.inputs or bench.margins is None:
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
