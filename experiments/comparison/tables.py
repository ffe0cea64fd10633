"""Tables of a comparison: all controllers with intervals, and every situation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.comparison.judged import FITNESS
from experiments.text_table import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.comparison.told import Told


@dataclass(frozen=True)
class Column:
    """A measure beside those of the aim: how a table calls and prints its mean."""

    measure: str
    title: str
    form: str = ".4g"
    factor: float = 1.0
    unit: str = ""


def table(told: Told, group: str, titles: Mapping[str, str], others: Sequence[Column]) -> list[str]:
    """Return all controllers in a group of situations as Markdown lines; changes are against the best law.

    Parameters
    ----------
    told : Told
        Measures of its aim have intervals and changes.
    group : str
    titles : mapping of measure to str
        Of the aim's measures, with units.
    others : sequence of Column
    """
    head = ["controller", *(cell for name in told.aim.measures for cell in (titles[name], "change"))]
    head += [*(one.title for one in others), "J"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in told.judged.known():
        cells = [told.title(name), *_of_aim(told, name, group)]
        for one in others:
            mean = one.factor * float(told.judged.of(name, group, one.measure).mean())
            cells.append(f"{mean:{one.form}}{one.unit}")
        cells.append(number(float(told.judged.of(name, group, FITNESS).mean())))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _of_aim(told: Told, name: str, group: str) -> list[str]:
    own = name == told.base(group)
    pairs = zip(told.aim.measures, told.changes(name, group), strict=True)
    return [
        cell
        for measure, change in pairs
        for cell in (told.judged.with_interval(name, group, measure), "" if own else str(change))
    ]


def by_situation(told: Told, names: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """Return changes of the aim's measures in every situation as Markdown lines; what is reliably higher is bold.

    Parameters
    ----------
    told : Told
    names : sequence of str
        Controllers.
    words : mapping of measure to str
        Short ones for the head.
    """
    cells = [f"{told.title(name)}: {words[measure]}" for name in names for measure in told.aim.measures]
    lines = ["| situation | " + " | ".join(cells) + " |", "|---" * (1 + len(cells)) + "|"]
    for group in told.groups:
        for k, situation in enumerate(told.judged.names[group]):
            changes = [one for name in names for one in told.changes(name, group, k)]
            row = [f"**{one}**" if one.low > 0.0 else str(one) for one in changes]
            lines.append(f"| {situation} ({group}) | " + " | ".join(row) + " |")
    return lines
