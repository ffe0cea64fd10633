"""A plant's own measures: do they trace, have the right sizes, and give the same numbers everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.check_blocks import shape
from plants.core.trace import Program, flat, names, trace

if TYPE_CHECKING:
    from plants.core.check import CheckReport
    from plants.core.check_blocks import Sample
    from plants.core.measures import Measure
    from plants.core.plant import Plant

_GROUPS = ("t", "x", "u", "w", "p")
_AGREE = 1e-9  # relative: powers and sums may round in another order, nothing else may differ


def check_measures(report: CheckReport, plant: Plant, sample: Sample) -> None:
    """Compare every measure's update as plain Python and on the tape, and read its value off."""
    before = len(report.problems)
    for measure in plant.measures:
        try:
            problem = _problem(plant, measure, sample)
        except Exception as error:  # noqa: BLE001  (whatever a user's measure raises is reported)
            problem = f"{type(error).__name__}: {error}"
        if problem:
            report.problems.append(f"measure {measure.name!r}: {problem}")
    if plant.measures and len(report.problems) == before:
        known = ", ".join(measure.name for measure in plant.measures)
        report.passed.append(f"own measures can be compiled and give finite numbers: {known}")


def _problem(plant: Plant, measure: Measure, sample: Sample) -> str:
    """What is wrong with a measure, or an empty string."""
    program, rng = _program(plant, measure), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for k in range(len(sample.t)):
            t, (x, u, w, p) = float(sample.t[k]), (tuple(sample.group(g)[:, k].tolist()) for g in _GROUPS[1:])
            m = tuple(value + (rng.uniform() if k else 0.0) for value in measure.initial)
            r = tuple(channel.scale * rng.uniform(-1.0, 1.0) for channel in plant.channels if measure.references)
            traced = np.array(program(*flat((t, x, u, w, p, m, r))))
            plain = np.array(measure.updated(t, x, u, w, p, m, plant.step, r), dtype=float)
            if not np.isfinite(traced).all():
                return f"update is not finite inside the bounds, at x = {x}"
            if not np.allclose(traced, plain, rtol=_AGREE, atol=_AGREE * np.abs(traced).max()):
                return (
                    f"update gives {traced.tolist()} when traced and {plain.tolist()} as plain Python: it must depend "
                    "on its arguments alone"
                )
        value = measure.value(tuple(np.array([each]) for each in measure.initial), np.array([plant.step]))
    return "" if np.isfinite(value).all() else f"its value is {float(np.asarray(value).ravel()[0])} at the start"


def _program(plant: Plant, measure: Measure) -> Program:
    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, r: Any) -> Any:
        return measure.updated(t, x, u, w, p, m, plant.step, r)

    references = names("r", len(plant.channels) if measure.references else 0)
    return trace(update, *(shape(plant, group) for group in _GROUPS), names("m", measure.n_states), references)
