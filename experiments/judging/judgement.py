"""Judge all controllers of a run in the same situations, taught and never taught, and decide."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from experiments import formats
from experiments.judging.group import recommendable
from experiments.judging.rollout_tables import MEASURES, fitness_of, rollouts, rows_of
from experiments.progress import Progress
from sscq.situation_sets import KINDS
from sscq.verdict import Sample, Verdict, decide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.judging.contender import Contender
    from experiments.ladder import Bench
    from sscq.fitness import Fitness
    from sscq.margins import LoopMargins


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
    measures : tuple of str
        The rows of `quality`: built-in measures, then the plant's own.
    """

    quality: dict[tuple[str, str], np.ndarray]
    fitness: dict[tuple[str, str], np.ndarray]
    verdict: Verdict
    margins: dict[str, tuple[LoopMargins, ...]] = field(default_factory=dict)
    measures: tuple[str, ...] = MEASURES

    def mean(self, name: str, kind: str, measure: str | None = None) -> float:
        """Return the mean over seeds and situations, of the fitness or of a measure.

        A measure's is over the rollouts that survive (one cut short has small integrals); NaN where none does.
        """
        if measure is None:
            return float(self.fitness[name, kind].mean())
        quality = self.quality[name, kind]
        alive = ~np.isfinite(quality[MEASURES.index("diverged_at")])
        return float(quality[self.measures.index(measure)][alive].mean()) if alive.any() else math.nan


def judge(bench: Bench, fitness: Fitness, group: Sequence[Contender]) -> Judgement:
    """Evaluate all controllers on the same rollouts and decide."""

    def compute(_: Path) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        with Progress(len(group), "verdict", "controllers", quiet=bench.quiet) as progress:
            for contender in group:
                tables = rollouts(bench, contender, fitness.entropy_scale)
                arrays |= {f"{contender.name}.{kind}": table for kind, table in tables.items()}
                progress.advance()
        return arrays

    arrays = bench.folder.stage(
        "judgement", compute,
        lambda folder, values: formats.write_npz(folder / "quality.npz", values),
        lambda folder: formats.read_npz(folder / "quality.npz"),
    )  # fmt: skip
    quality = {(c.name, kind): arrays[f"{c.name}.{kind}"] for c in group for kind in KINDS}
    values = {key: fitness_of(bench, fitness, key[1], table) for key, table in quality.items()}
    margins = {c.name: found for c in group if (found := margins_of(bench, c)) is not None}
    kept = {c.name: keeps_margins(bench, c) is not False for c in group}
    samples = {
        c.name: Sample(
            values[c.name, "unforeseen"],
            quality[c.name, "unforeseen"][MEASURES.index("total_variation")],
            np.isfinite(quality[c.name, "unforeseen"][0]),
        )
        for c in group
    }
    titles = {c.name: c.title for c in group}
    known = list(recommendable(samples))
    verdict = decide(samples, "fixed", known, titles, kept, bench.setup.seed)
    return Judgement(quality, values, verdict, margins, rows_of(bench.setup.plant))


def margins_of(bench: Bench, contender: Contender) -> tuple[LoopMargins, ...] | None:
    """Return the margins of each channel, or None where there are none to be asked for."""
    if bench.margins is None:
        return None
    if contender.point_gains is not None:
        return bench.margins.at_points(contender.point_gains)
    return None if contender.gain_sets is None else bench.margins.margins(contender.gain_sets)


def keeps_margins(bench: Bench, contender: Contender) -> bool | None:
    """Return whether all gains that a contender may give keep the margins; None where that is not asked."""
    if bench.margins is None:
        return None
    if contender.point_gains is not None:
        return bench.margins.keeps_at_points(contender.point_gains)
    return None if contender.gain_sets is None else bench.margins.keeps(contender.gain_sets)
