"""Sensors of a real loop: what the controller gets to see of the plant's outputs.

On the way to the delay line: the instant of the sample is uncertain (jitter), then noise is added. Behind it: the
converter rounds, and the packet that carries all measurements of a sample may be lost, when the last one is held.

Jitter is an age: the measurement that is used at a sample was taken up to a share of the sample time before, between
that sample and the one before it linearly. So it is a number of the lane, like noise, not another time base; the
controller goes on to divide differences by its nominal sample time, and that is the harm that jitter does. Drawn
steps instead of an age would need several integration steps in a sample, and would come in whole steps only. The error
of the straight line is at most T^2/8 times the output's second derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core import noise
from plants.core.elementary import floor, where
from sscq.chance import Chance, share, threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.lanes import Lane, Rows
    from sscq.loop_spec import LoopSpec


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
            Chance(f"noise_{names[k]}", f"noise_unit{k}", noise.GAUSSIAN, spec.noise[:, k]) for k in spec.noisy
        ]
        if self.jittery:
            self.chances.append(Chance("jitter", "jitter_unit", noise.UNIFORM, spec.jitter))
        if self.lossy:
            self.chances.append(Chance("dropout", "dropout_unit", noise.UNIFORM, spec.dropout))

    def add_rows(self, rows: Rows) -> None:
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
