"""Delay lines of a sampled loop: rings of samples behind the kernel's own rows, read between two neighbours.

All lanes of a chunk share one index, computed at step level; what goes in and what comes out are rows, so that no lane
loop touches rows of changing place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.lanes import Item, Lane, Uniform, copies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.core.kernel import Design
    from sscq.loop_spec import Timing

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

    def add_rows(self, design: Design, width: int) -> None:
        """Give what goes in and what comes out its rows."""
        for name in (self.group, *(f"{self.group}_{name}" for name, _ in _NEIGHBOURS)):
            design.rows.add(name, width)

    def between(self, lane: Lane) -> list[Any]:
        """Return the values at the delay: linearly between its two neighbours."""
        share = lane.uniform(f"{self.ring}_part")
        pairs = zip(lane[f"{self.group}_old"], lane[f"{self.group}_older"], strict=True)
        return [near + share * (far - near) for near, far in pairs]

    def by_sample(self, design: Design, timing: Timing) -> Item:
        """Put in and take out at every sample, a delay in samples; before the first one that one holds."""
        n = timing.sample
        places = {"now": f"step // {n}"}
        for name, back in _NEIGHBOURS:
            places[name] = f"max(step // {n} - {self.ring}_delay{back}, 0)"
        slots = {name: f"{place} % {self.ring}_depth" for name, place in places.items()}
        lines = [*self._put(design, slots), *self._take(design, slots)]
        return Uniform(_under(timing.at_sample(), lines))

    def by_step(self, design: Design, timing: Timing) -> Item:
        """Put in at every sample and take out at every step, a delay in steps; before, the slot behind the ring."""
        n, depth = timing.sample, f"{self.ring}_depth"
        slots = {"now": f"(step // {n}) % {depth}"}
        for name, back in _NEIGHBOURS:
            past = f"step - {self.ring}_delay{back}"
            slots[name] = f"((({past}) // {n}) % {depth} if {past} >= 0 else {depth})"
        put = _under(timing.at_sample(), self._put(design, slots))
        return Uniform((*put, *self._take(design, slots)))

    def _put(self, design: Design, slots: Mapping[str, str]) -> list[str]:
        design.integers += [f"{self.ring}_ring", f"{self.ring}_depth", f"{self.ring}_delay"]
        design.numbers.append(f"{self.ring}_part")
        design.kept.append(self.group)
        first, width = design.rows.first[self.group], design.rows.size[self.group]
        pairs = [(f"{self.ring}_now + {k}", str(first + k)) for k in range(width)]
        return [f"{self.ring}_now = {self.ring}_ring + {slots['now']} * {width}", *copies(pairs, design.lanes)]

    def _take(self, design: Design, slots: Mapping[str, str]) -> list[str]:
        lines, ring = [], self.ring
        for name, _ in _NEIGHBOURS:
            target, width = design.rows.first[f"{self.group}_{name}"], design.rows.size[self.group]
            pairs = [(str(target + k), f"{ring}_{name} + {k}") for k in range(width)]
            lines += [f"{ring}_{name} = {ring}_ring + {slots[name]} * {width}", *copies(pairs, design.lanes)]
        return lines


def _under(condition: str, lines: list[str]) -> tuple[str, ...]:
    """Statements under a condition on uniform numbers, or as they stand where there is none."""
    return (f"if {condition}:", *(f"    {line}" for line in lines)) if condition else tuple(lines)
