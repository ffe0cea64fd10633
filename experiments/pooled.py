"""Finished designs of one plant, their rollouts pooled: controllers of the ladder, and tuning rules beside them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.fitness import Fitness
from sscq.verdict import Comparison, Sample, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.judging import Contender
    from experiments.ladder import Bench

BASELINE = "fixed"
_KIND = "unforeseen"
# Of a design, simplest first; its own rule, from declared numbers, is left out beside those judged here.
_RUNGS = (
    "own", "fixed", "two_degree", "table", "margin_table", "margin_table_fine", "hand_made", "hand_made_scaled",
    "imitation", "knowledge_base_direct", "knowledge_base", "knowledge_base_free", "lqi", "oracle",
)  # fmt: skip


@dataclass(frozen=True)
class Pooled:
    """What several designs of a plant gave.

    Attributes
    ----------
    plant : str
    titles : mapping of controller to str
        In the order of the ladder, tuning rules behind the open loop.
    samples : mapping of controller to Sample
        Rollouts [seed, situation] in unforeseen situations, all designs beside one another.
    comparisons : mapping of controller to Comparison
        With the best fixed PID, whose rollouts are those of the same design.
    choices : mapping of controller to int
        How often the designs recommended it.
    notes : tuple of str
        Where the numbers of rules and rungs come from, and why one does not apply.
    """

    plant: str
    titles: Mapping[str, str]
    samples: Mapping[str, Sample]
    comparisons: Mapping[str, Comparison]
    choices: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def baseline(self) -> str:
        """Name of the controller that all are compared with."""
        return BASELINE

    def recommended(self) -> str:
        """Say what the designs recommended."""
        total = sum(self.choices.values())
        parts = [f"{self.titles[name]} ({count} of {total})" for name, count in self.choices.items()]
        return ", ".join(parts)

    def numbers(self) -> dict[str, Any]:
        """Return all figures as plain data."""
        return {
            "fitness": {name: _statistics(sample) for name, sample in self.samples.items()},
            # A rank test would count a rollout once for every design that saw it.
            "comparisons": {name: _without(asdict(c), "p_value") for name, c in self.comparisons.items()},
            "recommended": dict(self.choices),
            "notes": list(self.notes),
        }


def _without(values: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != key}


def _statistics(sample: Sample) -> dict[str, float]:
    from sscq.verdict import tail_mean

    values = sample.fitness
    return {
        "mean": float(values.mean()), "median": float(np.median(values)), "worst": tail_mean(values),
        "failures": int(sample.failed.sum()), "travel": float(sample.travel.mean()), "rollouts": values.size,
    }  # fmt: skip


def pool(folders: Sequence[Path]) -> Pooled:
    """Read finished designs of one plant, judge the tuning rules in their rollouts, and compare all."""
    from experiments import formats

    metrics = [formats.read_json(folder / "metrics.json") for folder in folders]
    parts: dict[str, list[Sample]] = {}
    titles: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    for folder, of_design in zip(folders, metrics, strict=True):
        found, names, notes = _design(folder, of_design)
        titles |= names
        for name, sample in found.items():
            parts.setdefault(name, []).append(sample)
    complete = {name: _joined(several) for name, several in parts.items() if len(several) == len(folders)}
    base = complete[BASELINE]
    comparisons = {name: compare(sample, base) for name, sample in complete.items() if name != BASELINE}
    choices = Counter(of_design["recommended"] for of_design in metrics)
    return Pooled(metrics[0]["plant"], titles, complete, comparisons, dict(choices.most_common()), notes)


def _joined(samples: Sequence[Sample]) -> Sample:
    """Designs side by side: all see the same rollouts, so a seed that is resampled takes them all with it."""
    return Sample(*(np.hstack([getattr(s, part) for s in samples]) for part in ("fitness", "travel", "failed")))


def _design(folder: Path, metrics: Mapping[str, Any]) -> tuple[dict[str, Sample], dict[str, str], tuple[str, ...]]:
    """Samples and titles of one design, tuning rules among them, and what there is to say of the rules."""
    from experiments import formats, judging
    from experiments.ladder import Bench
    from experiments.launch import stored_settings
    from experiments.run_folder import RunFolder
    from experiments.setup import setup

    with RunFolder.resume(folder, command="design") as run:
        bench = Bench(setup(stored_settings("design", run.config)), run, quiet=True)
        fitness = Fitness(**metrics["fitness"])
        rules, notes = _rules(bench)
        arrays = formats.read_npz(folder / "stages" / "judgement" / "quality.npz")
        tables = {name: arrays[f"{name}.{_KIND}"] for name in metrics["controllers"]}
        for rule in rules:
            tables[rule.name] = judging.rollouts(bench, rule, fitness.entropy_scale)[_KIND]
        samples = {name: _sample(bench, fitness, table) for name, table in tables.items()}
    titles = {name: one["title"] for name, one in metrics["controllers"].items()}
    titles |= {rule.name: rule.title for rule in rules}
    order = [name for name in ("open_loop", *(rule.name for rule in rules), *_RUNGS) if name in titles]
    notes += tuple(metrics.get("further_rungs", ()))
    return {name: samples[name] for name in order}, {name: titles[name] for name in order} | titles, notes


def _sample(bench: Bench, fitness: Fitness, table: np.ndarray) -> Sample:
    from experiments import judging

    travel = table[judging.MEASURES.index("total_variation")]
    return Sample(judging.fitness_of(bench, fitness, _KIND, table), travel, np.isfinite(table[0]))


def _rules(bench: Bench) -> tuple[list[Contender], tuple[str, ...]]:
    """Contenders of all tuning rules that apply, and a line for each kind of answer or reason."""
    from controllers import ConstantGains, Controller, gain_names
    from experiments.judging import Contender
    from sscq.rule_gains import rule_gains

    setup = bench.setup
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    found: list[Contender] = []
    said: dict[str, list[str]] = {}
    for rule in rule_gains(setup.plant, setup.laws[0].sample_time or setup.step, setup.laws):
        said.setdefault(rule.text, []).append(rule.rule)
        if rule.gains is not None:
            name = f"rule {rule.rule}"
            found.append(
                Contender(name, f"{rule.rule} rule", rule.text, constant, np.array(rule.gains), 0, len(rule.gains))
            )
    return found, tuple(f"{', '.join(rules)}: {text}" for text, rules in said.items())
