"""The declared course of a plant's parameters in operation: straight lines between knots, jumps where two share a time.

course = read_course("mu:[0=1,60=1,240=3]")
course.at(150.0)                                     # {"mu": 2.0}
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants import Plant

FORM = "NAME:[TIME=VALUE,TIME=VALUE,...], such as mu:[0=1,60=1,240=3]; two values at one time are a jump"
_ENTRY = re.compile(r"\s*([^:\[\],]+?)\s*:\s*\[([^\[\]]*)\]\s*(,|$)")


@dataclass(frozen=True)
class DriftCourse:
    """How parameters change over time.

    Attributes
    ----------
    knots : mapping of parameter to tuple of (time [s], value)
        In order of time. Before the first and after the last knot a value stays.

    Raises
    ------
    ValueError
        If a parameter has no knot, or its times run backwards.
    """

    knots: Mapping[str, tuple[tuple[float, float], ...]]

    def __post_init__(self) -> None:
        """Check."""
        if not self.knots:
            raise ValueError(f"nothing drifts; give {FORM}")
        for name, several in self.knots.items():
            if not several:
                raise ValueError(f"the drift of {name!r} has no knots; give {FORM}")
            if not np.isfinite(several).all():
                raise ValueError(f"the drift of {name!r} must be of finite numbers, got {list(several)}")
            times = [time for time, _ in several]
            if any(later < earlier for earlier, later in pairwise(times)):
                raise ValueError(f"the times of the drift of {name!r} must not run backwards, got {times}")

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters that drift."""
        return tuple(self.knots)

    def at(self, time: float) -> dict[str, float]:
        """Return the parameters at a time [s]; at a jump those behind it."""
        return {name: _value(several, time) for name, several in self.knots.items()}

    def check(self, plant: Plant) -> None:
        """Raise ValueError where the plant has no such parameter, its bounds forbid a value, or it is the dead time."""
        known = [q.name for q in plant.parameters]
        for name, several in self.knots.items():
            if name not in known:
                raise ValueError(unknown(f"parameter of plant {plant.name!r}", name, known))
            if name == plant.input_delay:
                raise ValueError(f"{name!r} is the dead time, which is compiled into a loop; let another one drift")
            for _, value in several:
                plant.values("parameters", {name: value})

    def __str__(self) -> str:
        """Print as it is read."""
        return ",".join(
            f"{name}:[{','.join(f'{time:g}={value:g}' for time, value in several)}]"
            for name, several in self.knots.items()
        )


def _value(knots: tuple[tuple[float, float], ...], time: float) -> float:
    behind = sum(knot <= time for knot, _ in knots)
    if behind == 0:
        return knots[0][1]
    if behind == len(knots):
        return knots[-1][1]
    (begin, low), (end, high) = knots[behind - 1], knots[behind]
    return low + (high - low) * (time - begin) / (end - begin)


def read_course(text: str) -> DriftCourse:
    """Return the course that a text declares, see :data:`FORM`; several parameters are set apart by commas.

    Raises
    ------
    ValueError
        If the text is none: what was expected, and what came.
    """
    knots: dict[str, tuple[tuple[float, float], ...]] = {}
    place = 0
    while place < len(text):
        found = _ENTRY.match(text, place)
        if found is None:
            raise ValueError(f"a drift is {FORM}; got {text[place:]!r}")
        name = found.group(1)
        if name in knots:
            raise ValueError(f"the drift of {name!r} is given twice; put all its knots into one list")
        knots[name] = tuple(_knot(name, part) for part in found.group(2).split(",") if part.strip())
        place = found.end()
    return DriftCourse(knots)


def _knot(name: str, part: str) -> tuple[float, float]:
    time, _, value = part.partition("=")
    try:
        return float(time), float(value)
    except ValueError:
        raise ValueError(f"a knot of the drift of {name!r} is TIME=VALUE, got {part.strip()!r}") from None
