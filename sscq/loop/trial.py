"""A few steps of a plant's closed loop: whether it compiles and runs, before anything is searched on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import plants
from controllers import PID
from plants.core.blocks import as_tuple
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import OF_ENTROPY, all_measures
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from plants import Plant
    from plants.core.checks.report import CheckReport

_STEPS = 8


def checked(plant: Plant) -> CheckReport:
    """Return the report of `plants.check`, and of a plant that passes whether its closed loop compiles and runs."""
    report = plants.check(plant)
    if plant.channels and report.ok:
        _check_loop(report, plant)
    return report


def _check_loop(report: CheckReport, plant: Plant) -> None:
    try:
        steps = _run(plant)
    except Exception as error:  # noqa: BLE001  (whatever a user's plant meets on its way is reported)
        report.problems.append(f"its closed loop cannot be compiled and run: {type(error).__name__}: {error}")
        return
    lost = "" if steps == _STEPS else f"; with all gains 0 it leaves its region after {steps:g} of them"
    report.passed.append(f"its closed loop compiles and runs {_STEPS} steps{lost}")


def _run(plant: Plant) -> float:
    """Steps that are done at rest, all gains 0, in a kernel with delays, noise, and limits of the inputs."""
    situations = [_situation(plant, "plain"), _situation(plant, "with all", full=True)]
    wanted = [name for name in all_measures(plant) if not (plant.loses_at_rest and name.startswith(OF_ENTROPY))]
    loop = ClosedLoop(plant, (PID(),) * len(plant.channels), situations, plant.step, measures=wanted)
    theta = np.zeros((1, loop.spec.controller.n_theta))
    return float(min(loop.run(theta, group, threads=1).steps.min() for group in loop.groups()))


def _situation(plant: Plant, name: str, *, full: bool = False) -> Situation:
    """The reference is where the plant begins."""
    x, p = plant.start(None, None)
    u = tuple(q.nominal for q in plant.inputs)
    y = as_tuple(plant.outputs(0.0, x, u, plant.calm(), p), len(plant.measurements), "outputs")
    places = {channel.output: plant.index("measurements", channel.output) for channel in plant.channels}
    reference = {output: float(y[place]) for output, place in places.items()}
    more = {"delay": plant.step, "output_delay": plant.step, "noise": 1e-6, "limits": (-1e12, 1e12)} if full else {}
    return Situation(name, reference, t_end=_STEPS * plant.step, **more)  # type: ignore[arg-type]
