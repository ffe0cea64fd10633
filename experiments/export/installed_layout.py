"""What a whole controller remembers: signals of its station, memory, and their names.

Rates, trust and the laws' states are slots of one memory, so that any language can hold it as an array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from controllers import ManualStation
from experiments.export.machine import Signal, identifier
from plants.core.tape import Tape
from plants.core.trace import depends, differentiate, names, symbols
from sscq.loop_spec import LoopSpec
from sscq.situation import Situation

if TYPE_CHECKING:
    from experiments.export.guard import Guard
    from flcs import KnowledgeBase
    from plants import Plant, Quantity


@dataclass(frozen=True)
class ChannelSlots:
    """Names of one channel's slots."""

    output: str
    rate: str | None  # the measurement, where the law takes it

    def __getattr__(self, word: str) -> str:
        return f"{word}_{self.output}"


class Layout:
    """Signals and memory of a controller.

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
        from flcs import FuzzyController

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
        signals = (*self.measured, *plant.inputs)
        if len({identifier(q.name) for q in signals}) < len({q.name for q in signals}):
            raise ValueError(f"signals must differ in letters and digits, got {', '.join(q.name for q in signals)}")
        self.allocated = _allocation(plant)
        self.memory = self._memory()

    @property
    def inputs(self) -> tuple[Signal, ...]:
        """References, measurements, authority, stations."""
        of = {q.name: q for q in self.measured}
        several = [_as_signal(of[c.output], f"r_{c.output}", "reference") for c in self.channels]
        several += [_as_signal(q, q.name, "measurement") for q in self.measured]
        several.append(Signal("authority", "1", 0.0, 1.0, "share of the way from the reference gains to the scheduled"))
        for c, station in zip(self.channels, self.stations, strict=True):
            low, high = station.limits or (float("-inf"), float("inf"))
            several += [
                Signal(c.manual, "1", 0.0, 1.0, "above 0: manual"),
                Signal(c.track, "", low, high, "command asked for in manual"),
            ]
        return tuple(several)

    @property
    def outputs(self) -> tuple[Signal, ...]:
        """Plant inputs, commands, gains, flags."""
        several = [_as_signal(q, f"u_{q.name}", "to the plant") for q in self.plant.inputs] if self.allocated else []
        for c, station in zip(self.channels, self.stations, strict=True):
            low, high = station.limits or (float("-inf"), float("inf"))
            several.append(Signal(c.command, "", low, high, "command of the channel"))
        boxes = [(low, high) for base in self.kb.channels for low, high in zip(base.low, base.high, strict=True)]
        for gain, (low, high) in zip(self.kb.gain_names, boxes, strict=True):
            several.append(Signal(f"gain_{gain}", "", low, high, "scheduled gain"))
        several.append(Signal("fault", "1", 0.0, 1.0, "1: an input is not trusted"))
        several.append(Signal("tripped", "1", 0.0, 1.0, "1: the safe command is in force"))
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


def _as_signal(quantity: Quantity, name: str, text: str) -> Signal:
    return Signal(name, quantity.unit, quantity.low, quantity.high, text)


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
