"""A machine as one Python file that imports nothing but ``math``.

Elementary functions are ``math``'s (within one unit in the last place), with IEEE results where ``math`` raises. Sums
of products are rounded twice.
"""

from __future__ import annotations

import keyword
import math
import re
from typing import TYPE_CHECKING

from experiments.export.part_statements import statements
from experiments.export.python_straight import HELPERS, Lines

if TYPE_CHECKING:
    from experiments.export.machine import Machine, Part, Signal


def text(machine: Machine) -> str:
    """Return the file of a machine.

    Raises
    ------
    ValueError
        If a name is no identifier.
    """
    for name in (machine.name, *machine.memory, *(part.name for part in machine.parts)):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
            raise ValueError(f"Python needs names of letters, digits and underscores, got {name!r}")
    bodies, used = [], set[str]()
    for part in machine.parts:
        lines, calls = _part(machine, part)
        bodies.append("\n".join(lines))
        used |= calls
    helpers = [HELPERS[name].strip("\n") + "\n" for name in sorted(used & HELPERS.keys())]
    return _FILE.format(
        name=machine.name, text=machine.text.replace('"""', ""), sample=f"{machine.sample_time:.12g} s",
        sample_time=repr(machine.sample_time), inputs=_signals(machine.inputs), outputs=_signals(machine.outputs),
        start="\n".join(f'    "{slot}": {Lines.literal(value)},' for slot, value in machine.memory.items()),
        functions="\n\n".join(f"\n{function}" for function in (*helpers, *bodies)).strip("\n"),
        calls="\n".join(_call(part) for part in machine.parts),
        period=math.lcm(*(part.every for part in machine.parts)),
    )  # fmt: skip


def _part(machine: Machine, part: Part) -> tuple[list[str], frozenset[str]]:
    code = statements(machine, part, Lines)
    lines = [f"def _{part.name}(m):"]
    lines += [f'    s{place} = m["{slot}"]' for slot, place in code.reads]
    lines += [f"    {line}" for line in code.lines]
    lines += [f'    m["{slot}"] = {value}' for slot, _, value in code.writes] or ["    pass"]
    return [*lines, ""], code.kernels


def _call(part: Part) -> str:
    if part.every == 1:
        return f"        _{part.name}(self.memory)"
    return f"        if self.sample % {part.every} == 0:\n            _{part.name}(self.memory)"


def _signals(signals: tuple[Signal, ...]) -> str:
    rows = [(s.name, s.unit or "1", Lines.literal(s.low), Lines.literal(s.high), s.text) for s in signals]
    return "\n".join(f"    ({name!r}, {unit!r}, {low}, {high}, {text!r})," for name, unit, low, high, text in rows)


_FILE = '''"""{text}.

One sample every {sample}, in double precision; needs nothing but Python.

    machine = Machine()
    outputs = machine.step({{"input": value, ...}})  # an input left out keeps its last value
    machine.reset()
"""

import math

SAMPLE_TIME = {sample_time}  # s
# name, unit, least, largest value, text
INPUTS = (
{inputs}
)
OUTPUTS = (
{outputs}
)
START = {{
{start}
}}


{functions}

class Machine:
    """`{name}`."""

    def __init__(self):
        self.reset()

    def reset(self):
        """Back to before the first sample."""
        self.memory = dict(START)
        self.sample = 0

    def step(self, inputs):
        """One sample: inputs by name to outputs by name."""
        for name, value in inputs.items():
            if name not in _NAMES:
                raise KeyError(f"{name} has no input {{name!r}}; it has {{', '.join(sorted(_NAMES))}}")
            self.memory[name] = float(value)
{calls}
        self.sample = (self.sample + 1) % {period}
        return {{signal[0]: self.memory[signal[0]] for signal in OUTPUTS}}

    def run(self, rows):
        """Outputs of many samples, as lists in the order of OUTPUTS, for rows of inputs in the order of INPUTS."""
        names = [signal[0] for signal in INPUTS]
        return [list(self.step(dict(zip(names, row, strict=True))).values()) for row in rows]


_NAMES = frozenset(signal[0] for signal in INPUTS)
'''
