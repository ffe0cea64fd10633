"""Finished designs of one plant, their rollouts pooled: controllers of the ladder, and tuning rules beside them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pooled_result import Judged, Pooled
from sscq.fitness import Fitness
from sscq.situation_sets import KINDS
from sscq.verdict import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.ladder import Bench

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
        from experiments import judging

        table = self.tables[kind][name]
        travel = table[judging.MEASURES.index("total_variation")]
        return Sample(judging.fitness_of(self.bench, self.fitness, kind, table), travel, np.isfinite(table[0]))

    def error(self, name: str, kind: str) -> np.ndarray:
        """Return the IAE of a controller's rollouts."""
        from experiments import judging

        return self.tables[kind][name][judging.MEASURES.index("iae")]


def pool(folders: Sequence[Path]) -> Pooled:
    """Read finished designs of one plant, judge the tuning rules in their rollouts, and compare all."""
    from experiments.conditions import shared

    designs = [_design(folder) for folder in folders]
    setup, last = designs[0].bench.setup, designs[-1]
    names = [name for name in last.tables[KINDS[0]] if all(name in one.tables[KINDS[0]] for one in designs)]
    titles: dict[str, str] = {}
    for one in designs:
        titles |= one.titles
    spent = {n: float(np.mean([one.spent[n] for one in designs])) for n in names if all(n in d.spent for d in designs)}
    choices = Counter(one.recommended for one in designs)
    return Pooled(
        setup.plant.name, titles, {kind: _judged(designs, names, kind) for kind in KINDS},
        dict(choices.most_common()), last.notes, spent, shared(setup),
    )  # fmt: skip


def _judged(designs: Sequence[_Design], names: Sequence[str], kind: str) -> Judged:
    from experiments.reporting.words import situation

    setup = designs[0].bench.setup
    samples = {name: joined([one.sample(name, kind) for one in designs]) for name in names}
    errors = {name: np.hstack([one.error(name, kind) for one in designs]) for name in names}
    return Judged.of(samples, errors, tuple(f"{s.name}: {situation(setup.plant, s)}" for s in setup.sets[kind]))


def joined(samples: Sequence[Sample]) -> Sample:
    """Return designs side by side: all see the same rollouts, so a seed that is resampled takes them all with it."""
    return Sample(*(np.hstack([getattr(s, part) for s in samples]) for part in ("fitness", "travel", "failed")))


def _design(folder: Path) -> _Design:
    """Read one design, and judge the tuning rules in its rollouts."""
    from experiments import formats, judging
    from experiments.ladder import Bench
    from experiments.launch import stored_settings
    from experiments.run_folder import RunFolder
    from experiments.rungs import tuning_rules
    from experiments.setup import setup

    metrics = formats.read_json(folder / "metrics.json")
    with RunFolder.resume(folder, command="design") as run:
        bench = Bench(setup(stored_settings("design", run.config)), run, quiet=True)
        fitness, rules = Fitness(**metrics["fitness"]), tuning_rules.rungs(bench)
        arrays = formats.read_npz(folder / "stages" / "judgement" / "quality.npz")
        tables = {kind: {name: arrays[f"{name}.{kind}"] for name in metrics["controllers"]} for kind in KINDS}
        for rule in rules.contenders:
            for kind, table in judging.rollouts(bench, rule, fitness.entropy_scale).items():
                tables[kind][rule.name] = table
    rivals = sorted(name for name in tables[KINDS[0]] if name.startswith(judging.RIVAL))
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
