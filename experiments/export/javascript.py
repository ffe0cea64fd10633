"""A machine as a JavaScript class: one file without dependencies, for browsers and Node alike.

The file is a classic script: a page loads it with a script element, from a disk as well (browsers refuse modules
there); Node loads it with ``require`` or ``import``. Elementary functions are the language's own, within one unit in
the last place of theirs; sums of products are rounded twice.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from experiments.export import javascript_chunks
from experiments.export.javascript_straight import Script
from experiments.export.part_statements import statements

if TYPE_CHECKING:
    from experiments.export.machine import Machine, Part, Signal

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
    for name in (machine.name, *machine.memory, *(part.name for part in machine.parts)):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in _RESERVED:
            raise ValueError(f"JavaScript needs names of letters, digits and underscores, got {name!r}")
    taken = _METHODS & {part.name for part in machine.parts}
    if taken:
        raise ValueError(f"a part must not be called {', '.join(sorted(taken))}: the class has that of its own")
    bodies, used = [], set[str]()
    for part in machine.parts:
        lines, calls = _part(machine, part)
        bodies.append("\n".join(lines))
        used |= calls
    return _FILE.format(
        name=machine.name, text=machine.text.replace("*/", ""), sample=_seconds(machine.sample_time),
        count=len(machine.memory), power=_POWER if "power" in used else "",
        start=", ".join(Script.literal(value) for value in machine.memory.values()),
        places=_table(machine.places), inputs=_signals(machine.inputs), outputs=_signals(machine.outputs),
        functions="\n\n".join(bodies), methods="\n".join(_method(part) for part in machine.parts),
        calls="\n".join(_call(part) for part in machine.parts), sample_time=Script.literal(machine.sample_time),
        period=math.lcm(*(part.every for part in machine.parts)),
        receive="\n".join(
            f"      if (inputs.{s.name} !== undefined) m[{machine.places[s.name]}] = inputs.{s.name};"
            for s in machine.inputs
        ),
        given=",\n".join(f"        {s.name}: m[{machine.places[s.name]}]" for s in machine.outputs),
    )  # fmt: skip


def _part(machine: Machine, part: Part) -> tuple[list[str], frozenset[str]]:
    code = statements(machine, part, Script)
    loads = {f"s{place}": f"const s{place} = m[{place}]; // {slot}" for slot, place in code.reads}
    stores = [f"m[{place}] = {value}; // {slot}" for slot, place, value in code.writes]
    return javascript_chunks.function(part.name, loads, code.lines, stores), code.kernels


def _call(part: Part) -> str:
    when = "" if part.every == 1 else f"if (this.sample % {part.every} === 0) "
    return f"      {when}{part.name}(this.memory);"


def _method(part: Part) -> str:
    """A part as a method of its own: whoever closes a loop runs them one by one."""
    return f"    {part.name}() {{ {part.name}(this.memory); }}"


def _signals(signals: tuple[Signal, ...]) -> str:
    return ",\n".join(f"    {json.dumps(_plain(signal))}" for signal in signals)


def _plain(s: Signal) -> dict[str, Any]:
    ends = {end: getattr(s, end) if math.isfinite(getattr(s, end)) else None for end in ("low", "high")}
    return {"name": s.name, "unit": s.unit or "1", **ends, "text": s.text}


def _table(places: dict[str, int]) -> str:
    return ", ".join(f"{name}: {place}" for name, place in places.items())


def _seconds(value: float) -> str:
    return f"{value:.12g} s"


_FILE = """/* {text}.
 * One sample every {sample}; double precision; {count} numbers of state; no dependencies.
 *
 *   const machine = new {name}();
 *   const outputs = machine.step({{ ...inputs by name }});   // an input left out keeps its last value
 *   machine.reset();
 *
 * In a page: a script element with src="{name}.js". In Node: const {name} = require("./{name}.js");
 */
"use strict";
var {name} = (function () {{
{power}
{functions}

  const START = new Float64Array([{start}]);
  const PLACES = {{ {places} }};

  class Machine {{
    constructor() {{
      this.memory = new Float64Array(START.length);
      this.reset();
    }}

    /** Back to before the first sample. */
    reset() {{
      this.memory.set(START);
      this.sample = 0;
    }}

    /** A number of the memory by its name: an input, an output or a state. */
    get(slot) {{ return this.memory[place(slot)]; }}
    set(slot, value) {{ this.memory[place(slot)] = value; }}

    /** The parts, one by one; step runs them in their order. */
{methods}

    /** One sample: inputs by name to outputs by name. */
    step(inputs) {{
      const m = this.memory;
{receive}
{calls}
      this.sample = (this.sample + 1) % {period};
      return this.outputs();
    }}

    /** The outputs of the last sample, by name. */
    outputs() {{
      const m = this.memory;
      return {{
{given},
      }};
    }}
  }}

  function place(slot) {{
    if (!Object.prototype.hasOwnProperty.call(PLACES, slot)) throw new Error("{name} has no slot " + slot);
    return PLACES[slot];
  }}

  // units, ranges (null: no limit), text
  Machine.inputs = [
{inputs},
  ];
  Machine.outputs = [
{outputs},
  ];
  Machine.slots = Object.keys(PLACES);
  Machine.sampleTime = {sample_time}; // s
  return Machine;
}})();
if (typeof module === "object" && module.exports) module.exports = {name};
"""
