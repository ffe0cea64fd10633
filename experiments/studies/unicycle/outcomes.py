"""What a design's contenders do in the drawn situations, and how large a push each survives; kept in its folder."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from experiments.runtime.run_folder import RunFolder
from experiments.studies.engine import outcomes
from experiments.studies.engine.outcomes import Outcomes
from experiments.studies.unicycle.contenders import balanced, measures, unicycle_contenders
from experiments.studies.unicycle.pushes import Condition, PushGrid, conditions, drawn, largest_pushes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np

    from experiments.studies.engine.contenders import RivalController
    from experiments.studies.engine.declaration import Declaration

    Array = np.ndarray

OWN = {
    "drawn": ("number", "seed", "ranges"),
    "drawn.ranges": (
        "speed", "roll", "pitch", "phase", "size", "direction", "height", "at", "lasting", "slope", "rider", "yaw",
        "joints", "noise", "delay",
    ),
    "region": ("rides", "seed", "speed", "phase", "height", "grip", "grid"),
    "region.grid": tuple(field.name for field in fields(PushGrid)),
    "aim": (),
}  # fmt: skip
"""Entries of the declarations: situations drawn from ranges; rides and grid of pushes; the region's larger share."""
_SIZES = "sizes"
_FINER = 5  # times finer steps, to see whether the steps of the simulation matter


@dataclass(frozen=True)
class PushOutcomes(Outcomes):
    """What one design's contenders did.

    Attributes
    ----------
    sizes : mapping of contender to ndarray [ride, direction]
        Largest push survived, N.
    finer : ndarray [ride, direction]
        The fixed gains' again, in finer steps.
    """

    sizes: Mapping[str, Array]
    finer: Array


def grid_of(declared: Declaration) -> PushGrid:
    """Return where and how finely the region is measured."""
    return PushGrid(**declared.own["region"]["grid"])


def rides_of(declared: Declaration, *, own: bool = False) -> list[Condition]:
    """Return the declared rides; `own` where the speed has a channel of its own."""
    region = declared.own["region"]
    return [replace(ride, balanced=own) for ride in conditions(region, region["rides"], region["seed"])]


def judged(run: Path, declared: Declaration, threads: int | None = None) -> PushOutcomes:
    """Return what a finished design's contenders did; computed once."""
    with RunFolder.resume(run, command="design") as folder:
        known = unicycle_contenders(folder, threads)
        arrays = outcomes.cached(folder, "pushes", lambda: _computed(known, declared), declared.digest)
    sizes = {name: arrays[f"{name}.{_SIZES}"] for name in known}
    return PushOutcomes(
        run.name, **outcomes.read(known, arrays, measures(known)), sizes=sizes, finer=arrays["finer"]
    )  # fmt: skip


def _computed(known: Mapping[str, RivalController], declared: Declaration) -> dict[str, Array]:
    own, given = balanced(known["fixed"].plant), declared.own["drawn"]
    situations = drawn(given["ranges"], given["number"], given["seed"], balanced=own)
    rides, grid = rides_of(declared, own=own), grid_of(declared)
    found = outcomes.arrays_of(known, situations, measures(known))
    for name, robot in known.items():
        found[f"{name}.{_SIZES}"] = largest_pushes(robot.survives, rides, grid)
    fixed = known["fixed"]
    found["finer"] = largest_pushes(replace(fixed, step=fixed.step / _FINER).survives, rides, grid)
    return found
