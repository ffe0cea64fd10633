"""The envelope of a controller: declared ranges of all that may differ from one control situation to another.

It says for which situations something is claimed. A search looks in it for the worst one, a statistical certificate
draws from it: independently and uniformly in every range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from plants.core.naming import unknown

if TYPE_CHECKING:
    from plants import Plant

Range = tuple[float, float]
Ranges = Mapping[str, Range]

KINDS = ("step", "ramp", "sine")
PATHS = 2**20  # noise paths that a seed is drawn from: so many that two draws hardly ever share one
_BY_NAME = {"parameters": "parameters", "initial": "states", "load": "disturbances", "excitation": "disturbances",
            "noise": "measurements"}  # fmt: skip
_NOT_NEGATIVE = ("excitation", "noise")


@dataclass(frozen=True)
class Envelope:
    """Ranges [low, high] of what situations may be; what is not named keeps its nominal value.

    Attributes
    ----------
    parameters, initial : mapping of plant parameter or state to range
        In the quantity's unit. The range of a parameter that is the plant's dead time keeps to multiples of
        `delay_step`.
    reference : mapping of channel output to range
        Height of the reference; of an output that is not named it is the nominal output.
    kinds : tuple of {"step", "ramp", "sine"}
        How the reference gets there: at once, in a quarter of the horizon, or as a sine about the nominal output with
        two periods a horizon.
    load : mapping of disturbance to range
        Step of the disturbance at half the horizon.
    excitation : mapping of disturbance to range
        Standard deviation of white noise, each value held for `hold`.
    noise : mapping of measurement to range
        Standard deviation of the sensor noise.
    delay : range
        Dead time of the commands [s], in multiples of `delay_step`.
    authority : range
        Share of the command limits that the actuators have, where the controller believes in all of it.
    rate_limit : range, optional
        Largest speed of every actuator [input unit/s]; None: any.
    delay_step : float
        Between two neighbouring dead times [s]: situations of equal dead time are simulated together.
    hold, t_end : float
        Of the white noise, and the horizon [s].

    Raises
    ------
    ValueError
        Where a range is none.
    """

    parameters: Ranges = field(default_factory=dict)
    initial: Ranges = field(default_factory=dict)
    reference: Ranges = field(default_factory=dict)
    kinds: tuple[str, ...] = ("step",)
    load: Ranges = field(default_factory=dict)
    excitation: Ranges = field(default_factory=dict)
    noise: Ranges = field(default_factory=dict)
    delay: Range = (0.0, 0.0)
    authority: Range = (1.0, 1.0)
    rate_limit: Range | None = None
    delay_step: float = 0.01
    hold: float = 0.1
    t_end: float = 20.0

    def __post_init__(self) -> None:
        """Check what can be checked without the plant, and make all numbers floats."""
        for name in (*_BY_NAME, "reference"):
            least = 0.0 if name in _NOT_NEGATIVE else -math.inf
            given = {key: _range(f"{name}[{key}]", value, least) for key, value in getattr(self, name).items()}
            object.__setattr__(self, name, given)
        object.__setattr__(self, "kinds", tuple(self.kinds))
        for kind in self.kinds:
            if kind not in KINDS:
                raise ValueError(f"envelope: {unknown('kind of reference', kind, KINDS)}")
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"envelope: kinds must be different ones of {', '.join(KINDS)}, got {self.kinds}")
        object.__setattr__(self, "delay", _range("delay", self.delay, 0.0))
        object.__setattr__(self, "authority", _range("authority", self.authority, 0.0))
        if self.authority[0] <= 0.0:
            raise ValueError(
                f"envelope: authority must be above 0 (an actuator that never moves), got {self.authority}"
            )
        self._check_times()

    def _check_times(self) -> None:
        if self.rate_limit is not None:
            object.__setattr__(self, "rate_limit", _range("rate_limit", self.rate_limit, 0.0))
            if self.rate_limit[0] <= 0.0:
                raise ValueError(f"envelope: rate_limit must be above 0, got {self.rate_limit}; leave it out for none")
        for name in ("delay_step", "hold", "t_end"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"envelope: {name} must be positive and finite, got {value} s")
            object.__setattr__(self, name, float(value))

    def check(self, plant: Plant) -> None:
        """Raise ValueError where the ranges do not fit the plant: unknown names, values outside its bounds."""
        for name, kind in _BY_NAME.items():
            for key, (low, high) in getattr(self, name).items():
                quantity = getattr(plant, kind)[plant.index(kind, key)]
                if name in {"parameters", "initial"} and not quantity.low <= low <= high <= quantity.high:
                    raise ValueError(
                        f"envelope: {name}[{key}] must lie in [{quantity.low:g}, {quantity.high:g}] {quantity.unit}, "
                        f"got [{low:g}, {high:g}]"
                    )
        outputs = [channel.output for channel in plant.channels]
        for key in self.reference:
            if key not in outputs:
                raise ValueError(f"envelope: {unknown('controlled output', key, outputs)}")
        if self.authority != (1.0, 1.0) and shared_limits(plant) is None:
            raise ValueError(
                f"envelope: authority needs the same finite command limits, with 0 between them, for all channels of "
                f"{plant.name!r}, and commands that are its inputs; leave it at [1, 1]"
            )

    def document(self) -> dict[str, Any]:
        """Return it as plain data; :meth:`from_document` reads it."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_document(cls, given: object) -> Envelope:
        """Return the envelope that plain data describe.

        Raises
        ------
        ValueError
            For an unknown or missing name, or anything that is no range.
        """
        names = [f.name for f in fields(cls)]
        if not isinstance(given, dict) or set(given) != set(names):
            raise ValueError(f"envelope: expected a mapping with the keys {', '.join(names)}, got {given!r}")
        wrong = [name for name in (*_BY_NAME, "reference") if not isinstance(given[name], dict)]
        if wrong:
            raise ValueError(f"envelope: {wrong[0]} must map names to [low, high], got {given[wrong[0]]!r}")
        if not isinstance(given["kinds"], list) or not all(isinstance(kind, str) for kind in given["kinds"]):
            raise ValueError(f"envelope: kinds must be a list of words, got {given['kinds']!r}")
        times = {name: _number(name, given[name]) for name in ("delay_step", "hold", "t_end")}
        return cls(**{**given, **times})


def shared_limits(plant: Plant) -> Range | None:
    """Return the command limits that all inputs of a plant share and that leave them at rest, or None."""
    limits = {(channel.low, channel.high) for channel in plant.channels}
    if len(limits) != 1 or plant.allocate is not None or len(plant.inputs) != len(plant.channels):
        return None
    (low, high) = limits.pop()
    return (low, high) if -math.inf < low < 0.0 < high < math.inf else None


def _range(what: str, given: object, least: float) -> Range:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise ValueError(f"envelope: {what} must be [low, high], got {given!r}")
    low, high = (_number(what, end) for end in given)
    if not least <= low <= high:
        floor = "" if least == -math.inf else f"{least:g} <= "
        raise ValueError(f"envelope: {what} must be [low, high] with {floor}low <= high, got [{low:g}, {high:g}]")
    return low, high


def _number(what: str, given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise ValueError(f"envelope: {what} must be a finite number, got {given!r}")
    return float(given)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: list(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
