"""One integration step of the plant as lane loops: integrator, loop mode, guard against divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.integrators import IMPLICIT, INTEGRATORS, STAGES
from plants.core.kernel import ALIVE
from plants.core.lanes import Item, Iterate, Lane, Loop
from plants.core.linear_solve import solve_general
from plants.core.loops import MODES, accelerations, n_accelerations
from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.kernel import Design
    from plants.core.plant import Plant

LARGE = 1e12  # a state beyond this counts as diverged where the plant names no region
ITERATIONS = 50
TOLERANCE = 1e-10  # of the accelerations' agreement, relative to 1 + |a|
PROBE = 1e-6  # step of the difference quotient in the iteration's Jacobian, relative to 1 + |a|
FILTER_STEPS = 10.0  # time constant of the filtered loop-free form, in steps


class Motion:
    """How a plant moves in a kernel: its rows and its step.

    Parameters
    ----------
    plant : Plant
    integrator : str
        "euler", "heun", "rk2", "rk4" or "rosenbrock".
    algebraic_loop : str
        "solved", "iterated", "loop_free" or "loop_free_filtered".
    disturbances : callable
        ``(lane, t_stage, t_step) -> tuple`` of disturbance values.
    inputs : callable
        The same for the plant's inputs.
    extra : callable, optional
        ``(t, x, u, w, p) -> tuple`` of further rates to integrate beside the state (row group "integrals").
    """

    def __init__(
        self,
        plant: Plant,
        integrator: str,
        algebraic_loop: str,
        *,
        disturbances: Callable[..., tuple[Any, ...]],
        inputs: Callable[..., tuple[Any, ...]],
        extra: Callable[..., tuple[Any, ...]] | None = None,
        n_extra: int = 0,
    ) -> None:
        self.plant, self.integrator = plant, check_integrator(integrator)
        self.mode = check_mode(plant, algebraic_loop, integrator)
        self.disturbances, self.inputs = disturbances, inputs
        self.more, self.n_extra = extra, n_extra
        self.n_x = len(plant.states)

    def add_rows(self, design: Design) -> None:
        """Give the motion its rows."""
        rows = design.rows
        rows.add("x", self.n_x)
        if self.plant.parameters:
            rows.add("p", len(self.plant.parameters))
        if self.n_extra:
            rows.add("integrals", self.n_extra)
        rows.add(ALIVE)
        rows.add("steps")
        if self.mode.startswith("loop_free"):
            rows.add("velocity_before", n_accelerations(self.plant))
            rows.add("acceleration", n_accelerations(self.plant))
        if self.mode == "iterated":
            for name in ("stage", "sum", "rates"):
                rows.add(name, self.n_x + self.n_extra)
            rows.add("acceleration", n_accelerations(self.plant))
            rows.add("residual")

    def start(self, x: Sequence[float]) -> dict[str, tuple[float, ...]]:
        """Return initial rows beside the state: the velocity that the first difference is taken from.

        The acceleration rebuilt in the first step is then 0. From a velocity of 0 it would be v / h, an error that no
        smaller step mends.
        """
        if not self.mode.startswith("loop_free"):
            return {}
        return {"velocity_before": tuple(x[n_accelerations(self.plant) :])}

    def block(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:
        """Return (u, w, p) at stage time `t` of the step that began at `start`."""
        p = lane["p"] if self.plant.parameters else ()
        return self.inputs(lane, t, start), self.disturbances(lane, t, start), p

    def items(self) -> list[Item]:
        """Return the lane loops of one step."""
        if self.mode == "iterated":
            return self._staged()
        return [Loop("advance", (self._advance,))]

    def _rates(self, lane: Lane, start: Any, derivative: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        def rates(t: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            u, w, p = self.block(lane, t, start)
            x = state[: self.n_x]
            dx = as_tuple(derivative(t, x, u, w, p), self.n_x, self.plant.name)
            return dx + (tuple(self.more(t, x, u, w, p)) if self.more else ())

        return rates

    def _advance(self, lane: Lane) -> None:
        t, h = lane.uniform("t"), lane.uniform("h")
        x = lane["x"]
        state = x + (lane["integrals"] if self.n_extra else ())
        new = INTEGRATORS[self.integrator](self._rates(lane, t, self._derivative(lane, h)), t, state, h)
        self._accept(lane, state, new)

    def _derivative(self, lane: Lane, h: Any) -> Callable[..., Any]:
        """The solved derivative, or the loop-free one: accelerations rebuilt by differencing the velocities."""
        if not self.mode.startswith("loop_free"):
            return self.plant.derivative  # type: ignore[return-value]
        n = n_accelerations(self.plant)
        x, before, old = lane["x"], lane["velocity_before"], lane["acceleration"]
        rebuilt = tuple((v - v0) / h for v, v0 in zip(x[n:], before, strict=True))
        if self.mode == "loop_free_filtered":
            rebuilt = tuple(a0 + (a - a0) * (1.0 / FILTER_STEPS) for a, a0 in zip(rebuilt, old, strict=True))
        lane["velocity_before"], lane["acceleration"] = x[n:], rebuilt

        def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
            return tuple(x[n:]) + accelerations(self.plant, t, x, rebuilt, u, w, p)

        return derivative

    def _accept(self, lane: Lane, state: Sequence[Any], new: Sequence[Any]) -> None:
        """Keep the new state if it is inside the plant's region; else freeze the rollout where it was."""
        alive = lane.one(ALIVE)
        inside = alive * self.inside(new)
        kept = tuple(where(inside, a, b) for a, b in zip(new, state, strict=True))
        lane["x"] = kept[: self.n_x]
        if self.n_extra:
            lane["integrals"] = kept[self.n_x :]
        lane[ALIVE] = (inside,)
        lane["steps"] = (lane.one("steps") + inside,)

    def inside(self, x: Sequence[Any]) -> Any:
        """1 where every state is finite and within its bounds, else 0 (NaN fails every test)."""
        result: Any = 1.0
        for value, quantity in zip(x, self.plant.states, strict=False):
            low, high = max(quantity.low, -LARGE), min(quantity.high, LARGE)
            if low == -high:
                result = result * where(high - magnitude(value), 1.0, 0.0)
            else:
                result = result * where(high - value, where(value - low, 1.0, 0.0), 0.0)
        return result

    def _staged(self) -> list[Item]:
        """Stage by stage, with Newton's iteration for the accelerations outside the lane loop."""
        nodes, weights, moves = STAGES[self.integrator]
        items: list[Item] = [Loop("begin", (self._begin,))]
        for k, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
            loop = Loop(f"newton{k}", (self._newton(node),))
            items.append(Iterate(loop, "residual", ITERATIONS))
            move = moves[k] if k < len(moves) else None
            items.append(Loop(f"stage{k}", (self._stage(node, weight, move),)))
        items.append(Loop("finish", (self._finish,)))
        return items

    def _state(self, lane: Lane) -> tuple[Any, ...]:
        return lane["x"] + (lane["integrals"] if self.n_extra else ())

    def _begin(self, lane: Lane) -> None:
        lane["stage"] = self._state(lane)
        lane["sum"] = (0.0,) * (self.n_x + self.n_extra)
        lane["residual"] = (1.0,)

    def _newton(self, node: float) -> Callable[[Lane], None]:
        def body(lane: Lane) -> None:
            t, h = lane.uniform("t"), lane.uniform("h")
            time, a = t + node * h, lane["acceleration"]
            u, w, p = self.block(lane, time, t)
            x = lane["stage"][: self.n_x]
            new, worst = _newton_step(lambda b: accelerations(self.plant, time, x, b, u, w, p), a)
            lane["acceleration"] = tuple(where(worst, b, c) for b, c in zip(new, a, strict=True))
            lane["residual"] = (where(lane.one(ALIVE), worst, 0.0),)

        return body

    def _stage(self, node: float, weight: float, move: float | None) -> Callable[[Lane], None]:
        def body(lane: Lane) -> None:
            t, h = lane.uniform("t"), lane.uniform("h")
            state, a = lane["stage"], lane["acceleration"]
            n = len(a)
            rates = self._rates(lane, t, lambda _t, x, _u, _w, _p: tuple(x[n:]) + a)(t + node * h, state)
            lane["sum"] = tuple(s + weight * k for s, k in zip(lane["sum"], rates, strict=True))
            if move is not None:
                lane["stage"] = tuple(s + (move * h) * k for s, k in zip(self._state(lane), rates, strict=True))
            lane["residual"] = (1.0,)

        return body

    def _finish(self, lane: Lane) -> None:
        h, state = lane.uniform("h"), self._state(lane)
        self._accept(lane, state, [s + h * k for s, k in zip(state, lane["sum"], strict=True)])


