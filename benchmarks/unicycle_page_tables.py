"""Tables of the page about the unicycle's algebraic loop, as Markdown lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import ratio
from benchmarks.unicycle_loop import CASES, FIRST, SCHEMES, STEPS, T_END, WAYS
from plants.unicycle.loop_gains import ARRANGEMENTS

if TYPE_CHECKING:
    from benchmarks.unicycle_loop import Found


def gain_table(found: Found) -> list[str]:
    """Return loop gains by roll and arrangement; then those of random tilts."""
    head = "| roll [rad] | " + " | ".join(ARRANGEMENTS) + " | share |"
    rows = [
        f"| {roll:g} | " + " | ".join(f"{table[n].radius:.4f}" for n in ARRANGEMENTS) + f" | {found.shares[roll]:.3f} |"
        for roll, table in found.gains.items()
    ]
    for k, label in enumerate(("least", "median", "greatest")):
        rows.append(f"| {label} | " + " | ".join(f"{found.tilts[n][k]:.3f}" for n in ARRANGEMENTS) + " | |")
    return [head, "|---" * (len(ARRANGEMENTS) + 2) + "|", *rows]


def scheme_table(found: Found) -> list[str]:
    """Return errors and times survived by scheme and step."""
    others = [case for case in CASES if case != FIRST]
    head = "| scheme | step | error | " + " | ".join(others) + " |"
    rows = []
    for name in SCHEMES:
        for step in STEPS:
            error, fell = found.errors[name, step], found.lasted[name, step, FIRST]
            cells = [f"{error:.2g}" if np.isfinite(error) else f"falls at {fell:.2g} s"]
            for case in others:
                time = found.lasted[name, step, case]
                cells.append("-" if time > T_END - 0.5 * step else f"{time:.2g}")
            rows.append(f"| {name} | {1e3 * step:g} ms | " + " | ".join(cells) + " |")
    return [head, "|---" * (len(others) + 3) + "|", *rows]


def time_table(found: Found) -> list[str]:
    """Return times of all ways to treat the loop."""
    rows = []
    for form, mode in WAYS:
        base = found.times.get((form, "loop_free"))
        over = "" if base is None else f"{ratio(found.times[form, mode], base)[1]:.2f}"
        best = 1e9 * found.times[form, mode].best
        rows.append(f"| {form} | {mode} | {best:,.0f} | {over} | {found.gaps[form, mode]:.1e} |")
    return ["| form | loop | ns | / loop-free | distance |", "|---" * 5 + "|", *rows]
