"""Motions whose solution is known in closed form: what integrators are held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

from plants import Plant, Quantity
from plants.core.elementary import cos
from plants.excitation import Sine

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
