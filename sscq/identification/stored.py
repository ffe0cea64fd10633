"""Ensembles as files: `identified.json` holds numbers and words, never code."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, TypeVar

import numpy as np

from plants.core.names import unknown
from plants.core.reading.files import FileError
from plants.core.reading.formats import read_json
from plants.identification.oscillating import OSCILLATING
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.ensemble import DISCREPANCY, Ensemble, PlantMembers
from sscq.identification.promise import LoopScenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from plants.identification.row import PlantStructure

T = TypeVar("T")

SCHEMA = "sscq-identified"
VERSION = 1
STRUCTURES: dict[str, PlantStructure] = {one.name: one for one in (TWO_LAGS, OSCILLATING)}
_MOST = 100_000  # members of a file
_TIMES, _MOST_STEPS = (1e-6, 1e6), 1e7  # [s]; sample times in a horizon


class StructureRecord(TypedDict):
    """Plants of one structure.

    Attributes
    ----------
    name : str
        Of the structure.
    parameters : list of str
        Their names.
    members : list of list of float
        A row for each plant, its parameters in that order.
    """

    name: str
    parameters: list[str]
    members: list[list[float]]


class EnsembleRecord(TypedDict):
    """What `identified.json` holds: plants that explain a log, and the loop that they were in.

    Attributes
    ----------
    schema : str
        Says that it is one.
    version : int
        Of this format.
    sense : float
        1: the measured value rises with the output; -1: it falls; not there with a `grey_box`.
    step : float
        Between rows of the log [s].
    discrepancy : float
        By how much members are spread further, in logarithms.
    refusal : str
        Why no gains should follow from it; empty: they may.
    loop : StoredLoop or None
        Where it rests and what is asked of it; null where that is not known.
    structures : list of StructureRecord
        Plants without equations; not there with a `grey_box`.
    grey_box : mapping
        Members of a plant whose equations are known, with its name and the names of what was fitted.
    """

    schema: str
    version: int
    sense: NotRequired[float]
    step: float
    discrepancy: float
    refusal: str
    loop: StoredLoop | None
    structures: NotRequired[list[StructureRecord]]
    grey_box: NotRequired[dict[str, Any]]


@dataclass(frozen=True)
class StoredLoop:
    """Where a loop rests and what is asked of it: what a design needs beside the plants.

    Attributes
    ----------
    rest : (measured, output)
        From which the plants' deviations count.
    limits : (low, high)
        Of the output.
    sample_time : float
        Of the block [s].
    present : (kp, ki, kd), or None
        In the parallel form, with the sign of the block.
    scenario : LoopScenario
    levels : (low, high)
        Where set points led, as deviations from rest.
    """

    rest: tuple[float, float]
    limits: tuple[float, float]
    sample_time: float
    present: tuple[float, float, float] | None
    scenario: LoopScenario
    levels: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class StoredEnsemble:
    """Members of an ensemble without the logs that they come from.

    Attributes
    ----------
    members : tuple of PlantMembers
    sense, step, discrepancy : float
        Step: between rows of the logs [s].
    refusal : str
        Why no gains should follow from it; empty: they may.
    """

    members: tuple[PlantMembers, ...]
    sense: float
    step: float
    discrepancy: float
    refusal: str = ""
    loop: StoredLoop | None = None


def document(ensemble: Ensemble, discrepancy: float = DISCREPANCY, loop: StoredLoop | None = None) -> dict[str, Any]:
    """Return an ensemble as plain data, with its loop where that is known."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "sense": ensemble.sense,
        "step": ensemble.records[0].step,
        "discrepancy": discrepancy,
        "refusal": ensemble.refusal,
        "loop": None if loop is None else plain_loop(loop),
        "structures": [
            {
                "name": group.structure.name,
                "parameters": list(group.structure.parameters),
                "members": group.parameters.tolist(),
            }
            for group in ensemble.members
        ],
    }


def plain_loop(loop: StoredLoop) -> dict[str, Any]:
    """Return a loop as plain data."""
    found = asdict(loop)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def load_ensemble(path: str | Path) -> StoredEnsemble:
    """Read what :func:`document` gave.

    Raises
    ------
    FileError
        If it is no such file: the message says what is wrong.
    OSError
        If it cannot be opened.
    """
    return read_plants(path, _loaded)


def read_plants(path: str | Path, loaded: Callable[[Mapping[str, Any]], T], of: str = "") -> T:
    """Return what a function makes of a file of plants; FileError with its words where that is none."""
    found = read_json(path, dict[str, Any])
    try:
        return loaded(found)
    except (KeyError, TypeError, ValueError) as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise FileError(f"{path} is no identified.json{of}: {said}") from None


