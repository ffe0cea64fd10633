"""States that a plant's `after_step` changes: there the plant is not at rest, whatever its rates say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from plants.core.plant import Plant

    Numbers = Sequence[float] | NDArray[np.float64]

ROUNDING = 1e-9  # of 1 + |state|: a projection moves what is on its constraint by rounding


def changes(plant: Plant, t: float, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> str:
    """Return how `after_step` changes a state with the plant's own step, in words; empty where it leaves it as it is.

    Parameters
    ----------
    x, u, w, p : sequences or arrays of float
        State, plant inputs, disturbances, parameters.
    """
    if plant.after_step is None:
        return ""
    x, u, w, p = (tuple(float(value) for value in values) for values in (x, u, w, p))
    result = plant.after_step(t, x, u, w, p, plant.step)
    new = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    moved = [
        f"{q.name} from {before:.6g} to {float(after):.6g} {q.unit}"
        for q, before, after in zip(plant.states, x, new, strict=True)
        if not abs(after - before) <= ROUNDING * (1.0 + abs(before))  # NaN counts
    ]
    return ", ".join(moved)
