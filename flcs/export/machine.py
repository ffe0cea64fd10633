"""A sampled machine: the controller as a memory of named numbers and a few straight-line parts that work on it.

Every export prints the same machine. A part reads all it needs before it writes anything; parts follow one another in
each sample, some of them only at every n-th one. So a language needs arrays, arithmetic, a select and a counter,
nothing else.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.names import comment, identifier
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from plants.core.tracing.tape import Traced


def program_name(name: str) -> str:
    """Return an identifier for a program or file: it begins with a letter (MATLAB) and has single underscores (ST)."""
    made = re.sub(r"_+", "_", identifier(name)).strip("_")
    return made if re.match(r"[A-Za-z]", made) else f"n{made}"


def check_identifier(language: str, name: str, taken: Container[str] = ()) -> None:
    """Raise ValueError where a name is no identifier, or one that the language has taken."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in taken:
        raise ValueError(f"{language} needs names of letters, digits and underscores, got {name!r}")


@dataclass(frozen=True)
class MachineSignal:
    """What goes in or comes out: name (an identifier is made of it), unit, the range it is meant for, text."""

    name: str
    unit: str = ""
    low: float = float("-inf")
    high: float = float("inf")
    text: str = ""

    def __post_init__(self) -> None:
        """Make the name an identifier; unit and text are for comments."""
        object.__setattr__(self, "name", identifier(self.name))
        object.__setattr__(self, "unit", comment(self.unit))
        object.__setattr__(self, "text", comment(self.text))

    @property
    def reach(self) -> str:
        """Its range in words; empty where it has no end."""
        return f"{self.low:.6g} .. {self.high:.6g}" if math.isfinite(self.low) or math.isfinite(self.high) else ""

    @property
    def described(self) -> str:
        """Unit, text and range, as comments in exported files say them; what has no dimension has no unit there."""
        unit = f"[{self.unit}] " if self.unit not in {"", "1"} else ""
        return f"{unit}{self.text}{', ' if self.reach else ''}{self.reach}"


