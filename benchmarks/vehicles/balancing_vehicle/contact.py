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
from benchmarks.runner.pages import paragraph
from benchmarks.runner.svg import Chart, SvgLine, figure
from benchmarks.runner.timing import FULL, Timing, alternate, ratio
from benchmarks.vehicles.balancing_vehicle import runs
from experiments.runtime.tables import markdown_table
from plants.balancing_vehicle import BALANCING_VEHICLE, BALANCING_VEHICLE_RIGID, NOMINAL_GAINS, STUDY, standing
from plants.balancing_vehicle.motion import END, MEAN, under
from plants.balancing_vehicle.parameters import GRAVITY, VehicleParameters
from plants.balancing_vehicle.stepping import PASSES, pushes
from plants.balancing_vehicle.wheels import dynamics, gaps_of
from plants.contact.gaps import PENETRATION, PENETRATION_FROM_ABOVE, RATIO, RESTITUTION, RESTITUTION_FROM_ABOVE
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.runner.timing import Size


MASS = 12.0  # kg, of the vehicle
_SHIFT = 1e3 * 0.5e-3 * MASS * GRAVITY  # mJ, at 1 ms and 1 m/s

LAWS = f"""\
# The balancing vehicle's contact with the ground

Written by `python -m benchmarks.vehicles.balancing_vehicle.contact`. Two laws say what load f a wheel carries; \
each is a plant:

| | `balancing_vehicle` | `balancing_vehicle_rigid` |
|---|---|---|
| law | 0 <= f, mean gap over a time h >= 0, one of them 0 | 0 <= f, gap at the step's end >= 0, one of them 0 |
| to the order kept | delta + (h/2) delta' + (h^2/6) delta'' | delta(q + dt u) + dt^2 (A f + d) |
| time | h: `averaging`, 5 ms; at least 2.5 steps | the step dt |
| equations of motion | the same law | the mean's, for wheels on the ground (within 0.01 mm) |
| an open gap has no force | beyond h v / 2 of a wheel that comes with speed v | where the step ends open |
| no deeper than | {PENETRATION:.4f} h v | terms of the third order of dt |
| rebound from above | {RESTITUTION_FROM_ABOVE:.4f} v, in steps less | none |
| energy | its rebound is given back; see below | never given on even ground; see below |

`plants.balancing_vehicle.on_rigid_ground(plant, name)` makes a rigid copy of any vehicle with slip.
`plants.balancing_vehicle.stepping.run(..., law="end")` is the reference path with it: one run at a time, with a
step that adapts. In lanes both laws have a fixed step and six passes. Blocks for other plants: `plants.contact`
(`averaged` and `at_end`; `two_contacts`, `enumerated` and `scaled` to solve).

## Why a mean gap pushes open gaps

A force that keeps the mean over the next h from falling below 0 must act before the gap is shut: without acceleration
the mean is 0 at delta = -h delta' / 2. That is what makes the stop smooth, since the force grows from 0 there. A body
that comes from above is an oscillator (natural frequency sqrt(6)/h, damping ratio zeta = sqrt(6)/4) that starts where
its acceleration is 0 and leaves where it is 0 again, half a period later:

- it rebounds with exp(-pi zeta / sqrt(1 - zeta^2)) = {RESTITUTION_FROM_ABOVE:.4f} of its speed, and
- goes in by exp(-zeta (pi - acos zeta) / sqrt(1 - zeta^2)) / sqrt(6) = {PENETRATION_FROM_ABOVE:.4f} h v.

A body that meets the law only at gap 0, by its initial state or in the equations of rigid contact, is stopped by a
force that begins with 3 m v / h: it rebounds with {RESTITUTION:.4f} of its speed and goes in by {PENETRATION:.4f} h v.
Rebounds are below 1 for every h. Over a bump the force works on ground that rises meanwhile, and the step takes the
ground at its beginning: what that gives for a moment is measured below.

## Why the gap at the end gives no energy

Let M be the masses, F a weight, J the gaps' lines of action, all constant, and u+ = u + dt M^-1 (F + J' f),
q+ = q + dt u+, with 0 <= f, delta+ >= 0 and f delta+ = 0. Then

    E+ - E = (u+ - u)' M u+ - (u+ - u)' M (u+ - u) / 2 - dt F' u+
           = dt f' J u+ - (u+ - u)' M (u+ - u) / 2
           = -f' delta - (u+ - u)' M (u+ - u) / 2

since dt J u+ = delta+ - delta and f delta+ = 0. With delta >= 0 before the step nothing on the right is positive: no
step gives energy, whatever dt, the number of contacts and the speeds. Friction adds -dt f mu' v+ with v+ the slip at
the end of the step, in which the step is implicit. `tests/plants/test_contact.py` holds this balance to rounding.

What the proof leaves out, for this vehicle:

- **Heights belong half a step later than velocities.** q+ = q + dt u+ is the scheme of Stoermer and Verlet with
  velocities between the places. The energy of one record, with both as they stand, differs from that of one instant
  by dt m g v_z / 2: {_SHIFT:.0f} mJ at 1 ms and 1 m/s upwards. It comes back as the body falls. The column "half a step
  back" takes the heights where the velocities are.
- **Curved ground.** On a curvature c that does not change, delta+ = 0 makes the rates of the gap before and after a
  step, along the lines of action at its beginning, opposite (dt c v^2 / 2): the force does no work. Where c begins,
  the rate before is 0, and m dt^2 a (g + a / 2) / 4 is given, a = c v^2: of second order, once a bump.
- **Masses that depend on the place**, since the platform pitches on its axle: errors of free flight, of first order
  and either sign, with any contact.
"""


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


