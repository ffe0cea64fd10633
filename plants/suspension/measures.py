"""What riders, tyres and struts of the car have of a road.

Ride comfort is the vibration total value of ISO 2631-1:1997: accelerations of the body at its reference point, heave
weighted by Wk, pitch and roll by We, joined with the factors of a seat, 0.4 m for pitch and 0.63 m for roll.

Road holding is the tyre-load variation: root mean square of a tyre's dynamic load over its static one, the mean of
four, known as the dynamic load coefficient. Above some 0.3 a wheel leaves the road now and then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, minimum
from plants.core.measures import Measure
from plants.measures import peak, share_beyond
from plants.ride.comfort import vibration_total
from plants.suspension.parameters import WHEELS, Car
from plants.suspension.signals import MEASUREMENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.suspension.pose import Numbers

    Block = Callable[..., Any]

AXES = (("heave", "Wk", 1.0), ("pitch", "We", 0.4), ("roll", "We", 0.63))
"""Motion of the body, its weighting, and the factor by which its weighted acceleration counts (m for rotations)."""
STROKE_LIMIT = 0.08
"""Travel of a strut from its nominal rest [m], either way, at which a car's stops would begin; the model has none."""
_PLACES = {q.name: k for k, q in enumerate(MEASUREMENTS)}


def static_loads(p: Numbers) -> tuple[Any, Any]:
    """Return the load of a front and of a rear tyre at rest [N]: of a level car, its mass in the middle plane.

    A car pitched by 2 degrees has up to 1.3 % of a wheel's load elsewhere, which adds 0.2 % to a variation of 0.2.
    """
    car = Car.of(p)
    ahead = (car.body_at - car.rear.a1) / (car.front.a1 - car.rear.a1)
    shares = zip((car.front, car.rear), (ahead, 1.0 - ahead), strict=True)
    front, rear = (car.g * (0.5 * car.mb * share + axle.ms + axle.ma + axle.mw) for axle, share in shares)
    return front, rear


def _reads(outputs: Block, name: str) -> Block:
    return lambda t, x, u, w, p: outputs(t, x, u, w, p)[_PLACES[name]]


def _wheels(outputs: Block, kind: str) -> Block:
    first = _PLACES[f"{kind}_{WHEELS[0]}"]
    return lambda t, x, u, w, p: outputs(t, x, u, w, p)[first : first + 4]


def _relative_loads(outputs: Block) -> Block:
    """Loads of the tyres over their static ones [4]."""
    loads = _wheels(outputs, "tyre_load")

    def relative(t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        front, rear = static_loads(p)
        pairs = zip(loads(t, x, u, w, p), (front, front, rear, rear), strict=True)
        return tuple(load / static for load, static in pairs)

    return relative


def _tyre_load_variation(outputs: Block) -> Measure:
    relative = _relative_loads(outputs)

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        loads = relative(t, x, u, w, p)
        return tuple(old + h * ((load - 1.0) * (load - 1.0)) for old, load in zip(m, loads, strict=True))

    def value(m: Any, time: Any) -> Any:
        return sum(np.sqrt(one / time) for one in m) / 4.0

    text = "dynamic over static load of a tyre, root mean square, mean of four"
    return Measure("tyre_load_variation", "1", update, value, text, WHEELS, scale=0.1)


def _farthest(outputs: Block) -> Block:
    """Travel of the strut that is farthest from its nominal rest [m]."""
    strokes = _wheels(outputs, "stroke")

    def farthest(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        a, b, c, d = (magnitude(stroke) for stroke in strokes(t, x, u, w, p))
        return maximum(maximum(a, b), maximum(c, d))

    return farthest


def _missing_load(outputs: Block) -> Block:
    """How far the least loaded tyre is from a ten-thousandth of its static load; 0 while all press more than that."""
    relative = _relative_loads(outputs)

    def missing(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        a, b, c, d = relative(t, x, u, w, p)
        return minimum(minimum(minimum(a, b), minimum(c, d)) - 1e-4, 0.0)

    return missing


def measures(outputs: Block) -> tuple[Measure, ...]:
    """Return the measures of a car whose outputs are `signals.MEASUREMENTS`."""
    parts = [(_reads(outputs, f"{axis}_acceleration"), weighting, factor) for axis, weighting, factor in AXES]
    farthest, limit = _farthest(outputs), f"{STROKE_LIMIT:g} m from its nominal rest"
    return (
        vibration_total(
            "ride_comfort", parts, text="weighted acceleration of the body: heave by Wk, pitch and roll by We, joined"
        ),
        _tyre_load_variation(outputs),
        peak("stroke", "m", farthest, text="largest travel of a strut from its nominal rest", scale=STROKE_LIMIT),
        share_beyond("stroke_beyond", farthest, STROKE_LIMIT, text=f"share of time with a strut more than {limit}"),
        share_beyond("lift_off", _missing_load(outputs), 0.0, text="share of time with a wheel off the road"),
    )
