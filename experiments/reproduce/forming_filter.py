"""The nonlinear oscillator as a forming filter: what it makes of white noise, with its algebraic loop and without.

Coefficients are the source's. Its noise is not printed: the variance here is one whose motion hardly reaches
|x| = 0.22 m, where the loop's gain a3 x^2 / a0 is 1 and the raw loop-free form diverges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.report.drawing.svg import Chart, SvgLine
from plants import DivergedError, Plant, Quantity
from plants.excitation import WhiteNoise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants import Trajectory

COEFFICIENTS = {"a0": 0.01, "a1": 0.5, "a2": 0.0, "a3": 0.2, "a4": 0.2}
_STIFFNESS = 1.0
NOISE = WhiteNoise(0.004, hold=0.1)
T_END, STEP, SEED = 30.0, 0.005, 3  # s, s
SOLVED, WITH, WITHOUT = "solved", "iterated", "loop_free"


def _acceleration(t: Any, x: Any, a: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:  # noqa: ARG001  (a block)
    """q'' from (a0 + a3 q^2) q'' + a1 q^2 q' + a2 q^3 + a3 q q'^2 + a4 q' + q = xi, with q'' on the right as well."""
    q, v = x
    a0, a1, a2, a3, a4 = COEFFICIENTS.values()
    rest = w[0] - (a1 * q * q + a4) * v - a2 * q * q * q - a3 * q * v * v - _STIFFNESS * q
    return ((rest - a3 * q * q * a[0]) / a0,)


FILTER = Plant(
    name="forming_filter",
    states=(Quantity("position", "m", 0.0, -10.0, 10.0), Quantity("velocity", "m/s", 0.0, -1e3, 1e3)),
    disturbances=(Quantity("noise", "N"),),
    acceleration=_acceleration,
    text="Nonlinear forming filter of US 2004/0039555: coloured, not Gaussian, from white noise.",
)


def run(mode: str, t_end: float = T_END, noise: WhiteNoise = NOISE) -> Trajectory:
    """Run the filter with one way to treat its loop.

    Raises
    ------
    DivergedError
        Where the motion is lost, as without the loop beyond a gain of 1.
    """
    return plants.simulate(FILTER, t_end, STEP, algebraic_loop=mode, disturbances={"noise": noise}, seed=SEED)


def runs(t_end: float = T_END) -> tuple[dict[str, Trajectory], dict[str, str]]:
    """Return the runs by way to treat the loop, and what is said of those that diverge."""
    found, failed = {}, {}
    for mode in (SOLVED, WITH, WITHOUT):
        try:
            found[mode] = run(mode, t_end)
        except DivergedError as error:
            failed[mode] = str(error)
    return found, failed


def acceleration(run: Trajectory) -> np.ndarray:
    """Acceleration at every step [n + 1], from the equation solved for it."""
    solved = FILTER.derivative(0.0, tuple(run.states.T), (), tuple(run.group("disturbances").T), ())  # type: ignore[misc]
    return np.asarray(solved[1])


SIGNALS = {"position": "m", "velocity": "m/s", "acceleration": "m/s²"}


def signal(run: Trajectory, name: str) -> np.ndarray:
    """Return one of :data:`SIGNALS` at every step [n + 1]."""
    return acceleration(run) if name == "acceleration" else np.asarray(run[name])


def over_time(shown: Mapping[str, Trajectory], name: str) -> Chart:
    """Draw a signal of each run, by what the run is called."""
    curves = (SvgLine(words, one.time, signal(one, name), dashed=k > 0) for k, (words, one) in enumerate(shown.items()))
    return Chart(f"Forming filter: {name}", "time, s", f"{name}, {SIGNALS[name]}", tuple(curves))


def portrait(words: str, run: Trajectory, colour: int = 0) -> Chart:
    """Draw velocity over position."""
    curve = SvgLine(words, run["position"], run["velocity"], colour=colour)
    return Chart(f"Phase portrait, {words}", "position, m", "velocity, m/s", (curve,))
