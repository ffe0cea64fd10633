"""The balancing vehicle: rolling, slip, friction, velocities, fall of friction, wheel forces, ideal rolling, contact.

The paper's own numbers and curves are not in the specification: what is compared are the specification's reference
numbers of the same phenomena, with the parameter set "study".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.report.drawing.svg import Chart, SvgLine
from experiments.reproduce.results import ClaimVerdict, Compared, Reproduction, judged
from experiments.reproduce.vehicles.balancing_vehicle import RADIUS, REFERENCE, studies
from plants.balancing_vehicle import BALANCING_VEHICLE_NO_SLIP, STUDY
from plants.contact.gaps import PENETRATION, RESTITUTION, RESTITUTION_FROM_ABOVE, averaged
from plants.excitation import Sine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from experiments.reproduce.registry import PublishedClaim
    from plants import Trajectory

_THIN = 25
_REFERENCES = "The numbers compared are the specification's: those of the paper are not in it."
_EXACT = 2e-6  # m, rad, N: errors of the Rosenbrock method at this step, and digits of the specification


def _at(run: Trajectory, name: str, time: float) -> float:
    return float(run[name][round(time / REFERENCE)])


def _rows(run: Trajectory, name: str, given: Mapping[float, float], what: str, near: float = _EXACT) -> list[Compared]:
    return [
        Compared(f"{what} at {time:g} s", value, _at(run, name, time), near * max(1.0, abs(value)))
        for time, value in given.items()
    ]


def _lines(run: Trajectory, **signals: Any) -> tuple[SvgLine, ...]:
    return tuple(
        SvgLine(label.replace("_", " "), run.time[::_THIN], (run[value] if isinstance(value, str) else value)[::_THIN])
        for label, value in signals.items()
    )


def _found(
    ours: str, compared: list[Compared], panels: Iterable[Chart], told: str = "", columns: int = 2
) -> Reproduction:
    verdict, reason, table = judged(compared, "numbers", "Numbers compared")
    return Reproduction(ours, verdict, f"{reason} {told}{_REFERENCES}", tuple(panels), columns, (table,))


def _missed(run: Trajectory) -> np.ndarray:
    """What the axle's way and that of the turning wheels differ by [m]."""
    return np.asarray(run["axle_x"] - RADIUS * (run["theta"] + run["aL"]))


def _ways(run: Trajectory) -> tuple[Chart, Chart]:
    turned = RADIUS * (run["theta"] + run["aL"])
    return (
        Chart("Displacement and turning", "time, s", "m", _lines(run, displacement="axle_x", turning=turned)),
        Chart("Displacement less turning", "time, s", "m", _lines(run, difference=_missed(run))),
    )


def _share(run: Trajectory) -> np.ndarray:
    return np.asarray(np.abs(run["F_t_L"]) / run["f_n_L"])


def vehicle_rolling(claim: PublishedClaim) -> Reproduction:
    """Run study 1a."""
    run, values = studies()["1a"], claim.values
    share = _share(run)
    peak = int(share[: round(0.1 / REFERENCE)].argmax())
    missed = float(np.abs(_missed(run)).max())
    compared = _rows(run, "axle_x", values["axle"], "axle, m")
    compared += [
        Compared("peak of friction over load", values["peak"], float(share[peak]), 5e-5),
        Compared("its time, s", values["peak_at"], float(run.time[peak]), REFERENCE),
        Compared("friction over load at 20 ms", values["then"], float(share[round(0.02 / REFERENCE)]), 5e-5),
        Compared("displacement misses turning by less than, m", 1.0, float(missed < values["within"]), 0.0),
    ]
    early = slice(0, round(0.02 / REFERENCE))
    left = SvgLine("left", 1e3 * run.time[early], share[early])
    chart = Chart("Friction over load, the first 20 ms", "time, ms", "F_t / f_n", (left,))
    return _found(f"{missed:.1e} m over {run['axle_x'][-1]:.2f} m", compared, (*_ways(run), chart), columns=3)


