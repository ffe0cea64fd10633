"""A run in operation at the terminal: a table of the contenders, and what the supervisor decided."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime.tables import change, number, text_table
from sscq.operation.contest import CONTENDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = ("contender", "IAE", "against never", "travel", "lost windows", "handovers", "rolled back", "unstable after")
COUNTED = ("lost", "handovers", "rolled_back", "unstable")


def rows(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for each contender: means of IAE and travel over the seeds, sums of what is counted."""
    runs = document["runs"]
    base = _mean(runs, "never", "iae") if "never" in runs[0]["totals"] else float("nan")
    found = []
    for name in [one for one in CONTENDERS if one in runs[0]["totals"]]:  # in files they are sorted by their names
        iae = _mean(runs, name, "iae")
        counted = (str(sum(run["totals"][name][what] for run in runs)) for what in COUNTED)
        relative = "" if name == "never" or math.isnan(base) else change(iae, base)
        found.append((CONTENDERS[name], number(iae), relative, number(_mean(runs, name, "travel")), *counted))
    return found


def _mean(runs: list[dict[str, Any]], name: str, what: str) -> float:
    return float(np.mean([run["totals"][name][what] for run in runs]))


def lines(document: Mapping[str, Any]) -> list[str]:
    """Return what is printed."""
    found = [
        (
            f"{document['plant']} in operation: {document['windows']} windows of {document['window']:g} s, "
            f"drift {document['drift']}"
        ),
        "",
        text_table(HEAD, rows(document)),
    ]
    timeline = document["runs"][0]["timelines"].get("knowledge_base")
    if timeline is None:
        return found
    found += ["", "what the supervisor decided for the knowledge base:"]
    return found + [f"  {one['time']:g} s: {decision(one)}" for one in timeline if one["decision"]]


def decision(one: Mapping[str, Any]) -> str:
    """Return a window's decision and why, in words."""
    return f"{one['decision']}: {one['words']}"
