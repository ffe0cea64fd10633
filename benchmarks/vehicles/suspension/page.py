"""Write docs/performance/suspension_loop.md: ``python -m benchmarks.vehicles.suspension.page [--quick]``.

Every number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner import pages
from benchmarks.runner.pages import paragraph, span
from benchmarks.runner.timing import ratio
from benchmarks.vehicles.suspension.loop import BASELINES, PUBLISHED, SHARES, STEPS, WAYS, CarLoopFindings, measured
from benchmarks.vehicles.suspension.rollouts import SCHEMES
from experiments.runtime.tables import markdown_table
from plants.core.kernel.kernel import LANES
from plants.suspension.verification.loop_gains import ARRANGEMENTS

if TYPE_CHECKING:
    from pathlib import Path


def _error(found: CarLoopFindings, name: str, step: float) -> float:
    return float(np.abs(found.ends[name, step].positions[0] - found.reference).max())


def gain_table(found: CarLoopFindings) -> list[str]:
    """Return loop gains by car and arrangement."""
    rows = [
        [car, *(f"{table[n].radius:.6f} ({table[n].real:.4f})" for n in ARRANGEMENTS)]
        for car, table in found.gains.items()
    ]
    return markdown_table(["car", *ARRANGEMENTS], rows)


def accuracy_table(found: CarLoopFindings) -> list[str]:
    """Return errors and gaps of the schemes by step."""
    rows = []
    for name, scheme in SCHEMES.items():
        cells = []
        for step in STEPS:
            end = found.ends[name, step]
            gap = "" if scheme.form == "minimal" else f" ({end.open_at_end[0]:.1e}, {end.opened[0]:.1e})"
            cells.append(f"{_error(found, name, step):.2g}{gap}")
        rows.append([name, *cells])
    return markdown_table(["scheme", *(f"{1e3 * step:g} ms" for step in STEPS)], rows)


def time_table(found: CarLoopFindings) -> list[str]:
    """Return times of all ways to treat the loop by damping."""
    dampings = list(found.times)
    head = ["form", "loop", *(title for d in dampings for title in (f"{d}: ns", "/ loop-free", "distance"))]
    rows = []
    for form, mode in WAYS:
        cells = []
        for damping in dampings:
            times = found.times[damping]
            base = times.get((form, "loop_free"))
            over = "" if base is None else f"{ratio(times[form, mode], base)[1]:.2f}"
            cells += [f"{1e9 * times[form, mode].best:,.0f}", over, f"{found.gaps[damping][form, mode]:.1e}"]
        rows.append([form, mode, *cells])
    return markdown_table(head, rows)


def page(found: CarLoopFindings, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        "# The full car's algebraic loop",
        "",
        *paragraph(
            "Written by `python -m benchmarks.vehicles.suspension.page`. The source prints the car as 23 equations,",
            "each solved for its own unknown from all others (15 accelerations, 8 multipliers of the linkages), and",
            "proposes to take the others from the step before. In minimal coordinates (7 accelerations) the same",
            "motion needs one 3x3 solve. All forms here are the same car; tests hold them together to 1e-9.",
        ),
        "",
        *(f"- {key}: {value}" for key, value in about.items()),
        "",
        "## What came out",
        "",
        *_what_came_out(found),
        "",
        "## Loop gains",
        "",
        *paragraph(
            "Spectral radius of what one pass multiplies an error by, at the nominal rest; a delayed scheme dies out",
            "below 1. In brackets the largest real part of an eigenvalue: below 1, a relaxed pass converges.",
        ),
        "",
        *gain_table(found),
        "",
        "## Accuracy of delayed accelerations",
        "",
        *paragraph(
            "Symplectic Euler, free motion with nominal dampers, largest error of a position after 1 s against a tight",
            "solution [m, rad]; in brackets how far the linkage is open at the end, and at most on the way [m].",
        ),
        "",
        *accuracy_table(found),
        "",
        "## Failure",
        "",
        *paragraph("Struts of twelve times the mass, printed form, 1 ms: steps of 2000 until a number is lost."),
        "",
        *markdown_table(
            ("share of a pass", "no drift control", "kappa 20/s"),
            [(f"{share:g}", f"{found.lost[share, 0.0]}", f"{found.lost[share, 20.0]}") for share in SHARES],
        ),
        "",
        "## Time",
        "",
        *paragraph(
            f"RK4 at 1 ms on waves, {LANES} lanes, ns per step and rollout (best of the turns), and multiples of the",
            "loop-free run of the same form (median over the turns); variable damping is a sky-hook law that sets the",
            "four dampers at each step. Distances are the largest of a position from the solved minimal form's, at the",
            "end of the run.",
        ),
        "",
        *time_table(found),
        "",
        *paragraph(
            "Operations of one evaluation: " + ", ".join(f"{k} {v:,}" for k, v in found.operations.items()) + "."
        ),
    ]
    return "\n".join(lines) + "\n"


def _what_came_out(found: CarLoopFindings) -> list[str]:
    solved = [times["minimal", "solved"].best for times in found.times.values()]
    printed = [t.best for times in found.times.values() for way, t in times.items() if way[0] == "printed"]
    ratios = {
        form: [
            ratio(times[form, mode], times[form, "loop_free"])[1]
            for times in found.times.values()
            for mode in BASELINES
        ]
        for form in ("minimal", "printed")
    }
    newton = [ratio(t["printed", "iterated_exact"], t["printed", "loop_free"])[1] for t in found.times.values()]
    lanes = ratio(found.lanes[1], found.lanes[LANES])[1]
    open_by = {name: found.ends[name, STEPS[0]].open_at_end[0] for name in SCHEMES}
    parts = (
        (
            "**Iterated against loop-free.** In the printed form the iterated loop takes",
            f"{span(ratios['printed'])} times as long as one delayed pass (published: {PUBLISHED:g}),",
            f"{span(newton)} times with Newton's method and exact slopes; in the minimal form",
            f"{span(ratios['minimal'])} times.",
        ),
        (
            "**But solving is faster than not solving.** The minimal form, solved exactly, takes",
            f"{span(1e9 * s for s in solved)} ns per step and rollout, the printed form in its ways",
            f"{span(1e9 * s for s in printed)} ns: the quickest of them {min(printed) / min(solved):.2g} times",
            "as long, and without its error.",
        ),
        (f"**{LANES} lanes** against one: a factor of {lanes:.2g} (minimal form, variable damping).",),
        (
            "**Drift is decided at the start.** Delayed multipliers leave the linkage's twice-differentiated",
            "constraints with a residual that telescopes, as far as the coefficients change slowly: the present",
            "unknowns less those at the start, times the step. From the right values the linkage opens by",
            f"{open_by['delayed, 23']:.2g} m in 1 s at 1 ms, from 0 by {open_by['delayed, 23, from 0']:.2g} m.",
            f"Baumgarte's feedback leaves {open_by['delayed, 23, kappa 20/s']:.2g} m.",
        ),
    )
    return [line for part in parts for line in (*paragraph(*part), "")][:-1]


def write(found: CarLoopFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page into a folder."""
    (folder / "suspension_loop.md").write_text(page(found, about), encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.suspension.page", __doc__, measured, write)
