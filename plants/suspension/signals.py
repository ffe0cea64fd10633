"""What is measured, reported and judged, and how commands become damper settings.

Sensors: heave, pitch and roll about the nominal rest with their rates, stroke of each strut from its nominal rest
with its rate. Accelerations, strut forces and tyre loads are reported: they depend on the dampers or on the road at
once.

Settings may be chosen together: what one strut cannot give of heave, pitch or roll is asked of the others. A damper
only resists, so of the forces that loops demand only some can be had at any time. Each strut for itself gives what is
nearest to its own demand; the body then misses what several could have given together. Here the four forces F are
those nearest to the demanded ones D in

    sum_n (F_n - D_n)^2 + sum_m w_m (sum_n s_mn (F_n - D_n))^2,

each between what its damper gives at its least and at its greatest setting: s are the signs with which struts work in
heave, pitch and roll, w what an error of the body's force counts beside those of single struts. Minimised one strut
after the other, a few rounds from the forces nearest to each demand; without weights each strut is for itself.

Measures: ride comfort is the vibration total value of ISO 2631-1:1997: accelerations of the body at its reference
point, heave weighted by Wk, pitch and roll by We, joined with the factors of a seat, 0.4 m for pitch and 0.63 m for
roll. Road holding is the tyre-load variation: root mean square of a tyre's dynamic load over its static one, the mean
of four, known as the dynamic load coefficient. Above some 0.3 a wheel leaves the road now and then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.elementary import abs as magnitude
from plants.core.elementary import clip, maximum, minimum, quotient, where
from plants.core.linear_solve import solve_symmetric
from plants.core.measures import Measure
from plants.core.quantities import Quantity
from plants.measures import peak, share_beyond
from plants.ride.comfort import vibration_total
from plants.suspension.geometry import Numbers, contacts, pose, strut_forces
from plants.suspension.motion import applied, equilibrium, inertia
from plants.suspension.parameters import C_MAX, C_MIN, CS_FRONT, CS_REAR, LEFT, PARAMETERS, WHEELS, Car

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Block = Callable[..., Any]


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
        return (*(_setting_of_force(force, rate, base) for force, rate in zip(forces, rates, strict=True)), *(0.0,) * 4)

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


def _setting_of_force(force: Any, rate: Any, base: float) -> Any:
    moving = magnitude(rate) - STILL
    return where(moving, clip(quotient(force, where(moving, rate, 1.0)), C_MIN, C_MAX), max(base, C_MIN))


AXES = (("heave", "Wk", 1.0), ("pitch", "We", 0.4), ("roll", "We", 0.63))
"""Motion of the body, its weighting, and the factor by which its weighted acceleration counts (m for rotations)."""
STROKE_LIMIT = 0.08
"""Travel of a strut from its nominal rest [m], either way, at which a car's stops would begin; the model has none."""
_PLACES = {q.name: k for k, q in enumerate(MEASUREMENTS)}


def static_loads(p: Numbers) -> tuple[Any, Any]:
    """Return the load of a front and of a rear tyre at rest [N]: of a level car, its mass in the middle plane.

    A car pitched by 2 degrees has up to 1.3 % of a wheel's load elsewhere, which adds 0.2 % to a variation of 0.2.
    """
    car = Car.of(p)
    ahead = (car.body_at - car.rear.a1) / (car.front.a1 - car.rear.a1)
    shares = zip((car.front, car.rear), (ahead, 1.0 - ahead), strict=True)
    front, rear = (car.g * (0.5 * car.mb * share + axle.ms + axle.ma + axle.mw) for axle, share in shares)
    return front, rear


def _reads(outputs: Block, name: str) -> Block:
    return lambda t, x, u, w, p: outputs(t, x, u, w, p)[_PLACES[name]]


def _wheels(outputs: Block, kind: str) -> Block:
    first = _PLACES[f"{kind}_{WHEELS[0]}"]
    return lambda t, x, u, w, p: outputs(t, x, u, w, p)[first : first + 4]


def _relative_loads(outputs: Block) -> Block:
    """Loads of the tyres over their static ones [4]."""
    loads = _wheels(outputs, "tyre_load")

    def relative(t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        front, rear = static_loads(p)
        pairs = zip(loads(t, x, u, w, p), (front, front, rear, rear), strict=True)
        return tuple(load / static for load, static in pairs)

    return relative


def _tyre_load_variation(outputs: Block) -> Measure:
    relative = _relative_loads(outputs)

    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, h: float) -> tuple[Any, ...]:
        loads = relative(t, x, u, w, p)
        return tuple(old + h * ((load - 1.0) * (load - 1.0)) for old, load in zip(m, loads, strict=True))

    def value(m: Any, time: Any) -> Any:
        return sum(np.sqrt(one / time) for one in m) / 4.0

    text = "dynamic over static load of a tyre, root mean square, mean of four"
    return Measure("tyre_load_variation", "1", update, value, text, WHEELS, scale=0.1)


def _farthest(outputs: Block) -> Block:
    """Travel of the strut that is farthest from its nominal rest [m]."""
    strokes = _wheels(outputs, "stroke")

    def farthest(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        a, b, c, d = (magnitude(stroke) for stroke in strokes(t, x, u, w, p))
        return maximum(maximum(a, b), maximum(c, d))

    return farthest


def _missing_load(outputs: Block) -> Block:
    """How far the least loaded tyre is from a ten-thousandth of its static load; 0 while all press more than that."""
    relative = _relative_loads(outputs)

    def missing(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        a, b, c, d = relative(t, x, u, w, p)
        return minimum(minimum(minimum(a, b), minimum(c, d)) - 1e-4, 0.0)

    return missing


def measures(outputs: Block) -> tuple[Measure, ...]:
    """Return the measures of a car whose outputs are `signals.MEASUREMENTS`."""
    parts = [(_reads(outputs, f"{axis}_acceleration"), weighting, factor) for axis, weighting, factor in AXES]
    farthest, limit = _farthest(outputs), f"{STROKE_LIMIT:g} m from its nominal rest"
    return (
        vibration_total(
            "ride_comfort", parts, text="weighted acceleration of the body: heave by Wk, pitch and roll by We, joined"
        ),
        _tyre_load_variation(outputs),
        peak("stroke", "m", farthest, text="largest travel of a strut from its nominal rest", scale=STROKE_LIMIT),
        share_beyond("stroke_beyond", farthest, STROKE_LIMIT, text=f"share of time with a strut more than {limit}"),
        share_beyond("lift_off", _missing_load(outputs), 0.0, text="share of time with a wheel off the road"),
    )
