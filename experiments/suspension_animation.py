"""The car on its road as one page that needs no network: side and front view, dampers coloured by their setting.

    python -m experiments.suspension_animation runs/suspension/base-0 docs/suspension/animation.html

Drives of several controllers over the same road are recorded and drawn by the page's own script.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sscq
from experiments.errors import UserError, user_errors
from experiments.suspension_records import STEP, drivers
from plants.core import atomic
from plants.suspension.parameters import C_MAX, C_MIN, PARAMETERS, WHEELS, Car
from plants.suspension.pose import pose
from plants.suspension.roads import bump, rough_road, together
from plants.suspension.signals import REST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.trajectory import Trajectory

NAMES = ("fixed", "knowledge_base", "rival_sky_hook", "rival_as_built")
SPEED = 15.0  # m/s
_EVERY = 20  # steps between frames: 50 a second
_ROAD_EVERY = 4  # steps between points of the road: 6 cm
_TEMPLATE = Path(__file__).with_name("suspension_animation.html")


def situation() -> sscq.Situation:
    """Return the drive: class C, a bump across the road, then one under the left wheels."""
    road = together(
        rough_road("C", SPEED), bump(0.06, 1.5, SPEED, at=30.0), bump(0.08, 2.0, SPEED, at=75.0, side="left")
    )
    return sscq.Situation(name="shown", excitation=road, t_end=8.0, seed=3)


def page(drives: dict[str, Trajectory]) -> str:
    """Return the page.

    Parameters
    ----------
    drives : mapping of title to Trajectory
        Records of the same road, in steps of 1 ms.
    """
    first = next(iter(drives.values()))
    data = {
        "speed": SPEED, "frame": _EVERY * STEP, "grain": _ROAD_EVERY * STEP, "limits": [C_MIN, C_MAX],
        "car": _car(), "road": {n: _thinned(first, f"R_{n}", _ROAD_EVERY, 4) for n in WHEELS[:2]},
        "drives": {title: _drive(one) for title, one in drives.items()},
    }  # fmt: skip
    return _TEMPLATE.read_text(encoding="utf-8").replace("/*DATA*/null", json.dumps(data, separators=(",", ":")))


def _car() -> dict[str, Any]:
    """Return what is drawn of the car: two axles, its state of rest, wheels' radii there."""
    p = tuple(q.nominal for q in PARAMETERS)
    car, at = Car.of(p), pose(REST, p)
    axles = [
        {name: getattr(axle, name) for name in ("a1", "b2", "gam", "c1", "c2", "e2", "e3")}
        for axle in (car.front, car.rear)
    ]
    radii = [REST[0] + at.corners[k].wheel_u for k in (0, 2)]
    return {"axles": axles, "rest": list(REST[:7]), "radii": radii}


def _drive(one: Trajectory) -> dict[str, Any]:
    states = ["z0", "beta", "alpha", *(f"theta_{n}" for n in WHEELS)]
    return {
        "q": [_thinned(one, name, _EVERY, 5) for name in states],
        "c": [_thinned(one, f"c_{n}", _EVERY, 0) for n in WHEELS],
        "load": [_thinned(one, f"output tyre_load_{n}", _EVERY, 0) for n in WHEELS],
        "felt": _thinned(one, "output heave_acceleration", _EVERY, 3),
        "comfort": float(one["ride_comfort"][-1]), "variation": float(one["tyre_load_variation"][-1]),
    }  # fmt: skip


def _thinned(one: Trajectory, name: str, every: int, digits: int) -> list[float]:
    return [round(float(value), digits) for value in one[name][::every]]


def write(run: Path, path: Path) -> None:
    """Record the drives of a finished design's controllers and write their page."""
    road = situation()
    drives = {driver.title: driver.record(road) for driver in drivers(run, NAMES).values()}
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, page(drives))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page of a finished design."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with user_errors():
        if len(words) != 2 or not (Path(words[0]) / "metrics.json").is_file():
            raise UserError("give the folder of a finished design and the page to write, such as page.html")
        write(Path(words[0]), Path(words[1]))
        print(f"written: {words[1]}")


if __name__ == "__main__":
    main()
