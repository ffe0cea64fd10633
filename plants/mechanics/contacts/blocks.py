"""Blocks of a mechanism with at most two gaps, for lanes with a fixed step.

Contacts that are closed are held by complementarity of forces and accelerations in the derivative. What a step leaves
behind is removed after it: where a gap has closed during the step, the state goes back to the instant that distance,
speed and acceleration point to, has its impact there and goes on to the step's end, accelerations taken as constant
on either side. Gaps below 0 are lifted along M^-1 G', and those that are pressed together lose what speed is left.

With a fixed step, a single impact costs an error of the second order of the step, whatever the integrator's order,
and none in a uniform field; a second impact within the step waits for the step's end, and costs one of the first
order. Those who need the instants themselves use :func:`plants.mechanics.runs.event_driven.simulate_contacts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, minimum, quotient, sqrt, where
from plants.core.linear_solve import solve_symmetric
from plants.mechanics.algebra.blocks import MATRICES, ConstraintRows
from plants.mechanics.algebra.calculus import in_rows, triangle
from plants.mechanics.contacts.cases import MOST, Mobility
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.forms.multipliers import stabilised
from plants.mechanics.forms.solving import dot

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.mechanics.algebra.blocks import Full
    from plants.mechanics.declaration.declaration import MechanismDeclaration

    Block = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class ContactThresholds:
    """Below what a gap is closed [m] and slow [m/s], a rebound is rest [m/s]; Baumgarte's feedback [1/s]."""

    distance: float
    speed: float
    rest_speed: float
    baumgarte: tuple[float, float] | None


class Touch:
    """Blocks of one state, and its accelerations under contact."""

    def __init__(self, full: Full, limits: ContactThresholds, t: Any, x: Any, u: Any, w: Any, p: Any) -> None:
        n = full.declared.n
        self.full, self.limits, self.t, self.rest = full, limits, t, (u, w, p)
        self.q, self.v = x[:n], x[n:]
        self.restitutions = [gap.restitution for gap in full.declared.gaps]
        values = dict(zip(MATRICES, full(MATRICES, t, self.q, self.v, u, w, p), strict=True))
        self.mass, load = triangle(values["mass"], n), values["load"]
        self.residuals, self.drift = values["residuals"], values["drift"]
        self.rows, self.gap_rows = in_rows(values["jacobian"], n), in_rows(values["gap_jacobian"], n)
        self.gaps, self.speeds = values["gaps"], values["gap_speeds"]
        self.mobility = Mobility(self.mass, self.rows, self.gap_rows)
        constraints = ConstraintRows(self.residuals, self.rows, values["speeds"], self.drift, values["curvature"])
        held = [where(d, where(s, 1.0, 0.0), 0.0) for d, s in zip(self.near(), self.slow(self.speeds), strict=True)]
        self.accelerations, _, self.forces = self.mobility.nearest(
            solve_symmetric(self.mass, load),
            [-c for c in stabilised(constraints, limits.baumgarte)],
            [-c for c in values["gap_curvature"]],
            held,
        )
        self.gap_accelerations = [
            dot(row, self.accelerations) + c for row, c in zip(self.gap_rows, values["gap_curvature"], strict=True)
        ]

    def moved(self, t: Any, q: Any, v: Any) -> Touch:
        """Return the same at another time and state, inputs held."""
        return Touch(self.full, self.limits, t, (*q, *v), *self.rest)

    def steady(self) -> list[Any]:
        """Speeds that the gaps would have at rest: where they move themselves."""
        return [s - dot(row, self.v) for row, s in zip(self.gap_rows, self.speeds, strict=True)]

    def near(self) -> list[Any]:
        """Above 0 for a gap that counts as closed."""
        return [self.limits.distance - gap for gap in self.gaps]

    def slow(self, speeds: Any) -> list[Any]:
        """Above 0 for a gap's speed that counts as none."""
        return [self.limits.speed - magnitude(speed) for speed in speeds]


