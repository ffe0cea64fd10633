"""What an engineer knows of a loop beside its log: `loop.json`, each entry of which may be left out.

{"measured_span": [0, 100], "output_limits": [0, 100], "present": {"form": "standard", "K": 0.8, "Ti": 40.0}}
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers.forms import Gains, SeriesForm, StandardForm
from plants.core.names import unknown
from plants.core.reading.files import FileError
from plants.core.reading.formats import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sscq.identification.reading.log import Log

FORMS: dict[str, tuple[str, ...]] = {
    "parallel": ("kp", "ki", "kd"),
    "standard": ("K", "Ti", "Td"),
    "series": ("K", "Ti", "Td"),
}
"""Gains of each form; times in seconds, those that are left out are off."""

_OF_DATA = 4.0  # loops are logged about one place of their span
_LONGEST = 1e6  # [s]
_SCENARIO = ("horizon", "set_point", "load")
_LIMITS = ("travel_factor", "max_sensitivity")


@dataclass(frozen=True)
class LoopKnowledge:
    """Settings of a loop.

    Attributes
    ----------
    measured_span : (low, high), or None
        Of the measured value; None: from the data.
    output_limits : (low, high)
        In the output's unit.
    sample_time : float, or None
        Of the block [s]; None: that of the log.
    longest_dead_time : float, or None
        That a plant may have [s]; None: an eighth of the log, at most 150 s.
    present : mapping
        "form" and its gains; empty: from the log.
    scenario : mapping
        "horizon" [s], heights of the "set_point" step and of the "load" step; what is left out is as in the log.
    limits : mapping
        "travel_factor" and "max_sensitivity" that other gains may have.
    columns : mapping
        From "time", "set_point", "measured", "output", "mode" to names in the log.

    Raises
    ------
    ValueError
        For a value that is none.
    """

    measured_span: tuple[float, float] | None = None
    output_limits: tuple[float, float] = (0.0, 100.0)
    sample_time: float | None = None
    longest_dead_time: float | None = None
    present: Mapping[str, Any] = field(default_factory=dict)
    scenario: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check."""
        for name in ("measured_span", "output_limits"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _interval(name, value))
        for name in ("sample_time", "longest_dead_time"):
            value = getattr(self, name)
            if value is not None and not _number(name, value) > 0.0:
                raise ValueError(f"{name} must be above 0 s, got {value}")
        _known("scenario", self.scenario, _SCENARIO)
        _known("limits", self.limits, _LIMITS)
        for group in (self.scenario, self.limits):
            for name, value in group.items():
                _number(name, value)
        self._check_sizes()
        self.gains()

    def _check_sizes(self) -> None:
        if not all(isinstance(value, str) for value in self.columns.values()):
            raise ValueError("columns must be texts")
        if "horizon" in self.scenario and not 0.0 < self.scenario["horizon"] <= _LONGEST:
            raise ValueError(f"the horizon must be above 0 and at most {_LONGEST:g} s, got {self.scenario['horizon']}")
        if self.scenario.get("set_point") == 0.0:
            raise ValueError("the scenario needs a step of the set_point other than 0")
        least = {"travel_factor": 0.0, "max_sensitivity": 1.0}
        for name, value in self.limits.items():
            if not value > least[name]:
                raise ValueError(f"{name} must be above {least[name]:g}, got {value}")

    @classmethod
    def read(cls, path: str | Path) -> LoopKnowledge:
        """Read a `loop.json`.

        Raises
        ------
        FileError
            If it is none: the message says what is wrong.
        OSError
            If it cannot be opened.
        """
        found = read_json(path, dict[str, Any])
        try:
            return cls(**_entries(found, tuple(item.name for item in fields(cls))))
        except (TypeError, ValueError) as error:
            raise FileError(f"{path}: {error}") from None

    def output_span(self, log: Log) -> float:
        """Return the width of the measured value's span: as given, else four times what the log covers of it."""
        if self.measured_span is not None:
            return self.measured_span[1] - self.measured_span[0]
        measured = log.measured[np.isfinite(log.measured)]
        return float(_OF_DATA * np.ptp(measured))

    def gains(self) -> Gains | None:
        """Return the present gains in the parallel form; None where they are not given."""
        if not self.present:
            return None
        given = dict(self.present)
        form = given.pop("form", "parallel")
        if form not in FORMS:
            raise ValueError(unknown("form of the present gains", str(form), tuple(FORMS)))
        _known(f"present gains of the {form} form", given, FORMS[form])
        numbers = {key: _number(key, value) for key, value in given.items()}
        first = FORMS[form][0]
        if first not in numbers:
            raise ValueError(f"the present gains have no {first}; the {form} form has {', '.join(FORMS[form])}")
        if form == "parallel":
            return Gains(numbers["kp"], numbers.get("ki", 0.0), numbers.get("kd", 0.0))
        integral, derivative = numbers.get("Ti", math.inf), numbers.get("Td", 0.0)
        if form == "standard":
            return StandardForm(numbers["K"], integral, derivative).to_parallel()
        return SeriesForm(numbers["K"], integral, derivative).to_parallel()


def _entries(found: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    for key in found:
        if key not in names:
            raise ValueError(unknown("entry", key, names))
    for key in ("present", "scenario", "limits", "columns"):
        if key in found and not isinstance(found[key], dict):
            raise ValueError(f"{key} must be a mapping, got {found[key]!r}")
    return found


def _known(what: str, given: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for key in given:
        if key not in names:
            raise ValueError(unknown(f"entry of {what}", str(key), names))


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def _interval(name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{name} must be [low, high], got {value!r}")
    low, high = (_number(name, end) for end in value)
    if not low < high:
        raise ValueError(f"{name} must be [low, high] with low < high, got {value!r}")
    return low, high
