"""What is measured and reported, and how commands become damper settings.

Sensors: heave, pitch and roll about the nominal rest with their rates, stroke of each strut from its nominal rest with
its rate. Accelerations, strut forces and tyre loads are reported: they depend on the dampers or on the road at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, minimum, quotient, where
from plants.core.linear_solve import solve_symmetric
from plants.core.plant import Quantity
from plants.suspension.equilibrium import equilibrium
from plants.suspension.motion import applied, inertia
from plants.suspension.parameters import C_MAX, C_MIN, CS_FRONT, CS_REAR, LEFT, PARAMETERS, WHEELS
from plants.suspension.pose import Numbers, contacts, pose, strut_forces

if TYPE_CHECKING:
    from collections.abc import Callable

REST = equilibrium()
"""The nominal state of rest."""
STILL = 1e-3  # m/s: a damper that moves less than this makes no force worth its setting
FORCE_MAX = 4000.0  # N, active struts
_NOMINAL = tuple(q.nominal for q in PARAMETERS)
_STROKES = tuple(c.link.z6 for c in pose(REST, _NOMINAL).corners)

SIGNS = ((1.0, 1.0, 1.0, 1.0), (-1.0, -1.0, 1.0, 1.0), (1.0, -1.0, 1.0, -1.0))
"""With which the four struts push the body in heave, pitch (nose down) and roll (left side up)."""
_MODES = ("heave", "pitch", "roll")

MEASUREMENTS = (
    Quantity("heave", "m", text="z0 above its nominal rest"),
    Quantity("pitch", "rad", text="beta from its nominal rest, positive nose down"),
    Quantity("roll", "rad", text="alpha from its nominal rest, positive left side up"),
    Quantity("heave_rate", "m/s"),
    Quantity("pitch_rate", "rad/s"),
    Quantity("roll_rate", "rad/s"),
    *(Quantity(f"stroke_{n}", "m", text="z6 from its nominal rest, positive compressed") for n in WHEELS),
    *(Quantity(f"stroke_rate_{n}", "m/s", text="of the strut, positive in compression") for n in WHEELS),
    Quantity("heave_acceleration", "m/s^2", text="of the reference point; depends on the dampers at once"),
    Quantity("pitch_acceleration", "rad/s^2", text="depends on the dampers at once"),
    Quantity("roll_acceleration", "rad/s^2", text="depends on the dampers at once"),
    *(Quantity(f"tyre_load_{n}", "N", text="vertical, positive pressed") for n in WHEELS),
    *(Quantity(f"strut_force_{n}", "N", text="positive where it pushes body and wheel apart") for n in WHEELS),
    Quantity("lifted", "1", text="1 where a tyre's load is not above 0: the wheel would leave the road"),
    *(
        Quantity(f"strut_{mode}", "m", text=f"{mode} of the body over its wheels, in travel of a strut")
        for mode in _MODES
    ),
    *(Quantity(f"strut_{mode}_rate", "m/s") for mode in _MODES),
)


def outputs(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Everything of `MEASUREMENTS`."""
    return _outputs(x, u, w, p, unilateral=False)


def outputs_unilateral(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """The same with tyres that only push."""
    return _outputs(x, u, w, p, unilateral=True)


def _outputs(x: Numbers, u: Numbers, w: Numbers, p: Numbers, *, unilateral: bool) -> Numbers:
    at = pose(x, p)
    struts, tyres = strut_forces(at, u), contacts(at, w[:4], w[4:], unilateral=unilateral)
    accelerations = solve_symmetric(inertia(at), applied(at, struts, tyres))[4:]
    loads = [tyre.load for tyre in tyres]
    least = minimum(minimum(loads[0], loads[1]), minimum(loads[2], loads[3]))
    strokes = tuple(c.link.z6 - rest for c, rest in zip(at.corners, _STROKES, strict=True))
    return (
        *(x[k] - REST[k] for k in range(3)),
        *x[7:10],
        *strokes,
        *at.stroke_rates,
        *accelerations,
        *loads,
        *struts,
        where(least, 0.0, 1.0),
        *in_modes(strokes),
        *in_modes(at.stroke_rates),
    )


def in_modes(strokes: Numbers) -> Numbers:
    """Heave, pitch and roll of the body over its wheels: mean extension of the struts with each mode's signs."""
    return tuple(sum((-0.25 * sign) * one for sign, one in zip(signs, strokes, strict=True)) for signs in SIGNS)


def rest_in_modes(state: Numbers) -> dict[str, float]:
    """Return the travel of the body over its wheels in heave, pitch and roll at a state [m], by name of the output."""
    strokes = (c.link.z6 - rest for c, rest in zip(pose(state, _NOMINAL).corners, _STROKES, strict=True))
    return {f"strut_{mode}": value for mode, value in zip(_MODES, in_modes(tuple(strokes)), strict=True)}


def demanded(commands: Numbers) -> Numbers:
    """Force that each strut should push with [N]: heave, pitch and roll commands, each in newtons per strut."""
    heave, pitch, roll = commands
    signs = zip(LEFT, (True, True, False, False), strict=True)
    return tuple(heave - (pitch if front else -pitch) + (roll if left else -roll) for left, front in signs)


def allocation(base: float = 0.0) -> Callable[..., Any]:
    """Return the block that gives damper coefficients [N s/m] for heave, pitch and roll commands.

    Without a base the dampers give the demanded forces where they can, and as little as they can elsewhere: a damper
    only resists motion. With one, commands ask for forces beside those of dampers set to the base [N s/m], so that
    wheels stay damped whatever is asked of the body.
    """

    def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
        rates = pose(x, p).stroke_rates
        pairs = zip(demanded(commands), rates, strict=True)
        return (*(_setting(force, rate, base) for force, rate in pairs), 0.0, 0.0, 0.0, 0.0)

    return allocate


def _setting(force: Any, rate: Any, base: float) -> Any:
    moving = magnitude(rate) - STILL
    wanted = base + quotient(force, where(moving, rate, 1.0))
    return where(moving, clip(wanted, C_MIN, C_MAX), max(base, C_MIN))


allocate = allocation()
"""Without a base."""


def allocate_active(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Active forces [N] beside dampers as built."""
    forces = (clip(force, -FORCE_MAX, FORCE_MAX) for force in demanded(commands))
    return (CS_FRONT, CS_FRONT, CS_REAR, CS_REAR, *forces)
