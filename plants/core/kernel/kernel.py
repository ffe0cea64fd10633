"""Lane loops to one generated kernel: the text, and the compiled function behind it.

The rules that make the innermost loop vectorise across rollouts: one workspace with constant row numbers, selects
only, conditions at step level around their own lane loops, everything inlined, no library calls in a lane. A test
counts packed and scalar instructions of every kernel family.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary_kernels import source
from plants.core.kernel import cache
from plants.core.kernel.lanes import Item, Iterate, LaneLoop, Repeat, Text, Uniform, WorkspaceRows, fuse
from plants.core.signals import noise
from plants.core.tracing.calls import declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LANES = 16
ALIVE = "alive"
_HEADER = '''"""{title}

Generated; complete in itself. Rows of the workspace:
{rows}
"""

import math

import numpy as np

MASK = 0xFFFFFFFF


def inline(function):
    """Compiled: made part of its callers."""
    return function


def fma(a, b, c):
    """a * b + c; compiled: with one rounding."""
    return a * b + c

'''
ARGUMENTS = (  # of a rollout: whole numbers, and contiguous arrays of so many dimensions
    "int64", "int64", "int64[:,::1]", "int64[:,::1]", "int64[:,::1]", "float64[:,::1]", "float64[:,::1]",
    "int64[:,::1]", "int64[:,:,::1]", "float64[:,::1]", "int64[::1]", "float64[::1]", "float64[:,::1]",
    "float64[:,::1]", "int64[::1]", "float64[:,:,::1]", "float64[::1]", "float64[:,:,::1]", "int64[::1]",
)  # fmt: skip
_MANY = 64  # rows of a group that are given back in a loop
_RECORD = """            if chunk == 0 and record.shape[0] > 0:
                for row in range(record_rows.shape[0]):
                    for lane in range({lanes}):
                        record[step - first_step, row, lane] = S[record_rows[row], lane]"""
_END = """            if step == first_step + n_steps:
                break"""
_LAST = """        if record.shape[0] > 0:
            t = step * h
{last}
{record}"""
_ROLLOUT = '''

def rollout(first_chunk, last_chunk, lane_start, lane_theta, lane_out, start, theta, codes, keys, series,
            integers, numbers, results, finals, record_rows, record, memory, unit, filled):
    """Run chunks of {lanes} rollouts from start [n, {n_rows} + ring rows] with parameters theta [n, {n_theta}].

    Of this call alone: memory [({n_rows} + ring rows) * {lanes}], unit [{lanes}, streams, 1024], filled [streams].
    """
    S = memory.reshape(start.shape[1], {lanes})
    first_step, n_steps = integers[0], integers[1]
    h = numbers[0]
{unpack}
    for chunk in range(first_chunk, last_chunk):
        shared = True
        for lane in range({lanes}):
            source = lane_start[chunk, lane]
            shared = shared and source == lane_start[chunk, 0]
            for row in range(start.shape[1]):
                S[row, lane] = start[source, row]
            for row in range({n_theta}):
                S[{theta_row} + row, lane] = theta[lane_theta[chunk, lane], row]
        for stream in range({n_streams}):
            filled[stream] = -1
        spread = 0 if shared else 1
        step = first_step
        while step {until} first_step + n_steps:
            t = step * h
{steps}
            step += 1
            if step % 256 == 0:
                dead = True
                for lane in range({lanes}):
                    if S[{alive}, lane] > 0.0:
                        dead = False
                if dead:
                    break
{last}
        for lane in range({lanes}):
            out = lane_out[chunk, lane]
            if out >= 0:
{give_back}
                if finals.shape[0] > 0:
                    for row in range(start.shape[1]):
                        finals[out, row] = S[row, lane]
'''


@dataclass(frozen=True)
class Stream:
    """A source of unit noise or recorded values that refreshes one row.

    Attributes
    ----------
    name : str
        Says which numbers it draws; independent of all other streams.
    row : str
        Row group that receives the sample.
    every : str
        Name of the integer (among the kernel's `integers`) that is the number of steps between samples.
    substeps : int
        Samples that are read at each of these steps.
    """

    name: str
    row: str
    every: str
    substeps: int = 1

    def count(self, every: int, n_steps: int) -> int:
        """Return how many samples a run of so many steps reads at most, its last look included."""
        return n_steps // every + 1 if self.substeps == 1 else (n_steps + 1) * self.substeps


@dataclass
class KernelDesign:
    """What a kernel does, before it is printed.

    Attributes
    ----------
    before, after : list of items
        Executed in every step before and after the record is taken.
    last : list of items
        Executed once more at the end of a recorded run, so that the last row of the record is complete. The list
        `before` itself: the run's last step ends after its record.
    observed : bool
        Whether runs can be recorded: all rows are kept in the workspace then, and loops are not joined across the
        place where the record is taken.
    results : tuple of str
        Row groups given back for every rollout, in this order.
    theta : str
        Row group of the candidates' parameters.
    kept : list of str
        Row groups that statements at step level read.
    """

    title: str
    rows: WorkspaceRows = field(default_factory=WorkspaceRows)
    before: list[Item] = field(default_factory=list)
    after: list[Item] = field(default_factory=list)
    last: list[Item] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    results: tuple[str, ...] = ()
    theta: str = "theta"
    kept: list[str] = field(default_factory=list)
    lanes: int = LANES
    observed: bool = False


@dataclass(frozen=True)
class Kernel:
    """A printed kernel; it is compiled (or fetched from the cache) when its rollout is first asked for."""

    text: str
    rows: WorkspaceRows
    streams: tuple[Stream, ...]
    integers: tuple[str, ...]
    numbers: tuple[str, ...]
    results: tuple[str, ...]
    lanes: int

    @property
    def rollout(self) -> Callable[..., None]:
        """The compiled function of :data:`ARGUMENTS`."""
        return cache.function(self.text, ARGUMENTS)

    def memory(self, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the memory of one call, its last three arguments, for starts of `n_rows` rows."""
        streams = max(1, len(self.streams))
        unit = np.empty((self.lanes, streams, noise.BLOCK))
        return aligned(n_rows * self.lanes), unit, np.empty(streams, np.int64)


def aligned(size: int) -> np.ndarray:
    """Return an array that begins on a cache line: no vector of a lane loop lies across two."""
    line = 64 // 8
    raw = np.empty(size + line)
    first = -(raw.ctypes.data // 8) % line
    return raw[first : first + size]


def build(design: KernelDesign) -> Kernel:
    """Print `design` as a kernel."""
    rows = design.rows
    if ALIVE not in rows:
        raise ValueError("a kernel needs the row 'alive'")
    text = Text(rows, design.lanes, kept_rows(design))
    steps, last = _steps(text, design)
    text.print()
    body = _ROLLOUT.format(
        lanes=design.lanes,
        n_rows=rows.count,
        n_theta=rows.size.get(design.theta, 0),
        theta_row=rows.first.get(design.theta, 0),
        n_streams=max(1, len(design.streams)),
        unpack=unpacked(design, 2),
        alive=rows.first[ALIVE],
        give_back=_give_back(design),
        until="<=" if design.last is design.before else "<",
        steps=text.placed(steps),
        last=text.placed(last),
    )
    source = assembled(text, design, design.title, body)
    return Kernel(
        source, rows, tuple(design.streams), tuple(design.integers), tuple(design.numbers), design.results, design.lanes
    )


def assembled(text: Text, design: KernelDesign, title: str, body: str) -> str:
    """Return a kernel's whole text: head, elementary kernels and noise that it needs, its rollout `body`."""
    rows = text.rows
    listing = "\n".join(f"  {first:4d} {name} [{rows.size[name]}]" for name, first in rows.first.items())
    head = _HEADER.format(title=title, rows=listing)
    return head + "\n\n".join([*_helpers(text, design), body.strip("\n")]) + "\n"


def _steps(text: Text, design: KernelDesign) -> tuple[str, str]:
    """Statements of one step, and those behind the last one."""
    if not design.observed:
        return _items(text, design, fuse([*design.before, *design.after]), 12), ""
    record = _RECORD.format(lanes=design.lanes)
    before = _items(text, design, fuse(design.before), 12)
    after = _items(text, design, fuse(design.after), 12)
    if design.last is design.before:
        return f"{before}\n{record}\n{_END}\n{after}", ""
    last = _items(text, design, [_once_more(i) for i in design.last], 12)
    return f"{before}\n{record}\n{after}", _LAST.format(last=last, record=record)


def kept_rows(design: KernelDesign) -> set[str]:
    """Return the rows that somebody reads outside the lane loops."""
    if design.observed:
        return {str(row) for row in range(design.rows.count)}
    names = [ALIVE, *design.results, *design.kept]
    names += [item.residual for item in (*design.before, *design.after) if isinstance(item, Iterate)]
    return {str(r) for name in names for r in range(*design.rows.span(name).indices(design.rows.count))}


def _give_back(design: KernelDesign) -> str:
    lines, k = [], 0
    for name in design.results:
        row, size = design.rows.first[name], design.rows.size[name]
        if size > _MANY:
            lines += [f"for row in range({size}):", f"    results[out, {k} + row] = S[{row} + row, lane]"]
        else:
            lines += [f"results[out, {k + j}] = S[{row + j}, lane]" for j in range(size)]
        k += size
    return "\n".join(f"                {line}" for line in lines)


def unpacked(design: KernelDesign, first: int) -> str:
    """Return the statements that name the kernel's integers, behind the `first` ones, and numbers."""
    lines = [f"    {name} = integers[{k + first}]" for k, name in enumerate(design.integers)]
    lines += [f"    {name} = numbers[{k + 1}]" for k, name in enumerate(design.numbers)]
    return "\n".join(lines)


def _once_more(item: Item) -> Item:
    return LaneLoop(f"last_{item.name}", item.bodies, item.when) if isinstance(item, LaneLoop) else item


def _items(text: Text, design: KernelDesign, items: Sequence[Item], indent: int) -> str:
    lines = [line for item in items for line in item_lines(text, design, item)]
    return "\n".join(" " * indent + line for line in lines)


def item_lines(text: Text, design: KernelDesign, item: Item) -> list[str]:
    """Return the statements of an item, with marks for its loops."""
    if isinstance(item, Uniform):
        return list(item.lines)
    if isinstance(item, Iterate):
        mark, row = text.mark(item.loop), design.rows.first[item.residual]
        return [
            f"for _ in range({item.limit}):",
            f"    {mark}",
            "    worst = 0.0",
            f"    for lane in range({design.lanes}):",
            f"        worst = max(worst, S[{row}, lane])",
            "    if worst <= 0.0:",
            "        break",
        ]
    if isinstance(item, Repeat):
        lines = [f"for _ in range({item.count}):", f"    {text.mark(item.loop)}"]
        return [f"if {item.loop.when}:", *(f"    {line}" for line in lines)] if item.loop.when else lines
    mark = text.mark(item)
    return [f"if {item.when}:", f"    {mark}"] if item.when else [mark]


def written(
    title: str,
    names: Sequence[str],
    helpers: Sequence[Callable[..., Any]],
    entry: Callable[..., Any],
    *,
    fused: bool = True,
) -> str:
    """Return hand-written functions as the text of a kernel.

    Parameters
    ----------
    title : str
    names : sequence of str
        Lines that give numbers their names.
    helpers : sequence of functions
        Become part of their callers where the compiler sees fit.
    entry : function
        What is called: the text's `rollout`.
    fused : bool
        Whether products may be fused with sums.
    """
    head = f'"""{title}\n\nGenerated; complete in itself.\n"""\n\nimport math\n\nimport numpy as np\n\n'
    head += "FUSED = 1\n" if fused else ""
    start = f"def {entry.__name__}("
    return (
        "\n\n".join([head + "\n".join(names), *map(_source, helpers), _source(entry).replace(start, "def rollout(")])
        + "\n"
    )


def stream_items(design: KernelDesign, stream: Stream) -> Uniform:
    """Statements that fetch the stream's next sample into its row when it is due."""
    n = len(design.streams)
    design.streams.append(stream)
    row = design.rows.first[stream.row]
    lines = (
        f"if step % {stream.every} == 0:  # {stream.name}",
        f"    sample = step // {stream.every}",
        f"    if sample // 1024 != filled[{n}]:",
        f"        filled[{n}] = sample // 1024",
        f"        for lane in range({design.lanes} if spread else 1):",
        "            source = lane_start[chunk, lane]",
        f"            fill(unit[lane, {n}], codes[source, {n}], sample // 1024, keys[source, {n}], series)",
        f"    for lane in range({design.lanes}):",
        f"        S[{row}, lane] = unit[lane * spread, {n}, sample % 1024]",
    )
    return Uniform(lines, stream=n)


def _helpers(text: Text, design: KernelDesign) -> list[str]:
    """Text of the elementary kernels and of the noise functions that the kernel needs, each once."""
    printed = [declaration(name, results) for name, results in sorted(text.called.items())]
    if text.kernels:
        printed.append(source(sorted(text.kernels)))
    printed += text.functions()
    if design.streams:
        printed += [f"@inline\n{_source(f)}" for f in (noise.philox, noise.unit_pair)]
        printed.append(_source(noise.fill))  # once per 1024 samples: a call
    return printed


@functools.cache
def _source(function: Callable[..., Any]) -> str:
    lines = inspect.getsource(function).rstrip().splitlines()
    return "\n".join(line.split("  # noqa")[0] for line in lines)
