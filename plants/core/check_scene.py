"""A plant's moving picture: do its functions give what can be drawn, one sample at a time as well as many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core.scene_points import Course, body_level, body_points, view_points

if TYPE_CHECKING:
    from plants.core.check import CheckReport
    from plants.core.check_blocks import Sample
    from plants.core.plant import Plant


def check_scene_points(report: CheckReport, plant: Plant, sample: Sample) -> None:
    """Call every function of the scene at the sampled states."""
    if plant.scene is None:
        return
    before = len(report.problems)
    x, u, w = (tuple(sample.group(group)) for group in ("x", "u", "w"))
    course = Course(np.asarray(sample.t, dtype=float), x, u, w, plant.nominal())
    for view in plant.scene.views:
        for body in view.bodies:
            where = f"scene, view {view.name!r}"
            try:
                view_points(view, course)
                body_points(body, course)
                if body.level is not None:
                    body_level(body, course)
            except Exception as error:  # noqa: BLE001  (whatever a user's scene raises is reported)
                report.problems.append(f"{where}: {type(error).__name__}: {error}")
    if len(report.problems) == before:
        report.passed.append("the scene can be drawn: " + ", ".join(view.name for view in plant.scene.views))
