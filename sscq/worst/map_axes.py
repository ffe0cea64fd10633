"""What the two directions of a robustness map mean: a quantity of a situation and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]

DELAYS = ("delay", "output_delay")
_GROUPS = {"parameters": "parameters", "initial": "states", "noise": "measurements"}


@dataclass(frozen=True)
class MapAxis:
    """What one direction of a map means.

    Attributes
    ----------
    name : str
        A parameter; "delay", "output_delay" or "noise" (of all controlled outputs); or a name in a group, such as
        "parameters.mu", "initial.position", "noise.position".
    values : array [n]
        In the quantity's unit.
    unit : str
    """

    name: str
    values: Array
    unit: str

    def value_in(self, situation: Situation, plant: Plant) -> float:
        """Return the quantity's value in a situation; of the noise of all outputs the largest."""
        group, _, name = self.name.rpartition(".")
        if self.name == "noise":
            return max(situation.noise_levels(plant))
        if not group:
            return float(getattr(situation, self.name))
        names = [q.name for q in getattr(plant, _GROUPS[group])]
        return float(self._all(situation, plant)[names.index(name)])

    def _all(self, situation: Situation, plant: Plant) -> Sequence[float]:
        """Values of all quantities of the axis's group."""
        group = self.name.partition(".")[0]
        if group == "noise":
            return situation.noise_levels(plant)
        return plant.values(_GROUPS[group], getattr(situation, group))

    def set_in(self, situation: Situation, value: float, plant: Plant) -> Situation:
        """Return a situation with the quantity at a value."""
        group, _, name = self.name.rpartition(".")
        if not group:
            return replace(situation, **{self.name: value})  # type: ignore[arg-type]
        given = getattr(situation, group)
        if given is None or isinstance(given, Mapping):  # what is not named follows the constraints of a closed chain
            return replace(situation, **{group: {**(given or {}), name: value}})  # type: ignore[arg-type]
        names = [q.name for q in getattr(plant, _GROUPS[group])]
        known = dict(zip(names, map(float, self._all(situation, plant)), strict=True))
        return replace(situation, **{group: known | {name: value}})  # type: ignore[arg-type]


def map_axis(plant: Plant, name: str, low: float, high: float, n: int) -> MapAxis:
    """Return an axis of `n` even values.

    Raises
    ------
    ValueError
        If there is no such quantity, the range is empty or leaves the quantity's bounds, or n is below 2.
    """
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"{name}: a range has a lower and a higher finite end, got [{low:g}, {high:g}]")
    if n < 2:
        raise ValueError(f"{name}: a map has at least 2 points in each direction, got {n}")
    group, _, own = name.rpartition(".")
    if name in (*DELAYS, "noise"):
        if low < 0.0:
            raise ValueError(f"{name}: at least 0, got {low:g}")
        return MapAxis(name, np.linspace(low, high, n), "s" if name in DELAYS else "")
    group = group or "parameters"
    if group not in _GROUPS:
        raise ValueError(unknown("group of quantities of a map", group, tuple(_GROUPS)))
    quantities = {q.name: q for q in getattr(plant, _GROUPS[group])}
    if own not in quantities:
        known = [*quantities, *DELAYS, "noise"] if "." not in name else list(quantities)
        raise ValueError(unknown(f"quantity of plant {plant.name!r} for a map", own, known))
    quantity = quantities[own]
    least, most = (0.0, np.inf) if group == "noise" else (quantity.low, quantity.high)
    if low < least or high > most:
        raise ValueError(f"{name}: [{low:g}, {high:g}] leaves the plant's range of it, [{least:g}, {most:g}]")
    return MapAxis(f"{group}.{own}", np.linspace(low, high, n), quantity.unit)


def check_pair(plant: Plant, x: MapAxis, y: MapAxis) -> None:
    """Raise ValueError where two axes make no map."""
    names = {x.name, y.name}
    noises = "noise" in names and any(name.startswith("noise.") for name in names)
    if x.name == y.name or noises or names <= delays(plant):
        raise ValueError(f"a map is over two quantities, at most one of them a delay, got {x.name} and {y.name}")


def delays(plant: Plant) -> set[str]:
    """Return the axes whose values a whole call shares."""
    return {*DELAYS, f"parameters.{plant.input_delay}"}


def read_range(text: str) -> tuple[str, float, float]:
    """Return name, low and high of a text such as "mu:[0.1,3]".

    Raises
    ------
    ValueError
        If it is something else.
    """
    found = re.fullmatch(r"\s*([^:\[\]]+?)\s*:\s*\[\s*([^,\[\]]+?)\s*,\s*([^,\[\]]+?)\s*\]\s*", text)
    if found is None:
        raise ValueError(f"an axis of a map is written name:[low,high], such as mu:[0.1,3], got {text!r}")
    try:
        return found[1], float(found[2]), float(found[3])
    except ValueError:
        raise ValueError(f"{found[1]}: the ends of a range are numbers, got [{found[2]}, {found[3]}]") from None
