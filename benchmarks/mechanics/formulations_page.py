"""Write docs/performance/formulations.md with its figure.

Command: ``python -m benchmarks.mechanics.formulations_page [--quick]``.

Every number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.mechanics import derivation, drift, formulations
from benchmarks.mechanics import tables as formulation_tables
from benchmarks.mechanics.claims import corrections, cost, energies, poles, singular, tools
from benchmarks.runner import pages
from benchmarks.runner.pages import paragraph
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.mechanics.drift import Drift, Passage
    from benchmarks.mechanics.formulations import Costs
    from benchmarks.runner.timing import Size, Timing


@dataclass(frozen=True)
class FormulationFindings:
    """All figures of one run."""

    costs: dict[str, Costs]
    drifts: dict[str, dict[tuple[str, float], Drift | None]]
    passages: dict[tuple[str, float], Passage]
    steps: dict[tuple[str, str], list[float]]
    derived: dict[str, dict[str, Timing]]
    kane: dict[str, Timing]


def measured(size: Size) -> FormulationFindings:
    """Measure everything."""
    costs = formulations.all_costs(size)
    return FormulationFindings(
        costs,
        drift.all_drifts(size),
        drift.passages(),
        derivation.first_steps(derivation.LARGEST, size.repeats),
        {name: derivation.blocks(name, size) for name in costs},
        derivation.kane(size),
    )


def page(found: FormulationFindings, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        "# Quasi-velocities against multipliers",
        "",
        *paragraph(
            "Written by `python -m benchmarks.mechanics.formulations_page`. Two things are claimed for",
            "quasi-velocities: that they are faster than Lagrange's equations with multipliers (Routh's form), and",
            "that they need no correction of violated constraints, singular positions included. This page says what",
            "became of both. Forms and options are those of `Mechanism.build`; systems are those of the kit's tests.",
        ),
        "",
        *(f"- {key}: {value}" for key, value in about.items()),
        "",
        "## What came out",
        "",
        *cost(found.costs),
        "",
        *corrections(found.drifts),
        "",
        *energies(found.drifts),
        "",
        *singular(found.passages),
        "",
        *poles(found.drifts),
        "",
        *tools(found.derived, found.kane, found.steps),
    ]
    return "\n".join([*lines, *_tables(found)]) + "\n"


def _tables(found: FormulationFindings) -> list[str]:
    tables = formulation_tables
    return [
        "",
        "## Cost of one evaluation",
        "",
        *paragraph(
            'Time of one evaluation of all rates in the form that `build("quasi")` gives, and the other forms\'',
            "times as",
            "multiples of it. The same RK4 step of the same kernels surrounds every form; its arithmetic is",
            "counted in.",
            "One lane:",
        ),
        *tables.cost_table(found.costs, 1),
        f"{LANES} lanes, each rollout's share:",
        *tables.cost_table(found.costs, LANES),
        "What the lanes gain:",
        *tables.lane_table(found.costs),
        *paragraph(
            "Operations of one evaluation, solve and selects included; in brackets the angles of which sine and cosine",
            "are taken:",
        ),
        *tables.operation_table(found.costs),
        "## Drift",
        "",
        *paragraph(
            "Largest residual of speeds, |A v + b|; of positions, |phi|; largest error of energy [J] over",
            f"{drift.T_END:g} s of RK4 without inputs. Baumgarte's coefficients are 10 1/s; projection follows",
            "each step.",
        ),
        *tables.drift_table(found.drifts),
        f"The double pendulum in Cartesian coordinates, step {drift.STEPS[0]:g} s; the largest values up to each time:",
        "",
        f"![drift]({drift.FIGURE})",
        "",
        "## Singular positions",
        "",
        *paragraph(
            f"The slider-crank with equal links, {drift.T_END:g} s. First one motion, then",
            f"{drift.ROLLOUTS}",
            f"of them ({tables.starting_note()}): lost are those whose energy is wrong by more than",
            f"{100 * drift.LOST:g} % at the end; errors of the energy are relative.",
        ),
        *tables.singular_table(found.passages),
        "## Derivation and first step",
        *tables.derivation_table(found.derived),
        *paragraph(
            "From the declaration to the first compiled step, with an empty cache and with a filled one, each in a",
            "process of its own; the imports are those of NumPy and this package:",
        ),
        *tables.start_table(found.steps)[:-1],
    ]


def write(found: FormulationFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its drawing into a folder."""
    (folder / "formulations.md").write_text(page(found, about), encoding="utf-8")
    drawing = drift.figure(found.drifts[drift.DRAWN], drift.STEPS[0])
    (folder / drift.FIGURE).write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    pages.run("mechanics.formulations_page", __doc__, measured, write)
