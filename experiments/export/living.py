"""A living page: plant and controller simulated in the browser while the reader drags gains, authority, situation.

One file without a network. It holds the two machines as JavaScript, the situations' signals as they were in the
compiled simulation, and that simulation's answers; in every situation the page says how far its own run is from them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

from experiments.export import javascript
from experiments.export.living_scenes import about, gains_of, plant_name, scenes
from experiments.export.machine import part
from experiments.export.plant_machine import plant_machine
from experiments.report.document import POLICY, asset
from experiments.report.markup import Html, element

if TYPE_CHECKING:
    from experiments.export.job import Job
    from experiments.export.machine import Machine, Slots


def draggable(machine: Machine) -> Machine:
    """Return a controller whose gains have factors: slots ``scale_`` before a gain's name, 1 at first.

    With factors of 1 not a bit differs.
    """
    gains = gains_of(machine)
    memory = dict(machine.memory) | {f"scale_{gain}": 1.0 for gain in gains}
    tick = next(p.every for p in machine.parts if p.name == "schedule")

    def drag(m: Slots) -> None:
        for gain in gains:
            m[f"gain_{gain}"] = m[f"gain_{gain}"] * m[f"scale_{gain}"]

    dragged = part("drag", drag, memory, tick)
    place = 1 + next(k for k, p in enumerate(machine.parts) if p.name == "schedule")
    parts = (*machine.parts[:place], dragged, *machine.parts[place:])
    return replace(machine, memory=memory, parts=parts)


def page(job: Job) -> str:
    """Return the page of an export; empty where none of its situations can be run in one."""
    machines = javascript.text(draggable(job.machine)) + "\n" + javascript.text(_plant(job))
    found, left_out, spans = scenes(job)
    if not found:
        return ""
    data = {"about": {**about(job), "spans": spans}, "scenes": found, "left_out": left_out}
    scripts = {"machines": machines, "loop": _own("loop.js"), "data": f"const DATA = {_json(data)};"}
    scripts["page"] = _own("living.js")
    plant = job.plant.name
    title = f"{plant}: living loop"
    head = element(
        "head", element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title), element("style", asset("style.css")), element("style", Html(_own("living.css"))),
    )  # fmt: skip
    body = element(
        "body",
        element("header", element("div", element("b", "Living loop"), " ", element("span", plant, class_="plant"))),
        element("main", id="living"),
        *(element("script", _inside(text), id=f"script-{name}") for name, text in scripts.items()),
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _plant(job: Job) -> Machine:
    return plant_machine(job.plant, job.step, job.integrator, commands=True, dead_time=False, name=plant_name(job))


def _own(name: str) -> str:
    return (resources("experiments.export") / name).read_text(encoding="utf-8")


def _inside(script: str) -> Html:
    """A script as it may stand in a page: nothing in it ends its element."""
    if "</script" in script.lower():
        raise ValueError("a text in the machines holds </script, which would end the page's script")
    return Html(script)


def _json(data: Any) -> str:
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c")


__all__ = ["about", "draggable", "gains_of", "page", "scenes"]
