"""Figures of the vehicles' comparisons, written into docs/studies.

    python -m benchmarks.vehicles.figures suspension           # and the animation
    python -m benchmarks.vehicles.figures unicycle
    python -m benchmarks.vehicles.figures balancing_vehicle

Another word names a finished design, by default runs/suspension/together-0 or runs/unicycle/design-0, for the balancing
vehicle the folder of designs, by default runs/vehicle. The car's trade-offs are computed beside its design once.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import plants
import sscq
from benchmarks.runner.pages import STUDIES
from experiments.report.builders.motion import density
from experiments.report.drawing.svg import Chart, SvgLine, figure
from experiments.runtime.errors import UserError, user_errors
from experiments.studies.engine.contenders import RivalController, named_contenders
from experiments.studies.suspension import animation
from experiments.studies.suspension.families import Family, families
from experiments.studies.unicycle import comparison as unicycle_comparison
from experiments.studies.unicycle.contenders import robots as unicycles
from experiments.studies.unicycle.pushes import Condition
from experiments.studies.vehicle.comparison import VehicleStudy
from experiments.studies.vehicle.comparison import robots as vehicles
from plants.balancing_vehicle.tasks import NO_LOAD, standing
from plants.core import atomic_files
from plants.excitation import Step
from plants.ride import WK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.studies.engine.declaration import Declaration
    from plants.core.motion.trajectory import Trajectory

    Rides = Mapping[str, Trajectory]


def curves(
    rides: Rides, x: str, y: str, shown: Callable[[Trajectory], slice], factor: float = 1.0
) -> tuple[SvgLine, ...]:
    """Return a signal of each ride over another one, or over the "time", each ride in its colour."""
    found = []
    for number, (name, ride) in enumerate(rides.items()):
        part = shown(ride)
        over = ride.time[part] if x == "time" else ride[x][part]
        found.append(SvgLine(name, over, factor * ride[y][part], colour=number))
    return tuple(found)


def _until_fallen(fallen: np.ndarray, every: int, last: int | None = None) -> slice:
    """From the start to a fall, or to the last record shown; one of `every` records."""
    fell = np.flatnonzero(fallen)
    end = fell[0] if len(fell) else len(fallen) - 1
    return slice(0, int(end if last is None else min(end, last)) + 1, every)


# ----------------------------------------------------------------------------------------------------------------- car

CAR_SHOWN = ("rival_as_built", "rival_sky_hook", "rival_mixed", "fixed", "knowledge_base")
COMPARED = ("rival_as_built", "rival_sky_hook", "fixed", "knowledge_base")
_SHORT = {"knowledge_base": "knowledge base", "rival_mixed": "mixed", "rival_as_built": "passive, as built"}
_SPECTRUM_TIME, _SEGMENT, _TOP = 60.0, 8192, 30.0  # s, samples, Hz


def _title(known: Mapping[str, RivalController], name: str) -> str:
    return _SHORT.get(name, known[name].title)


def _situation(name: str) -> sscq.Situation:
    every = plants.get("suspension").situations
    return next(sscq.Situation(**one) for several in every.values() for one in several if one["name"] == name)


def trade_off(found: Mapping[str, Family]) -> str:
    """Comfort against road holding: the front of every family."""
    charts = []
    for kind in ("taught", "unforeseen"):
        curves = [
            SvgLine(one.title, one.tyre[kind][one.front(kind)], one.ride[kind][one.front(kind)], dots=True)
            for one in found.values()
        ]
        charts.append(
            Chart(f"{kind} situations", "tyre-load variation", "weighted acceleration, m/s²", tuple(curves),
                  width=560, height=440)
        )  # fmt: skip
    return figure(charts)


def histories(known: Mapping[str, RivalController], situation: sscq.Situation, first: float, last: float) -> str:
    """Heave acceleration, tyre load and damper setting front left, between two times [s]."""
    rides = {_title(known, name): known[name].record(situation) for name in COMPARED}
    step = known[COMPARED[0]].plant.step
    part = slice(round(first / step), round(last / step) + 1, 2)
    charts = []
    for signal, label, factor in (
        ("output heave_acceleration", "heave acceleration, m/s²", 1.0),
        ("output tyre_load_i", "front left tyre load, kN", 1e-3),
        ("c_i", "front left damper, kN s/m", 1e-3),
    ):
        lines = curves(rides, "time", signal, lambda _: part, factor)
        # Dampers as built have no setting.
        charts.append(Chart(label, "time, s", label, lines[signal == "c_i" :], width=940, height=260))
    return figure(charts, columns=1)


def spectra(known: Mapping[str, RivalController]) -> str:
    """Power spectral densities of the heave acceleration, as it is and as it is felt."""
    situation = replace(_situation("class C at 25 m/s"), t_end=_SPECTRUM_TIME)
    plain, felt = [], []
    for name in CAR_SHOWN:
        drive = known[name].record(situation)
        frequency, power = density(drive["output heave_acceleration"], known[name].plant.step, _SEGMENT)
        seen = (frequency >= 0.3) & (frequency <= _TOP)
        frequency, power = frequency[seen], power[seen]
        title = _title(known, name)
        plain.append(SvgLine(title, frequency, power))
        felt.append(SvgLine(title, frequency, power * np.abs(WK.response(frequency)) ** 2))
    label = "density, (m/s²)²/Hz"
    return figure([
        Chart("heave acceleration", "frequency, Hz", label, tuple(plain), log_x=True, log_y=True),
        Chart("weighted by Wk", "frequency, Hz", label, tuple(felt), log_x=True, log_y=True),
    ])  # fmt: skip


def car(run: Path) -> dict[str, str]:
    """Return the car's figures by file name, the animation too."""
    if not (run / "metrics.json").is_file():
        raise UserError(f"{run} is no finished design: give the folder of one, such as runs/suspension/together-0")
    known = named_contenders(run, CAR_SHOWN)
    animation.write(run, STUDIES / "suspension" / "animation.html")
    return {
        "bump": histories(known, _situation("bump"), 0.4, 1.6),
        "class_c": histories(known, _situation("class C at 25 m/s"), 4.0, 6.0),
        "spectra": spectra(known),
        "trade_off": trade_off(families(run)),
    }


