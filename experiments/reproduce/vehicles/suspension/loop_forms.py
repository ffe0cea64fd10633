"""The car in the forms that are compared: with multipliers, and as 23 equations each solved for its own unknown.

The second is how the source prints it: z0, beta, alpha and theta_n come from their equations of motion, eta_n and
z6_n from the constraints, lambda1_n and lambda2_n from the equations of eta_n and z6_n. Each equation is solved for
its own unknown from all others: an algebraic loop of 23. Multipliers are no rates of a state; here they are those of
impulses (states `impulse1_n`, `impulse2_n`), which nothing depends on.

Entropy production is split by coordinate, beside the printed rates of the source, which are something else. The
source takes the equation solved for an acceleration, keeps the part that carries the coordinate's own velocity and
multiplies it by that velocity (US 2004/0039555, eqs. 2.122 to 2.126, here with their misprints repaired). In this
model what is left are geometric terms: they contain no damper coefficient, change sign, and do not vanish without
dampers. Their units are rad^2/s^3 and m^2/s^3, a power per inertia: do not add those of different kinds without
weights.

Gains of these loops: what one pass of "own equation, all other unknowns from before" multiplies by. With K w = k and
some unknowns solved together (the blocks D of K), w <- G w + D^-1 k with G = I - D^-1 K. It converges where the
spectral radius of G is below 1. Relaxed passes w <- w + s (G w + D^-1 k - w), for a small share s, converge where no
eigenvalue of G has a real part of 1 or more; for the minimal form that is always so, M being positive definite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.vehicles.suspension.redundant import ETA, THETA, Z6, N, RedundantCar, saddle
from plants.core.algebraic_loop.gain import gain_of
from plants.core.elementary import atan2
from plants.core.names import pick_values
from plants.core.plant import Plant
from plants.core.quantities import Quantity
from plants.mechanics.forms.solving import range_space
from plants.suspension.geometry import Numbers, contacts, mirrored, pose
from plants.suspension.model import SUSPENSION
from plants.suspension.motion import equilibrium, inertia, mass_matrix
from plants.suspension.parameters import LEFT, PARAMETERS, WHEELS
from plants.suspension.signals import REST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.algebraic_loop.gain import MatrixGain

    Array = np.ndarray[Any, Any]


PRINTED = ("beta", "alpha", *(f"{name}_{n}" for name in ("eta", "z6", "z12") for n in ("i", "ii", "iii", "iv")))


def eta(x: Numbers, p: Numbers) -> Numbers:
    """Return the angles of the struts in their corner frames [rad]."""
    at = pose(x, p)
    return tuple(
        mirrored(left, atan2(c.link.sin_eta, c.link.cos_eta)) for left, c in zip(LEFT, at.corners, strict=True)
    )


def eta_rates(x: Numbers, p: Numbers) -> Numbers:
    """Return their rates [rad/s]."""
    at = pose(x, p)
    pairs = zip(LEFT, at.corners, at.theta_rates, strict=True)
    return tuple(mirrored(left, c.link.turn * rate) for left, c, rate in pairs)


def printed_rates(x: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return the source's printed entropy rates, in the order of `PRINTED` [rad^2/s^3, m^2/s^3]."""
    at, tyres = pose(x, p), contacts(pose(x, p), w[:4], w[4:], unilateral=False)
    matrix = inertia(at)
    pitch = at.car.mb * at.body_u * at.body_v * at.roll_rate  # half the rate of the pitch inertia
    roll: Any = 0.0
    etas, strokes, contact = [], [], []
    for k, c in enumerate(at.corners):
        _, roll_rate = at.roll_of(k)
        rate = at.theta_rates[k]
        pitch = pitch + c.uv * roll_rate + c.u_u * rate
        roll = roll + c.dot * rate
        turning, sliding, lean = c.link.turn * rate, c.link.slope * rate, c.link.sin_eta / c.link.cos_eta
        arm = at.car.axles[k].d1 - c.link.z6
        etas.append(turning * turning * (turning * lean + 2.0 * sliding / arm))
        strokes.append(2.0 * turning * sliding * sliding * lean)
        tilting = at.roll_rate * at.sin_roll / at.cos_roll + at.pitch_rate * at.sin_pitch / at.cos_pitch
        contact.append(2.0 * tyres[k].z12_rate * tyres[k].z12_rate * tilting)
    beta = -2.0 * at.pitch_rate * at.pitch_rate * pitch / matrix[5][5]
    alpha = -2.0 * at.roll_rate * at.roll_rate * roll / matrix[6][6]
    return (beta, alpha, *etas, *strokes, *contact)


