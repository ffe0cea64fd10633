"""What a functional mock-up unit says of a machine: its model description, and its page of documentation.

Signals have units, ranges and start values. Units are declared as exponents of the seven base units and the radian, and
a factor.
"""

from __future__ import annotations

import hashlib
import math
import re
import uuid
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from flcs.export.machine import MachineSignal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flcs.export.machine import Machine


BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_FORCE = {"kg": 1, "m": 1, "s": -2}
_ENERGY = {"kg": 1, "m": 2, "s": -2}
_POWER = {"kg": 1, "m": 2, "s": -3}
_VOLTAGE = {**_POWER, "A": -1}
_DERIVED: dict[str, dict[str, int]] = {
    "1": {}, "N": _FORCE, "J": _ENERGY, "W": _POWER, "V": _VOLTAGE, "ohm": {**_POWER, "A": -2},
    "H": {**_ENERGY, "A": -2}, "Pa": {"kg": 1, "m": -1, "s": -2}, "Hz": {"s": -1}, "C": {"A": 1, "s": 1},
    **{name: {name: 1} for name in BASE},
}  # fmt: skip


def exponents(unit: str) -> dict[str, int] | None:
    """Return the exponents of the base units in a unit such as ``N s/m^2`` or ``W/(m^2 K)``; None: not understood."""
    top, slash, bottom = unit.partition("/")
    if not top or (slash and not bottom):
        return None
    total: dict[str, int] = {}
    for text, sign in ((top, 1), (bottom, -1)):
        inner = text.strip()
        inner = inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner
        for factor in inner.split():
            found = re.fullmatch(r"([A-Za-z]+|1)(?:\^(\d+))?", factor)
            if found is None or found[1] not in _DERIVED:
                return None
            for base, power in _DERIVED[found[1]].items():
                total[base] = total.get(base, 0) + sign * power * int(found[2] or 1)
    return {base: total[base] for base in BASE if total.get(base)}


LOG = "logStatusError"
_FLAGS = {2: "canGetAndSetFMUstate canSerializeFMUstate", 3: "canGetAndSetFMUState canSerializeFMUState"}


@dataclass(frozen=True)
class _Variable:
    """One variable: a signal, its place, and what it is to a master."""

    signal: MachineSignal
    place: int
    causality: str
    start: float | None


def start_of(machine: Machine, signal: MachineSignal) -> float:
    """Return an input's value where nobody sets it: what the controller takes for seen before the first sample."""
    value = machine.memory.get(f"last_{signal.name}", machine.memory[signal.name])
    return min(max(value, signal.low), signal.high)


def token(version: int, sources: Sequence[str]) -> str:
    """Return what identifies an export: made of its sources, so the same controller has the same one."""
    digest = hashlib.sha256("\0".join((f"FMI {version}", *sources)).encode()).digest()
    return "{" + str(uuid.UUID(bytes=digest[:16], version=5)) + "}"


def description(machine: Machine, version: int, identity: str, sources: Sequence[str]) -> str:
    """Return modelDescription.xml.

    Parameters
    ----------
    machine : Machine
    version : {2, 3}
        Of the standard.
    identity : str
        The export's token.
    sources : sequence of str
        Names of the source files; version 3 lists them in a file of their own.
    """
    several = list(_variables(machine))
    root = Element("fmiModelDescription", {
        "fmiVersion": f"{version}.0", "modelName": machine.name,
        "guid" if version == 2 else "instantiationToken": identity,
        "description": machine.text, "license": "Apache-2.0", "generationTool": "sscq",
        "variableNamingConvention": "flat",
    })  # fmt: skip
    _interface(root, machine, version, sources)
    _units(root, [v.signal.unit for v in several])
    SubElement(SubElement(root, "LogCategories"), "Category", {"name": LOG, "description": "errors"})
    step = repr(machine.sample_time)
    SubElement(root, "DefaultExperiment", {"startTime": "0", "stepSize": step})
    variables, structure = SubElement(root, "ModelVariables"), SubElement(root, "ModelStructure")
    for variable in several:
        (_scalar if version == 2 else _float)(variables, variable)
    if version == 3:
        place = {"name": "time", "valueReference": str(len(machine.memory)), "causality": "independent"}
        SubElement(variables, "Float64", {**place, "variability": "continuous", "description": "time [s]"})
    _structure(structure, several, version)
    return text_of(root)


