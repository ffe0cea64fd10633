"""A functional mock-up unit (FMI 2.0 or 3.0, co-simulation) as a plant, through FMPy.

The unit is a program: it is executed. Its inputs are the plant's inputs and disturbances, its outputs the states that
the plant shows. A declaration in plain data says what is controlled; what it leaves out is taken from the unit.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from plants.adapters.optional import package
from plants.core.names import unknown
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, Quantity
from plants.core.reading.formats import read_json
from plants.core.slow import LostError, SlowPlant, resting

_REAL = {"Real", "Float64"}


_KINDS = (
    ("name", str, "a text"),
    *((name, Sequence, "a list") for name in ("channels", "inputs", "disturbances", "shown")),
    *((name, Mapping, "a mapping of names") for name in ("parameters", "region", "situations")),
    ("step", int | float | None, "a number of seconds"),
    ("substeps", int, "a whole number"),
)


@dataclass(frozen=True)
class FmuDeclaration:
    """What a unit does not say about itself.

    Attributes
    ----------
    name : str
        Of the plant; left empty, the unit's model name.
    channels : sequence of mapping
        Arguments of :class:`plants.Channel`, by name. Left empty: the only output follows the only input, within the
        input's declared range.
    inputs : sequence of str
        Inputs of the unit that take the channels' commands, in their order; left empty: all that are no disturbances,
        in the unit's order. Inputs named nowhere keep the unit's values.
    disturbances : sequence of str
        Inputs of the unit that are no commands.
    shown : sequence of str
        Variables to show beside the outputs.
    parameters : mapping of str to float
        Parameters of the unit that become the plant's, with nominal values.
    region : mapping of str to (low, high)
        Where the model holds, for what it shows.
    situations : mapping
        The plant's own task, as of :class:`plants.Plant`.
    step : float, optional
        Time between two calls [s]; left out: the unit's.
    substeps : int
        Communication steps in one of these: more where the unit integrates with them.
    """

    name: str = ""
    channels: Sequence[Mapping[str, Any]] = ()
    inputs: Sequence[str] = ()
    disturbances: Sequence[str] = ()
    shown: Sequence[str] = ()
    parameters: Mapping[str, float] = field(default_factory=dict)
    region: Mapping[str, Sequence[float]] = field(default_factory=dict)
    situations: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    step: float | None = None
    substeps: int = 1

    def __post_init__(self) -> None:
        """Check the kinds of all entries, which may come from a file."""
        for name, kind, words in _KINDS:
            value = getattr(self, name)
            if not isinstance(value, kind) or (kind is Sequence and isinstance(value, str)):
                raise ValueError(f"declaration of a unit: {name} must be {words}, got {value!r}")
        if not all(isinstance(given, Mapping) for given in self.channels):
            raise ValueError(f"declaration of a unit: channels must be objects with an output, got {self.channels!r}")
        for name, ends in self.region.items():
            if not isinstance(ends, Sequence) or isinstance(ends, str) or len(ends) != 2:
                raise ValueError(f"declaration of a unit: region.{name} must be [low, high], got {ends!r}")
        if self.substeps < 1 or not (self.step is None or self.step > 0.0):
            raise ValueError(
                f"declaration of a unit: steps must be above 0, got {self.step} and {self.substeps} substeps"
            )

    @classmethod
    def from_file(cls, path: str | Path) -> FmuDeclaration:
        """Return what a JSON file says.

        Raises
        ------
        ValueError
            If the file is no object of some of these entries, naming the file.
        OSError
            If it cannot be opened.
        """
        given, known = read_json(path, dict[str, Any]), [entry.name for entry in fields(cls)]
        for name in given:
            if name not in known:
                raise ValueError(f"{path}: {unknown('entry of a declaration', name, known)}")
        try:
            return cls(**given)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: {error}") from error


def fmu_plant(file: str | Path, declared: FmuDeclaration | None = None) -> SlowPlant:
    """Return a unit as a slow plant.

    Names of variables become names of Python: ``spring.c`` is ``spring_c``.

    Raises
    ------
    ValueError
        If the file is no unit, the unit is not for co-simulation, lacks what is declared, or does not say enough.
    ModuleNotFoundError
        If FMPy is not installed.
    """
    declared = declared or FmuDeclaration()
    described = _description(file)
    _check_kind(described, file)
    known = {v.name: v for v in described.modelVariables if v.type in _REAL and not getattr(v, "dimensions", None)}
    driven = [n for n, v in known.items() if v.causality == "input"]
    inputs = list(declared.inputs) or [n for n in driven if n not in declared.disturbances]
    shown = list(dict.fromkeys([*(n for n, v in known.items() if v.causality == "output"), *declared.shown]))
    for name in (*declared.inputs, *declared.disturbances, *declared.shown, *declared.parameters):
        if name not in known:
            raise ValueError(f"{file}: {unknown('variable', name, tuple(known))}")
    for name in (*declared.inputs, *declared.disturbances):
        if name not in driven:
            raise ValueError(f"{file}: {unknown('input', name, driven)}")
    for name in declared.region:
        if name not in shown:
            raise ValueError(f"{file}: region: {unknown('state', name, shown)}")
    if not inputs or not shown:
        raise ValueError(f"{file}: a plant needs an input and an output of type Real or Float64")
    states = tuple(_quantity(known[n], declared.region.get(n)) for n in shown)
    plant = Plant(
        declared.name or _plain(described.modelName), states, measurements=states,
        parameters=tuple(_parameter(known[n], value) for n, value in declared.parameters.items()),
        inputs=tuple(_quantity(known[n]) for n in inputs),
        disturbances=tuple(_quantity(known[n]) for n in declared.disturbances),
        channels=_channels(declared, known, inputs, shown, file),
        derivative=resting,
        task=ControlTask(situations=declared.situations), step=declared.step or _step(described),
        text=f"{described.description or described.modelName} (functional mock-up unit, {Path(file).name})",
    )  # fmt: skip
    settings = {
        "file": str(Path(file).resolve()), "inputs": inputs, "disturbances": list(declared.disturbances),
        "shown": shown, "parameters": list(declared.parameters), "substeps": declared.substeps,
    }  # fmt: skip
    once = described.coSimulation.canBeInstantiatedOnlyOncePerProcess
    return SlowPlant(plant, "plants.adapters.fmu:open_session", settings, alone=bool(once))


def open_session(settings: Mapping[str, Any]) -> FmuSession:
    """Open a session; the unit is unpacked and its library loaded into this process."""
    return FmuSession(settings)


class FmuSession:
    """One unit: a fresh instance for every rollout, so that nothing of the last one is left."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        fmpy = package("fmpy")
        self._instantiate = package("fmpy.simulation").instantiate_fmu
        self._described = fmpy.read_model_description(settings["file"], validate=False)
        self._folder = tempfile.mkdtemp(prefix="fmu_")
        try:
            fmpy.extract(settings["file"], self._folder)  # refuses paths that lead out of the folder
        except Exception:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._version = int(self._described.fmiVersion[0])
        self._substeps = int(settings["substeps"])
        places = {v.name: v.valueReference for v in self._described.modelVariables}
        named = {key: [places[n] for n in settings[key]] for key in ("inputs", "disturbances", "shown", "parameters")}
        self._shown, self._parameters = named["shown"], named["parameters"]
        self._driven = [*named["inputs"], *named["disturbances"]]
        self._initial = {_plain(n): places[n] for n in settings["shown"]}
        self._unit: Any = None

    def start(self, parameters: Sequence[float], initial: Mapping[str, float]) -> Sequence[float]:
        """Instantiate, set parameters and initial values, initialise.

        Raises
        ------
        ValueError
            Where the unit lacks a function of the standard, refuses a call, or does not begin where it is asked to.
        """
        try:
            found = self._started(parameters, initial)
        except AttributeError as error:  # FMPy knows the functions by the names that the library has
            raise ValueError(f"the unit lacks a function of FMI {self._version}.0: {error}") from error
        except package("fmpy.fmi1").FMICallException as error:
            raise ValueError(f"the unit does not start: {error}") from error
        for name, value in initial.items():
            now = found[list(self._initial).index(name)]
            if not math.isclose(now, value, rel_tol=1e-6, abs_tol=1e-9):
                raise ValueError(f"the unit does not begin at {name} = {value}, but at {now}: give parameters instead")
        return found

    def _started(self, parameters: Sequence[float], initial: Mapping[str, float]) -> list[float]:
        self._free()
        described = self._described
        self._unit = self._instantiate(self._folder, described, "CoSimulation", require_functions=False)
        places = [*self._parameters, *(self._initial[name] for name in initial)]
        values = [*parameters, *initial.values()]
        if self._version == 2:
            self._unit.setupExperiment(startTime=0.0)
        if places:
            self._set(places, values)
        self._unit.enterInitializationMode()
        self._unit.exitInitializationMode()
        return self._get()

    def step(self, t: float, u: Sequence[float], w: Sequence[float], h: float) -> Sequence[float]:
        """Step the unit."""
        short = h / self._substeps
        try:
            self._set(self._driven, [*u, *w])
            for k in range(self._substeps):
                self._unit.doStep(t + k * short, short)
            return self._get()
        except AttributeError as error:
            raise ValueError(f"the unit lacks a function of FMI {self._version}.0: {error}") from error
        except package("fmpy.fmi1").FMICallException as error:
            raise LostError(str(error)) from error

    def close(self) -> None:
        """Free the instance and its files."""
        self._free()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _set(self, places: list[int], values: list[float]) -> None:
        (self._unit.setReal if self._version == 2 else self._unit.setFloat64)(places, values)

    def _get(self) -> list[float]:
        return list((self._unit.getReal if self._version == 2 else self._unit.getFloat64)(self._shown))

    def _free(self) -> None:
        if self._unit is not None:
            self._unit.freeInstance()
        self._unit = None


