"""The hand-made 7 x 7 fuzzy PID, as published and with its four scaling factors searched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from controllers import pid_form
from experiments.pipeline import search_results
from experiments.pipeline.judging import of_kb
from experiments.pipeline.knowledge import seen_by_fixed
from experiments.pipeline.ladder import validation_task
from experiments.pipeline.rungs.rung import Rungs
from flcs import FuzzyController, Inference, KnowledgeBase
from flcs.refinement import hand_made
from flcs.refinement.hand_made import FACTORS, FREE, WIDEST, scaled, written
from flcs.refinement.refinement import certified
from plants.core.analysis.linearise import linearise
from sscq.baselines.search_plan import search
from sscq.baselines.tuning_rules import ultimate_gain
from sscq.loop.spec import LoopSpec
from sscq.margins.channels import loop_of
from sscq.margins.linear_loop import one_channel

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from flcs.refinement.hand_made import GainRanges
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.loop.record import Visited

_TITLE = "hand-made 7x7 fuzzy PID"
_SCALED = "hand-made 7x7 fuzzy PID, scaled by search"
_NEVER = 1e9  # ranges outside which the outer terms' gains would fade: the published rules keep them
_QUANTILE = 0.995  # of the error rate: a reference that jumps makes a single huge one


def rungs(bench: Bench, fixed: Tuned, equal: Fitness) -> Rungs:
    """Return both, or the reason why there is none."""
    candidates = _candidates(bench, fixed)
    if not candidates:
        return Rungs(notes=(f"{_TITLE}: none, a channel has neither integral nor derivative action to range ki by",))
    kb, known = _by_hand(bench, fixed, candidates, equal)
    better, entry = _searched(bench, fixed, equal, kb, known)
    sources = "; ".join(dict.fromkeys(one.text for one in known))
    found = (
        of_kb("hand_made", _TITLE, f"ranges from {sources}; no search", bench, kb, 0),
        of_kb("hand_made_scaled", _SCALED, "ranges of inputs and gains searched", bench, better, entry.evaluations),
    )
    contenders = tuple(_plain(bench, c, one, kb) for c, one in zip(found, (kb, better), strict=True))
    kbs = {"hand_made": kb, "hand_made_scaled": better}
    return Rungs(contenders, (f"{_TITLE}: gain ranges from {sources}",), kbs)


def _plain(bench: Bench, contender: Tuned, kb: KnowledgeBase, by_hand: KnowledgeBase) -> Tuned:
    """Four numbers a channel are what was chosen, and no rule is ever switched off.

    With all authority the reference gains never act, so the searched rules run in the kernel of the published ones.
    """
    laws, own = bench.setup.laws, FuzzyController(kb, laws=bench.setup.laws, free=FREE)
    shared = own if kb.inference.authority < 1.0 else FuzzyController(by_hand, laws=laws, free=FREE)
    return replace(contender, controller=shared, theta=own.theta, parameters=FACTORS * len(kb.channels))


def _candidates(bench: Bench, fixed: Tuned) -> list[list[GainRanges]]:
    """Ranges of all channels: the paper's where an ultimate gain is known, and all from the fixed PID."""
    n = len(bench.setup.laws)
    by_fixed = [_from_fixed(bench, fixed, i) for i in range(n)]
    by_ultimate = [_from_ultimate(bench, i) or by_fixed[i] for i in range(n)]
    several = [by_ultimate] if by_ultimate == by_fixed else [by_ultimate, by_fixed]
    return [[r for r in one if r is not None] for one in several if None not in one]


def _from_fixed(bench: Bench, fixed: Tuned, i: int) -> GainRanges | None:
    low, high = (end[3 * i + 2] for end in (bench.setup.low, bench.setup.high))
    return hand_made.from_gains(fixed.theta[3 * i : 3 * i + 3].tolist(), float(max(abs(low), abs(high))))


