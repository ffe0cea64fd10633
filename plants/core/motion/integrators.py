"""Integrators with a fixed step, as plain functions on blocks: traced with the plant, they are part of its kernel.

Each takes ``f(stage_time, x) -> rates``, t [s], x and h [s], and returns the state at t + h. Random excitation is
held over the step, so within a step the equations are ordinary differential equations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.motion.rosenbrock import rosenbrock
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[Any, ...]
    Rates = Callable[[Any, State], State]


def _moved(x: State, h: Any, k: State) -> State:
    return tuple(a + h * b for a, b in zip(x, k, strict=True))


def euler(f: Rates, t: Any, x: State, h: Any) -> State:
    """Explicit Euler, order 1."""
    return _moved(x, h, f(t, x))


def heun(f: Rates, t: Any, x: State, h: Any) -> State:
    """Heun's method (explicit trapezoid), order 2."""
    k1 = f(t, x)
    k2 = f(t + h, _moved(x, h, k1))
    half = 0.5 * h
    return tuple(a + half * (b + c) for a, b, c in zip(x, k1, k2, strict=True))


def rk2(f: Rates, t: Any, x: State, h: Any) -> State:
    """Explicit midpoint, order 2."""
    half = 0.5 * h
    return _moved(x, h, f(t + half, _moved(x, half, f(t, x))))


def rk4(f: Rates, t: Any, x: State, h: Any) -> State:
    """Classical Runge-Kutta, order 4."""
    half, sixth = 0.5 * h, h / 6.0
    k1 = f(t, x)
    k2 = f(t + half, _moved(x, half, k1))
    k3 = f(t + half, _moved(x, half, k2))
    k4 = f(t + h, _moved(x, h, k3))
    return tuple(a + sixth * (b + 2.0 * (c + d) + e) for a, b, c, d, e in zip(x, k1, k2, k3, k4, strict=True))


INTEGRATORS: dict[str, Callable[..., Any]] = {
    "euler": euler, "heun": heun, "rk2": rk2, "rk4": rk4, "rosenbrock": rosenbrock,
}  # fmt: skip
USUAL = "rk4"
"""What stands where nobody chose."""
IMPLICIT = ("rosenbrock",)
STAGES = {
    "euler": ((0.0,), (1.0,), ()),
    "heun": ((0.0, 1.0), (0.5, 0.5), (1.0,)),
    "rk2": ((0.0, 0.5), (0.0, 1.0), (0.5,)),
    "rk4": ((0.0, 0.5, 0.5, 1.0), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0), (0.5, 0.5, 1.0)),
}
"""Nodes, weights and the step to each next stage: for integration stage by stage (iterated loops)."""
EVALUATIONS = {name: len(nodes) for name, (nodes, _, _) in STAGES.items()} | {"rosenbrock": 3}
"""Points of a step at which the rates are evaluated; the last two of rosenbrock's stages share theirs."""


def check_integrator(name: str) -> str:
    """Return a known integrator's name or raise with the near miss."""
    if name not in INTEGRATORS:
        raise ValueError(unknown("integrator", name, tuple(INTEGRATORS)))
    return name
