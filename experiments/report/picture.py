"""The plant in motion: controls and data for the page's script, and one still frame for readers without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.markup import Html, element
from experiments.report.still import still
from experiments.report.view import section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.report.picture_data import Drive, PictureView
    from experiments.report.view import View

_PACES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 200.0)


def picture(view: View) -> Html:
    """The section; nothing for a plant without a scene."""
    given = view.data.picture
    if given is None:
        return Html("")
    names = {c.key: c.name for c in view.data.controllers}
    colours = {c.key: view.colour(c.key) for c in view.data.controllers}
    figure = picture_figure(given, names, colours, view.recommended.key)
    return section("picture", "Seen moving", figure, lead=given.text)


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
