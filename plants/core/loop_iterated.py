"""Iterated: at every stage the accelerations are improved until each agrees with its own equation.

This is what block-diagram tools do with an algebraic loop, and what loop-free simulation is measured against. Three
methods, for a = f(a) with G = df/da:

- "iterated": Newton with difference quotients, n + 1 evaluations of the equations a pass;
- "iterated_exact": Newton with the tape's derivative, one evaluation and one G a pass;
- "gauss_seidel": every equation in turn is solved for its own acceleration, with the newest values of the others. It
  converges for every positive definite mass matrix, however the equations are scaled. (Jacobi's method, which uses the
  old values of the others, needs a spectral radius of G below 1.)

All start from the accelerations of the stage before. The last pass only confirms: it finds every equation met and
changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.integrators import STAGES
from plants.core.kernel import ALIVE
from plants.core.lanes import Item, Iterate, Lane, Loop
from plants.core.linear_solve import solve_general
from plants.core.loop_gain import loop_slopes, slopes_of
from plants.core.loops import accelerations
from plants.core.velocities import layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.lanes import Rows
    from plants.core.motion import Motion

    Numbers = tuple[Any, ...]
    Equations = Callable[[Numbers], Numbers]
    Slopes = Callable[[Numbers], list[list[Any]]]

TOLERANCE = 1e-10  # of an equation's residual |f(a) - a|, relative to 1 + |a|
_HUGE = 1e300
PROBE = 1e-6  # step of the difference quotient in the iteration's Jacobian, relative to 1 + |a|


def by_differences(equations: Equations, _: Slopes, a: Numbers) -> tuple[Numbers, Numbers]:
    """One step of Newton's method with difference quotients: new accelerations, and residuals of the old ones."""
    base, columns = equations(a), []
    for j in range(len(a)):
        probe = PROBE * (1.0 + magnitude(a[j]))
        moved = equations(tuple(v + probe if k == j else v for k, v in enumerate(a)))
        columns.append([(m - b) / probe for m, b in zip(moved, base, strict=True)])
    return _newton(base, list(zip(*columns, strict=True)), a)


def by_slopes(equations: Equations, slopes: Slopes, a: Numbers) -> tuple[Numbers, Numbers]:
    """One step of Newton's method with exact derivatives: new accelerations, and residuals of the old ones."""
    return _newton(equations(a), slopes(a), a)


def _newton(base: Numbers, gain: Any, a: Numbers) -> tuple[Numbers, Numbers]:
    n = len(a)
    matrix = [[(1.0 if i == j else 0.0) - gain[i][j] for j in range(n)] for i in range(n)]
    residuals = tuple(b - v for b, v in zip(base, a, strict=True))
    change = solve_general(matrix, residuals)
    return tuple(v + d for v, d in zip(a, change, strict=True)), residuals


def sweep(equations: Equations, slopes: Slopes, a: Numbers) -> tuple[Numbers, Numbers]:
    """One Gauss-Seidel sweep: new accelerations, and each equation's residual when its turn came.

    Source: Golub and Van Loan, Matrix Computations, 4th ed., sec. 11.2 (theorem 11.2.3: convergence for symmetric
    positive definite matrices). Equations that are not affine get one Newton step each.
    """
    new, residuals = list(a), []
    for i in range(len(a)):
        residuals.append(equations(tuple(new))[i] - new[i])
        new[i] = new[i] + residuals[i] / (1.0 - slopes(tuple(new))[i][i])
    return tuple(new), tuple(residuals)


@dataclass(frozen=True)
class Method:
    """A way to iterate: one pass, how many are allowed, and evaluations of the equations in one (of n)."""

    advance: Callable[[Equations, Slopes, Numbers], tuple[Numbers, Numbers]]
    limit: int
    evaluations: Callable[[int], int]


METHODS = {
    "iterated": Method(by_differences, 50, lambda n: n + 1),
    "iterated_exact": Method(by_slopes, 50, lambda _: 1),
    "gauss_seidel": Method(sweep, 500, lambda _: 1),
}


