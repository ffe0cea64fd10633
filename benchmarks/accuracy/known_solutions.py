"""Motions and stochastic processes whose solution or moments are known: what integrators are held against."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import expm

from plants import Plant, Quantity
from plants.core.elementary import cos
from plants.excitation import Sine
from plants.excitation.stochastic import milstein, stochastic_heun

if TYPE_CHECKING:
    from collections.abc import Callable

    Move = Callable[[Any, float, Any], Any]


Numbers = tuple[Any, ...]


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """x' = x cos t and y' = -y^2 + u, from 1: exp(sin t) and, for u = 0, 1 / (1 + t)."""
    return x[0] * cos(t), -x[1] * x[1] + u[0]


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """y^2, whose integral is t / (1 + t)."""
    return x[1] * x[1]


EXACT = Plant(
    name="known_solution",
    states=(Quantity("x", "1", 1.0), Quantity("y", "1", 1.0)),
    inputs=(Quantity("u", "1"),),
    derivative=derivative,
    entropy_rate=entropy_rate,
)


def exact_at(t: float) -> np.ndarray:
    """Return both states and the integral of the entropy rate at time `t`, for u = 0."""
    return np.array([np.exp(np.sin(t)), 1.0 / (1.0 + t), t / (1.0 + t)])


def motor_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of current [A] and speed [rad/s]."""
    current, speed = x
    inductance, resistance, constant, inertia, friction = p
    return (
        (u[0] - resistance * current - constant * speed) / inductance,
        (constant * current - friction * speed - w[0]) / inertia,
    )


MOTOR = Plant(
    name="stiff_motor",  # electrical mode 1e5 1/s, mechanical 1.1 1/s
    states=(Quantity("current", "A", 0.0, -1e3, 1e3), Quantity("speed", "rad/s", 0.0, -1e3, 1e3)),
    parameters=(Quantity("inductance", "H", 1e-5), Quantity("resistance", "ohm", 1.0), Quantity("constant", "V s", 0.1),
                Quantity("inertia", "kg m^2", 0.01), Quantity("friction", "N m s", 1e-3)),
    inputs=(Quantity("voltage", "V", 0.0, -20.0, 20.0),),
    disturbances=(Quantity("load", "N m"),),
    derivative=motor_derivative,
    energy=lambda t, x, u, w, p: 0.5 * (p[0] * x[0] * x[0] + p[3] * x[1] * x[1]),
    supplied_power=lambda t, x, u, w, p: u[0] * x[0] - w[0] * x[1],
    entropy_rate=lambda t, x, u, w, p: p[1] * x[0] * x[0] + p[4] * x[1] * x[1],
    text="DC motor with a short electrical time constant.",
)  # fmt: skip
VOLTAGE, LOAD = Sine(5.0, 0.3), Sine(0.1, 0.2)


def motor_at(t: float) -> np.ndarray:
    """State of the driven motor from its matrix exponential: two pairs of states swing as the sines do."""
    inductance, resistance, constant, inertia, friction = MOTOR.nominal()
    fast, slow = 2.0 * np.pi * VOLTAGE.frequency, 2.0 * np.pi * LOAD.frequency
    whole = np.zeros((6, 6))
    whole[0, :3] = -resistance / inductance, -constant / inductance, 1.0 / inductance
    whole[1, [0, 1, 4]] = constant / inertia, -friction / inertia, -1.0 / inertia
    whole[2, 3], whole[3, 2], whole[4, 5], whole[5, 4] = fast, -fast, slow, -slow
    return (expm(whole * t) @ [0.0, 0.0, 0.0, VOLTAGE.amplitude, 0.0, LOAD.amplitude])[:2]


FINEST, T_END = 256, 1.0
COUNTS = (16, 32, 64, 128)
MU, SIGMA = 0.5, 0.8
RATE, NOISE = 1.5, 0.7


def drift_for(scheme: Any) -> float:
    """Heun converges to the Stratonovich solution: that is given the drift mu - sigma^2 / 2 of the same process."""
    return MU - 0.5 * SIGMA**2 if scheme is stochastic_heun else MU


