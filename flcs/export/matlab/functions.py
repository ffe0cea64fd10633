"""A machine as functions of MATLAB's language: state struct in, state struct out; no toolbox, no global state.

Octave shares the language. Numbers are of double precision.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from flcs.export.statements import Called, printed_parts
from plants.core.printers.forms import decimal

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from flcs.export.job import Job
    from flcs.export.machine import Machine, MachinePart, MachineSignal
    from flcs.export.statements import PartStatements


_CALLS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "exp": "exp", "tanh": "tanh", "floor": "floor", "atan2": "atan2",
    "sign": "sign", "asin": "k_asin", "acos": "k_acos", "log": "k_log", "sqrt": "k_sqrt", "pow": "k_pow",
}  # fmt: skip
_CHOICES = {"minimum": "<", "maximum": ">"}
HELPERS = {
    name: f"function y = {name}({arguments})\nif {inside}\n    y = {call};\nelse\n    y = NaN;\nend\nend\n"
    for name, arguments, inside, call in (
        ("k_asin", "x", "abs(x) <= 1", "asin(x)"),
        ("k_acos", "x", "abs(x) <= 1", "acos(x)"),
        ("k_log", "x", "x >= 0", "log(x)"),
        ("k_sqrt", "x", "x >= 0", "sqrt(x)"),
        ("k_pow", "x, p", "x >= 0 || p == floor(p)", "x ^ p"),
    )
}


class MStraight(Called):
    """Statements that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = ""
    CALLS = _CALLS
    DEFINE = "{} = {};"

    def _print(self, node: int) -> None:
        name = self.tape.operations[node]
        if self._uses.get(node) and name in {"where", *_CHOICES}:
            arguments = self.tape.arguments[node]
            if name == "where":
                mask = self._mask(arguments[0])
                then, other = arguments[1:]
            else:
                then, other = arguments
                mask = f"{self._text[then]} {_CHOICES[name]} {self._text[other]}"
            self._text[node] = f"v{node}"
            chosen = f"v{node} = {self._text[then]};", f"v{node} = {self._text[other]};"
            self.lines.append(f"if {mask}, {chosen[0]} else, {chosen[1]} end")
        else:
            super()._print(node)

    @staticmethod
    def truth(name: str, mask: str) -> str:
        """Return the statement that gives a truth value its name."""
        return f"{name} = {mask};"

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "NaN", "Inf")


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


def _described(signals: Iterable[MachineSignal]) -> list[str]:
    return [f"%     {s.name} {s.described}" for s in signals]


def _reset(machine: Machine) -> str:
    values = [f"    {MStraight.literal(value)} % {slot}" for slot, value in machine.memory.items()]
    head = [
        f"function state = {machine.name}_reset()",
        f"%{machine.name.upper()}_RESET  State before the first sample: memory m and the number of the sample.",
        "state = struct('m', zeros(1, 0), 'sample', 0);",
    ]
    return "\n".join([*head, "state.m = [", *values, "    ]';", "end", ""])


def _step(machine: Machine) -> str:
    name, places = machine.name, machine.places
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
    lines += ["state.m = m;", f"state.sample = mod(state.sample + 1, {machine.period});", "out = struct();"]
    lines += [f"out.{s.name} = m({places[s.name] + 1});" for s in machine.outputs]
    bodies, used = printed_parts(machine, MStraight, _part)
    helpers = [HELPERS[helper] for helper in sorted(used & HELPERS.keys())]
    return "\n".join([*lines, "end", "", *bodies, *helpers])


def _part(part: MachinePart, code: PartStatements) -> list[str]:
    loads = [f"s{place} = m({place + 1}); % {slot}" for slot, place in code.reads]
    stores = [f"m({place + 1}) = {value}; % {slot}" for slot, place, value in code.writes]
    return [f"function m = {part.name}(m)", *loads, *code.lines, *stores, "end", ""]


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
    return "[\n" + "\n".join("    " + " ".join(map(MStraight.literal, row)) for row in listed) + "\n    ]"
