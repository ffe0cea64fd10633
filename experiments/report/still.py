"""One frame of a plant's picture as SVG, for readers without a script and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.markup import Html, element, join

if TYPE_CHECKING:
    from experiments.report.picture_data import BodyView, Drive, PictureView, SceneView
    from experiments.report.situations import Array

_SIZE = 420.0  # pixels of the longer side


def still(given: PictureView, drive: Drive, colour: str) -> Html:
    """All views at a third of the drive."""
    frame = drive.frames // 3
    parts = [_view(given.views, drive, v, frame, colour) for v in range(len(given.views))]
    return element("div", *parts, class_="views")


def _view(views: tuple[SceneView, ...], drive: Drive, v: int, frame: int, colour: str) -> Html:
    view = views[v]
    left, right, bottom, top = view.window
    scale = _SIZE / max(right - left, top - bottom)
    width, height = scale * (right - left), scale * (top - bottom)
    origin = drive.follow(v, frame) * view.grain + (left, top)

    def placed(points: Array) -> Array:
        offset = (points * view.grain - origin) * scale
        return np.round(np.stack([offset[:, 0], -offset[:, 1]], axis=1), 1)

    bodies = [_body(b, placed(drive.points(v, k, frame)), height) for k, b in enumerate(view.bodies)]
    label = f"{view.name}, at {frame * drive.step:.3g} s" + (f"; {view.note}" if view.note else "")
    drawing = element(
        "svg", *bodies, viewBox=f"0 0 {width:.0f} {height:.0f}", class_=f"scene {colour}", role="img", aria_label=label
    )
    across = sum(one.window[1] - one.window[0] for one in views)
    share = (right - left) / across
    # One scale for all views, none of them higher than the window: as the script has it.
    style = f"flex:{share:.3f} 1 {640 * share:.0f}px;max-width:{max(200.0, 480 * width / height):.0f}px"
    return element("div", drawing, element("small", label), style=style)


def _body(body: BodyView, at: Array, height: float) -> Html:
    style = f"body {body.kind} tint-{body.tint}"
    if body.kind == "wheel":
        radius = float(np.hypot(*(at[1] - at[0])))
        spoke = element("path", d=_path(at), class_=style)
        rim = element("circle", cx=at[0, 0], cy=at[0, 1], r=round(radius, 1), class_=style)
        return join([spoke, rim])
    if body.kind == "ground":
        if len(at) < 2:
            return Html("")
        edges = np.array([[at[-1, 0], 2.0 * height], [at[0, 0], 2.0 * height]])
        return element("path", d=_path(np.concatenate([at, edges])) + "Z", class_=style)
    return element("path", d=_path(at) + ("Z" if body.kind == "polygon" else ""), class_=style)


def _path(points: Array) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
