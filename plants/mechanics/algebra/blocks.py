"""The blocks that every formulation uses: mass matrix, bias, forces, constraints at the acceleration level.

    M a + c = Q + A' lam,    A a + gam = 0

With T of second degree in the rates, M = d2T/dv2 and c = d/dt(dT/dv) at fixed v, less dT/dq, plus dV/dq. Holonomic
constraints are differentiated twice, nonholonomic ones once.

:class:`Full` has all blocks of a declaration as numbers, in the coordinates and rates as declared, derived on the
tape. Observers, admissible states, checks and the one-at-a-time reference paths read them. A plant that was derived
by computer algebra is so checked against blocks that were derived otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.algebra.calculus import Parts, Taped, triangle
from plants.mechanics.declaration.declaration import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants.mechanics.algebra.calculus import Calculus
    from plants.mechanics.declaration.declaration import MechanismDeclaration

    Array = NDArray[np.float64]


Numbers = list[Any]


@dataclass(frozen=True)
class ConstraintRows:
    """Constraints at all levels: residual = 0 (or distance >= 0), A v + b, A a + gam.

    Attributes
    ----------
    residuals : [n_positions]
        Of the rows that have a position level: the first ones.
    jacobian : [g][n]
        A.
    speeds, drift, curvature : [g]
        A v + b, b, gam.
    """

    residuals: Numbers
    jacobian: list[Numbers]
    speeds: Numbers
    drift: Numbers
    curvature: Numbers


@dataclass(frozen=True)
class Blocks:
    """Blocks at (t, q, v, u, w, p), numbers of one calculus.

    Attributes
    ----------
    mass : [n][n]
    bias : [n]
        c.
    forces : mapping of kind of force to [n]
    kinetic, potential : number
    momenta : [n]
        dT/dv.
    constraints, gaps : ConstraintRows
        Two-sided and one-sided ones.
    """

    mass: list[Numbers]
    bias: Numbers
    forces: Mapping[str, Numbers]
    kinetic: Any
    potential: Any
    momenta: Numbers
    constraints: ConstraintRows
    gaps: ConstraintRows

    @property
    def load(self) -> Numbers:
        """f = Q - c [n], forces of all kinds together."""
        return [sum(parts[1:], parts[0]) - c for *parts, c in zip(*self.forces.values(), self.bias, strict=True)]


def symbols(calculus: Calculus, declared: MechanismDeclaration, kind: str) -> Numbers:
    """Return the calculus' symbols of one kind of quantity."""
    return [calculus.symbol(f"{kind}{k}") for k in range(len(declared.quantities[kind]))]


def blocks_of(calculus: Calculus, declared: MechanismDeclaration) -> Blocks:
    """Derive the blocks of a declaration."""
    q, v = symbols(calculus, declared, "q"), symbols(calculus, declared, "v")
    kinetic, potential = calculus.lift((declared.kinetic, declared.potential))
    momenta = calculus.gradient(kinetic, v)
    push, pull = calculus.gradient(kinetic, q), calculus.gradient(potential, q)
    turning = rate(calculus, declared, momenta)
    return Blocks(
        mass=[calculus.gradient(momentum, v) for momentum in momenta],
        bias=[c - a + b for c, a, b in zip(turning, push, pull, strict=True)],
        forces={kind: calculus.lift(declared.forces[kind]) for kind in KINDS},
        kinetic=kinetic,
        potential=potential,
        momenta=momenta,
        constraints=_rows(calculus, declared, calculus.lift(declared.positions), calculus.lift(declared.rows)),
        gaps=_rows(calculus, declared, calculus.lift([gap.distance for gap in declared.gaps]), []),
    )


def _rows(calculus: Calculus, declared: MechanismDeclaration, residuals: Numbers, rows: Numbers) -> ConstraintRows:
    v = symbols(calculus, declared, "v")
    speeds = [*rate(calculus, declared, residuals), *rows]
    return ConstraintRows(
        residuals=residuals,
        jacobian=[calculus.gradient(speed, v) for speed in speeds],
        speeds=speeds,
        drift=calculus.replace(speeds, v, [0.0] * len(v)),
        curvature=rate(calculus, declared, speeds),
    )


def rate(calculus: Calculus, declared: MechanismDeclaration, values: Sequence[Any]) -> Numbers:
    """Return d/dt of functions of (q, v, t) at fixed v."""
    q, v, t = symbols(calculus, declared, "q"), symbols(calculus, declared, "v"), calculus.symbol("t")
    return calculus.along(values, [*q, t], [*v, 1.0])