def settled(end: Touch, h: Any) -> tuple[Any, ...]:
    """Return the state to go on with after a step of `h`: back to the impact, and on from there; gaps not below 0."""
    approaching = [where(near, -s - end.limits.speed, 0.0) for near, s in zip(end.near(), end.speeds, strict=True)]
    times = _times(end, approaching, h)
    since = _largest(times)
    first = [where(near, where(since - time, 0.0, 1.0), 0.0) for near, time in zip(approaching, times, strict=True)]
    q, v = _along(end.q, end.v, end.accelerations, -since)
    before = end.moved(end.t - since, q, v)
    after = before.moved(before.t, q, _rebound(before, first, h))
    velocity = _pressed(after)
    q, v = _along(q, velocity, after.accelerations, since)
    hit = _largest(approaching)
    places = [where(hit, new, old) for new, old in zip(q, end.q, strict=True)]
    speeds = [where(hit, new, old) for new, old in zip(v, velocity, strict=True)]
    return (*_lifted(end, after, places, speeds), *speeds)


def _along(q: Any, v: Any, a: Any, time: Any) -> tuple[list[Any], list[Any]]:
    """Return where a state is after a time of constant acceleration."""
    places = [x + time * (rate + 0.5 * time * change) for x, rate, change in zip(q, v, a, strict=True)]
    return places, [rate + time * change for rate, change in zip(v, a, strict=True)]


def _times(end: Touch, approaching: Any, h: Any) -> list[Any]:
    """Return the time since each approaching gap has closed: gap = s' t + a t^2 / 2 with the speed s' then."""
    times = []
    for gap, s, a, near in zip(end.gaps, end.speeds, end.gap_accelerations, approaching, strict=True):
        then = -sqrt(maximum(s * s - 2.0 * a * gap, 0.0))
        times.append(where(near, clip(quotient(2.0 * gap, where(near, s + then, -1.0)), 0.0, h), 0.0))
    return times


def _rebound(before: Touch, first: Any, h: Any) -> list[Any]:
    """Return the velocity after an impact; without restitution where its rebound would be used up within a step."""
    wanted = []
    for e, s, a, still in zip(
        before.restitutions, before.speeds, before.gap_accelerations, before.steady(), strict=True
    ):
        rebound = e * maximum(-s, 0.0)
        bounces = rebound - before.limits.rest_speed + h * minimum(a, 0.0)
        wanted.append(where(bounces, rebound, 0.0) - still)
    closed = [where(hit, 1.0, near) for hit, near in zip(first, before.near(), strict=True)]
    velocity, _, _ = before.mobility.nearest(before.v, [-b for b in before.drift], wanted, closed)
    return [where(_largest(first), new, old) for new, old in zip(velocity, before.v, strict=True)]


def _pressed(touch: Touch) -> list[Any]:
    """Return the velocity without what is left of the speeds of gaps that are pressed together."""
    flags = [where(force, 1.0, 0.0) for force in touch.forces]
    held = [[flag * entry for entry in row] for flag, row in zip(flags, touch.gap_rows, strict=True)]
    none = [-flag * still for flag, still in zip(flags, touch.steady(), strict=True)]
    stopped, _ = Mobility(touch.mass, [*touch.rows, *held], []).hold(touch.v, [*(-b for b in touch.drift), *none])
    return [where(_largest(flags), new, old) for new, old in zip(stopped, touch.v, strict=True)]


def _lifted(end: Touch, after: Touch, q: Any, v: Any) -> list[Any]:
    """Return the coordinates with gaps below 0 brought to 0 along M^-1 G', within the two-sided constraints."""
    gaps, residuals = end.full(("gaps", "residuals"), end.t, q, v, *end.rest)
    closed = [end.limits.distance - gap for gap in gaps]
    back = [*(-value for value in residuals), *([0.0] * (len(after.rows) - len(residuals)))]
    move, _, pushes = after.mobility.nearest([0.0] * len(q), back, [-gap for gap in gaps], closed)
    return [where(_largest(pushes), place + by, place) for place, by in zip(q, move, strict=True)]


def _largest(values: Any) -> Any:
    return values[0] if len(values) == 1 else maximum(*values)


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
    limits = ContactThresholds(closed_distance, closed_speed, rest_speed, baumgarte)
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
    limits = ContactThresholds(closed_distance, closed_speed, 0.0, baumgarte)
    return lambda t, x, u, w, p: Touch(full, limits, t, x, u, w, p).forces


def refuse_nonlinear(declared: MechanismDeclaration) -> None:
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