# ------------------------------------------------------------------------------------------------------------ unicycle

UNICYCLE_SHOWN = ("fixed", "knowledge_base", "knowledge_base_free", "lqr", "lqr_scheduled")
_TRAVEL = {"knowledge_base": "knowledge base, equal travel", "knowledge_base_free": "knowledge base, free travel"}
_PUSHED, _SPEED, _LAST = 110.0, 1.0, 5.0  # N from ahead, m/s, s
_UNICYCLE_FALLEN = 1.0  # rad


def _ring(name: str, size: float) -> SvgLine:
    angles = np.linspace(0.0, 2.0 * math.pi, 73)
    return SvgLine(name, size * np.cos(angles), size * np.sin(angles), dashed=True, colour=7)


def _polar(title: str, sizes: Mapping[str, np.ndarray], titles: Mapping[str, str], declared: Declaration) -> Chart:
    """Regions [direction] seen from above: forward is up, left is left."""
    angles = np.append(unicycle_comparison.grid_of(declared).angles, 0.0)
    curves = [
        SvgLine(
            _TRAVEL.get(name, titles[name]), -np.append(r, r[0]) * np.sin(angles), np.append(r, r[0]) * np.cos(angles)
        )
        for name, r in sizes.items()
    ]
    grip = declared.own["region"]["grip"]
    rings = (_ring(f"{grip:g} N, the tyre's grip", grip),)
    return Chart(title, "to the right, N", "forward, N", (*curves, *rings), width=560, height=560)


def _upright(ride: Trajectory) -> slice:
    away = np.maximum(abs(ride["output pitch"]), abs(ride["output roll"]))
    return _until_fallen(away >= 0.99 * _UNICYCLE_FALLEN, 2, int(np.searchsorted(ride.time, _LAST)))


def angles(rides: Rides) -> str:
    """Pitch, roll, speed and both torques over time, up to a fall."""
    rows = (("output pitch", "pitch, rad"), ("output roll", "roll, rad"), ("output speed", "speed, m/s"),
            ("tau1", "pedal torque, N m"), ("tau3", "turntable torque, N m"))  # fmt: skip
    charts = [
        Chart(label, "time, s", label, curves(rides, "time", signal, _upright), width=940, height=240)
        for signal, label in rows
    ]
    return figure(charts, columns=1)


def phase(rides: Rides) -> str:
    """Phase portraits of pitch and roll, up to a fall."""
    charts = []
    for angle in ("pitch", "roll"):
        lines = curves(rides, f"output {angle}", f"output {angle}_rate", _upright)
        charts.append(Chart(angle, f"{angle}, rad", f"{angle} rate, rad/s", lines, width=560, height=460))
    return figure(charts)


