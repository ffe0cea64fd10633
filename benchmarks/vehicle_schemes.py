"""Ways to step the balancing vehicle: its own map with more or fewer passes, explicit couplings, integrators.

The explicit ones update the bristles exactly or implicitly with the slip before the step, and velocities with the force
that follows: unconditionally stable in the bristles alone, but the stick oscillation stays explicit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from plants.balancing_vehicle import BALANCING_VEHICLE
from plants.balancing_vehicle.loads import loads, of_instant
from plants.balancing_vehicle.motion import accelerations, bristles, turned
from plants.balancing_vehicle.parameters import Numbers
from plants.balancing_vehicle.stepping import PASSES, stepped
from plants.balancing_vehicle.wheels import dynamics

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants import Plant

PASSES_TRIED = (2, 3, 4, 6, 8)


class Scheme(NamedTuple):
    """A plant as it is stepped, and the integrator to name for it."""

    plant: Plant
    integrator: str


def with_passes(passes: int) -> Plant:
    """Return the vehicle with another number of passes in its step."""

    def advance(_: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        return stepped(x, u, w, Numbers(*p), h, passes)

    return replace(BALANCING_VEHICLE, advance=advance)


def explicit(update: str) -> Plant:
    """Return the vehicle with an `update` of its bristles ("exponential", "implicit") velocities stepped after it."""

    def advance(_: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        named = Numbers(*p)
        now, law = dynamics(x, u, w, named), named.friction
        slips = [now.slip(wheel) for wheel in range(2)]
        bent = [getattr(law, update)(slip, z, h) for slip, z in zip(slips, bristles(x), strict=True)]
        friction = [
            tuple(touch.scale * value for value in law.coefficient(slip, z))
            for touch, slip, z in zip(now.touches, slips, bent, strict=True)
        ]
        ahead, aside, *others = accelerations(now, loads(now, friction, of_instant(now, named)), friction)
        rates = (*turned(now, ahead, aside), *others)
        velocities = [v + h * a for v, a in zip(x[8:16], rates, strict=True)]
        return (*(q + h * v for q, v in zip(x[:8], velocities, strict=True)), *velocities, *bent[0], *bent[1])

    return replace(BALANCING_VEHICLE, advance=advance)


EQUATIONS = replace(BALANCING_VEHICLE, advance=None)
SCHEMES: dict[str, Callable[[], Scheme]] = {
    f"own step, {PASSES} passes": lambda: Scheme(BALANCING_VEHICLE, "rk4"),
    "exponential bristles, explicit velocities": lambda: Scheme(explicit("exponential"), "rk4"),
    "implicit bristles, explicit velocities": lambda: Scheme(explicit("implicit"), "rk4"),
    "rk4": lambda: Scheme(EQUATIONS, "rk4"),
    "rosenbrock": lambda: Scheme(EQUATIONS, "rosenbrock"),
}