def _newton_step(equations: Callable[..., tuple[Any, ...]], a: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """One Newton step for a = equations(a) with difference quotients; and the residual above the tolerance."""
    n = len(a)
    base = equations(a)
    columns = []
    for j in range(n):
        probe = PROBE * (1.0 + magnitude(a[j]))
        moved = equations(tuple(v + probe if k == j else v for k, v in enumerate(a)))
        columns.append([(m - b) / probe for m, b in zip(moved, base, strict=True)])
    matrix = [[(1.0 if i == j else 0.0) - columns[j][i] for j in range(n)] for i in range(n)]
    gaps = [b - v for b, v in zip(base, a, strict=True)]
    change = solve_general(matrix, gaps)
    worst: Any = 0.0
    for gap, value in zip(gaps, a, strict=True):
        worst = maximum(worst, magnitude(gap) - TOLERANCE * (1.0 + magnitude(value)))
    return tuple(v + d for v, d in zip(a, change, strict=True)), worst


def as_tuple(result: Any, size: int, plant: str) -> tuple[Any, ...]:
    """Return a block's result as a tuple of `size` numbers, or raise with what was expected."""
    values = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if len(values) != size:
        message = f"a block of plant {plant!r} must return {size} numbers, got {len(values)}; plants.check tells which"
        raise ValueError(message)
    return values


def check_integrator(name: str) -> str:
    """Return a known integrator's name or raise with the near miss."""
    if name not in INTEGRATORS:
        raise ValueError(unknown("integrator", name, tuple(INTEGRATORS)))
    return name


def check_mode(plant: Plant, mode: str, integrator: str = "rk4") -> str:
    """Return a known loop mode or raise; plants without a loop have only "solved", and so has "rosenbrock"."""
    known = (*MODES, "loop_free_filtered")
    if mode not in known:
        raise ValueError(unknown("algebraic_loop", mode, known))
    if mode != "solved" and not plant.has_loop:
        message = (
            f"plant {plant.name!r} has no algebraic loop, so algebraic_loop={mode!r} means nothing for it; "
            "use 'solved', or declare its accelerations with acceleration(t, x, a, u, w, p)"
        )
        raise ValueError(message)
    if mode != "solved" and integrator in IMPLICIT:
        message = (
            f"integrator {integrator!r} differentiates the solved equations, so it knows no algebraic_loop={mode!r}; "
            f"use algebraic_loop='solved', or one of the integrators {', '.join(STAGES)}"
        )
        raise ValueError(message)
    return mode
