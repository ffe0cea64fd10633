"""Who is judged, in which rollouts, and how it is decided.

All controllers of a run, simplest first, meet the same rollouts of taught and of unforeseen situations. Tables are
arrays [measure, seed, situation], measures in the order of `MEASURES`, then the plant's own.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, Controller, gain_names
from experiments.pipeline.assurance.margins_over_ranges import faults, over_ranges
from experiments.pipeline.assurance.robustness import robustness
from experiments.pipeline.assurance.stability import stability
from experiments.pipeline.assurance.worst_cases import WorstSearches
from experiments.pipeline.judged_rollouts import (
    MEASURES,
    OF_DAMPERS,
    damping_of,
    fitness_of,
    recommendable,
    rollouts,
    rows_of,
)
from experiments.pipeline.ladder import oracle_share
from experiments.runtime import formats
from experiments.runtime.progress import PlannedWork
from experiments.settings.ranges import CHOOSING
from flcs import FuzzyController
from sscq.baselines.tuned import Tuned
from sscq.verdict.comparison import Sample, compare
from sscq.verdict.verdict import Verdict, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from experiments.pipeline.assurance.robustness import MapFinding
    from experiments.pipeline.assurance.stability import StabilityFinding
    from experiments.pipeline.assurance.worst_cases import WorstFinding
    from experiments.pipeline.bench import Bench
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Reference
    from experiments.settings import Setup
    from flcs import KnowledgeBase
    from sscq.fitness import Fitness
    from sscq.margins.drawn_plants import RangeMargins
    from sscq.margins.margins import LoopMargins, Margins


def of_kb(name: str, title: str, text: str, bench: Bench, kb: KnowledgeBase, evaluations: int | None) -> Tuned:
    """Return a knowledge base as a contender."""
    laws = bench.setup.laws
    controller = FuzzyController(kb, laws=laws)
    numbers = sum(len([r for r in b.rules if r.on]) * len(b.gain_names) + sum(v.n_terms for v in b.inputs)
                  for b in kb.channels)  # fmt: skip
    return Tuned(
        name, title, text, controller, controller.theta, evaluations, numbers,
        margins_asked=bench.margins is not None,
    )  # fmt: skip


def contenders(
    bench: Bench,
    ref: Reference,
    fixed: Tuned,
    others: Sequence[Tuned],
    imitated: KnowledgeBase,
    refined: dict[str, Refined],
    further: Sequence[Tuned] = (),
) -> list[Tuned]:
    """Return everything that is judged, simplest first; `further` rungs stand where the ladder has them."""
    setup = bench.setup
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    zero = np.zeros(len(setup.low))
    found = [Tuned("open_loop", "open loop", "no control: all gains 0", constant, zero, 0, 0)]
    n = len(zero)
    if setup.own is not None:
        found.append(Tuned("own", "your present gains", "as given", constant, setup.own, 0, n, margins_asked=True))
    if ref.rule is not None:
        title = f"{ref.rule_name} tuning rule"
        found.append(Tuned("rule", title, "from the nominal model", constant, ref.rule, 0, n, margins_asked=True))
    text = "genetic algorithm and CMA-ES, the better one"
    found.append(replace(fixed, text=text, controller=constant, parameters=n, margins_asked=True))
    for one in others:
        name = "table" if one.name.startswith("table") else one.name
        found.append(replace(one, name=name, text="same search, budget and actuator travel"))
    found.append(of_kb("imitation", "knowledge base by imitation alone", "before refinement", bench, imitated, None))
    for kind, result in refined.items():
        name = "knowledge_base" if kind == "equal" else f"knowledge_base_{kind}"
        text = "refined in closed loop" + (", at the fixed PID's actuator travel" if kind == "equal" else "")
        title = (
            "knowledge base (rule-based gain schedule)" if kind == "equal" else "knowledge base, free actuator travel"
        )
        found.append(of_kb(name, title, text, bench, result.kb, _spent(bench, result)))
    return _placed(found, further)


def _spent(bench: Bench, result: Refined) -> int:
    return result.entry.spent + taught_loops(bench) + bench.before_refinement


def with_oracle(bench: Bench, found: Sequence[Tuned], fixed: Tuned, oracle: np.ndarray | None) -> list[Tuned]:
    """Return all that is judged with the oracle behind it, where there is one."""
    if oracle is None:
        return list(found)
    setup = bench.setup
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    share, size = oracle_share(setup), len(setup.low)
    title = "best fixed PID per situation (oracle)"
    text = f"no controller can know the situation; {share} evaluations for each, so no bound"
    cost = share * len(oracle)
    return [*found, Tuned("oracle", title, text, constant, fixed.theta, cost, size, per_situation=oracle)]


def _placed(found: list[Tuned], further: Sequence[Tuned]) -> list[Tuned]:
    """Put further rungs before the knowledge bases; what cannot be recommended, behind them."""
    known = recommendable(c.name for c in further)
    before = [c for c in further if c.name in known]
    after = [c for c in further if c.name not in known]
    place = next(i for i, c in enumerate(found) if c.name == "imitation")
    return [*found[:place], *before, *found[place:], *after]


def choose_table(bench: Bench, ref: Reference, entries: Sequence[Tuned]) -> list[Tuned]:
    """Return the entries with only the best of the gain tables, judged on the validation situations."""
    tables = [e for e in entries if e.name.startswith("table")]
    if not tables:
        return list(entries)
    task = bench.setup.task("validation", ref.fitness)
    values = [float(ref.fitness(task.quality(e.controller, e.theta[None]))[0]) for e in tables]
    best = tables[int(np.argmin(values))]
    spent = sum(e.spent for e in tables)
    return [
        replace(e, evaluations=spent) if e is best else e
        for e in entries
        if not e.name.startswith("table") or e is best
    ]


def taught_loops(bench: Bench) -> int:
    """What all rounds of teaching cost, in evaluations of all taught situations over their whole horizon; at most."""
    teacher, taught = bench.setup.teacher, bench.setup.sets["taught"]
    horizons = [s.t_end for s in taught]
    candidates = sum(int(t / teacher.window + 1e-9) for t in horizons) * (teacher.search_of(1).evaluations or 0)
    copies = 1 if teacher.clairvoyant else teacher.continuations
    ahead = teacher.horizon if teacher.encoding == "receding" else sum(horizons) / len(horizons)
    further = (bench.setup.config.teacher.rounds - 1) * teacher.horizon  # always window after window
    return round(candidates * copies * (ahead + further) / sum(horizons))


def verdict_loops(setup: Setup) -> float:
    """Return what judging a controller costs, in evaluations of all taught situations."""
    rollouts = sum(setup.repetitions(kind) * len(several) for kind, several in setup.sets.items())
    return rollouts / len(setup.sets["taught"])


@dataclass(frozen=True)
class Judgement:
    """All numbers of the verdict.

    Attributes
    ----------
    quality : mapping of (controller, kind) to arrays [measure, seed, situation]
        In the order of `measures`; taught situations have one seed, unless they are repeated.
    fitness : mapping of (controller, kind) to ndarray [seed, situation]
    verdict : Verdict
    margins : mapping of controller to tuple of LoopMargins
        With the gains that stand at rest.
    passing : mapping of controller to tuple of Margins
        The worst of each channel with gains that are passed through.
    measures : tuple of str
        The rows of `quality`: built-in measures, then the plant's own.
    over_ranges : mapping of controller to RangeMargins
        Over drawn parameters and delays; empty where margins are not asked for.
    judged : {"drawn", "unforeseen"}
        The situations that decide: fresh ones drawn from the declared ranges, or the named ones with other noise.
    stability : mapping of controller to StabilityFinding
        About the operating points, of the fixed gains, the recommended controller and the knowledge base; empty: not
        asked for.
    worst_cases : mapping of controller to WorstFinding
        In the declared ranges, of the fixed gains and of who was to be recommended; empty: not asked for.
    chosen_on : mapping of controller to Sample
        The rollouts in which the recommended controller was chosen: of situations of their own where fresh ones judge.
    robustness : MapFinding or None
        How two of them fare over the two declared ranges that matter most.
    others : mapping of controller to tuple of arrays [measure, seed, situation]
        What the searches that were not chosen found for it, in the situations that decide; the best first.
    left_open : str
        The controller that the first look left undecided; empty: there was one look.
    first_draws : int
        Situations of the first look, where there were two.
    """

    quality: dict[tuple[str, str], np.ndarray]
    fitness: dict[tuple[str, str], np.ndarray]
    verdict: Verdict
    margins: dict[str, tuple[LoopMargins, ...]] = field(default_factory=dict)
    passing: dict[str, tuple[Margins, ...]] = field(default_factory=dict)
    measures: tuple[str, ...] = MEASURES
    over_ranges: dict[str, RangeMargins] = field(default_factory=dict)
    judged: str = "unforeseen"
    others: dict[str, tuple[np.ndarray, ...]] = field(default_factory=dict)
    stability: dict[str, StabilityFinding] = field(default_factory=dict)
    worst_cases: dict[str, WorstFinding] = field(default_factory=dict)
    chosen_on: dict[str, Sample] = field(default_factory=dict)
    robustness: MapFinding | None = None
    left_open: str = ""
    first_draws: int = 0

    def mean(self, name: str, kind: str, measure: str | None = None) -> float:
        """Return the mean over seeds and situations, of the fitness with its penalties or of a measure.

        A measure's is over the rollouts that survive (one cut short has small integrals); NaN where none does.
        """
        if measure is None:
            return float(self.fitness[name, kind].mean())
        return self._surviving(name, kind, self.quality[name, kind][self.measures.index(measure)])

    def surviving_mean(self, name: str, kind: str) -> float:
        """Return the mean of the fitness over the rollouts that survive; NaN where none does."""
        return self._surviving(name, kind, self.fitness[name, kind])

    def _surviving(self, name: str, kind: str, values: np.ndarray) -> float:
        alive = ~np.isfinite(self.quality[name, kind][MEASURES.index("diverged_at")])
        return float(values[alive].mean()) if alive.any() else math.nan


_ROLLOUTS, _OF_OTHERS = "judgement", "judgement_of_other_searches"  # stages
_AGAIN = "_again"  # behind their names: in more situations


def judge(
    bench: Bench,
    fitness: Fitness,
    group: Sequence[Tuned],
    on_wall: Sequence[str] = (),
    others: Mapping[str, Sequence[Tuned]] | None = None,
) -> tuple[Bench, Judgement]:
    """Evaluate all controllers on the same rollouts and decide, knowing the worst case of who is to be recommended.

    Where a controller is left undecided that would otherwise be recommended, all are judged once more, in more
    situations, see :meth:`experiments.settings.Setup.looking_again`.

    `on_wall` as in :func:`sscq.verdict.verdict.decide`; `others`: what searches that were not chosen found. Returned
    with the bench whose setup has the situations that decided.
    """
    worst = WorstSearches(bench, fitness, group)
    first = _judged(bench, fitness, group, on_wall, others or {}, worst)
    setup = bench.setup.looking_again() if first.verdict.undecided else None
    if setup is None:
        return bench, _assured(bench, fitness, group, first, worst)
    bench = copy(bench)
    bench.setup = setup
    for stage, size in ((_ROLLOUTS, len(group)), (_OF_OTHERS, sum(map(len, (others or {}).values())))):
        if size:
            bench.job.also(stage + _AGAIN, PlannedWork(size * verdict_loops(setup)))
    again = _judged(bench, fitness, group, on_wall, others or {}, worst, first)
    known = {"left_open": first.verdict.undecided, "first_draws": first.quality["fixed", first.judged].shape[-1]}
    return bench, _assured(bench, fitness, group, replace(again, **known), worst)


def _judged(
    bench: Bench,
    fitness: Fitness,
    group: Sequence[Tuned],
    on_wall: Sequence[str],
    others: Mapping[str, Sequence[Tuned]],
    worst: WorstSearches,
    before: Judgement | None = None,
) -> Judgement:
    """Rollouts and margins of all, and what they say; margins are those that were known `before`, in fewer rollouts."""
    look = "" if before is None else _AGAIN
    fixed = next(one for one in group if one.name == "fixed")
    damping = damping_of(fixed, bench.setup.laws, bench.setup.plant, fitness.entropy_scale)

    branches: dict[str, Callable[[Bench], Any]] = {
        "arrays": lambda one: _all_rollouts(one, group, fitness, damping, look)
    }
    if others:
        branches["unchosen"] = lambda one: _of_others(one, fitness, others, look)
    if before is None:
        branches["ranges"] = lambda one: over_ranges(one, group)
    done = dict(zip(branches, bench.side_by_side(list(branches.values())), strict=True))
    arrays, unchosen = done["arrays"], done.get("unchosen", {})
    ranges = done["ranges"] if before is None else before.over_ranges
    kinds, judged = tuple(bench.setup.sets), bench.setup.judged
    quality = {
        (c.name, kind): arrays[f"{c.name}.{kind}"] for c in group for kind in kinds if f"{c.name}.{kind}" in arrays
    }
    values = {key: fitness_of(bench, fitness, key[1], table) for key, table in quality.items()}
    margins = {c.name: found for c in group if (found := margins_of(bench, c)) is not None}
    passing = {c.name: least for c in group if (least := passing_of(bench, c))}
    kept = {c.name: keeps_margins(bench, c) is not False for c in group}
    samples, choosing = (
        {
            c.name: _sample(bench, fitness, kind, table, arrays.get(f"{c.name}.{kind}.{OF_DAMPERS}"))
            for c in group
            if (table := arrays.get(f"{c.name}.{kind}")) is not None
        }
        for kind in (judged, CHOOSING)
    )
    searches = {name: [_sample(bench, fitness, judged, table) for table in tables] for name, tables in unchosen.items()}
    titles = {c.name: c.title for c in group}
    known = list(recommendable(samples))
    verdict = decide(
        samples,
        "fixed",
        known,
        titles,
        kept,
        bench.setup.seed,
        faults(ranges),
        on_wall,
        in_words(bench.setup),
        searches,
        worst.ask,
        choosing or None,
    )
    for name in {c.name for c in group} - set(samples):  # an oracle, which no fresh situation can be asked
        one, other = (_sample(bench, fitness, "unforeseen", quality[key, "unforeseen"]) for key in (name, "fixed"))
        verdict = replace(verdict, comparisons={**verdict.comparisons, name: compare(one, other, bench.setup.seed)})
    rows = rows_of(bench.setup.plant)
    told = (quality, values, verdict, margins, passing, rows, ranges, judged, unchosen)
    return Judgement(*told, chosen_on=choosing or samples)


def _assured(
    bench: Bench, fitness: Fitness, group: Sequence[Tuned], found: Judgement, worst: WorstSearches
) -> Judgement:
    """A judgement with what else is to be known of who is recommended: worst case, stability, robustness."""
    recommended = found.verdict.recommended
    worst.ask("fixed")
    return replace(
        found,
        stability=stability(bench, group, recommended),
        worst_cases=worst.found,
        robustness=robustness(bench, fitness, group, recommended),
    )


def _all_rollouts(
    bench: Bench, group: Sequence[Tuned], fitness: Fitness, damping: Sequence[float], look: str = ""
) -> dict[str, np.ndarray]:
    """All measures of all controllers in the same rollouts, as a stage of the run."""

    def compute(_: Path) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        with bench.progress(len(group), "verdict", "controllers") as progress:
            for contender in group:
                tables = rollouts(bench, contender, fitness.entropy_scale, damping=damping)
                arrays |= {f"{contender.name}.{kind}": table for kind, table in tables.items()}
                progress.advance()
        return arrays

    return bench.stage(_ROLLOUTS + look, compute, *formats.as_npz("quality.npz"))


def _of_others(
    bench: Bench, fitness: Fitness, others: Mapping[str, Sequence[Tuned]], look: str = ""
) -> dict[str, tuple[np.ndarray, ...]]:
    """All measures of what was not chosen, in the situations that decide, as a stage of its own."""
    judged = bench.setup.judged

    def compute(_: Path) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        with bench.progress(len(others), "verdict, other searches", "controllers") as progress:
            for name, several in others.items():
                for number, one in enumerate(several):
                    arrays[f"{name}.{number}"] = rollouts(bench, one, fitness.entropy_scale, [judged])[judged]
                progress.advance()
        return arrays

    arrays = bench.stage(_OF_OTHERS + look, compute, *formats.as_npz("quality.npz"))
    return {name: tuple(arrays[f"{name}.{k}"] for k in range(len(several))) for name, several in others.items()}


def in_words(setup: Setup) -> str:
    """Return in which situations controllers are judged."""
    if setup.judged == "drawn":
        return f"{len(setup.sets['drawn'])} fresh situations drawn from the declared ranges"
    return "unforeseen situations"


def _sample(bench: Bench, fitness: Fitness, kind: str, quality: np.ndarray, damped: np.ndarray | None = None) -> Sample:
    """What is compared of rollouts [measure, seed, situation]; drawn situations are resampled each for itself."""
    each = kind != "unforeseen"
    table = quality.swapaxes(1, 2) if each else quality
    values = fitness_of(bench, fitness, kind, quality)
    weighed = damped is not None and "entropy_difference_abs" in fitness.terms
    same = fitness_of(bench, fitness, kind, quality, damped) if weighed else None
    return Sample(
        values.T if each else values,
        table[MEASURES.index("total_variation")],
        np.isfinite(table[0]),
        error=table[MEASURES.index(fitness.error)] if fitness.error in fitness.terms else None,
        error_name=fitness.error.upper(),
        same_damping=None if same is None else same.T if each else same,
    )


def margins_of(bench: Bench, contender: Tuned) -> tuple[LoopMargins, ...] | None:
    """Return the margins of each channel at rest, or None where there are none to be asked for."""
    if bench.margins is None or not contender.margins_asked:
        return None
    return bench.margins.at_rest(contender.controller, contender.theta)


def passing_of(bench: Bench, contender: Tuned) -> tuple[Margins, ...]:
    """Return the worst margins of each channel of gains that are passed through; none where gains stand."""
    if bench.margins is None or not contender.margins_asked:
        return ()
    return bench.margins.passing(contender.controller, contender.theta)


def keeps_margins(bench: Bench, contender: Tuned) -> bool | None:
    """Return whether a contender keeps the margins, at rest and in passing; None where that is not asked."""
    if bench.margins is None or not contender.margins_asked:
        return None
    return bench.margins.keeps_of(contender.controller, contender.theta)
