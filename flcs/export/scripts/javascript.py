"""The JavaScript export: a machine as a class in one file, for browsers and Node alike, and the proof by Node.

Elementary functions are the language's own. Long straight-line code is cut into pieces: JavaScript engines compile no
function beyond some size, they interpret it.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from flcs.export.proof import Proof, answers, compared, failure_text, unchecked, version
from flcs.export.statements import Called, printed_parts, template
from plants.core.printers.forms import Ternary, decimal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flcs.export.job import Job
    from flcs.export.machine import Machine, MachinePart, MachineSignal
    from flcs.export.statements import PartStatements


_CALLS = {
    "sin": "Math.sin", "cos": "Math.cos", "tan": "Math.tan", "asin": "Math.asin", "acos": "Math.acos",
    "atan2": "Math.atan2", "exp": "Math.exp", "log": "Math.log", "tanh": "Math.tanh", "sqrt": "Math.sqrt",
    "floor": "Math.floor", "sign": "Math.sign", "abs": "Math.abs", "pow": "power",
}  # fmt: skip


class Script(Ternary, Called):
    """Statements that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = ";"
    CALLS = _CALLS
    DEFINE = "const {} = {};"

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"const {name} = {mask.replace(' & ', ' && ')};"

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "NaN", "Infinity")


SIZE = 1000
"""Statements in a piece: V8 compiles functions of up to 60 kB of bytecode, which is some three times as much."""
_NAME = re.compile(r"\b[vsm]\d+\b")
_DEFINED = re.compile(r"const ([vm]\d+) =")


def chunked_function(
    name: str, loads: Mapping[str, str], lines: Sequence[str], stores: Sequence[str], size: int = SIZE
) -> list[str]:
    """Return a function of the memory ``m``, in pieces where it is long.

    Parameters
    ----------
    name : str
    loads : mapping of name to statement
        Statements that read the memory.
    lines : sequence of str
        Statements, each of which defines one name.
    stores : sequence of str
        Statements that write the memory, after all else.
    """
    if len(lines) <= size:
        return _body(name, "m", [*loads.values(), *lines, *stores])
    pieces = [list(lines[k : k + size]) for k in range(0, len(lines), size)]
    pieces[-1] += stores
    home = {found[1]: k for k, piece in enumerate(pieces) for line in piece if (found := _DEFINED.match(line))}
    used = [set(_NAME.findall("\n".join(piece))) for piece in pieces]
    wanted = sorted({word for k, words in enumerate(used) for word in words if home.get(word, k) < k})
    places = {word: place for place, word in enumerate(wanted)}
    text = [f"  const held_{name} = new Float64Array({len(wanted)});"]
    for k, piece in enumerate(pieces):
        before = [statement for word, statement in loads.items() if word in used[k]]
        before += [_load(word, place) for word, place in places.items() if word in used[k] and home[word] < k]
        after = [_store(word, place) for word, place in places.items() if home[word] == k]
        text += _body(f"{name}_{k}", "m, h", [*before, *piece, *after])
    calls = [f"{name}_{k}(m, held_{name});" for k in range(len(pieces))]
    return [*text, *_body(name, "m", calls)]


def _load(word: str, place: int) -> str:
    return f"const {word} = h[{place}];" if word.startswith("v") else f"const {word} = h[{place}] > 0;"


def _store(word: str, place: int) -> str:
    return f"h[{place}] = {word};" if word.startswith("v") else f"h[{place}] = {word} ? 1 : 0;"


def _body(name: str, arguments: str, lines: Sequence[str]) -> list[str]:
    return [f"  function {name}({arguments}) {{", *(f"    {line}" for line in lines), "  }"]


_WORDS = (
    "break case catch class const continue debugger default delete do else enum export extends false finally for "
    "function if import in instanceof new null return super switch this throw true try typeof var void while with "
    "let static yield await eval arguments"
)
_RESERVED = frozenset(_WORDS.split())
_METHODS = frozenset({"constructor", "reset", "get", "set", "step", "outputs", "memory", "sample", "place", "power"})
_POWER = """
  // as IEEE 754 and C have it: 1 to whatever power is 1, also for NaN and infinite exponents
  function power(x, y) {
    return x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : Math.pow(x, y);
  }
"""


