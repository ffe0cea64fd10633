"""A kernel's text for one thread of a GPU: the same statements of one lane, other memory.

What differs from the text for a CPU:

- rows are variables of the thread and end in registers; rings, whose places change, have an array of their own;
- noise is drawn sample by sample, pairs at a time, from the same counters: there is no block of samples to fill. Its
  logarithm, sine and cosine are the kernels' own, where a CPU's are those of the C library: noise differs by rounding,
  all else has the same bits;
- parameters are read where they are used; few lie by parameter, side by side for neighbouring candidates. Many lie by
  candidate, and are read again in every step: kept, they or their addresses would fill the registers, and spill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from plants.core.kernel import kernel as kernels
from plants.core.kernel.lanes import Text, Uniform, fuse
from plants.core.printers.python import Printed

if TYPE_CHECKING:
    from plants.core.kernel.kernel import KernelDesign
    from plants.core.kernel.lanes import Item, WorkspaceRows

_TABLE, _LIST = "float64[:,::1]", "float64[::1]"
_GIVEN = (
    "int64",
    "int64",
    "int64",
    _TABLE,
    _TABLE,
    "int64[:,::1]",
    "int64[:,:,::1]",
    _TABLE,
    "int64[::1]",
    _LIST,
    _TABLE,
)
_OWN = (_LIST, _LIST, _LIST, "int64[::1]")
ARGUMENTS = (*_GIVEN, *_OWN)
"""Types of what the text's `rollout` is given; the last four are memory of the thread."""
OWN = len(_OWN)
"""How many of the arguments are memory of the thread."""

FENCE = "fence"
"""Function of the text that does nothing; on a GPU nothing that was read from memory is known behind it."""

_FEW = 32
"""Parameters that registers have room for."""

_AT_ONCE = 8
"""Parameters that are read between two fences: compilers gather reads at the earliest place."""

_ROLLOUT = '''
def fence():
    """Nothing; on a GPU: what was read from memory is read again."""
    return


def rollout(source, candidate, out, start, theta, codes, keys, series, integers, numbers, results,
            S, ring, pairs, filled):
    """One rollout from start [n, {n_rows} + ring rows] with {n_theta} parameters theta {layout}.

    Of this thread alone: S [{n_rows}], ring [ring rows], pairs [2 streams], filled [streams].
    """
    first_step, n_steps = integers[0], integers[1]
    h = numbers[0]
{unpack}
{begin}
    for row in range(start.shape[1] - {n_rows}):
        ring[row] = start[source, {n_rows} + row]
    step = first_step
    while step < first_step + n_steps:
        t = step * h
{again}{steps}
        step += 1
        if step % 256 == 0:
            if not S[{alive}] > 0.0:
                break
{end}
'''


class _InOne(Printed):
    """Loops are not cut into pieces: their rows are no memory here."""

    ELSEWHERE: ClassVar[str] = "a GPU"


_OF_C_LIBRARY = {
    "math.log(": "k_log(",
    "    return radius * math.cos(angle), radius * math.sin(angle)": (
        "    sine, cosine = k_sincos(angle)\n    return radius * cosine, radius * sine"
    ),
}
"""What noise calls of the C library, which a GPU has not, and the kernels' own functions in its place."""


@dataclass(frozen=True)
class DeviceText:
    """A kernel for one thread.

    Attributes
    ----------
    text : str
    rows : WorkspaceRows
    n_streams : int
    integers, numbers, results : tuple of str
        As of the kernel.
    reads_again : bool
        Whether parameters are read again in every step, and lie by candidate [n, n_theta], else [n_theta, n]: threads
        side by side should have the same.
    """

    text: str
    rows: WorkspaceRows
    n_streams: int
    integers: tuple[str, ...]
    numbers: tuple[str, ...]
    results: tuple[str, ...]
    reads_again: bool


