"""Orders of convergence of every integrator on problems with known solutions, beside what it is designed for.

Deterministic: the last halving of the step. Stochastic: a line through four steps. Strong errors are root mean squares
of the end against the exact end on the same path, weak ones are of mean and second moment; linear schemes have them in
closed form, without sampling, but for the strong error with additive noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.accuracy import known_solutions as processes
from benchmarks.accuracy.known_solutions import EXACT, LOAD, MOTOR, VOLTAGE, exact_at, motor_at
from benchmarks.runner.report import FigureSection
from experiments.report.drawing import svg
from plants.core.motion.integrators import INTEGRATORS
from plants.excitation.stochastic import euler_maruyama, milstein, stochastic_heun

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runner.size import Size

WITHIN = 0.15  # for the next power of the step, which a measured order contains
DESIGNED = {"euler": 1.0, "heun": 2.0, "rk2": 2.0, "rk4": 4.0, "rosenbrock": 3.0}
SCHEMES = {"Euler-Maruyama": euler_maruyama, "Milstein": milstein, "stochastic Heun": stochastic_heun}
STRONG = {"Euler-Maruyama": (0.5, 1.0), "Milstein": (1.0, 1.0), "stochastic Heun": (1.0, 1.0)}
WEAK = {"Euler-Maruyama": (1.0, 1.0), "Milstein": (1.0, 1.0), "stochastic Heun": (1.0, 2.0)}
"""Designed orders with multiplicative and with additive noise."""
_T_END, _COUNTS = 2.0, np.array([16, 32, 64, 128])
_MOTOR_END, _MOTOR_COUNTS = 4.0, np.array([20, 40, 80, 160])
_PATHS, _BATCHES = 4000, 8
_HIDDEN, _DASHED = ("y' = -y²", "integral of y²"), ("stiff motor", "Ornstein-Uhlenbeck")  # in the drawing


@dataclass(frozen=True, eq=False)
class Order:
    """A measured order beside the designed one; errors over steps [s]."""

    name: str
    designed: float
    steps: np.ndarray
    errors: np.ndarray
    measured: float
    uncertainty: float = 0.0

    @property
    def remark(self) -> str:
        """Whether the measured order is the designed one."""
        verdict = "met" if abs(self.measured - self.designed) <= WITHIN else "MISSED"
        spread = f"; standard error {self.uncertainty:.2g}" if self.uncertainty else ""
        return f"designed for {self.designed:g} within {WITHIN:g}, {verdict}{spread}"


def orders(size: Size) -> FigureSection:  # noqa: ARG001  (it takes seconds)
    """Measure all orders; draw error over step."""
    section = FigureSection("orders", "Orders of convergence")
    groups = {"ordinary equations": deterministic(), "strong, stochastic": strong(), "weak, stochastic": weak()}
    for kind, found in groups.items():
        for order in found:
            section.figure(f"{kind}: {order.name}", order.measured, "", order.remark)
    section.figures["orders.svg"] = svg.figure([_chart(kind, found) for kind, found in groups.items()], 3)
    section.notes.append(
        "The integrators are run as the plain functions that are traced into the kernels; tests hold the kernels "
        "against the same solutions. Drawn: one quantity a problem; dashed: the stiff motor, additive noise."
    )
    return section


# ------------------------------------------------------------------------------------------------------- deterministic


def deterministic() -> list[Order]:
    """Return the orders in both states and in the integral; of the implicit integrator also on a stiff motor."""
    found = []
    for name, designed in DESIGNED.items():
        errors = [_end(name, _known, (1.0, 1.0, 0.0), _T_END / n, n) - exact_at(_T_END) for n in _COUNTS]
        for label, column in zip(("x' = x cos t", "y' = -y²", "integral of y²"), np.abs(errors).T, strict=True):
            found.append(_last_halving(f"{name}, {label}", designed, _T_END / _COUNTS, column))
    errors = [_end("rosenbrock", _motor, (0.0, 0.0), _MOTOR_END / n, n) - motor_at(_MOTOR_END) for n in _MOTOR_COUNTS]
    speed = np.abs(errors)[:, 1]  # the slow mode, which carries the error of both states
    stiff = _last_halving("rosenbrock, stiff motor", DESIGNED["rosenbrock"], _MOTOR_END / _MOTOR_COUNTS, speed)
    return [*found, stiff]


def _end(name: str, rates: Callable[..., Any], start: tuple[float, ...], h: float, count: int) -> np.ndarray:
    x = start
    for k in range(count):
        x = INTEGRATORS[name](rates, k * h, x, h)
    return np.array(x, float)


def _known(t: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
    arguments = (t, x[:2], (0.0,), (), ())
    return (*EXACT.derivative(*arguments), EXACT.entropy_rate(*arguments))


def _motor(t: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
    u, w = (part.value(t, part.settings(0.0), 0.0) for part in (VOLTAGE, LOAD))
    return MOTOR.derivative(t, x, (u,), (w,), MOTOR.nominal())


def _last_halving(name: str, designed: float, steps: np.ndarray, errors: np.ndarray) -> Order:
    return Order(name, designed, steps, errors, float(np.log2(errors[-2] / errors[-1])))


# ---------------------------------------------------------------------------------------------------------- stochastic


def strong() -> list[Order]:
    """Return the strong orders: of products in closed form, of sums over paths with standard errors from batches."""
    finest, found = processes.increments(_PATHS), []
    exact = processes.ornstein_ends(finest)
    for name, scheme in SCHEMES.items():
        multiplicative, additive = STRONG[name]
        move = processes.geometric(scheme)
        errors = np.array([processes.geometric_strong_error(move, n) for n in processes.COUNTS])
        found.append(_line(f"{name}, geometric Brownian", multiplicative, errors))
        ends = [processes.ends(processes.ornstein(scheme), finest, n) for n in processes.COUNTS]
        squares = ((np.array(ends) - exact) ** 2).reshape(len(ends), _BATCHES, -1).mean(axis=2)
        each = [_slope(np.sqrt(batch)) for batch in squares.T]
        error = float(np.std(each, ddof=1) / np.sqrt(_BATCHES))
        found.append(_line(f"{name}, Ornstein-Uhlenbeck", additive, np.sqrt(squares.mean(axis=1)), error))
    return found


def weak() -> list[Order]:
    """Return the weak orders in mean and second moment."""
    problems = {
        "geometric Brownian": (processes.geometric, processes.geometric_moments()),
        "Ornstein-Uhlenbeck": (processes.ornstein, processes.ornstein_moments()),
    }
    found = []
    for name, scheme in SCHEMES.items():
        for (label, (problem, exact)), designed in zip(problems.items(), WEAK[name], strict=True):
            errors = np.abs([processes.moments(problem(scheme), n) - exact for n in processes.COUNTS])
            for moment, column in zip(("mean", "second moment"), errors.T, strict=True):
                found.append(_line(f"{name}, {label}, {moment}", designed, column))
    return found


def _line(name: str, designed: float, errors: np.ndarray, uncertainty: float = 0.0) -> Order:
    steps = processes.T_END / np.array(processes.COUNTS)
    return Order(name, designed, steps, errors, _slope(errors), uncertainty)


def _slope(errors: np.ndarray) -> float:
    return float(-np.polyfit(np.log(processes.COUNTS), np.log(errors), 1)[0])


def _chart(kind: str, found: list[Order]) -> svg.Chart:
    """Errors over steps: a colour for each method, dashed where its second problem is; one quantity of several."""
    methods = list(dict.fromkeys(order.name.split(",")[0] for order in found))
    curves = []
    for order in found:
        method, problem, *quantity = order.name.split(", ")
        if problem not in _HIDDEN and quantity != ["mean"]:
            dashed, colour = problem in _DASHED, methods.index(method)
            curves.append(svg.SvgLine(f"{method}, {problem}", order.steps, order.errors, True, dashed, colour))
    return svg.Chart(kind, "step [s]", "error", tuple(curves), log_x=True, log_y=True, width=560.0, height=500.0)