def vehicle_slip(claim: PublishedClaim) -> Reproduction:
    """Run study 1b."""
    run, values = studies()["1b"], claim.values
    apart = float(np.abs(_missed(run)).max())
    heat = run["heat_sliding"] + run["heat_bristle"] + run["heat_viscous"]
    lost = float(np.trapezoid(heat, run.time))
    compared = _rows(run, "axle_x", values["axle"], "axle, m")
    compared.append(Compared("displacement and turning part by, m", values["apart"], apart, 5e-3))
    compared.append(Compared("heat of friction in 4 s, J", values["heat"], lost, 5e-3))
    return _found(f"up to {apart:.3f} m; heat {lost:.4f} J", compared, _ways(run))


def vehicle_stick(claim: PublishedClaim) -> Reproduction:
    """Run study 1c beside the vehicle that rolls ideally."""
    run = studies()["1c"]
    ideal = _ideal(claim.values["torque"], 2.0, 5e-4)
    gap = abs(_at(run, "axle_x", 2.0) - float(ideal["x"][-1]))
    compared = [Compared("distance from ideal rolling at 2 s, m", claim.values["distance"], gap, 1e-7)]
    return _found(f"{gap:.2e} m at 2 s", compared, _ways(run))


def _ideal(swing: float, t_end: float, step: float) -> Trajectory:
    """Ideal rolling under swing * sin 2t on both wheels."""
    p = {q.name: STUDY[q.name] for q in BALANCING_VEHICLE_NO_SLIP.parameters}
    tau = 0.0 + Sine(swing, 1.0 / math.pi)
    return plants.simulate(BALANCING_VEHICLE_NO_SLIP, t_end, step, inputs={"tau_L": tau, "tau_R": tau}, parameters=p)


_SLIPS = 0.25  # m/s: an episode of slip


def vehicle_friction(claim: PublishedClaim) -> Reproduction:
    """Say when friction peaks and falls, and when slip begins and ends."""
    run, values = studies()["1b"], claim.values
    share, slip = _share(run), np.abs(run["slip_t_L"])
    peak = int(share[run.time < 0.7].argmax())
    slides = int((slip > STUDY["v_s"]).argmax())
    changes = np.flatnonzero(np.diff((slip > _SLIPS).astype(int)))
    times = [float(run.time[k + 1]) for k in changes]
    begins, ends = times[::2], times[1::2]
    compared = [
        Compared("static peak of friction over load", values["peak"], float(share[peak]), 5e-5),
        Compared("its time, s", values["peak_at"], float(run.time[peak]), 5e-4),
        Compared("slip passes the Stribeck velocity, s", values["slides_at"], float(run.time[slides]), 5e-4),
        Compared("friction over load 0.1 s later", values["left"], float(share[slides + round(0.1 / REFERENCE)]), 5e-4),
    ]
    for what, given, ours in (("begins", values["begins"], begins), ("ends", values["ends"], ends)):
        compared += [
            Compared(f"slip {what}, s", value, ours[k] if k < len(ours) else math.nan, 6e-3)
            for k, value in enumerate(given)
        ]
    signed = run["F_t_L"] / run["f_n_L"]
    charts = (
        Chart("Friction over load", "time, s", "F_t / f_n", _lines(run, left=signed)),
        Chart("Slip speed", "time, s", "m/s", _lines(run, left="slip_t_L")),
        Chart(
            "Friction over load against slip",
            "slip speed, m/s",
            "F_t / f_n",
            (SvgLine("left", -run["slip_t_L"][::5], signed[::5]),),
        ),
    )
    return _found(
        f"peak {share[peak]:.4f} at {run.time[peak]:.3f} s, {len(begins)} episodes of slip", compared, charts, columns=3
    )


