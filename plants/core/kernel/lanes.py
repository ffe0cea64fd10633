"""Lane loops: the pieces a kernel is made of.

A kernel's numbers live in one workspace ``S[row, lane]``. A :class:`Lane` is one lane's view of it while a body is
traced: reading a row gives a traced number, writing one gives the row its new value. Bodies that run under the same
condition are traced one after the other on one tape, so that they share what they compute.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.elementary_kernels import KERNELS
from plants.core.kernel.machine_code import IN_PIECES
from plants.core.kernel.pieces import LONGEST, OUTSIDE, SPILL, Pieces, on_rows, weight
from plants.core.printers.python import Printed
from plants.core.tracing.tape import Tape, Traced

MARK = "@lanes "
CLOCK = "clock"
"""Row of a kernel whose lanes each have a time of their own: steps since the lane's own start."""

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Body = Callable[["Lane"], None]


class WorkspaceRows:
    """Names and numbers of the workspace's rows, in groups."""

    def __init__(self) -> None:
        self.first: dict[str, int] = {}
        self.size: dict[str, int] = {}
        self.count = 0

    def add(self, name: str, size: int = 1) -> None:
        """Give the group `name` the next `size` rows; a known group must keep its size."""
        if name in self.first:
            if self.size[name] != size:
                raise ValueError(f"row group {name!r} has {self.size[name]} rows, asked for {size}")
            return
        self.first[name], self.size[name] = self.count, size
        self.count += size

    def span(self, name: str) -> slice:
        """Return the rows of a group."""
        return slice(self.first[name], self.first[name] + self.size[name])

    def __contains__(self, name: str) -> bool:
        return name in self.first


class Lane:
    """One lane's rows as traced numbers."""

    def __init__(self, rows: WorkspaceRows) -> None:
        self.tape = Tape()
        self._rows = rows
        self._values: dict[str, Traced] = {}
        self._sources: dict[int, str] = {}
        self._targets: dict[str, Traced] = {}

    def __getitem__(self, group: str) -> tuple[Traced, ...]:
        first, size = self._rows.first[group], self._rows.size[group]
        return tuple(self._read(str(first + k), self._label(group, k)) for k in range(size))

    def __setitem__(self, group: str, values: Sequence[Any]) -> None:
        size = self._rows.size[group]
        if len(values) != size:
            raise ValueError(f"row group {group!r} has {size} rows, got {len(values)} values")
        for k, value in enumerate(values):
            self.put(group, k, value)

    def _label(self, group: str, k: int) -> str:
        return group if self._rows.size[group] == 1 else f"{group}[{k}]"

    def __contains__(self, group: str) -> bool:
        return group in self._rows

    def put(self, group: str, k: int, value: Any) -> None:
        """Give row `k` of a group its new value."""
        row = str(self._rows.first[group] + k)
        # Kept: a loop that reads the row from memory and one that is joined to this one compute the same bits.
        self._targets[row] = self._values[row] = self.tape.keep(value, self._label(group, k))

    def one(self, group: str) -> Traced:
        """Return the only row of a group."""
        (value,) = self[group]
        return value

    def uniform(self, name: str) -> Traced:
        """Return a number that all lanes share, such as ``t`` or ``h``; with a clock row, ``t`` is the lane's own."""
        if name == "t" and CLOCK in self._rows:
            return self.tape.keep(self.one(CLOCK) * self.uniform("h"), "t")  # rounded as the shared time is
        value = self.tape.input(name)
        self._sources[value.index] = ""
        return value

    def _read(self, row: str, label: str) -> Traced:
        if row not in self._values:
            value = self.tape.input(label)
            self._sources[value.index] = row
            self._values[row] = value
        return self._values[row]

    def written(self) -> dict[str, Traced]:
        """Return the new values of the rows that change, by row number."""
        return {row: value for row, value in self._targets.items() if self._sources.get(value.index) != row}

    def read(self) -> dict[str, Traced]:
        """Return what was read from rows as they were at the start, by row number."""
        return {row: Traced(self.tape, node) for node, row in self._sources.items() if row}

    def forget(self) -> None:
        """Give no row its new value: what was computed stays on the tape."""
        self._targets.clear()

    def loaded(self, kept: set[str]) -> set[str]:
        """Return the rows that the body must load if it stores those of its rows that are in `kept`."""
        stored = [value.index for row, value in self._stored(kept).items()]
        needed = set(self.tape.needed(stored))
        return {row for node, row in self._sources.items() if row and node in needed}

    def _stored(self, kept: set[str]) -> dict[str, Traced]:
        return {row: value for row, value in self.written().items() if row in kept}

    def flow(self, kept: set[str]) -> tuple[dict[str, int], dict[str, int]]:
        """Return the nodes of what the body reads (rows, and uniform numbers by name) and of the rows it stores."""
        stored = {row: value.index for row, value in self._stored(kept).items()}
        needed = set(self.tape.needed(stored.values()))
        read = {row or self.tape.input_names[node]: node for node, row in self._sources.items() if node in needed}
        return read, stored

    def printed(self, kept: set[str], printer: type[Printed] = Printed) -> tuple[list[str], Printed]:
        """Return the body as text lines, and what was printed: it names the functions that are called."""
        stored = self._stored(kept)
        outputs = [value.index for value in stored.values()]
        needed = set(self.tape.needed(outputs))
        names = {node: self._variable(node) for node in self._sources if node in needed}
        code = printer(self.tape, outputs, names)
        # All loads come before all stores, so rows that are read and written need no copies.
        loads = [printer.load(names[node], row) for node, row in self._sources.items() if row and node in needed]
        stores = [printer.store(row, code.value(value.index)) for row, value in stored.items()]
        return [*loads, *code.lines, *stores], code

    @property
    def shared(self) -> list[str]:
        """Names of the numbers that all lanes share."""
        return [self.tape.input_names[node] for node, row in self._sources.items() if not row]

    def _variable(self, node: int) -> str:
        """Name of a row's or a uniform number's variable in the text."""
        name, row = self.tape.input_names[node], self._sources[node]
        return f"r{row}_{re.sub(r'[^0-9A-Za-z_]', '_', name).strip('_')}" if row else name


