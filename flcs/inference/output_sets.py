"""Output sets of Mamdani's form: what a rule says about a gain is a fuzzy set around it, and how sets become a number.

The set of a rule is a triangle over the gain, in shares of the gain's box: 1 at the rule's gain, 0 from `width` away.
The universe is the box and one width at each side, so that every set is whole and the ends of the box can be reached.
Source: E. H. Mamdani and S. Assilian, An experiment in linguistic synthesis with a fuzzy logic controller, Int. J.
Man-Machine Studies 7 (1975) 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controllers.settings import check, setting
from flcs.inference.variable import term_labels, term_words
from plants.core.elementary import abs as magnitude

if TYPE_CHECKING:
    from flcs.inference.membership import Number

IMPLICATIONS = ("minimum", "product")
AGGREGATIONS = ("sum", "maximum")
DEFUZZIFIERS = ("centroid", "centre_average")
N_GAIN_TERMS = 5
MOST_POINTS = 1_001


def fewest_points(width: float) -> int:
    """Return the points that sets of a width need: two steps for half of a base."""
    return math.ceil(2.0 * (1.0 + 2.0 * width) / width) + 1


@dataclass(frozen=True)
class OutputSets:
    """How fuzzy sets over the gains become gains.

    Attributes
    ----------
    width : float
        Half of a set's base as a share of the gain's box. A quarter: five terms over the box, neighbours cross at 1/2.
    implication : {"minimum", "product"}
        A firing strength cuts its set off, or scales it.
    aggregation : {"sum", "maximum"}
        How the sets of all rules become one. The centroid of the sum is exact and costs hardly more than Sugeno's form;
        that of the maximum, the first one in the literature, is a sum over a grid.
    defuzzifier : {"centroid", "centre_average"}
        Centre of the aggregated set's area, or mean of the sets' centres weighted with their heights: the same as
        constant gains of the Sugeno form, whatever implication and aggregation are.
    points : int
        Of the grid over the universe on which the centroid of the maximum is taken; the others are exact without one.

    Raises
    ------
    ValueError
        For an unknown choice, or a grid too coarse for the sets.
    """

    width: float = setting(
        0.25, "mamdani: half of an output set's base, as a share of the gain's box", above=0, high=1, advanced=True
    )
    implication: str = setting(
        "minimum", "mamdani: a rule cuts its output set off (minimum) or scales it", choices=IMPLICATIONS, advanced=True
    )
    aggregation: str = setting(
        "sum",
        "mamdani: how the rules' sets are joined; the centroid of the maximum is taken on a grid and is slow",
        choices=AGGREGATIONS,
        advanced=True,
    )
    defuzzifier: str = setting(
        "centroid", "mamdani: from the joined sets to a gain", choices=DEFUZZIFIERS, advanced=True
    )
    points: int = setting(
        65, "mamdani: points of the grid for the centroid of a maximum", low=7, high=MOST_POINTS, advanced=True
    )

    def __post_init__(self) -> None:
        """Check."""
        check(self, "output sets")
        object.__setattr__(self, "width", float(self.width))
        if self.points < (fewest := fewest_points(self.width)):
            raise ValueError(
                f"output sets of width {self.width:g} need at least {fewest} points, got {self.points}; give more "
                "points or wider sets"
            )

    @property
    def on_grid(self) -> bool:
        """Whether the centroid is taken on a grid: then each gain weighs the rules in its own way."""
        return self.defuzzifier == "centroid" and self.aggregation == "maximum"

    @property
    def step(self) -> float:
        """Distance of neighbouring points, as a share of the box."""
        return (1.0 + 2.0 * self.width) / (self.points - 1)

    @property
    def nodes(self) -> tuple[float, ...]:
        """Places of the grid as shares of the box [points]; the first and last are the ends of the universe."""
        return tuple(-self.width + self.step * k for k in range(self.points))

    def grade(self, place: Number, centre: Number) -> Number:
        """Membership of a place in the set around `centre`, both shares of the box; below 0 outside: a block."""
        return 1.0 - magnitude(place - centre) * (1.0 / self.width)

    def implied(self, strength: Number, grade: Number) -> Number:
        """Membership after the rule has fired with `strength`: a block."""
        return lower(strength, grade) if self.implication == "minimum" else strength * grade

    def joined(self, one: Number, other: Number) -> Number:
        """Membership in two sets joined: a block."""
        return higher(one, other) if self.aggregation == "maximum" else one + other


def lower(a: Number, b: Number) -> Number:
    """The smaller number, in operations without a comparison: a block.

    Rules times gains need hundreds of them in one kernel, and every comparison there costs its compiler far more than
    these operations do. The result is within a rounding of the larger magnitude, and exact for equal numbers.
    """
    return 0.5 * ((a + b) - magnitude(a - b))


def higher(a: Number, b: Number) -> Number:
    """The larger number, in operations without a comparison: a block."""
    return 0.5 * ((a + b) + magnitude(a - b))


def gain_term(value: float, low: float, high: float) -> str:
    """Return the words of the term of a gain that is nearest: "very small" .. "very big" over its box.

    A box with both signs has "negative big" .. "positive big"; a box without width "fixed".
    """
    if not low < high:
        return "fixed"
    labels = term_labels(N_GAIN_TERMS, signed=low < 0.0 < high)
    place = (value - low) / (high - low) * (N_GAIN_TERMS - 1)
    return term_words(labels[min(max(round(place), 0), N_GAIN_TERMS - 1)])
