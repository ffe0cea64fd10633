"""Shapes of linguistic terms: how far a number belongs to each term of a variable, as blocks.

Terms are given by their centres in increasing order (the break points, for triangles) and, for shapes that have one, a
width each. Triangles and trapezoids form a strong partition: two neighbours overlap and their memberships sum to 1.
Outside the outermost centres the outer terms of a strong partition hold (shoulders).
Source: J.-S. R. Jang, C.-T. Sun and E. Mizutani, Neuro-Fuzzy and Soft Computing (Prentice Hall, 1997), sec. 2.4.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from plants.core.elementary import clip, exp, maximum
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Number = Any  # float, NumPy array or traced number: blocks are generic in it
Numbers = tuple[Number, ...]

_HALF_AT_CROSSING = 1.0 / (2.0 * sqrt(2.0 * log(2.0)))  # sigma of neighbours at distance 1 that cross at 1/2


def ramp(x: Number, start: Number, end: Number) -> Number:
    """Rise from 0 at `start` to 1 at `end` > `start`, constant outside."""
    return clip((x - start) * (1.0 / (end - start)), 0.0, 1.0)


def gaussian(x: Number, centre: Number, width: Number) -> Number:
    """Gaussian membership exp(-((x - centre) / width)^2 / 2)."""
    distance = (x - centre) * (1.0 / width)
    return exp(-0.5 * (distance * distance))


def bell(x: Number, centre: Number, width: Number, slope: int = 2) -> Number:
    """Generalised bell 1 / (1 + |(x - centre) / width|^(2 slope)): 1/2 at one width from the centre."""
    distance = (x - centre) * (1.0 / width)
    return 1.0 / (1.0 + (distance * distance) ** slope)


def spread_apart(centres: Sequence[Number], gap: float) -> Numbers:
    """Centres in order: each moved up, where necessary, to at least `gap` above the one before.

    Centres that keep the distance come back unchanged to the bit, so a search may propose any.
    """
    result = [centres[0]]
    for centre in centres[1:]:
        result.append(maximum(centre, result[-1] + gap))
    return tuple(result)


@dataclass(frozen=True)
class Shape(ABC):
    """Shape of all terms of one variable."""

    name: ClassVar[str]
    has_widths: ClassVar[bool]

    @abstractmethod
    def memberships(self, x: Number, centres: Numbers, widths: Numbers) -> Numbers:
        """Return the membership of `x` in each term, in [0, 1]: a block."""

    def default_widths(self, centres: Sequence[float], overlap: float = 1.0) -> tuple[float, ...]:
        """Return widths with which neighbours at equal distance cross at 1/2; `overlap` > 1 widens them."""
        if not self.has_widths:
            return ()
        gaps = [right - left for left, right in itertools.pairwise(centres)]
        around = [(a + b) / 2.0 for a, b in zip([gaps[0], *gaps], [*gaps, gaps[-1]], strict=True)]
        return tuple(overlap * self._crossing() * gap for gap in around)

    def _crossing(self) -> float:
        return 1.0

    def document(self) -> dict[str, Any]:
        """Return the shape as plain data."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class Triangular(Shape):
    """Triangles between neighbouring centres: a strong partition."""

    name: ClassVar[str] = "triangular"
    has_widths: ClassVar[bool] = False

    def memberships(self, x: Number, centres: Numbers, widths: Numbers) -> Numbers:  # noqa: ARG002  (has none)
        """Return the membership of `x` in each term."""
        rises = [ramp(x, left, right) for left, right in itertools.pairwise(centres)]
        return _between(rises)


@dataclass(frozen=True)
class Trapezoid(Shape):
    """Trapezoids: a strong partition whose terms are 1 on a plateau around each centre.

    Attributes
    ----------
    plateau : float
        Half of the plateau as a share of the distance to the neighbour, in [0, 0.5).
    """

    name: ClassVar[str] = "trapezoid"
    has_widths: ClassVar[bool] = False
    plateau: float = 0.25

    def __post_init__(self) -> None:
        """Check the plateau."""
        if not 0.0 <= self.plateau < 0.5:
            raise ValueError(f"plateau must be in [0, 0.5), got {self.plateau}; 0 is a triangle")
        object.__setattr__(self, "plateau", float(self.plateau))

    def memberships(self, x: Number, centres: Numbers, widths: Numbers) -> Numbers:  # noqa: ARG002  (has none)
        """Return the membership of `x` in each term."""
        rises = []
        for left, right in itertools.pairwise(centres):
            edge = self.plateau * (right - left)
            rises.append(ramp(x, left + edge, right - edge))
        return _between(rises)


@dataclass(frozen=True)
class Gaussian(Shape):
    """Gaussian terms; the width is the standard deviation."""

    name: ClassVar[str] = "gaussian"
    has_widths: ClassVar[bool] = True

    def memberships(self, x: Number, centres: Numbers, widths: Numbers) -> Numbers:
        """Return the membership of `x` in each term."""
        return tuple(gaussian(x, c, w) for c, w in zip(centres, widths, strict=True))

    def _crossing(self) -> float:
        return _HALF_AT_CROSSING


@dataclass(frozen=True)
class Bell(Shape):
    """Generalised bells; the width is the distance at which the membership is 1/2.

    Attributes
    ----------
    slope : int
        Exponent b in 1 .. 8: larger is steeper.
    """

    name: ClassVar[str] = "bell"
    has_widths: ClassVar[bool] = True
    slope: int = 2

    def __post_init__(self) -> None:
        """Check the slope."""
        if isinstance(self.slope, bool) or not isinstance(self.slope, int) or not 1 <= self.slope <= 8:
            raise ValueError(f"slope must be an integer in 1 .. 8, got {self.slope!r}")

    def memberships(self, x: Number, centres: Numbers, widths: Numbers) -> Numbers:
        """Return the membership of `x` in each term."""
        return tuple(bell(x, c, w, self.slope) for c, w in zip(centres, widths, strict=True))

    def _crossing(self) -> float:
        return 0.5


SHAPES: dict[str, type[Shape]] = {shape.name: shape for shape in (Triangular, Trapezoid, Gaussian, Bell)}


def shape_of(what: Shape | str | Mapping[str, Any]) -> Shape:
    """Return a shape from itself, its name, or its document.

    Raises
    ------
    ValueError
        For an unknown name (with the near miss) or a parameter the shape does not have.
    """
    if isinstance(what, Shape):
        return what
    given = {"name": what} if isinstance(what, str) else dict(what)
    name = given.pop("name", None)
    if name not in SHAPES:
        raise ValueError(unknown("shape of terms", str(name), tuple(SHAPES)))
    known = tuple(SHAPES[name].__dataclass_fields__)
    for parameter in given:
        if parameter not in known:
            raise ValueError(unknown(f"parameter of {name} terms", parameter, known))
    return SHAPES[name](**given)


def _between(rises: Sequence[Number]) -> Numbers:
    """Terms of a strong partition from the rises between neighbours: each lasts from its rise to the next."""
    inner = [before - after for before, after in itertools.pairwise(rises)]
    return (1.0 - rises[0], *inner, rises[-1])
