"""Finished designs of one plant, their rollouts pooled: all controllers, taught, validation and unforeseen situations.

Controllers are those of the ladder, and tuning rules judged beside them in the same rollouts. What is the same for all
of them is said in words: budget, limits, noise, filter, sampling, travel.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline import judged_rollouts
from experiments.pipeline.bench import Bench
from experiments.pipeline.rungs import tuning_rules
from experiments.report.builders.words import SYMBOLS, command_unit, output_unit, situation, symbol
from experiments.report.drawing.numbers import plain, share, with_unit
from experiments.runtime import formats
from experiments.runtime.run_folder import RunFolder
from experiments.settings import setup
from experiments.starting.opening import stored_settings
from sscq.fitness import Fitness
from sscq.situations.situation_sets import KINDS
from sscq.verdict.comparison import Comparison, Sample, change_where_alive, compare, nothing_random, tail_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from experiments.settings import Setup
    from sscq.verdict.bootstrap import Change


BASELINE = "fixed"
DECIDING = "unforeseen"
ROWS = (
    "open_loop", "fixed", "two_degree", "table", "imitation", "knowledge_base", "knowledge_base_free", "oracle",
)  # fmt: skip
"""Controllers that a page tells of the ladder, simplest first."""


def title_of(name: str, metrics: Sequence[Mapping[str, Any]]) -> str:
    """Return what a controller is called beside designs of these metrics; tables may be over another input in each."""
    titles = (one["controllers"][name]["title"] for one in metrics if name in one["controllers"])
    return "best gain table" if name == "table" else next(titles, name)


@dataclass(frozen=True)
class PooledCosts:
    """All controllers in one kind of situations, in the same rollouts.

    Attributes
    ----------
    samples : mapping of controller to Sample
        Rollouts [seed, situation], all designs beside one another.
    errors : mapping of controller to ndarray [seed, situation]
        IAE of these rollouts.
    situations : tuple of str
        The situations in words.
    comparisons : mapping of controller to Comparison
        With the best fixed PID, whose rollouts are those of the same design.
    error_changes : mapping of controller to Change
        Of the mean IAE over the rollouts that both survive.
    """

    samples: Mapping[str, Sample]
    errors: Mapping[str, np.ndarray]
    situations: tuple[str, ...]
    comparisons: Mapping[str, Comparison]
    error_changes: Mapping[str, Change]

    @classmethod
    def of(
        cls, samples: Mapping[str, Sample], errors: Mapping[str, np.ndarray], situations: tuple[str, ...] = ()
    ) -> PooledCosts:
        """Compare all with the best fixed PID."""
        base, error = samples[BASELINE], errors[BASELINE]
        others = {name: sample for name, sample in samples.items() if name != BASELINE}
        comparisons = {name: compare(sample, base) for name, sample in others.items()}
        changes = {
            name: change_where_alive(errors[name], error, sample.failed | base.failed)
            for name, sample in others.items()
        }
        return cls(samples, errors, situations, comparisons, changes)

    @property
    def seeds(self) -> int:
        """Seeds of each situation."""
        return len(self.samples[BASELINE].fitness)

    @property
    def by_chance(self) -> bool:
        """Whether the rollouts of any controller differ from seed to seed."""
        return self.seeds > 1 and not all(nothing_random(sample) for sample in self.samples.values())

    def cost(self, name: str) -> float:
        """Return the mean fitness over the rollouts that survive; NaN where none does."""
        return self._surviving(name, self.samples[name].fitness)

    def error(self, name: str) -> float:
        """Return the mean IAE over the rollouts that survive; NaN where none does."""
        return self._surviving(name, self.errors[name])

    def _surviving(self, name: str, values: np.ndarray) -> float:
        alive = ~self.samples[name].failed
        return float(values[alive].mean()) if alive.any() else float("nan")

    def numbers(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "situations": list(self.situations),
            "seeds": self.seeds,
            "fitness": {name: _statistics(sample) | {"iae": self.error(name)} for name, sample in self.samples.items()},
            "comparisons": {name: self._compared(name) for name in self.comparisons},
        }

    def _compared(self, name: str) -> dict[str, Any]:
        # A rank test would count a rollout once for every design that saw it.
        known = {key: value for key, value in asdict(self.comparisons[name]).items() if key != "p_value"}
        return known | {"iae": asdict(self.error_changes[name])}


def _statistics(sample: Sample) -> dict[str, float]:
    values = sample.fitness
    return {
        "mean": float(values.mean()), "median": float(np.median(values)), "worst": tail_mean(values),
        "failures": int(sample.failed.sum()), "travel": float(sample.travel.mean()), "rollouts": values.size,
    }  # fmt: skip


@dataclass(frozen=True)
class Pooled:
    """What several designs of a plant gave.

    Attributes
    ----------
    plant : str
    titles : mapping of controller to str
        In the order of the ladder, tuning rules behind the open loop.
    kinds : mapping of "taught", "validation", "unforeseen" to PooledCosts
    choices : mapping of controller to int
        How often the designs recommended it.
    notes : tuple of str
        Where the numbers of rules and rungs come from, and why one does not apply.
    spent : mapping of controller to float
        Closed-loop evaluations of its design, the mean of the designs; a controller without its own has none.
    conditions : tuple of str
        What is the same for all controllers.
    """

    plant: str
    titles: Mapping[str, str]
    kinds: Mapping[str, PooledCosts]
    choices: Mapping[str, int]
    notes: tuple[str, ...]
    spent: Mapping[str, float]
    conditions: tuple[str, ...] = ()

    @property
    def baseline(self) -> str:
        """Name of the controller that all are compared with."""
        return BASELINE

    @property
    def comparisons(self) -> Mapping[str, Comparison]:
        """In unforeseen situations: these decide."""
        return self.kinds[DECIDING].comparisons

    def recommended(self) -> str:
        """Say what the designs recommended."""
        total = sum(self.choices.values())
        parts = [f"{self.titles[name]} ({count} of {total})" for name, count in self.choices.items()]
        return ", ".join(parts)

    def numbers(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "conditions": list(self.conditions),
            "controllers": [
                {"name": name, "title": self.titles[name], "evaluations": self.spent.get(name)}
                for name in self.kinds[DECIDING].samples
            ],
            **{kind: judged.numbers() for kind, judged in self.kinds.items()},
            "recommended": dict(self.choices),
            "notes": list(self.notes),
        }


# Of a design, simplest first; its own rule, from declared numbers, is left out beside those judged here.
_RUNGS = (
    "own", "fixed", "two_degree", "table", "margin_table", "margin_table_fine", "hand_made", "hand_made_scaled",
    "imitation", "knowledge_base_direct", "knowledge_base", "knowledge_base_free", "lqi", "oracle",
)  # fmt: skip


@dataclass(frozen=True)
class _Design:
    """One design: measures of every controller by kind [measure, seed, situation], titles, evaluations, notes."""

    tables: Mapping[str, Mapping[str, np.ndarray]]
    titles: Mapping[str, str]
    spent: Mapping[str, float]
    notes: tuple[str, ...]
    recommended: str
    bench: Bench
    fitness: Fitness

    def sample(self, name: str, kind: str) -> Sample:
        """Return a controller's rollouts."""
        table = self.tables[kind][name]
        travel = table[judged_rollouts.MEASURES.index("total_variation")]
        return Sample(judged_rollouts.fitness_of(self.bench, self.fitness, kind, table), travel, np.isfinite(table[0]))

    def error(self, name: str, kind: str) -> np.ndarray:
        """Return the IAE of a controller's rollouts."""
        return self.tables[kind][name][judged_rollouts.MEASURES.index("iae")]


