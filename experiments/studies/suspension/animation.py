"""The car on its road as a page of its own, by the renderer of the reports: laws of the field beside a knowledge base.

    python -m experiments.studies suspension_animation runs/suspension/together-0 docs/studies/suspension/animation.html

Reports show their own contenders in their own situations; here all meet one road with two bumps.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sscq
from experiments.report.builders.motion import picture_of, sampled
from experiments.report.drawing.html import asset, document, element
from experiments.report.records.motion import Drive
from experiments.report.sections.picture import picture_figure
from experiments.runtime.errors import UserError
from experiments.studies.engine.contenders import named_contenders
from plants.core import atomic_files
from plants.suspension.roads import bump, rough_road, together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants import Plant
    from plants.core.motion.trajectory import Trajectory

NAMES = ("fixed", "rival_as_built", "rival_sky_hook", "knowledge_base")
SPEED = 15.0  # m/s


def situation() -> sscq.Situation:
    """Return the drive: class C, a bump across the road, then one under the left wheels."""
    road = together(
        rough_road("C", SPEED), bump(0.06, 1.5, SPEED, at=30.0), bump(0.08, 2.0, SPEED, at=75.0, side="left")
    )
    return sscq.Situation(name="class C with two bumps, 15 m/s", excitation=road, t_end=8.0, seed=3)


def page(plant: Plant, drives: Mapping[str, Trajectory]) -> str:
    """Return the page.

    Parameters
    ----------
    plant : Plant
        One with a scene.
    drives : mapping of title to Trajectory
        Records of the same road.
    """
    road, p = situation(), plant.nominal()
    titles = {str(number): title for number, title in enumerate(drives)}
    sampled_drives = []
    for number, one in zip(titles, drives.values(), strict=True):
        parts = sampled(plant, one, p)
        sampled_drives.append(Drive(road.name, number, float(parts.pop("step")[0]), parts))
    colours = {number: f"k{number}" for number in titles}
    shown = picture_of(plant, sampled_drives)
    told = [element("p", _told(title, one)) for title, one in drives.items()]
    figure = picture_figure(shown, titles, colours, "0")
    script = element("script", asset("picture.js"))
    return document("The car on its road", shown.text, figure, *told, script)


def _told(title: str, one: Trajectory) -> str:
    comfort, variation = (float(one[name][-1]) for name in ("ride_comfort", "tyre_load_variation"))
    return f"{title}: weighted acceleration {comfort:.3f} m/s\u00b2, tyre-load variation {variation:.3f}."


def write(run: Path, path: Path) -> None:
    """Record the drives of a finished design's controllers and write their page."""
    road = situation()
    known = named_contenders(run, NAMES)
    drives = {one.title: one.record(road) for one in known.values()}
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_files.write(path, page(known[NAMES[0]].plant, drives))


def main(words: Sequence[str]) -> None:
    """Write the page of a finished design."""
    if len(words) != 2 or not (Path(words[0]) / "metrics.json").is_file():
        raise UserError("give the folder of a finished design and the page to write, such as page.html")
    write(Path(words[0]), Path(words[1]))
    print(f"written: {words[1]}")
