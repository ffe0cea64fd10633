"""Blocks of a mechanism with at most two gaps, for lanes with a fixed step.

Contacts that are closed are held by complementarity of forces and accelerations in the derivative. What a step leaves
behind is removed after it. A gap that has closed during the step has its impact at the instant that its distance, speed
and acceleration at the step's end point back to; the rest of the step is made up for, the acceleration taken as
constant. Then gaps below 0 are lifted along M^-1 G', and those that are pressed together lose what speed is left.

With a fixed step, single impacts cost errors of the second order of the step, whatever the integrator's order; several
within one step, and contacts that come to rest, of the first. Those who need the instants themselves use
:func:`plants.mechanics.contact_run.simulate_contacts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, minimum, quotient, sqrt, where
from plants.core.linear_solve import solve_symmetric
from plants.mechanics.contact_cases import MOST, Mobility
from plants.mechanics.declared import DeclarationError
from plants.mechanics.parts import triangle
from plants.mechanics.solving import dot

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.mechanics.full import Full

    Block = Callable[..., tuple[Any, ...]]

CLOSED_DISTANCE = 1e-6
"""A gap counts as closed below it [m]."""

CLOSED_SPEED = 1e-3
"""Speed of a closed gap up to which its contact force is found with the accelerations [m/s]."""

_NAMES = (
    "mass", "load", "residuals", "jacobian", "drift", "curvature", "gaps", "gap_jacobian", "gap_speeds", "gap_curvature",
)  # fmt: skip


def contact_blocks(
    full: Full, *, closed_distance: float = CLOSED_DISTANCE, closed_speed: float = CLOSED_SPEED, rest_speed: float = 0.0
) -> tuple[Block, Block]:
    """Return ``derivative(t, x, u, w, p)`` and ``after_step(t, x, u, w, p, h)`` of the state x = (q, v).

    Parameters
    ----------
    full : Full
        Blocks of a mechanism with one or two gaps.
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
    limits = _Limits(closed_distance, closed_speed, rest_speed)
    n = full.declared.n

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        return (*x[n:], *_Touch(full, limits, t, x, u, w, p).accelerations)

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        return settled(_Touch(full, limits, t, x, u, w, p), h)

    return derivative, after_step


def contact_forces(
    full: Full, *, closed_distance: float = CLOSED_DISTANCE, closed_speed: float = CLOSED_SPEED
) -> Block:
    """Return ``forces(t, x, u, w, p)``: the contact force of each gap [N], >= 0, as the derivative has them."""
    _check(full)
    limits = _Limits(closed_distance, closed_speed, 0.0)
    return lambda t, x, u, w, p: _Touch(full, limits, t, x, u, w, p).forces


@dataclass(frozen=True)
class _Limits:
    distance: float
    speed: float
    rest_speed: float


class _Touch:
    """Blocks of one state, and its accelerations under contact."""

    def __init__(self, full: Full, limits: _Limits, t: Any, x: Any, u: Any, w: Any, p: Any) -> None:
        n = full.declared.n
        self.limits, self.q, self.v = limits, x[:n], x[n:]
        self.restitutions = [gap.restitution for gap in full.declared.gaps]
        values = dict(zip(_NAMES, full(_NAMES, t, self.q, self.v, u, w, p), strict=True))
        self.mass, load = triangle(values["mass"], n), values["load"]
        self.residuals, self.drift = values["residuals"], values["drift"]
        self.rows, self.gap_rows = _rows(values["jacobian"], n), _rows(values["gap_jacobian"], n)
        self.gaps, self.speeds = values["gaps"], values["gap_speeds"]
        self.mobility = Mobility(self.mass, self.rows, self.gap_rows)
        held = [where(d, where(s, 1.0, 0.0), 0.0) for d, s in zip(self.near(), self.slow(self.speeds), strict=True)]
        self.accelerations, _, self.forces = self.mobility.nearest(
            solve_symmetric(self.mass, load),
            [-c for c in values["curvature"]],
            [-c for c in values["gap_curvature"]],
            held,
        )
        self.gap_accelerations = [
            dot(row, self.accelerations) + c for row, c in zip(self.gap_rows, values["gap_curvature"], strict=True)
        ]

    def near(self) -> list[Any]:
        """Above 0 for a gap that counts as closed."""
        return [self.limits.distance - gap for gap in self.gaps]

    def slow(self, speeds: Any) -> list[Any]:
        """Above 0 for a gap's speed that counts as none."""
        return [self.limits.speed - magnitude(speed) for speed in speeds]


