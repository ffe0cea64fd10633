"""Normal forces of the wheels: complementarity of loads with gaps.

Two laws. MEAN: gaps averaged over a short time, in the equations and in the step. END: the gaps themselves. A step's
loads keep them from closing beyond 0 at its end; the equations, which know no step, load only wheels on the ground, and
stop them over the averaging time. Blocks have a fixed form, so a law is bound to one by :func:`under`.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle.wheels import gaps_of
from plants.contact import at_end, averaged, two_contacts
from plants.contact.mean_gap import LEAST_RATIO, weight
from plants.core.elementary import maximum, where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.balancing_vehicle.parameters import Numbers
    from plants.balancing_vehicle.wheels import Dynamics

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


def of_instant(now: Dynamics, p: Numbers) -> Openings:
    """Return what loads keep open in the equations of motion."""
    mean = _averaged(now, p.averaging)
    if _LAW.get() == MEAN:
        return mean
    gaps = [touch.gap for touch in now.touches]
    return Openings(
        mean.square, [where(gap - TOUCHING, _FAR, value) for gap, value in zip(gaps, mean.known, strict=True)]
    )


def of_step(now: Dynamics, x: Any, p: Numbers, h: Any) -> Openings:
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
