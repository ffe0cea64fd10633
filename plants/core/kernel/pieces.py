"""Long lane loops in pieces: LLVM's time on a loop grows with the square of its length.

A loop beyond :data:`LONGEST` becomes several, one behind the other. What a later piece needs is handed on in rows of
the workspace, as all numbers between lane loops are, so nothing is rounded otherwise. Calls of elementary kernels
leave the loops: each is a call of a function with a lane loop of its own, compiled once, where inlined ones are most
of such a loop's machine code. Loops of usual length stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 6000
"""Weight beyond which a loop is cut: statements, calls of elementary kernels and many loads and stores count more."""
_CALL, _ACCESS, _FEW = 40, 10, 200
_PIECE, _FUNCTION = 400, 80  # statements of a loop, and of a function with several short ones
SPILL = "spill"
_NAME = re.compile(r"[A-Za-z_]\w*")
_CALLED = re.compile(r"(?P<targets>[\w, ]+) = (?P<kernel>k_\w+)\((?P<arguments>[^()]*)\)")
_LOAD, _STORE = re.compile(r"(\w+) = S\[\d+, lane\]"), re.compile(r"S\[\d+, lane\] = ")
_TRUTH = re.compile(r"m\d+")
OUTSIDE = frozenset({"tan", "asin", "acos", "atan2", "exp", "log", "tanh", "pow"})
"""Elementary kernels that are called by statements of their own in a long loop, beside sincos."""


def weight(lines: Sequence[str]) -> int:
    """Return the size of a loop's body for the compiler."""
    accesses = sum("S[" in line for line in lines)
    return len(lines) + _CALL * sum("k_" in line for line in lines) + _ACCESS * max(0, accesses - _FEW)


@dataclass
class Piece:
    """Statements of one loop, then calls of elementary kernels on rows."""

    lines: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)


@dataclass
class _Statement:
    """A line, what it gives and what it reads of what lines before give; its piece, and whether it is a call."""

    line: str
    gives: tuple[str, ...]
    reads: tuple[str, ...]
    call: re.Match[str] | None
    place: int = 0


