"""One controller sample as lane loops.

In this order: measure, sensor noise, output delay, reference, schedule (at its tick), law with its limits, allocate,
input bounds, input delay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, where
from plants.core.kernel import ALIVE, Design, Stream, stream_items
from plants.core.lanes import Item, Lane, Loop, Uniform
from plants.core.motion import as_tuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.motion import Motion
    from sscq.loop_spec import LoopSpec


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

    def add_rows(self, design: Design) -> None:
        """Give the controller's side its rows."""
        rows, spec = design.rows, self.spec
        rows.add("u", len(self.plant.inputs))
        for group in ("command", "r", "r_before", "r_rate", "y", "y_before", "y_rate"):
            rows.add(group, self.n)
        rows.add("fresh")
        rows.add("g", len(spec.controller.gain_names))
        if self.origin:
            rows.add("origin", self.n)
        if spec.controller.n_theta:
            rows.add("theta", spec.controller.n_theta)
        if spec.controller.schedule.n_states:
            rows.add("k", spec.controller.schedule.n_states)
        for i, law in enumerate(spec.laws):
            if law.n_states:
                rows.add(f"c{i}", law.n_states)
        for k in spec.noisy:
            rows.add(f"noise{k}")
            rows.add(f"noise_unit{k}")
        if spec.bounded:
            rows.add("low", len(self.plant.inputs))
            rows.add("high", len(self.plant.inputs))

    def add_to(self, design: Design) -> None:
        """Put the sample's loops into every step."""
        timing = self.spec.timing
        for k in self.spec.noisy:
            every = f"every_noise{k}"
            design.integers.append(every)
            stream = Stream(f"noise_{self.plant.measurements[k].name}", f"noise_unit{k}", every)
            design.before.append(stream_items(design, stream))
        now, then = self._output_ring(design) if self.spec.delayed_output else ([], [])
        design.before += [*now, Loop("measure", (self._measure,), timing.at_sample())]
        if self.spec.delayed_output:
            design.before += [*then, Loop("receive", (self._receive,), timing.at_sample())]
        if self.spec.delayed_input:
            design.before.append(self._input_slot(design))
        design.before.append(Loop("schedule", (self._schedule,), timing.at_tick()))
        design.before.append(Loop("control", (self._control,), timing.at_sample()))
        if self.spec.delayed_input:
            design.before += self._deliver_items()

    def outputs(self, lane: Lane) -> tuple[Any, ...]:
        """Return the plant's outputs now (a body's helper)."""
        t = lane.uniform("t")
        u, w, p = self.motion.block(lane, t, t)
        values = self.plant.outputs(t, lane["x"], u, w, p)
        values = as_tuple(values, len(self.plant.measurements), f"outputs of {self.plant.name}")
        return tuple(lane.tape.keep(value) for value in values)

    def refer(self, lane: Lane) -> tuple[Any, ...]:
        """Return the references now."""
        t = lane.uniform("t")
        return self.spec.references.values(lane, t, t)

    def _measure(self, lane: Lane) -> None:
        """Measured outputs and their rates with sensor noise; references and their rates."""
        spec, fresh, per_second = self.spec, lane.one("fresh"), 1.0 / self.spec.timing.sample_time
        outputs = list(self.outputs(lane))
        if self.origin:
            places = [spec.output_index(c.output) for c in self.plant.channels]
            lane["origin"] = [where(fresh, outputs[k], o) for k, o in zip(places, lane["origin"], strict=True)]
        for k in spec.noisy:
            outputs[k] = outputs[k] + lane.one(f"noise{k}") * lane.one(f"noise_unit{k}")
        y, rates, before = [], [], lane["y_before"]
        for i, channel in enumerate(self.plant.channels):
            y.append(outputs[spec.output_index(channel.output)])
            if spec.measures_rate(i):
                rates.append(outputs[spec.output_index(channel.rate)])
            else:
                rates.append((y[i] - where(fresh, y[i], before[i])) * per_second)
        if not all(spec.measures_rate(i) for i in range(self.n)):
            lane["y_before"] = y
        if spec.delayed_output:
            for i in range(self.n):
                lane.write_at("output_now", 2 * i, y[i])
                lane.write_at("output_now", 2 * i + 1, rates[i])
        else:
            lane["y"], lane["y_rate"] = y, rates
        lane["r"] = r = self.refer(lane)
        if spec.references.constant:
            lane["r_rate"] = (0.0,) * self.n
            return
        before = lane["r_before"]
        lane["r_rate"] = [(a - where(fresh, a, b)) * per_second for a, b in zip(r, before, strict=True)]
        lane["r_before"] = r

    def _receive(self, lane: Lane) -> None:
        """Measurements that were on their way for the output delay."""
        part = lane.uniform("output_part")
        y, rates = [], []
        for i in range(self.n):
            for values, place in ((y, 2 * i), (rates, 2 * i + 1)):
                near, far = lane.read_at("output_old", place), lane.read_at("output_older", place)
                values.append(near + part * (far - near))
        lane["y"], lane["y_rate"] = y, rates

    def signals(self, lane: Lane) -> tuple[Any, ...]:
        """Return the scheduling signals: e and filtered e' of every channel, then the extra outputs."""
        values: list[Any] = []
        for i, law in enumerate(self.spec.laws):
            c = lane[f"c{i}"] if law.n_states else ()
            rate = law.error_rate(lane["r_rate"][i], lane["y_rate"][i], c)
            values += [lane["r"][i] - lane["y"][i], rate]
        wanted = self.spec.controller.schedule.signals
        if wanted:
            outputs = self.outputs(lane)
            values += [outputs[self.spec.output_index(name)] for name in wanted]
        return tuple(values)

    def _schedule(self, lane: Lane) -> None:
        schedule, controller = self.spec.controller.schedule, self.spec.controller
        theta = lane["theta"] if controller.n_theta else ()
        k, signals = lane["k"] if schedule.n_states else (), self.signals(lane)
        lane["g"], k_new = schedule.gains(lane.uniform("t"), signals, k, theta)
        if self.observe:
            lane["signals"] = signals
        if schedule.n_states:
            lane["k"] = k_new

    def _control(self, lane: Lane) -> None:
        """Laws, allocation, bounds, and what total variation needs."""
        t, gains, commands = lane.uniform("t"), lane["g"], []
        for i, law in enumerate(self.spec.laws):
            signals = (lane["r"][i], lane["y"][i], lane["r_rate"][i], lane["y_rate"][i])
            c = lane[f"c{i}"] if law.n_states else ()
            command, c_new = law.law(t, *signals, c, gains[self.spec.gains_of(i)])
            commands.append(command)
            if law.n_states:
                lane[f"c{i}"] = c_new
        if self.travel:
            self._travel(lane, commands)
        lane["command"] = commands
        inputs = self._allocate(lane, commands)
        if self.spec.delayed_input:
            for j, value in enumerate(inputs):
                lane.write_at("input_now", j, value)
        else:
            lane["u"] = inputs
        lane["fresh"] = (0.0,)

    def _allocate(self, lane: Lane, commands: Sequence[Any]) -> tuple[Any, ...]:
        inputs = tuple(commands)
        if self.plant.allocate is not None:
            p = lane["p"] if self.plant.parameters else ()
            values = self.plant.allocate(lane.uniform("t"), lane["x"], inputs, p)
            inputs = as_tuple(values, len(self.plant.inputs), f"allocate of {self.plant.name}")
        inputs = tuple(lane.tape.keep(value) for value in inputs)
        if self.spec.bounded:
            inputs = tuple(clip(u, a, b) for u, a, b in zip(inputs, lane["low"], lane["high"], strict=True))
        return inputs

    def _travel(self, lane: Lane, commands: Sequence[Any]) -> None:
        fresh, total = lane.one("fresh"), lane.one("q_total_variation")
        for new, old in zip(commands, lane["command"], strict=True):
            total = total + where(fresh, 0.0, where(lane.one(ALIVE), magnitude(new - old), 0.0))
        lane["q_total_variation"] = (total,)

    def _output_ring(self, design: Design) -> tuple[list[Item], list[Item]]:
        """Place of now, and those of two samples around the output delay; before the first sample the first one holds.

        The second part stands between writing and reading: with a delay below one sample both are the same place.
        """
        design.integers += ["output_ring", "output_depth", "output_delay"]
        design.numbers.append("output_part")
        width, n = 2 * self.n, self.spec.timing.sample
        now = f"output_now = output_ring + (step // {n}) % output_depth * {width}"
        lines = []
        for name, back in (("output_old", ""), ("output_older", " - 1")):
            sample = f"max(step // {n} - output_delay{back}, 0)"
            lines.append(f"{name} = output_ring + {sample} % output_depth * {width}")
        return [Uniform((now,))], [Uniform(tuple(lines))]

    def _input_slot(self, design: Design) -> Item:
        design.integers += ["input_ring", "input_depth", "input_delay"]
        design.numbers.append("input_part")
        width, n = len(self.plant.inputs), self.spec.timing.sample
        return Uniform((f"input_now = input_ring + (step // {n}) % input_depth * {width}",))

    def _deliver_items(self) -> list[Item]:
        """The command of `input_delay` steps ago reaches the plant; before the first one, the input at rest."""
        width, n = len(self.plant.inputs), self.spec.timing.sample
        lines = []
        for name, back in (("input_old", ""), ("input_older", " - 1")):
            past = f"step - input_delay{back}"
            slot = f"(({past}) // {n}) % input_depth if {past} >= 0 else input_depth"
            lines.append(f"{name} = input_ring + ({slot}) * {width}")

        def deliver(lane: Lane) -> None:
            part, values = lane.uniform("input_part"), []
            for j in range(width):
                near, far = lane.read_at("input_old", j), lane.read_at("input_older", j)
                values.append(near + part * (far - near))
            lane["u"] = values

        return [Uniform(tuple(lines)), Loop("deliver", (deliver,))]