@dataclass(frozen=True)
class CommonEntries:
    """What all files of plants from logs have, see :class:`StoredEnsemble`."""

    step: float
    discrepancy: float
    refusal: str
    loop: StoredLoop | None


def loaded_common(found: Mapping[str, Any]) -> CommonEntries:
    """Return what all files of plants from logs have; ValueError, TypeError or KeyError where one is none."""
    if found.get("schema") != SCHEMA or found.get("version") != VERSION:
        raise ValueError(
            f"its schema is {found.get('schema')!r}, version {found.get('version')!r}; expected {SCHEMA!r}, {VERSION}"
        )
    step, refusal = _time("step", found["step"]), found["refusal"]
    if not isinstance(refusal, str):
        raise TypeError(f"refusal must be a text, got {refusal!r}")
    loop = None if found.get("loop") is None else _loop(found["loop"])
    discrepancy = _number("discrepancy", found["discrepancy"])
    if not 0.0 <= discrepancy <= 1.0:
        raise ValueError(f"discrepancy must be from 0 to 1, got {discrepancy}")
    return CommonEntries(step, discrepancy, refusal, loop)


def _loaded(found: Mapping[str, Any]) -> StoredEnsemble:
    common = loaded_common(found)
    if "structures" not in found and "grey_box" in found:
        raise ValueError("it holds members of a plant with equations; `sscq design ensemble=` takes it")
    groups = found["structures"]
    if not isinstance(groups, list) or not groups:
        raise ValueError("it has no structures")
    members, sense = tuple(_members(group) for group in groups), _number("sense", found["sense"])
    if sense not in {1.0, -1.0}:
        raise ValueError(f"sense must be 1 or -1, got {sense}")
    return StoredEnsemble(members, sense, common.step, common.discrepancy, common.refusal, common.loop)


def _loop(given: Any) -> StoredLoop:
    if not isinstance(given, dict) or not isinstance(given["scenario"], dict):
        raise TypeError(f"loop and its scenario must be mappings, got {given!r}")
    rest, limits, levels = (_numbers(name, given[name], 2) for name in ("rest", "limits", "levels"))
    sample_time = _time("sample_time", given["sample_time"])
    horizon, set_point, load = (_number(name, given["scenario"][name]) for name in ("horizon", "set_point", "load"))
    if not levels[0] <= 0.0 <= levels[1]:
        raise ValueError(f"levels must be [low, high] with 0, where the loop rests, between them, got {levels}")
    if not limits[0] < limits[1] or not 1.0 < horizon / sample_time < _MOST_STEPS or set_point == 0.0:
        raise ValueError(
            "its loop must have limits [low, high] with low < high, a horizon of some sample times and a step of the "
            f"set_point, got {given!r}"
        )
    present = None if given["present"] is None else _numbers("present", given["present"], 3)
    scenario = LoopScenario(horizon, set_point, load)
    own = None if present is None else (present[0], present[1], present[2])
    both = (levels[0], levels[1])
    return StoredLoop((rest[0], rest[1]), (limits[0], limits[1]), sample_time, own, scenario, both)


def _time(name: str, given: Any) -> float:
    value = _number(name, given)
    if not _TIMES[0] <= value <= _TIMES[1]:
        raise ValueError(f"{name} must be from {_TIMES[0]:g} to {_TIMES[1]:g} s, got {value:g}")
    return value


def _numbers(name: str, given: Any, count: int) -> list[float]:
    if not isinstance(given, list) or len(given) != count:
        raise TypeError(f"{name} must be a list of {count} numbers, got {given!r}")
    return [_number(name, value) for value in given]


def _members(group: Any) -> PlantMembers:
    if not isinstance(group, dict):
        raise TypeError(f"a structure must be a mapping, got {type(group).__name__}")
    name = group["name"]
    if name not in STRUCTURES:
        raise ValueError(unknown("structure", str(name), tuple(STRUCTURES)))
    structure = STRUCTURES[name]
    if group["parameters"] != list(structure.parameters):
        raise ValueError(f"parameters of {name} are {', '.join(structure.parameters)}")
    values = table(name, group["members"], len(structure.parameters))
    if (values[:, [0, 2]] <= 0.0).any() or (structure.dead_time(values) < 0.0).any():
        raise ValueError(f"a member of {name} has a gain or a time that is none")
    return PlantMembers(structure, values)


def table(name: str, rows: Any, columns: int) -> NDArray[np.float64]:
    """Return the members of something as an array [n, columns]; ValueError where they are none."""
    if not isinstance(rows, list) or not 0 < len(rows) <= _MOST:
        raise ValueError(f"members of {name} must be a list of 1 to {_MOST} rows")
    if any(not isinstance(row, list) or len(row) != columns for row in rows):
        raise ValueError(f"each member of {name} must have {columns} numbers")
    return np.array([[_number("a member's parameter", value) for value in row] for row in rows])


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)
