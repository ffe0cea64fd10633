"""The benchmark of control quality as tables and as a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.report.builders.estimates import of_change
from experiments.report.drawing.numbers import bracketed, count, number, percent
from experiments.runtime.tables import loss, markdown_table
from experiments.suites.suite import DESIGNS, SEEDS, SuiteOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from experiments.studies.engine.pooling import Pooled, PooledCosts
    from sscq.verdict.bootstrap import Change


HEAD = (
    "controller", "J", "change: mean", "median", "worst 5 %", "IAE", "change of IAE", "travel", "failed", "wins",
    "evaluations",
)  # fmt: skip
_SUMMARY = (
    "plant", "knowledge base: J taught", "J validation", "J unforeseen", "IAE unforeseen", "best simple rung",
    "recommended",
)  # fmt: skip
_KINDS = {
    "taught": "taught situations (training)",
    "validation": "validation situations (schedules are chosen by these)",
    "unforeseen": "unforeseen situations (test)",
}
_ROUNDING = 1e-9  # an interval of no more width is none
_SIMPLE = frozenset({"two_degree", "table", "margin_table", "margin_table_fine", "hand_made", "hand_made_scaled"})
_READ = (
    "J is the fitness that all controllers were searched with, IAE the integral of the absolute error: means over",
    "the rollouts that survive. All controllers see the same rollouts. The changes beside them",
    "(mean, median and worst 5 % of J, mean IAE) are paired, against the best fixed PID of the same design; less is",
    "better, and losses of the means are marked. Their 95 % bootstrap intervals draw seeds anew, with all",
    "situations and designs of a seed (the designs as they are). All of them, and actuator travel, the total",
    "variation of the command, are compared where both survive. Failed: rollouts in which the loop is lost, in",
    "brackets those that the fixed PID survives. Wins: share of the rollouts with less J. Evaluations: closed-loop",
    "simulations of all taught situations that its design took.",
)


def rows(pooled: Pooled, kind: str, mark: str = "LOSS") -> list[tuple[str, ...]]:
    """Return the cells of a plant's table for one kind of situations, controllers as in the ladder."""
    return [_row(pooled, name, pooled.kinds[kind], mark) for name in pooled.kinds[kind].samples]


def _row(pooled: Pooled, name: str, judged: PooledCosts, mark: str) -> tuple[str, ...]:
    sample, spent = judged.samples[name], pooled.spent.get(name)
    failed, values = int(sample.failed.sum()), (number(judged.cost(name)), number(judged.error(name)))
    last = "-" if spent is None else count(spent)
    if name == pooled.baseline:
        return (pooled.titles[name], values[0], "", "", "", values[1], "", "", str(failed), "", last)
    found = judged.comparisons[name]
    return (
        pooled.titles[name],
        values[0], _change(found.mean, mark), _change(found.median), _change(found.tail),
        values[1], *_where_alive(pooled, name, judged, mark),
        f"{failed} ({found.new_failures})" if failed else "0", f"{100 * found.wins:.0f}\u00a0%", last,
    )  # fmt: skip


def _where_alive(pooled: Pooled, name: str, judged: PooledCosts, mark: str) -> tuple[str, str]:
    """Changes of IAE and travel; where no rollout is survived by both there are none."""
    if (judged.samples[name].failed | judged.samples[pooled.baseline].failed).all():
        return "-", "-"
    return _change(judged.error_changes[name], mark), percent(judged.comparisons[name].travel.value, 0)


def _change(found: Change, mark: str = "") -> str:
    certain = found.high - found.low < _ROUNDING
    written = percent(found.value) if certain else bracketed(of_change(found))
    return written + (loss(found.value, mark) if mark else "")


def overview(found: Mapping[str, Pooled], chosen: SuiteOptions) -> str:
    """Return one line for each plant as a page of its own."""
    return "\n".join([*_head(found, chosen), *_summary(found, linked=False)]) + "\n"


def _head(found: Mapping[str, Pooled], chosen: SuiteOptions) -> list[str]:
    words = f"plants={','.join(chosen.plants)} seeds={chosen.seeds} {' '.join(chosen.overrides)}"
    return [
        "# Benchmark of control quality", "",
        f"Written by `python -m experiments.benchmark {words}`.", "",
        *_READ, "", *_too_few(found, chosen.seeds),
    ]  # fmt: skip


def page(found: Mapping[str, Pooled], chosen: SuiteOptions) -> str:
    """Return the whole result as Markdown."""
    lines = [*_head(found, chosen), *_summary(found)]
    for name, pooled in found.items():
        lines += ["", f"## {name}", "", "The same for all controllers:", ""]
        lines += [f"- {text}" for text in pooled.conditions]
        for kind in pooled.kinds:
            lines += ["", *_section(pooled, kind)]
        if pooled.notes:
            lines += ["", "### Where the numbers come from", "", *(f"- {text}" for text in pooled.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _too_few(found: Mapping[str, Pooled], designs: int) -> Iterator[str]:
    """Say where the whole is less than a comparison asks for."""
    fewest = min((judged.seeds for pooled in found.values() for judged in pooled.kinds.values()), default=SEEDS)
    if fewest < SEEDS or designs < DESIGNS:
        yield (
            f"**A look, not a comparison:** designs of each plant: {designs}, seeds of each situation: {fewest}; "
            f"{DESIGNS} and {SEEDS} are asked for."
        )
        yield ""


def _summary(found: Mapping[str, Pooled], *, linked: bool = True) -> list[str]:
    """The knowledge base's mean J in each kind of situations and its IAE, beside the best of the simple rungs."""
    lines = []
    for plant, pooled in found.items():
        name, cells = "knowledge_base", [f"[{plant}](#{plant})" if linked else plant]
        known = name in pooled.comparisons
        cells += [_brief(pooled.kinds[kind].comparisons[name].mean.value) if known else "-" for kind in _KINDS]
        cells += [_brief(pooled.kinds["unforeseen"].error_changes[name].value) if known else "-"]
        lines.append([*cells, _simple(pooled), pooled.recommended()])
    return markdown_table(_SUMMARY, lines)


def _brief(value: float) -> str:
    return percent(value) + loss(value, "**loss**")


def _simple(pooled: Pooled) -> str:
    """The best of the rungs below the knowledge base."""
    known = {n: c.mean.value for n, c in pooled.comparisons.items() if not math.isnan(c.mean.value)}
    simple = {n: value for n, value in known.items() if n in _SIMPLE}
    if not simple:
        return "-"
    best = min(simple, key=lambda name: simple[name])
    return f"{pooled.titles[best]}: {_brief(simple[best])}"


def _section(pooled: Pooled, kind: str) -> Iterator[str]:
    judged = pooled.kinds[kind]
    size = judged.samples[pooled.baseline].fitness.size
    yield f"### {pooled.plant}: {_KINDS[kind]}"
    yield ""
    yield from (f"- {text}" for text in judged.situations)
    yield ""
    yield f"Rollouts of each controller: {size}; seeds of each situation: {judged.seeds}.{_chance(judged)}"
    yield ""
    yield from markdown_table(HEAD, rows(pooled, kind, "**loss**"), numbers=True)


def _chance(judged: PooledCosts) -> str:
    if judged.seeds < 2:
        return " One seed has no intervals."
    return "" if judged.by_chance else " Nothing is random: all seeds give the same, and there are no intervals."
