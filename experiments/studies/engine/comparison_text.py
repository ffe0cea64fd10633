"""Tables and sentences of a comparison, as Markdown lines.

Tables: all controllers with intervals, every situation. Sentences: what became of the aim, where a controller
loses, whom to use. Changes are against the best of the laws that the aim names.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.runtime.tables import markdown_table, number
from experiments.studies.engine.aims import MET, ON_THE_MEAN, near_the_least
from experiments.studies.engine.intervals import percent
from experiments.studies.engine.paired_rollouts import FITNESS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.studies.engine.aims import Aim
    from experiments.studies.engine.paired_rollouts import PairedRollouts
    from sscq.verdict.bootstrap import Change


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
