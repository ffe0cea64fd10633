"""A plant with constraints: whether its declared starts fulfil them, and how far they drift along a run.

Starts that do not are moved onto the constraints wherever they are used; here it is told by how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plants.core.checks.report import CheckReport
    from plants.core.motion.trajectory import Trajectory
    from plants.core.plant import Plant
    from plants.core.quantities import OperatingPoint

    Given = Mapping[str, float] | Sequence[float] | None


DRIFTED = 1e-6  # residual along a run that is worth a word
_TOLD = 3  # starts that are named one by one


def check_starts(report: CheckReport, plant: Plant) -> None:
    """Tell which operating points and starts of situations have to move onto the constraints, and how far."""
    if plant.admissible is None:
        return
    if not plant.fulfils(plant.initial()):
        report.problems.append(
            "its nominal start breaks its constraints; declare the states' nominal values so that they hold, as "
            f"{_values(plant, plant.admissible(plant.initial(), plant.nominal()))}"
        )
        return
    moved = []
    for name, initial, parameters in _declared(plant):
        x, p = plant.values("states", initial), plant.values("parameters", parameters)
        places = tuple(plant.index("states", key) for key in initial) if isinstance(initial, Mapping) else ()
        try:
            begun = plant.admissible(x, p, places)
        except ValueError as error:
            report.problems.append(f"{name}: {error}")
            continue
        given = places or range(len(x))
        largest = max(given, key=lambda k: abs(begun[k] - x[k]))
        if abs(begun[largest] - x[largest]) > DRIFTED:
            moved.append(f"{name} ({plant.states[largest].name} {x[largest]:.4g} -> {begun[largest]:.4g})")
    if moved:
        more = f" and {len(moved) - _TOLD} more" if len(moved) > _TOLD else ""
        report.advice.append(
            f"declared starts that break the constraints are moved onto them: {', '.join(moved[:_TOLD])}{more}"
        )
    else:
        report.passed.append("its constraints hold at every declared start")


def closed(plant: Plant, point: OperatingPoint) -> OperatingPoint:
    """Return an operating point moved onto the constraints; ValueError where that is impossible."""
    if plant.admissible is None:
        return point
    p = plant.values("parameters", point.parameters)
    return replace(point, state=plant.admissible(plant.values("states", point.state), p))


def _declared(plant: Plant) -> Iterator[tuple[str, Given, Given]]:
    for point in plant.operating_points:
        yield f"operating point {point.name!r}", point.state, point.parameters
    for several in plant.situations.values():
        for one in several:
            if one.get("initial") is not None or one.get("parameters"):
                yield f"situation {one.get('name')!r}", one.get("initial"), one.get("parameters")


def check_drift(report: CheckReport, plant: Plant, run: Trajectory) -> None:
    """Tell the largest residual of the constraints along a run with nominal parameters."""
    if plant.constraints is None:
        return
    arguments = [tuple(run.group(kind).T) for kind in ("states", "inputs", "disturbances")]
    residuals = plant.constraints(run.time, *arguments, plant.nominal())
    largest = max((float(np.abs(value).max()) for value in residuals), default=0.0)
    if largest <= DRIFTED:
        report.passed.append(f"its constraints hold along the tested run to {largest:.1e}")
    else:
        report.advice.append(
            f"its constraints drift along the tested run: residuals up to {largest:.2g} at step {run.time[1]:.3g} s; "
            "a finer step, or build(stabilise='project'), holds them"
        )


def _values(plant: Plant, x: Sequence[float]) -> str:
    return ", ".join(f"{q.name} = {value:.6g}" for q, value in zip(plant.states, x, strict=True))
