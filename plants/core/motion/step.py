"""One integration step of the plant as lane loops: integrator, loop mode, guard against divergence.

A step whose accelerations are iterated has loops of its own, stage by stage; all others are one lane loop.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from plants.core.accelerations import accelerations, layout
from plants.core.algebraic_loop.gain import loop_slopes, slopes_of
from plants.core.algebraic_loop.iteration import METHODS, TOLERANCE
from plants.core.algebraic_loop.loop_free import SHARES, LoopFree
from plants.core.blocks import as_tuple
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.kernel.kernel import ALIVE
from plants.core.kernel.lanes import Item, Iterate, Lane, LaneLoop
from plants.core.motion.integrators import EVALUATIONS, INTEGRATORS, STAGES, check_integrator
from plants.core.motion.modes import check_mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.kernel.kernel import KernelDesign
    from plants.core.kernel.lanes import WorkspaceRows
    from plants.core.plant import Plant


RATES = "rates"  # of all stages of a step, where it is taken apart
LARGE = 1e12  # a state beyond this counts as diverged where the plant names no region


class Motion:
    """How a plant moves in a kernel: its rows and its step.

    Parameters
    ----------
    plant : Plant
    integrator : str
        "euler", "heun", "rk2", "rk4" or "rosenbrock".
    algebraic_loop : str
        One of :data:`plants.core.motion.modes.MODES`.
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

    def add_rows(self, design: KernelDesign) -> None:
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
        if self.iterated is not None:
            return self.iterated.items()
        if self.integrator not in STAGES or self.plant.advance is not None or self.loop_free is not None:
            return [LaneLoop("advance", (self._advance,))]
        parts = tuple((partial(self._advance, only=k),) for k in range(self.stages + 1))
        return [LaneLoop("advance", (self._advance,), parts=parts, between=((RATES, self.stages * self.n_state),))]

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

    def _advance(self, lane: Lane, only: int | None = None) -> None:
        """One step; or of its parts only one, the rates of a stage or, behind the last stage, the new state."""
        t, h = lane.uniform("t"), lane.uniform("h")
        state = self.state(lane)
        if self.plant.advance is not None:
            self.accept(lane, state, self._own_step(lane, t, state, h))
            return
        derivative = self.plant.derivative if self.loop_free is None else self.loop_free.derivative(lane, h)
        rates = self.rates(lane, t, derivative)  # type: ignore[arg-type]
        found: list[tuple[Any, ...]] = []

        def stage(time: Any, at: tuple[Any, ...]) -> tuple[Any, ...]:
            k = len(found)
            mine = only is None or only == k
            found.append(rates(time, at) if mine else lane[RATES][k * self.n_state : (k + 1) * self.n_state])
            if mine and RATES in lane:
                for i, rate in enumerate(found[k]):
                    lane.put(RATES, k * self.n_state + i, rate)
            return found[k]

        new = INTEGRATORS[self.integrator](stage, t, state, h)
        if only is None or only == self.stages:
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


_HUGE = 1e300


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

    def add_rows(self, rows: WorkspaceRows) -> None:
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
        items: list[Item] = [LaneLoop("begin", (self._begin,))]
        for k, (node, weight) in enumerate(zip(nodes, weights, strict=True)):
            items.append(Iterate(LaneLoop(f"iterate{k}", (self._pass(node),)), "unsolved", self.method.limit))
            move = moves[k] if k < len(moves) else None
            items.append(LaneLoop(f"stage{k}", (self._judge, self._stage(node, weight, move))))
        items.append(LaneLoop("finish", (self._finish,)))
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