def unicycle(run: Path) -> dict[str, str]:
    """Return the unicycle's figures by file name, of a design with its verdict."""
    declared = unicycle_comparison.UnicycleStudy().declaration()
    verdict, known = unicycle_comparison.judged(run, declared), unicycles(run)
    titles = {name: _TRAVEL.get(name, verdict.titles[name]) for name in UNICYCLE_SHOWN}
    several = unicycle_comparison.rides_of(declared)
    means = {name: verdict.sizes[name].mean(axis=0) for name in UNICYCLE_SHOWN}
    maps = [
        _polar(f"at {several[k].speed:.2f} m/s", {n: verdict.sizes[n][k] for n in UNICYCLE_SHOWN}, titles, declared)
        for k in (1, len(several) // 2, len(several) - 2)
    ]
    pushed = Condition(_SPEED, 0.0, 0.4).situation(_PUSHED, math.pi, unicycle_comparison.grid_of(declared))
    rides = {titles[name]: known[name].record(pushed) for name in UNICYCLE_SHOWN}
    return {
        "pushes": figure([_polar("mean of all rides", means, titles, declared)]),
        "map": figure(maps, columns=3), "angles": angles(rides), "phase": phase(rides),
    }  # fmt: skip


# --------------------------------------------------------------------------------------------------- balancing vehicle

VEHICLE_SHOWN = {
    "fixed PID, taught dry": ("dry-0", "fixed"), "fixed PID, taught slippery": ("slippery-0", "fixed"),
    "knowledge base, equal travel": ("slippery-0", "knowledge_base"),
    "knowledge base, free travel": ("slippery-0", "knowledge_base_free"),
}  # fmt: skip
_PATCH = {"patch": 0.04, "patch_x": 0.6, "patch_length": 4.0, "patch_y": 1.0, "patch_width": 2.0}
_VEHICLE_FALLEN = 1.3  # rad
_THIN = 8  # points drawn of those recorded, one of


def wet_patch() -> sscq.Situation:
    """Return a straight drive onto a wet patch that is under the left wheel alone, with a push in it.

    It was chosen for the figure, not drawn.
    """
    return sscq.Situation(
        name="wet patch", t_end=8.0, initial=standing(0.0),
        reference={"pitch": 0.0, "speed": 1.0, "yaw_rate": 0.0},
        parameters={"no_load_speed": NO_LOAD, "encoder": 1.0} | _PATCH,
        excitation={"push": Step(60.0, at=2.5) + Step(-60.0, at=2.7)},
    )  # fmt: skip


def wet_patch_figure(rides: Rides) -> str:
    """Return the path from above, and slip, pitch and speed over time."""

    def shown(ride: Trajectory) -> slice:
        return _until_fallen(abs(ride["output pitch"]) >= _VEHICLE_FALLEN, _THIN)

    signals = (
        ("path from above", "output axle_x", "output axle_y", "x, m", "y, m"),
        ("slip of the left wheel along the heading", "time", "output slip_t_L", "time, s", "slip, m/s"),
        ("pitch", "time", "output pitch", "time, s", "pitch, rad"),
        ("true speed", "time", "output true_speed", "time, s", "speed, m/s"),
    )
    return figure([
        Chart(title, x_label, y_label, curves(rides, x, y, shown), width=560, height=360)
        for title, x, y, x_label, y_label in signals
    ])  # fmt: skip


def balancing_vehicle(folder: Path) -> dict[str, str]:
    """Return the balancing vehicle's figure by its file name."""
    step = VehicleStudy().declaration().own["drawn"]["step"]
    known = {run: vehicles(folder / run, step) for run in dict.fromkeys(run for run, _ in VEHICLE_SHOWN.values())}
    rides = {title: known[run][name].record(wet_patch()) for title, (run, name) in VEHICLE_SHOWN.items()}
    return {"comparison": wet_patch_figure(rides)}


COMPARISONS = {
    "suspension": (car, "runs/suspension/together-0"),
    "unicycle": (unicycle, "runs/unicycle/design-0"),
    "balancing_vehicle": (balancing_vehicle, "runs/vehicle"),
}


def main(arguments: list[str] | None = None) -> None:
    """Write the figures of one comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vehicles.figures")
    parser.add_argument("vehicle", choices=COMPARISONS)
    parser.add_argument("run", nargs="?", type=Path, help="finished design, or folder of designs")
    chosen = parser.parse_args(arguments)
    draw, usual = COMPARISONS[chosen.vehicle]
    folder = STUDIES / chosen.vehicle
    folder.mkdir(parents=True, exist_ok=True)
    with user_errors():
        drawn = draw(chosen.run or Path(usual))
    for name, text in drawn.items():
        atomic_files.write(folder / f"{name}.svg", text)
    print(f"written: {', '.join(f'{name}.svg' for name in drawn)} in {folder}")


if __name__ == "__main__":
    main()