def _description(file: str | Path) -> Any:
    """The model description of a unit; FMPy tells what is none by errors of zipfile, of lxml and of its own."""
    read = package("fmpy").read_model_description
    try:
        with Path(file).open("rb") as source:  # opened here: FMPy leaves a file open that it cannot read
            return read(source, validate=False)
    except OSError:
        raise
    except Exception as error:
        words = error.args[0] if isinstance(error, KeyError) else error
        raise ValueError(
            f"{file}: expected a functional mock-up unit (a zip archive with modelDescription.xml), got: {words}"
        ) from error


def _check_kind(described: Any, file: str | Path) -> None:
    if described.fmiVersion[0] not in "23" or described.coSimulation is None:
        kinds = "co-simulation" if described.coSimulation else "model exchange only"
        raise ValueError(
            f"{file}: expected FMI 2.0 or 3.0 for co-simulation, got FMI {described.fmiVersion}, {kinds}; "
            "export the model for co-simulation"
        )


def _channels(
    declared: FmuDeclaration, known: Mapping[str, Any], inputs: Sequence[str], shown: Sequence[str], file: str | Path
) -> tuple[Channel, ...]:
    """The declared channels, or the only one there can be; a command is no force unless somebody says so."""
    if declared.channels:
        return tuple(_channel(given, file) for given in declared.channels)
    outputs = [n for n in shown if known[n].causality == "output"]
    if len(inputs) != 1 or len(outputs) != 1:
        raise ValueError(
            f"{file}: {len(inputs)} inputs ({', '.join(inputs)}) and {len(outputs)} outputs ({', '.join(outputs)}): "
            "declare channels, such as [{output: y, scale: 1, low: -10, high: 10}]"
        )
    low, high = _ends(known[inputs[0]])
    return (Channel(_plain(outputs[0]), low=low, high=high, collocated=False),)