def pool(folders: Sequence[Path]) -> Pooled:
    """Read finished designs of one plant, judge the tuning rules in their rollouts, and compare all."""
    designs = [_design(folder) for folder in folders]
    job, last = designs[0].bench.setup, designs[-1]
    names = [name for name in last.tables[KINDS[0]] if all(name in one.tables[KINDS[0]] for one in designs)]
    titles: dict[str, str] = {}
    for one in designs:
        titles |= one.titles
    spent = {n: float(np.mean([one.spent[n] for one in designs])) for n in names if all(n in d.spent for d in designs)}
    choices = Counter(one.recommended for one in designs)
    return Pooled(
        job.plant.name, titles, {kind: _judged(designs, names, kind) for kind in KINDS},
        dict(choices.most_common()), last.notes, spent, shared(job),
    )  # fmt: skip


def _judged(designs: Sequence[_Design], names: Sequence[str], kind: str) -> PooledCosts:
    job = designs[0].bench.setup
    samples = {name: joined([one.sample(name, kind) for one in designs]) for name in names}
    errors = {name: np.hstack([one.error(name, kind) for one in designs]) for name in names}
    return PooledCosts.of(samples, errors, tuple(f"{s.name}: {situation(job.plant, s)}" for s in job.sets[kind]))


def joined(samples: Sequence[Sample]) -> Sample:
    """Return designs side by side: all see the same rollouts, so a seed that is resampled takes them all with it."""
    return Sample(*(np.hstack([getattr(s, part) for s in samples]) for part in ("fitness", "travel", "failed")))


