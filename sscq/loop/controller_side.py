"""The controller's side of a loop: one controller sample as lane loops.

In this order: measure (with jitter), sensor noise, output delay, quantise, lost packets, reference, schedule (at its
tick), law with its limits, allocate, input bounds, lost packets; then in every step input delay and actuator.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.core.blocks import allocate_inputs, as_tuple
from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, where
from plants.core.kernel.kernel import ALIVE, KernelDesign
from plants.core.kernel.lanes import Item, Lane, LaneLoop, Repeat
from plants.core.signals import noise
from sscq.loop.actuators import Actuator, DelayLine
from sscq.loop.sampled_controller import SampledController
from sscq.loop.sensors import NoiseStream, Sensors, threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controllers.protocols import Sweep
    from plants.core.motion.step import Motion
    from plants.excitation import Feed
    from sscq.loop.spec import LoopSpec

MEASURED, SENT = DelayLine("output", "measured"), DelayLine("input", "sent")


class _LaneNumbers:
    """The rows of a lane as the named numbers of a sampled controller."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    def __getitem__(self, place: tuple[str, int]) -> Any:
        group, k = place
        return self._lane[group][k]

    def __setitem__(self, place: tuple[str, int], value: Any) -> None:
        self._lane.put(*place, value)


class Sampling:
    """Rows and loops of the controller's side.

    Parameters
    ----------
    spec : LoopSpec
    motion : Motion
    travel : bool
        Whether total variation is wanted.
    origin : bool
        Whether the initial outputs are wanted (overshoot, settling).
    observe : bool
        Whether scheduling signals are kept for a record.
    """

    def __init__(self, spec: LoopSpec, motion: Motion, *, travel: bool, origin: bool, observe: bool) -> None:
        self.spec, self.motion, self.travel, self.origin, self.observe = spec, motion, travel, origin, observe
        self.plant, self.n = spec.plant, len(spec.plant.channels)
        self.controller = SampledController(spec)
        self.sensors, self.actuator = Sensors(spec), Actuator(spec)
        self.sweep: Sweep | None = getattr(spec.controller.schedule, "sweep", None)
        self.lossy = bool(spec.command_dropout.any())
        # Where the controller's side ends: the plant's inputs themselves, or what is still on its way to them.
        self.sent = SENT.group if spec.delayed_input or self.actuator.used else "u"
        self.chances = list(self.sensors.chances)
        if self.lossy:
            self.chances.append(NoiseStream("command_dropout", "command_unit", noise.UNIFORM, spec.command_dropout))

    def add_rows(self, design: KernelDesign) -> None:
        """Give the controller's side its rows."""
        rows, spec = design.rows, self.spec
        rows.add("u", len(self.plant.inputs))
        for group in ("command", "r", "r_before", "r_rate", "y", "y_before", "y_rate"):
            rows.add(group, self.n)
        rows.add("fresh")
        rows.add("g", len(spec.controller.gain_names))
        if self.origin:
            rows.add("origin", self.n)
        if spec.controller.schedule.signals:
            rows.add("extra", len(spec.controller.schedule.signals))
        if spec.controller.n_theta:
            rows.add("theta", spec.controller.n_theta)
        if spec.controller.schedule.n_states:
            rows.add("k", spec.controller.schedule.n_states)
        if self.sweep is not None:
            rows.add("grid_held", self.sweep.n_held)
            rows.add("grid_sums", self.sweep.n_moving)
        for i, law in enumerate(spec.laws):
            if law.n_states:
                rows.add(f"c{i}", law.n_states)
        self._add_ends(design)

    def _add_ends(self, design: KernelDesign) -> None:
        """Rows between the laws and the plant: sensors, links, delay lines, actuators."""
        rows, spec = design.rows, self.spec
        self.sensors.add_rows(rows)
        if self.lossy:
            rows.add("command_dropout")
            rows.add("command_unit")
        if spec.bounded:
            rows.add("low", len(self.plant.inputs))
            rows.add("high", len(self.plant.inputs))
        if spec.delayed_output:
            MEASURED.add_rows(design, len(spec.watched))
        if spec.delayed_input:
            SENT.add_rows(design, len(self.plant.inputs))
        self.actuator.add_rows(rows)
        rows.add(self.sent, len(self.plant.inputs))

    def add_to(self, design: KernelDesign) -> None:
        """Put the sample's loops into every step."""
        for chance in self.chances:
            chance.add_to(design)
        self.add_sensing(design)
        self.add_control(design)

    def add_sensing(self, design: KernelDesign) -> None:
        """Put what the controller gets to see into every step: the first half of a sample."""
        timing = self.spec.timing
        design.before.append(LaneLoop("measure", (self._measure,), timing.at_sample()))
        if self.spec.delayed_output:
            ring = MEASURED.by_sample(design, timing)
            design.before += [ring, LaneLoop("receive", (self._receive,), timing.at_sample())]

    def add_control(self, design: KernelDesign) -> None:
        """Put what the controller does into every step: schedule, laws, and the way to the plant's inputs."""
        timing = self.spec.timing
        design.before += self._scheduling()
        design.before.append(LaneLoop("control", (self._control,), timing.at_sample()))
        if self.spec.delayed_input:
            design.before.append(SENT.by_step(design, timing))
        if self.sent != "u":
            design.before.append(LaneLoop("deliver", (self._deliver,)))

    def start(self, number: int) -> dict[str, tuple[float, ...]]:
        """Return the rows of one situation that do not start at 0."""
        rest = tuple(q.nominal for q in self.plant.inputs)
        rows: dict[str, tuple[float, ...]] = {"fresh": (1.0,), "u": rest, self.sent: rest}
        if self.spec.bounded:
            low, high = self.spec.situations[number].limits or (-math.inf, math.inf)
            rows |= {"low": (low,) * len(rest), "high": (high,) * len(rest)}
        if self.lossy:
            rows["command_dropout"] = (threshold(self.spec.command_dropout[number]),)
        return rows | self.sensors.start(number) | self.actuator.start(number)

    def feeds(self, number: int) -> list[Feed]:
        """Return what feeds the streams in one situation, in the kernel's order."""
        return [chance.feed(number) for chance in self.chances]

    def every(self) -> dict[str, int]:
        """Steps between the numbers of each stream."""
        return {chance.every: self.spec.timing.sample for chance in self.chances}

    def outputs(self, lane: Lane) -> tuple[Any, ...]:
        """Return the plant's outputs now (a body's helper)."""
        t = lane.uniform("t")
        u, w, p = self.motion.block(lane, t, t)
        values = self.plant.outputs(t, lane["x"], u, w, p)
        values = as_tuple(values, len(self.plant.measurements), f"outputs of {self.plant.name}")
        return tuple(lane.tape.keep(value, f"output {k}") for k, value in enumerate(values))

    def refer(self, lane: Lane) -> tuple[Any, ...]:
        """Return the references now."""
        t = lane.uniform("t")
        return self.spec.references.values(lane, t, t)

    def _measure(self, lane: Lane) -> None:
        """What the sensors send; references and their rates."""
        spec, fresh = self.spec, lane.one("fresh")
        outputs = self.outputs(lane)
        if self.origin:
            places = [spec.output_index(c.output) for c in self.plant.channels]
            lane["origin"] = [where(fresh, outputs[k], o) for k, o in zip(places, lane["origin"], strict=True)]
        values = self.sensors.sample(lane, outputs)
        if spec.delayed_output:
            lane[MEASURED.group] = values
        else:
            self._see(lane, values)
        for i, reference in enumerate(self.refer(lane)):
            self.controller.receive(_LaneNumbers(lane), "r", i, reference, 0.0 if spec.references.constant else None)

    def _receive(self, lane: Lane) -> None:
        """Measurements that were on their way for the output delay."""
        self._see(lane, MEASURED.between(lane))

    def _see(self, lane: Lane, values: Sequence[Any]) -> None:
        """Outputs, their rates and what the schedule asks for, of what arrives at the controller."""
        spec = self.spec
        seen = dict(zip(spec.watched, self.sensors.receive(lane, values), strict=True))
        for i, channel in enumerate(self.plant.channels):
            measured = channel.rate is not None and spec.measures_rate(i)
            rate = seen[spec.output_index(channel.rate)] if measured else None  # type: ignore[arg-type]
            self.controller.receive(_LaneNumbers(lane), "y", i, seen[spec.output_index(channel.output)], rate)
        if spec.controller.schedule.signals:
            lane["extra"] = [seen[spec.output_index(name)] for name in spec.controller.schedule.signals]

    def _deliver(self, lane: Lane) -> None:
        """The command, of some time ago where it is delayed, reaches the plant through its actuators."""
        inputs = SENT.between(lane) if self.spec.delayed_input else lane[SENT.group]
        lane["u"] = self.actuator.drive(lane, inputs)

    def _scheduling(self) -> list[Item]:
        """The gains at a tick: one loop, or for a schedule that sums over a grid three, the middle one repeated."""
        when, sweep = self.spec.timing.at_tick(), self.sweep
        if sweep is None:
            return [LaneLoop("schedule", (self._schedule,), when)]

        def begin(lane: Lane) -> None:
            lane["grid_held"], lane["grid_sums"] = sweep.begin(*self._asked(lane))

        def advance(lane: Lane) -> None:
            lane["grid_sums"] = sweep.advance(lane["grid_held"], lane["grid_sums"])

        def end(lane: Lane) -> None:
            gains, state = sweep.end(*self._asked(lane), lane["grid_sums"])
            self.controller.renew(_LaneNumbers(lane), state)
            self._scheduled(lane, gains)

        loops = [LaneLoop(f"schedule_{body.__name__}", (body,), when) for body in (begin, advance, end)]
        return [loops[0], Repeat(loops[1], sweep.count), loops[2]]

    def _schedule(self, lane: Lane) -> None:
        self._scheduled(lane, self.controller.schedule(_LaneNumbers(lane), lane.uniform("t")))

    def _asked(self, lane: Lane) -> tuple[Any, Any, Any, Any]:
        return self.controller.asked(_LaneNumbers(lane), lane.uniform("t"))

    def _scheduled(self, lane: Lane, gains: Sequence[Any]) -> None:
        lane["g"] = gains
        if self.observe:
            lane["signals"] = self.controller.signals(_LaneNumbers(lane))

    def _control(self, lane: Lane) -> None:
        """Laws, allocation, bounds, and what total variation needs."""
        before = lane["command"] if self.travel else ()
        commands = self.controller.act(_LaneNumbers(lane), lane.uniform("t"))
        if self.travel:
            self._travel(lane, commands, before)
        lane[self.sent] = self._sent(lane, self._allocate(lane, commands))
        lane["fresh"] = (0.0,)

    def _sent(self, lane: Lane, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs asked for, or those of the last packet that arrived; before the first one those at rest."""
        if not self.lossy:
            return inputs
        lost = lane.one("command_dropout") - lane.one("command_unit")
        return tuple(where(lost, old, new) for new, old in zip(inputs, lane[self.sent], strict=True))

    def _allocate(self, lane: Lane, commands: Sequence[Any]) -> tuple[Any, ...]:
        t, p = lane.uniform("t"), lane["p"] if self.plant.parameters else ()
        values = allocate_inputs(self.plant, t, lane["x"], commands, p)
        inputs = tuple(lane.tape.keep(value, f"input {k}") for k, value in enumerate(values))
        if self.spec.bounded:
            inputs = tuple(clip(u, a, b) for u, a, b in zip(inputs, lane["low"], lane["high"], strict=True))
        return inputs

    def _travel(self, lane: Lane, commands: Sequence[Any], before: Sequence[Any]) -> None:
        fresh, total = lane.one("fresh"), lane.one("q_total_variation")
        for new, old in zip(commands, before, strict=True):
            total = total + where(fresh, 0.0, where(lane.one(ALIVE), magnitude(new - old), 0.0))
        lane["q_total_variation"] = (total,)
