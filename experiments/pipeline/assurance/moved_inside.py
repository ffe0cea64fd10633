"""Schedules that break margins at drawn plants, moved back inside them before they are judged.

A search is asked for the margins of a few drawn plants: more would cost more than its rollouts. What its result breaks
at others is looked for afterwards, at many, and asked for as well. That takes no rollout, so that all controllers still
have the same evaluations; and the plants are none of those that the verdict draws.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.assurance import authority
from experiments.pipeline.assurance.margins_over_ranges import FORESEEN
from experiments.runtime import formats
from flcs import FuzzyController
from flcs.refinement.genome import candidate
from flcs.refinement.refinement import certified
from sscq.baselines.candidates import Candidate
from sscq.baselines.moved_back import moved_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.pipeline.assurance.margins_over_ranges import Foresight, Foresights
    from experiments.pipeline.bench import Bench
    from experiments.settings import Setup
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.margins.operating import OperatingMargins

STAGE, FILE = "moved_inside", "moved.json"
NAMES = ("table", "knowledge_base_direct", "knowledge_base", "knowledge_base_free")

_TOLD = "; moved back inside the margins at drawn plants"
_LOOKS = 4  # times that drawn plants are looked at: what is moved back at some may be lost at others
_OTHERS = (FORESEEN, 3, 4)  # drawn plants: the first ones, which the choice is made by as well, only look
_MOST = 24  # pairs of each that are asked at a look: what breaks next to them is moved back with them


def kept_inside(bench: Bench, fitness: Fitness, fixed: Tuned, group: Sequence[Tuned], ahead: Foresights) -> list[Tuned]:
    """Return contenders with those schedules moved back whose margins the verdict would be likely to hold against them.

    Parameters
    ----------
    bench : Bench
    fitness : Fitness
        Where certificates are asked for, rules that have one and are worse in it than the reference gains are not kept.
    fixed : Tuned
        The best fixed PID: what it does not keep, nothing has to keep.
    group : sequence of Tuned
        What is found when this cannot be mended, or when it need not be, stays as it is.
    ahead : Foresights
    """
    searched = [one for one in group if one.name in NAMES and one.margins_asked]
    asked = bench.asked
    if asked is None or not searched:
        return list(group)

    def compute(_: Path) -> dict[str, Any]:
        ahead.of(FORESEEN)  # the choice has it as well
        against = bench.answers([partial(_against, other, searched, ahead) for other in _OTHERS])
        broken = [one for one, *held in zip(searched, *against, strict=True) if any(held)]
        if not broken:
            return {}
        several = [told for other in _OTHERS if (told := ahead.of(other)) is not None]
        questions = [partial(_mended, fitness, asked, several, fixed, one) for one in broken]
        with bench.progress(len(broken), "margins over the ranges", "schedules") as progress:
            found = bench.answers(questions, progress.advance)
        return {one.name: moved for one, moved in zip(broken, found, strict=True) if moved is not None}

    stored = bench.stage(STAGE, compute, *formats.as_json(FILE), [one.theta.tolist() for one in searched])
    return [
        replace(_with_numbers(bench.setup, one, *stored[one.name]), text=one.text + _TOLD)
        if one.name in stored
        else one
        for one in group
    ]


def _authority(one: Tuned) -> float | None:
    """Of a knowledge base; a table has none."""
    controller = one.controller
    return controller.kb.inference.authority if isinstance(controller, FuzzyController) else None


def _against(other: int, searched: Sequence[Tuned], ahead: Foresights, _: Bench) -> list[bool]:
    """Whether the margins of each schedule at these drawn plants are likely to be held against it."""
    return [ahead.held_against(other, one) for one in searched]


def _mended(
    fitness: Fitness, asked: OperatingMargins, several: Sequence[Foresight], fixed: Tuned, one: Tuned, bench: Bench
) -> tuple[list[float], float | None] | None:
    """Parameters and authority of a schedule moved back inside its margins; None: this cannot be done."""
    moved = _certified(bench.setup, fitness, asked, _moved(bench.setup, asked, several[1:], fixed, one))
    if moved is None or any(each.held_against(moved) for each in several):
        return None
    return moved.theta.tolist(), _authority(moved)


def _moved(setup: Setup, own: OperatingMargins, several: Sequence[Foresight], fixed: Tuned, one: Tuned) -> Tuned:
    """The schedule inside its own margins and those at drawn plants, or on the way there."""
    asked, known = own, [set[int]() for _ in several]
    for _ in range(_LOOKS):
        lost = [sorted(each.lost(one) - seen) for each, seen in zip(several, known, strict=True)]
        if not any(lost):
            break
        for each, seen, pairs in zip(several, known, lost, strict=True):
            some = [pairs[k] for k in np.linspace(0, len(pairs) - 1, min(len(pairs), _MOST)).round().astype(int)]
            seen.update(some)
            asked = asked.and_at(fixed.theta, each.plants.channels.of(some)) if some else asked
        one = _with_numbers(setup, one, moved_back(_candidate(setup, one), asked).tolist())
    return one


def _certified(setup: Setup, fitness: Fitness, own: OperatingMargins, one: Tuned) -> Tuned | None:
    """What is left of a moved schedule in the margins, seen closely, and with a certificate, where that is asked."""
    if not isinstance(one.controller, FuzzyController):
        return one if own.keeps_of(one.controller, one.theta) else None
    kb = authority.held(setup, setup.task(fitness=fitness), certified(one.controller.kb, own, setup.laws))
    return _with_numbers(setup, one, one.theta.tolist(), kb.inference.authority)


def _candidate(setup: Setup, one: Tuned) -> Candidate:
    """What may be moved: all that was searched, but the places of a table's nodes."""
    if isinstance(one.controller, FuzzyController):
        kb = one.controller.kb
        return candidate(kb, (kb,), setup.laws, one.name, one.title, mirrored=setup.network.mirrored)
    nodes, rest = np.split(one.theta, [2 * len(setup.low)])
    low, high = np.tile(setup.low, 2), np.tile(setup.high, 2)

    def decode(genomes: np.ndarray) -> np.ndarray:
        return np.hstack([genomes, np.tile(rest, (len(genomes), 1))])

    return Candidate(one.name, one.title, one.controller, low, high, nodes[None], decode=decode)


def _with_numbers(setup: Setup, one: Tuned, theta: Sequence[float], share: float | None = None) -> Tuned:
    if not isinstance(one.controller, FuzzyController):
        return replace(one, theta=np.array(theta))
    kb = one.controller.with_theta(np.array(theta))
    kb = kb if share is None else replace(kb, inference=replace(kb.inference, authority=share))
    controller = FuzzyController(kb, laws=setup.laws)
    return replace(one, controller=controller, theta=controller.theta)
