"""One integration step of the plant as lane loops: integrator, loop mode, guard against divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import where
from plants.core.integrators import EVALUATIONS, INTEGRATORS
from plants.core.kernel import ALIVE
from plants.core.lanes import Item, Lane, Loop
from plants.core.loop_free import SHARES, LoopFree
from plants.core.loop_iterated import METHODS, Iterated
from plants.core.loops import check_mode
from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.kernel import Design
    from plants.core.plant import Plant

LARGE = 1e12  # a state beyond this counts as diverged where the plant names no region


class Motion:
    """How a plant moves in a kernel: its rows and its step.

    Parameters
    ----------
    plant : Plant
    integrator : str
        "euler", "heun", "rk2", "rk4" or "rosenbrock".
    algebraic_loop : str
        One of :data:`plants.core.loops.MODES`.
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
        self.n_state = self.n_x + n_extra
        self.loop_free = LoopFree(plant, self.mode) if self.mode in SHARES else None
        self.iterated = Iterated(self) if self.mode in METHODS else None

    @property
    def stages(self) -> int:
        """Points of a step at which the rates are evaluated."""
        return 1 if self.plant.advance is not None else EVALUATIONS[self.integrator]

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
        for form in (self.loop_free, self.iterated):
            if form is not None:
                form.add_rows(rows)

    def start(self, x: Sequence[float]) -> dict[str, tuple[float, ...]]:
        """Return initial rows beside the state."""
        return {} if self.loop_free is None else self.loop_free.start(x)

    def block(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:
        """Return (u, w, p) at stage time `t` of the step that began at `start`."""
        p = lane["p"] if self.plant.parameters else ()
        return self.inputs(lane, t, start), self.disturbances(lane, t, start), p

    def items(self) -> list[Item]:
        """Return the lane loops of one step."""
        return [Loop("advance", (self._advance,))] if self.iterated is None else self.iterated.items()

    def rates(self, lane: Lane, start: Any, derivative: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
        """Return ``(t, state) -> rates`` of state and further integrals, in the step that began at `start`."""

        def rates(t: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            u, w, p = self.block(lane, t, start)
            x = state[: self.n_x]
            dx = as_tuple(derivative(t, x, u, w, p), self.n_x, self.plant.name)
            return dx + (tuple(self.more(t, x, u, w, p)) if self.more else ())

        return rates

    def state(self, lane: Lane) -> tuple[Any, ...]:
        """Return all that is integrated."""
        return lane["x"] + (lane["integrals"] if self.n_extra else ())

    def _advance(self, lane: Lane) -> None:
        t, h = lane.uniform("t"), lane.uniform("h")
        state = self.state(lane)
        if self.plant.advance is not None:
            self.accept(lane, state, self._own_step(lane, t, state, h))
            return
        derivative = self.plant.derivative if self.loop_free is None else self.loop_free.derivative(lane, h)
        new = INTEGRATORS[self.integrator](self.rates(lane, t, derivative), t, state, h)  # type: ignore[arg-type]
        self.accept(lane, state, new)

    def _own_step(self, lane: Lane, t: Any, state: tuple[Any, ...], h: Any) -> tuple[Any, ...]:
        """The plant's own step map; integrals are left sums."""
        x, sums = state[: self.n_x], state[self.n_x :]
        u, w, p = self.block(lane, t, t)
        new = as_tuple(self.plant.advance(t, x, u, w, p, h), self.n_x, self.plant.name)  # type: ignore[misc]
        rates = tuple(self.more(t, x, u, w, p)) if self.more else ()
        return new + tuple(a + h * b for a, b in zip(sums, rates, strict=True))

    def accept(self, lane: Lane, state: Sequence[Any], new: Sequence[Any]) -> None:
        """Keep the new state if it is inside the plant's region; else freeze the rollout where it was."""
        alive = lane.one(ALIVE)
        if self.plant.after_step is None:
            inside = where(alive * self.inside(new), 1.0, 0.0)
        else:
            moved, new = new, self._after_step(lane, new)
            alive = where(finite(moved[: self.n_x]), alive, 0.0)  # or a limit in the block makes a state of NaN
            inside = where(alive * self.inside(new), 1.0, 0.0)
            if self.loop_free is not None:
                self.loop_free.jump(lane, moved, new, inside)
        kept = tuple(where(inside, a, b) for a, b in zip(new, state, strict=True))
        lane["x"] = kept[: self.n_x]
        if self.n_extra:
            lane["integrals"] = kept[self.n_x :]
        lane[ALIVE] = (inside,)
        lane["steps"] = (lane.one("steps") + inside,)

    def _after_step(self, lane: Lane, state: Sequence[Any]) -> tuple[Any, ...]:
        """What the plant makes of the state at the end of a step; integrals go on as they are."""
        start, h = lane.uniform("t"), lane.uniform("h")
        end, x = start + h, tuple(state[: self.n_x])
        result = self.plant.after_step(end, x, *self.block(lane, end, start), h)  # type: ignore[misc]
        return as_tuple(result, self.n_x, self.plant.name) + tuple(state[self.n_x :])

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


def finite(values: Sequence[Any]) -> Any:
    """1 where all values are finite, else 0."""
    result: Any = 1.0
    for value in values:
        result = where(LARGE - magnitude(value), result, 0.0)
    return result


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