def vehicle_velocities(claim: PublishedClaim) -> Reproduction:
    """Draw velocities of study 2 and of study 1b."""
    run, other = studies()["2"], studies()["1b"]
    compared = []
    for key, name, what, near in (("along", "slip_t_R", "lengthwise", 5e-3), ("aside", "slip_s_R", "sideways", 6e-4)):
        compared += [
            Compared(f"right wheel slips {what} at {t} s, m/s", v, abs(_at(run, name, float(t))), near)
            for t, v in claim.values[key].items()
        ]
    charts = (
        Chart(
            "Study 2: speed of the axle and of the wheels' rims",
            "time, s",
            "m/s",
            _lines(
                run,
                axle="true_speed",
                left_rim=RADIUS * (run["theta_rate"] + run["aL_rate"]),
                right_rim=RADIUS * (run["theta_rate"] + run["aR_rate"]),
            ),
        ),
        Chart(
            "Study 2: slip",
            "time, s",
            "m/s",
            _lines(
                run,
                left_lengthwise="slip_t_L",
                right_lengthwise="slip_t_R",
                left_aside="slip_s_L",
                right_aside="slip_s_R",
            ),
        ),
        Chart(
            "Study 1b: speed of the axle and of the rims",
            "time, s",
            "m/s",
            _lines(other, axle="true_speed", rim=RADIUS * (other["theta_rate"] + other["aL_rate"])),
        ),
        Chart("Study 2: pitch and yaw rate", "time, s", "rad/s", _lines(run, pitch="theta_rate", yaw="psi_rate")),
    )
    ours = ", ".join(f"{one.ours:.3f}" for one in compared)
    return _found(f"{ours} m/s", compared, charts)


def vehicle_drop(claim: PublishedClaim) -> Reproduction:
    """Run study 2."""
    run, values = studies()["2"], claim.values
    compared = _rows(run, "axle_y", values["y"], "y, m") + _rows(run, "psi", values["yaw"], "yaw, rad")
    compared += _rows(run, "aL", {4: values["left"]}, "left wheel, rad") + _rows(
        run, "aR", {4: values["right"]}, "right wheel, rad"
    )
    path = SvgLine("axle", run["axle_x"][::_THIN], run["axle_y"][::_THIN])
    charts = (
        Chart("Path of the axle", "x, m", "y, m", (path,)),
        Chart("Wheels and yaw", "time, s", "rad", _lines(run, left="aL", right="aR", yaw="psi")),
        Chart("Pitch", "time, s", "rad", _lines(run, pitch="theta")),
    )
    return _found(
        f"y {_at(run, 'axle_y', 3.0):.4f}, {_at(run, 'axle_y', 4.0):.4f} m, yaw {_at(run, 'psi', 5.0):.4f} rad at 5 s",
        compared,
        charts,
        columns=3,
    )


def vehicle_forces(claim: PublishedClaim) -> Reproduction:
    """Draw both wheels' forces in study 2."""
    run, values = studies()["2"], claim.values
    compared = _rows(run, "F_t_L", values["left"], "left, along, N", 5e-5)
    compared += _rows(run, "F_t_R", values["right"], "right, along, N", 5e-5)
    aside = abs(_at(run, "F_s_R", 2.5))
    compared.append(Compared("right, aside at 2.5 s, N", values["aside"], aside, 0.15))
    charts = (
        Chart("Along the heading", "time, s", "N", _lines(run, left="F_t_L", right="F_t_R")),
        Chart("To the left", "time, s", "N", _lines(run, left="F_s_L", right="F_s_R")),
        Chart("Normal", "time, s", "N", _lines(run, left="f_n_L", right="f_n_R")),
    )
    return _found(f"right wheel {aside:.2f} N aside at 2.5 s", compared, charts, columns=3)


def vehicle_ideal(claim: PublishedClaim) -> Reproduction:
    """Ask the vehicle that rolls ideally for the friction it needs."""
    ideal = _ideal(1.6, 4.0, 5e-4)
    need = np.abs(ideal["needed_friction"]) / ideal["load"]
    at = float(ideal.time[int((need >= claim.values["limit"]).argmax())])
    run = studies()["1b"]
    compared = [Compared("the demand reaches the static friction, s", claim.values["at"], at, 1e-3)]
    limit = SvgLine("static friction", (0.0, 4.0), (claim.values["limit"],) * 2, dashed=True)
    needed = SvgLine("needed by ideal rolling", ideal.time[::10], need[::10])
    charts = (
        Chart(
            "Friction over load",
            "time, s",
            "",
            (needed, *_lines(run, of_the_vehicle_with_slip=_share(run)), limit),
            width=560.0,
        ),
        Chart("Slip of the vehicle", "time, s", "m/s", _lines(run, slip="slip_t_L")),
    )
    return _found(f"{at:.4f} s", compared, charts)


