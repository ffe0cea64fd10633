"""The slider-crank with equal links, 20 s through positions where its constraints depend on one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import mechanism_forms, mechanisms
from benchmarks.drift import PROJECTED, QUASI_PROJECTED, T_END, drift
from benchmarks.motions import OpenLoop
from benchmarks.report import Section

if TYPE_CHECKING:
    from benchmarks.drift import Drift
    from benchmarks.size import Size
    from plants.core.plant import Plant

SYSTEM = "slider-crank"
STEPS = (0.01, 0.001)  # s
STARTS = (0.2, 0.4)  # rad, of the crank
ROLLOUTS = 256
LOST = 0.01  # of the energy: the motion is another one


@dataclass(frozen=True)
class Passage:
    """What becomes of a form at the singular positions.

    Attributes
    ----------
    run : Drift or None
        From the first state of the drift's comparison; none where it diverged.
    lost : float
        Share of many rollouts, from cranks spread over `STARTS`, whose energy is wrong by more than `LOST` at the end.
    median, worst : float
        Relative error of the energy at the end over these rollouts; infinite where they diverged.
    """

    run: Drift | None
    lost: float
    median: float
    worst: float


def forms() -> dict[str, Plant]:
    """Return the slider-crank in the forms that are compared."""
    made, found = mechanisms.SYSTEMS[SYSTEM], mechanism_forms.forms(SYSTEM)
    chosen = (
        mechanism_forms.PIVOTED,
        mechanism_forms.ROUTH,
        mechanism_forms.GAUSS,
        mechanism_forms.FED_BACK,
        mechanism_forms.QUASI,
    )
    kept = {name: found[name] for name in chosen}
    kept[PROJECTED] = made().build("routh", stabilise="project", check=False)
    kept[QUASI_PROJECTED] = made().build("quasi", stabilise="project", check=False)
    return kept


def passage(plant: Plant, step: float) -> Passage:
    """Return what becomes of one form with one step."""
    states, energy = first_states(plant), plant.equations.energy
    ends, steps = OpenLoop(plant, "solved").run(len(states), round(T_END / step), step, states)

    def energies(x: np.ndarray) -> np.ndarray:
        return np.asarray(energy(*plant.equations.block(0.0, tuple(x.T))))

    begun = energies(states)
    errors = np.where(steps == round(T_END / step), np.abs(energies(ends) / begun - 1.0), np.inf)
    return Passage(
        drift(SYSTEM, plant, step), float(np.mean(errors > LOST)), float(np.median(errors)), float(np.max(errors))
    )


def first_states(plant: Plant) -> np.ndarray:
    """Return admissible states [n, n_x]: cranks at several angles, all with the same speed."""
    a, speed = np.linspace(*STARTS, ROLLOUTS), np.full(ROLLOUTS, mechanisms.STARTS[SYSTEM][1][0])
    places = [a, a, 2.0 * np.cos(a)]
    rates = [speed] if plant.equations.form == "quasi" else [speed, speed, -2.0 * np.sin(a) * speed]
    return np.stack([*places, *rates], axis=1)


def passages() -> dict[tuple[str, float], Passage]:
    """Return what becomes of every form with every step."""
    return {(name, step): passage(plant, step) for name, plant in forms().items() for step in STEPS}


def singular_position(size: Size) -> Section:  # noqa: ARG001  (one size: it takes seconds)
    """Run every form through the singular positions."""
    return section_of(passages())


def section_of(found: dict[tuple[str, float], Passage]) -> Section:
    """Put the passages into a section."""
    section = Section("singular_position", f"A slider-crank with equal links: {T_END:g} s through singular positions")
    for (form, step), seen in found.items():
        remark = f"relative error of energy at the end: median {seen.median:.1e}, worst {seen.worst:.1e}"
        section.figure(f"{form}, step {step:g} s: motions lost", 100.0 * seen.lost, "%", remark)
    section.notes.append(f"{ROLLOUTS} motions, cranks at {STARTS[0]:g} to {STARTS[1]:g} rad at the beginning.")
    return section