class Pieces:
    """The pieces of one long loop.

    Parameters
    ----------
    name : str
        Of the loop.
    lines : sequence of str
        Statements, each kernel call by itself.
    first : int
        Number of the first row for what is handed on.
    uniform : sequence of str
        Names of the numbers that all lanes share.

    Attributes
    ----------
    rows : int
        How many rows are used.
    """

    def __init__(self, name: str, lines: Sequence[str], first: int, uniform: Sequence[str]) -> None:
        self.name, self._first, self.rows, self._uniform = name, first, 0, tuple(uniform)
        self._statements = _read(lines)
        count = self._place()
        self.pieces = [Piece() for _ in range(count)]
        self._rows = self._allocate()
        self._write()

    def _place(self) -> int:
        """Give every statement its piece, in order; return how many there are.

        A call stands behind its piece's loop, so that what needs its result begins another piece.
        """
        given: dict[str, int] = {}  # the first piece that may read a name
        piece = size = 0
        for one in self._statements:
            ready = max((given[name] for name in one.reads), default=0)
            if ready > piece or size >= _PIECE:
                piece, size = max(piece + 1, ready), 0
            one.place = piece
            size += 1
            given |= dict.fromkeys(one.gives, piece + 1 if one.call else piece)
        return piece + 1

    def _allocate(self) -> dict[str, int]:
        """Rows of the names that another piece or a call reads, or that a call gives; freed ones are reused."""
        born: dict[str, int] = {}
        last: dict[str, int] = {}
        for one in self._statements:
            for name in one.reads:
                if one.call or one.place != born[name]:
                    last[name] = one.place
            for name in one.gives:
                born[name] = one.place
                if one.call:
                    last.setdefault(name, one.place)
        rows: dict[str, int] = {}
        free: list[int] = []
        ends: dict[int, list[str]] = {}
        for name in (name for one in self._statements for name in one.gives if name in last):
            for piece in [p for p in ends if p < born[name]]:
                free += [rows[old] for old in ends.pop(piece)]
            rows[name] = free.pop() if free else self._new()
            ends.setdefault(last[name], []).append(name)
        return rows

    def _new(self) -> int:
        self.rows += 1
        return self._first + self.rows - 1

    def _write(self) -> None:
        here: list[set[str]] = [set() for _ in self.pieces]  # names that a piece has
        for one in self._statements:
            piece = self.pieces[one.place]
            if one.call:
                rows = [str(self._rows[name]) for name in (*one.reads, *one.gives)]
                piece.calls.append(f"rows_{one.call['kernel']}(memory, {', '.join(rows)})")
                continue
            for name in one.reads:
                if name not in here[one.place]:
                    piece.lines.append(self._fetched(name))
                    here[one.place].add(name)
            piece.lines.append(one.line)
            here[one.place] |= set(one.gives)
            piece.lines += [self._kept(name) for name in one.gives if name in self._rows]

    def calls(self) -> list[str]:
        """Return the statements that stand for the loop."""
        return [f"{self._head(number, group)}" for number, group in enumerate(self._groups())]

    def functions(self, lanes: int) -> list[str]:
        """Return the text of the functions that the statements call: LLVM works on each for itself."""
        return ["\n".join(self._function(n, group, lanes)) + "\n" for n, group in enumerate(self._groups())]

    def _groups(self) -> list[list[Piece]]:
        """Pieces that share a function, which costs some time as well."""
        found: list[list[Piece]] = []
        room = 0
        for piece in self.pieces:
            size = len(piece.lines) + len(piece.calls)
            if size > room:
                found.append([])
                room = _FUNCTION
            found[-1].append(piece)
            room -= size
        return found

    def _function(self, number: int, group: Sequence[Piece], lanes: int) -> list[str]:
        lines = [f"def {self._head(number, group)}:", f"    S = memory.reshape(memory.shape[0] // {lanes}, {lanes})"]
        for piece in group:
            if piece.lines:
                lines += [f"    for lane in range({lanes}):", *(f"        {line}" for line in piece.lines)]
            lines += [f"    {call}" for call in piece.calls]
        return lines

    def _head(self, number: int, group: Sequence[Piece]) -> str:
        used = {name for piece in group for line in piece.lines for name in _NAME.findall(line)}
        given = ["memory", *(name for name in self._uniform if name in used)]
        return f"{self.name}_{number}({', '.join(given)})"

    def _fetched(self, name: str) -> str:
        place = f"S[{self._rows[name]}, lane]"
        return f"{name} = {place} > 0.0" if _TRUTH.fullmatch(name) else f"{name} = {place}"

    def _kept(self, name: str) -> str:
        value = f"1.0 if {name} else 0.0" if _TRUTH.fullmatch(name) else name
        return f"S[{self._rows[name]}, lane] = {value}"


def _read(lines: Sequence[str]) -> list[_Statement]:
    """Statements, with loads where their value is first read; what a call is given that is no name gets one."""
    found: list[_Statement] = []
    known: set[str] = set()

    def add(line: str, gives: Sequence[str], text: str, call: re.Match[str] | None = None) -> None:
        reads = tuple(dict.fromkeys(name for name in _NAME.findall(text) if name in known))
        found.append(_Statement(line, tuple(gives), reads, call))
        known.update(gives)

    for line in lines:
        call = _CALLED.fullmatch(line)
        if call:
            arguments = []
            for k, argument in enumerate(call["arguments"].split(", ")):
                name = argument
                if name not in known:
                    name = f"given{len(found)}_{k}"
                    add(f"{name} = {argument}", [name], argument)
                arguments.append(name)
            targets = call["targets"].split(", ")
            found.append(_Statement(line, tuple(targets), tuple(arguments), call))
            known.update(targets)
        elif _STORE.match(line):
            add(line, [], line.partition(" = ")[2])
        else:
            names, _, text = line.partition(" = ")
            add(line, names.split(", "), "" if _LOAD.fullmatch(line) else text)
    return found


def on_rows(kernel: str, n_arguments: int, n_results: int, lanes: int) -> str:
    """Return the text of a function that calls an elementary kernel on rows of the workspace."""
    given = [f"a{k}" for k in range(n_arguments)]
    targets = [f"b{k}" for k in range(n_results)]
    rows = ", ".join([*given, *targets])
    left, right = (", ".join(f"S[{name}, lane]" for name in names) for names in (targets, given))
    head = f"def rows_k_{kernel}(memory, {rows}):\n    S = memory.reshape(memory.shape[0] // {lanes}, {lanes})\n"
    return f"{head}    for lane in range({lanes}):\n        {left} = k_{kernel}({right})\n"
