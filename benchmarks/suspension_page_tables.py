"""Tables of the page about the full car's algebraic loop, as Markdown lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.suspension_loop import STEPS, WAYS
from benchmarks.suspension_schemes import SCHEMES
from benchmarks.timing import ratio
from plants.suspension.loop_gains import ARRANGEMENTS

if TYPE_CHECKING:
    from benchmarks.suspension_loop import Found


def _error(found: Found, name: str, step: float) -> float:
    return float(np.abs(found.ends[name, step].positions[0] - found.reference).max())


def gain_table(found: Found) -> list[str]:
    """Return loop gains by car and arrangement."""
    head = "| car | " + " | ".join(ARRANGEMENTS) + " |"
    rows = [
        f"| {car} | " + " | ".join(f"{table[n].radius:.6f} ({table[n].real:.4f})" for n in ARRANGEMENTS) + " |"
        for car, table in found.gains.items()
    ]
    return [head, "|---" * (len(ARRANGEMENTS) + 1) + "|", *rows]


def accuracy_table(found: Found) -> list[str]:
    """Return errors and gaps of the schemes by step."""
    rows = []
    for name, scheme in SCHEMES.items():
        cells = []
        for step in STEPS:
            end = found.ends[name, step]
            gap = "" if scheme.form == "minimal" else f" ({end.open_at_end[0]:.1e}, {end.opened[0]:.1e})"
            cells.append(f"{_error(found, name, step):.2g}{gap}")
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return ["| scheme | " + " | ".join(f"{1e3 * step:g} ms" for step in STEPS) + " |", "|---" * 3 + "|", *rows]


def time_table(found: Found) -> list[str]:
    """Return times of all ways to treat the loop by damping."""
    dampings = list(found.times)
    head = "| form | loop | " + " | ".join(f"{d}: ns | / loop-free | distance" for d in dampings) + " |"
    rows = []
    for form, mode in WAYS:
        cells = []
        for damping in dampings:
            times = found.times[damping]
            base = times.get((form, "loop_free"))
            over = "" if base is None else f"{ratio(times[form, mode], base)[1]:.2f}"
            cells += [f"{1e9 * times[form, mode].best:,.0f}", over, f"{found.gaps[damping][form, mode]:.1e}"]
        rows.append(f"| {form} | {mode} | " + " | ".join(cells) + " |")
    return [head, "|---" * (2 + 3 * len(dampings)) + "|", *rows]
