"""A plant as a sampled machine: so that a loop also runs where no compiler is, as in a page.

Three parts, in this order: allocate (commands to plant inputs, where the controller cannot), look (measurements) and
move (one integration step, by the simulator's integrators, with its test of the region). Parameters and states are
slots that may be changed between steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flcs.export.machine import Machine, MachineSignal, part
from plants.core.blocks import allocate_inputs, as_tuple
from plants.core.elementary import where
from plants.core.motion.integrators import INTEGRATORS
from plants.core.motion.step import Motion, finite
from plants.core.names import identifier

if TYPE_CHECKING:
    from flcs.export.machine import Slots
    from plants import Plant, Quantity

_ROUNDING = 1e-9  # of a step: a dead time that is a whole number of steps must not be rounded up to one more


def plant_machine(
    plant: Plant, step: float | None = None, integrator: str = "rk4", *, commands: bool = False,
    dead_time: bool = True, name: str = "",
) -> Machine:  # fmt: skip
    """Return a plant that moves by one integration step in each sample.

    Parameters
    ----------
    plant : Plant
    step : float, optional
        Integration step [s]; left out, the plant's own.
    integrator : str
        As for `plants.simulate`; algebraic loops are solved.
    commands : bool
        Take commands of the channels and allocate them here, instead of plant inputs: where the allocation needs the
        plant's state.
    dead_time : bool
        Hold the inputs back by the plant's dead time, fixed at its nominal value; False: whoever drives it does that.
    name : str
        Of the machine; left out, the plant's.

    Returns
    -------
    Machine
        Inputs: ``u_`` before each plant input (``command_`` before each channel's output), ``w_`` before each
        disturbance; all are held over a step. Outputs: the measurements as they are at the step's start, and ``inside``
        (1; 0 once the state has left the region where the model holds: then it stays where it was). States: ``x_``,
        parameters: ``p_``.

    Raises
    ------
    ValueError
        For an unknown integrator, or a step that is not positive.
    """
    h = plant.step if step is None else step
    if not 0.0 < h < float("inf"):
        raise ValueError(f"the integration step must be above 0 s, got {step}")
    return _Moving(plant, h, integrator, commands=commands, dead_time=dead_time).machine(name or plant.name)


class _Moving:
    def __init__(self, plant: Plant, h: float, integrator: str, *, commands: bool, dead_time: bool) -> None:
        self.plant, self.h, self.integrator, self.commands = plant, h, integrator, commands
        self.motion = Motion(
            plant, integrator, "solved", inputs=lambda *_: (), disturbances=lambda *_: ()
        )  # for its test of the region and of the integrator's name
        self.sent = [_slot("u", q) for q in plant.inputs]
        self.whole, self.share = self._dead_time() if dead_time else (0, 0.0)
        self.memory = self._memory()

    def _dead_time(self) -> tuple[int, float]:
        """Dead time in whole steps, and the rest as a share of one."""
        if self.plant.input_delay is None:
            return 0, 0.0
        time = self.plant.nominal()[self.plant.index("parameters", self.plant.input_delay)]
        whole = int(time / self.h + _ROUNDING)
        return whole, max(0.0, time / self.h - whole) if time / self.h - whole > _ROUNDING else 0.0

    def _memory(self) -> dict[str, float]:
        plant, rest = self.plant, {_slot("u", q): q.nominal for q in self.plant.inputs}
        memory = {f"command_{identifier(c.output)}": 0.0 for c in plant.channels} if self.commands else dict(rest)
        memory |= {_slot("w", q): q.rest for q in plant.disturbances}
        memory |= rest
        memory |= {_slot("x", q): q.nominal for q in plant.states}
        memory |= {_slot("p", q): q.nominal for q in plant.parameters}
        memory |= {self._held(u, j): rest[u] for u in self.sent for j in range(1, self._line + 1)}
        memory |= {"steps": 0.0}
        return memory | dict.fromkeys((identifier(q.name) for q in plant.measurements), 0.0) | {"inside": 1.0}

    @property
    def _line(self) -> int:
        """Inputs of former steps that are still on their way."""
        return self.whole + (self.share > 0.0)

    @staticmethod
    def _held(u: str, j: int) -> str:
        return f"{u}_{j}_ago"

    def machine(self, name: str) -> Machine:
        """Put the parts together."""
        plant, known = self.plant, tuple(self.memory)
        parts = [part("allocate", self._allocate, known)] if self.commands else []
        parts += [part("look", self._look, known), part("move", self._move, known)]
        driving = [MachineSignal(_slot("u", q), q.unit, q.low, q.high, q.text) for q in plant.inputs]
        if self.commands:
            driving = [
                MachineSignal(f"command_{identifier(c.output)}", "", c.low, c.high, "command") for c in plant.channels
            ]
        inputs = [*driving, *(_signal(q, _slot("w", q)) for q in plant.disturbances)]
        outputs = [
            *(_signal(q, identifier(q.name)) for q in plant.measurements),
            MachineSignal("inside", "1", 0.0, 1.0, "1: in its region"),
        ]
        text = f"The plant {plant.name}, {self.integrator}"
        return Machine(name, text, tuple(inputs), tuple(outputs), self.memory, tuple(parts), self.h)

    # ------------------------------------------------------------------------------------------------------ blocks

    def _now(self, m: Slots) -> tuple[Any, ...]:
        """Time, state, inputs as they arrive, disturbances, parameters."""
        plant = self.plant
        x = tuple(m[_slot("x", q)] for q in plant.states)
        w = tuple(m[_slot("w", q)] for q in plant.disturbances)
        p = tuple(m[_slot("p", q)] for q in plant.parameters)
        return m["steps"] * self.h, x, tuple(self._arrived(m, u) for u in self.sent), w, p

    def _arrived(self, m: Slots, u: str) -> Any:
        def ago(j: int) -> Any:
            return m[u] if j == 0 else m[self._held(u, j)]

        if self.share == 0.0:
            return ago(self.whole)
        return self.share * ago(self.whole + 1) + (1.0 - self.share) * ago(self.whole)

    def _allocate(self, m: Slots) -> None:
        t, x, _, _, p = self._now(m)
        commands = tuple(m[f"command_{identifier(c.output)}"] for c in self.plant.channels)
        for slot, value in zip(self.sent, allocate_inputs(self.plant, t, x, commands, p), strict=True):
            m[slot] = value

    def _look(self, m: Slots) -> None:
        values = as_tuple(self.plant.outputs(*self._now(m)), len(self.plant.measurements), self.plant.name)
        for q, value in zip(self.plant.measurements, values, strict=True):
            m[identifier(q.name)] = value

    def _move(self, m: Slots) -> None:
        """One step; outside the region, and for NaN, the state stays."""
        t, x, u, w, p = self._now(m)
        alive, new = m["inside"], self._stepped(t, x, u, w, p)
        if self.plant.after_step is not None:
            alive = where(finite(new), alive, 0.0)
            new = as_tuple(self.plant.after_step(t + self.h, new, u, w, p, self.h), len(x), self.plant.name)
        inside = where(alive * self.motion.inside(new), 1.0, 0.0)
        for q, before, after in zip(self.plant.states, x, new, strict=True):
            m[_slot("x", q)] = where(inside, after, before)
        for slot in self.sent:
            for j in range(self._line, 0, -1):
                m[self._held(slot, j)] = m[slot] if j == 1 else m[self._held(slot, j - 1)]
        m["inside"] = inside
        m["steps"] = m["steps"] + 1.0

    def _stepped(self, t: Any, x: tuple[Any, ...], u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        plant = self.plant
        if plant.advance is not None:
            return as_tuple(plant.advance(t, x, u, w, p, self.h), len(x), plant.name)

        def rates(stage_time: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            return as_tuple(plant.derivative(stage_time, state, u, w, p), len(x), plant.name)  # type: ignore[misc]

        return tuple(INTEGRATORS[self.integrator](rates, t, x, self.h))


def _slot(kind: str, quantity: Quantity) -> str:
    return f"{kind}_{identifier(quantity.name)}"


def _signal(quantity: Quantity, name: str) -> MachineSignal:
    return MachineSignal(name, quantity.unit, quantity.low, quantity.high, quantity.text)
