"""Write docs/studies/balancing_vehicle_contact.md.

Command: ``python -m benchmarks.vehicles.balancing_vehicle.contact [--quick]``.

The balancing vehicle over a bump under both laws of the gaps: forces, gaps and energy of every step. Every measured
number on the page comes from the one run that writes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.runner import pages
from benchmarks.runner.size import FULL
from benchmarks.vehicles.balancing_vehicle import runs
from experiments.report.drawing.svg import Chart, SvgLine, figure
from experiments.runtime.tables import markdown_table
from experiments.runtime.timing import Timing, alternate, ratio
from plants.balancing_vehicle import BALANCING_VEHICLE, BALANCING_VEHICLE_RIGID, NOMINAL_GAINS, STUDY, standing
from plants.balancing_vehicle.motion import END, MEAN, under
from plants.balancing_vehicle.parameters import GRAVITY, VehicleParameters
from plants.balancing_vehicle.stepping import PASSES, pushes
from plants.balancing_vehicle.wheels import dynamics, gaps_of
from plants.contact.gaps import PENETRATION, PENETRATION_FROM_ABOVE, RATIO, RESTITUTION, RESTITUTION_FROM_ABOVE
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.runner.size import Size


MASS = 12.0  # kg, of the vehicle
_SHIFT = 1e3 * 0.5e-3 * MASS * GRAVITY  # mJ, at 1 ms and 1 m/s


SPEED, HEIGHT, LENGTH, BEGIN = 2.0, 0.04, 0.2, 0.5  # m/s, m
STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)  # s
BUMP = STUDY | {
    "mu_s": 0.8, "mu_k": 0.6, "c_b": 0.0, "bump_L": HEIGHT, "bump_R": HEIGHT, "bump_x": BEGIN, "bump_length": LENGTH,
}  # fmt: skip
PLANTS = {MEAN: BALANCING_VEHICLE, END: BALANCING_VEHICLE_RIGID}
_STILL, _DRY = (0.0, 0.0), (1.0, 1.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class ContactCourse:
    """A run without torques over the bump, step by step.

    Attributes
    ----------
    time, gap, energy, staggered : array [n + 1]
        Of the left wheel [m]; energy as it is recorded, and with heights half a step back [J].
    load : array [n]
        That the step from each instant on applies [N].
    """

    time: np.ndarray
    gap: np.ndarray
    energy: np.ndarray
    staggered: np.ndarray
    load: np.ndarray

    @property
    def open(self) -> float:
        """Largest gap at the end of a step with a force [m]."""
        return float(self.gap[1:][self.load > 0.0].max())

    @property
    def deepest(self) -> float:
        """Largest penetration [m]."""
        return float(max(-self.gap.min(), 0.0))


def course(law: str, h: float, t_end: float = 0.7) -> ContactCourse:
    """Roll over the bump with steps `h` [s], gaps averaged over five of them where they are."""
    p = BUMP | {"averaging": RATIO * h}
    start = list(standing(0.0, STUDY))
    start[8], start[14], start[15] = SPEED, SPEED / STUDY["r"], SPEED / STUDY["r"]
    run = plants.simulate(PLANTS[law], t_end, h, initial=tuple(start), parameters=p)
    named = VehicleParameters(**p)
    states = [tuple(x) for x in run.states]
    find = under(law, lambda x: pushes(dynamics(x, _STILL, _DRY, named), x, named, h, PASSES).forces[0])
    back = [(*(q - 0.5 * h * v for q, v in zip(x[:8], x[8:16], strict=True)), *x[8:]) for x in states]
    return ContactCourse(
        run.time, np.array([gaps_of(x, named)[0] for x in states]), _energy(states, named), _energy(back, named),
        np.array([find(x) for x in states[:-1]]),
    )  # fmt: skip


def _energy(states: list[tuple[float, ...]], named: VehicleParameters) -> np.ndarray:
    return np.array([BALANCING_VEHICLE.energy(0.0, x, _STILL, _DRY, tuple(named)) for x in states])


def courses(steps: tuple[float, ...] = STEPS) -> dict[tuple[str, float], ContactCourse]:
    """Return the run of each law with each step."""
    return {(law, h): course(law, h) for law in PLANTS for h in steps}


def times(size: Size) -> dict[tuple[str, int], Timing]:
    """Time of one step and rollout in closed loop [s] by law and lanes, one thread."""
    theta = np.tile(NOMINAL_GAINS, (LANES, 1))
    loops = {(law, n): runs.loop(plant, "rk4", n) for law, plant in PLANTS.items() for n in (LANES, 1)}
    calls = {f"{law} {n}": lambda it=it: it.evaluate(theta, 1) for (law, n), it in loops.items()}
    found = alternate(calls, max(2, size.rounds // 4))
    return {(law, n): found[f"{law} {n}"].per(LANES * runs.STEPS_OF_TAUGHT) for law, n in loops}


NAMES = {MEAN: "mean of the gap", END: "gap at the step's end"}
SHOWN = 1e-3  # s, the step of the figures


@dataclass(frozen=True)
class ContactFindings:
    """Figures of one run, as :mod:`benchmarks.vehicles.balancing_vehicle.contact` gives them."""

    courses: dict[tuple[str, float], ContactCourse]
    times: dict[tuple[str, int], Timing]


def measured(size: Size) -> ContactFindings:
    """Run everything; a quick run has two steps."""
    return ContactFindings(courses(STEPS if size == FULL else STEPS[:2]), times(size))


def page(found: ContactFindings, about: dict[str, Any]) -> str:
    """Return the page's text."""
    one = found.courses[END, SHOWN]
    bend = SPEED**2 * 0.5 * HEIGHT * (2.0 * math.pi / LENGTH) ** 2
    each = {key: 1e9 * timing.median for key, timing in found.times.items()}
    head = ("law", "step, ms", "open, mm", "deepest, mm", "given, mJ", "half a step back, mJ", "left at the end, J")
    return pages.filled(pages.TEMPLATES / "balancing_vehicle_contact.md", about, {
        "penetration": PENETRATION, "penetration_from_above": PENETRATION_FROM_ABOVE,
        "restitution": RESTITUTION, "restitution_from_above": RESTITUTION_FROM_ABOVE, "shift": _SHIFT,
        "height": 1e2 * HEIGHT, "length": 1e2 * LENGTH, "speed": SPEED,
        "courses": markdown_table(head, [_row(law, h, course) for (law, h), course in found.courses.items()]),
        "bend": bend, "due": 1e3 * MASS * SHOWN**2 * bend * (GRAVITY + 0.5 * bend) / 4.0,
        "given": 1e3 * float((one.staggered - one.staggered[0]).max()), "energy": one.energy[0],
        "load": about["load at start"], "lanes": LANES, "mean": each[MEAN, LANES], "end": each[END, LANES],
        "mean_alone": each[MEAN, 1], "end_alone": each[END, 1],
        "dear": ratio(found.times[END, LANES], found.times[MEAN, LANES])[1],
        "faster": ratio(found.times[END, 1], found.times[END, LANES])[1],
    })  # fmt: skip


