"""Equations of motion: loads by complementarity with the gaps, friction by bristles, rates of all states.

On the ground, with gaps and their rates 0, the loads are those that keep both gaps' accelerations 0. Friction is in
the normal equations, so they are not symmetric.

Two laws of loads. MEAN: gaps averaged over a short time, in the equations and in the step. END: the gaps themselves.
A step's loads keep them from closing beyond 0 at its end; the equations, which know no step, load only wheels on the
ground, and stop them over the averaging time. Blocks have a fixed form, so a law is bound to one by :func:`under`.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle.bodies import A_L
from plants.balancing_vehicle.parameters import VehicleParameters
from plants.balancing_vehicle.wheels import Dynamics, dynamics, gaps_of
from plants.contact import at_end, averaged, two_contacts
from plants.contact.gaps import LEAST_RATIO, weight
from plants.core.elementary import maximum, where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Pair = tuple[Any, Any]
MEAN, END = "mean", "end"
LAWS = (MEAN, END)
TOUCHING = 1e-5  # m: a wheel below it is on the ground, in the equations under END; bristles bend by eight times that
_FAR = 1.0  # m: no load is needed to keep such a gap open
_LAW: ContextVar[str] = ContextVar("law of the gaps", default=MEAN)


def under(law: str, block: Callable[..., Any]) -> Callable[..., Any]:
    """Return a block whose loads follow a law.

    Raises
    ------
    ValueError
        For another law than MEAN and END.
    """
    if law not in LAWS:
        raise ValueError(f"law of the gaps must be one of {', '.join(LAWS)}, got {law!r}")

    @wraps(block)
    def bound(*arguments: Any) -> Any:
        token = _LAW.set(law)
        try:
            return block(*arguments)
        finally:
            _LAW.reset(token)

    return bound


class Openings(NamedTuple):
    """What loads f must keep open: 0 <= f, known + square A f >= 0, one of them 0; A f are the gaps' accelerations."""

    square: Any
    known: Sequence[Any]


def of_instant(now: Dynamics, p: VehicleParameters) -> Openings:
    """Return what loads keep open in the equations of motion."""
    mean = _averaged(now, p.averaging)
    if _LAW.get() == MEAN:
        return mean
    gaps = [touch.gap for touch in now.touches]
    return Openings(
        mean.square, [where(gap - TOUCHING, _FAR, value) for gap, value in zip(gaps, mean.known, strict=True)]
    )


def of_step(now: Dynamics, x: Any, p: VehicleParameters, h: Any) -> Openings:
    """Return what loads keep open in a step `h` [s]."""
    if _LAW.get() == MEAN:
        return _averaged(now, maximum(p.averaging, LEAST_RATIO * h))
    moved = (*(q + h * v for q, v in zip(x[:8], x[8:16], strict=True)), *x[8:])
    return Openings(h * h, at_end(gaps_of(moved, p), now.drift[:2], [touch.gap for touch in now.touches], h))


def _averaged(now: Dynamics, averaging: Any) -> Openings:
    offset = [now.drift[i] + now.touches[i].bias for i in range(2)]
    _, mean = averaged([], offset, [touch.gap for touch in now.touches], now.speeds[:2], averaging)
    return Openings(weight(averaging), mean)


def loads(now: Dynamics, friction: Sequence[Sequence[Any]], openings: Openings) -> Pair:
    """Return the normal forces [N] that go with friction coefficients."""
    matrix = [[openings.square * opening(now, i, j, friction[j]) for j in range(2)] for i in range(2)]
    return two_contacts(matrix, openings.known)


def opening(now: Dynamics, i: int, j: int, friction: Sequence[Any]) -> Any:
    """Return the acceleration of gap i by a unit load on wheel j with its friction."""
    row = now.loop[i]
    return row[j] - friction[0] * row[2 + j] - friction[1] * row[4 + j]


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


def grip(now: Dynamics, x: Any, p: VehicleParameters) -> Grip:
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
    named = VehicleParameters(*p)
    now = dynamics(x, u, w, named)
    acting = grip(now, x, named)
    ahead, aside, *others = accelerations(now, acting.loads, acting.friction)
    return (*x[8:16], *turned(now, ahead, aside), *others, *_bristle_rates(x, acting, named))


def _bristle_rates(x: Any, acting: Grip, p: VehicleParameters) -> list[Any]:
    """Bristles bend with the slip; off the ground they spring back, with nothing on them but their own damping."""
    back = springing(p)
    return [
        where(load, rate, -back * bent)
        for load, rates, bents in zip(acting.loads, acting.bristles, bristles(x), strict=True)
        for rate, bent in zip(rates, bents, strict=True)
    ]


def springing(p: VehicleParameters) -> Any:
    """Rate at which free bristles straighten [1/s]: 1000 of the vehicle's, gone before a wheel lands again."""
    return p.sigma0 / where(p.sigma1, p.sigma1, 1.0)


SPIN = slice(A_L + 8, A_L + 10)  # of the wheels against the platform, among the states