def _from_ultimate(bench: Bench, i: int) -> GainRanges | None:
    """From the ultimate gain at the first operating point, the other channels at rest, where the box holds it."""
    setup = bench.setup
    if not setup.plant.operating_points:
        return None
    low, high = (end[3 * i : 3 * i + 3][[0, 2], None] for end in (setup.low, setup.high))
    point = setup.plant.operating_points[0]
    spec = LoopSpec(setup.plant, setup.laws, [replace(s, parameters=None) for s in setup.sets["taught"]], setup.step)
    seen = one_channel(spec, linearise(setup.plant, point, commands=True), i, None, point.name)
    edge = ultimate_gain(seen, loop_of(spec, i))
    found = None if edge is None else hand_made.from_ultimate(*edge)
    if found is None:
        return None
    ends = np.array([found.kp, found.kd])
    return found if (ends >= low).all() and (ends <= high).all() else None


def _by_hand(
    bench: Bench, fixed: Tuned, candidates: list[list[GainRanges]], equal: Fitness
) -> tuple[KnowledgeBase, list[GainRanges]]:
    """The published rules with those ranges that do better in the taught situations.

    An ultimate gain belongs to one loop alone: coupled channels that have theirs at once need not be stable.
    """
    task, laws = bench.setup.task(fitness=equal), bench.setup.laws
    found = []
    for number, ranges in enumerate(candidates):
        kb = _with_ranges(bench, fixed, ranges, equal, number)
        controller = FuzzyController(kb, laws=laws, free=FREE)
        value = (
            0.0 if len(candidates) == 1 else float(task.fitness(task.quality(controller, controller.theta[None]))[0])
        )
        found.append((value, number, kb, ranges))
    _, _, kb, ranges = min(found, key=lambda one: one[:2])
    return kb, ranges


def _with_ranges(bench: Bench, fixed: Tuned, ranges: list[GainRanges], equal: Fitness, number: int) -> KnowledgeBase:
    """The published rules: terms reach as far as the fixed PID's loop goes in the taught situations."""
    setup = bench.setup

    def compute(_: Path) -> KnowledgeBase:
        seen = seen_by_fixed(bench.setup, fixed)
        bases = []
        for i, (channel, law, given) in enumerate(zip(setup.plant.channels, setup.laws, ranges, strict=True)):
            unit = setup.plant.measurements[setup.plant.index("measurements", channel.output)].unit
            box = tuple(end[3 * i : 3 * i + 3].tolist() for end in (setup.low, setup.high))
            bases.append(
                hand_made.rule_base(
                    channel.output, _reach(seen, i, channel.scale), given, (box[0], box[1]),
                    units=(unit, f"{unit}/s"), widest=WIDEST, law=pid_form.describe(law),
                )
            )  # fmt: skip
        return KnowledgeBase(
            setup.plant.name, tuple(bases), Inference(fade=_NEVER), setup.tick, fitness=equal.plain(),
            plant_parameters=dict(zip((q.name for q in setup.plant.parameters), setup.plant.nominal(), strict=True)),
        )  # fmt: skip

    return bench.stage(f"hand_made_{number}" if number else "hand_made", compute, *search_results.KB)


def _reach(seen: Visited, i: int, scale: float) -> tuple[float, float]:
    """Largest error, and an error rate that is seldom passed."""
    error, rate = np.abs(seen.own[:, i, 0]), np.abs(seen.own[:, i, 1])
    largest = float(error.max()) or scale
    return largest, float(np.quantile(rate, _QUANTILE)) or float(rate.max()) or largest


def _searched(
    bench: Bench, fixed: Tuned, equal: Fitness, kb: KnowledgeBase, ranges: list[GainRanges]
) -> tuple[KnowledgeBase, Tuned]:
    setup = bench.setup

    def compute(checkpoints: Path) -> tuple[KnowledgeBase, Tuned]:
        candidate = scaled(kb, ranges, setup.laws, "hand_made_scaled", _SCALED)
        plan, progress = bench.plan(len(candidate.low), checkpoints, _SCALED)
        with progress:
            found = search(
                setup.task(fitness=equal), candidate, plan, bench.asked, validation_task(bench, equal, fixed)
            )
        better = certified(written(candidate, found.theta), bench.asked, setup.laws)
        return better, found

    return bench.stage("hand_made_scaled", compute, *search_results.REFINED)
