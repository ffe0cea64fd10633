"""The Python export: one file that imports nothing but ``math``, and the proof by a fresh interpreter in isolated mode.

Statements raise nothing; where functions of ``math`` raise, functions with IEEE results stand in.
"""

from __future__ import annotations

import keyword
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from flcs.export.proof import Proof, answers, compared, failure_text
from flcs.export.statements import Called, printed_parts, template
from plants.core.printers.forms import decimal

if TYPE_CHECKING:
    from flcs.export.job import Job
    from flcs.export.machine import Machine, MachinePart, MachineSignal
    from flcs.export.statements import PartStatements


HELPERS = {
    "divide": """
def divide(a, b):
    if b != 0.0:
        return a / b
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    return math.nan if a == 0.0 or a != a else sign * math.inf
""",
    "exp": """
def exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
""",
    "log": """
def log(x):
    return math.log(x) if x > 0.0 else -math.inf if x == 0.0 else math.nan
""",
    "sqrt": """
def sqrt(x):
    return math.sqrt(x) if x >= 0.0 else math.nan
""",
    "power": """
def power(a, b):
    try:
        return math.pow(a, b)
    except ValueError:
        odd = b == math.floor(b) and b % 2.0 == 1.0
        return math.nan if a != 0.0 else math.copysign(math.inf, a) if odd else math.inf
    except OverflowError:
        return -math.inf if a < 0.0 and b % 2.0 == 1.0 else math.inf
""",
    "floor": """
def floor(x):
    return float(math.floor(x)) if abs(x) < 4503599627370496.0 else x
""",
    "sign": """
def sign(x):
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x - x
""",
    "sin": """
def sin(x):
    return math.sin(x) if abs(x) < math.inf else math.nan
""",
    "cos": """
def cos(x):
    return math.cos(x) if abs(x) < math.inf else math.nan
""",
    "tan": """
def tan(x):
    return math.tan(x) if abs(x) < math.inf else math.nan
""",
    "asin": """
def asin(x):
    return math.asin(x) if abs(x) <= 1.0 else math.nan
""",
    "acos": """
def acos(x):
    return math.acos(x) if abs(x) <= 1.0 else math.nan
""",
}
_CALLS = {name: name for name in HELPERS} | {
    "div": "divide",
    "quotient": "divide",
    "pow": "power",
    "atan2": "math.atan2",
    "tanh": "math.tanh",
}


class Lines(Called):
    """Statements that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = "pass"
    CALLS = _CALLS

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "math.nan", "math.inf")


def text(machine: Machine) -> str:
    """Return the file of a machine.

    Raises
    ------
    ValueError
        If a name is no identifier.
    """
    machine.check_names("Python", keyword.kwlist)
    bodies, used = printed_parts(machine, Lines, _part)
    helpers = [HELPERS[name].strip("\n") + "\n" for name in sorted(used & HELPERS.keys())]
    return template(
        "flcs.export.scripts", "machine.py.template",
        name=machine.name, text=machine.text, sample=f"{machine.sample_time:.12g} s",
        sample_time=repr(machine.sample_time), inputs=_signals(machine.inputs), outputs=_signals(machine.outputs),
        start="\n".join(f'    "{slot}": {Lines.literal(value)},' for slot, value in machine.memory.items()),
        functions="\n\n".join(f"\n{function}" for function in (*helpers, *bodies)).strip("\n"),
        calls="\n".join(_call(part) for part in machine.parts),
        period=machine.period,
    )  # fmt: skip


def _part(part: MachinePart, code: PartStatements) -> list[str]:
    lines = [f"def _{part.name}(m):"]
    lines += [f'    s{place} = m["{slot}"]' for slot, place in code.reads]
    lines += [f"    {line}" for line in code.lines]
    lines += [f'    m["{slot}"] = {value}' for slot, _, value in code.writes] or ["    pass"]
    return [*lines, ""]


def _call(part: MachinePart) -> str:
    if part.every == 1:
        return f"        _{part.name}(self.memory)"
    return f"        if self.sample % {part.every} == 0:\n            _{part.name}(self.memory)"


def _signals(signals: tuple[MachineSignal, ...]) -> str:
    rows = [(s.name, s.unit or "1", Lines.literal(s.low), Lines.literal(s.high), s.text) for s in signals]
    return "\n".join(f"    ({name!r}, {unit!r}, {low}, {high}, {text!r})," for name, unit, low, high, text in rows)


BOUND = 1e-12
"""Share of a signal's range: the operations of the simulation in double precision, but for fused sums."""


def files(job: Job) -> dict[str, str]:
    """Return the export's file by name."""
    return {f"{job.machine.name}.py": text(job.machine)}


def prove(job: Job, folder: Path) -> Proof:
    """Run the file on all sequences, in a fresh interpreter that sees neither this project nor any other package."""
    version = f"Python {sys.version.split()[0]}, isolated"
    with tempfile.TemporaryDirectory() as name:
        driver = Path(name) / "driver.py"
        driver.write_text(template("flcs.export.scripts", "driver.py.template"), encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(driver), str(folder / f"{job.machine.name}.py")]
        try:
            found = answers(command, job)
        except subprocess.SubprocessError as error:
            return Proof("python", version, "failed", failure_text(error), BOUND)
    return compared(job, "python", version, BOUND, found)
