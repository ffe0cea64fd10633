"""Contacts: lanes that solve them by cases with a fixed step, against the event-driven path, one run at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.runner.report import FigureSection, at_least
from experiments.report.drawing import svg
from experiments.reproduce.motions import OpenLoop
from experiments.runtime.timing import alternate, ratio
from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism
from plants.mechanics.runs.event_driven import simulate_contacts

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from plants.mechanics.runs.event_driven import ContactRun

GRAVITY = 9.81
STEP = 1e-3  # s
_US = 1e6
_SIDES = ("left", "right")


@dataclass(frozen=True)
class ContactCase:
    """A motion with contacts from initial states about `start`, `spread` wide."""

    title: str
    gaps: Mechanism
    bare: Mechanism
    start: tuple[float, ...]
    spread: tuple[float, ...]
    t_end: float


def ball(*, gaps: bool = True) -> Mechanism:
    """Return a ball over a floor that gives 0.8 of its speed back."""
    mech = Mechanism("ball")
    z = mech.coordinates("z", units="m", initial=1.0)
    speed = mech.rates("speed")
    m = mech.parameter("m", 0.5, "kg")
    mech.kinetic(m / 2 * speed**2)
    mech.potential(m * GRAVITY * z)
    if gaps:
        mech.gap(z, restitution=0.8)
    return mech


def box(*, gaps: bool = True) -> Mechanism:
    """Return a box on two corners without friction, pushed above its centre: constrained dynamics, section 5, B12."""
    mech = Mechanism("box")
    _x, y, phi = mech.coordinates("x y phi", units="m m rad", initial=[0.0, 0.5, 0.0])
    vx, vy, om = mech.rates("vx vy om")
    m, w, h, d = mech.parameters(m=2.0, w=0.3, h=0.5, d=0.4)
    push = mech.inputs("F", units="N")
    inertia = m * ((2 * w) ** 2 + (2 * h) ** 2) / 12
    mech.kinetic(m / 2 * (vx**2 + vy**2) + inertia / 2 * om**2)
    mech.potential(m * GRAVITY * y)
    mech.force({"x": push, phi: -push * d})
    for side in (-1, 1) if gaps else ():
        mech.gap(y + side * w * sin(phi) - h * cos(phi), restitution=0.5)
    return mech


def _cases() -> tuple[ContactCase, ...]:
    tilt = 0.1
    low = 0.3 * np.sin(tilt) + 0.5 * np.cos(tilt)
    return (
        ContactCase("ball, 3 impacts", ball(), ball(gaps=False), (1.0, 0.0), (0.05, 0.0), 2.0),
        ContactCase(
            "box, rocking", box(), box(gaps=False), (0, low + 0.02, tilt, 0, 0, 0), (0, 0.01, 0, 0, 0, 0.1), 0.2
        ),
    )


def contacts(size: Size) -> FigureSection:
    """Time both paths in turns, with the error of the fixed step beside."""
    section = FigureSection("contacts", "Contacts: lanes by cases against the event-driven path")
    for case in _cases():
        _measure(section, case, size)
    section.figures["contacts.svg"] = svg.figure(panels(), 3)
    section.notes.append(
        f"Lanes: 16 rollouts side by side, RK4 with a step of {STEP:g} s, impacts made up for after the step. "
        "Event-driven: DOP853 at 1e-9 with impacts at their roots, blocks evaluated as plain Python: the path that "
        "lanes are tested against. The two do not reach the same accuracy; the errors are given."
    )
    return section


def _measure(section: FigureSection, case: ContactCase, size: Size) -> None:
    n, n_steps = size.slice, round(case.t_end / STEP)
    starts = np.array(case.start) + np.random.default_rng(0).uniform(-1.0, 1.0, (n, len(case.start))) * case.spread
    lanes, bare = (OpenLoop(mech.build(), "solved") for mech in (case.gaps, case.bare))
    ends = lanes.run(n, n_steps, STEP, starts)[0]
    exact = [simulate_contacts(case.gaps, case.t_end, start).trajectory.states[-1] for start in starts[: size.repeats]]
    found = alternate(
        {
            "lanes": lambda: lanes.run(n, n_steps, STEP, starts),
            "without gaps": lambda: bare.run(n, n_steps, STEP, starts),
            "event-driven": lambda: simulate_contacts(case.gaps, case.t_end, starts[0]),
        },
        max(2, size.rounds // 4),
    )
    per = {"lanes": n, "without gaps": n, "event-driven": 1}
    each = {name: timing.per(per[name]) for name, timing in found.items()}
    for name, timing in each.items():
        section.time(f"{case.title}: one run, {name}", timing, "µs", _US, f"{case.t_end:g} s of motion")
    factor = ratio(each["event-driven"], each["lanes"])
    section.ratio(f"{case.title}: event-driven / lanes", factor, at_least(factor, 100.0))
    section.ratio(f"{case.title}: lanes / lanes without gaps", ratio(each["lanes"], each["without gaps"]))
    error = np.abs(ends[: size.repeats] - exact).max()
    section.figure(f"{case.title}: largest error of a state at the end", float(error), "", "lanes, SI units")


def panels() -> tuple[svg.Chart, ...]:
    """Return the ball's height and the box under a growing push, event by event."""
    bounces = simulate_contacts(ball(), 2.7, max_step=0.02)
    tipping = simulate_contacts(box(), 0.9, inputs={"F": lambda t: 20.0 * t}, max_step=0.01)
    bounced = (svg.SvgLine("height", bounces.time, bounces["z"]), _dots(bounces, "impact", "z"))

    def corners(signal: str) -> tuple[svg.SvgLine, ...]:
        sides = [svg.SvgLine(f"{side} corner", tipping.time, tipping[f"{signal}_{k}"]) for k, side in enumerate(_SIDES)]
        return (*sides, _dots(tipping, "opening", f"{signal}_0"))

    box_title = "Box: contact forces, push growing by 20 N/s"
    return (
        svg.Chart("Ball, 0.8 of its speed comes back", "time, s", "height, m", bounced),
        svg.Chart(box_title, "time, s", "force, N", corners("contact_force")),
        svg.Chart("Box: distances of its corners from the floor", "time, s", "distance, m", corners("gap")),
    )


def _dots(run: ContactRun, kind: str, signal: str) -> svg.SvgLine:
    """Return the events of one kind as dots on a signal's curve."""
    times = [event.time for event in run.of_kind(kind)]
    label = f"{kind} at {', '.join(f'{t:.4f}' for t in times[:3])} s"
    return svg.SvgLine(label, times, run[signal][np.searchsorted(run.time, times)], dots=True, colour=3)
