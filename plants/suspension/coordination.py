"""Damper settings chosen together: what one strut cannot give of heave, pitch or roll is asked of the others.

A damper only resists, so of the forces that loops demand only some can be had at any time. Each strut for itself gives
what is nearest to its own demand; the body then misses what several could have given together. Here the four forces
F are those nearest to the demanded ones D in

    sum_n (F_n - D_n)^2 + sum_m w_m (sum_n s_mn (F_n - D_n))^2,

each between what its damper gives at its least and at its greatest setting: s are the signs with which struts work in
heave, pitch and roll, w what an error of the body's force counts beside those of single struts. Minimised one strut
after the other, a few rounds from the forces nearest to each demand; without weights each strut is for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, minimum, quotient, where
from plants.suspension.parameters import C_MAX, C_MIN
from plants.suspension.pose import Numbers, pose
from plants.suspension.signals import SIGNS, STILL, demanded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WEIGHTS = (10.0, 2.0, 5.0)
"""Of heave, pitch and roll: the optimum on the taught roads, rounded."""
ROUNDS = 4


def coordinated(base: float, weights: Sequence[float] = WEIGHTS, rounds: int = ROUNDS) -> Callable[..., Any]:
    """Return the block that gives damper coefficients [N s/m] for six commands, chosen together.

    Commands are those of heave, pitch and roll of the body and then of its struts [N per strut], beside dampers set to
    the base [N s/m], which they keep where a strut hardly moves.
    """

    def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
        rates = pose(x, p).stroke_rates
        body = demanded(tuple(a + b for a, b in zip(commands[:3], commands[3:], strict=True)))
        wanted = tuple(base * rate + force for rate, force in zip(rates, body, strict=True))
        forces = nearest(wanted, rates, weights, rounds)
        return (*(_setting(force, rate, base) for force, rate in zip(forces, rates, strict=True)), *(0.0,) * 4)

    return allocate


def nearest(wanted: Numbers, rates: Numbers, weights: Sequence[float], rounds: int) -> Numbers:
    """Return forces of the four dampers [N] nearest to the wanted ones, at the struts' rates [m/s]."""
    ends = [(C_MIN * rate, C_MAX * rate) for rate in rates]
    room = [(minimum(*two) - force, maximum(*two) - force) for two, force in zip(ends, wanted, strict=True)]
    missed = [clip(0.0, *one) for one in room]
    for _ in range(rounds):
        for n in range(4):
            missed[n] = clip(_best(n, missed, weights), *room[n])
    return tuple(force + error for force, error in zip(wanted, missed, strict=True))


def _best(n: int, missed: Sequence[Any], weights: Sequence[float]) -> Any:
    """What strut n should give beyond its demand, the others being as they are and its damper without limits."""
    pull = 0.0
    for weight, signs in zip(weights, SIGNS, strict=True):
        others = sum((signs[k] * missed[k] for k in range(4) if k != n), 0.0)
        pull = pull + weight * signs[n] * others
    return pull * (-1.0 / (1.0 + sum(weights)))


def _setting(force: Any, rate: Any, base: float) -> Any:
    moving = magnitude(rate) - STILL
    return where(moving, clip(quotient(force, where(moving, rate, 1.0)), C_MIN, C_MAX), max(base, C_MIN))
