"""Delay lines and actuators of a real loop: what reaches the plant of what the controller asks for, and when.

Delay lines (for outputs as well) are rings of samples behind the kernel's own rows, read between two neighbours. All
lanes of a chunk share one index, computed at step level; what goes in and what comes out are rows, so that no lane
loop touches rows of changing place.

The actuator, in the order of a drive: the drive follows what it is asked for (inside the input bounds, so that it
leaves its stop as soon as the command does) at a limited speed, overcomes a dead zone, and moves the plant through a
transmission with play. It moves in every integration step, also within a sample whose command is held. It stands
behind the input delay: a delay and what does not change in time may change places, and behind it the delay line needs
one slot a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import clip, where
from plants.core.kernel.lanes import Item, Lane, RingMove, Uniform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.kernel.kernel import KernelDesign
    from plants.core.kernel.lanes import WorkspaceRows
    from sscq.loop.spec import LoopSpec, LoopTiming


_NEIGHBOURS = (("old", ""), ("older", " - 1"))


class DelayLine:
    """One ring: row group `group` goes in; its two neighbours around the delay come out beside it.

    Parameters
    ----------
    ring : str
        Prefix of the kernel's numbers: ``<ring>_ring``, ``_depth``, ``_delay`` and ``_part``.
    group : str
        Row group that is put in once a sample.
    """

    def __init__(self, ring: str, group: str) -> None:
        self.ring, self.group = ring, group

    def add_rows(self, design: KernelDesign, width: int) -> None:
        """Give what goes in and what comes out its rows."""
        for name in (self.group, *(f"{self.group}_{name}" for name, _ in _NEIGHBOURS)):
            design.rows.add(name, width)

    def between(self, lane: Lane) -> list[Any]:
        """Return the values at the delay: linearly between its two neighbours."""
        share = lane.uniform(f"{self.ring}_part")
        pairs = zip(lane[f"{self.group}_old"], lane[f"{self.group}_older"], strict=True)
        return [near + share * (far - near) for near, far in pairs]

    def by_sample(self, design: KernelDesign, timing: LoopTiming) -> Item:
        """Put in and take out at every sample, a delay in samples; before the first one that one holds."""
        n = timing.sample
        places = {"now": f"step // {n}"}
        for name, back in _NEIGHBOURS:
            places[name] = f"max(step // {n} - {self.ring}_delay{back}, 0)"
        slots = {name: f"{place} % {self.ring}_depth" for name, place in places.items()}
        return self._moved(design, slots, timing.at_sample(), timing.at_sample())

    def by_step(self, design: KernelDesign, timing: LoopTiming) -> Item:
        """Put in at every sample and take out at every step, a delay in steps; before, the slot behind the ring."""
        n, depth = timing.sample, f"{self.ring}_depth"
        slots = {"now": f"(step // {n}) % {depth}"}
        for name, back in _NEIGHBOURS:
            past = f"step - {self.ring}_delay{back}"
            slots[name] = f"((({past}) // {n}) % {depth} if {past} >= 0 else {depth})"
        return self._moved(design, slots, timing.at_sample(), "")

    def _moved(self, design: KernelDesign, slots: Mapping[str, str], put: str, take: str) -> Uniform:
        """Put in under one condition and take out under another; `slots` are the places in the ring, by name."""
        design.integers += [f"{self.ring}_ring", f"{self.ring}_depth", f"{self.ring}_delay"]
        design.numbers.append(f"{self.ring}_part")
        design.kept.append(self.group)
        rows, width = design.rows, design.rows.size[self.group]

        def move(name: str, group: str, when: str) -> RingMove:
            place = f"{self.ring}_{name} = {self.ring}_ring + {slots[name]} * {width}"
            return RingMove(self.ring, name, place, rows.first[group], width, put=name == "now", when=when)

        moves = [move("now", self.group, put)]
        moves += [move(name, f"{self.group}_{name}", take) for name, _ in _NEIGHBOURS]
        return Uniform(tuple(line for one in moves for line in one.lines(design.lanes)), tuple(moves))


class Actuator:
    """Rows and body of the actuators, one for each plant input."""

    def __init__(self, spec: LoopSpec) -> None:
        self.spec = spec
        self.slow, self.dead, self.loose = (bool(s.any()) for s in (spec.speed, spec.dead_zone, spec.backlash))
        self.used = self.slow or self.dead or self.loose

    def add_rows(self, rows: WorkspaceRows) -> None:
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
        inputs = tuple(lane.tape.keep(value, f"wanted {k}") for k, value in enumerate(wanted))
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
