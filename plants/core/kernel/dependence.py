"""What of a step's rows depends on what: for kernels that run backwards.

A lane loop writes rows that depend on rows it reads. Those between the parameters and the results have adjoints; and
a long loop is taken apart, so that what one part computes waits for its slopes no longer than that part's way back.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from plants.core.kernel.lanes import Item, Iterate, Lane, LaneLoop, Repeat, Uniform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.kernel.kernel import KernelDesign
    from plants.core.kernel.lanes import Body, WorkspaceRows

    Parts = Sequence[Sequence[Body]]

LONG = 2000  # numbers that a loop computes: beyond, its reverse is taken apart, or they leave the fastest cache


def loop_of(item: Item) -> LaneLoop:
    """Return the lane loop of an item; an empty one for statements at step level."""
    if isinstance(item, Uniform):
        return LaneLoop("", ())
    return item.loop if isinstance(item, (Repeat, Iterate)) else item


def numbers_of(rows: WorkspaceRows, name: str) -> range:
    """Return the numbers of a group's rows; none where there is no such group."""
    return range(*rows.span(name).indices(rows.count)) if name in rows else range(0)


def _traced(rows: WorkspaceRows, bodies: Sequence[Body]) -> Lane:
    lane = Lane(rows)
    for body in bodies:
        body(lane)
    return lane


def flow(rows: WorkspaceRows, bodies: Sequence[Body]) -> dict[str, set[str]]:
    """Return the rows that bodies write, each with those that it depends on."""
    lane = _traced(rows, bodies)
    read = {value.index: row for row, value in lane.read().items()}
    return {
        row: {read[node] for node in lane.tape.needed([value.index]) if node in read}
        for row, value in lane.written().items()
    }


def parts_of(rows: WorkspaceRows, loop: LaneLoop) -> Sequence[Sequence[Body]]:
    """Return the parts of a loop whose reverses are loops of their own, and give the rows between them their places.

    A short loop is in one part. So is one where a part reads what is written before and again behind: neither its
    value before the loop nor that behind it is what was read.
    """
    if not loop.parts or len(_traced(rows, loop.bodies).tape.operations) < LONG:
        return (loop.bodies,)
    wider = copy.deepcopy(rows)
    for name, size in loop.between:
        wider.add(name, size)
    lanes = [_traced(wider, part) for part in loop.parts]
    for k, lane in enumerate(lanes):
        before, behind = (set().union(*(one.written() for one in some)) for some in (lanes[:k], lanes[k:]))
        if not before.isdisjoint(behind & set(lane.read())):
            return (loop.bodies,)
    for name, size in loop.between:
        rows.add(name, size)
    return loop.parts


def active(design: KernelDesign, rows: WorkspaceRows, items: Sequence[Item], parts: Mapping[str, Parts]) -> list[str]:
    """Return the rows that depend on the parameters and on which the results depend, in order.

    Parameters
    ----------
    design : KernelDesign
    rows : WorkspaceRows
        Its own, and those between parts.
    items : sequence of Item
        Of a step, joined.
    parts : mapping of name to parts
        Of each loop, as :func:`parts_of` gives them.
    """
    flows: list[tuple[str, set[str]]] = []
    for item in items:
        if isinstance(item, Uniform):
            for move in item.moves:
                moved = [str(move.first + k) for k in range(move.width)]
                slots = [f"{move.ring} + {k}" for k in range(move.width)]
                to, origin = (slots, moved) if move.put else (moved, slots)
                flows += [(a, {b}) for a, b in zip(to, origin, strict=True)]
        else:
            for part in parts[loop_of(item).name]:
                flows += flow(rows, part).items()
    ahead = _reached({str(row) for row in numbers_of(design.rows, design.theta)}, flows, forward=True)
    wanted = {str(row) for name in design.results for row in numbers_of(design.rows, name)}
    back = _reached(wanted, flows, forward=False)
    return sorted((row for row in ahead & back if row.isdigit()), key=int)


def _reached(start: set[str], flows: Sequence[tuple[str, set[str]]], *, forward: bool) -> set[str]:
    """Return all that is reached from some rows along, or against, the flow of any number of steps."""
    found, before = set(start), -1
    while len(found) != before:
        before = len(found)
        for to, origins in flows:
            if forward and origins & found:
                found.add(to)
            elif not forward and to in found:
                found |= origins
    return found
