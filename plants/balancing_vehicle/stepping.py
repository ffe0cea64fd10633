"""The vehicle's own step: linearly implicit in velocities and bristles, so that stiff friction sets no limit to it.

With the rates of sliding held, friction after the step is linear in the bristles before it and the slip at its end
(:meth:`plants.friction.LuGre.linear`). New slip velocities then follow from four linear equations in the contact
directions; loads follow from the averaged gaps with that friction. The two are repeated a fixed number of times, each
time with the rates of sliding at the latest slip. Coordinates go on with the new velocities.

First order in the step, stable in stick and in fast sliding.

:func:`run` is the reference path: one run at a time in plain numbers, with a step and an averaging time that adapt to
the contact. The step is a control period divided by 2^k, the averaging time five steps. After every period k grows
where a gap was open or pressed by more than a micrometre, and falls where both wheels rested. On flat ground it does
not matter at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plants.balancing_vehicle.motion import (
    MEAN,
    Pair,
    accelerations,
    bristles,
    loads,
    of_step,
    springing,
    turned,
    under,
)
from plants.balancing_vehicle.parameters import BALANCER, GRAVITY, VehicleParameters
from plants.balancing_vehicle.wheels import Dynamics, dynamics, gaps_of
from plants.contact.gaps import RATIO
from plants.core.elementary import where
from plants.core.linear_solve import solve_general
from plants.friction.lugre import magnitude

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray


PASSES = 6
"""Passes over loads and friction in a step; see the page on accuracy for what fewer and more give."""


class Pushes(NamedTuple):
    """What acts at the wheels in a step.

    Attributes
    ----------
    forces : normal forces [N], left, right
    friction : friction per load, longitudinal and lateral of each wheel
    slips : slip velocities at the end of the step [m/s]
    """

    forces: Pair
    friction: Sequence[Any]
    slips: Sequence[Any]


def advance(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
    """Return the state after a step `h` [s]."""
    return stepped(x, u, w, VehicleParameters(*p), h, PASSES)


def stepped(x: Any, u: Any, w: Any, p: VehicleParameters, h: Any, passes: int) -> tuple[Any, ...]:
    """Return the state after a step, with a number of passes."""
    now, z = dynamics(x, u, w, p), bristles(x)
    forces, friction, slips = pushes(now, x, p, h, passes)
    ahead, aside, *others = accelerations(now, forces, friction)
    velocities = [v + h * a for v, a in zip(x[8:16], (*turned(now, ahead, aside), *others), strict=True)]
    bent = [
        where(load, value, old / (1.0 + h * springing(p)))  # off the ground they spring back
        for load, slip, before in zip(forces, slips, z, strict=True)
        for value, old in zip(p.friction.implicit(slip, before, h), before, strict=True)
    ]
    return (*(q + h * v for q, v in zip(x[:8], velocities, strict=True)), *velocities, *bent)


def pushes(now: Dynamics, x: Any, p: VehicleParameters, h: Any, passes: int) -> Pushes:
    """Return loads, friction and slip of a step."""
    z, law, openings = bristles(x), p.friction, of_step(now, x, p, h)
    forces: Pair = (0.5 * _weight(p), 0.5 * _weight(p))
    slips: Sequence[Any] = [now.slip(wheel) for wheel in range(2)]
    friction: Sequence[Any] = ()
    for _ in range(passes):
        linear = [law.linear(magnitude(slip), h) for slip in slips]
        slips = _slips(now, forces, linear, z, h)
        friction = [_friction(now, wheel, linear[wheel], z[wheel], slips[wheel]) for wheel in range(2)]
        forces = loads(now, friction, openings)
    return Pushes(forces, friction, slips)


def _weight(p: VehicleParameters) -> Any:
    return (p.m_p + 2.0 * p.m_w + p.payload) * GRAVITY


def _friction(now: Dynamics, wheel: int, linear: Pair, z: Pair, slip: Pair) -> Pair:
    scale = now.touches[wheel].scale
    first, second = (scale * (linear[0] * a + linear[1] * v) for a, v in zip(z, slip, strict=True))
    return first, second


def _slips(now: Dynamics, forces: Pair, linear: Sequence[Pair], z: Sequence[Pair], h: Any) -> list[Pair]:
    """Slip velocities at the end of the step: four linear equations.

    v+ = v + h (drift + W_n f) - h W (f (A z + B v+)) with W the responses of the contact directions.
    """
    places = (2, 4, 3, 5)  # longitudinal and lateral of the left wheel, of the right one
    matrix, right = [], []
    for i in places:
        row = now.loop[i]
        known = now.drift[i] + row[0] * forces[0] + row[1] * forces[1]
        entries = []
        for j in places:
            wheel, component = (j - 2) % 2, (j - 2) // 2
            pull = h * forces[wheel] * now.touches[wheel].scale * row[j]
            known = known - forces[wheel] * now.touches[wheel].scale * row[j] * linear[wheel][0] * z[wheel][component]
            entries.append(pull * linear[wheel][1] + (1.0 if i == j else 0.0))
        matrix.append(entries)
        right.append(now.speeds[i] + h * known)
    a, b, c, d = solve_general(matrix, right)
    return [(a, b), (c, d)]


SMALL = 1e-6  # m: a gap above it, or pressed deeper, asks for shorter steps


@dataclass(frozen=True)
class SteppedRun:
    """A run at the control periods.

    Attributes
    ----------
    time : array [n + 1]
    states : array [n + 1, 20]
    gaps : array [n, 2]
        Largest gaps of each period by magnitude, left and right [m].
    halvings : array of int [n]
        k of each period.
    steps : int
        Steps that were taken.
    """

    time: NDArray[np.float64]
    states: NDArray[np.float64]
    gaps: NDArray[np.float64]
    halvings: NDArray[np.int64]
    steps: int


def run(
    t_end: float,
    period: float,
    initial: tuple[float, ...],
    torques: Callable[[float, tuple[float, ...]], tuple[float, float]],
    *,
    parameters: Mapping[str, float] = BALANCER,
    disturbances: tuple[float, ...] = (1.0, 1.0, 0.0, 0.0),
    halvings: tuple[int, int] = (0, 4),
    passes: int = PASSES,
    law: str = MEAN,
) -> SteppedRun:
    """Simulate with torques that are held over each control period.

    Parameters
    ----------
    t_end, period : float
        Length of the run and control period [s].
    torques : callable
        ``(t, x)`` to the two torques [N m].
    parameters : mapping
        All parameters by name; `averaging` is replaced.
    halvings : (int, int)
        Least and largest k; the same twice for a fixed step.
    law : str
        Of the gaps: "mean" or "end" (:mod:`plants.balancing_vehicle.motion`).

    Raises
    ------
    ValueError
        Where the run is shorter than a period, the range of k is empty, or there is no such law.
    """
    count = round(t_end / period)
    if count < 1 or not 0 <= halvings[0] <= halvings[1]:
        raise ValueError(f"t_end must be at least one period and halvings 0 <= low <= high, got {t_end}, {halvings}")
    step, x, k, steps = under(law, stepped), tuple(initial), halvings[0], 0
    states, gaps, chosen = [x], [], []
    for n in range(count):
        u, h = torques(n * period, x), period / 2**k
        p = VehicleParameters(**{**parameters, "averaging": RATIO * h})
        widest = (0.0, 0.0)
        for _ in range(2**k):
            x = step(x, u, disturbances, p, h, passes)
            left, right = gaps_of(x, p)
            widest = (max(widest[0], left, key=abs), max(widest[1], right, key=abs))
        steps += 2**k
        states.append(x)
        gaps.append(widest)
        chosen.append(k)
        k = min(k + 1, halvings[1]) if max(map(abs, widest)) > SMALL else max(k - 1, halvings[0])
    return SteppedRun(
        period * np.arange(count + 1, dtype=np.float64), np.array(states), np.array(gaps), np.array(chosen), steps
    )
