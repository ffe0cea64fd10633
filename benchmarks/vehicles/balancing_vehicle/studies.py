"""Write docs/studies/balancing_vehicle_slippery.md.

Command: ``python -m benchmarks.vehicles.balancing_vehicle.studies [--quick]``.

Every number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner import pages
from benchmarks.runner.pages import paragraph
from benchmarks.runner.svg import Chart, SvgLine, figure
from benchmarks.runner.timing import FULL, ratio
from benchmarks.vehicles.balancing_vehicle import runs
from benchmarks.vehicles.balancing_vehicle.runs import PASSES_TRIED, RADIUS, SCHEMES, studies
from experiments.runtime.tables import markdown_table
from plants import balancing_vehicle
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.runner.timing import Size, Timing


THIN = 25  # records of 0.2 ms between points that are drawn
LABELS = {"1a": "1a: 0.5 N m", "1b": "1b: 1.6 sin 2t N m", "1c": "1c: 1.2 sin 2t N m"}


def figures() -> Mapping[str, str]:
    """Return the figures by file name."""
    return {"rolling.svg": _rolling(), "friction.svg": _friction(), "drop.svg": _drop()}


def _rolling() -> str:
    """Displacement against wheel angle, and what is missing to rolling over time."""
    travel, apart = [], []
    for name, label in LABELS.items():
        run = studies()[name]
        rolled = RADIUS * (run["theta"] + run["aL"])
        travel.append(SvgLine(label, rolled[::THIN], run["axle_x"][::THIN]))
        apart.append(SvgLine(label, run.time[::THIN], (run["axle_x"] - rolled)[::THIN]))
    return figure([
        Chart("Displacement against wheel angle", "radius times wheel angle, m", "axle, m", tuple(travel)),
        Chart("Displacement less rolling", "time, s", "m", tuple(apart)),
    ])  # fmt: skip


def _friction() -> str:
    """The fall of friction from its static peak, over time and over the slip."""
    run = studies()["1b"]
    shown = (run.time >= 0.4) & (run.time <= 0.9)
    share = run["F_t_L"] / run["f_n_L"]
    slip = -run["slip_t_L"]
    whole = np.abs(slip) < 1.6
    time = run.time[shown][::5]
    return figure([
        Chart("Study 1b: friction over load", "time, s", "F_t / f_n", (SvgLine("F_t / f_n", time, share[shown][::5]),)),
        Chart("Friction over load against slip, 4 s", "slip speed, m/s", "F_t / f_n",
              (SvgLine("F_t / f_n", slip[whole][::5], share[whole][::5]),)),
        Chart("Slip speed", "time, s", "m/s", (SvgLine("slip speed", time, slip[shown][::5]),)),
    ], columns=3)  # fmt: skip


def _drop() -> str:
    """Path and swing after the friction drop."""
    run = studies()["2"]
    t = run.time[::THIN]

    def over_time(title: str, unit: str, **signals: str) -> Chart:
        named = tuple(SvgLine(label.replace("_", " "), t, run[name][::THIN]) for label, name in signals.items())
        return Chart(title, "time, s", unit, named)

    path = SvgLine("axle", run["axle_x"][::THIN], run["axle_y"][::THIN])
    return figure([
        Chart("Study 2: path of the axle", "x, m", "y, m", (path,)),
        over_time("Swing", "rad", pitch="theta"),
        over_time("Wheels against the platform", "rad", left="aL", right="aR", yaw="psi"),
        over_time("Friction forces", "N", left_along="F_t_L", right_along="F_t_R", right_aside="F_s_R"),
    ])  # fmt: skip


def study_1() -> list[str]:
    """Study 1: rolling and slipping."""
    run, calm = runs.studies()["1b"], runs.studies()["1a"]
    share = np.abs(run["F_t_L"]) / run["f_n_L"]
    peak = int(share[run.time < 0.7].argmax())
    slides = int((np.abs(run["slip_t_L"]) > balancing_vehicle.STUDY["v_s"]).argmax())
    later = slides + round(0.1 / runs.REFERENCE)

    def missing(one: Any) -> float:
        return float(np.abs(one["axle_x"] - runs.RADIUS * (one["theta"] + one["aL"])).max())

    return [
        "## Study 1: rolling and slipping",
        "",
        "![Displacement against wheel angle](balancing_vehicle/rolling.svg)",
        "",
        *paragraph(
            f"With 0.5 N m on both wheels the vehicle rolls: over {calm['axle_x'][-1]:.3g} m the axle misses the",
            "way that",
            f"the wheels have turned by at most {missing(calm):.1e} m. With 1.6 sin 2t N m it slips: friction",
            "over load",
            f"reaches {share[peak]:.4f} at {run.time[peak]:.3f} s, the slip passes the Stribeck velocity at",
            f"{run.time[slides]:.3f} s, and a tenth of a second later {share[later]:.3f} is left. Displacement",
            "and turning",
            f"part by up to {missing(run):.2g} m. With 1.2 sin 2t N m they stay together within",
            f"{missing(runs.studies()['1c']):.1e} m.",
        ),
        "",
        "![Friction over load, with the fall from its static peak](balancing_vehicle/friction.svg)",
        "",
    ]


def slip(found: StudyFindings) -> list[str]:
    """Where slip is found against what rolling needs."""
    return [
        "## Where slip is found",
        "",
        *paragraph(
            "Torques A sin 2t on both wheels, 2 s. The friction that ideal rolling needs is that of the no-slip",
            "model; the",
            "largest slip is that of the vehicle with LuGre friction, whose bristles creep below 0.1 mm/s in stick.",
        ),
        "",
        *markdown_table(
            ("A, N m", "needed, share of static friction", "largest slip, m/s"),
            [(f"{swing:g}", f"{need:.3f}", f"{slip:.2g}") for swing, need, slip in found.slip],
        ),
        "",
    ]


def study_2() -> list[str]:
    """Study 2: the friction drop."""
    run = runs.studies()["2"]

    def at(t: float, name: str) -> float:
        return float(run[name][round(t / runs.REFERENCE)])

    return [
        "## Study 2: the left wheel loses its grip",
        "",
        "![Path and swing after the friction drop](balancing_vehicle/drop.svg)",
        "",
        *paragraph(
            "0.5 N m on both wheels; from 2 s on the ground under the left wheel gives a tenth of its friction.",
            "The left",
            f"wheel spins up, the vehicle yaws to the left ({at(3.0, 'psi'):.2f} rad at 3 s, {at(5.0, 'psi'):.2f}",
            "rad at",
            f"5 s) and leaves its line by {at(3.0, 'axle_y'):.2f} m at 3 s and {at(4.0, 'axle_y'):.2f} m at 4 s.",
            "The right",
            f"wheel holds a side force of {abs(at(2.5, 'F_s_R')):.1f} N at 2.5 s, then slips aside with",
            f"{abs(at(3.0, 'slip_s_R')):.2f} m/s at 3 s and {abs(at(4.0, 'slip_s_R')):.2f} m/s at 4 s. At 4 s the",
            "left wheel",
            f"has turned {at(4.0, 'aL'):.1f} rad, the right one {at(4.0, 'aR'):.1f} rad, where the way alone would be",
            f"{at(4.0, 'axle_x') / runs.RADIUS:.1f} rad.",
        ),
        "",
    ]


def study_3(found: StudyFindings) -> list[str]:
    """Study 3: which speed is fed back."""
    rows = []
    for (scales, encoder), course in found.courses.items():
        where = "both" if scales[0] == scales[1] else "left"
        outcome = f"falls at {course.end:.2f} s" if course.fell else f"upright after {course.end:.0f} s"
        speed = "encoders" if encoder else "true"
        rows.append([f"{where}, {scales[0]:g}", speed, outcome, f"{course.yaw:.2f}", f"{course.heat:.0f}"])
    return [
        "## Study 3: which speed is fed back",
        "",
        *paragraph(
            "The balancing vehicle (set `balancer`) under its nominal cascade, 2 m/s from rest, friction scaled",
            "from 0.3 s",
            "on, own step of 1 ms, motors without a speed line and integrals that never stop, as in the source.",
            "Outcomes",
            "can be compared, digits cannot: stick-slip is chaotic.",
        ),
        "",
        *markdown_table(("friction scale", "speed fed back", "outcome", "yaw there, rad", "heat of friction, J"), rows),
        "",
    ]


OWN = next(iter(SCHEMES))
SCALES = ((0.05, 0.05), (0.1, 1.0))
HALVINGS = {"fixed 4 ms": (0, 0), "k from 0 to 4": (0, 4), "k from 1 to 5": (1, 5), "fixed 0.25 ms": (4, 4)}


@dataclass(frozen=True)
class StudyFindings:
    """All figures of one run, as :mod:`benchmarks.vehicles.balancing_vehicle.runs` gives them."""

    slip: list[tuple[float, float, float]]
    errors: dict[str, dict[float, float]]
    times: dict[str, Timing]
    courses: dict[tuple[tuple[float, float], bool], runs.Course]
    bumps: dict[str, tuple[int, float, float, float]]


def measured(size: Size) -> StudyFindings:
    """Run everything; the bump is shorter in a quick run."""
    t_end = 6.0 if size == FULL else 1.6
    return StudyFindings(
        slip=runs.slip_found(),
        errors=runs.errors(),
        times=runs.times(size),
        courses={(s, e): runs.study_3(s, encoder=e) for s in SCALES for e in (False, True)},
        bumps={name: runs.bump(k, t_end) for name, k in HALVINGS.items()},
    )


def page(found: StudyFindings, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        "# The balancing vehicle on slippery ground: studies",
        "",
        *paragraph(
            "Written by `python -m benchmarks.vehicles.balancing_vehicle.studies`. Open loops on the parameter set",
            "`study` (centre of mass below the axle, static friction 0.15, kinetic 0.10), by the Rosenbrock method at",
            f"{1e3 * runs.REFERENCE:g} ms; the gate's tests hold these runs against the reference trajectories to",
            "1e-6. What the plant is: [balancing_vehicle.md](../reference/balancing_vehicle.md).",
        ),
        "",
        *(f"- {key}: {value}" for key, value in about.items()),
        "",
        *study_1(),
        *slip(found),
        *study_2(),
        *study_3(found),
        *_accuracy(found),
        *_bump(found),
    ]
    return "\n".join(lines) + "\n"


def _accuracy(found: StudyFindings) -> list[str]:
    head = ["scheme", *(f"{1e3 * h:g} ms" for h in runs.STEPS), f"ns, {LANES} lanes", "ns, one lane"]
    rows = [_scheme_row(found, name) for name in (*SCHEMES, *(f"own step, {k} passes" for k in PASSES_TRIED if k != 6))]
    lanes = ratio(found.times[f"{OWN}, one lane"], found.times[f"{OWN}, {LANES} lanes"])[1]
    dear = ratio(found.times[f"rosenbrock, {LANES} lanes"], found.times[f"{OWN}, {LANES} lanes"])[1]
    return [
        "## Step, accuracy and time",
        "",
        *paragraph(
            "Largest error of a coordinate [m, rad] in study 1b over 2 s, by step; and time of a step and rollout",
            "in closed",
            "loop at 1 ms with three PID channels and all measures, one thread. A dash: it is lost. Wheel angles",
            "of some",
            "17 rad are among the coordinates.",
        ),
        "",
        *markdown_table(head, rows),
        "",
        *paragraph(
            f"{LANES} lanes make the own step {lanes:.2g} times as fast as one. The Rosenbrock method takes",
            f"{dear:.2g} times",
            f"as long a step and is at 1 ms {found.errors[OWN][1e-3] / found.errors['rosenbrock'][1e-3]:,.0f} times as",
            "accurate while wheels stay on the ground; where a wheel hits the ground its matrix loses its sign",
            "and the run",
            "may end (at 1 ms on the landings tried, at 0.1 ms not). So the plant brings its own step, and studies",
            "on smooth",
            'ground take the Rosenbrock method: `dataclasses.replace(plant, advance=None)`, `integrator="rosenbrock"`.',
            "Explicit velocities are cheaper still and as accurate here at 1 ms, but stand at the edge of their",
            "stability",
            "there: the stick oscillation of the nominal vehicle has 1180 1/s.",
        ),
        "",
    ]


def _scheme_row(found: StudyFindings, name: str) -> list[str]:
    errors = found.errors[name]
    cells = [f"{errors[h]:.1e}" if math.isfinite(errors[h]) else "-" for h in runs.STEPS]
    times = [found.times.get(f"{name}, {count}") for count in (f"{LANES} lanes", "one lane")]
    cells += [f"{1e9 * t.best:,.0f}" if t is not None else "" for t in times]
    return [name, *cells]


def _bump(found: StudyFindings) -> list[str]:
    return [
        "## A bump",
        "",
        *paragraph(
            "4 cm high and 20 cm long, taken at 2 m/s under both wheels, controller at 4 ms; averaging time five",
            "steps. The",
            "step is 4 ms / 2^k, with k changed after each control period by whether a gap was open or pressed (the",
            "reference path, one run at a time).",
        ),
        "",
        *markdown_table(
            ("step", "steps", "x at the end, m", "largest gap, m", "deepest, mm"),
            [
                (name, f"{steps:,}", f"{x:.4f}", f"{high:.4f}", f"{-1e3 * low:.2g}")
                for name, (steps, x, high, low) in found.bumps.items()
            ],
        ),
    ]


def write(found: StudyFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its figures into a folder."""
    (folder / "balancing_vehicle_slippery.md").write_text(page(found, about), encoding="utf-8")
    pictures = folder / "balancing_vehicle"
    pictures.mkdir(exist_ok=True)
    for name, text in figures().items():
        (pictures / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.balancing_vehicle.studies", __doc__, measured, write, folder=pages.STUDIES)
