"""Sentences of a comparison: what became of the aim, where a controller loses, whom to use."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from experiments.comparison.aim import MET, ON_THE_MEAN
from experiments.comparison.judged import FITNESS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.comparison.told import Told

NEAR = 0.005
"""Share of the fitness that counts as equal."""
_NOT_TO_USE = frozenset({"oracle", "two_degree", "knowledge_base_free"})


def conclusion(told: Told, names: Sequence[str]) -> str:
    """Return in a few sentences which controllers meet the aim where, and what to use of what was designed."""
    said = []
    for name in _known(told, names):
        found = {group: told.outcome(name, group) for group in told.groups}
        said.append(f"The {told.title(name)} {_where(found)}.")
    choice = Counter(one["recommended"] for one in told.judged.metrics).most_common(1)[0][0]
    return f"**{' '.join(said)} Of what was designed, use the {told.title(choice)}.**"


def _known(told: Told, names: Sequence[str]) -> list[str]:
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


def outcomes(told: Told, names: Sequence[str]) -> list[str]:
    """Return what became of the aim as Markdown lines: a sentence for each controller and group of situations."""
    lines = []
    for group in told.groups:
        for name in _known(told, names):
            pairs = zip(told.aim.measures, told.changes(name, group), strict=True)
            changes = ", ".join(f"{told.words[measure]} {one}" for measure, one in pairs)
            lines.append(
                f"- {group}, {told.title(name)} against {told.title(told.base(group))}: "
                f"**{told.outcome(name, group)}** ({changes})"
            )
    return lines


def lost(told: Told, name: str) -> list[str]:
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


def designs(told: Told) -> list[str]:
    """Return what each design recommends as Markdown lines."""
    return [f"- Design {k}: {one['sentence']}{_rules(one)}" for k, one in enumerate(told.judged.metrics)]


def _rules(metrics: Mapping[str, Any]) -> str:
    counts = metrics.get("rules")
    return f" Rules left: {counts['equal']} at equal travel, {counts['free']} at free travel." if counts else ""


def _spent_on_oracle(metrics: Mapping[str, Any]) -> str:
    found = metrics["controllers"]["oracle"]["evaluations"]
    return f" (evaluations, all situations together: {found})"


def by_fitness(told: Told) -> list[str]:
    """Return whom to use by fitness, and what a slow schedule could win at most, as Markdown lines."""
    known = [name for name in told.judged.known() if name not in _NOT_TO_USE]
    spent = _spent_on_oracle(told.judged.metrics[0])
    lines = []
    for group in told.groups:
        j = {name: float(told.judged.of(name, group, FITNESS).mean()) for name in [*known, "oracle"]}
        best = min(known, key=lambda name: j[name])
        equal = [told.title(name) for name in known if j[name] <= j[best] * (1.0 + NEAR)]
        gain = 100.0 * (j["oracle"] / j["fixed"] - 1.0)
        lines.append(
            f"- {group}: lowest J {j[best]:.4g}, {told.title(best)}; within {100 * NEAR:g} % of it, to be used alike: "
            f"{', '.join(equal)}. Fixed gains for each situation alone change the fixed PID's J by {gain:+.1f} %"
            f"{spent}: "
            "a schedule over anything slow could win that, or more where so short a search finds nothing."
        )
    return lines