def settled(touch: _Touch, h: Any) -> tuple[Any, ...]:
    """Return the state to go on with after a step of `h`: impacts, and gaps not below 0."""
    n = len(touch.q)
    crossing, since = _crossings(touch, h)
    bouncing = _bouncing(touch, crossing, h)
    since = [where(e, time, 0.0) for e, time in zip(bouncing, since, strict=True)]
    steady = [s - dot(row, touch.v) for row, s in zip(touch.gap_rows, touch.speeds, strict=True)]
    wanted = [
        where(e, maximum(s - (1.0 + e) * c, 0.0), 0.0) - still
        for e, s, c, still in zip(bouncing, touch.speeds, crossing, steady, strict=True)
    ]
    hit = touch.mobility.nearest(touch.v, [-b for b in touch.drift], wanted, touch.near())
    after, _, impulses = hit
    after = [where(_largest(impulses), new, old) for new, old in zip(after, touch.v, strict=True)]
    made_up = [
        sum((time * r * move[i] for time, r, (move, _) in zip(since, impulses, touch.mobility.moves, strict=True)), 0.0)
        for i in range(n)
    ]
    back = [*(-value for value in touch.residuals), *([0.0] * (len(touch.rows) - len(touch.residuals)))]
    lifted, _, pushes = touch.mobility.nearest(made_up, back, [-gap for gap in touch.gaps], touch.near())
    changed = maximum(_largest(impulses), _largest(pushes))
    places = [where(changed, a + b, a) for a, b in zip(touch.q, lifted, strict=True)]
    return (*places, *_pressed(touch, after, steady))


def _crossings(touch: _Touch, h: Any) -> tuple[list[Any], list[Any]]:
    """Return each gap's speed where it was 0, and the time since, from distance, speed and acceleration now."""
    speeds = [
        -sqrt(maximum(s * s - 2.0 * a * gap, 0.0))
        for gap, s, a in zip(touch.gaps, touch.speeds, touch.gap_accelerations, strict=True)
    ]
    since = [
        clip(quotient(2.0 * gap, where(-s - touch.limits.speed, s + c, -1.0)), 0.0, h)
        for gap, s, c in zip(touch.gaps, touch.speeds, speeds, strict=True)
    ]
    return speeds, since


def _bouncing(touch: _Touch, crossing: Any, h: Any) -> list[Any]:
    """Return the restitutions; 0 where a gap hardly approaches, or its rebound would be used up in a step."""
    limits, result = touch.limits, []
    for e, s, c, a in zip(touch.restitutions, touch.speeds, crossing, touch.gap_accelerations, strict=True):
        bounces = where(-s - limits.speed, -e * c - limits.rest_speed + h * minimum(a, 0.0), 0.0)
        result.append(where(bounces, e, 0.0))
    return result


def _pressed(touch: _Touch, velocity: Any, steady: Any) -> list[Any]:
    """Return the velocity without what is left of the speeds of gaps that are pressed together."""
    speeds = [dot(row, velocity) + still for row, still in zip(touch.gap_rows, steady, strict=True)]
    flags = [
        where(force, where(slow, 1.0, 0.0), 0.0) for force, slow in zip(touch.forces, touch.slow(speeds), strict=True)
    ]
    held = [[flag * entry for entry in row] for flag, row in zip(flags, touch.gap_rows, strict=True)]
    none = [-flag * still for flag, still in zip(flags, steady, strict=True)]
    stopped, _ = Mobility(touch.mass, [*touch.rows, *held], []).hold(velocity, [*(-b for b in touch.drift), *none])
    return [where(_largest(flags), new, old) for new, old in zip(stopped, velocity, strict=True)]


def _rows(flat: list[Any], n: int) -> list[list[Any]]:
    return [flat[i : i + n] for i in range(0, len(flat), n)]


def _largest(values: Any) -> Any:
    return values[0] if len(values) == 1 else maximum(*values)


def _check(full: Full) -> None:
    name, count = full.declared.name, len(full.declared.gaps)
    if not count:
        raise DeclarationError(f"mechanism {name!r} has no gaps: declare them with gap(distance), or use another form")
    if count > MOST:
        raise DeclarationError(
            f"mechanism {name!r}: a compiled plant solves contacts by cases for at most {MOST} gaps, got {count}; declare "
            "those that can close together, or follow single runs with simulate_contacts"
        )