@dataclass(frozen=True)
class LaneLoop:
    """One lane loop.

    Attributes
    ----------
    name : str
        Says in the text what the loop does.
    bodies : tuple of callable
        Each takes a :class:`Lane`.
    when : str
        Condition on uniform numbers, as text; empty: every step.
    parts : tuple of tuple of callable
        The same work one part after the other, for who has to take a long loop apart; empty: it is in one part.
    between : tuple of (name, size)
        Row groups by which the parts hand on. Where they are among the rows, the bodies write them, too.
    """

    name: str
    bodies: tuple[Body, ...]
    when: str = ""
    parts: tuple[tuple[Body, ...], ...] = ()
    between: tuple[tuple[str, int], ...] = ()

    def joined(self, other: LaneLoop) -> LaneLoop:
        """Return one loop of this one and another of the same condition behind it."""
        parts = (*(self.parts or (self.bodies,)), *(other.parts or (other.bodies,)))
        return LaneLoop(
            f"{self.name}_{other.name}",
            (*self.bodies, *other.bodies),
            self.when,
            parts if self.parts or other.parts else (),
            (*self.between, *other.between),
        )


@dataclass(frozen=True)
class Iterate:
    """A loop repeated until every lane's `residual` row is at most 0, or `limit` times (Newton; kernel rule 9)."""

    loop: LaneLoop
    residual: str
    limit: int


@dataclass(frozen=True)
class Repeat:
    """A loop executed `count` times under its condition: for sums whose unrolled text would be too long to compile."""

    loop: LaneLoop
    count: int


@dataclass(frozen=True)
class RingMove:
    """Rows put into a slot of a ring behind the kernel's own rows, or taken out of one.

    Attributes
    ----------
    ring, slot : str
        Of the ring, and what the place of the slot is called: the statement `place` finds its first row.
    place : str
    first, width : int
        The rows.
    put : bool
        Whether rows go in.
    when : str
        Condition on uniform numbers, as text; empty: every step.
    """

    ring: str
    slot: str
    place: str
    first: int
    width: int
    put: bool
    when: str = ""

    def lines(self, lanes: int) -> tuple[str, ...]:
        """Return the statements."""
        pairs = [(f"{self.ring}_{self.slot} + {k}", str(self.first + k)) for k in range(self.width)]
        lines = (self.place, *copies(pairs if self.put else [(row, slot) for slot, row in pairs], lanes))
        return (f"if {self.when}:", *(f"    {line}" for line in lines)) if self.when else lines


@dataclass(frozen=True)
class Uniform:
    """Statements at step level, outside all lane loops.

    Attributes
    ----------
    lines : tuple of str
    moves : tuple of RingMove
        What of them moves rows that depend on the parameters.
    stream : int or None
        Number of the stream of which they fetch a sample: the first line says when, the second which.
    """

    lines: tuple[str, ...]
    moves: tuple[RingMove, ...] = ()
    stream: int | None = None