def page(found: ContactFindings, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        LAWS,
        "## Over a bump",
        "",
        *paragraph(
            f"{1e2 * HEIGHT:g} cm high, {1e2 * LENGTH:g} cm long, taken at {SPEED:g} m/s under both",
            "wheels without torques and without friction in the bearings (parameter set `study`, dry ground): lift-off",
            "and landing. Averaging time five steps. `open`: largest gap at the end of a step with a force. `given`:",
            "how far the energy of the vehicle rises above what it began with.",
        ),
        "",
        *markdown_table(
            ("law", "step, ms", "open, mm", "deepest, mm", "given, mJ", "half a step back, mJ", "left at the end, J"),
            [_row(law, h, one) for (law, h), one in found.courses.items()],
        ),
        "",
        *_summary(found),
        "",
        "![Gap, load and energy over the bump](balancing_vehicle/landing.svg)",
        "",
        *_cost(found, about),
        "",
        *(f"- {key}: {value}" for key, value in about.items()),
    ]
    return "\n".join(lines) + "\n"


def _row(law: str, h: float, one: ContactCourse) -> list[str]:
    given = [1e3 * float((e - e[0]).max()) for e in (one.energy, one.staggered)]
    numbers = (1e3 * one.open, 1e3 * one.deepest, *given)
    cells = (f"{value:.0f}" if value >= 100.0 else f"{value:.2g}" for value in numbers)
    return [NAMES[law], f"{1e3 * h:g}", *cells, f"{one.energy[-1]:.3f}"]


def _summary(found: ContactFindings) -> list[str]:
    one = found.courses[END, SHOWN]
    bend = SPEED**2 * 0.5 * HEIGHT * (2.0 * math.pi / LENGTH) ** 2
    due = 1e3 * MASS * SHOWN**2 * bend * (GRAVITY + 0.5 * bend) / 4.0
    given = 1e3 * float((one.staggered - one.staggered[0]).max())
    return paragraph(
        f"The bump begins with a curvature that asks for {bend:.0f} m/s^2: at 1 ms rigid contact gives",
        f"{due:.3g} mJ there by the formula above and {given:.3g} mJ in this run, of {one.energy[0]:.1f} J. It falls",
        "with the square of the step. The equations themselves give none under either law (to 1e-9 of it, by tests).",
    )


def _cost(found: ContactFindings, about: dict[str, object]) -> list[str]:
    each = {key: 1e9 * timing.median for key, timing in found.times.items()}
    dear = ratio(found.times[END, LANES], found.times[MEAN, LANES])[1]
    lanes = ratio(found.times[END, 1], found.times[END, LANES])[1]
    return [
        "## Cost",
        "",
        *paragraph(
            "Closed loop with three PID channels and all measures, one thread, on a machine with",
            f"{about['load at start']} processes at work: {each[MEAN, LANES]:,.0f} ns a step and rollout in {LANES}",
            "lanes by the mean,",
            f"{each[END, LANES]:,.0f} ns by the gap at the end ({dear:.2f} times in turns); {each[MEAN, 1]:,.0f} and",
            f"{each[END, 1]:,.0f} ns in one lane: {LANES} lanes make rigid contact {lanes:.2g} times as fast.",
        ),
    ]


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