def text(machine: Machine) -> str:
    """Return the file of a machine.

    Raises
    ------
    ValueError
        If a name is no identifier of JavaScript, or a part's is taken by the class.
    """
    machine.check_names("JavaScript", _RESERVED)
    taken = _METHODS & {part.name for part in machine.parts}
    if taken:
        raise ValueError(f"a part must not be called {', '.join(sorted(taken))}: the class has that of its own")
    bodies, used = printed_parts(machine, Script, _part)
    return template(
        "flcs.export.scripts", "machine.js",
        name=machine.name, text=machine.text, sample=f"{machine.sample_time:.12g} s",
        count=len(machine.memory), power=_POWER if "power" in used else "",
        start=", ".join(Script.literal(value) for value in machine.memory.values()),
        places=", ".join(f"{name}: {place}" for name, place in machine.places.items()),
        inputs=_signals(machine.inputs), outputs=_signals(machine.outputs),
        functions="\n\n".join(bodies), methods="\n".join(_method(part) for part in machine.parts),
        calls="\n".join(_call(part) for part in machine.parts), sample_time=Script.literal(machine.sample_time),
        period=machine.period,
        receive="\n".join(
            f"      if (inputs.{s.name} !== undefined) m[{machine.places[s.name]}] = inputs.{s.name};"
            for s in machine.inputs
        ),
        given=",\n".join(f"        {s.name}: m[{machine.places[s.name]}]" for s in machine.outputs),
    )  # fmt: skip


def _part(part: MachinePart, code: PartStatements) -> list[str]:
    loads = {f"s{place}": f"const s{place} = m[{place}]; // {slot}" for slot, place in code.reads}
    stores = [f"m[{place}] = {value}; // {slot}" for slot, place, value in code.writes]
    return chunked_function(part.name, loads, code.lines, stores)


def _call(part: MachinePart) -> str:
    when = "" if part.every == 1 else f"if (this.sample % {part.every} === 0) "
    return f"      {when}{part.name}(this.memory);"


def _method(part: MachinePart) -> str:
    """A part as a method of its own: whoever closes a loop runs them one by one."""
    return f"    {part.name}() {{ {part.name}(this.memory); }}"


def _signals(signals: tuple[MachineSignal, ...]) -> str:
    return ",\n".join(f"    {json.dumps(_plain(signal))}" for signal in signals)


def _plain(s: MachineSignal) -> dict[str, Any]:
    ends = {end: getattr(s, end) if math.isfinite(getattr(s, end)) else None for end in ("low", "high")}
    return {"name": s.name, "unit": s.unit or "1", **ends, "text": s.text}


BOUND = 1e-12
"""Share of a signal's range: the operations of the simulation in double precision, but for fused sums."""


def files(job: Job) -> dict[str, str]:
    """Return the export's file by name."""
    return {f"{job.machine.name}.js": text(job.machine)}


def prove(job: Job, folder: Path) -> Proof:
    """Load the file in Node and run it on all sequences."""
    node = shutil.which("node")
    if node is None:
        return unchecked("js", "Node is not installed")
    checker = f"Node {version(node)}"
    with tempfile.TemporaryDirectory() as name:
        driver = Path(name) / "driver.js"
        driver.write_text(driver_of(job.machine), encoding="utf-8")
        try:
            found = answers([node, str(driver), str(folder / f"{job.machine.name}.js")], job)
        except subprocess.SubprocessError as error:
            return Proof("js", checker, "failed", failure_text(error), BOUND)
    size = (folder / f"{job.machine.name}.js").stat().st_size
    return compared(job, "js", checker, BOUND, found, bytes_of_text=size)


def driver_of(machine: Machine) -> str:
    """Return a program for Node that runs a machine's file on rows of doubles."""
    return template("flcs.export.scripts", "driver.js", n=len(machine.inputs), m=len(machine.outputs))
