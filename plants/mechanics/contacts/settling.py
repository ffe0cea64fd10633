"""After a step in lanes: impacts at the instants that its end points back to, gaps lifted, speeds pressed out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import clip, maximum, minimum, quotient, sqrt, where
from plants.mechanics.contacts.cases import Mobility

if TYPE_CHECKING:
    from plants.mechanics.contacts.touch import Touch


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
