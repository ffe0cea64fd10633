"""What riders, tyres and struts of the car have of a road.

Ride comfort is the vibration total value of ISO 2631-1:1997: accelerations of the body at its reference point, heave
weighted by Wk, pitch and roll by We, joined as 7.2.3 joins the axes of a seat: the root of the sum of squares, roll
times 0.63 m/rad and pitch times 0.4 m/rad.

Road holding is the tyre-load variation: root mean square of a tyre's dynamic load over its static one, the mean of
four, known as the dynamic load coefficient. Above some 0.3 a wheel leaves the road now and then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, minimum
from plants.core.linear_solve import solve_symmetric
from plants.core.measures import Measure
from plants.measures import peak, share_beyond
from plants.ride import weighted_rms
from plants.suspension.motion import applied, inertia
from plants.suspension.parameters import PARAMETERS, Car
from plants.suspension.pose import Numbers, contacts, pose, strut_forces
from plants.suspension.signals import REST

AXES = (("heave", "Wk", 1.0), ("pitch", "We", 0.4), ("roll", "We", 0.63))
"""Motion, weighting, and the factor by which its weighted acceleration counts (m/rad for rotations)."""
STROKE_LIMIT = 0.08
"""Travel of a strut from its nominal rest at which the car's stops would begin [m], either way; the model has none."""
_REST_STROKES = tuple(c.link.z6 for c in pose(REST, tuple(q.nominal for q in PARAMETERS)).corners)


def accelerations(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return the accelerations of heave [m/s^2], pitch and roll [rad/s^2]."""
    at = pose(x, p)
    struts, tyres = strut_forces(at, u), contacts(at, w[:4], w[4:], unilateral=False)
    return tuple(solve_symmetric(inertia(at), applied(at, struts, tyres))[4:])


def static_loads(p: Numbers) -> tuple[Any, Any]:
    """Return the load of a front and of a rear tyre at rest [N]: of a level car, its mass in the middle plane."""
    car = Car.of(p)
    ahead = (car.body_at - car.rear.a1) / (car.front.a1 - car.rear.a1)
    shares = zip((car.front, car.rear), (ahead, 1.0 - ahead), strict=True)
    front, rear = (car.g * (0.5 * car.mb * share + axle.ms + axle.ma + axle.mw) for axle, share in shares)
    return front, rear


def relative_loads(x: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return the loads of the tyres over their static ones [4]."""
    front, rear = static_loads(p)
    tyres = contacts(pose(x, p), w[:4], w[4:], unilateral=False)
    return tuple(tyre.load / static for tyre, static in zip(tyres, (front, front, rear, rear), strict=True))


def _ride(weightings: tuple[tuple[str, str, float], ...] = AXES) -> Measure:
    """All three axes in one measure: the filters of each, one sum."""
    parts = [_axis(k, weighting) for k, (_, weighting, _) in enumerate(weightings)]
    sizes = [part.n_states - 1 for part in parts]  # without the sum of each
    names = [f"{axis[0]} {name}" for axis, part in zip(weightings, parts, strict=True) for name in part.memory]

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        felt = accelerations(x, u, w, p)
        new, total, first = [], m[-1], 0
        for axis, part, size in zip(weightings, parts, sizes, strict=True):
            states = part.updated(t, felt, u, w, p, (*m[first : first + size], 0.0), h)
            new += states[:-1]
            total = total + axis[2] * axis[2] * states[-1]
            first += size
        return (*new, total)

    return Measure(
        "ride_comfort", "m/s^2", update, lambda m, time: np.sqrt(m[-1] / time),
        "weighted acceleration of the body, heave with Wk, pitch and roll with We, joined as in ISO 2631-1",
        (*names, "sum"), memory=tuple(names), scale=parts[0].scale,
    )  # fmt: skip


def _axis(k: int, weighting: str) -> Measure:
    def signal(t: Any, felt: Any, u: Any, w: Any, p: Any) -> Any:
        return felt[k]

    return weighted_rms(f"axis_{k}", signal, weighting)


def _tyre_load_variation() -> Measure:
    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        loads = relative_loads(x, w, p)
        return tuple(old + h * ((load - 1.0) * (load - 1.0)) for old, load in zip(m, loads, strict=True))

    return Measure(
        "tyre_load_variation", "1", update, lambda m, time: sum(np.sqrt(one / time) for one in m) / 4.0,
        "dynamic over static load of a tyre, root mean square, mean of four", ("i", "ii", "iii", "iv"), scale=0.1,
    )  # fmt: skip


def largest_stroke(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Return the travel of the strut that is farthest from its nominal rest [m]."""
    corners = pose(x, p).corners
    strokes = [magnitude(c.link.z6 - rest) for c, rest in zip(corners, _REST_STROKES, strict=True)]
    return maximum(maximum(strokes[0], strokes[1]), maximum(strokes[2], strokes[3]))


def _unloaded(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """How far the least loaded tyre is below zero load, over its static one; 0 while all are pressed."""
    loads = relative_loads(x, w, p)
    return minimum(minimum(minimum(loads[0], loads[1]), minimum(loads[2], loads[3])), 0.0)


MEASURES = (
    _ride(),
    _tyre_load_variation(),
    peak("stroke", "m", largest_stroke, text="largest travel of a strut from its nominal rest", scale=STROKE_LIMIT),
    share_beyond(
        "stroke_beyond", largest_stroke, STROKE_LIMIT,
        text=f"share of the time with a strut more than {STROKE_LIMIT:g} m from its nominal rest",
    ),
    share_beyond("lift_off", _unloaded, 0.0, text="share of the time with a tyre's load below zero"),
)  # fmt: skip
"""What is weighed and reported of every closed loop of the car."""