Item = LaneLoop | Iterate | Repeat | Uniform


def fuse(items: Sequence[Item]) -> list[Item]:
    """Join neighbouring loops with the same condition."""
    result: list[Item] = []
    for item in items:
        last = result[-1] if result else None
        if isinstance(item, LaneLoop) and isinstance(last, LaneLoop) and item.when == last.when:
            result[-1] = last.joined(item)
        else:
            result.append(item)
    return result


class Text:
    """Printed lane loops of one kernel, and the elementary kernels they need.

    The loops stand in the text of the rollout itself. As functions they would be optimised alone first, with a
    workspace of unknown size, and be guarded by overlap tests that always fail, or be unrolled: both leave them scalar.

    Rows that no loop ever loads, and that nobody asked to keep, are not stored: they are numbers that one loop hands
    on within itself.
    """

    def __init__(self, rows: WorkspaceRows, lanes: int, kept: set[str], printer: type[Printed] = Printed) -> None:
        self.rows, self.lanes, self.kept, self.printer = rows, lanes, kept, printer
        self._traced: dict[str, Lane] = {}
        self._lines: dict[str, list[str]] = {}
        self._pieces: dict[str, Pieces] = {}
        self.kernels: set[str] = set()
        self.called: dict[str, int] = {}

    def mark(self, loop: LaneLoop) -> str:
        """Trace the loop and return a mark of its place, which `placed` replaces by its text."""
        lane = Lane(self.rows)
        for body in loop.bodies:
            body(lane)
        if loop.name in self._traced:
            raise ValueError(f"two loops of one kernel are called {loop.name!r}")
        self._traced[loop.name] = lane
        return f"{MARK}{loop.name}"

    def loads(self, name: str, kept: set[str]) -> set[str]:
        """Return the rows that a traced loop loads if it stores those of its rows that are in `kept`."""
        return self._traced[name].loaded(kept)

    def print(self) -> None:
        """Print all traced loops, storing the rows that some loop loads."""
        kept = set(self.kept)
        while True:
            loaded = set().union(*(lane.loaded(kept) for lane in self._traced.values()))
            if loaded <= kept:
                break
            kept |= loaded
        for name, lane in self._traced.items():
            lines, code = lane.printed(kept, self.printer)
            self.kernels |= code.kernels
            self.called |= code.called
            self._lines[name] = lines or [self.printer.EMPTY]
            if self.printer is Printed and weight(lines) > LONGEST:
                lines, _ = lane.printed(kept, _PrintedForPieces)
                self._pieces[name] = Pieces(name, lines, self.rows.count, lane.shared)
        if self._pieces:
            spill = f"{SPILL}_{self.rows.count}" if SPILL in self.rows else SPILL  # made from a kernel with its own
            self.rows.add(spill, max(cut.rows for cut in self._pieces.values()))

    def functions(self) -> list[str]:
        """Return the functions that stand for pieces of long loops, and those that these call on rows."""
        text = "\n".join(line for cut in self._pieces.values() for piece in cut.pieces for line in piece.calls)
        named = [(name, kernel) for name, kernel in KERNELS.items() if f"rows_k_{name}(" in text]
        called = [on_rows(name, len(kernel.domain), kernel.results, self.lanes) for name, kernel in named]
        mark = [f"{IN_PIECES} = 1\n"] if self._pieces else []
        return mark + called + [one for cut in self._pieces.values() for one in cut.functions(self.lanes)]

    def placed(self, text: str) -> str:
        """Return `text` with every mark replaced by its lane loop, indented as the mark is."""
        return "\n".join(line for source in text.split("\n") for line in self._placed_line(source))

    def _placed_line(self, line: str) -> list[str]:
        name = line.strip()
        if not name.startswith(MARK):
            return [line]
        indent = line[: len(line) - len(name)]
        name = name.removeprefix(MARK)
        if name in self._pieces:
            return [f"{indent}{call}" for call in self._pieces[name].calls()]
        return [f"{indent}{inner}" for inner in self.printer.loop(self.lanes, name, self._lines[name])]


class _PrintedForPieces(Printed):
    ALONE: ClassVar[frozenset[str]] = OUTSIDE


def copies(pairs: Sequence[tuple[str, str]], lanes: int) -> tuple[str, ...]:
    """Statements that copy rows, given as (to, from): how lane loops exchange numbers with rows of changing place.

    A lane loop that itself read or wrote such a row would not be vectorised, as it might be any other row.
    """
    return (f"for lane in range({lanes}):", *(f"    S[{to}, lane] = S[{origin}, lane]" for to, origin in pairs))
