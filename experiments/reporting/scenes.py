"""Which runs of a design are shown moving, and as histories and spectra: a few contenders in a few situations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.judging import RIVAL
from experiments.report.picture_data import BodyView, Drive, PictureView, SceneView
from experiments.reporting.case import BASELINE
from experiments.reporting.sampling import sampled

if TYPE_CHECKING:
    from experiments.reporting.case import Case, Place
    from plants import Plant
    from plants.core.trajectory import Trajectory

Recordings = dict[str, Any]
_ALWAYS = (BASELINE, "knowledge_base")


def shown_contenders(case: Case) -> tuple[str, ...]:
    """Return names: fixed gains, knowledge base, the best law of the plant's field, and the recommended one."""
    rivals = [c.name for c in case.group if c.name.startswith(RIVAL)]
    best = min(rivals, key=lambda name: _mean_cost(case, name), default=None)
    wanted = {*_ALWAYS, best, case.verdict.recommended}
    return tuple(c.name for c in case.group if c.name in wanted)


def _mean_cost(case: Case, name: str) -> float:
    value = float(case.judgement.fitness[name, "unforeseen"].mean())
    return value if np.isfinite(value) else np.inf


def shown_places(case: Case) -> tuple[Place, ...]:
    """Return the first and the last taught situation, the first unforeseen one and the costliest of the others."""
    taught = [p for p in case.places if p.kind == "taught"]
    unforeseen = [p for p in case.places if p.kind == "unforeseen"]
    costs = case.judgement.fitness[case.verdict.recommended, "unforeseen"].mean(axis=0)
    worst = sorted(unforeseen[1:], key=lambda place: -float(costs[place.number]))
    places = [*taught[:1], *taught[-1:], *unforeseen[:1], *worst[:1]]
    kept = {p.overall for p in places}
    return tuple(p for p in case.places if p.overall in kept)


def scene_parts(plant: Plant, place: Place, run: Trajectory, end: float) -> Recordings:
    """Return what a record keeps for the picture, where the plant has one."""
    if plant.scene is None:
        return {}
    p = plant.values("parameters", place.situation.parameters)
    return {f"scene.{name}": values for name, values in sampled(plant, run, p, end).items()}


def picture(case: Case, recorded: Recordings) -> PictureView | None:
    """Return the page's picture; None where the plant has no scene."""
    drives = []
    for place in shown_places(case):
        for name in shown_contenders(case):
            head = f"{name}.{place.overall}.scene."
            parts = {key.removeprefix(head): values for key, values in recorded.items() if key.startswith(head)}
            if parts:
                drives.append(Drive(place.label, name, float(parts.pop("step")[0]), parts))
    return picture_of(case.plant, drives) if drives else None


def picture_of(plant: Plant, drives: list[Drive]) -> PictureView:
    """Return the picture of drives of a plant with a scene."""
    scene = plant.scene
    assert scene is not None  # noqa: S101  (for the type checker)
    views = tuple(
        SceneView(
            view.name, view.across, view.up, view.unit, view.window, view.grain, view.note,
            tuple(BodyView(b.kind, b.tint, b.name, b.levels if b.level else None, b.level_text) for b in view.bodies),
        )
        for view in scene.views
    )  # fmt: skip
    return PictureView(scene.text, scene.pace, views, tuple(drives))