class Slots:
    """A part's view of the memory while it is traced: reads what was there before, notes what it writes."""

    def __init__(self, tape: Tape, known: Iterable[str]) -> None:
        self.tape, self._known = tape, frozenset(map(identifier, known))
        self.reads: dict[str, Traced] = {}
        self.writes: dict[str, Traced] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a number of the memory as it is now; its name is taken as an identifier."""
        name = self._checked(name)
        if name in self.writes:
            return self.writes[name]
        if name not in self.reads:
            self.reads[name] = self.tape.input(name)
        return self.reads[name]

    def __setitem__(self, name: str, value: Any) -> None:
        """Write a number of the memory."""
        name = self._checked(name)
        self.writes[name] = self.tape.lift(value)

    def _checked(self, name: str) -> str:
        name = identifier(name)
        if name not in self._known:
            message = f"the machine's memory has no slot {name!r}"
            raise KeyError(message)
        return name


class GroupedSlots:
    """A memory whose slots go by the names and places of a :class:`sscq.loop.sampled_controller.SampledController`.

    Parameters
    ----------
    slots : Slots
    names : mapping of str to sequence of str
        Slots by name, in the order of their places.
    """

    def __init__(self, slots: Slots, names: Mapping[str, Sequence[str]]) -> None:
        self._slots, self._names = slots, names

    def __getitem__(self, place: tuple[str, int]) -> Any:
        """Return a number as it is now."""
        name, k = place
        return self._slots[self._names[name][k]]

    def __setitem__(self, place: tuple[str, int], value: Any) -> None:
        """Write a number."""
        name, k = place
        self._slots[self._names[name][k]] = value


@dataclass(frozen=True)
class MachinePart:
    """Straight-line code on the memory.

    Attributes
    ----------
    name : str
        An identifier.
    program : Program
        Its inputs are names of slots.
    writes : tuple of str
        Slots of the program's outputs, in their order.
    every : int
        Samples between two executions; the first one always executes it.
    """

    name: str
    program: Program
    writes: tuple[str, ...]
    every: int = 1


@dataclass(frozen=True)
class Machine:
    """A sampled machine.

    Attributes
    ----------
    name : str
        An identifier in every language is made of it.
    text : str
        What it is; a line for comments is made of it.
    inputs, outputs : tuple of MachineSignal
        Names of slots as well.
    memory : mapping of str to float
        All slots with their values before the first sample, inputs first; identifiers are made of their names.
    parts : tuple of MachinePart
    sample_time : float
        Time between two samples [s].
    """

    name: str
    text: str
    inputs: tuple[MachineSignal, ...]
    outputs: tuple[MachineSignal, ...]
    memory: Mapping[str, float]
    parts: tuple[MachinePart, ...]
    sample_time: float

    def __post_init__(self) -> None:
        """Make names identifiers, and the text one for comments.

        Raises
        ------
        ValueError
            If two of them are the same then.
        """
        memory = {identifier(slot): value for slot, value in self.memory.items()}
        if len(memory) < len(self.memory):
            raise ValueError(f"names must differ in letters and digits, got {', '.join(self.memory)}")
        object.__setattr__(self, "memory", memory)
        object.__setattr__(self, "name", program_name(self.name))
        object.__setattr__(self, "text", comment(self.text))

    @property
    def places(self) -> dict[str, int]:
        """Place of each slot in the memory."""
        return {name: place for place, name in enumerate(self.memory)}

    @property
    def states(self) -> tuple[str, ...]:
        """Slots that are neither inputs nor outputs."""
        seen = {signal.name for signal in (*self.inputs, *self.outputs)}
        return tuple(name for name in self.memory if name not in seen)

    @property
    def period(self) -> int:
        """Samples after which all parts have the same turn again."""
        return math.lcm(*(part.every for part in self.parts))

    def check_names(self, language: str, taken: Container[str] = ()) -> None:
        """Raise ValueError where the name of the machine, a slot or a part is no identifier, or is `taken`."""
        for name in (self.name, *self.memory, *(part.name for part in self.parts)):
            check_identifier(language, name, taken)

    def run(self, inputs: ArrayLike) -> NDArray[np.float64]:
        """Return the outputs [n, n_outputs] for inputs [n, n_inputs], sample after sample, evaluated in plain Python.

        Raises
        ------
        ValueError
            If the inputs have another number of columns.
        """
        rows = np.asarray(inputs, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.inputs):
            names = ", ".join(signal.name for signal in self.inputs)
            raise ValueError(f"expected rows of {len(self.inputs)} inputs ({names}), got shape {rows.shape}")
        memory = dict(self.memory)
        taken = np.empty((len(rows), len(self.outputs)))
        for k, row in enumerate(rows.tolist()):
            self._sample(memory, k, row)
            taken[k] = [memory[signal.name] for signal in self.outputs]
        return taken

    def _sample(self, memory: dict[str, float], number: int, row: Sequence[float]) -> None:
        memory.update(zip((signal.name for signal in self.inputs), row, strict=True))
        for part in self.parts:
            if number % part.every == 0:
                values = part.program(*(memory[name] for name in part.program.inputs))
                memory.update(zip(part.writes, values, strict=True))


def part(name: str, body: Callable[[Slots], None], memory: Iterable[str], every: int = 1) -> MachinePart:
    """Trace a function of the memory.

    Parameters
    ----------
    name : str
    body : callable
        Reads and writes ``slots[name]``.
    memory : iterable of str
        Names of all slots.
    every : int
        Samples between two executions.
    """
    tape = Tape()
    slots = Slots(tape, memory)
    body(slots)
    nodes = tuple(value.index for value in slots.writes.values())
    return MachinePart(name, Program(tape, tuple(slots.reads), nodes), tuple(slots.writes), every)
