"""Sensors of a real loop: what the controller gets to see of the plant's outputs.

On the way to the delay line: the instant of the sample is uncertain (jitter), then noise is added. Behind it: the
converter rounds, and the packet that carries all measurements of a sample may be lost, when the last one is held. What
is drawn anew in every controller sample (noise, jitter, lost packets) comes from :class:`NoiseStream`.

Jitter is an age: the measurement that is used at a sample was taken up to a share of the sample time before, between
that sample and the one before it linearly. So it is a number of the lane, like noise, not another time base; the
controller goes on to divide differences by its nominal sample time, and that is the harm that jitter does. Drawn
steps instead of an age would need several integration steps in a sample, and would come in whole steps only. The error
of the straight line is at most T^2/8 times the output's second derivative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import floor, where
from plants.core.kernel.kernel import KernelDesign, Stream, stream_items
from plants.core.signals import noise
from plants.excitation import Feed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from plants.core.kernel.lanes import Lane, WorkspaceRows
    from sscq.loop.spec import LoopSpec


_SPAN = math.sqrt(12.0)  # width of the uniform density of mean 0 and variance 1


@dataclass(frozen=True)
class NoiseStream:
    """A stream of unit noise, one number a controller sample, for the situations that use it.

    Attributes
    ----------
    name : str
        Names the stream: with the situation's name and seed it says which numbers are drawn.
    row : str
        Row group that receives the number.
    code : int
        Density, of :mod:`plants.core.signals.noise`.
    used : ndarray [situation]
        Not 0 where a situation uses it; the others are spared the drawing.
    """

    name: str
    row: str
    code: int
    used: np.ndarray

    @property
    def every(self) -> str:
        """Name of the kernel integer that is the steps between samples."""
        return f"every_{self.row}"

    def add_to(self, design: KernelDesign) -> None:
        """Put the fetching of the next number into every step."""
        design.integers.append(self.every)
        design.before.append(stream_items(design, Stream(self.name, self.row, self.every)))

    def feed(self, situation: int) -> Feed:
        """Return what feeds the stream in a situation."""
        return Feed(self.code if self.used[situation] else noise.OFF)


def share(lane: Lane, row: str) -> Any:
    """Return the number of a uniform stream as one between 0 and 1."""
    return 0.5 + lane.one(row) * (1.0 / _SPAN)


def threshold(probability: float) -> float:
    """Return the value below which a uniform stream's number lies with this probability; an unused stream gives 0."""
    return _SPAN * (probability - 0.5)


class Sensors:
    """Rows and bodies of the sensors.

    Parameters
    ----------
    spec : LoopSpec
        Its `watched` measurements are what a sample consists of.
    """

    def __init__(self, spec: LoopSpec) -> None:
        self.spec, self.jittery, self.lossy = spec, bool(spec.jitter.any()), bool(spec.dropout.any())
        names = [q.name for q in spec.plant.measurements]
        self.chances = [
            NoiseStream(f"noise_{names[k]}", f"noise_unit{k}", noise.GAUSSIAN, spec.noise[:, k]) for k in spec.noisy
        ]
        if self.jittery:
            self.chances.append(NoiseStream("jitter", "jitter_unit", noise.UNIFORM, spec.jitter))
        if self.lossy:
            self.chances.append(NoiseStream("dropout", "dropout_unit", noise.UNIFORM, spec.dropout))

    def add_rows(self, rows: WorkspaceRows) -> None:
        """Give the sensors their rows."""
        for k in self.spec.noisy:
            rows.add(f"noise{k}")
        for chance in self.chances:
            rows.add(chance.row)
        for k in self.spec.quantised:
            rows.add(f"quantum{k}")
        if self.jittery:
            rows.add("jitter")
            rows.add("output_before", len(self.spec.watched))
        if self.lossy:
            rows.add("dropout")
            rows.add("packet", len(self.spec.watched))

    def start(self, number: int) -> dict[str, tuple[float, ...]]:
        """Return the rows of one situation that do not start at 0."""
        spec = self.spec
        rows: dict[str, tuple[float, ...]] = {f"noise{k}": (spec.noise[number, k],) for k in spec.noisy}
        rows |= {f"quantum{k}": (spec.quanta[number, k],) for k in spec.quantised}
        if self.jittery:
            rows["jitter"] = (spec.jitter[number],)
        if self.lossy:
            rows["dropout"] = (threshold(spec.dropout[number]),)
        return rows

    def sample(self, lane: Lane, outputs: Sequence[Any]) -> list[Any]:
        """Return the watched measurements as they leave the sensors."""
        values = [outputs[k] for k in self.spec.watched]
        if self.jittery:
            values = self._earlier(lane, values)
        for place, k in enumerate(self.spec.watched):
            if k in self.spec.noisy:
                values[place] = values[place] + lane.one(f"noise{k}") * lane.one(f"noise_unit{k}")
        return values

    def _earlier(self, lane: Lane, now: Sequence[Any]) -> list[Any]:
        """Outputs at an instant between this sample and the one before; the first sample is in time."""
        jitter, fresh = lane.one("jitter"), lane.one("fresh")
        age = jitter * share(lane, "jitter_unit")
        before = [where(fresh, a, b) for a, b in zip(now, lane["output_before"], strict=True)]
        lane["output_before"] = now
        return [where(jitter, a + age * (b - a), a) for a, b in zip(now, before, strict=True)]

    def receive(self, lane: Lane, values: Sequence[Any]) -> list[Any]:
        """Return the watched measurements as the controller gets them; the first packet always arrives."""
        values = [self._rounded(lane, k, value) for k, value in zip(self.spec.watched, values, strict=True)]
        if not self.lossy:
            return values
        fresh, lost = lane.one("fresh"), lane.one("dropout") - lane.one("dropout_unit")
        pairs = zip(values, lane["packet"], strict=True)
        lane["packet"] = [where(fresh, new, where(lost, old, new)) for new, old in pairs]
        return list(lane["packet"])

    def _rounded(self, lane: Lane, k: int, value: Any) -> Any:
        """Return the nearest multiple of the converter's step; halves go up."""
        if k not in self.spec.quantised:
            return value
        quantum = lane.one(f"quantum{k}")
        return where(quantum, quantum * floor(value / where(quantum, quantum, 1.0) + 0.5), value)
