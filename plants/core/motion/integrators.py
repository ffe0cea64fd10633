"""Integrators with a fixed step, as plain functions on blocks: traced with the plant, they are part of its kernel.

Each takes ``f(stage_time, x) -> rates``, t [s], x and h [s], and returns the state at t + h. Random excitation is
held over the step, so within a step the equations are ordinary differential equations.

For stiff plants there is a linearly implicit one, a Rosenbrock method of order 3. A step solves a few linear systems
with one matrix, I / (gamma h) less the Jacobian of the rates, and iterates nothing: it is straight-line code like the
explicit methods and stands in the same lane loop. The Jacobian is exact, from the tape's derivatives of the rates that
the other methods evaluate, so whatever is integrated beside the state (entropy, supplied energy) gets the same weights.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import minimum, where
from plants.core.linear_solve import factorise
from plants.core.names import unknown
from plants.core.replay import substitute
from plants.core.tracing.tape import Tape, Traced
from plants.core.tracing.trace import differentiate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    State = tuple[Any, ...]
    Rates = Callable[[Any, State], State]
    Table = tuple[tuple[float, ...], ...]


GAMMA = 0.43586652150845900  # root of g^3 - 3 g^2 + 3 g / 2 = 1 / 6 for which the method is L-stable
ALPHA: Table = ((), (0.5,), (0.5, 0.5), (0.5, 0.5, 0.0))
COUPLING: Table = (
    (),
    (-0.5,),
    (-0.79156480420464204, 0.35244216792751432),
    (-0.49788969914518677, 0.38607515441580453, -0.32405197677907682),
)
"""ROS3PRL: stage i stands at x + sum alpha_ij k_j, and h J (sum gamma_ij k_j + gamma k_i) is added to its rates. The
last rows together are the weights (stiffly accurate).

Order 3 and L-stable. Where a fast mode follows a moving equilibrium (Prothero and Robinson's example) its local error
has no term in h^2 (B_PR-consistent of order 2): small, but at medium stiffness it falls slower than with h^3. All
stages lie within the step, and the last two share their point, so a step takes three evaluations of the rates.

Source: J. Rang, Improved traditional Rosenbrock-Wanner methods for stiff ODEs and DAEs, Journal of Computational and
Applied Mathematics 286 (2015), 128-144. A test checks the conditions of order and of stability.
"""


def _solved_for_moves() -> tuple[list[list[float]], list[list[float]]]:
    """Weights of the moves u = Gamma k in the stages' points, and in their right sides.

    In the u no stage multiplies by the Jacobian.

    Source: Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd ed., eq. (IV.7.25).
    """
    n = len(ALPHA)
    inverse = [[0.0] * n for _ in range(n)]
    for i, row in enumerate(COUPLING):
        inverse[i][i] = 1.0 / GAMMA
        for j in range(i):
            inverse[i][j] = -sum(row[k] * inverse[k][j] for k in range(j, i)) / GAMMA
    points = [[sum(row[k] * inverse[k][j] for k in range(j, i)) for j in range(i)] for i, row in enumerate(ALPHA)]
    return points, [[-value for value in row[:i]] for i, row in enumerate(inverse)]


NODES = [sum(row) for row in ALPHA]  # of the stages within the step
DRIFTS = [round(GAMMA + sum(row), 15) for row in COUPLING]  # shares of the rates' derivative by time; the last is 0
POINTS, CARRIED = _solved_for_moves()


def rosenbrock(f: Rates, t: Any, x: State, h: Any) -> State:
    """Rosenbrock's method ROS3PRL, order 3, L-stable: for stiff plants.

    Modes that settle need not be resolved by the step, those that grow or swing must be: a large step damps them as
    well. A real mode that grows faster than 1 / (GAMMA h) at the step's start makes the matrix's determinant negative:
    the new state is NaN then, which ends the rollout. So it is where the matrix cannot be solved.
    """
    per_step, diagonal = 1.0 / h, 1.0 / (GAMMA * h)
    slopes, by_time = slopes_of(f, t, x)
    matrix = [[(diagonal if i == j else 0.0) - a for j, a in enumerate(row)] for i, row in enumerate(slopes)]
    factors = factorise(matrix, [diagonal + magnitude(row[i]) for i, row in enumerate(slopes)])
    moves: list[State] = []
    for node, drift, weights, carried in zip(NODES, DRIFTS, POINTS, CARRIED, strict=True):
        rates = f(t + node * h, _added(x, weights, moves))
        right = _added(rates, [c * per_step for c in carried], moves)
        moves.append(factors.solve(_added(right, [drift * h], [by_time])))
    new = _added(x, [*POINTS[-1], 1.0], moves)
    sound = minimum(factors.margin, factors.sign)
    return tuple(where(sound, value, math.nan) for value in new)


def slopes_of(f: Rates, t: Any, x: State) -> tuple[list[State], State]:
    """Jacobian of ``f(t, x)`` [n][n] and its derivative by time [n], on the tape of x (or in plain numbers).

    What `f` takes from elsewhere (held inputs, the time at which the step began) counts as constant.
    """
    tape = next((value.tape for value in (t, *x) if isinstance(value, Traced)), None) or Tape()
    time, state = tape.input("stage time"), tuple(tape.input(f"stage state {k}") for k in range(len(x)))
    table = differentiate([tape.lift(rate) for rate in f(time, state)], [*state, time])
    places = {time.index: t} | {symbol.index: value for symbol, value in zip(state, x, strict=True)}
    rows = [tuple(substitute(tape, row, places)) for row in table]
    return [row[:-1] for row in rows], tuple(row[-1] for row in rows)


def _added(start: State, weights: Sequence[Any], moves: Sequence[State]) -> State:
    for weight, move in zip(weights, moves, strict=False):
        start = tuple(a + weight * b for a, b in zip(start, move, strict=True))
    return start


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
