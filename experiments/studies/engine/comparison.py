"""A comparison in rollouts of finished designs that see the same situations, told as Markdown lines.

Tables: all controllers with intervals, every situation. Sentences: what became of the aim, where a controller
loses, whom to use. Changes are against the best of the laws that the aim names.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.cases.kb_case import fitness_of
from experiments.pipeline.judged_rollouts import LADDER, RIVAL, rows_of
from experiments.runtime import formats
from experiments.runtime.tables import markdown_table, number
from experiments.studies.engine.changes import MET, ON_THE_MEAN, ends, near_the_least, percent, resampled
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
    from experiments.studies.engine.changes import Aim
    from sscq.verdict.bootstrap import Change


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


@dataclass(frozen=True)
class ComparisonText:
    """A comparison to be told.

    Attributes
    ----------
    judged : PairedRollouts
    aim : Aim
    groups : mapping of group to str
        Groups of situations, each with its headline, in their order.
    words : mapping of measure to str
        What the aim's measures are called in a sentence.
    """

    judged: PairedRollouts
    aim: Aim
    groups: Mapping[str, str]
    words: Mapping[str, str]

    def base(self, group: str) -> str:
        """Return the best of the laws that the aim names."""
        return self.judged.best(self.aim.best_of, group)

    def changes(self, name: str, group: str, situation: int | None = None) -> list[Change]:
        """Return the changes of the aim's measures against the best law, in a group or in one of its situations."""
        base = self.base(group)
        return [self.judged.change(name, base, group, measure, situation) for measure in self.aim.measures]

    def outcome(self, name: str, group: str) -> str:
        """Say what became of the aim."""
        return self.aim.outcome(self.changes(name, group), self.words)

    def title(self, name: str) -> str:
        """Return what a controller is called."""
        return self.judged.titles[name]


@dataclass(frozen=True)
class Column:
    """A measure beside those of the aim: how a table calls and prints its mean."""

    measure: str
    title: str
    form: str = ".4g"
    factor: float = 1.0
    unit: str = ""


def table(told: ComparisonText, group: str, titles: Mapping[str, str], others: Sequence[Column]) -> list[str]:
    """Return all controllers in a group of situations as Markdown lines; changes are against the best law.

    Parameters
    ----------
    told : ComparisonText
        Measures of its aim have intervals and changes.
    group : str
    titles : mapping of measure to str
        Of the aim's measures, with units.
    others : sequence of Column
    """
    head = ["controller", *(cell for name in told.aim.measures for cell in (titles[name], "change"))]
    head += [*(one.title for one in others), "J"]
    rows = []
    for name in told.judged.known():
        cells = [told.title(name), *_of_aim(told, name, group)]
        for one in others:
            mean = one.factor * float(told.judged.of(name, group, one.measure).mean())
            cells.append(f"{mean:{one.form}}{one.unit}")
        cells.append(number(float(told.judged.of(name, group, FITNESS).mean())))
        rows.append(cells)
    return markdown_table(head, rows)


def _of_aim(told: ComparisonText, name: str, group: str) -> list[str]:
    own = name == told.base(group)
    pairs = zip(told.aim.measures, told.changes(name, group), strict=True)
    return [
        cell
        for measure, change in pairs
        for cell in (told.judged.with_interval(name, group, measure), "" if own else percent(change))
    ]


