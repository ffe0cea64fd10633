"""Blocks of a mechanism with at most two gaps, for lanes with a fixed step.

Contacts that are closed are held by complementarity of forces and accelerations in the derivative. What a step leaves
behind is removed after it: where a gap has closed during the step, the state goes back to the instant that distance,
speed and acceleration point to, has its impact there and goes on to the step's end, accelerations taken as constant on
either side. Gaps below 0 are lifted along M^-1 G', and those that are pressed together lose what speed is left.

With a fixed step, a single impact costs an error of the second order of the step, whatever the integrator's order, and
none in a uniform field; a second impact within the step waits for the step's end, and costs one of the first order.
Those who need the instants themselves use
:func:`plants.mechanics.contacts.run.simulate_contacts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.mechanics.contacts.cases import MOST
from plants.mechanics.contacts.settling import settled
from plants.mechanics.contacts.touch import Limits, Touch
from plants.mechanics.declaring.declared import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.mechanics.declaring.declared import Declaration
    from plants.mechanics.deriving.full import Full

    Block = Callable[..., tuple[Any, ...]]

CLOSED_DISTANCE = 1e-6
"""A gap counts as closed below it [m]."""

CLOSED_SPEED = 1e-3
"""Speed of a closed gap up to which its contact force is found with the accelerations [m/s]."""


def contact_blocks(
    full: Full,
    *,
    baumgarte: tuple[float, float] | None = None,
    closed_distance: float = CLOSED_DISTANCE,
    closed_speed: float = CLOSED_SPEED,
    rest_speed: float = 0.0,
) -> tuple[Block, Block]:
    """Return ``derivative(t, x, u, w, p)`` and ``after_step(t, x, u, w, p, h)`` of the state x = (q, v).

    Parameters
    ----------
    full : Full
        Blocks of a mechanism with one or two gaps.
    baumgarte : (float, float), optional
        Feedback alpha, beta [1/s] of the two-sided constraints' drift.
    closed_distance, closed_speed : float
        A gap with psi <= closed_distance [m] and abs(psi') <= closed_speed [m/s] is held by its contact force. They
        should exceed what one step's stages add: about v^2 h^2 / r on a surface of radius r, and its rate.
    rest_speed : float
        An impact whose rebound would be slower [m/s], or would be used up within one step, ends in rest.

    Raises
    ------
    DeclarationError
        For no gaps, or more than two.
    """
    _check(full)
    limits = Limits(closed_distance, closed_speed, rest_speed, baumgarte)
    n = full.declared.n

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        return (*x[n:], *Touch(full, limits, t, x, u, w, p).accelerations)

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        return settled(Touch(full, limits, t, x, u, w, p), h)

    return derivative, after_step


def contact_forces(
    full: Full,
    *,
    baumgarte: tuple[float, float] | None = None,
    closed_distance: float = CLOSED_DISTANCE,
    closed_speed: float = CLOSED_SPEED,
) -> Block:
    """Return ``forces(t, x, u, w, p)``: the contact force of each gap [N], >= 0, as the derivative has them."""
    _check(full)
    limits = Limits(closed_distance, closed_speed, 0.0, baumgarte)
    return lambda t, x, u, w, p: Touch(full, limits, t, x, u, w, p).forces


def refuse_nonlinear(declared: Declaration) -> None:
    """Raise DeclarationError where an impact's velocities are not those of linear constraints."""
    if not declared.linear:
        raise DeclarationError(
            f"mechanism {declared.name!r}: contacts need velocity constraints that are linear in the rates, since an "
            "impact changes velocities by a jump; write them as A(q, t) v + b(q, t) = 0, or leave the gaps out"
        )


def _check(full: Full) -> None:
    name, count = full.declared.name, len(full.declared.gaps)
    refuse_nonlinear(full.declared)
    if not count:
        raise DeclarationError(f"mechanism {name!r} has no gaps: declare them with gap(distance), or use another form")
    if count > MOST:
        raise DeclarationError(
            f"mechanism {name!r}: a compiled plant solves contacts by cases for at most {MOST} gaps, got {count}; "
            "declare those that can close together, or follow single runs with simulate_contacts"
        )
