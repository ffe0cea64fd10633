"""Rollouts of finished designs that see the same situations, and how controllers differ in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.cases.kb_case import fitness_of
from experiments.pipeline.judging import LADDER, RIVAL, rows_of
from experiments.runtime import formats
from experiments.studies.engine.intervals import ends, resampled
from flcs import KnowledgeBase
from sscq.loop.quality import Quality
from sscq.verdict.bootstrap import Change, change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from sscq.fitness import Fitness

    Array = NDArray[np.float64]
    Split = Callable[[str, str], str]

FITNESS = "fitness"
"""Row of the fitness, beside the measures'."""
_DRAWS = 2000


@dataclass(frozen=True)
class PairedRollouts:
    """Rollouts of designs, the mean of the designs.

    Attributes
    ----------
    tables : mapping of (controller, group) to mapping of measure to ndarray [seed, situation]
        Groups of situations such as "taught"; the fitness is among the measures.
    titles : mapping of controller to str
    metrics : tuple of mappings
        Of the designs, as they are stored.
    names : mapping of group to tuple of str
        The situations.
    """

    tables: Mapping[tuple[str, str], Mapping[str, Array]]
    titles: Mapping[str, str]
    metrics: tuple[Mapping[str, Any], ...]
    names: Mapping[str, tuple[str, ...]]

    def of(self, name: str, group: str, measure: str) -> Array:
        """Return a measure of all rollouts [seed, situation]."""
        return self.tables[name, group][measure]

    def known(self) -> list[str]:
        """Return the controllers: laws of the field in the plant's order, then ours, simplest first."""
        return list(self.titles)

    def best(self, names: Sequence[str], group: str) -> str:
        """Return the one of several controllers with the lowest mean fitness."""
        return min(names, key=lambda name: float(self.of(name, group, FITNESS).mean()))

    def change(self, name: str, base: str, group: str, measure: str, situation: int | None = None) -> Change:
        """Return the change of a measure's mean; whole seeds are resampled, so that situations stay together."""
        one, other = self.of(name, group, measure), self.of(base, group, measure)
        if situation is not None:
            one, other = one[:, [situation]], other[:, [situation]]
        return change(lambda values: values.mean(axis=-1), one, other, resampled(len(one), _DRAWS))

    def with_interval(self, name: str, group: str, measure: str) -> str:
        """Return the mean of all rollouts with its 95 % interval from resampled seeds."""
        means = self.of(name, group, measure).mean(axis=1)
        low, high = ends(means[resampled(len(means), _DRAWS)].mean(axis=1))
        return f"{means.mean():.4f} [{low:.4f}, {high:.4f}]"


def _as_kind(kind: str, situation: str) -> str:  # noqa: ARG001
    return kind


def read(folders: Sequence[Path], group_of: Split = _as_kind) -> PairedRollouts:
    """Read finished designs of one plant that were judged in the same rollouts.

    Parameters
    ----------
    folders : sequence of Path
    group_of : callable
        Kind and name of a situation to its group; left out, the kind.
    """
    metrics = [formats.read_json(folder / "metrics.json") for folder in folders]
    arrays = [formats.read_npz(folder / "stages" / "judgement" / "quality.npz") for folder in folders]
    plant = plants.find(formats.read_json(folders[0] / "config.json")["config"]["plant"])
    fitness = fitness_of(KnowledgeBase.load(folders[0] / "knowledge_base.json"))
    ordered = (*(RIVAL + rival.name for rival in plant.rivals), *LADDER, "knowledge_base_free", "oracle")
    known = [name for name in ordered if all(name in one["controllers"] for one in metrics)]
    tables: dict[tuple[str, str], dict[str, Array]] = {}
    names: dict[str, tuple[str, ...]] = {}
    for kind in ("taught", "unforeseen"):
        given = [(one["name"], float(one["t_end"])) for one in plant.situations[kind]]
        groups = [group_of(kind, name) for name, _ in given]
        for name in known:
            rows = dict(zip(rows_of(plant), np.mean([one[f"{name}.{kind}"] for one in arrays], axis=0), strict=True))
            rows[FITNESS] = _fitness(fitness, rows, [t_end for _, t_end in given])
            for group in dict.fromkeys(groups):
                chosen = [k for k, one in enumerate(groups) if one == group]
                tables[name, group] = {measure: values[:, chosen] for measure, values in rows.items()}
                names[group] = tuple(given[k][0] for k in chosen)
    titles = {name: metrics[0]["controllers"][name]["title"] for name in known}
    return PairedRollouts(tables, titles, tuple(metrics), names)


def _fitness(fitness: Fitness, rows: Mapping[str, Array], t_end: Sequence[float]) -> Array:
    """Fitness of the rollouts [seed, situation]; of the designs' mean measures, whose terms it adds up."""
    shape = rows["diverged_at"].shape
    horizon = np.broadcast_to(t_end, shape).ravel()
    values = {name: one.ravel()[:, None] for name, one in rows.items() if name != "diverged_at"}
    quality = Quality(("",) * horizon.size, horizon, rows["diverged_at"].ravel()[:, None], values)
    return fitness.per_situation(quality)[:, 0].reshape(shape)
