"""Terms given by hand, as an expert names them: a variable with these centres over a range that suits the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flcs.linguistic import robust_range, widened
from flcs.membership import shape_of
from flcs.rule_base import OWN_INPUTS
from flcs.variable import SMALLEST_GAP, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from flcs.membership import Shape
    from plants import Plant

    Array = NDArray[np.float64]

UNBOUNDED = (-math.inf, math.inf)


def given_variable(
    name: str,
    centres: Sequence[float],
    x: Array,
    *,
    unit: str = "",
    shape: Shape | str = "triangular",
    overlap: float = 1.0,
    seen: tuple[float, float] | None = None,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Variable:
    """Return a linguistic variable with these centres.

    Its range holds the centres and the data, these as :func:`flcs.linguistic.robust_range` has it, but ends at the
    bounds: noise beyond what a quantity can be is no reason for a wider range.

    Parameters
    ----------
    name, unit : str
    centres : sequence of float [n_terms]
        [unit], increasing, inside the bounds.
    x : array [n]
        The input in the rows of a teaching signal.
    shape : Shape, or its name
    overlap : float
        See :class:`flcs.NetworkConfig`.
    seen : (low, high), optional
        What a closed loop has met: the range holds it, too, widened as the data's is.
    bounds : (low, high)
        Of the quantity itself.

    Raises
    ------
    ValueError
        For a centre outside the bounds, or centres nearer to one another than a variable of this range allows.
    """
    if not bounds[0] <= min(centres) <= max(centres) <= bounds[1]:
        raise ValueError(
            f"centres of {name!r} must be in [{bounds[0]:g}, {bounds[1]:g}], where {name} is, got {tuple(centres)}"
        )
    ranges = [robust_range(x), *([] if seen is None else [widened(*seen)])]
    low = min(max(min(part[0] for part in ranges), bounds[0]), *centres)
    high = max(min(max(part[1] for part in ranges), bounds[1]), *centres)
    form, smallest = shape_of(shape), SMALLEST_GAP * (high - low)
    widths = tuple(max(width, smallest) for width in form.default_widths(tuple(centres), overlap))
    return Variable(name, unit, low, high, tuple(centres), widths, form)


def bounds_of(plant: Plant | str, name: str) -> tuple[float, float]:
    """Return what a plant says its measurement can be; errors of a channel, and plants by name, have no bounds."""
    if isinstance(plant, str) or name in OWN_INPUTS:
        return UNBOUNDED
    quantity = plant.measurements[plant.index("measurements", name)]
    return quantity.low, quantity.high