def geometric(scheme: Any, drift: float | None = None) -> Move:
    """Return one step (x, h, increment) of geometric Brownian motion; the drift is the scheme's own unless given."""
    rate = drift_for(scheme) if drift is None else drift

    def a(t, x):
        return (rate * x[0],)

    def b(t, x):
        return (SIGMA * x[0],)

    extra = (lambda t, x: (SIGMA,),) if scheme is milstein else ()
    return lambda x, h, w: scheme(a, b, *extra, 0.0, (x,), h, (w,))[0]


def ornstein(scheme: Any) -> Move:
    """Return one step (x, h, increment) of the Ornstein-Uhlenbeck process."""

    def a(t, x):
        return (-RATE * x[0],)

    def b(t, x):
        return (NOISE,)

    extra = (lambda t, x: (0.0,),) if scheme is milstein else ()
    return lambda x, h, w: scheme(a, b, *extra, 0.0, (x,), h, (w,))[0]


def increments(paths: int, seed: int = 11) -> np.ndarray:
    """Return increments [FINEST, paths] of Brownian paths up to T_END."""
    return np.random.default_rng(seed).normal(0.0, math.sqrt(T_END / FINEST), (FINEST, paths))


def ends(move: Move, finest: np.ndarray, count: int) -> np.ndarray:
    """Return the ends [paths] of `count` steps over the given finest increments: nested paths."""
    x = np.ones(finest.shape[1])
    for w in finest.reshape(count, FINEST // count, -1).sum(axis=1):
        x = move(x, T_END / count, w)
    return x


def geometric_strong_error(move: Move, count: int) -> float:
    """Root mean square error at the end of a linear scheme on geometric Brownian motion, in closed form.

    Scheme and solution are products of independent factors, one a step: so are their second moments.
    """
    w, weights = _increment(count)
    step = move(1.0, T_END / count, w)
    exact = np.exp((MU - 0.5 * SIGMA**2) * T_END / count + SIGMA * w)
    own, mixed, true = ((weights @ product) ** count for product in (step * step, step * exact, exact * exact))
    return float(np.sqrt(own - 2.0 * mixed + true))


def ornstein_ends(finest: np.ndarray, seed: int = 12) -> np.ndarray:
    """Return the ends of Ornstein-Uhlenbeck on the same paths: the trapezoidal rule on paths 16 times finer.

    Brownian bridges within the finest increments make them. Its error is 2000 times below the coarsest of `COUNTS`.
    """
    fine, paths = 16, finest.shape[1]
    h = T_END / FINEST / fine
    parts = np.random.default_rng(seed).normal(0.0, math.sqrt(h), (FINEST, fine, paths))
    parts += (finest - parts.sum(axis=1))[:, None, :] / fine
    x = np.ones(paths)
    for w in parts.reshape(-1, paths):
        x = ((1.0 - 0.5 * RATE * h) * x + NOISE * w) / (1.0 + 0.5 * RATE * h)
    return x


def moments(move: Move, count: int) -> np.ndarray:
    """Mean and second moment after `count` steps of a linear scheme, in closed form."""
    h, (w, weights) = T_END / count, _increment(count)
    zero = move(0.0, h, w)  # the step is (A(w) x + B(w)): one moment matrix a step
    one = move(1.0, h, w) - zero
    matrix = np.array(
        [[1.0, 0.0, 0.0], [weights @ zero, weights @ one, 0.0],
         [weights @ zero**2, 2.0 * weights @ (zero * one), weights @ one**2]]
    )  # fmt: skip
    return (np.linalg.matrix_power(matrix, count) @ np.ones(3))[1:]


def geometric_moments() -> np.ndarray:
    """Return mean and second moment of geometric Brownian motion at T_END."""
    return np.exp([MU * T_END, (2.0 * MU + SIGMA**2) * T_END])


def ornstein_moments() -> np.ndarray:
    """Return mean and second moment of Ornstein-Uhlenbeck at T_END."""
    mean = math.exp(-RATE * T_END)
    return np.array([mean, mean**2 + NOISE**2 / (2.0 * RATE) * (1.0 - mean**2)])


def _increment(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of an increment over one of `count` steps: Gauss and Hermite's quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    return math.sqrt(T_END / count) * nodes, weights / weights.sum()
