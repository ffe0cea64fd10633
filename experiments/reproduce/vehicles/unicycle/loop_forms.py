"""The unicycle in the forms that are compared: with multipliers, and as nine equations each solved for its own unknown.

The second is how the source prints it: alpha, gamma, beta, theta_w and eta come from their equations of motion, theta_1
and theta_2 from the z' rows of the closures, theta_3 and theta_4 from their x' rows, and the multipliers, from the four
equations of the links, stand inside the equations of beta and theta_w. Each equation is solved for its own unknown from
all others: an algebraic loop of nine. A multiplier takes its equation's own acceleration from the loop as well.

Gains of these loops: what one pass of "own equation, all others from before" multiplies by. With K a = k, a <- G a +
D^-1 k, D the diagonal of K (or the blocks of what is solved together) and G = I - D^-1 K. It converges where the
spectral radius of G is below 1. Relaxed passes a <- a + s (G a + D^-1 k - a) converge for small shares s where no
eigenvalue of G has a real part of 1 or more: for the minimal form always, M being positive definite, as soon as s times
the largest eigenvalue of D^-1 M is below 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.vehicles.unicycle.redundant import (
    ALPHA,
    BETA,
    ETA,
    THETA,
    WHEEL,
    N,
    RedundantUnicycle,
    saddle,
)
from plants.core.algebraic_loop.gain import gain_of, gain_of_split
from plants.core.elementary import cos, sin
from plants.core.names import pick_values
from plants.core.plant import Plant
from plants.core.quantities import Quantity
from plants.mechanics.forms.solving import range_space
from plants.unicycle.geometry import PITCH, TABLE, YAW, pose
from plants.unicycle.model import UNICYCLE
from plants.unicycle.motion import BETA0, mass_matrix
from plants.unicycle.parameters import NOMINAL, PARAMETERS
from plants.unicycle.signals import joint_angles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.algebraic_loop.gain import MatrixGain

    Array = np.ndarray[Any, Any]


Numbers = tuple[Any, ...]
NAMES = ("alpha", "gamma", "beta", "theta_w", "theta_1", "theta_2", "theta_3", "theta_4", "eta")
KAPPA = Quantity("kappa", "1/s", 0.0, 0.0, 1e4, "Baumgarte's stabilisation of the legs")
MINIMAL = (0, 1, 2, 3, ETA)
"""Places of the minimal coordinates among the nine."""
_VELOCITIES = tuple(f"{name}_rate" for name in NAMES)


def redundant_state(x: Sequence[float], p: Numbers = NOMINAL) -> Numbers:
    """Return the state [20] in nine coordinates of a state [12] in minimal ones."""
    at = pose(tuple(x), p)
    return (*x[:4], *joint_angles(at, tuple(x)), x[4], *x[5:9], *at.joint_rates, x[9], *x[10:12])


def minimal_state(x: Sequence[Any]) -> Numbers:
    """Return the state [12] in minimal coordinates of one in nine."""
    return (*(x[k] for k in MINIMAL), *(x[N + k] for k in MINIMAL), *x[2 * N : 2 * N + 2])


def _saddle(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> RedundantUnicycle:
    return saddle(x, u, w, p[:-1], p[-1])


def multipliers(x: Numbers, u: Numbers, w: Numbers, p: Numbers = NOMINAL) -> tuple[Numbers, Numbers]:
    """Return accelerations [9] and multipliers [4] at a state [20]."""
    system = saddle(x, u, w, p)
    accelerations, forces = range_space(system.mass, system.right, system.rows, system.target)
    return tuple(accelerations), tuple(forces)


def _path(x: Numbers, p: Numbers) -> Numbers:
    speed = p[1] * x[N + WHEEL]
    return speed * cos(x[ALPHA]), speed * sin(x[ALPHA])


def redundant_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of all states, with the multipliers solved for."""
    system = _saddle(x, u, w, p)
    accelerations, _ = range_space(system.mass, system.right, system.rows, system.target)
    return (*x[N : 2 * N], *accelerations, *_path(x, p))