class Iterated:
    """Rows and lane loops of an iterating motion; the iteration loops outside the lane loop (kernel rule 9).

    A rollout whose iteration does not converge stops where it was, as one that diverges; row "lost" tells.

    Parameters
    ----------
    motion : Motion
    """

    def __init__(self, motion: Motion) -> None:
        self.motion, self.plant, self.places = motion, motion.plant, layout(motion.plant)
        self.n = self.places.n
        self.method = METHODS[motion.mode]
        self._slopes = loop_slopes(motion.plant)

    def add_rows(self, rows: Rows) -> None:
        """Rows of the stages and of the iteration; what only the report reads is dropped from kernels without one."""
        for name in ("stage", "sum"):
            rows.add(name, self.motion.n_state)
        rows.add("acceleration", self.n)
        rows.add("residual", self.n)
        for name in ("unsolved", "lost", "passes", "most_passes", "all_passes", "largest_residual"):
            rows.add(name)

    def items(self) -> list[Item]:
        """Return the loops of one step, stage by stage."""
        nodes, weights, moves = STAGES[self.motion.integrator]
        items: list[Item] = [Loop("begin", (self._begin,))]
        for k, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
            items.append(Iterate(Loop(f"iterate{k}", (self._pass(node),)), "unsolved", self.method.limit))
            move = moves[k] if k < len(moves) else None
            items.append(Loop(f"stage{k}", (self._judge, self._stage(node, weight, move))))
        items.append(Loop("finish", (self._finish,)))
        return items

    def _begin(self, lane: Lane) -> None:
        lane["stage"] = self.motion.state(lane)
        lane["sum"] = (0.0,) * self.motion.n_state
        lane["unsolved"] = (1.0,)

    def _pass(self, node: float) -> Callable[[Lane], None]:
        """One pass of the method; it changes the lanes that are not solved yet."""

        def body(lane: Lane) -> None:
            t, h = lane.uniform("t"), lane.uniform("h")
            time, a = t + node * h, lane["acceleration"]
            u, w, p = self.motion.block(lane, time, t)
            x = lane["stage"][: self.motion.n_x]
            new, residuals = self.method.advance(
                lambda b: accelerations(self.plant, time, x, b, u, w, p),
                lambda b: slopes_of(self._slopes, time, x, b, u, w, p),
                a,
            )
            met: Any = 1.0
            for residual, value in zip(residuals, a, strict=True):
                slack = TOLERANCE * (1.0 + magnitude(value)) - magnitude(residual)
                met = where(slack, met, 0.0)  # 0 for NaN
            turn = where(lane.one("unsolved"), lane.one(ALIVE), 0.0)
            lane["passes"] = (lane.one("passes") + turn,)
            relative = [magnitude(r) / (1.0 + magnitude(v)) for r, v in zip(residuals, a, strict=True)]
            told = where(_HUGE - sum(relative, 0.0), turn, 0.0)  # the last finite ones name the equation that fails
            lane["residual"] = tuple(where(told, r, old) for r, old in zip(relative, lane["residual"], strict=True))
            lane["acceleration"] = tuple(where(met, c, b) for b, c in zip(new, a, strict=True))
            lane["unsolved"] = (where(met, 0.0, lane.one(ALIVE)),)

        return body

    def _judge(self, lane: Lane) -> None:
        """The iteration of a stage is over: count it, and stop the lanes whose accelerations it did not find."""
        alive, passes = lane.one(ALIVE), lane.one("passes")
        lane["all_passes"] = (lane.one("all_passes") + passes,)
        lane["most_passes"] = (maximum(passes, lane.one("most_passes")),)
        lane["passes"] = (0.0,)
        unsolved = lane.one("unsolved")
        solved = where(unsolved, 0.0, alive)
        largest = lane.one("largest_residual")
        for residual in lane["residual"]:
            largest = where(solved, maximum(residual, largest), largest)
        lane["largest_residual"] = (largest,)
        lane["lost"] = (maximum(unsolved, lane.one("lost")),)
        lane[ALIVE] = (solved,)
        lane["unsolved"] = (1.0,)

    def _stage(self, node: float, weight: float, move: float | None) -> Callable[[Lane], None]:
        def body(lane: Lane) -> None:
            t, h = lane.uniform("t"), lane.uniform("h")
            state, a = lane["stage"], lane["acceleration"]
            rates = self.motion.rates(lane, t, partial(self.places.rates, a))(t + node * h, state)
            lane["sum"] = tuple(s + weight * k for s, k in zip(lane["sum"], rates, strict=True))
            if move is not None:
                origin = self.motion.state(lane)
                lane["stage"] = tuple(s + (move * h) * k for s, k in zip(origin, rates, strict=True))

        return body

    def _finish(self, lane: Lane) -> None:
        h, state = lane.uniform("h"), self.motion.state(lane)
        self.motion.accept(lane, state, [s + h * k for s, k in zip(state, lane["sum"], strict=True)])
