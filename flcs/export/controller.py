"""The whole controller as it is installed: schedule and laws of a knowledge base, an operator's station, a guard.

In each sample: receive (trust, rates), at its tick schedule (gains), act (laws, station, allocation). These are the
order and the operations of the simulated loop; a station in automatic and signals that are trusted change nothing.
Rates, trust and the laws' states are slots of one memory, so that any language can hold it as an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ManualStation
from flcs import FuzzyController
from flcs.export.guard import Guard, judge, lead, note_authority, ranges, states_of, trusted
from flcs.export.machine import GroupedSlots, Machine, MachineSignal, part
from plants.core.blocks import allocate_inputs
from plants.core.elementary import where
from plants.core.names import alike, identifier
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import depends, differentiate, names, symbols
from sscq.loop.sampled_controller import SampledController
from sscq.loop.spec import LoopSpec
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from flcs import KnowledgeBase
    from flcs.export.machine import Slots
    from plants import Plant, Quantity


@dataclass(frozen=True)
class ChannelSlots:
    """Names of one channel's slots."""

    output: str
    rate: str | None  # the measurement, where the law takes it

    def __getattr__(self, word: str) -> str:
        return f"{word}_{self.output}"


class _Installed:
    """Signals, memory and parts of a controller.

    Attributes
    ----------
    h : float
        Sample time [s].
    channels : tuple of ChannelSlots
    measured : tuple of Quantity
        Measurements that the controller takes.
    allocated : bool
        Whether the controller gives plant inputs: these follow from commands and parameters alone.
    """

    def __init__(self, kb: KnowledgeBase, plant: Plant, step: float, guard: Guard) -> None:
        self.kb, self.plant, self.guard = kb, plant, guard
        self.spec = LoopSpec(plant, FuzzyController(kb).frozen(), (Situation(),), step)
        self.h = self.spec.timing.sample_time
        self.schedule = self.spec.controller.schedule
        self.stations = tuple(ManualStation(law, guard.ramp) for law in self.spec.laws)  # type: ignore[arg-type]
        self.channels = tuple(
            ChannelSlots(c.output, c.rate if self.spec.measures_rate(i) else None) for i, c in enumerate(plant.channels)
        )
        self.measured = tuple(plant.measurements[k] for k in self.spec.watched)
        if guard.safe is not None and len(guard.safe) != len(self.channels):
            raise ValueError(f"guard: {len(self.channels)} channels need a safe command each, got {guard.safe}")
        if same := alike(q.name for q in (*self.measured, *plant.inputs)):
            raise ValueError(f"signals must differ in letters and digits, got {same}")
        self.allocated = _allocation(plant)
        self.controller = SampledController(self.spec, self.stations)
        self.names = self._names()
        self.memory = self._memory()
        self.states: dict[str, tuple[float, float, float]] = {}

    def _names(self) -> dict[str, tuple[str, ...]]:
        """Slots of the sampled controller's numbers."""
        of = {
            "r": "last_r",
            "y": "last",
            "r_before": "before_r",
            "y_before": "before_y",
            "r_rate": "rate_r",
            "y_rate": "rate_y",
            "command": "command",
        }
        names = {name: tuple(f"{word}_{c.output}" for c in self.channels) for name, word in of.items()}
        for i, (c, station) in enumerate(zip(self.channels, self.stations, strict=True)):
            names[f"c{i}"] = tuple(f"{c.law}_{k}" for k in range(station.n_states))
        return names | {
            "fresh": ("fresh",),
            "extra": tuple(f"last_{name}" for name in self.schedule.signals),
            "k": tuple(f"k_{j}" for j in range(self.schedule.n_states)),
            "g": tuple(f"gain_{gain}" for gain in self.kb.gain_names),
        }

    @property
    def inputs(self) -> tuple[MachineSignal, ...]:
        """References, measurements, authority, stations."""
        of = {q.name: q for q in self.measured}
        several = [_as_signal(of[c.output], f"r_{c.output}", "reference") for c in self.channels]
        several += [_as_signal(q, q.name, "measurement") for q in self.measured]
        several.append(
            MachineSignal("authority", "1", 0.0, 1.0, "share of the way from the reference gains to the scheduled")
        )
        for c, station, unit in zip(self.channels, self.stations, self._command_units, strict=True):
            low, high = station.limits or (float("-inf"), float("inf"))
            several += [
                MachineSignal(c.manual, "1", 0.0, 1.0, "above 0: manual"),
                MachineSignal(c.track, unit, low, high, "command asked for in manual"),
            ]
        return tuple(several)

    @property
    def _command_units(self) -> tuple[str, ...]:
        """Of the channels' commands: those of the plant's inputs, unless these are made of the commands."""
        known = self.plant.allocate is None
        return tuple(q.unit for q in self.plant.inputs) if known else ("",) * len(self.channels)

    @property
    def outputs(self) -> tuple[MachineSignal, ...]:
        """Plant inputs, commands, gains, flags."""
        several = [_as_signal(q, f"u_{q.name}", "to the plant") for q in self.plant.inputs] if self.allocated else []
        for c, station, unit in zip(self.channels, self.stations, self._command_units, strict=True):
            low, high = station.limits or (float("-inf"), float("inf"))
            several.append(MachineSignal(c.command, unit, low, high, "command of the channel"))
        boxes = [(low, high) for base in self.kb.channels for low, high in zip(base.low, base.high, strict=True)]
        for gain, (low, high) in zip(self.kb.gain_names, boxes, strict=True):
            several.append(MachineSignal(f"gain_{gain}", "", low, high, "scheduled gain"))
        several.append(MachineSignal("fault", "1", 0.0, 1.0, "1: an input is not trusted"))
        several.append(MachineSignal("tripped", "1", 0.0, 1.0, "1: the safe command is in force"))
        return tuple(several)

    def _memory(self) -> dict[str, float]:
        rest = dict(zip((q.name for q in self.plant.measurements), _at_start(self.plant), strict=True))
        reference = [gain for base in self.kb.channels for gain in base.reference]
        memory = {signal.name: 0.0 for signal in self.inputs} | {"authority": 1.0}
        memory |= {q.name: rest[q.name] for q in self.measured}
        memory |= {"fresh": 1.0, "bad_for": 0.0, "good_for": 0.0, "last_authority": 1.0}
        memory |= {f"last_{q.name}": rest[q.name] for q in self.measured}
        for c, station in zip(self.channels, self.stations, strict=True):
            memory |= {c.last_r: rest[c.output], c.last_track: station.automatic.at_rest(), c.unmoved: 0.0}
            memory |= {c.before_r: 0.0, c.before_y: 0.0, c.rate_r: 0.0, c.rate_y: 0.0}
            memory |= {f"{c.law}_{k}": value for k, value in enumerate(station.initial())}
        memory |= {f"k_{k}": value for k, value in enumerate(self.schedule.initial())}
        memory |= {f"u_{q.name}": q.nominal for q in self.plant.inputs} if self.allocated else {}
        memory |= {c.command: s.automatic.at_rest() for c, s in zip(self.channels, self.stations, strict=True)}
        memory |= {f"gain_{gain}": value for gain, value in zip(self.kb.gain_names, reference, strict=True)}
        return {identifier(slot): value for slot, value in memory.items()} | {"fault": 0.0, "tripped": 0.0}

    def machine(self, name: str) -> Machine:
        """Put the parts together."""
        known = tuple(self.memory)
        schedule = part("schedule", self._schedule, known, self.spec.timing.tick)
        parts = (part("receive", self._receive, known), schedule, part("act", self._act, known))
        read = [slot for p in parts for slot in p.program.inputs]
        inputs = [signal.name for signal in self.inputs]
        self.states = states_of(self.memory, read, inputs, self._ranges())
        parts = (part("receive", self._receive, known), *parts[1:])
        text = f"Fuzzy gain-scheduled PID controller for {self.plant.name}, {self.kb.n_rules} rules"
        used = {signal.name for signal in (*self.inputs, *self.outputs)}
        used |= {slot for p in parts for slot in (*p.program.inputs, *p.writes)}
        memory = {slot: value for slot, value in self.memory.items() if slot in used}
        return Machine(name, text, self.inputs, self.outputs, memory, parts, self.h)

    def _ranges(self) -> dict[str, tuple[float, float]]:
        """Ends of the states that have any: gains, counts, flags, commands."""
        found = ranges(self.guard, self.h) | {"fresh": (0.0, 1.0)}
        for i, station in enumerate(self.stations):
            commands = [name == "command" for name in station.automatic.state_names] + [
                True
            ]  # the station's is its last
            held = [slot for slot, one in zip(self.names[f"c{i}"], commands, strict=True) if one]
            found |= {identifier(slot): station.limits for slot in held if station.limits is not None}
        boxes = [ends for base in self.kb.channels for ends in zip(base.low, base.high, strict=True)]
        return found | {identifier(slot): box for slot, box in zip(self.names["g"], boxes, strict=True)}

    def _receive(self, m: Slots) -> None:
        """Trust, and the rates of references and measurements."""
        names = [q.name for q in self.measured] + [f"r_{c.output}" for c in self.channels]
        judge(m, names, {c.output: c.unmoved for c in self.channels}, self.guard, self.h, self.states)
        numbers = GroupedSlots(m, self.names)
        for i, c in enumerate(self.channels):
            trusted(m, c.track, self.guard)
            self.controller.receive(numbers, "r", i, m[c.last_r])
            rate = m[f"last_{c.rate}"] if c.rate else None
            self.controller.receive(numbers, "y", i, m[f"last_{c.output}"], rate)
        note_authority(m)

    def _schedule(self, m: Slots) -> None:
        """Gains at a tick."""
        gains = self.controller.schedule(GroupedSlots(m, self.names), 0.0)
        reference = [gain for base in self.kb.channels for gain in base.reference]
        share = m["last_authority"]
        for slot, value, rest in zip(self.names["g"], gains, reference, strict=True):
            m[slot] = lead(share, value, rest)

    def _act(self, m: Slots) -> None:
        """Laws with their stations, and what goes to the plant."""

        def manual(i: int) -> tuple[Any, Any]:
            """Whether the station is in manual, and the command it moves to then."""
            c, safe = self.channels[i], self.guard.safe  # a station's last state is its last command
            target = [m[slot] for slot in self.names[f"c{i}"]][-1] if safe is None else safe[i]
            return where(m["tripped"], 1.0, m[c.manual]), where(m["tripped"], target, m[c.last_track])

        commands = self.controller.act(GroupedSlots(m, self.names), 0.0, manual)
        if self.allocated:
            plant = self.plant
            u = allocate_inputs(plant, 0.0, plant.initial(), commands, plant.nominal())
            for q, value in zip(plant.inputs, u, strict=True):
                m[f"u_{q.name}"] = value
        m["fresh"] = 0.0


