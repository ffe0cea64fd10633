"""Which of a design's searches is delivered: for each controller the best one in the validation situations.

Margins at the operating points come first: a controller that keeps them goes before one that does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.pipeline.judging import keeps_margins
from experiments.pipeline.ladder import validation_task, without_limits
from experiments.runtime import formats

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.pipeline.ladder import Reference
    from sscq.baselines.objective import Task
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

_SAME = {"imitation": "knowledge_base"}  # where the delivered knowledge base comes from, not a choice of its own

STAGE, FILE = "choice", "choice.json"


@dataclass(frozen=True)
class SearchChoice:
    """Which search each contender comes from.

    Attributes
    ----------
    order : mapping of contender to list of int
        Searches by number, the best in the validation situations first; no contender that no search moves.
    """

    order: dict[str, list[int]]

    def of(self, name: str) -> int:
        """Return the search that a contender is from: the first one where there was nothing to choose."""
        return self.order.get(name, [0])[0]

    def delivered(self, groups: Sequence[Sequence[Tuned]]) -> tuple[list[Tuned], dict[str, tuple[Tuned, ...]]]:
        """Return the chosen contenders, with the evaluations of all searches, and those that were not chosen."""
        by_name = [{one.name: one for one in group} for group in groups]
        delivered: list[Tuned] = []
        others: dict[str, tuple[Tuned, ...]] = {}
        for name, one in by_name[0].items():
            if name not in self.order:
                delivered.append(one)
                continue
            several = [by_name[number][name] for number in self.order[name]]
            delivered.append(_with_all_evaluations(several))
            others[name] = tuple(several[1:])
        return delivered, others


def _with_all_evaluations(several: Sequence[Tuned]) -> Tuned:
    counted = [one.evaluations for one in several if one.evaluations is not None]
    return replace(several[0], evaluations=sum(counted) if counted else None)


def fixed(bench: Bench, ref: Reference, several: Sequence[Tuned]) -> Tuned:
    """Return the best fixed PID of all searches in the validation situations; it counts what all of them cost."""
    if len(several) == 1:
        return several[0]

    def compute(_: Path) -> dict[str, list[int]]:
        task = bench.setup.task("validation", ref.fitness)
        values = [float(ref.fitness(task.quality(bench.setup.laws, one.theta))[0]) for one in several]
        return {"order": sorted(range(len(several)), key=lambda k: values[k])}

    order = bench.stage("choice_of_fixed", compute, *formats.as_json(FILE))["order"]
    return _with_all_evaluations([several[number] for number in order])


def chosen(bench: Bench, equal: Fitness, fixed: Tuned, groups: Sequence[Sequence[Tuned]]) -> SearchChoice:
    """Return which search is delivered for each contender; all of the first where there is no other.

    Parameters
    ----------
    equal : Fitness
        With the limit on the actuator's travel that schedules are searched with.
    fixed : Tuned
        The best fixed PID, whose travel in the validation situations is the limit there.
    groups : sequence of sequence of Tuned
        The contenders of each search.
    """
    if len(groups) == 1:
        return SearchChoice({})

    def compute(_: Path) -> dict[str, dict[str, list[int]]]:
        limited = validation_task(bench, equal, fixed)
        free = validation_task(bench, without_limits(equal), fixed)
        several = {name: _same_name(groups, name) for name in (one.name for one in groups[0])}
        searched = {name: found for name, found in several.items() if _differ(found)}
        order = {
            name: _best_first(bench, free if "free" in name else limited, found) for name, found in searched.items()
        }
        return {"order": order | {name: order[like] for name, like in _SAME.items() if like in order}}

    return SearchChoice(bench.stage(STAGE, compute, *formats.as_json(FILE))["order"])


def _same_name(groups: Sequence[Sequence[Tuned]], name: str) -> list[Tuned]:
    return [one for group in groups for one in group if one.name == name]


def _differ(several: Sequence[Tuned]) -> bool:
    """Whether there is something to choose: an oracle has no parameters for the validation situations alone."""
    if several[0].per_situation is not None:
        return False
    return any(one.theta.tobytes() != several[0].theta.tobytes() for one in several[1:])


def _best_first(bench: Bench, task: Task, several: Sequence[Tuned]) -> list[int]:
    def rank(number: int) -> tuple[bool, float]:
        one = several[number]
        own = task if one.plant is None else replace(task, plant=one.plant)
        value = float(own.fitness(own.quality(one.controller, one.theta[None]))[0])
        return keeps_margins(bench, one) is False, value

    return sorted(range(len(several)), key=rank)