def _row(law: str, h: float, one: ContactCourse) -> list[str]:
    given = [1e3 * float((e - e[0]).max()) for e in (one.energy, one.staggered)]
    numbers = (1e3 * one.open, 1e3 * one.deepest, *given)
    cells = (f"{value:.0f}" if value >= 100.0 else f"{value:.2g}" for value in numbers)
    return [NAMES[law], f"{1e3 * h:g}", *cells, f"{one.energy[-1]:.3f}"]


def landing(found: ContactFindings) -> str:
    """Return the figure: lift-off and landing, the landing itself with its loads, energy."""
    shown = {NAMES[law]: found.courses[law, SHOWN] for law in (MEAN, END)}
    end = found.courses[END, SHOWN]
    lands = int((end.gap > 1e-3).nonzero()[0].max())
    near = slice(lands - 6, lands + 10)
    time = {name: 1e3 * (one.time - end.time[lands]) for name, one in shown.items()}
    return figure([
        Chart("Gap of the left wheel", "time, s", "gap, mm",
              tuple(SvgLine(name, one.time, 1e3 * one.gap) for name, one in shown.items())),
        Chart("The landing: gap", "time, ms", "gap, mm",
              tuple(SvgLine(name, time[name][near], 1e3 * one.gap[near], dots=True) for name, one in shown.items())),
        Chart("The landing: load of the step that begins there", "time, ms", "load, kN",
              tuple(SvgLine(name, time[name][near], 1e-3 * one.load[near], dots=True) for name, one in shown.items())),
        Chart("Energy, half a step back, less that at the start", "time, s", "mJ",
              tuple(SvgLine(name, one.time[240:300], 1e3 * (one.staggered - one.staggered[0])[240:300])
                    for name, one in shown.items())),
    ])  # fmt: skip


def write(found: ContactFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its figure into a folder."""
    (folder / "balancing_vehicle_contact.md").write_text(page(found, about), encoding="utf-8")
    pictures = folder / "balancing_vehicle"
    pictures.mkdir(exist_ok=True)
    (pictures / "landing.svg").write_text(landing(found), encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.balancing_vehicle.contact", __doc__, measured, write, folder=pages.STUDIES)