def build_description(machine: Machine, sources: Sequence[str]) -> str:
    """Return buildDescription.xml of version 3: how the sources are compiled."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": machine.name})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99"})
    for name in sources:
        SubElement(files, "SourceFile", {"name": name})
    return text_of(root)


def text_of(root: Element) -> str:
    """Return an element as a file's text."""
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _variables(machine: Machine) -> Iterator[_Variable]:
    """Inputs, outputs, and the numbers that the controller keeps between samples."""
    places = machine.places
    for signal in machine.inputs:
        yield _Variable(signal, places[signal.name], "input", start_of(machine, signal))
    for signal in machine.outputs:
        yield _Variable(signal, places[signal.name], "output", None)
    for name in machine.states:
        yield _Variable(MachineSignal(name, text="kept between samples"), places[name], "local", None)


def _interface(root: Element, machine: Machine, version: int, sources: Sequence[str]) -> None:
    flags = dict.fromkeys(_FLAGS[version].split(), "true")
    if version == 3:
        flags["fixedInternalStepSize"] = repr(machine.sample_time)
    else:
        flags["canNotUseMemoryManagementFunctions"] = "true"
    flags["canHandleVariableCommunicationStepSize"] = "false"
    made = SubElement(root, "CoSimulation", {"modelIdentifier": machine.name, **flags})
    if version == 2:
        files = SubElement(made, "SourceFiles")
        for name in sources:
            SubElement(files, "File", {"name": name})


def _units(root: Element, units: Sequence[str]) -> None:
    made = SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(u for u in units if u):
        powers = exponents(unit)
        element = SubElement(made, "Unit", {"name": unit})
        if powers is not None:
            SubElement(element, "BaseUnit", {base: str(power) for base, power in powers.items()})


def _ends(signal: MachineSignal) -> dict[str, str]:
    """Attributes of a number."""
    found = {"unit": signal.unit} if signal.unit else {}
    found |= {"min": repr(float(signal.low))} if math.isfinite(signal.low) else {}
    return found | ({"max": repr(float(signal.high))} if math.isfinite(signal.high) else {})


def _shared(variable: _Variable) -> dict[str, str]:
    """Attributes of a variable; an input's initial value is given by its start."""
    found = {"name": variable.signal.name, "valueReference": str(variable.place), "causality": variable.causality}
    found |= {"variability": "discrete", "description": variable.signal.text or variable.signal.name}
    return found if variable.causality == "input" else {**found, "initial": "calculated"}


def _start(variable: _Variable) -> dict[str, str]:
    return {} if variable.start is None else {"start": repr(float(variable.start))}


def _scalar(variables: Element, variable: _Variable) -> None:
    element = SubElement(variables, "ScalarVariable", _shared(variable))
    SubElement(element, "Real", {**_ends(variable.signal), **_start(variable)})


def _float(variables: Element, variable: _Variable) -> None:
    SubElement(variables, "Float64", {**_shared(variable), **_ends(variable.signal), **_start(variable)})


def _structure(structure: Element, several: Sequence[_Variable], version: int) -> None:
    """Outputs: at a communication point they depend on nothing that is set there, but on the sample before it."""
    found = [(index, v) for index, v in enumerate(several, 1) if v.causality == "output"]
    if version == 2:
        for group in (SubElement(structure, "Outputs"), SubElement(structure, "InitialUnknowns")):
            for index, _ in found:
                SubElement(group, "Unknown", {"index": str(index), "dependencies": ""})
        return
    for kind in ("Output", "InitialUnknown"):
        for _, v in found:
            SubElement(structure, kind, {"valueReference": str(v.place), "dependencies": ""})


_TIMING = """In each step of {time:.12g} s the controller executes a sample with the inputs that were set before the
step; the outputs are there after it and hold until the next one. A master that steps the controller first and then
hands its outputs to the plant for the same step reproduces the simulated loop; one that steps both side by side adds
a sample of delay. A longer step must be a multiple of the sample time: the inputs are held, the samples executed."""


def page(machine: Machine) -> str:
    """Return the page as HTML."""
    tables = [
        f"<h2>{title}</h2><table><tr><th>name</th><th>unit</th><th>range</th><th>what it is</th></tr>"
        + "".join(map(_row, signals))
        + "</table>"
        for title, signals in (("Inputs", machine.inputs), ("Outputs", machine.outputs))
    ]
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(machine.name)}</title></head>'
    timing = escape(_TIMING.format(time=machine.sample_time))
    return f"{head}<body><h1>{escape(machine.text)}</h1><p>{timing}</p>{''.join(tables)}</body></html>\n"


def _row(signal: MachineSignal) -> str:
    cells = (signal.name, signal.unit if signal.unit != "1" else "", signal.reach, signal.text)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
