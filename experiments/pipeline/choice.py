"""Which of a design's searches is delivered: for each controller the best one in all situations that it may use.

Margins come first: a controller that keeps them at the operating points goes before one that does not, and then one
whose margins over the declared ranges the verdict will not hold against it, as far as other draws tell. What a longer
search found goes before the best of the shorter ones only where it is no worse in the taught situations alone, too: to
be better in a few others and worse in those that it was made for is luck, and more evaluations shall not buy that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from experiments.pipeline.assurance.margins_over_ranges import FORESEEN
from experiments.pipeline.judging import keeps_margins
from experiments.pipeline.ladder import validation_task, without_limits
from experiments.runtime import formats
from sscq.baselines.search_plan import pooled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from experiments.pipeline.assurance.margins_over_ranges import Foresights
    from experiments.pipeline.bench import Bench
    from experiments.pipeline.ladder import Reference
    from sscq.baselines.objective import Task
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness

_SAME = {"imitation": "knowledge_base"}  # where the delivered knowledge base comes from, not a choice of its own

STAGE, STAGE_OF_FIXED, FILE = "choice", "choice_of_fixed", "choice.json"

_WORSE = 0.01  # of the taught fitness: as much may a longer search's be worse


@dataclass(frozen=True)
class SearchChoice:
    """Which search each contender comes from.

    Attributes
    ----------
    order : mapping of contender to list of int
        Searches by number, the delivered one first, then the best; no contender that no search moves.
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


def fixed(bench: Bench, ref: Reference, several: Sequence[Tuned]) -> tuple[Tuned, ...]:
    """Return the best fixed PID so far after each round of searches; it counts what all of these cost.

    The one after the last round is the design's. The others are what a design of fewer evaluations has, and what the
    other searches of their rounds begin with.
    """
    if len(several) == 1:
        return tuple(several)
    ends = range(bench.setup.config.seeds, len(several) + 1, bench.setup.config.seeds)

    def compute(_: Path) -> dict[str, Any]:
        task, validation = (bench.setup.task(kind, ref.fitness) for kind in ("taught", "validation"))
        taught = [_value(task, one) for one in several]
        ranks = [
            (False, False, pooled(inside, _value(validation, one), task, validation))
            for inside, one in zip(taught, several, strict=True)
        ]
        orders = [best_first(ranks[:end], taught, bench.setup.round_of) for end in ends]
        return {"order": orders[-1], "after_round": orders}

    found = bench.stage(STAGE_OF_FIXED, compute, *formats.as_json(FILE))
    return tuple(_with_all_evaluations([several[number] for number in order]) for order in found["after_round"])


def best_first(
    ranks: Sequence[tuple[bool, bool, float]], taught: Sequence[float], round_of: Callable[[int], int]
) -> list[int]:
    """Return the searches by number: the one that is delivered, then the others, the best first.

    Parameters
    ----------
    ranks : sequence of (bool, bool, float)
        Whether it breaks the margins, whether its margins over the ranges are held against it, and its fitness in all
        situations; the lowest is the best.
    taught : sequence of float
        Fitness in the taught situations: a later round's may be worse by 1 %, by more only if it keeps margins that the
        best so far breaks.
    round_of : callable
        Takes a number.
    """
    first, *later = (list(several) for _, several in groupby(range(len(ranks)), key=round_of))
    best = min(first, key=ranks.__getitem__)
    for several in later:
        most = taught[best] + _WORSE * abs(taught[best])
        fit = [k for k in several if taught[k] <= most or ranks[k][0] < ranks[best][0]]
        best = min([best, *fit], key=ranks.__getitem__)
    return [best, *sorted((k for k in range(len(ranks)) if k != best), key=ranks.__getitem__)]


def chosen(
    bench: Bench, equal: Fitness, fixed: Tuned, groups: Sequence[Sequence[Tuned]], ahead: Foresights
) -> SearchChoice:
    """Return which search is delivered for each contender; all of the first where there is no other.

    Parameters
    ----------
    equal : Fitness
        With the limit on the actuator's travel that schedules are searched with.
    fixed : Tuned
        The best fixed PID, whose travel in the validation situations is the limit there.
    groups : sequence of sequence of Tuned
        The contenders of each search.
    ahead : Foresights
    """
    if len(groups) == 1:
        return SearchChoice({})

    def compute(_: Path) -> dict[str, dict[str, list[int]]]:
        asked = {name for name in (one.name for one in groups[0]) if _differ(_same_name(groups, name))}
        ahead.of(FORESEEN)  # once, for all that are asked
        questions = [
            partial(_valued, equal=equal, fixed=fixed, several=[one for one in group if one.name in asked], ahead=ahead)
            for group in groups
        ]
        found = bench.answers(questions)
        order = {}
        for name in (one.name for one in groups[0] if one.name in asked):
            ranks, taught = zip(*(of_search[name] for of_search in found if name in of_search), strict=True)
            order[name] = best_first([tuple(rank) for rank in ranks], taught, bench.setup.round_of)
        return {"order": order | {name: order[like] for name, like in _SAME.items() if like in order}}

    return SearchChoice(bench.stage(STAGE, compute, *formats.as_json(FILE))["order"])


def _same_name(groups: Sequence[Sequence[Tuned]], name: str) -> list[Tuned]:
    return [one for group in groups for one in group if one.name == name]


def _differ(several: Sequence[Tuned]) -> bool:
    """Whether there is something to choose: an oracle has no parameters for the validation situations alone."""
    if several[0].per_situation is not None:
        return False
    return any(one.theta.tobytes() != several[0].theta.tobytes() for one in several[1:])


def _valued(
    bench: Bench, equal: Fitness, fixed: Tuned, several: Sequence[Tuned], ahead: Foresights
) -> dict[str, tuple[tuple[bool, bool, float], float]]:
    """Rank and taught fitness of each contender of a search by its name, as `best_first` wants them."""
    found = {}
    fitness_of = {"equal": equal, "free": without_limits(equal)}
    validation_of = {kind: validation_task(bench, fitness, fixed) for kind, fitness in fitness_of.items()}
    for one in several:
        kind = "free" if "free" in one.name else "equal"
        taught, validation = bench.setup.task(fitness=fitness_of[kind]), validation_of[kind]
        rank = (
            keeps_margins(bench, one) is False,
            ahead.held_against(FORESEEN, one),
            pooled(_value(taught, one), _value(validation, one), taught, validation),
        )
        found[one.name] = (rank, _value(replace(taught, fitness=fitness_of["free"]), one))
    return found


def _value(task: Task, one: Tuned) -> float:
    """Fitness of a search's result."""
    own = task if one.plant is None else replace(task, plant=one.plant)
    return float(own.fitness(own.quality(one.controller, one.theta[None]))[0])
