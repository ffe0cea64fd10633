"""The plant in motion: controls and data for the page's script, and one still frame for readers without it.

The still frame is what stands on paper.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.drawing.html import Html, element, join
from experiments.report.sections.view import PageView, section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.report.records.motion import BodyView, Drive, PictureView, SceneView
    from experiments.report.records.results import Array


_SIZE = 420.0  # pixels of the longer side


def still(given: PictureView, drive: Drive, colour: str) -> Html:
    """All views at a third of the drive."""
    frame = drive.frames // 3
    parts = [_still_view(given.views, drive, v, frame, colour) for v in range(len(given.views))]
    return element("div", *parts, class_="views")


def _still_view(views: tuple[SceneView, ...], drive: Drive, v: int, frame: int, colour: str) -> Html:
    view = views[v]
    left, right, bottom, top = view.window
    scale = _SIZE / max(right - left, top - bottom)
    width, height = scale * (right - left), scale * (top - bottom)
    origin = drive.follow(v, frame) * view.grain + (left, top)

    def placed(points: Array) -> Array:
        offset = (points * view.grain - origin) * scale
        return np.round(np.stack([offset[:, 0], -offset[:, 1]], axis=1), 1)

    bodies = [_still_body(b, placed(drive.points(v, k, frame)), height) for k, b in enumerate(view.bodies)]
    label = f"{view.name}, at {frame * drive.step:.3g} s" + (f"; {view.note}" if view.note else "")
    drawing = element(
        "svg", *bodies, viewBox=f"0 0 {width:.0f} {height:.0f}", class_=f"scene {colour}", role="img", aria_label=label
    )
    across = sum(one.window[1] - one.window[0] for one in views)
    share = (right - left) / across
    # One scale for all views, none of them higher than the window: as the script has it.
    style = f"flex:{share:.3f} 1 {640 * share:.0f}px;max-width:{max(200.0, 480 * width / height):.0f}px"
    return element("div", drawing, element("small", label), style=style)


def _still_body(body: BodyView, at: Array, height: float) -> Html:
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


_PACES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 200.0)


def picture(view: PageView) -> Html:
    """The section; nothing for a plant without a scene."""
    given = view.data.picture
    if given is None:
        return Html("")
    names = {c.key: c.name for c in view.data.controllers}
    colours = {c.key: view.colour(c.key) for c in view.data.controllers}
    figure = picture_figure(given, names, colours, view.recommended.key)
    return section("picture", "Seen moving", figure, lead=f"{given.text}{view.named_note}", folded=False)


def picture_figure(given: PictureView, names: Mapping[str, str], colours: Mapping[str, str], first: str) -> Html:
    """The figure alone.

    Parameters
    ----------
    given : PictureView
    names, colours : mapping of controller key to str
        What it is called, and the class of its colour ("k0").
    first : str
        Key of the controller that is seen first, if it has a drive.
    """
    keys = list(dict.fromkeys(drive.controller for drive in given.drives))
    keys.sort(key=lambda key: key != first)
    data = _data(given, keys, names, colours)
    shown = next(d for d in given.drives if d.controller == keys[0])
    said = f"{given.text} {_bodies(given)}"
    return element(
        "figure",
        element("div", still(given, shown, colours[shown.controller]), class_="still"),
        element("noscript", element("p", f"One moment of {names[shown.controller]} in {shown.situation}.")),
        element("div", class_="stage", role="img", aria_label=said, hidden=True),
        element("script", Html(data), type="application/json", class_="drives"),
        class_="picture",
    )


def _bodies(given: PictureView) -> str:
    parts = []
    for view in given.views:
        known = [body.name for body in view.bodies if body.name]
        parts.append(f"Seen {view.name}" + (f": {', '.join(dict.fromkeys(known))}." if known else "."))
    return " ".join(parts)


def _data(given: PictureView, keys: list[str], names: Mapping[str, str], colours: Mapping[str, str]) -> str:
    """The drives as text that may stand in a page; bodies that are the same in several drives are there once."""
    pool: list[str] = []
    places: dict[str, int] = {}

    def kept(value: Any) -> int:
        text = json.dumps(value, separators=(",", ":"))
        if text not in places:
            places[text] = len(pool)
            pool.append(text)
        return places[text]

    views = [
        {
            "name": v.name, "across": f"{v.across} [{v.unit}]", "up": f"{v.up} [{v.unit}]", "window": v.window,
            "grain": v.grain, "note": v.note,
            "bodies": [{"kind": b.kind, "tint": b.tint, "levels": b.levels, "text": b.level_text} for b in v.bodies],
        }
        for v in given.views
    ]  # fmt: skip
    drives = [
        {
            "place": given.situations.index(d.situation), "who": keys.index(d.controller), "step": d.step,
            "frames": d.frames, "views": [_view(d, v, len(view.bodies), kept) for v, view in enumerate(given.views)],
        }
        for d in given.drives
    ]  # fmt: skip
    head = {
        "pace": given.pace, "paces": sorted({*_PACES, given.pace}), "views": views, "places": given.situations,
        "who": [names[key] for key in keys], "colours": [colours[key] for key in keys], "drives": drives,
    }  # fmt: skip
    text = json.dumps(head, separators=(",", ":"))
    # "<" would end the script's element where a name holds "</script>".
    return f'{text[:-1]},"pool":[{",".join(pool)}]}}'.replace("<", "\\u003c")


def _view(drive: Drive, v: int, count: int, kept: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"bodies": [kept(_body(drive, f"{v}.{b}.")) for b in range(count)]}
    if f"{v}.follow" in drive.parts:
        found["follow"] = kept(steps(drive.parts[f"{v}.follow"]))
    return found


def _body(drive: Drive, head: str) -> dict[str, Any]:
    """Everything of one body: its shape as it stands, what moves as steps."""
    found: dict[str, Any] = {}
    for key, values in drive.parts.items():
        if key.startswith(head):
            what = key.removeprefix(head)
            found[what] = np.asarray(values).tolist() if what == "shape" else steps(values)
    return found


def steps(values: Any) -> list[list[int]]:
    """Columns of whole numbers [n, ...], each as its first value and the steps from there: short numbers."""
    flat = np.asarray(values, dtype=np.int64).reshape(len(values), -1)
    return [np.diff(column, prepend=0).tolist() for column in flat.T]
