"""Write docs/performance/unicycle_loop.md and its figure: ``python -m benchmarks.vehicles.unicycle.page [--quick]``.

Every number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner import pages
from benchmarks.runner.pages import paragraph, span
from benchmarks.runner.timing import ratio
from benchmarks.vehicles.unicycle import angles
from benchmarks.vehicles.unicycle.loop import (
    BASELINES,
    CASES,
    FIRST,
    PUBLISHED,
    SCHEMES,
    STEPS,
    T_END,
    TILT,
    WAYS,
    UnicycleLoopFindings,
    measured,
)
from experiments.runtime.tables import markdown_table
from plants.core.kernel.kernel import LANES
from plants.unicycle.verification.loop_gains import ARRANGEMENTS

if TYPE_CHECKING:
    from pathlib import Path


def gain_table(found: UnicycleLoopFindings) -> list[str]:
    """Return loop gains by roll and arrangement; then those of random tilts."""
    rows = [
        [f"{roll:g}", *(f"{table[n].radius:.4f}" for n in ARRANGEMENTS), f"{found.shares[roll]:.3f}"]
        for roll, table in found.gains.items()
    ]
    for k, label in enumerate(("least", "median", "greatest")):
        rows.append([label, *(f"{found.tilts[n][k]:.3f}" for n in ARRANGEMENTS), ""])
    return markdown_table(["roll [rad]", *ARRANGEMENTS, "share"], rows)


def scheme_table(found: UnicycleLoopFindings) -> list[str]:
    """Return errors and times survived by scheme and step."""
    others = [case for case in CASES if case != FIRST]
    rows = []
    for name in SCHEMES:
        for step in STEPS:
            error, fell = found.errors[name, step], found.lasted[name, step, FIRST]
            cells = [f"{error:.2g}" if np.isfinite(error) else f"falls at {fell:.2g} s"]
            for case in others:
                time = found.lasted[name, step, case]
                cells.append("-" if time > T_END - 0.5 * step else f"{time:.2g}")
            rows.append([name, f"{1e3 * step:g} ms", *cells])
    return markdown_table(["scheme", "step", "error", *others], rows)


def time_table(found: UnicycleLoopFindings) -> list[str]:
    """Return times of all ways to treat the loop."""
    rows = []
    for form, mode in WAYS:
        base = found.times.get((form, "loop_free"))
        over = "" if base is None else f"{ratio(found.times[form, mode], base)[1]:.2f}"
        best = 1e9 * found.times[form, mode].best
        rows.append([form, mode, f"{best:,.0f}", over, f"{found.gaps[form, mode]:.1e}"])
    return markdown_table(["form", "loop", "ns", "/ loop-free", "distance"], rows)


_ANGLES = "unicycle_angles.svg"
_LOOPS = ("printed", "minimal")


def page(found: UnicycleLoopFindings, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        "# The unicycle's algebraic loop",
        "",
        *paragraph(
            "Written by `python -m benchmarks.vehicles.unicycle.page`. The source prints nine equations, each solved",
            "for its own acceleration from all others, and proposes to take the others from the step before. In",
            "minimal coordinates (5 accelerations) the same motion needs one 5x5 solve. All forms here are the same",
            "unicycle; tests hold them together to 1e-9.",
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
            "Spectral radius of what one pass multiplies an error by, balanced at rest and rolled; a delayed scheme",
            "dies out below 1. Share: the largest part of a pass for which relaxed passes of the minimal form",
            f"converge. Last rows: least, median and greatest of 400 random tilts up to {TILT:g} rad.",
        ),
        "",
        *gain_table(found),
        "",
        "## Accuracy and failure of delayed accelerations",
        "",
        *paragraph(
            "Symplectic Euler, the source's law with trim and speed term, from 0.03 rad before balance at 1.5 m/s.",
            f"Error: largest distance in roll and pitch [rad] within {T_END:g} s from an accurate solution, from roll",
            f"{FIRST}. Then the time [s] until it falls, from other rolls; - where it stands for {T_END:g} s.",
        ),
        "",
        *scheme_table(found),
        "",
        f"![Yaw, pitch and roll with the loop solved, delayed and iterated]({_ANGLES})",
        "",
        *paragraph(
            "*The angles that the source compares, with the loop solved, with accelerations of the step before, and",
            f"iterated, at {1e3 * angles.STEP:g} ms and from two rolls. A curve ends where it is",
            f"{angles.APART:g} rad from the exact solve's: its unicycle is about to fall.*",
        ),
        "",
        "## Time",
        "",
        *paragraph(
            f"RK4 at 1 ms under the law, {LANES} lanes, ns per step and rollout (best of the turns), and multiples",
            "of the loop-free run of the same form (median over the turns). Distances are the largest of a coordinate",
            "from the solved minimal form's, at the end of the run. The form `kit` is what the mechanics kit derives",
            "from a declaration of bodies, rolling and closures, with the minimal form's velocities.",
        ),
        "",
        *time_table(found),
        "",
        *paragraph(
            "Operations of one evaluation of all rates: "
            + ", ".join(f"{k} {v:,}" for k, v in found.operations.items())
            + "."
        ),
    ]
    return "\n".join(lines) + "\n"


def _what_came_out(found: UnicycleLoopFindings) -> list[str]:
    parts = (_delaying(found), _relaxing(found), _iterating(found), _solving(found), _deriving(found))
    return [line for part in parts for line in (*part, "")][:-1]


def _delaying(found: UnicycleLoopFindings) -> list[str]:
    minimal, *_ = ARRANGEMENTS
    fine = STEPS[-1]
    worse = found.errors["delayed", fine] / found.errors["solved", fine]
    failing = next(case for case in CASES if found.lasted["delayed", fine, case] < T_END - 0.5 * fine)
    return paragraph(
        "**Delaying works upright only.** The gain is",
        f"{found.gains[0.0][minimal].radius:.3f} upright, 1 at a roll of {found.threshold:.2g} rad,",
        f"{found.gains[0.3][minimal].radius:.2f} at 0.3 rad: roll couples yaw to pitch and wheel. Below",
        f"{found.threshold:.2g} rad one delayed pass errs {worse:.2g} times as much as an exact solve at",
        f"{1e3 * fine:g} ms. From",
        f"{failing} it fails after {found.lasted['delayed', fine, failing]:.2g} s at {1e3 * fine:g} ms; a",
        "smaller step makes that earlier, since passes count, not time.",
    )


def _relaxing(found: UnicycleLoopFindings) -> list[str]:
    coarse, fine = STEPS
    error = found.errors["delayed, share 0.5", fine]
    return paragraph(
        "**Relaxation costs phase.** Half a pass converges at all rolls below, but one relaxed pass a step is a lag",
        f"in the control loop: at {1e3 * coarse:g} ms the unicycle falls after",
        f"{found.lasted['delayed, share 0.5', coarse, FIRST]:.2g} s;",
        f"at {1e3 * fine:g} ms it stands with an error of {error:.1g} rad,",
        f"{error / found.errors['solved', fine]:.2g} times that of the exact solve.",
    )


def _over_loop_free(found: UnicycleLoopFindings, form: str, mode: str) -> float:
    return ratio(found.times[form, mode], found.times[form, "loop_free"])[1]


def _iterating(found: UnicycleLoopFindings) -> list[str]:
    printed, minimal = (span(_over_loop_free(found, form, mode) for mode in BASELINES) for form in _LOOPS)
    return paragraph(
        "**Iterated against loop-free.** In the printed form the iterated loop takes",
        f"{printed} times as long as one delayed pass (published: up to {PUBLISHED:g}),",
        f"{_over_loop_free(found, 'printed', 'iterated_exact'):.2g} times with Newton's method and exact slopes; in",
        f"the minimal form {minimal} times.",
    )


def _solving(found: UnicycleLoopFindings) -> list[str]:
    printed = span(1e9 * one.best for way, one in found.times.items() if way[0] == "printed")
    return paragraph(
        "**Solving is cheap.** The minimal form, solved exactly, takes",
        f"{1e9 * found.times['minimal', 'solved'].best:,.0f} ns a step and rollout,",
        f"{_over_loop_free(found, 'minimal', 'solved'):.2g} times its own delayed pass; the",
        f"printed form in its ways {printed} ns.",
    )


def _deriving(found: UnicycleLoopFindings) -> list[str]:
    kit = found.times["kit", "solved"].best / found.times["minimal", "solved"].best
    return paragraph(
        f"**Written by hand or derived.** What the mechanics kit derives takes {kit:.2g} times as long as the",
        f"hand-written minimal form: it carries the legs' angles as states. **{LANES} lanes** against one: a",
        f"factor of {ratio(found.lanes[1], found.lanes[LANES])[1]:.2g}.",
    )


def write(found: UnicycleLoopFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page into a folder."""
    (folder / "unicycle_loop.md").write_text(page(found, about), encoding="utf-8")
    (folder / _ANGLES).write_text(angles.drawn(), encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.unicycle.page", __doc__, measured, write)