def _as_signal(quantity: Quantity, name: str, text: str) -> MachineSignal:
    return MachineSignal(name, quantity.unit, quantity.low, quantity.high, text)


def _at_start(plant: Plant) -> tuple[float, ...]:
    """Outputs of the undriven plant in its nominal initial state: what is taken for measured before anything is."""
    u = tuple(q.nominal for q in plant.inputs)
    values = plant.outputs(0.0, plant.initial(), u, plant.calm(), plant.nominal())
    found = np.nan_to_num(np.asarray(values, dtype=float))
    return tuple(found.tolist())


def _allocation(plant: Plant) -> bool:
    """Whether plant inputs follow from commands and parameters alone: then the machine gives them."""
    if plant.allocate is None:
        return True
    tape = Tape()
    t, x = tape.input("t"), symbols(tape, names("x", len(plant.states)))
    commands = symbols(tape, names("c", len(plant.channels)))
    rows = differentiate([tape.lift(v) for v in plant.allocate(t, x, commands, plant.nominal())], [t, *x])
    return not any(depends(row) for row in rows)


def installed(kb: KnowledgeBase, plant: Plant, step: float, guard: Guard | None = None, name: str = "") -> Machine:
    """Return the whole controller of a knowledge base.

    Parameters
    ----------
    kb : KnowledgeBase
    plant : Plant
        Its channels, limits and allocation; the knowledge base must have been made for it.
    step : float
        Integration step of the simulation [s]: the sample time where the law has none of its own.
    guard : Guard, optional
    name : str
        Of the machine; left out, the plant's with ``_controller`` behind.

    Returns
    -------
    Machine
        Inputs: a reference for each channel (``r_`` before its name), the measurements, ``authority`` (1: the schedule
        as it is, 0: the reference gains), and for each channel ``manual_`` (above 0: manual) and ``track_`` (the
        command asked for in manual). Outputs: plant inputs where their allocation needs nothing but commands,
        ``command_`` of each channel, all gains, ``fault`` and ``tripped``.

    Raises
    ------
    ValueError
        If the guard's safe commands do not fit the channels, or two signals' names give the same identifier.
    """
    return _Installed(kb, plant, step, guard or Guard()).machine(name or f"{plant.name}_controller")
