"""Equations of motion: loads by complementarity of the averaged gaps, friction by bristles, rates of all states.

On the ground, with gaps and their rates 0, the loads are those that keep both gaps' accelerations 0. Friction is in the
normal equations, so they are not symmetric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle.bodies import A_L
from plants.balancing_vehicle.loads import Pair, loads, of_instant
from plants.balancing_vehicle.parameters import Numbers
from plants.balancing_vehicle.wheels import Dynamics, dynamics
from plants.core.elementary import where

if TYPE_CHECKING:
    from collections.abc import Sequence

BRISTLES = (slice(16, 18), slice(18, 20))


class Grip(NamedTuple):
    """Forces at the wheels.

    Attributes
    ----------
    loads : normal forces [N], left, right
    friction : friction per load against the slip, longitudinal and lateral of each wheel
    bristles : rates of the bristles [m/s] of each wheel
    """

    loads: Pair
    friction: tuple[Pair, Pair]
    bristles: tuple[Pair, Pair]


def bristles(x: Any) -> tuple[Pair, Pair]:
    """Return the bristles of the left and the right wheel [m], longitudinal and lateral."""
    left, right = (tuple(x[part]) for part in BRISTLES)
    return left, right


def grip(now: Dynamics, x: Any, p: Numbers) -> Grip:
    """Return loads and friction at a state."""
    law, z = p.friction, bristles(x)
    friction, rates = [], []
    for wheel, touch in enumerate(now.touches):
        slip = now.slip(wheel)
        along, across = law.coefficient(slip, z[wheel])
        friction.append((touch.scale * along, touch.scale * across))
        bending, shearing = law.rate(slip, z[wheel])
        rates.append((bending, shearing))
    return Grip(loads(now, friction, of_instant(now, p)), (friction[0], friction[1]), (rates[0], rates[1]))


def accelerations(now: Dynamics, forces: Pair, friction: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Return U' [8] in the heading frame under loads and friction."""
    result = list(now.free)
    for wheel in range(2):
        normal, along, across = (now.answers[wheel + k] for k in (0, 2, 4))
        for k in range(len(result)):
            push = normal[k] - friction[wheel][0] * along[k] - friction[wheel][1] * across[k]
            result[k] = result[k] + forces[wheel] * push
    return tuple(result)


def turned(now: Dynamics, ahead: Any, aside: Any) -> Pair:
    """Return a vector of the heading frame along x and y."""
    c, s = now.at.heading
    return c * ahead - s * aside, s * ahead + c * aside


def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Rates of the 8 coordinates, the 8 velocities and the bristles (left longitudinal, lateral, right ...)."""
    named = Numbers(*p)
    now = dynamics(x, u, w, named)
    acting = grip(now, x, named)
    ahead, aside, *others = accelerations(now, acting.loads, acting.friction)
    return (*x[8:16], *turned(now, ahead, aside), *others, *_bristle_rates(x, acting, named))


def _bristle_rates(x: Any, acting: Grip, p: Numbers) -> list[Any]:
    """Bristles bend with the slip; off the ground they spring back, with nothing on them but their own damping."""
    back = springing(p)
    return [
        where(load, rate, -back * bent)
        for load, rates, bents in zip(acting.loads, acting.bristles, bristles(x), strict=True)
        for rate, bent in zip(rates, bents, strict=True)
    ]


def springing(p: Numbers) -> Any:
    """Rate at which free bristles straighten [1/s]: 1000 of the vehicle's, gone before a wheel lands again."""
    return p.sigma0 / where(p.sigma1, p.sigma1, 1.0)


SPIN = slice(A_L + 8, A_L + 10)  # of the wheels against the platform, among the states
