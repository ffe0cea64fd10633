"""The scheduler alone as a machine: for sites that keep their PID block and take its gains from here.

Inputs are each channel's error and filtered error rate and the scheduling outputs; outputs are the gains and the
numbers of the usual forms of a PID block. It runs once in each tick of the schedule. Signals that cannot be trusted are
replaced by their last trusted value; after a time of distrust the reference gains are given.

Targets that carry the schedule alone take it from whatever is exported, with 10 000 random inputs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from flcs import FuzzyController
from flcs.export.guard import Guard, judge, lead, note_authority, ranges, states_of
from flcs.export.machine import GroupedSlots, Machine, MachineSignal, part
from flcs.export.pid_block import NAMES, VendorForm, forms
from flcs.export.recording import Recording
from plants.core.elementary import where
from plants.core.names import identifier
from sscq.loop.sampled_controller import SampledController
from sscq.loop.spec import LoopSpec
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from flcs import KnowledgeBase
    from flcs.export.job import Job
    from flcs.export.machine import Slots
    from flcs.inference.rule_base import RuleBase
    from plants import Plant


def scheduler(
    kb: KnowledgeBase, plant: Plant, step: float, guard: Guard | None = None, form: VendorForm | None = None,
    name: str = "",
) -> Machine:  # fmt: skip
    """Return the scheduler of a knowledge base.

    Parameters
    ----------
    kb : KnowledgeBase
    plant : Plant
        The knowledge base must have been made for it.
    step : float
        Integration step of the simulation [s]: with the law's sample time and the tick it gives the sample time here.
    guard : Guard, optional
        Its ranges, patience, recovery and frozen_after; ramp and safe commands are of the whole controller.
    form : VendorForm, optional
    name : str
        Of the machine; left out, the plant's with ``_scheduler`` behind.

    Returns
    -------
    Machine
        Inputs: ``e_`` and ``e_rate_`` of each channel [its unit, and per s], the scheduling outputs, ``authority``.
        Outputs: ``gain_`` of each gain, for each channel ``K_``, ``Ti_``, ``Td_`` of the standard form and ``Ks_``,
        ``Tis_``, ``Tds_`` of the series form, ``standard_`` and ``series_`` (1: that form says the scheduled gains),
        ``fault`` and ``tripped``.
    """
    return _Scheduler(kb, plant, step, guard or Guard(), form or VendorForm()).machine(
        name or f"{plant.name}_scheduler"
    )


def is_scheduler(machine: Machine) -> bool:
    """Whether a machine is a scheduler alone."""
    return not any(signal.name.startswith("command_") for signal in machine.outputs)


class _Scheduler:
    """The parts of the machine and what they share."""

    def __init__(self, kb: KnowledgeBase, plant: Plant, step: float, guard: Guard, form: VendorForm) -> None:
        self.kb, self.plant, self.guard, self.form = kb, plant, guard, form
        spec = LoopSpec(plant, FuzzyController(kb).frozen(), (Situation(),), step)
        self.controller, self.schedule = SampledController(spec), spec.controller.schedule
        self.h = spec.timing.sample_time * spec.timing.tick
        self.names = [channel.output for channel in plant.channels]
        self.errors = [f"{kind}_{name}" for name in self.names for kind in ("e", "e_rate")]
        self.seen = [*self.errors, *self.schedule.signals]
        self.gain_slots = [f"gain_{gain}" for gain in kb.gain_names]
        self.states: dict[str, tuple[float, float, float]] = {}

    def machine(self, name: str) -> Machine:
        """Put the parts together."""
        inputs, outputs, memory = tuple(self._inputs()), tuple(self._outputs()), self._memory()
        schedule = part("schedule", self._schedule, memory)
        read = [slot for p in (part("receive", self._receive, memory), schedule) for slot in p.program.inputs]
        self.states = states_of(memory, read, [signal.name for signal in inputs], ranges(self.guard, self.h))
        parts = (part("receive", self._receive, memory), schedule)
        text = f"Fuzzy gain schedule for {self.plant.name}, {self.kb.n_rules} rules, for a PID block elsewhere"
        used = {signal.name for signal in (*inputs, *outputs)}
        used |= {slot for p in parts for slot in (*p.program.inputs, *p.writes)}
        kept = {slot: value for slot, value in memory.items() if slot in used}
        return Machine(name, text, inputs, outputs, kept, parts, self.h)

    def _inputs(self) -> Iterator[MachineSignal]:
        units = {q.name: q for q in self.plant.measurements}
        for name in self.names:
            yield MachineSignal(f"e_{name}", units[name].unit, text="error: reference - measurement")
            yield MachineSignal(f"e_rate_{name}", _per_second(units[name].unit), text="its rate, filtered as the law's")
        for name in self.schedule.signals:
            yield MachineSignal(name, units[name].unit, units[name].low, units[name].high, "scheduling measurement")
        yield MachineSignal("authority", "1", 0.0, 1.0, "share of the way from the reference gains to the scheduled")

    def _outputs(self) -> Iterator[MachineSignal]:
        bases = self.kb.channels
        boxes = [(low, high) for base in bases for low, high in zip(base.low, base.high, strict=True)]
        for slot, (low, high) in zip(self.gain_slots, boxes, strict=True):
            yield MachineSignal(slot, "", low, high, "scheduled gain, parallel form")
        longest, unit = self.form.longest, self.form.unit
        for name, base in zip(self.names, bases, strict=True):
            top = max(abs(base.low[0]), abs(base.high[0]))
            rows = (
                ("", -top, top, "gain, standard form"),
                (unit, 0.0, longest, f"integral time, standard form; {longest:g}: no integral action"),
                (unit, 0.0, longest, "derivative time, standard form"),
                ("1", 0.0, 1.0, "1: the standard form says the scheduled gains"),
                ("", -top, top, "gain, series form"),
                (unit, 0.0, longest, "integral time, series form"),
                (unit, 0.0, longest, "derivative time, series form"),
                ("1", 0.0, 1.0, "1: the series form says the scheduled gains"),
            )
            for word, row in zip(NAMES, rows, strict=True):
                yield MachineSignal(f"{word}_{name}", *row)
        yield MachineSignal("fault", "1", 0.0, 1.0, "1: an input is not trusted")
        yield MachineSignal("tripped", "1", 0.0, 1.0, "1: the reference gains are in force")

    def _memory(self) -> dict[str, float]:
        memory = dict.fromkeys(self.seen, 0.0) | {"authority": 1.0}
        memory |= {"bad_for": 0.0, "good_for": 0.0, "last_authority": 1.0}
        memory |= {f"last_{name}": 0.0 for name in self.seen} | {f"unmoved_{name}": 0.0 for name in self.names}
        memory |= {f"k_{j}": value for j, value in enumerate(self.schedule.initial())}
        rest = [gain for base in self.kb.channels for gain in base.reference]
        memory |= dict(zip(self.gain_slots, rest, strict=True))
        for name, base in zip(self.names, self.kb.channels, strict=True):
            found = forms(base.reference, _box(base), self.form)
            memory |= {f"{word}_{name}": float(value) for word, value in zip(NAMES, found, strict=True)}
        return {identifier(slot): value for slot, value in memory.items()} | {"fault": 0.0, "tripped": 0.0}

    # --------------------------------------------------------------------------------------------------------- blocks

    def _receive(self, m: Slots) -> None:
        """Trust."""
        judge(m, self.seen, {f"e_{name}": f"unmoved_{name}" for name in self.names}, self.guard, self.h, self.states)
        note_authority(m)

    def _schedule(self, m: Slots) -> None:
        """Gains and their forms."""
        signals = tuple(m[f"last_{name}"] for name in self.seen)
        numbers = GroupedSlots(m, {"k": tuple(f"k_{j}" for j in range(self.schedule.n_states))})
        values = self.controller.schedule(numbers, 0.0, signals)
        reference = [gain for base in self.kb.channels for gain in base.reference]
        share, gains = m["last_authority"], []
        for slot, value, rest in zip(self.gain_slots, values, reference, strict=True):
            scheduled = lead(share, value, rest)
            gains.append(where(m["tripped"], rest, scheduled))
            m[slot] = gains[-1]
        first = 0
        for name, base in zip(self.names, self.kb.channels, strict=True):
            found = forms(gains[first : first + 3], _box(base), self.form)
            first += len(base.gain_names)
            for word, value in zip(NAMES, found, strict=True):
                m[f"{word}_{name}"] = value


def _box(base: RuleBase) -> tuple[float, float, float]:
    return base.low[0], base.high[0], base.reference[0]


def _per_second(unit: str) -> str:
    return f"{unit}/s" if unit else "1/s"


RANDOM = 10_000
_BEYOND = 0.5  # ranges by which random inputs leave the taught ranges at each side


@cache
def scheduler_job(job: Job) -> Job:
    """Return the job of the scheduler alone: itself, where that is what is exported."""
    if is_scheduler(job.machine):
        return job
    machine = scheduler(job.kb, job.plant, job.step, job.guard, job.form)
    inputs = random_inputs(job.kb, machine, job.seed)
    outputs = np.full((len(inputs), len(machine.outputs)), np.nan)
    drawn = Recording("random over the taught ranges and beyond", inputs, outputs)
    return replace(job, machine=machine, recordings=(drawn,), situations=())


def random_inputs(kb: KnowledgeBase, machine: Machine, seed: int) -> NDArray[np.float64]:
    """Return random inputs [10 000, n_inputs] over twice the taught ranges, with full authority."""
    rng = np.random.default_rng(seed)
    ranges = {}
    for base in kb.channels:
        for v in base.inputs:
            own = f"{v.name}_{base.name}" if v.name in {"e", "e_rate"} else v.name
            ranges[identifier(own)] = (v.low - _BEYOND * (v.high - v.low), v.high + _BEYOND * (v.high - v.low))
    columns = []
    for signal in machine.inputs:
        low, high = ranges.get(signal.name, (1.0, 1.0) if signal.name == "authority" else (-1.0, 1.0))
        columns.append(rng.uniform(low, high, RANDOM))
    return np.stack(columns, axis=1)
