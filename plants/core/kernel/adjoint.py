"""Slopes of a kernel's results with respect to its parameters: the kernel run backwards, in the same lanes.

A kernel is a chain of lane loops; each maps rows to rows and is traced on a tape. Its reverse maps the adjoints of what
it wrote (d result / d row) to the adjoints of what it read, by one reverse sweep over that tape
(:func:`plants.core.tracing.gradients.gradient`): whatever the number of parameters, all slopes of a result take a few
times the operations of the run itself. Only rows on a way from the parameters to the results have adjoints.

A long step is taken apart: the reverse of each stage of the integrator is a loop of its own, so that the numbers that
wait for their slopes stay in the fastest cache.

The way back needs values of the way there. Workspaces are kept at the start of every segment of steps; from the last
segment to the first the segment is run once more, the rows that its reverse loops read are kept for each of its steps,
and then it is run backwards. With segments of the square root of the number of steps, memory grows with that root.

Limits, magnitudes, tables and selects have the slope of the side that was taken; jumps (a quantiser, the loss of a
rollout) have slope 0 everywhere, so that a slope says nothing of what jumps.

Source: Griewank and Walther, Evaluating Derivatives, 2nd ed., secs. 3.2, 4.6 and 12.1.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.kernel import cache
from plants.core.kernel.dependence import active, flow, loop_of, numbers_of, parts_of
from plants.core.kernel.kernel import KernelDesign, assembled, unpacked
from plants.core.kernel.lanes import MARK, Item, Iterate, Lane, LaneLoop, Repeat, RingMove, Text, Uniform, fuse
from plants.core.kernel.pieces import SPILL
from plants.core.tracing.gradients import gradient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.core.kernel.lanes import Body

    _Version = tuple[int, bool]  # a row, and whether as it is behind the loop

ADJOINT = "adjoint"
ARGUMENTS = (  # of a rollout: whole numbers, and contiguous arrays of so many dimensions
    "int64",
    "int64",
    "int64[:,::1]",
    "int64[:,::1]",
    "int64[:,::1]",
    "float64[:,::1]",
    "float64[:,::1]",
    "int64[:,::1]",
    "int64[:,:,::1]",
    "float64[:,::1]",
    "int64[::1]",
    "float64[::1]",
    "float64[:,::1]",
    "float64[:,::1]",
    "float64[:,::1]",
    "float64[::1]",
    "float64[:,:,::1]",
    "float64[:,:,::1]",
    "float64[:,:,::1]",
    "int64[::1]",
)
_ROLLOUT = '''

def rollout(first_chunk, last_chunk, lane_start, lane_theta, lane_out, start, theta, codes, keys, series,
            integers, numbers, results, weights, slopes, memory, checkpoints, kept, unit, filled):
    """Run chunks of {lanes} rollouts there and back: slopes [n, {n_theta}] of the sum of weights [n] times results.

    Of this call alone: memory [({n_rows} + {n_adjoint} + 2 ring rows) * {lanes}],
    checkpoints [segments, {n_saved} + ring rows, {lanes}], kept [steps of a segment, {n_kept}, {lanes}],
    unit [{lanes}, streams, 1024], filled.
    """
    rings = start.shape[1] - {n_rows}
    size = {n_rows} + {n_adjoint} + 2 * rings
    S = memory.reshape(size, {lanes})
    first_step, n_steps, segment = integers[0], integers[1], integers[2]
    h = numbers[0]
{unpack}
    segments = (n_steps + segment - 1) // segment
    missing = segments * segment - n_steps  # of the first segment: the last, which is not run again, is whole
    for chunk in range(first_chunk, last_chunk):
        shared = True
        for lane in range({lanes}):
            source = lane_start[chunk, lane]
            shared = shared and source == lane_start[chunk, 0]
            for row in range({n_rows}):
                S[row, lane] = start[source, row]
            for row in range(rings):
                S[{first_ring} + row, lane] = start[source, {n_rows} + row]
            for row in range({n_theta}):
                S[{theta_row} + row, lane] = theta[lane_theta[chunk, lane], row]
        for stream in range({n_streams}):
            filled[stream] = -1
        spread = 0 if shared else 1
        for sweep in range(2 * segments - 1):
            part = sweep if sweep < segments else 2 * segments - 2 - sweep
            begin = first_step + max(part * segment - missing, 0)
            end = first_step + (part + 1) * segment - missing
            saving = 1 if sweep >= segments - 1 else 0
            if sweep < segments - 1:
                for row in range({n_saved}):
                    for lane in range({lanes}):
                        checkpoints[part, row, lane] = S[row, lane]
                for row in range(rings):
                    for lane in range({lanes}):
                        checkpoints[part, {n_saved} + row, lane] = S[{first_ring} + row, lane]
            if sweep >= segments:
                for row in range({n_saved}):
                    for lane in range({lanes}):
                        S[row, lane] = checkpoints[part, row, lane]
                for row in range(rings):
                    for lane in range({lanes}):
                        S[{first_ring} + row, lane] = checkpoints[part, {n_saved} + row, lane]
            step = begin
            while step < end:
                t = step * h
{steps}
                step += 1
            if sweep == segments - 1:
                for lane in range({lanes}):
                    for row in range({n_adjoint}):
                        S[{n_rows} + row, lane] = 0.0
                    for row in range(rings):
                        S[{first_ring} + rings + row, lane] = 0.0
                    out = lane_out[chunk, lane]
                    if out >= 0:
{give_back}
            if saving > 0:
                while step > begin:
                    step -= 1
                    t = step * h
{back}
        for lane in range({lanes}):
            out = lane_out[chunk, lane]
            if out >= 0:
{slopes}
'''


@dataclass(frozen=True)
class AdjointKernel:
    """A printed kernel that runs there and back.

    Attributes
    ----------
    text : str
    n_rows, n_saved, n_adjoint, n_kept : int
        Rows of the kernel it was made from, those of them that a step hands to the next, further rows before its rings
        (adjoints, what pieces of long loops hand on), and numbers kept of a step.
    n_streams : int
    integers, numbers : tuple of str
        The kernel's by name, in order, behind the first of their own.
    rings : tuple of str
        Those of the integers that say where a ring begins: it lies `n_adjoint` rows further on.
    lanes : int
    """

    text: str
    n_rows: int
    n_saved: int
    n_adjoint: int
    n_kept: int
    n_streams: int
    integers: tuple[str, ...]
    numbers: tuple[str, ...]
    rings: tuple[str, ...]
    lanes: int

    @property
    def rollout(self) -> Callable[..., None]:
        """The compiled function of :data:`ARGUMENTS`."""
        return cache.function(self.text, ARGUMENTS)


def build_adjoint(design: KernelDesign) -> AdjointKernel:
    """Print the kernel of a design there and back.

    Raises
    ------
    ValueError
        Where the design iterates (its accelerations are found by Newton's method), or is observed.
    """
    if design.observed:
        raise ValueError("a kernel that is recorded has no way back; build the loop with observe=False")
    items = fuse([*design.before, *design.after])
    if any(isinstance(item, Iterate) for item in items):
        raise ValueError(
            "slopes are known where nothing is iterated: take algebraic_loop='solved', or a loop-free form"
        )
    return _Reverse(design, items).printed()


class _Reverse:
    """The pieces of a kernel that runs there and back."""

    def __init__(self, design: KernelDesign, items: Sequence[Item]) -> None:
        self.design, self.items = design, items
        self.n_rows = design.rows.count
        spill = design.rows.first.get(SPILL, self.n_rows)  # what pieces hand on: of one step alone
        self.n_saved = spill if spill + design.rows.size.get(SPILL, 0) == self.n_rows else self.n_rows
        self.rows = copy.deepcopy(design.rows)
        self.parts = {loop.name: parts_of(self.rows, loop) for loop in map(loop_of, items)}
        self.places = {row: k for k, row in enumerate(active(design, self.rows, items, self.parts))}
        self.rows.add(ADJOINT, max(1, len(self.places)))
        self.constant = self._constant()
        self.n_kept = 0

    def _constant(self) -> set[str]:
        """Rows of parameters, of the controller and of the plant, that no loop writes: nothing of them is kept."""
        written = {row for item in self.items for row in flow(self.rows, loop_of(item).bodies)}
        return {str(row) for name in (self.design.theta, "p") for row in numbers_of(self.rows, name)} - written

    def printed(self) -> AdjointKernel:
        design = self.design
        text = Text(self.rows, design.lanes, self._stored())
        there, back = self._lines(text)
        n_adjoint = self.rows.count - self.n_rows
        body = _ROLLOUT.format(
            lanes=design.lanes,
            n_rows=self.n_rows,
            n_saved=self.n_saved,
            n_adjoint=n_adjoint,
            n_kept=self.n_kept,
            first_ring=self.rows.count,
            n_theta=design.rows.size.get(design.theta, 0),
            theta_row=design.rows.first.get(design.theta, 0),
            n_streams=max(1, len(design.streams)),
            unpack=unpacked(design, 3),
            steps=text.placed(_indented(there, 16)),
            back=text.placed(_indented(back, 20)),
            give_back=_indented(self._give_back(), 24),
            slopes=_indented(self._slopes(), 16),
        )
        source = assembled(text, design, f"slopes of {design.title}", body)
        rings = tuple(name for name in design.integers if name.endswith("_ring"))
        return AdjointKernel(
            source,
            self.n_rows,
            self.n_saved,
            n_adjoint,
            max(1, self.n_kept),
            max(1, len(design.streams)),
            tuple(design.integers),
            tuple(design.numbers),
            rings,
            design.lanes,
        )

    def _stored(self) -> set[str]:
        """Rows that somebody reads outside the lane loops: what comes out, what is moved, all adjoints."""
        design, first = self.design, self.rows.first[ADJOINT]
        names = [*design.results, *design.kept]
        return {
            *(str(row) for name in names for row in numbers_of(design.rows, name)),
            *(str(first + k) for k in range(self.rows.size[ADJOINT])),
        }

    def _lines(self, text: Text) -> tuple[list[str], list[str]]:
        """Statements of a step on the way there, which keep what is needed, and on the way back."""
        marks = [(self._there(text, item), self._reverse(text, item)) for item in self.items]
        needed = [
            [text.loads(mark.removeprefix(MARK), self._stored()) if mark else set() for mark in reverse]
            for _, reverse in marks
        ]
        text.print()
        there: list[str] = []
        back: list[str] = []
        for item, (mark, reverse), rows in zip(self.items, marks, needed, strict=True):
            if isinstance(item, Uniform):
                there += item.lines
                back[:0] = [line for move in reversed(item.moves) for line in self._moved_back(move)]
                continue
            forth, home = self._both(item, mark, reverse, rows)
            there += forth
            back[:0] = home
        return there, back

    @staticmethod
    def _there(text: Text, item: Item) -> str:
        return "" if isinstance(item, Uniform) else text.mark(loop_of(item))

    def _reverse(self, text: Text, item: Item) -> list[str]:
        """Marks of the reverse of each part of the loop; empty where nothing that it writes has an adjoint."""
        if isinstance(item, Uniform):
            return []
        loop = loop_of(item)
        return [
            text.mark(LaneLoop(f"back_{loop.name}{f'_{k}' if k else ''}", (self._body(part),)))
            if any(row in self.places for row in flow(self.rows, part))
            else ""
            for k, part in enumerate(self.parts[loop.name])
        ]

    def _body(self, bodies: Sequence[Body]) -> Body:
        """The adjoints of what a loop reads, of those of what it writes."""

        def body(lane: Lane) -> None:
            for one in bodies:
                one(lane)
            written = {row: value for row, value in lane.written().items() if row in self.places}
            read = {row: value for row, value in lane.read().items() if row in self.places}
            lane.forget()
            adjoint = lane[ADJOINT]
            total: Any = 0.0
            for row, value in written.items():
                total = total + adjoint[self.places[row]] * value
            slopes = dict(zip(read, gradient(total, list(read.values())), strict=True))
            for row in sorted({*read, *written}, key=int):
                before = 0.0 if row in written else adjoint[self.places[row]]
                lane.put(ADJOINT, self.places[row], before + slopes.get(row, 0.0))

        return body

    def _both(
        self, item: Item, mark: str, reverse: Sequence[str], needed: Sequence[set[str]]
    ) -> tuple[list[str], list[str]]:
        """A loop on its way there, which keeps the rows that its reverse reads, and its reverse, which fetches them.

        What a part reads of parts before it is kept behind the loop, all else before it.
        """
        first, last = self.rows.span(ADJOINT).start, self.rows.span(ADJOINT).stop
        written: set[str] = set()
        wanted: list[list[_Version]] = []
        for part, rows in zip(self.parts[loop_of(item).name], needed, strict=True):
            own = sorted(int(row) for row in rows - self.constant if not first <= int(row) < last)
            wanted.append([(row, str(row) in written) for row in own])
            written |= set(flow(self.rows, part))
        slots = {one: k for k, one in enumerate(sorted({one for own in wanted for one in own}, key=lambda o: o[::-1]))}
        before, behind = ([one for one in slots if one[1] == late] for late in (False, True))
        there = [*self._moved(item, slots, before, saving=True), mark, *self._moved(item, slots, behind, saving=True)]
        back: list[str] = []
        present: dict[int, bool] = {}
        for home, kept in zip(reversed(reverse), reversed(wanted), strict=True):
            missing = [(row, late) for row, late in kept if present.get(row) != late]
            present |= dict(missing)
            back += [*self._moved(item, slots, missing, saving=False), home] if home else []
        self.n_kept += len(slots) * _count(item)
        return _framed(item, there, saving=True), _framed(item, back, saving=False) if back else []

    def _moved(
        self, item: Item, slots: Mapping[_Version, int], which: Sequence[_Version], *, saving: bool
    ) -> list[str]:
        """Statements that keep rows of this step, or fetch them."""
        turn = f" + turn * {len(slots)}" if isinstance(item, Repeat) else ""
        lines = []
        for row, late in which:
            slot = f"kept[step - begin, {self.n_kept + slots[row, late]}{turn}, lane]"
            lines.append(f"    {slot} = S[{row}, lane]" if saving else f"    S[{row}, lane] = {slot}")
        if lines:
            lines = [f"for lane in range({self.design.lanes}):", *lines]
        return ["if saving > 0:", *(f"    {line}" for line in lines)] if lines and saving else lines

    def _moved_back(self, move: RingMove) -> list[str]:
        """The adjoints of a move: what came from somewhere adds to the adjoint there."""
        lines = []
        for k in range(move.width):
            row = str(move.first + k)
            if row in self.places:
                inside = f"S[{move.ring}_{move.slot} + {k} + rings, lane]"
                outside = f"S[{self.rows.first[ADJOINT] + self.places[row]}, lane]"
                to, origin = (inside, outside) if move.put else (outside, inside)
                lines += [f"    {origin} = {origin} + {to}", f"    {to} = 0.0"]
        if not lines:
            return []
        lines = [move.place, f"for lane in range({self.design.lanes}):", *lines]
        return [f"if {move.when}:", *(f"    {line}" for line in lines)] if move.when else lines

    def _give_back(self) -> list[str]:
        """Results, and the weights that their adjoints begin with."""
        rows = [row for name in self.design.results for row in numbers_of(self.design.rows, name)]
        lines = [f"results[out, {k}] = S[{row}, lane]" for k, row in enumerate(rows)]
        first = self.rows.first[ADJOINT]
        places = [(k, self.places[str(row)]) for k, row in enumerate(rows) if str(row) in self.places]
        return lines + [f"S[{first + place}, lane] = weights[out, {k}]" for k, place in places]

    def _slopes(self) -> list[str]:
        first, found = self.rows.first[ADJOINT], []
        for k, row in enumerate(numbers_of(self.design.rows, self.design.theta)):
            place = self.places.get(str(row))
            found.append(f"slopes[out, {k}] = {'0.0' if place is None else f'S[{first + place}, lane]'}")
        return found


def _count(item: Item) -> int:
    return item.count if isinstance(item, Repeat) else 1


def _framed(item: Item, lines: list[str], *, saving: bool) -> list[str]:
    """Statements of a loop with its repetition and its condition around them."""
    if isinstance(item, Repeat):
        turns = f"range({item.count})" if saving else f"range({item.count - 1}, -1, -1)"
        lines = [f"for turn in {turns}:", *(f"    {line}" for line in lines)]
    when = loop_of(item).when
    return [f"if {when}:", *(f"    {line}" for line in lines)] if when else lines


def _indented(lines: Sequence[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in lines)