def _design(folder: Path) -> _Design:
    """Read one design, and judge the tuning rules in its rollouts."""
    metrics = formats.read_json(folder / "metrics.json")
    with RunFolder.resume(folder, command="design") as run:
        bench = Bench(setup(stored_settings("design", run.config)), run, quiet=True)
        fitness, rules = Fitness(**metrics["fitness"]), tuning_rules.rungs(bench)
        arrays = formats.read_npz(folder / "stages" / "judgement" / "quality.npz")
        tables = {kind: {name: arrays[f"{name}.{kind}"] for name in metrics["controllers"]} for kind in KINDS}
        for rule in rules.contenders:
            for kind, table in judged_rollouts.rollouts(bench, rule, fitness.entropy_scale).items():
                if kind in tables:  # the named situations: fresh draws judge a design, not a pool of them
                    tables[kind][rule.name] = table
    rivals = sorted(name for name in tables[KINDS[0]] if name.startswith(judged_rollouts.RIVAL))
    rungs = ("open_loop", *(r.name for r in rules.contenders), *_RUNGS[:2], *rivals, *_RUNGS[2:])
    order = [name for name in rungs if name in tables[KINDS[0]]]
    told = _told(metrics) | {rule.name: (rule.title, rule.evaluations) for rule in rules.contenders}
    return _Design(
        tables={kind: {name: several[name] for name in order} for kind, several in tables.items()},
        titles={name: told[name][0] for name in order} | {name: title for name, (title, _) in told.items()},
        spent={name: spent for name, (_, spent) in told.items() if spent is not None},
        notes=rules.notes + tuple(metrics.get("further_rungs", ())),
        recommended=metrics["recommended"],
        bench=bench,
        fitness=fitness,
    )


def _told(metrics: Mapping[str, Any]) -> dict[str, tuple[str, float | None]]:
    """Title and evaluations of every controller of a design."""
    return {name: (one["title"], one["evaluations"]) for name, one in metrics["controllers"].items()}


def shared(setup: Setup) -> tuple[str, ...]:
    """Return a line for each condition."""
    return (
        _fitness(setup),
        f"budget: {setup.evaluations} closed-loop evaluations for every search",
        *_limits(setup),
        f"sensors: {_noise(setup)}",
        f"derivative: {_filter(setup)}",
        f"sampling: {_sampling(setup)}",
        f"actuator travel when searched: {_travel(setup)}",
        f"margins: {_margins(setup)}",
    )


def _fitness(setup: Setup) -> str:
    fitness = setup.fitness
    if fitness.lexicographic:
        return f"J: stability and constraints, then {SYMBOLS[fitness.error]}, then entropy production"
    terms = " + ".join(
        f"{plain(weight) if weight != 1.0 else ''} {symbol(name)}".strip() for name, weight in fitness.terms.items()
    )
    relative = ", each relative to what random gains that survive have" if setup.config.fitness.relative else ""
    scales = ", ".join(
        f"{channel.output} {with_unit(channel.scale, output_unit(setup.plant, i))}"
        for i, channel in enumerate(setup.plant.channels)
    )
    return f"J: {terms}{relative}; errors count in the channel's scale ({scales})"


def _limits(setup: Setup) -> Iterator[str]:
    for i, (channel, law) in enumerate(zip(setup.plant.channels, setup.laws, strict=True)):
        low, high = law.limits or (channel.low, channel.high)
        unit = command_unit(setup.plant, i)
        within = f"{plain(low)} … {with_unit(high, unit)}" if math.isfinite(max(-low, high)) else "no limits"
        speed = "" if law.rate_limit is None else f", no faster than {with_unit(law.rate_limit, f'{unit or 1}/s')}"
        yield f"command of {channel.output}: {within}{speed}"


def _noise(setup: Setup) -> str:
    levels = {
        level
        for kind in KINDS
        for several in (setup.sets[kind],)
        for s in several
        for level in s.noise_levels(setup.plant)
    }
    if levels == {0.0}:
        return "no noise"
    return f"noise with a standard deviation of up to {plain(max(levels))}; each situation says its own"


def _filter(setup: Setup) -> str:
    law = setup.laws[0]
    time = law.derivative_filter_time
    measured = law.rate_source == "output" and any(channel.rate for channel in setup.plant.channels)
    source = "the measured rate" if measured else "differences of the samples"
    return f"from {source}, " + (f"filtered with {plain(time)} s" if time else "not filtered")


def _sampling(setup: Setup) -> str:
    sample = setup.laws[0].sample_time or setup.step
    ticks = f"gains of schedules every {plain(setup.tick)} s"
    return f"every {plain(sample)} s, {ticks}; integration step {plain(setup.step)} s"


def _travel(setup: Setup) -> str:
    most = share(setup.config.fitness.travel_share)
    return f"schedules have at most {most} of the fixed PID's in the taught situations, unless they are called free"


def _margins(setup: Setup) -> str:
    if setup.limits is None or not setup.plant.operating_points:
        return "none asked for"
    delay = setup.limits.delay_margin
    late = f" and a delay margin of at least {plain(delay)} s" if delay else ""
    first = setup.config.fitness.margins_of == "first"
    of = "the operating points" + (" of the first taught situation's plant" if first else "")
    return f"Ms of at most {plain(setup.limits.sensitivity)}{late} at {of}, for whatever is searched"