def _drop(
    h: float, dt: float, start: float = 1e-9, mass: float = 2.0, speed: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Gap and speed of a free body against the ground, by semi-implicit steps under the mean of the gap."""
    gap, rate = start, -speed
    gaps, rates = [gap], [rate]
    for _ in range(int((4.0 * h + start / speed) / dt)):
        matrix, offset = averaged([[1.0 / mass]], [0.0], [gap], [rate], h)
        rate += dt * max(0.0, -offset[0] / matrix[0][0]) / mass
        gap += dt * rate
        gaps.append(gap)
        rates.append(rate)
    return np.array(gaps), np.array(rates)


def vehicle_contact(claim: PublishedClaim) -> Reproduction:
    """Drop a body on the law of the mean gap, from the ground itself and from above."""
    values, speed = claim.values, 0.5
    compared = [
        Compared("rebound over impact speed, gap 0", values["restitution"], RESTITUTION, 1e-6),
        Compared("rebound over impact speed, from above", values["from_above"], RESTITUTION_FROM_ABOVE, 5e-5),
        Compared("depth over h v", values["depth"], PENETRATION, 5e-5),
    ]
    for dt, value in values["drops"].items():
        compared.append(
            Compared(f"drop at h = 10 ms, dt = {1e3 * dt:g} ms", value, float(_drop(1e-2, dt)[1][-1]) / speed, 1e-4)
        )
    fine = {h: _drop(h, h / 2000.0)[1][-1] / speed for h in (1e-2, 1e-3)}
    compared += [
        Compared(f"drop at h = {1e3 * h:g} ms", values["restitution"], float(r), 5e-4) for h, r in fine.items()
    ]
    above = _drop(1e-2, 5e-6, start=0.01)
    compared.append(Compared("drop from 10 mm", values["from_above"], float(above[1][-1]) / speed, 5e-4))
    curves, speeds = [], []
    for name, (gaps, rates), dt in (
        ("from gap 0", _drop(1e-2, 5e-6), 5e-6),
        ("from 10 mm", above, 5e-6),
        ("from gap 0, dt 1 ms", _drop(1e-2, 1e-3), 1e-3),
    ):
        time = 1e3 * dt * np.arange(len(gaps))
        every = max(1, len(gaps) // 400)
        curves.append(SvgLine(name, time[::every], 1e3 * gaps[::every]))
        speeds.append(SvgLine(name, time[::every], rates[::every]))
    charts = (
        Chart("Drop with 0.5 m/s, averaging time 10 ms", "time, ms", "gap, mm", tuple(curves)),
        Chart("Speed", "time, ms", "m/s", tuple(speeds)),
    )
    return _found(f"{RESTITUTION:.6f} and {RESTITUTION_FROM_ABOVE:.4f}", compared, charts)


def vehicle_paper_curves(_: PublishedClaim) -> Reproduction:
    """Say what is missing, and draw the same kinds of curves of study 2."""
    run = studies()["2"]
    charts = (
        Chart(
            "Velocities", "time, s", "m/s", _lines(run, axle="true_speed", slip_left="slip_t_L", slip_right="slip_t_R")
        ),
        Chart(
            "Friction over load",
            "time, s",
            "F_t / f_n",
            _lines(run, left=run["F_t_L"] / run["f_n_L"], right=run["F_t_R"] / run["f_n_R"]),
        ),
    )
    return Reproduction(
        ours="the same kinds of curves with this project's parameter set",
        verdict=ClaimVerdict.NOT_REPRODUCIBLE,
        reason=(
            "What is missing: the paper's parameters of vehicle and friction, its torques, its curves' numbers. The "
            "phenomena that it names are claims of their own."
        ),
        panels=charts,
    )
