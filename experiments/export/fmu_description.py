"""The model description of a machine as a functional mock-up unit: signals with units, ranges and start values.

A signal's value reference is its place in the machine's memory; the time's, which version 3 asks for, is the next one.
"""

from __future__ import annotations

import hashlib
import math
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from experiments.export.fmu_units import exponents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from experiments.export.machine import Machine, Signal

LOG = "logStatusError"
_FLAGS = {2: "canGetAndSetFMUstate canSerializeFMUstate", 3: "canGetAndSetFMUState canSerializeFMUState"}


@dataclass(frozen=True)
class _Variable:
    """One variable: a signal, its place, and what it is to a master."""

    signal: Signal
    place: int
    causality: str
    start: float | None


def start_of(machine: Machine, signal: Signal) -> float:
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
    from experiments.export.machine import Signal

    places = machine.places
    for signal in machine.inputs:
        yield _Variable(signal, places[signal.name], "input", start_of(machine, signal))
    for signal in machine.outputs:
        yield _Variable(signal, places[signal.name], "output", None)
    for name in machine.states:
        yield _Variable(Signal(name, text="kept between samples"), places[name], "local", None)


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


def _ends(signal: Signal) -> dict[str, str]:
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
