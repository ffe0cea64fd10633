"""What constraints and energy lose over a long run: by the choice of state, by feedback, by projection.

The slider-crank with equal links runs 20 s through positions where its constraints depend on one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.report.drawing import svg
from experiments.reproduce.mechanics import mechanism_forms, mechanisms
from experiments.reproduce.mechanics.systems import BY_JOINTS
from experiments.reproduce.motions import OpenLoop
from plants.core.motion.trajectory import DivergedError

if TYPE_CHECKING:
    from plants.core.plant import Plant


T_END = 20.0  # s
STEPS = (0.01, 0.001)  # s
PROJECTED = "Routh + projection"
QUASI_PROJECTED = "quasi + projection"
JOINTS = "joint coordinates"


@dataclass(frozen=True)
class Drift:
    """What a run has lost of its constraints and its energy, at every step.

    Attributes
    ----------
    time [n] : s
    speed, position [n]
        Largest |A v + b| and |phi| of all constraints; no positions: 0.
    energy [n] : J
        E - E0.
    states [n, n_x]
    """

    time: np.ndarray
    speed: np.ndarray
    position: np.ndarray
    energy: np.ndarray
    states: np.ndarray

    @property
    def most(self) -> tuple[float, float, float]:
        """Largest of each over the run."""
        return tuple(float(np.abs(values).max()) for values in (self.speed, self.position, self.energy))  # type: ignore[return-value]


def drift(name: str, plant: Plant, step: float, t_end: float = T_END) -> Drift | None:
    """Return what a system's free motion by RK4 loses; nothing where it diverges."""
    return drift_from(plant, mechanisms.start(name, plant), step, t_end)


def drift_from(plant: Plant, initial: tuple[float, ...], step: float, t_end: float = T_END) -> Drift | None:
    """Return what the free motion from a state by RK4 loses; nothing where it diverges."""
    try:
        run = plants.simulate(plant, t_end=t_end, step=step, initial=initial)
    except DivergedError:
        return None
    equations, states = plant.equations, run.states
    block = equations.block(run.time, tuple(states.T))
    q, v = equations.motion(*block)
    residuals, speeds = equations.full(("residuals", "speeds"), run.time, q, v, *block[2:])
    energy = np.asarray(equations.energy(*block))
    return Drift(run.time, _largest(speeds, run.time), _largest(residuals, run.time), energy - energy[0], states)


def _largest(rows: list[Any], time: np.ndarray) -> np.ndarray:
    """Largest magnitude of several residuals at every time."""
    return np.max([np.abs(row) + np.zeros_like(time) for row in rows], axis=0) if rows else np.zeros_like(time)


def forms(name: str) -> dict[str, Plant]:
    """Return a system in every form whose drift is compared."""
    made = mechanisms.SYSTEMS[name]
    quasi = made().build("quasi", check=False)
    kinds = (mechanism_forms.ROUTH, mechanism_forms.GAUSS, mechanism_forms.MAGGI, mechanism_forms.CHAPLYGIN)
    found = {
        **mechanism_forms.forms(name, *kinds, mechanism_forms.FED_BACK),
        PROJECTED: made().build("routh", stabilise="project", check=False),
        mechanism_forms.QUASI: quasi,
    }
    if quasi.equations.declared.positions:
        found[QUASI_PROJECTED] = made().build("quasi", stabilise="project", check=False)
    if name in BY_JOINTS:
        found[JOINTS] = BY_JOINTS[name][0]().build("joints", check=False)
    return found


_POINTS = 250


def figure(runs: dict[tuple[str, float], Drift | None], step: float) -> str:
    """Draw what has been lost so far, over time: speeds, positions, energy."""
    titles = ("speeds: largest |A v + b| [m²/s]", "positions: largest |phi| [m²]", "energy: largest |E - E0| [J]")
    alike = (mechanism_forms.GAUSS, mechanism_forms.MAGGI, mechanism_forms.CHAPLYGIN)  # as others, or with poles
    shown = {form: run for (form, h), run in runs.items() if h == step and run is not None and form not in alike}
    charts = []
    for which, title in enumerate(titles):
        curves = [_curve(form, run, which, number) for number, (form, run) in enumerate(shown.items())]
        charts.append(svg.Chart(title, "time [s]", "", tuple(curves), log_y=True, width=400.0, height=380.0))
    return svg.figure(charts, 3)


def _curve(form: str, run: Drift, which: int, number: int) -> svg.SvgLine:
    values = np.maximum.accumulate(np.abs((run.speed, run.position, run.energy)[which]))
    every = max(1, len(values) // _POINTS)
    return svg.SvgLine(form, run.time[1::every], values[1::every], colour=number)


SYSTEM = "slider-crank"
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


def singular_forms() -> dict[str, Plant]:
    """Return the slider-crank in the forms that are compared."""
    made = mechanisms.SYSTEMS[SYSTEM]
    chosen = (
        mechanism_forms.PIVOTED,
        mechanism_forms.ROUTH,
        mechanism_forms.GAUSS,
        mechanism_forms.FED_BACK,
        mechanism_forms.QUASI,
    )
    built = mechanism_forms.forms(SYSTEM, *chosen)
    kept = {name: built[name] for name in chosen}
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
