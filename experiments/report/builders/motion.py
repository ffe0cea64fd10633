"""Runs of a design shown moving, and the signals that a plant names: what a record keeps of both.

A few contenders in a few situations; few frames, of rigid bodies their motion only, in whole numbers of the view's
grain. Functions of the scene see samples ten times as dense as the frames, so that a wheel which turns by more than
half a turn between two frames turns the right way round in the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from experiments.pipeline.judged_rollouts import RIVAL
from experiments.report.builders.case import BASELINE, FinishedDesign, PlacedSituation
from experiments.report.records.motion import BodyView, Drive, NamedSignal, PictureView, SceneView
from experiments.runtime.tables import in_words
from plants.core.plant import plotted_quantity
from plants.core.scene_points import RecordedRun, body_level, body_points, view_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.report.recorded import Recordings
    from plants import Plant
    from plants.core.motion.trajectory import Trajectory
    from plants.core.presentation import Body, Scene


MOST = 500
"""Frames of one run."""
_WITHIN, _ALONG = 10, 4  # samples and points of a path between two frames
_SLACK = 1.0  # grains by which a rigid body may be drawn beside itself


@dataclass(frozen=True)
class FrameGrid:
    """Which samples of a record are looked at.

    Attributes
    ----------
    rows : array [n]
        Of the record.
    frame, path : int
        Every how many of them there is a frame, and a point of a path.
    step : float
        Time between frames [s].
    """

    rows: np.ndarray
    frame: int
    path: int
    step: float


def grid(scene: Scene, time: np.ndarray, end: float = np.inf) -> FrameGrid:
    """Return the samples of a record with times [n + 1] up to `end` [s]."""
    h, last = float(time[1] - time[0]), int(np.searchsorted(time, end, side="left")) - 1
    last = max(min(last, len(time) - 1), 1)
    every = max(round(1.0 / (scene.rate * h)), -(-last // MOST), 1)
    fine = max(k for k in range(1, max(every // _WITHIN, 1) + 1) if every % k == 0)
    frame = every // fine
    return FrameGrid(np.arange(0, last + 1, fine), frame, max(frame // _ALONG, 1), frame * fine * h)


def sampled(plant: Plant, run: Trajectory, p: tuple[float, ...], end: float = np.inf) -> dict[str, np.ndarray]:
    """Return what is drawn of a run.

    Returns
    -------
    dict of str to array
        "step": time between frames [s]. "v.follow" [frame, 2]: what view v follows, in grains. Of its body b one of
        "v.b.still" [1, k, 2]: points that do not move; "v.b.path" [point, 2]; "v.b.free" [frame, k, 2]; or of a rigid
        body "v.b.shape" [k, 2] about its mean point, and "v.b.motion" [frame, 3]: mean point, and the angle in units
        of one over the largest distance of the shape. "v.b.level" [frame]: colour, 0 to 100.
    """
    scene = plant.scene
    assert scene is not None  # noqa: S101  (for the type checker: asked of plants with a scene only)
    at = grid(scene, run.time, end)
    course = RecordedRun.of(plant, run, p, at.rows)
    found: dict[str, np.ndarray] = {"step": np.array([at.step])}
    for v, view in enumerate(scene.views):
        if view.follow is not None:
            found[f"{v}.follow"] = _whole(view_points(view, course)[:: at.frame] / view.grain)
        for b, body in enumerate(view.bodies):
            points = body_points(body, course, f"{body.name or body.kind!r} in view {view.name!r}")
            found |= {f"{v}.{b}.{what}": values for what, values in _coded(body, points / view.grain, at).items()}
            if body.level is not None:
                found[f"{v}.{b}.level"] = _whole(100.0 * body_level(body, course)[:: at.frame])
    return found


def _coded(body: Body, points: np.ndarray, at: FrameGrid) -> dict[str, np.ndarray]:
    """Return the shortest form that draws points [n, k, 2], in grains."""
    if body.kind in {"trace", "ground"} and points.shape[1] == 1:
        return {"path": _whole(points[:: at.path, 0])}
    frames = points[:: at.frame]
    if float(np.ptp(points, axis=0).max()) < 0.5:
        return {"still": _whole(frames[:1])}
    return _rigid(body, points, at) or {"free": _whole(frames)}


def _rigid(body: Body, points: np.ndarray, at: FrameGrid) -> dict[str, np.ndarray]:
    """Return shape and motion of a body that keeps its shape, else nothing."""
    if points.shape[1] < 2 or body.kind == "arrow":
        return {}
    flat = points[..., 0] + 1j * points[..., 1]
    middle = flat.mean(axis=1)
    about = flat - middle[:, None]
    shape = about[0]
    reach = float(np.abs(shape).max())
    if reach < 1.0:
        return {}
    angle = np.unwrap(np.angle((about * shape.conj()).sum(axis=1)))
    if float(np.abs(about - shape * np.exp(1j * angle)[:, None]).max()) > _SLACK:
        return {}
    whole = _whole(np.stack([shape.real, shape.imag], axis=1))
    unit = 1.0 / turn_unit(whole)
    motion = np.stack([middle.real, middle.imag, angle * unit], axis=1)
    return {"shape": whole, "motion": _whole(motion[:: at.frame])}


def turn_unit(shape: Any) -> float:
    """Return the angle [rad] that one unit of a motion stands for: at the farthest point it is one grain."""
    return float(1.0 / np.hypot(*np.asarray(shape, dtype=float).T).max())


def _whole(values: np.ndarray) -> np.ndarray:
    return np.rint(values).astype(np.int32)


_ALWAYS = (BASELINE, "knowledge_base")


def shown_contenders(case: FinishedDesign) -> tuple[str, ...]:
    """Return names: fixed gains, knowledge base, the best law of the plant's field, and the recommended one."""
    rivals = [c.name for c in case.group if c.name.startswith(RIVAL)]
    best = min(rivals, key=lambda name: _mean_cost(case, name), default=None)
    wanted = {*_ALWAYS, best, case.verdict.recommended}
    return tuple(c.name for c in case.group if c.name in wanted)


