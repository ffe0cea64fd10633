"""The ladder of finished designs of one task as a table: J with its interval, error, overshoot, settling, travel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import formats
from experiments.pooled import pool
from experiments.pooled_result import DECIDING
from experiments.text_table import loss, number
from sscq.verdict import Sample, compare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.pooled_result import Pooled
    from sscq.verdict import Comparison

ROWS = (
    "open_loop", "fixed", "two_degree", "table", "imitation", "knowledge_base", "knowledge_base_free", "oracle",
)  # fmt: skip
_KINDS = ("taught", "unforeseen")
_HEAD = ("controller", "J taught", "J unforeseen", "change of the mean", "worst 5 %", "where neither is lost", "IAE",
         "overshoot", "settling", "travel", "lost")  # fmt: skip


def ladder(folders: Sequence[Path], *, steps: bool) -> list[str]:
    """Return the table of one task's designs and their verdicts as Markdown lines.

    Parameters
    ----------
    folders : sequence of Path
        Of finished runs of `sscq design` that see the same rollouts.
    steps : bool
        Whether overshoot and settling mean anything: references that stand still.
    """
    pooled = pool(folders)
    metrics = [formats.read_json(folder / "metrics.json") for folder in folders]
    lines = ["| " + " | ".join(_HEAD) + " |", "|---" * len(_HEAD) + "|"]
    for name in ROWS:
        several = [one["controllers"][name] for one in metrics if name in one["controllers"]]
        if len(several) == len(metrics):
            title = "best gain table" if name == "table" else several[0]["title"]
            cells = (title, *_cells(several, pooled.comparisons.get(name), _alive(pooled, name), steps=steps))
            lines.append("| " + " | ".join(cells) + " |")
    return [*lines, "", *(f"- Design {k}: {one['sentence']}{_rules(one)}" for k, one in enumerate(metrics)),
            f"- Recommended: {pooled.recommended()}."]  # fmt: skip


def _rules(metrics: dict[str, Any]) -> str:
    """Rules of the knowledge bases: one alone is no schedule, but other fixed gains."""
    counts = metrics.get("rules")
    if not counts:
        return ""
    return f" Rules left: {counts['equal']} at equal travel, {counts['free']} at free travel."


def _alive(pooled: Pooled, name: str) -> str:
    """Change of the mean in the situations that neither a controller nor the fixed PID loses with any seed.

    A lost rollout costs hundreds of times what a surviving one does, so beside one no other difference is seen. Empty
    where nothing is lost.
    """
    judged = pooled.kinds[DECIDING]
    if name not in judged.comparisons:
        return ""
    one, base = judged.samples[name], judged.samples[pooled.baseline]
    alive = ~(one.failed | base.failed).any(axis=0)
    if alive.all():
        return ""
    if not alive.any():
        return "-"
    left, right = (Sample(s.fitness[:, alive], s.travel[:, alive], s.failed[:, alive]) for s in (one, base))
    change = compare(left, right).mean
    return f"{change}" + loss(change.value, "**loss**")


def _cells(
    several: Sequence[dict[str, Any]], compared: Comparison | None, alive: str, *, steps: bool
) -> tuple[str, ...]:
    taught, unforeseen = (float(np.mean([one["fitness"][kind] for one in several])) for kind in _KINDS)
    lost = sum(one["failures"]["unforeseen"] for one in several)
    change = tail = ""
    if compared is not None:
        change = f"{compared.mean}" + loss(compared.mean.value, "**loss**")
        tail = f"{100 * compared.tail.value:+.1f} %"
    return (
        number(taught), number(unforeseen), change, tail, alive, _both(several, "iae"),
        _both(several, "overshoot", 100.0, " %") if steps else "-", _both(several, "settling_time") if steps else "-",
        _both(several, "total_variation"), str(lost),
    )  # fmt: skip


def _both(several: Sequence[dict[str, Any]], measure: str, factor: float = 1.0, unit: str = "") -> str:
    """A measure's mean over the designs, taught and unforeseen; a design that lost every loop has none."""
    found = []
    for kind in _KINDS:
        values = [value for one in several if (value := one["measures"][kind][measure]) is not None]
        known = [float(value) for value in values if not math.isnan(float(value))]
        found.append(f"{factor * np.mean(known):.3g}{unit}" if known else "-")
    return " / ".join(found)
