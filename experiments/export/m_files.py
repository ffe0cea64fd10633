"""A machine as functions of MATLAB's language: state struct in, state struct out; no toolbox, no global state.

``NAME_reset`` gives the state before the first sample, ``NAME_step`` makes one sample, ``NAME_selftest`` runs recorded
samples and compares. Fixed sizes and no strings in the step, as Simulink's MATLAB Function block wants it.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from experiments.export.m_straight import HELPERS, MStraight
from experiments.export.part_statements import statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from experiments.export.job import Job
    from experiments.export.machine import Machine, Part, Signal

SAMPLES = 50  # of the self-test
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")  # MATLAB keeps 63 characters and no leading underscore


def texts(machine: Machine) -> dict[str, str]:
    """Return the files of a machine by name.

    Raises
    ------
    ValueError
        If a name is none in the language.
    """
    for name in (f"{machine.name}_selftest", *(s.name for s in (*machine.inputs, *machine.outputs))):
        if not _NAME.fullmatch(name):
            raise ValueError(f"MATLAB needs names of letters, digits and underscores, at most 63, got {name!r}")
    return {f"{machine.name}_reset.m": _reset(machine), f"{machine.name}_step.m": _step(machine)}


def _described(signals: Iterable[Signal]) -> list[str]:
    lines = []
    for s in signals:
        reach = f", {s.low:.6g} .. {s.high:.6g}" if math.isfinite(s.low) or math.isfinite(s.high) else ""
        lines.append(f"%     {s.name} [{s.unit or '1'}] {s.text}{reach}")
    return lines


def _reset(machine: Machine) -> str:
    values = [f"    {MStraight.literal(value)} % {slot}" for slot, value in machine.memory.items()]
    head = f"function state = {machine.name}_reset()"
    about = f"%{machine.name.upper()}_RESET  State before the first sample: memory m and the number of the sample."
    lines = [
        head,
        about,
        "state = struct('m', zeros(1, 0), 'sample', 0);",
        "state.m = [",
        *values,
        "    ]';",
        "end",
        "",
    ]
    return "\n".join(lines)


def _step(machine: Machine) -> str:
    name, places = machine.name, machine.places
    period = math.lcm(*(part.every for part in machine.parts))
    lines = [
        f"function [out, state] = {name}_step(in, state)",
        f"%{name.upper()}_STEP  {machine.text}.",
        f"%   [out, state] = {name}_step(in, state), once every {machine.sample_time:.12g} s; begin with",
        f"%   state = {name}_reset().",
        "%   Fields of in:", *_described(machine.inputs), "%   Fields of out:", *_described(machine.outputs),
        "m = state.m;",
        *(f"m({places[s.name] + 1}) = in.{s.name};" for s in machine.inputs),
    ]  # fmt: skip
    for part in machine.parts:
        call = f"m = {part.name}(m);"
        lines.append(call if part.every == 1 else f"if mod(state.sample, {part.every}) == 0, {call} end")
    lines += ["state.m = m;", f"state.sample = mod(state.sample + 1, {period});", "out = struct();"]
    lines += [f"out.{s.name} = m({places[s.name] + 1});" for s in machine.outputs]
    used: set[str] = set()
    bodies = [_part(machine, part, used) for part in machine.parts]
    helpers = [HELPERS[helper] for helper in sorted(used & HELPERS.keys())]
    return "\n".join([*lines, "end", "", *bodies, *helpers])


def _part(machine: Machine, part: Part, used: set[str]) -> str:
    code = statements(machine, part, MStraight)
    used |= code.kernels
    loads = [f"s{place} = m({place + 1}); % {slot}" for slot, place in code.reads]
    stores = [f"m({place + 1}) = {value}; % {slot}" for slot, place, value in code.writes]
    return "\n".join([f"function m = {part.name}(m)", *loads, *code.lines, *stores, "end", ""])


def self_test(job: Job, bound: float) -> str:
    """Return a function that runs the first samples of a sequence and compares; it fails where one differs."""
    machine = job.machine
    first = next(iter(job.sequences))
    rows, expected = job.sequences[first][:SAMPLES], job.answers[first][:SAMPLES]
    limits = (bound * job.spans).tolist()
    lines = [
        f"function {machine.name}_selftest()",
        f"%{machine.name.upper()}_SELFTEST  Run {len(rows)} samples and compare.",
        f"given = {_matrix(rows)};", f"expected = {_matrix(expected)};",
        f"tolerance = {_matrix([limits])};",
        f"state = {machine.name}_reset();", "for k = 1:size(given, 1)", "    in = struct();",
        *(f"    in.{s.name} = given(k, {j});" for j, s in enumerate(machine.inputs, 1)),
        f"    [out, state] = {machine.name}_step(in, state);",
        f"    came = [{', '.join(f'out.{s.name}' for s in machine.outputs)}];",
        "    if any(~(abs(came - expected(k, :)) <= tolerance))",
        "        error('sample %d differs from what was simulated', k);", "    end", "end", "disp('ok');", "end", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _matrix(rows: NDArray[np.float64] | list[list[float]]) -> str:
    listed = rows if isinstance(rows, list) else rows.tolist()
    return "[\n" + "\n".join("    " + " ".join(map(_entry, row)) for row in listed) + "\n    ]"


def _entry(value: float) -> str:
    return MStraight.literal(value)
