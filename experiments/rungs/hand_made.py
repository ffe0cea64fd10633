"""The hand-made 7 x 7 fuzzy PID, as published and with its four scaling factors searched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments import found_files
from experiments.judging import of_kb
from experiments.ladder import validation_task
from experiments.rungs.rung import Rungs, load_refined, save_refined
from experiments.seen import seen_by_fixed
from flcs import FuzzyController, Inference, KnowledgeBase, hand_made, pid_form
from flcs.hand_made_search import FACTORS, FREE, WIDEST, scaled, written
from flcs.refinement import certified
from plants.core.linearise import linearise
from sscq.baselines import search
from sscq.frozen_channels import loop_of
from sscq.loop_spec import LoopSpec
from sscq.other_channels import one_channel
from sscq.ultimate_gain import ultimate_gain

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.found_files import Entry
    from experiments.judging import Contender
    from experiments.ladder import Bench
    from flcs.hand_made import GainRanges
    from sscq.fitness import Fitness
    from sscq.visited import Visited

_TITLE = "hand-made 7x7 fuzzy PID"
_SCALED = "hand-made 7x7 fuzzy PID, scaled by search"
_NEVER = 1e9  # ranges outside which the outer terms' gains would fade: the published rules keep them
_QUANTILE = 0.995  # of the error rate: a reference that jumps makes a single huge one
_TIGHTER = 0.04  # of the margins: the search judges few samples of the rules' hull


def rungs(bench: Bench, fixed: Entry, equal: Fitness) -> Rungs:
    """Return both, or the reason why there is none."""
    ranges = [_ranges(bench, fixed, i) for i in range(len(bench.setup.laws))]
    known = [one for one in ranges if one is not None]
    if len(known) < len(ranges):
        return Rungs(notes=(f"{_TITLE}: none, a channel has neither integral nor derivative action to range ki by",))
    kb = _by_hand(bench, fixed, known, equal)
    better, entry = _searched(bench, fixed, equal, kb, known)
    sources = "; ".join(dict.fromkeys(one.text for one in known))
    found = (
        of_kb("hand_made", _TITLE, f"ranges from {sources}; no search", bench, kb, 0),
        of_kb("hand_made_scaled", _SCALED, "ranges of inputs and gains searched", bench, better, entry.evaluations),
    )
    contenders = tuple(_plain(bench, c, one, kb) for c, one in zip(found, (kb, better), strict=True))
    kbs = {"hand_made": kb, "hand_made_scaled": better}
    return Rungs(contenders, (f"{_TITLE}: gain ranges from {sources}",), kbs)


def _plain(bench: Bench, contender: Contender, kb: KnowledgeBase, by_hand: KnowledgeBase) -> Contender:
    """Four numbers a channel are what was chosen, and no rule is ever switched off.

    With all authority the reference gains never act, so the searched rules run in the kernel of the published ones.
    """
    laws, own = bench.setup.laws, FuzzyController(kb, laws=bench.setup.laws, free=FREE)
    shared = own if kb.inference.authority < 1.0 else FuzzyController(by_hand, laws=laws, free=FREE)
    return replace(contender, controller=shared, theta=own.theta, parameters=FACTORS * len(kb.channels))


def _ranges(bench: Bench, fixed: Entry, i: int) -> GainRanges | None:
    """From the ultimate gain at the first operating point, where the box holds what follows; else the fixed PID."""
    setup = bench.setup
    low, high = setup.low[3 * i : 3 * i + 3], setup.high[3 * i : 3 * i + 3]
    if setup.plant.operating_points:
        point = setup.plant.operating_points[0]
        spec = LoopSpec(
            setup.plant, setup.laws, [replace(s, parameters=None) for s in setup.sets["taught"]], setup.step
        )
        seen = one_channel(spec, linearise(setup.plant, point, commands=True), i, None, point.name)
        edge = ultimate_gain(seen, loop_of(spec, i))
        if edge is not None:
            found = hand_made.from_ultimate(*edge)
            ends = np.array([found.kp, found.kd])
            if (ends >= low[[0, 2], None]).all() and (ends <= high[[0, 2], None]).all():
                return found
    largest = max(abs(low[2]), abs(high[2]))
    return hand_made.from_gains(fixed.theta[3 * i : 3 * i + 3].tolist(), float(largest))


def _by_hand(bench: Bench, fixed: Entry, ranges: list[GainRanges], equal: Fitness) -> KnowledgeBase:
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

    return bench.folder.stage(
        "hand_made", compute,
        lambda folder, kb: kb.save(folder / "knowledge_base.json"),
        lambda folder: KnowledgeBase.load(folder / "knowledge_base.json"),
    )  # fmt: skip


def _reach(seen: Visited, i: int, scale: float) -> tuple[float, float]:
    """Largest error, and an error rate that is seldom passed."""
    error, rate = np.abs(seen.own[:, i, 0]), np.abs(seen.own[:, i, 1])
    largest = float(error.max()) or scale
    return largest, float(np.quantile(rate, _QUANTILE)) or float(rate.max()) or largest


def _searched(
    bench: Bench, fixed: Entry, equal: Fitness, kb: KnowledgeBase, ranges: list[GainRanges]
) -> tuple[KnowledgeBase, Entry]:
    setup = bench.setup

    def compute(checkpoints: Path) -> tuple[KnowledgeBase, Entry]:
        candidate = scaled(kb, ranges, setup.laws, "hand_made_scaled", _SCALED)
        plan, progress = bench.plan(len(candidate.low), checkpoints, _SCALED)
        margins = None if bench.margins is None else bench.margins.tightened(_TIGHTER)
        with progress:
            found = search(setup.task(fitness=equal), candidate, plan, margins, validation_task(bench, equal, fixed))
        better = certified(written(candidate, found.theta), bench.margins, setup.laws)
        return better, found_files.entry(found)

    return bench.folder.stage("hand_made_scaled", compute, save_refined, load_refined)