def device_text(design: KernelDesign) -> DeviceText:
    """Return the text of a design with one lane, which nobody records.

    Raises
    ------
    ValueError
        If the design has several lanes, or is made to be recorded.
    """
    if design.lanes != 1 or design.observed:
        raise ValueError("a kernel for a GPU is made of a design with one lane, for results alone")
    rows, n_streams = design.rows, max(1, len(design.streams))
    text = Text(rows, 1, kernels.kept_rows(design), _InOne)
    steps = "\n".join(_item(text, design, item) for item in fuse([*design.before, *design.after]))
    text.print()
    n_rows, first = rows.count, rows.first.get(design.theta, 0)
    n_theta = rows.size.get(design.theta, 0)
    begin = [f"    S[{row}] = start[source, {row}]" for row in range(n_rows) if not first <= row < first + n_theta]
    begin += [f"    filled[{stream}] = -1" for stream in range(n_streams)]
    body = text.placed(steps)
    body = re.sub(r"S\[(\d+), lane\]", lambda m: _place(int(m[1]), first, n_theta), body)
    body = _read_at_use(body) if n_theta > _FEW else body
    rollout = _ROLLOUT.format(
        n_rows=n_rows,
        n_theta=n_theta,
        layout="[n, n_theta]" if n_theta > _FEW else "[n_theta, n]",
        unpack=kernels.unpacked(design, 2),
        begin="\n".join(begin),
        again=f"        {FENCE}()\n" if n_theta > _FEW else "",
        steps=body,
        alive=rows.first[kernels.ALIVE],
        end="\n".join(_give_back(design)),
    )
    if design.streams:
        text.kernels |= {"log", "sincos"}
    whole = kernels.assembled(text, design, design.title, rollout)
    names = tuple(design.integers), tuple(design.numbers), design.results
    return DeviceText(_own_functions(whole), rows, n_streams, *names, reads_again=n_theta > _FEW)


def _place(row: int, first: int, n_theta: int) -> str:
    """A row's place: a parameter of the candidate, or a variable of the thread."""
    if first <= row < first + n_theta:
        return f"theta[candidate, {row - first}]" if n_theta > _FEW else f"theta[{row - first}, candidate]"
    return f"S[{row}]"


def _read_at_use(body: str) -> str:
    """Parameters stand where they are used, not before all statements of their loop: few are alive at a time."""
    places = dict(re.findall(r"^ *(\w+) = (theta\[candidate, \d+\])$", body, re.MULTILINE))
    body = re.sub(r"^ *\w+ = theta\[candidate, \d+\]\n", "", body, flags=re.MULTILINE)
    body = re.sub(r"\b[a-z]\w*\b", lambda m: places.get(m[0], m[0]), body)
    lines, read = [], 0
    for line in body.split("\n"):
        lines.append(line)
        read += line.count("theta[")
        if read >= _AT_ONCE:
            lines.append(f"{line[: len(line) - len(line.lstrip())]}{FENCE}()")
            read = 0
    return "\n".join(lines)


def _item(text: Text, design: KernelDesign, item: Item) -> str:
    if isinstance(item, Uniform) and item.stream is not None:
        lines = _drawn(design, item, item.stream)
    else:
        lines = kernels.item_lines(text, design, item)
        if isinstance(item, Uniform):
            for move in item.moves:
                there, n_rows = f"{move.ring}_{move.slot}", design.rows.count
                lines = [re.sub(rf"S\[{there} \+ (\d+), lane\]", rf"ring[{there} - {n_rows} + \1]", l) for l in lines]
    return "\n".join(" " * 8 + line for line in lines)


def _drawn(design: KernelDesign, item: Uniform, n: int) -> list[str]:
    """Statements that draw a stream's next sample when it is due; `pairs` keeps the second of two."""
    due, number = item.lines[0], item.lines[1].strip()
    row = design.rows.first[design.streams[n].row]
    key = ", ".join(f"keys[source, {n}, {k}]" for k in range(4))
    return [
        due,
        f"    {number}",
        f"    if codes[source, {n}] == 3:",
        f"        S[{row}] = series[keys[source, {n}, 4], min(sample, series.shape[1] - 1)]",
        f"    elif codes[source, {n}] > 0:",
        f"        sample = sample + keys[source, {n}, 4]",
        f"        if sample // 2 != filled[{n}]:",
        f"            filled[{n}] = sample // 2",
        f"            one, other = unit_pair(codes[source, {n}], sample // 2, {key})",
        f"            pairs[{2 * n}] = one",
        f"            pairs[{2 * n + 1}] = other",
        f"        S[{row}] = pairs[{2 * n}] if sample % 2 == 0 else pairs[{2 * n + 1}]",
        "    else:",
        f"        S[{row}] = 0.0",
    ]


def _give_back(design: KernelDesign) -> list[str]:
    names = [design.rows.first[name] + k for name in design.results for k in range(design.rows.size[name])]
    return [f"    results[out, {k}] = S[{row}]" for k, row in enumerate(names)]


def _own_functions(text: str) -> str:
    """Noise by the kernels' own logarithm, sine and cosine: a GPU has none of the C library."""
    for call, own in _OF_C_LIBRARY.items():
        text = text.replace(call, own)
    return text