def by_situation(told: ComparisonText, names: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Return changes of the aim's measures in every situation as Markdown lines; what is reliably higher is bold.

    Parameters
    ----------
    told : ComparisonText
    names : sequence of str
        Controllers.
    words : mapping of measure to str
        Short ones for the head.
    """
    cells = [f"{told.title(name)}: {words[measure]}" for name in names for measure in told.aim.measures]
    rows = []
    for group in told.groups:
        for k, situation in enumerate(told.judged.names[group]):
            changes = [one for name in names for one in told.changes(name, group, k)]
            told_of = [f"**{percent(one)}**" if one.low > 0.0 else percent(one) for one in changes]
            rows.append([f"{situation} ({group})", *told_of])
    return markdown_table(("situation", *cells), rows)


NEAR = 0.005
"""Share of the fitness that counts as equal."""
_NOT_TO_USE = frozenset({"oracle", "two_degree", "knowledge_base_free"})


def conclusion(told: ComparisonText, names: Sequence[str]) -> str:
    """Return in a few sentences which controllers meet the aim where, and what to use of what was designed."""
    said = []
    for name in _known(told, names):
        found = {group: told.outcome(name, group) for group in told.groups}
        said.append(f"The {told.title(name)} {_where(found)}.")
    choice = Counter(one["recommended"] for one in told.judged.metrics).most_common(1)[0][0]
    return f"**{' '.join(said)} Of what was designed, use the {told.title(choice)}.**"


def _known(told: ComparisonText, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in told.judged.titles]


def _where(found: Mapping[str, str]) -> str:
    met = [group for group, one in found.items() if one == MET]
    mean = [group for group, one in found.items() if one == ON_THE_MEAN]
    rest = [group for group in found if group not in met + mean]
    parts = [f"meets the aim in {_listed(met)} situations"] if met else []
    parts += [f"meets {'it' if met else 'the aim'} on the mean, not reliably, in {_listed(mean)} ones"] if mean else []
    parts += [f"does not meet {'it' if parts else 'the aim'} in {_listed(rest)} ones"] if rest else []
    return " and ".join(parts)


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def outcomes(told: ComparisonText, names: Sequence[str]) -> list[str]:
    """Return what became of the aim as Markdown lines: a sentence for each controller and group of situations."""
    lines = []
    for group in told.groups:
        for name in _known(told, names):
            pairs = zip(told.aim.measures, told.changes(name, group), strict=True)
            changes = ", ".join(f"{told.words[measure]} {percent(one)}" for measure, one in pairs)
            lines.append(
                f"- {group}, {told.title(name)} against {told.title(told.base(group))}: "
                f"**{told.outcome(name, group)}** ({changes})"
            )
    return lines


def lost(told: ComparisonText, name: str) -> list[str]:
    """Return the situations in which a controller is reliably worse than the best law as Markdown lines."""
    lines = []
    for group in told.groups:
        situations = told.judged.names[group]
        higher = [[one.low > 0.0 for one in told.changes(name, group, k)] for k in range(len(situations))]
        parts = []
        for measure, worse in zip(told.aim.measures, zip(*higher, strict=True), strict=True):
            where = [situation for situation, one in zip(situations, worse, strict=True) if one]
            parts.append(f"{told.words[measure]} in {len(where)}" + (f" ({'; '.join(where)})" if where else ""))
        lines.append(f"- {group}, of {len(situations)}: {', '.join(parts)}")
    return lines


def designs(told: ComparisonText) -> list[str]:
    """Return what each design recommends as Markdown lines."""
    return sentences(told.judged.metrics)


def sentences(several: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what designs of these metrics recommend, and how many rules they are left with, as Markdown lines."""
    return [f"- Design {k}: {one['sentence']}{_rules(one)}" for k, one in enumerate(several)]


def _rules(metrics: Mapping[str, Any]) -> str:
    counts = metrics.get("rules")
    return f" Rules left: {counts['equal']} at equal travel, {counts['free']} at free travel." if counts else ""


def by_fitness(told: ComparisonText) -> list[str]:
    """Return whom to use by fitness, and what a slow schedule could win at most, as Markdown lines."""
    known = [name for name in told.judged.known() if name not in _NOT_TO_USE]
    spent = told.judged.metrics[0]["controllers"]["oracle"]["evaluations"]
    lines = []
    for group in told.groups:
        j = {name: float(told.judged.of(name, group, FITNESS).mean()) for name in [*known, "oracle"]}
        ours = {name: j[name] for name in known}
        best = min(known, key=ours.__getitem__)
        equal = [told.title(name) for name in near_the_least(ours, times=1.0 + NEAR)]
        gain = 100.0 * (j["oracle"] / j["fixed"] - 1.0)
        lines.append(
            f"- {group}: lowest J {j[best]:.4g}, {told.title(best)}; within {100 * NEAR:g} % of it, to be used alike: "
            f"{', '.join(equal)}. Fixed gains for each situation alone change the fixed PID's J by {gain:+.1f} % "
            f"(evaluations, all situations together: {spent}): a schedule over anything slow could win that, or more "
            "where so short a search finds nothing."
        )
    return lines