def kinematics(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Rates of the nine coordinates and of the contact point."""
    return (*x[N : 2 * N], *_path(x, p))


def printed_system(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> tuple[list[list[Any]], list[Any], list[Any]]:
    """Return K [9][9], k [9] and own [9] of K a = k.

    Row j is the equation that the source solves for acceleration j, divided by `own[j]`: the coefficient outside the
    multipliers.
    """
    system = _saddle(x, u, w, p)
    rows, right = [list(row) for row in system.mass], list(system.right)
    for k, place in enumerate((THETA + 2, THETA, THETA + 3, THETA + 1)):  # x' and z' of the right leg, of the left one
        rows[place], right[place] = list(system.rows[k]), system.target[k]
    own = [row[j] for j, row in enumerate(rows)]
    forces = _eliminated(system)
    for j in (BETA, WHEEL):  # M a - A' lam = r with lam = row . a - known
        for k, (row, known) in enumerate(forces):
            share = system.rows[k][j]
            rows[j] = [entry - share * other for entry, other in zip(rows[j], row, strict=True)]
            right[j] = right[j] - share * known
    return rows, right, own


def _eliminated(system: RedundantUnicycle) -> list[tuple[list[Any], Any]]:
    """The multipliers by the accelerations: lam = row . a - known, from the equations of a leg's thigh and shank."""
    found = []
    for leg in range(2):
        hip, pedal = THETA + leg, THETA + 2 + leg
        first, second = 2 * leg, 2 * leg + 1
        a, b = system.rows[first][hip], system.rows[second][hip]
        c, d = system.rows[first][pedal], system.rows[second][pedal]
        scale = 1.0 / (a * d - b * c)
        for thigh, shank in ((d * scale, -(b * scale)), (-(c * scale), a * scale)):
            row = [thigh * m + shank * n for m, n in zip(system.mass[hip], system.mass[pedal], strict=True)]
            found.append((row, thigh * system.right[hip] + shank * system.right[pedal]))
    return found


def printed_acceleration(t: Any, x: Numbers, a: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Each acceleration from its own equation, all others given."""
    matrix, right, own = printed_system(x, u, w, p)
    found = []
    for j, (row, value) in enumerate(zip(matrix, right, strict=True)):
        others = value
        for k, entry in enumerate(row):
            if k != j and not (isinstance(entry, float) and entry == 0.0):
                others = others - entry * a[k]
        if j in (BETA, WHEEL):
            others = others - (row[j] - own[j]) * a[j]
        found.append(others / own[j])
    return tuple(found)


def _states(start: Numbers) -> tuple[Quantity, ...]:
    labels = (*NAMES, *_VELOCITIES)
    angles = tuple(
        Quantity(label, "rad/s" if label.endswith("_rate") else "rad", value, -1e4, 1e4)
        for label, value in zip(labels, start, strict=False)
    )
    return (*angles, *(Quantity(label, "m", 0.0, -1e4, 1e4) for label in ("x_P", "y_P")))


def _plant(name: str, text: str, **blocks: Any) -> Plant:
    return Plant(
        name=name,
        text=text,
        states=_states(redundant_state(UNICYCLE.initial())),
        parameters=(*PARAMETERS, KAPPA),
        inputs=UNICYCLE.inputs,
        disturbances=UNICYCLE.disturbances,
        step=UNICYCLE.step,
        **blocks,
    )


def redundant() -> Plant:
    """Return the unicycle in nine coordinates, multipliers solved for exactly."""
    return _plant("unicycle_redundant", "nine coordinates, four closures", derivative=redundant_derivative)


def printed() -> Plant:
    """Return the unicycle as nine equations, each solved for its own acceleration."""
    return _plant(
        "unicycle_printed",
        "nine equations, each solved for its own acceleration",
        acceleration=printed_acceleration,
        kinematics=kinematics,
        velocities=_VELOCITIES,
    )


ARRANGEMENTS = (
    "minimal, 5 accelerations",
    "9 without closure",
    "printed, 9 accelerations",
    "Gauss-Seidel, 5",
    "pairs, 5",
)
"""The last two: sweeps that use new values at once, and (alpha, eta) and (beta, theta_w) solved together."""
_PAIRS = ([YAW, TABLE], [PITCH, MINIMAL.index(WHEEL)])
_STILL = ((0.0,) * 3, (0.0,) * 6)


def inertia_at(state: Sequence[float], parameters: Mapping[str, float] | None = None) -> Array:
    """Return M [5, 5] at a state [12]."""
    p = tuple(pick_values("parameters of plant 'unicycle'", PARAMETERS, parameters))
    return np.array(mass_matrix(0.0, tuple(state), *_STILL, p), float)


def gains(parameters: Mapping[str, float] | None = None, state: Sequence[float] | None = None) -> dict[str, MatrixGain]:
    """Return the gain of every arrangement of `ARRANGEMENTS` at a state [12]; left out: upright, balanced.

    Velocities, torques and pushes do not enter.
    """
    p = tuple(pick_values("parameters of plant 'unicycle'", PARAMETERS, parameters))
    x = upright() if state is None else tuple(state)
    minimal = inertia_at(x, parameters)
    nine = redundant_state(x, p)
    tree = np.array(saddle(nine, *_STILL, p).mass, float)
    rows, _, own = printed_system(nine, *_STILL, (*p, 0.0))
    printed = gain_of_split(np.diag(np.array(own, float)), np.array(rows, float))
    sweeps, pairs = gain_of_split(np.tril(minimal), minimal), gain_of(minimal, _PAIRS)
    found = (gain_of(minimal), gain_of(tree), printed, sweeps, pairs)
    return dict(zip(ARRANGEMENTS, found, strict=True))


def upright(roll: float = 0.0, pitch: float = BETA0, wheel: float = 0.0) -> tuple[float, ...]:
    """Return a state [12] at rest."""
    return (0.0, roll, pitch, wheel, *(0.0,) * 8)


def largest_share(state: Sequence[float]) -> float:
    """Return the share of a pass below which relaxed passes of the minimal form converge, 2 / max eig(D^-1 M)."""
    matrix = inertia_at(state)
    values = np.linalg.eigvals(matrix / np.diag(matrix)[:, None])
    return float(2.0 / values.real.max())
