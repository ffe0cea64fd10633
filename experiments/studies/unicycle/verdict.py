"""What the contenders of one design do in the drawn situations, and how large a push each survives.

Kept in the design's folder. How much a schedule could win at most over constant gains is estimated as well: many
fixed gains are tried on some of the rides, and the best for all of them is set against the best for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime.run_folder import RunFolder
from experiments.studies.engine import outcomes
from experiments.studies.engine.outcomes import Outcomes
from experiments.studies.unicycle.contenders import balanced, measures, unicycle_contenders
from experiments.studies.unicycle.pushes import Condition, areas, conditions, drawn, largest_pushes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.studies.engine.contenders import Contender
    from experiments.studies.unicycle.declaration import Declaration
    from experiments.studies.unicycle.pushes import Grid

    Array = np.ndarray


TRIED = 96  # sets of fixed gains around the best ones


_SIZES = "sizes"
_SPREAD = 0.7  # of the logarithm of fixed gains that are tried around the best ones
_SOME = 6  # rides on which they are tried
_FINER = 5  # times finer steps, to see whether the steps of the simulation matter


@dataclass(frozen=True)
class Verdict(Outcomes):
    """What one design's contenders did.

    Attributes
    ----------
    sizes : mapping of contender to ndarray [ride, direction]
        Largest push survived, N.
    finer : ndarray [ride, direction]
        The fixed gains' again, in finer steps.
    head_room : tuple of float, optional
        Mean area of the regions with the best of many fixed gains, and with the best ones for each ride [N^2]; None
        where each motion has a channel of its own, for which it is searched (`experiments.studies.unicycle.head_room`).
    """

    sizes: Mapping[str, Array]
    finer: Array
    head_room: tuple[float, float] | None


def rides_of(declared: Declaration, *, own: bool = False) -> list[Condition]:
    """Return the declared rides; `own` where the speed has a channel of its own."""
    rides = conditions(declared.region, declared.region["rides"], declared.region["seed"])
    return [replace(ride, balanced=own) for ride in rides]


def judged(run: Path, declared: Declaration, threads: int | None = None) -> Verdict:
    """Return the verdict on a finished design; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = unicycle_contenders(folder, threads)
        arrays = outcomes.kept(folder, "pushes", lambda: _computed(known, declared), declared.digest)
    room = arrays.get("head_room")
    return Verdict(
        run.name, **outcomes.read(known, arrays, measures(known)),
        sizes={name: arrays[f"{name}.{_SIZES}"] for name in known}, finer=arrays["finer"],
        head_room=None if room is None else (float(room[0]), float(room[1])),
    )  # fmt: skip


def _computed(known: Mapping[str, Contender], declared: Declaration) -> dict[str, Array]:
    own = balanced(known["fixed"].plant)
    situations = drawn(declared.drawn["ranges"], declared.drawn["number"], declared.drawn["seed"], balanced=own)
    rides, grid = rides_of(declared, own=own), declared.grid
    found = outcomes.arrays_of(known, situations, measures(known))
    for name, robot in known.items():
        found[f"{name}.{_SIZES}"] = largest_pushes(robot.survives, rides, grid)
    fixed = known["fixed"]
    found["finer"] = largest_pushes(replace(fixed, step=fixed.step / _FINER).survives, rides, grid)
    if not own:
        found["head_room"] = np.array(head_room(fixed, rides[:: max(1, len(rides) // _SOME)], grid))
    return found


def head_room(fixed: Contender, rides: list[Condition], grid: Grid) -> tuple[float, float]:
    """Return the mean area with the best of many fixed gains, and with those that are best for each ride [N^2].

    The gains are drawn around the fixed ones, which are among them; the grid is coarse: half the directions and sizes.
    """
    rng = np.random.default_rng(0)
    tried = fixed.theta * np.exp(_SPREAD * rng.standard_normal((TRIED, len(fixed.theta))))
    tried[0] = fixed.theta
    coarse = replace(grid, directions=grid.directions // 2, sizes=(grid.sizes + 1) // 2, halvings=0)
    each = np.array([areas(sizes) for sizes in _together(fixed, tried, rides, coarse)])
    return float(each.mean(axis=1).max()), float(each.max(axis=0).mean())


def _together(robot: Contender, theta: Array, rides: list[Condition], grid: Grid) -> Any:
    """Largest pushes survived by each of several gains [ride, direction]; the grid alone, all gains at once."""
    stood: list[Array] = []

    def first(situations: Any) -> Array:
        stood.append(robot.stood(situations, theta))
        return stood[0][:, 0]

    largest_pushes(first, rides, replace(grid, halvings=0))
    for column in stood[0].T:
        yield largest_pushes(lambda _, found=column: found, rides, replace(grid, halvings=0))  # type: ignore[misc]
