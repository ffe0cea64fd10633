"""What the contenders of one design do in the drawn situations, and how large a push each survives; kept in its folder.

How much a schedule could win at most over constant gains is estimated as well: many fixed gains are tried on some of
the rides, and the best for all of them is set against the best for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import formats
from experiments.run_folder import RunFolder
from experiments.unicycle_contenders import MEASURES, contenders
from experiments.unicycle_pushes import Condition, areas, conditions, drawn, largest_pushes
from experiments.unicycle_tables import TRIED

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.comparison.contenders import Contender
    from experiments.unicycle_declaration import Declaration
    from experiments.unicycle_pushes import Grid

    Array = np.ndarray

_STOOD, _SIZES = "stood", "sizes"
_SPREAD = 0.7  # of the logarithm of fixed gains that are tried around the best ones
_SOME = 6  # rides on which they are tried
_FINER = 5  # times finer steps, to see whether the steps of the simulation matter


@dataclass(frozen=True)
class Verdict:
    """What one design's contenders did.

    Attributes
    ----------
    design : str
    titles : mapping of contender to str
    stood : mapping of contender to ndarray of bool [situation]
    quality : mapping of contender to mapping of measure to ndarray [situation]
    sizes : mapping of contender to ndarray [ride, direction]
        Largest push survived, N.
    finer : ndarray [ride, direction]
        The fixed gains' again, in finer steps.
    head_room : tuple of float
        Mean area of the regions with the best of many fixed gains, and with the best ones for each ride [N^2].
    """

    design: str
    titles: Mapping[str, str]
    stood: Mapping[str, Array]
    quality: Mapping[str, Mapping[str, Array]]
    sizes: Mapping[str, Array]
    finer: Array
    head_room: tuple[float, float]


def rides_of(declared: Declaration) -> list[Condition]:
    """Return the declared rides."""
    return conditions(declared.region, declared.region["rides"], declared.region["seed"])


def judged(run: Path, declared: Declaration, threads: int | None = None) -> Verdict:
    """Return the verdict on a finished design; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = contenders(folder, threads)
        arrays = folder.stage(
            "pushes", lambda _: _computed(known, declared),
            lambda place, values: formats.write_npz(place / "pushes.npz", values),
            lambda place: formats.read_npz(place / "pushes.npz"),
            [declared.digest],
        )  # fmt: skip
    return Verdict(
        run.name, {name: one.title for name, one in known.items()},
        {name: arrays[f"{name}.{_STOOD}"].astype(bool) for name in known},
        {name: {m: arrays[f"{name}.{m}"] for m in MEASURES} for name in known},
        {name: arrays[f"{name}.{_SIZES}"] for name in known}, arrays["finer"],
        (float(arrays["head_room"][0]), float(arrays["head_room"][1])),
    )  # fmt: skip


def _computed(known: Mapping[str, Contender], declared: Declaration) -> dict[str, Array]:
    situations = drawn(declared.drawn["ranges"], declared.drawn["number"], declared.drawn["seed"])
    rides, grid = rides_of(declared), declared.grid
    found: dict[str, Array] = {}
    for name, robot in known.items():
        found |= {
            f"{name}.{key}": np.asarray(values, float) for key, values in robot.outcome(situations, MEASURES).items()
        }
        found[f"{name}.{_SIZES}"] = largest_pushes(robot.survives, rides, grid)
    fixed = known["fixed"]
    found["finer"] = largest_pushes(replace(fixed, step=fixed.step / _FINER).survives, rides, grid)
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
