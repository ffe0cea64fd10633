"""Sections on what constraints and energy lose: systems of the kit in every form, and singular positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.runner.report import FigureSection
from experiments.reproduce.mechanics import mechanisms
from experiments.reproduce.mechanics.drift import (
    ROLLOUTS,
    STARTS,
    STEPS,
    T_END,
    Drift,
    Passage,
    drift,
    figure,
    forms,
    passage,
    singular_forms,
)

if TYPE_CHECKING:
    from benchmarks.runner.size import Size


DRAWN = "Cartesian double pendulum"
FIGURE = "formulations_drift.svg"


def all_drifts(size: Size) -> dict[str, dict[tuple[str, float], Drift | None]]:
    """Return the runs of all systems by form and step; of the first few in a quick run."""
    names = list(mechanisms.SYSTEMS)[: size.plants + 3]
    found: dict[str, dict[tuple[str, float], Drift | None]] = {}
    for name in dict.fromkeys((*names, DRAWN)):
        made = forms(name)
        found[name] = {(form, h): drift(name, plant, h) for form, plant in made.items() for h in STEPS}
    return found


def drifts(size: Size) -> FigureSection:
    """Run every system in every form."""
    return section_of(all_drifts(size))


def section_of(found: dict[str, dict[tuple[str, float], Drift | None]]) -> FigureSection:
    """Put runs into a section: what is lost at the level of speeds, with positions and energy beside it."""
    section = FigureSection("drift", f"Drift of constraints and energy over {T_END:g} s of RK4")
    for name, runs in found.items():
        for (form, h), run in runs.items():
            speed, position, energy = run.most if run else (float("nan"),) * 3
            remark = f"of positions {position:.1e}, error of energy {energy:.1e} J" if run else "diverged"
            section.figure(f"{name}: {form}, step {h:g} s: residual of speeds", speed, "", remark)
    section.figures[FIGURE] = figure(found[DRAWN], STEPS[0])
    return section


def passages() -> dict[tuple[str, float], Passage]:
    """Return what becomes of every form with every step."""
    return {(name, step): passage(plant, step) for name, plant in singular_forms().items() for step in STEPS}


def singular_position(size: Size) -> FigureSection:  # noqa: ARG001  (one size: it takes seconds)
    """Run every form through the singular positions."""
    return passage_section(passages())


def passage_section(found: dict[tuple[str, float], Passage]) -> FigureSection:
    """Put the passages into a section."""
    section = FigureSection(
        "singular_position", f"A slider-crank with equal links: {T_END:g} s through singular positions"
    )
    for (form, step), seen in found.items():
        remark = f"relative error of energy at the end: median {seen.median:.1e}, worst {seen.worst:.1e}"
        section.figure(f"{form}, step {step:g} s: motions lost", 100.0 * seen.lost, "%", remark)
    section.notes.append(f"{ROLLOUTS} motions, cranks at {STARTS[0]:g} to {STARTS[1]:g} rad at the beginning.")
    return section
