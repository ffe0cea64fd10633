"""The ways to treat accelerations that depend on one another by name, and which of them go with what.

Solved (:mod:`plants.core.accelerations`), iterated (:mod:`plants.core.algebraic_loop.iteration`) or loop-free
(:mod:`plants.core.algebraic_loop.loop_free`); a plant with a step map of its own takes none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.core.motion.integrators import IMPLICIT, STAGES, USUAL
from plants.core.names import unknown

if TYPE_CHECKING:
    from plants.core.plant import Plant


MODES = (
    "solved", "iterated", "iterated_exact", "gauss_seidel", "loop_free", "loop_free_relaxed", "loop_free_filtered",
)  # fmt: skip
"""Values of `algebraic_loop`: three of them iterate (:mod:`plants.core.algebraic_loop.iteration`), three rebuild the
accelerations from the velocities (:mod:`plants.core.algebraic_loop.loop_free`)."""


def check_mode(plant: Plant, mode: str, integrator: str = "rk4") -> str:
    """Return a known loop mode or raise; plants without a loop have only "solved", and so has "rosenbrock"."""
    if mode not in MODES:
        raise ValueError(unknown("algebraic_loop", mode, MODES))
    if plant.advance is not None:
        _check_own_step(plant, mode, integrator)
    if mode != "solved" and not plant.has_loop:
        raise ValueError(
            f"plant {plant.name!r} has no algebraic loop, so algebraic_loop={mode!r} means nothing for it; "
            "use 'solved', or declare its accelerations with acceleration(t, x, a, u, w, p)"
        )
    if mode != "solved" and integrator in IMPLICIT:
        raise ValueError(
            f"integrator {integrator!r} differentiates the solved equations, so it knows no algebraic_loop={mode!r}; "
            f"use algebraic_loop='solved', or one of the integrators {', '.join(STAGES)}"
        )
    return mode


def _check_own_step(plant: Plant, mode: str, integrator: str) -> None:
    given = (
        f"integrator={integrator!r}" if integrator != USUAL else f"algebraic_loop={mode!r}" if mode != MODES[0] else ""
    )
    if given:
        raise ValueError(
            f"plant {plant.name!r} moves by a step map of its own (advance), which takes the place of integrators and "
            f"loop modes, so {given} means nothing for it; leave it out, or integrate its equations with "
            "dataclasses.replace(plant, advance=None)"
        )


def scheme(plant: Plant, integrator: str) -> str:
    """Return what moves the plant, in words: the integrator, or the plant itself."""
    return integrator if plant.advance is None else "own step map"