def _channel(given: Mapping[str, Any], file: str | Path) -> Channel:
    known = [entry.name for entry in fields(Channel)]
    for name in given:
        if name not in known:
            raise ValueError(f"{file}: {unknown('entry of a channel', name, known)}")
    found: dict[str, Any] = {"collocated": False}
    found |= {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    found |= {name: _plain(given[name]) for name in ("output", "rate") if given.get(name)}
    return Channel(**found)


def _quantity(variable: Any, region: Sequence[float] | None = None) -> Quantity:
    low, high = _ends(variable) if region is None else region
    nominal = _number(variable.start, 0.0)
    text = variable.description or ""
    return Quantity(_plain(variable.name), variable.unit or "1", nominal, float(low), float(high), text)


def _parameter(variable: Any, value: float) -> Quantity:
    if variable.causality not in {"parameter", "structuralParameter", "input"}:
        raise ValueError(f"{variable.name} of the unit is no parameter but {variable.causality}: it cannot be set")
    low, high = _ends(variable)
    return Quantity(_plain(variable.name), variable.unit or "1", float(value), low, high, variable.description or "")


def _ends(variable: Any) -> tuple[float, float]:
    return _number(variable.min, -math.inf), _number(variable.max, math.inf)


def _number(text: Any, otherwise: float) -> float:
    return otherwise if text in {None, ""} else float(text)


def _step(described: Any) -> float:
    """The step that the unit asks for."""
    fixed = getattr(described.coSimulation, "fixedInternalStepSize", None)
    asked = getattr(described.defaultExperiment, "stepSize", None)
    return _number(fixed, _number(asked, 0.01))


def _plain(name: str) -> str:
    """A variable's name as one of Python."""
    plain = re.sub(r"\W+", "_", name).strip("_")
    return plain if plain.isidentifier() else f"v_{plain}"
