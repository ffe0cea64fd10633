"""The signals of many rollouts in one kernel: the union of their parts, each rollout's numbers in rows.

What is compiled in is the union of what all situations of a run use; a part that a situation does not have gets
neutral numbers there (an amplitude of 0) and leaves its bits unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.kernel.kernel import KernelDesign, Stream, stream_items
from plants.core.kernel.lanes import Lane, LaneLoop, Uniform
from plants.core.names import variable
from plants.core.signals import noise
from plants.core.signals.signal import Constant, Feed, Part, Signal, number_or_tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Streams = tuple[np.ndarray, np.ndarray, np.ndarray]  # codes, keys and series, as of `stream_arrays`


@dataclass(frozen=True)
class Slot:
    """Place for one part of one channel in the kernel."""

    group: str
    kind: type[Part]
    substeps: int

    @property
    def every(self) -> str:
        """Name of the kernel integer that is the steps between samples."""
        return f"every_{self.group}"

    @property
    def held(self) -> str:
        """Row group of the state."""
        return f"{self.group}_held"

    @property
    def units(self) -> dict[str, str]:
        """Row group of each unit noise, by the name of its stream."""
        numbers = ["", *map(str, range(1, self.kind.n_units))][: self.kind.n_units]
        return {f"{self.group}/{n}" if n else self.group: f"{self.group}_unit{n}" for n in numbers}


@dataclass(frozen=True)
class Fill:
    """One situation's numbers for one slot."""

    part: Part | None
    feed: Feed
    every: int


