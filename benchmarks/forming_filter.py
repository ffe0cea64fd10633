"""The nonlinear oscillator as a forming filter: what it makes of white noise, with the algebraic loop and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks import svg
from plants import DivergedError, Plant, Quantity
from plants.excitation import WhiteNoise

if TYPE_CHECKING:
    from benchmarks.report import Section
    from benchmarks.size import Size
    from plants import Trajectory

EXACT, WITH, WITHOUT = "solved", "iterated", "loop_free"
# The source's coefficients. The loop gain is a3 q^2 / a0: above 1 for |q| > 0.22 m, which this noise hardly reaches.
_A0, _A1, _A2, _A3, _A4, _STIFFNESS = 0.01, 0.5, 0.0, 0.2, 0.2, 1.0
_NOISE = WhiteNoise(0.004, hold=0.1)
_T_END, _STEP = 30.0, 0.005  # s


def _acceleration(t: Any, x: Any, a: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:  # noqa: ARG001  (a block)
    """q'' from (a0 + a3 q^2) q'' + a1 q^2 q' + a2 q^3 + a3 q q'^2 + a4 q' + q = xi, with q'' on the right as well."""
    q, v = x
    rest = w[0] - (_A1 * q * q + _A4) * v - _A2 * q * q * q - _A3 * q * v * v - _STIFFNESS * q
    return ((rest - _A3 * q * q * a[0]) / _A0,)


FILTER = Plant(
    name="forming_filter",
    states=(Quantity("position", "m", 0.0, -10.0, 10.0), Quantity("velocity", "m/s", 0.0, -1e3, 1e3)),
    disturbances=(Quantity("noise", "N"),),
    acceleration=_acceleration,
    text="Nonlinear forming filter of US 2004/0039555: coloured, not Gaussian, from white noise.",
)


def add_to(section: Section, size: Size) -> None:
    """Add the figures of the filter, and how far each way to treat its loop is from the solved one."""
    t_end = min(_T_END, size.steps * _STEP * 6.0)
    runs: dict[str, Trajectory] = {}
    for mode in (EXACT, WITH, WITHOUT):
        try:
            runs[mode] = plants.simulate(
                FILTER, t_end, _STEP, algebraic_loop=mode, disturbances={"noise": _NOISE}, seed=3
            )
        except DivergedError as error:
            section.notes.append(f"Forming filter, {mode}: {error}")
    for mode, run in runs.items():
        gap = float(np.abs(run.states - runs[EXACT].states).max())
        section.figure(f"forming filter, {mode}: largest distance from solved", gap, "m, m/s")
    shown = {words: runs[mode] for words, mode in (("with the loop", WITH), ("without", WITHOUT)) if mode in runs}
    section.figures["forming_filter.svg"] = svg.figure(_panels(shown))


def acceleration(run: Trajectory) -> np.ndarray:
    """Acceleration at every step [n + 1], from the equation solved for it."""
    solved = FILTER.derivative(0.0, tuple(run.states.T), (), tuple(run.group("disturbances").T), ())
    return np.asarray(solved[1])


def _panels(runs: dict[str, Trajectory]) -> list[svg.Chart]:
    signals = {
        "position [m]": lambda run: run["position"],
        "velocity [m/s]": lambda run: run["velocity"],
        "acceleration [m/s²]": acceleration,
    }
    over_time = [
        svg.Chart(
            f"Forming filter: {label.split()[0]}", "t [s]", label,
            tuple(svg.Curve(w, r.time, pick(r), dashed=k > 0) for k, (w, r) in enumerate(runs.items())),
        )
        for label, pick in signals.items()
    ]  # fmt: skip
    portraits = [
        svg.Chart(
            f"Phase portrait, {words}", "position [m]", "velocity [m/s]",
            (svg.Curve(words, run["position"], run["velocity"], colour=k),),
        )
        for k, (words, run) in enumerate(runs.items())
    ]  # fmt: skip
    return [*over_time, *portraits, *_difference(runs)]


def _difference(runs: dict[str, Trajectory]) -> list[svg.Chart]:
    """What leaving out the loop changes; nothing where one of the two diverged."""
    if len(runs) < 2:
        return []
    one, other = runs.values()
    curve = svg.Curve("position, with less without", one.time, one["position"] - other["position"], colour=2)
    return [svg.Chart("Difference", "t [s]", "position [m]", (curve,))]
