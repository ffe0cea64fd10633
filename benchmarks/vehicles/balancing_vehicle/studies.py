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
from benchmarks.runner.size import FULL
from benchmarks.vehicles.balancing_vehicle import runs
from benchmarks.vehicles.balancing_vehicle.runs import PASSES_TRIED, SCHEMES
from experiments.report.drawing.svg import Chart, SvgLine, figure
from experiments.reproduce.vehicles.balancing_vehicle import RADIUS, REFERENCE, studies
from experiments.runtime.tables import markdown_table
from experiments.runtime.timing import ratio
from plants import balancing_vehicle
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.runner.size import Size
    from experiments.runtime.timing import Timing


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


def page(found: StudyFindings, about: dict[str, Any]) -> str:
    """Return the page's text."""
    schemes = (*SCHEMES, *(f"own step, {k} passes" for k in PASSES_TRIED if k != 6))
    head = ["scheme", *(f"{1e3 * h:g} ms" for h in runs.STEPS), f"ns, {LANES} lanes", "ns, one lane"]
    slip = [(f"{swing:g}", f"{need:.3f}", f"{slip:.2g}") for swing, need, slip in found.slip]
    bumps = [
        (name, f"{steps:,}", f"{x:.4f}", f"{high:.4f}", f"{-1e3 * low:.2g}")
        for name, (steps, x, high, low) in found.bumps.items()
    ]
    return pages.filled(
        pages.TEMPLATES / "balancing_vehicle_slippery.md",
        about,
        {
            **_rolling_and_slipping(),
            **_after_the_drop(),
            "reference": 1e3 * REFERENCE,
            "lanes": LANES,
            "slip": markdown_table(("A, N m", "needed, share of static friction", "largest slip, m/s"), slip),
            "courses": _courses(found),
            "accuracy": markdown_table(head, [_scheme_row(found, name) for name in schemes]),
            "faster": ratio(found.times[f"{OWN}, one lane"], found.times[f"{OWN}, {LANES} lanes"])[1],
            "dear": ratio(found.times[f"rosenbrock, {LANES} lanes"], found.times[f"{OWN}, {LANES} lanes"])[1],
            "accurate": found.errors[OWN][1e-3] / found.errors["rosenbrock"][1e-3],
            "bumps": markdown_table(("step", "steps", "x at the end, m", "largest gap, m", "deepest, mm"), bumps),
        },
    )


def _rolling_and_slipping() -> dict[str, float]:
    """What is said of study 1."""
    calm, run, held = (studies()[name] for name in LABELS)
    share = np.abs(run["F_t_L"]) / run["f_n_L"]
    peak = int(share[run.time < 0.7].argmax())
    slides = int((np.abs(run["slip_t_L"]) > balancing_vehicle.STUDY["v_s"]).argmax())

    def missing(one: Any) -> float:
        return float(np.abs(one["axle_x"] - RADIUS * (one["theta"] + one["aL"])).max())

    return {
        "rolled": calm["axle_x"][-1],
        "missed": missing(calm),
        "peak": share[peak],
        "peak_at": run.time[peak],
        "slides_at": run.time[slides],
        "left": share[slides + round(0.1 / REFERENCE)],
        "parted": missing(run),
        "together": missing(held),
    }


def _after_the_drop() -> dict[str, Any]:
    """What is said of study 2: signals at the second 3, 4 or 5, ``psi[3]``."""
    run = studies()["2"]
    each = round(1.0 / REFERENCE)
    found = {name: dict(enumerate(map(float, run[name][::each]))) for name in ("psi", "axle_y", "aL", "aR")}
    return found | {
        "side_force": abs(run["F_s_R"][round(2.5 * each)]),
        "aside": dict(enumerate(np.abs(run["slip_s_R"][::each]))),
        "way": run["axle_x"][4 * each] / RADIUS,
    }


def _courses(found: StudyFindings) -> list[str]:
    rows = []
    for (scales, encoder), course in found.courses.items():
        where = "both" if scales[0] == scales[1] else "left"
        outcome = f"falls at {course.end:.2f} s" if course.fell else f"upright after {course.end:.0f} s"
        speed = "encoders" if encoder else "true"
        rows.append([f"{where}, {scales[0]:g}", speed, outcome, f"{course.yaw:.2f}", f"{course.heat:.0f}"])
    head = ("friction scale", "speed fed back", "outcome", "yaw there, rad", "heat of friction, J")
    return markdown_table(head, rows)


def _scheme_row(found: StudyFindings, name: str) -> list[str]:
    errors = found.errors[name]
    cells = [f"{errors[h]:.1e}" if math.isfinite(errors[h]) else "-" for h in runs.STEPS]
    times = [found.times.get(f"{name}, {count}") for count in (f"{LANES} lanes", "one lane")]
    cells += [f"{1e9 * t.best:,.0f}" if t is not None else "" for t in times]
    return [name, *cells]


def write(found: StudyFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its figures into a folder."""
    (folder / "balancing_vehicle_slippery.md").write_text(page(found, about), encoding="utf-8")
    pictures = folder / "balancing_vehicle"
    pictures.mkdir(exist_ok=True)
    for name, text in figures().items():
        (pictures / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.balancing_vehicle.studies", __doc__, measured, write, folder=pages.STUDIES)
