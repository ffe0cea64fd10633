"""Which states of a plant with constraints may be chosen together: the others follow from them.

Starts are drawn from ranges of these alone. Drawn in ranges of their own, dependent states would contradict each other,
and the projection onto the constraints would move all of them, out of every range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant

_STEP = 1e-6  # of 1 + a state's size, for slopes by differences
_FLAT = 1e-6  # of the largest slope: below there is none


def free_states(
    plant: Plant, names: Sequence[str], starts: Sequence[tuple[Sequence[float], Sequence[float]]]
) -> list[str]:
    """Return those of some states that may be chosen together, the first ones first.

    Parameters
    ----------
    names : sequence of str
        Of states; without constraints all of them are free.
    starts : sequence of (state, parameters)
        Where the constraints' slopes are taken. A state is free if at each of these the states that are not chosen can
        still fulfil all constraints that they can fulfil at all.
    """
    if plant.constraints is None:
        return list(names)
    slopes = [_slopes(plant, x, p) for x, p in starts]
    order, free = [q.name for q in plant.states], list[str]()
    for name in names:
        chosen = [order.index(one) for one in (*free, name)]
        if all(_rank(np.delete(one, chosen, axis=1)) == _rank(one) for one in slopes):
            free.append(name)
    return free


def check_free(plant: Plant, names: Sequence[str]) -> None:
    """Raise ValueError where not all of some states may be chosen together about the plant's nominal start."""
    try:
        start = plant.start()
    except ValueError:  # it refuses its own start: the search counts what it refuses, and says so
        return
    free = free_states(plant, names, [start])
    if len(free) < len(names):
        raise ValueError(
            f"envelope: plant {plant.name!r} has constraints; initial has ranges of {', '.join(names)}, but from "
            f"{', '.join(free)} the others follow, and drawn beside them they would leave their ranges: leave out "
            f"{', '.join(name for name in names if name not in free)}"
        )


def _slopes(plant: Plant, x: Sequence[float], p: Sequence[float]) -> np.ndarray:
    """Slopes [n_constraints, n_states] of what a plant's constraints leave over, by differences."""
    u, w, at = tuple(q.nominal for q in plant.inputs), plant.calm(), np.asarray(x, float)

    def left(state: np.ndarray) -> np.ndarray:
        assert plant.constraints is not None  # noqa: S101  (who asks has looked; for the type checker)
        return np.asarray(plant.constraints(0.0, tuple(map(float, state)), u, w, tuple(p)), float)

    moves = np.diag(_STEP * (1.0 + np.abs(at)))
    return np.stack([(left(at + one) - left(at - one)) / (2.0 * one.sum()) for one in moves], axis=1)


def _rank(slopes: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(slopes, tol=_FLAT * max(1.0, float(np.abs(slopes).max(initial=0.0)))))