def entropy_by_coordinate(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Return T0 dS/dt [W] split by coordinate z0, beta, alpha, theta_i .. theta_iv, as on a road that stands still.

    The parts add up to all that is lost there; single parts may be negative.
    """
    at = pose(x, p)
    parts: list[Any] = [0.0] * 7
    for k, tyre in enumerate(contacts(at, w[:4], (0.0,) * 4, unilateral=False)):
        axle, c = at.car.axles[k], at.corners[k]
        _, roll = at.roll_of(k)
        rate = at.theta_rates[k]
        drag = -axle.cw * tyre.z12_rate / (at.cos_roll * at.cos_pitch)  # slopes of z12 are those of the contact
        damper = u[k] * at.car.worn[k] * c.link.slope * c.link.slope
        parts[0] = parts[0] + drag * at.z0_rate
        parts[1] = parts[1] + drag * tyre.by_pitch * at.pitch_rate
        parts[2] = parts[2] + drag * tyre.by_roll * roll
        parts[3 + k] = damper * rate * rate + drag * tyre.by_theta * rate
    return tuple(parts)


UNKNOWNS = N + 8
_NAMES = ("z0", "beta", "alpha", *(f"{kind}_{n}" for kind in ("eta", "theta", "z6") for n in WHEELS))
_NOMINAL = tuple(q.nominal for q in PARAMETERS)
KAPPA = Quantity("kappa", "1/s", 0.0, 0.0, 1e4, "Baumgarte's stabilisation of the linkage")


def redundant_state(x: Sequence[float], heights: Sequence[float] = (0.0,) * 4, p: Numbers = _NOMINAL) -> Numbers:
    """Return the state [34] in redundant coordinates of a state [14] in minimal ones, on roads of given heights [m]."""
    x = tuple(x)
    at = pose(x, p)
    tyres = contacts(at, tuple(heights), (0.0,) * 4, unilateral=False)
    places = (*x[:3], *eta(x, p), *x[3:7], *(c.link.z6 for c in at.corners))
    rates = (*x[7:10], *eta_rates(x, p), *x[10:14], *at.stroke_rates)
    return (*places, *(tyre.z12 for tyre in tyres), *rates)


def minimal_state(x: Sequence[Any]) -> Numbers:
    """Return the state [14] in minimal coordinates of one in redundant ones."""
    first = N + 4
    return (*x[:3], *x[THETA:Z6], *x[first : first + 3], *x[first + THETA : first + Z6])


def _saddle(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> RedundantCar:
    return saddle(x[: 2 * N + 4], u, w, p[:-1], p[-1])


def redundant_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of all states, with the multipliers solved for."""
    system = _saddle(x, u, w, p)
    accelerations, _ = range_space(system.mass, system.right, system.rows, system.target)
    return (*x[N + 4 :], *system.z12_rates, *accelerations)


def multipliers(x: Numbers, u: Numbers, w: Numbers, p: Numbers = _NOMINAL) -> tuple[Numbers, Numbers]:
    """Return accelerations [15] and multipliers lambda1 of all wheels, then lambda2 [8], at a state [34]."""
    system = saddle(x, u, w, p)
    accelerations, forces = range_space(system.mass, system.right, system.rows, system.target)
    return tuple(accelerations), tuple(forces)


def printed_system(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> tuple[list[list[Any]], list[Any]]:
    """Return K [23][23] and k [23] of K w = k: row j is the equation that the source solves for unknown j.

    Unknowns: z0, beta, alpha, eta_n, theta_n, z6_n (accelerations), lambda1_n, lambda2_n.
    """
    system = _saddle(x, u, w, p)
    moving = [([*system.mass[i], *(-row[i] for row in system.rows)], right) for i, right in enumerate(system.right)]
    closing = [([*row, *(0.0,) * 8], target) for row, target in zip(system.rows, system.target, strict=True)]
    chosen = [
        *moving[:ETA],
        *closing[:4],
        *moving[THETA:Z6],
        *closing[4:],
        *moving[ETA:THETA],
        *moving[Z6:],
    ]
    return [row for row, _ in chosen], [right for _, right in chosen]


def printed_acceleration(t: Any, x: Numbers, a: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Each unknown from its own equation, all others given."""
    matrix, right = printed_system(x, u, w, p)
    own = []
    for j, (row, value) in enumerate(zip(matrix, right, strict=True)):
        others = value
        for k, entry in enumerate(row):
            if k != j and not (isinstance(entry, float) and entry == 0.0):
                others = others - entry * a[k]
        own.append(others / row[j])
    return tuple(own)


def printed_kinematics(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of the 15 coordinates and of z12_n."""
    return (*x[N + 4 : 2 * N + 4], *_saddle(x, u, w, p).z12_rates)


def _states(start: Numbers) -> tuple[Quantity, ...]:
    labels = (*_NAMES, *(f"z12_{n}" for n in WHEELS), *(f"{name}_rate" for name in _NAMES))
    units = ["rad" if label.startswith(("beta", "alpha", "eta", "theta")) else "m" for label in labels]
    return tuple(
        Quantity(label, f"{unit}/s" if label.endswith("_rate") else unit, value, -100.0, 100.0)
        for label, unit, value in zip(labels, units, start, strict=True)
    )


def _plant(name: str, text: str, states: tuple[Quantity, ...], **blocks: Any) -> Plant:
    return Plant(
        name=name,
        text=text,
        states=states,
        parameters=(*PARAMETERS, KAPPA),
        inputs=SUSPENSION.inputs,
        disturbances=SUSPENSION.disturbances,
        step=SUSPENSION.step,
        **blocks,
    )


def redundant() -> Plant:
    """Return the car in redundant coordinates, multipliers solved for exactly."""
    states = _states(redundant_state(REST))
    return _plant("suspension_redundant", "15 coordinates, 8 constraints", states, derivative=redundant_derivative)


def printed() -> Plant:
    """Return the car as 23 equations, each solved for its own unknown."""
    impulses = tuple(Quantity(f"impulse{k}_{n}", "N s", 0.0, -1e9, 1e9) for k in (1, 2) for n in WHEELS)
    states = _states(redundant_state(REST))
    velocities = (*(f"{name}_rate" for name in _NAMES), *(q.name for q in impulses))
    return _plant(
        "suspension_printed",
        "23 equations, each solved for its own unknown",
        (*states, *impulses),
        acceleration=printed_acceleration,
        kinematics=printed_kinematics,
        velocities=velocities,
    )


def rebuilt(x: Numbers, p: Numbers = _NOMINAL) -> Numbers:
    """Return a redundant state whose struts are those that its arms ask for: no drift of the linkage is left."""
    minimal = minimal_state(x)
    fresh = redundant_state(minimal, p=p)
    return (*fresh[:N], *x[N : N + 4], *fresh[N + 4 :], *x[2 * N + 4 :])


_REST = (0.0,) * 8
_MULTIPLIERS = [[N + k, N + 4 + k] for k in range(4)]
_STRUTS = [[ETA + k, Z6 + k] for k in range(4)]
TOGETHER = {
    "printed, 23 unknowns": [],
    "23, lambda1 and lambda2 of a wheel together": _MULTIPLIERS,
    "23, also eta'' and z6'' of a wheel together": [*_MULTIPLIERS, *_STRUTS],
}
ARRANGEMENTS = ("minimal, 7 accelerations", *TOGETHER, "15 accelerations, multipliers eliminated")


def gains(parameters: Mapping[str, float] | None = None, state: Sequence[float] | None = None) -> dict[str, MatrixGain]:
    """Return the gain of every arrangement of `ARRANGEMENTS` at a state [14]; left out: where that car rests.

    Velocities, inputs and roads do not enter.
    """
    p = tuple(pick_values("parameters of plant 'suspension'", PARAMETERS, parameters))
    x = tuple(equilibrium(parameters)) if state is None else tuple(state)
    minimal = np.array(mass_matrix(0.0, x, _REST, _REST, p), float)
    rows, _ = printed_system(redundant_state(x, p=p), _REST, _REST, (*p, 0.0))
    printed = np.array(rows, float)
    kept, rest = slice(N), slice(N, UNKNOWNS)
    reduced = printed[kept, kept] - printed[kept, rest] @ np.linalg.solve(printed[rest, rest], printed[rest, kept])
    found = [gain_of(minimal), *(gain_of(printed, groups) for groups in TOGETHER.values()), gain_of(reduced)]
    return dict(zip(ARRANGEMENTS, found, strict=True))