class SignalBank:
    """Signals of several channels for several situations.

    Parameters
    ----------
    name : str
        Prefix of the rows and of the noise streams ("w" for disturbances).
    channels : sequence of str
        Names of the channels.
    signals : sequence [situation] of sequence [channel] of Signal
    step : float
        Integration step [s].
    """

    def __init__(self, name: str, channels: Sequence[str], signals: Sequence[Sequence[Signal]], step: float) -> None:
        self.step = step
        self.name = name
        self.channels = tuple(channels)
        self.slots: list[list[Slot]] = []
        self.fills: list[list[Fill]] = [[] for _ in signals]
        for number, channel in enumerate(channels):
            self.slots.append(self._place(f"{name}_{variable(channel)}", [signal[number] for signal in signals]))

    def _place(self, prefix: str, signals: Sequence[Signal]) -> list[Slot]:
        slots = []
        for kind, count in _union(signals).items():
            for k in range(count):
                chosen = [[p for p in signal.parts if type(p) is kind][k : k + 1] for signal in signals]
                feeds = [parts[0].feed(self.step) if parts else None for parts in chosen]
                substeps = max((feed.substeps for feed in feeds if feed), default=1)
                slots.append(Slot(f"{prefix}_{kind.__name__.lower()}{k}", kind, substeps))
                _check_substeps(slots[-1], [feed for feed in feeds if feed])
                for fills, parts, feed in zip(self.fills, chosen, feeds, strict=True):
                    fills.append(_fill(parts[0] if parts else None, feed, self.step, slots[-1].group))
        return slots

    @property
    def constant(self) -> bool:
        """Whether no signal of any situation ever changes."""
        return all(slot.kind is Constant for slot in self._all_slots())

    def _all_slots(self) -> list[Slot]:
        return [slot for channel in self.slots for slot in channel]

    def add_to(self, design: KernelDesign) -> None:
        """Give the slots rows and put what refreshes their held values at the head of every step."""
        for slot in self._all_slots():
            self._add_settings(design, slot)
            if slot.kind.random:
                for row in slot.units.values():
                    design.rows.add(row)
                design.rows.add(slot.held, slot.kind.n_states)
                self._add_streams(design, slot)

    def add_held(self, design: KernelDesign) -> list[str]:
        """Give the slots rows without what refreshes them, and return the row groups that somebody else must fill."""
        for slot in self._all_slots():
            self._add_settings(design, slot)
            if slot.kind.random:
                design.rows.add(slot.held, slot.kind.n_states)
        return [slot.held for slot in self._all_slots() if slot.kind.random]

    def _add_settings(self, design: KernelDesign, slot: Slot) -> None:
        if slot.kind.n_settings:
            design.rows.add(slot.group, slot.kind.n_settings)

    def _add_streams(self, design: KernelDesign, slot: Slot) -> None:
        design.integers.append(slot.every)
        fetches = [
            stream_items(design, Stream(name, row, slot.every, slot.substeps)) for name, row in slot.units.items()
        ]
        loop = LaneLoop(f"advance_{slot.group}", (_advance(slot),), f"step % {slot.every} == 0")
        if slot.substeps == 1:
            design.before += [*fetches, loop]
            return
        # A filter that needs sub-steps draws them all from its streams: sample numbers run on within the step.
        for sub in range(slot.substeps):
            design.before += [_at_substep(fetch, slot, sub) for fetch in fetches]
            design.before.append(LaneLoop(f"{loop.name}_{sub}", loop.bodies))

    def values(self, lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:
        """Return every channel's value at stage time `t`; parts with jumps are held from the step's start."""
        result = []
        for k, slots in enumerate(self.slots):
            total: Any = 0.0
            for slot in slots:
                settings = lane[slot.group] if slot.kind.n_settings else ()
                state = number_or_tuple(lane[slot.held]) if slot.kind.random else 0.0
                value = slot.kind.value(start if slot.kind.jumps else t, settings, state)
                total = lane.tape.keep(total + lane.tape.keep(value))
            when = lane.tape.shapes[lane.tape.lift(t).index].hex()
            result.append(lane.tape.keep(total, f"{self.name}{k} at {when}"))
        return tuple(result)

    def every(self, situation: int) -> dict[str, int]:
        """Return the kernel integers of one situation: steps between samples of each stream."""
        pairs = zip(self._all_slots(), self.fills[situation], strict=True)
        return {slot.every: fill.every for slot, fill in pairs if slot.kind.random}

    def start(self, situation: int, name: str, seed: int) -> dict[str, tuple[float, ...]]:
        """Return the initial values of the rows of one situation."""
        rows: dict[str, tuple[float, ...]] = {}
        for slot, fill in zip(self._all_slots(), self.fills[situation], strict=True):
            if slot.kind.n_settings:
                rows[slot.group] = fill.part.settings(self.step) if fill.part else (0.0,) * slot.kind.n_settings
            if slot.kind.random:
                rows |= dict.fromkeys(slot.units.values(), (0.0,))
                rows[slot.held] = self._begun(fill.part, slot, name, seed)
        return rows

    def _begun(self, part: Part | None, slot: Slot, name: str, seed: int) -> tuple[float, ...]:
        """Initial state of a random part."""
        begun = None if part is None else part.begin(name, seed, self.step)
        return _stationary(part, slot, name, seed) if begun is None else tuple(map(float, np.atleast_1d(begun)))

    def streams(self, situation: int) -> list[Feed]:
        """Return what feeds each stream of the random slots, in the order of the kernel's streams."""
        pairs = zip(self._all_slots(), self.fills[situation], strict=True)
        return [_unit(fill.feed, k) for slot, fill in pairs if slot.kind.random for k in range(len(slot.units))]


def _advance(slot: Slot) -> Callable[[Lane], None]:
    def body(lane: Lane) -> None:
        held, unit = (
            number_or_tuple(lane[slot.held]),
            number_or_tuple(tuple(lane.one(row) for row in slot.units.values())),
        )
        settings = lane[slot.group] if slot.kind.n_settings else ()
        moved = slot.kind.advance(held, unit, settings)
        lane[slot.held] = (moved,) if slot.kind.n_states == 1 else moved

    return body


def _at_substep(fetch: Uniform, slot: Slot, sub: int) -> Uniform:
    old, new = f"sample = step // {slot.every}", f"sample = step * {slot.substeps} + {sub}"
    return replace(fetch, lines=tuple(line.replace(old, new) for line in fetch.lines))


def _union(signals: Sequence[Signal]) -> dict[type[Part], int]:
    """Kinds of parts with the largest number of each that one signal has; in a fixed order."""
    counts: dict[type[Part], int] = {}
    for signal in signals:
        kinds = [type(part) for part in signal.parts]
        for kind in kinds:
            counts[kind] = max(counts.get(kind, 0), kinds.count(kind))
    return dict(sorted(counts.items(), key=lambda item: item[0].__name__))


def _check_substeps(slot: Slot, feeds: Sequence[Feed]) -> None:
    if len({feed.substeps for feed in feeds}) > 1:
        raise ValueError(
            f"{slot.group}: the situations of one run need the same number of filter sub-steps per step, got "
            f"{sorted({feed.substeps for feed in feeds})}; use equal bandwidths or evaluate them apart"
        )


def _fill(part: Part | None, feed: Feed | None, step: float, group: str) -> Fill:
    if part is None or feed is None:
        return Fill(None, Feed(noise.OFF), 1)
    every = 1
    if feed.every is not None:
        ratio = feed.every / step
        every = max(1, round(ratio))
        if abs(ratio - every) > 1e-6 * every:
            kind = type(part).__name__
            message = f"{group} ({kind}): the hold time {feed.every:g} s must be a multiple of the step {step:g} s"
            raise ValueError(message)
    return Fill(part, feed, every)


def _unit(feed: Feed, number: int) -> Feed:
    """What feeds one of a part's units."""
    return replace(feed, shared=feed.shared[number : number + 1]) if feed.shared else feed


def _stationary(part: Part | None, slot: Slot, name: str, seed: int) -> tuple[float, ...]:
    n_states = slot.kind.n_states
    if part is None:
        return (0.0,) * n_states
    key = noise.stream_key(name, seed, f"{slot.group}/start")
    drawn = [noise.samples(code, n_states, key).tolist() for code in (noise.GAUSSIAN, noise.UNIFORM)]
    start = part.start(*map(number_or_tuple, map(tuple, drawn)))
    return tuple(map(float, start)) if n_states > 1 else (float(start),)


def stream_arrays(feeds: Sequence[Sequence[Feed]], names: Sequence[str], keys: Sequence[tuple[str, int]]) -> Streams:
    """Codes [situation, stream], keys [situation, stream, 5] and recorded series [n_series, length] for a kernel.

    Parameters
    ----------
    feeds : [situation][stream]
    names : stream names
    keys : (name, seed) of each situation
    """
    n_streams = max(1, len(names))
    codes = np.zeros((len(feeds), n_streams), np.int64)
    numbers = np.zeros((len(feeds), n_streams, 5), np.int64)
    series: dict[tuple[float, ...], int] = {}
    for i, (row, (name, seed)) in enumerate(zip(feeds, keys, strict=True)):
        for j, (feed, stream) in enumerate(zip(row, names, strict=True)):
            codes[i, j] = feed.code
            numbers[i, j, :4] = noise.stream_key(name, seed, *(feed.shared or (stream,)))
            numbers[i, j, 4] = feed.ahead
            if feed.code == noise.RECORDED:
                numbers[i, j, 4] = series.setdefault(feed.series, len(series))
    table = np.zeros((max(1, len(series)), max((len(s) for s in series), default=1)))
    for values, k in series.items():
        table[k, : len(values)] = values
        table[k, len(values) :] = values[-1]
    return codes, numbers, table
