"""Sections of the vehicle's page on its three studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import vehicle_runs as runs
from benchmarks.prose import paragraph

if TYPE_CHECKING:
    from benchmarks.vehicle_page import Found


def study_1() -> list[str]:
    """Study 1: rolling and slipping."""
    run, calm = runs.studies()["1b"], runs.studies()["1a"]
    share = np.abs(run["F_t_L"]) / run["f_n_L"]
    peak = int(share[run.time < 0.7].argmax())
    slides = int((np.abs(run["slip_t_L"]) > runs.STUDY["v_s"]).argmax())
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


def slip(found: Found) -> list[str]:
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
        "| A, N m | needed, share of static friction | largest slip, m/s |",
        "|---|---|---|",
        *(f"| {swing:g} | {need:.3f} | {slip:.2g} |" for swing, need, slip in found.slip),
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


def study_3(found: Found) -> list[str]:
    """Study 3: which speed is fed back."""
    rows = []
    for (scales, encoder), course in found.courses.items():
        where = "both" if scales[0] == scales[1] else "left"
        outcome = f"falls at {course.end:.2f} s" if course.fell else f"upright after {course.end:.0f} s"
        rows.append(
            f"| {where}, {scales[0]:g} | {'encoders' if encoder else 'true'} | {outcome} | {course.yaw:.2f} | "
            f"{course.heat:.0f} |"
        )
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
        "| friction scale | speed fed back | outcome | yaw there, rad | heat of friction, J |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