@dataclass(frozen=True)
class Matrices:
    """Blocks at one state as arrays.

    Attributes
    ----------
    mass [n, n], load [n]
        M and f = Q - c.
    residuals [n_positions], jacobian [g, n], speeds [g], drift [g], curvature [g]
        Of the two-sided constraints: phi, A, A v + b, b, gam.
    gaps [k], gap_jacobian [k, n], gap_speeds [k], gap_curvature [k]
        Of the one-sided ones: psi, G, psi', del.
    """

    mass: Array
    load: Array
    residuals: Array
    jacobian: Array
    speeds: Array
    drift: Array
    curvature: Array
    gaps: Array
    gap_jacobian: Array
    gap_speeds: Array
    gap_curvature: Array


class Full:
    """Blocks of a declaration, evaluated where they are asked for.

    Parameters
    ----------
    declared : MechanismDeclaration
    """

    def __init__(self, declared: MechanismDeclaration) -> None:
        self.declared = declared
        self.parts = _parts(declared)

    def __call__(self, names: tuple[str, ...], t: Any, q: Any, v: Any, u: Any, w: Any, p: Any) -> list[list[Any]]:
        """Return lists of numbers by name; floats, arrays of points or traced numbers."""
        return self.parts(names, t, (*q, *v), u, w, p)

    def at(self, t: float, q: Any, v: Any, u: Any = (), w: Any = (), p: Any = None) -> Matrices:
        """Return the blocks at one state as arrays; inputs, disturbances left out are 0, parameters nominal."""
        d = self.declared
        u = u if len(u) else (0.0,) * len(d.quantities["u"])
        w = w if len(w) else (0.0,) * len(d.quantities["w"])
        p = tuple(x.nominal for x in d.quantities["p"]) if p is None else p
        values = self(MATRICES, t, tuple(map(float, q)), tuple(map(float, v)), u, w, p)
        found = dict(zip(MATRICES, values, strict=True))
        found["mass"] = triangle(found["mass"], d.n)
        for name in ("jacobian", "gap_jacobian"):
            found[name] = np.reshape(np.array(found[name], float), (-1, d.n))  # type: ignore[assignment]
        return Matrices(**{name: np.array(value, float) for name, value in found.items()})


MATRICES = (
    "mass", "load", "residuals", "jacobian", "speeds", "drift", "curvature",
    "gaps", "gap_jacobian", "gap_speeds", "gap_curvature",
)  # fmt: skip
"""Names of the lists that :class:`Matrices` holds."""


def _parts(declared: MechanismDeclaration) -> Parts:
    calculus = Taped(declared)
    blocks = blocks_of(calculus, declared)
    v, t = symbols(calculus, declared, "v"), calculus.symbol("t")
    constraints, gaps = blocks.constraints, blocks.gaps
    power = {kind: sum((f * rate for f, rate in zip(fs, v, strict=True)), 0.0) for kind, fs in blocks.forces.items()}
    twice = sum((m * rate for m, rate in zip(blocks.momenta, v, strict=True)), 0.0)
    by_time = calculus.gradient(blocks.potential - blocks.kinetic, [t])[0]
    lists = {
        "mass": [blocks.mass[i][j] for i in range(declared.n) for j in range(i + 1)],
        "load": blocks.load,
        "residuals": constraints.residuals,
        "jacobian": [entry for row in constraints.jacobian for entry in row],
        "speeds": constraints.speeds,
        "drift": constraints.drift,
        "curvature": constraints.curvature,
        "gaps": gaps.residuals,
        "gap_jacobian": [entry for row in gaps.jacobian for entry in row],
        "gap_speeds": gaps.speeds,
        "gap_curvature": gaps.curvature,
        "kinetic": [blocks.kinetic],
        "potential": [blocks.potential],
        # Jacobi's integral: T + V where neither depends on time, and its rate is known in every case:
        # d/dt (v.dT/dv - T + V) = Q.v - lam.b - dT/dt + dV/dt.
        "energy": [twice - blocks.kinetic + blocks.potential],
        "supplied": [power["drive"] + by_time],
        "lost": [-power["dissipative"]],
        "measured": calculus.lift([value for _, value in declared.measured]),
    }
    n = declared.n
    return Parts.of(lists, calculus, declared, positions=("q", n), velocities=("v", n))
