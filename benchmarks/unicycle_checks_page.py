"""Write docs/unicycle_checks.md: ``python -m benchmarks.unicycle_checks_page [--folder X]``.

Every number on the page comes from the run that writes it; nothing in it is timed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.prose import paragraph
from benchmarks.unicycle.tables import table
from benchmarks.unicycle_checks import STATES, Found, measured
from benchmarks.unicycle_residuals import KEPT, OPENED, STEPS, T_END

FOLDER = Path(__file__).parents[1] / "docs"
_TERMS = {1.0: "with the rolling terms", 0.0: "as printed"}


def page(found: Found) -> str:
    """Return the page's text."""
    lines = [
        "# How well the unicycle's equations hold",
        "",
        "Written by `python -m benchmarks.unicycle_checks_page`.",
        "",
        "## The specification's cases",
        "",
        *paragraph(
            "Accelerations and multipliers, of the plant and of the nine coordinates, in its cases A1 to A4: largest",
            "distance from its numbers, which have eleven digits, as a share of the largest one. Its trajectories T1",
            "to T3 are held to nine digits by the tests (`tests/plants/test_unicycle_motion.py`).",
        ),
        "",
        *table(tuple(found.cases), [[f"{gap:.0e}" for gap in found.cases.values()]]),
        "",
        "## Derivations beside one another",
        "",
        *paragraph(
            f"Accelerations at {STATES} random states with random parameters, torques, pushes and slopes: largest",
            "distance from the minimal form's, as a share of the largest acceleration.",
        ),
        "",
        *table(("derivation", "distance"), [[name, f"{gap:.0e}"] for name, gap in found.apart.items()]),
        "",
        "## Energy",
        "",
        "Largest relative change without friction and torque, RK4:",
        "",
        *_energies(found),
        "",
        "## Closures and rolling",
        "",
        *paragraph(
            f"By how much a leg is open at most in {T_END} s under the law, from roll and pitch 0.05 rad out of",
            "balance at 1.5 m/s; steps of 1 ms where nothing else is said:",
        ),
        "",
        *table(("form", "opening, m"), [[name, f"{found.opened[name]:.0e}"] for name in OPENED]),
        "",
        *paragraph(
            "The wheel's lowest point stands still by construction. Its speed, from the places of the wheel's axle and",
            f"of the tips of its axes alone, is at most {found.slipped:.0e} m/s at the random states, where the axle",
            f"moves at up to {found.rolled:.2g} m/s.",
        ),
    ]
    return "\n".join(lines) + "\n"


def _energies(found: Found) -> list[str]:
    rows = [
        [name, _TERMS[nh], *(f"{found.drifts[name, nh, step]:.0e}" for step in STEPS)] for name in KEPT for nh in _TERMS
    ]
    return table(("run", "equations", *(f"{1e3 * step:g} ms" for step in STEPS)), rows)


def main(arguments: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unicycle_checks_page", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page goes (default: %(default)s)")
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unicycle_checks.md").write_text(page(measured()), encoding="utf-8")


if __name__ == "__main__":
    main()
