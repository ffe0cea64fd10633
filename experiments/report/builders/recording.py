"""Recorded responses of every contender in the declared situations, as a stage of the run.

What is kept is what the page draws: samples that hold the extremes of every curve, in single precision; what needs all
samples (integrals, time at a limit, shares of rules) is formed before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.judged_rollouts import RIVAL
from experiments.report.builders.motion import scene_parts, shown_contenders, shown_places, signal_parts
from experiments.report.recorded import MOST, Recordings
from experiments.runtime import formats
from flcs import FuzzyController, KnowledgeBase
from sscq.loop.record import Recorder
from sscq.situations.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.report.builders.case import FinishedDesign, PlacedSituation
    from plants.core.motion.trajectory import Trajectory
    from sscq.baselines.tuned import Tuned

_BUCKETS = 300  # of samples; a chart draws two of each
_DRAWN = ("output", "command", "gains", "entropy_rates", "seen")


def recordings(case: FinishedDesign) -> Recordings:
    """Return arrays named "contender.place.what"; computed once in a run."""

    def compute(_: Path) -> Recordings:
        arrays: Recordings = {}
        places = [case.places[k] for k in sorted({*chosen(case), *_also(case)})]
        with case.bench.progress(len(case.group), "responses", "controllers") as progress:
            for contender in case.group:
                arrays |= _of_contender(case, contender, places)
                progress.advance()
        return arrays

    return case.bench.stage("responses", compute, *formats.as_npz("responses.npz"))


def chosen(case: FinishedDesign) -> list[int]:
    """Return which situations are recorded: all of a kind, or its first ones and those that cost the verdict's most."""
    found: list[int] = []
    for kind in KINDS:
        places = [p.overall for p in case.places if p.kind == kind]
        if len(places) > MOST:
            values = case.judgement.fitness[case.verdict.recommended, kind].mean(axis=0)
            worst = np.argsort(-values, kind="stable")[: MOST // 3]
            first = [k for k in range(len(places)) if k not in worst][: MOST - len(worst)]
            places = [places[k] for k in sorted([*first, *worst.tolist()])]
        found += places
    return found


def _also(case: FinishedDesign) -> set[int]:
    """Return which situations are recorded because they are seen moving, or as signals."""
    wanted = case.plant.scene is not None or case.plant.shown
    return {place.overall for place in shown_places(case)} if wanted else set()


def _of_contender(case: FinishedDesign, contender: Tuned, places: list[PlacedSituation]) -> Recordings:
    setup, rows = case.setup, contender.per_situation
    # All situations, as in the judgement: the same features, so the same compiled kernel for all of them.
    recorder = Recorder(
        contender.plant or setup.plant, contender.controller, [p.situation for p in case.places], setup.step,
        entropy_scale=case.fitness.entropy_scale, **setup.options,
    )  # fmt: skip
    if rows is None:
        runs = recorder.several(contender.theta, [place.overall for place in places])
    else:
        runs = ((place.overall, recorder(rows[place.overall], place.overall)) for place in places)
    parts = {number: _parts(case, contender, case.places[number], run) for number, run in runs}
    return {
        f"{contender.name}.{place.overall}.{what}": values
        for place in places
        for what, values in parts[place.overall].items()
    }


def _parts(case: FinishedDesign, contender: Tuned, place: PlacedSituation, run: Trajectory) -> Recordings:
    """All that is kept of one run."""
    plant, h, n_c = case.plant, case.setup.step, len(case.plant.channels)
    outputs = [plant.index("measurements", channel.output) for channel in plant.channels]
    rates = run.group("entropy_rates")
    columns = {
        "reference": run.group("reference"),
        "output": run.group("outputs")[:, outputs],
        "command": _commands(contender, run),
        "gains": run.group("gains"),
        "entropy_rates": rates,
        "entropies": np.vstack([np.zeros(2), h * np.cumsum(rates[:-1], axis=0)]),
        "seen": run.group("signals"),
    }
    parts: Recordings = {"use": _use(case, place, columns["command"])}
    if isinstance(contender.controller, FuzzyController):
        kb, inputs = contender.controller.kb, _rule_inputs(contender.controller, run, n_c)
        strengths = kb.firing(inputs, 0)
        parts |= _rules_used(contender.controller, inputs, strengths)
        parts["moment"] = busiest(kb, run.time, inputs, strengths)
    end = float(case.measure(contender.name, place.kind, "diverged_at")[0, place.number])
    if np.isfinite(end):  # the record stands still from there on
        columns = {what: np.where((run.time > end)[:, None], np.nan, values) for what, values in columns.items()}
    parts |= _seen(case, contender, place, run, end if np.isfinite(end) else np.inf)
    kept = extremes([column for what in _DRAWN for column in columns[what].T])
    return parts | {what: values[kept].astype(np.float32) for what, values in {"time": run.time, **columns}.items()}


def _commands(contender: Tuned, run: Trajectory) -> Any:
    """Commands of the channels; a law of the plant's own field gives none, its constants stand in their place."""
    found = run.group("command")
    return np.full_like(found, np.nan) if contender.name.startswith(RIVAL) else found


def _seen(case: FinishedDesign, contender: Tuned, place: PlacedSituation, run: Trajectory, end: float) -> Recordings:
    """The plant's picture and its named signals, of the few runs that show them."""
    if contender.name not in shown_contenders(case) or place.overall not in {p.overall for p in shown_places(case)}:
        return {}
    return scene_parts(case.plant, place, run, end) | signal_parts(case.plant, run, end)


def extremes(columns: Sequence[Any], most: int = _BUCKETS) -> Any:
    """Return which samples of columns [n] to keep: per bucket the first, and every column's smallest and largest."""
    n = len(columns[0])
    size = -(-n // most)
    if size < 3:
        return np.arange(n)
    full = n // size * size
    starts = np.arange(0, full, size)
    picks = [starts, np.array([n - 1]), np.arange(full, n)]
    for column in columns:  # one after the other: each stays in the processor's cache
        blocks = np.ascontiguousarray(column[:full]).reshape(-1, size)
        finite = np.isfinite(blocks)
        ends = (blocks, blocks) if finite.all() else (np.where(finite, blocks, end) for end in (np.inf, -np.inf))
        lowest, highest = ends
        picks += [starts + lowest.argmin(axis=1), starts + highest.argmax(axis=1)]
    return np.unique(np.concatenate(picks))


def _use(case: FinishedDesign, place: PlacedSituation, command: Any) -> Any:
    """Lowest and highest command and share of the steps at a limit, the law's or the situation's [channel, 3]."""
    weaker = place.situation.limits if case.plant.allocate is None else None  # of the inputs, which are the commands
    rows = []
    for i, values in enumerate(command[:-1].T):
        low, high = case.limits(i)
        if weaker is not None:
            low, high = max(low, weaker[0]), min(high, weaker[1])
        at_limit = (values <= low + 1e-9 * abs(low)) | (values >= high - 1e-9 * abs(high))
        rows.append((values.min(), values.max(), at_limit.mean()))
    return np.array(rows, dtype=float)


def _rule_inputs(controller: FuzzyController, run: Trajectory, n_channels: int) -> Any:
    """What the rules saw at every step [n, n_inputs], as columns of the knowledge base."""
    kb, schedule, seen = controller.kb, controller.schedule, run.group("signals")
    columns = {name: seen[:, 2 * n_channels + k] for k, name in enumerate(kb.signals)}
    for i in range(n_channels):
        columns |= {kb.suffixed("e", i): seen[:, 2 * i], kb.suffixed("e_rate", i): seen[:, 2 * i + 1]}
    for k, i in enumerate(schedule.integrating):
        columns[kb.suffixed("z", i)] = run.group("schedule_states")[:, k]
    return np.stack([columns[name] for name in kb.input_names], axis=1)


def _rules_used(controller: FuzzyController, inputs: Any, first: Any) -> Recordings:
    """Mean share of every rule in the gains, channel after channel; of each channel, what two rules tell.

    The reference gains have the rest. `first`: the first channel's firing strengths.
    """
    kb = controller.kb
    shares = [kb.shares(inputs, i, None if i else first) for i in range(len(kb.channels))]
    return {
        "shares": controller.schedule.authority * np.concatenate([part.mean(axis=0) for part in shares]),
        "by_two": np.array([told_by_two(part) for part in shares]),
    }


def told_by_two(shares: Any) -> float:
    """Return which part of what rules say [n, n_rules] the two strongest of each moment say; NaN where none speaks."""
    total = float(shares.sum())
    return float(np.sort(shares, axis=1)[:, -2:].sum()) / total if total > 0.0 else float("nan")


def busiest(kb: KnowledgeBase, time: Any, inputs: Any, strengths: Any) -> Any:
    """Return time and inputs [1 + n_inputs] of the step at which the second strongest rule fires most.

    There the rules have most to settle among themselves. The first such step; where no two rules ever fire at once,
    the one at which a rule fires most. `strengths` [n, n_rules] are those of all rules of the first channel.
    """
    active = list(kb.channels[0].active)
    if not active:
        return np.concatenate([time[:1], inputs[0]])
    strongest = second = np.zeros(len(strengths))
    for rule in active:
        strength = np.where(np.isfinite(strengths[:, rule]), strengths[:, rule], 0.0)
        second = np.maximum(second, np.minimum(strongest, strength))
        strongest = np.maximum(strongest, strength)
    place = int((second if second.max() > 0.0 else strongest).argmax())
    return np.concatenate([[time[place]], inputs[place]])
