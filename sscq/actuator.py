"""Actuators of a real loop: what reaches the plant of the inputs that the controller asks for.

In the order of a drive: the drive follows what it is asked for (inside the input bounds, so that it leaves its stop as
soon as the command does) at a limited speed, overcomes a dead zone, and moves the plant through a transmission with
play. It moves in every integration step, also within a sample whose command is held. It stands behind the input delay:
a delay and what does not change in time may change places, and behind it the delay line needs one slot a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import clip, where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.lanes import Lane, Rows
    from sscq.loop_spec import LoopSpec


class Actuator:
    """Rows and body of the actuators, one for each plant input.

    Parameters
    ----------
    spec : LoopSpec
    """

    def __init__(self, spec: LoopSpec) -> None:
        self.spec = spec
        self.slow, self.dead, self.loose = (bool(s.any()) for s in (spec.speed, spec.dead_zone, spec.backlash))
        self.used = self.slow or self.dead or self.loose

    def add_rows(self, rows: Rows) -> None:
        """Give the actuators their rows; the state of the play is the plant's input itself."""
        n = len(self.spec.plant.inputs)
        names = (("move", self.slow), ("drive", self.slow), ("dead_zone", self.dead), ("half_play", self.loose))
        for name, used in names:
            if used:
                rows.add(name, n)

    def start(self, number: int) -> dict[str, tuple[float, ...]]:
        """Return the rows of one situation: settings, and drives at the plant's inputs at rest."""
        spec, rows = self.spec, {}
        if self.slow:
            rows["move"] = tuple(spec.speed[number] * spec.timing.step)
            rows["drive"] = tuple(q.nominal for q in spec.plant.inputs)
        if self.dead:
            rows["dead_zone"] = tuple(spec.dead_zone[number])
        if self.loose:
            rows["half_play"] = tuple(0.5 * spec.backlash[number])
        return rows

    def drive(self, lane: Lane, wanted: Sequence[Any]) -> tuple[Any, ...]:
        """Return the plant's inputs after this step; where a setting is 0 its part changes no bit."""
        inputs = tuple(lane.tape.keep(value) for value in wanted)
        if self.slow:
            ways = zip(inputs, lane["drive"], lane["move"], strict=True)
            lane["drive"] = [where(most, clip(u, at - most, at + most), u) for u, at, most in ways]
            inputs = lane["drive"]
        if self.dead:
            zones = zip(inputs, lane["dead_zone"], strict=True)
            inputs = tuple(where(zone, u - clip(u, -zone, zone), u) for u, zone in zones)
        if self.loose:
            plays = zip(inputs, lane["u"], lane["half_play"], strict=True)
            inputs = tuple(where(half, clip(old, u - half, u + half), u) for u, old, half in plays)
        return inputs