def _mean_cost(case: FinishedDesign, name: str) -> float:
    value = float(case.judgement.fitness[name, "unforeseen"].mean())
    return value if np.isfinite(value) else np.inf


def shown_places(case: FinishedDesign) -> tuple[PlacedSituation, ...]:
    """Return the first and the last taught situation, the first unforeseen one and the costliest of the others."""
    taught = [p for p in case.places if p.kind == "taught"]
    unforeseen = [p for p in case.places if p.kind == "unforeseen"]
    costs = case.judgement.fitness[case.verdict.recommended, "unforeseen"].mean(axis=0)
    worst = sorted(unforeseen[1:], key=lambda place: -float(costs[place.number]))
    places = [*taught[:1], *taught[-1:], *unforeseen[:1], *worst[:1]]
    kept = {p.overall for p in places}
    return tuple(p for p in case.places if p.overall in kept)


def scene_parts(plant: Plant, place: PlacedSituation, run: Trajectory, end: float) -> Recordings:
    """Return what a record keeps for the picture, where the plant has one."""
    if plant.scene is None:
        return {}
    p = plant.values("parameters", place.situation.parameters)
    return {f"scene.{name}": values for name, values in sampled(plant, run, p, end).items()}


def picture_of(plant: Plant, drives: Sequence[Drive] = ()) -> PictureView:
    """Return the picture of a plant with a scene; those of a report get their drives from the recorded responses."""
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


_SEGMENTS = 4  # of the run; with half overlap seven are averaged


def density(values: Any, step: float, segment: int = 0) -> tuple[Any, Any]:
    """Return frequencies [Hz] and the power spectral density of a signal [n] (its unit squared per Hz).

    Welch's method: Hann windows of `segment` samples, left out a quarter of the signal, half overlapping, each less
    its mean. To the bit `scipy.signal.welch`, whose import takes a second.
    """
    segment = min(segment or max(len(values) // _SEGMENTS, 8), len(values))
    window = 0.5 + 0.5 * np.cos(np.linspace(-np.pi, np.pi, segment + 1)[:-1])
    window *= 1.0 / np.sqrt(np.cumsum(window**2)[-1] / (1.0 / (1.0 / step)))
    pieces = sliding_window_view(np.asarray(values, dtype=float), segment)[:: segment - segment // 2]
    waves = np.stack([np.fft.rfft((piece - piece.mean()) * window) for piece in pieces], axis=-1)
    power = waves.real**2 + waves.imag**2
    power[1 : None if segment % 2 else -1] *= 2.0  # what negative frequencies have
    return np.fft.rfftfreq(segment, step)[1:], power.mean(axis=-1)[1:]


def signal_parts(plant: Plant, run: Trajectory, end: float) -> Recordings:
    """Return what a record keeps of the named signals: samples up to the divergence in single precision, spectra."""
    if not plant.shown:
        return {}
    step = float(run.time[1] - run.time[0])
    alive = run.time < end
    parts: Recordings = {"shown.step": np.array([step])}
    for k, one in enumerate(plant.shown):
        values = run[plotted_quantity(plant, one.signal)[0]][alive]
        if one.span > 0.0:
            parts[f"shown.{k}"] = values.astype(np.float32)
        if one.spectrum > 0.0 and alive.all():
            frequency, power = density(values, step)
            seen = frequency <= one.spectrum
            parts[f"spectrum.{k}"] = np.stack([frequency[seen], power[seen]]).astype(np.float32)
    return parts


def signals(case: FinishedDesign, recorded: Recordings) -> tuple[NamedSignal, ...]:
    """Return what the plant names, with the weightings at the frequencies that were recorded."""
    return tuple(_named(case, k, recorded) for k in range(len(case.plant.shown)))


def _named(case: FinishedDesign, k: int, recorded: Recordings) -> NamedSignal:
    one = case.plant.shown[k]
    _, what = plotted_quantity(case.plant, one.signal)
    weights = {}
    if one.weighting is not None:
        for place in shown_places(case):
            names = (f"{contender}.{place.overall}.spectrum.{k}" for contender in case.contenders)
            spectrum = next((recorded[name] for name in names if name in recorded), None)
            if spectrum is not None:  # the frequencies are the same for all contenders
                weights[place.label] = np.abs(one.weighting(np.asarray(spectrum[0], dtype=float))) ** 2
    return NamedSignal(in_words(one.signal), what.unit, one.span, one.weighting_name, weights)
