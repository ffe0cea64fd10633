"""The blocks that every formulation uses: mass matrix, bias, forces, constraints at the acceleration level.

    M a + c = Q + A' lam,    A a + gam = 0

With T of second degree in the rates, M = d2T/dv2 and c = d/dt(dT/dv) at fixed v, less dT/dq, plus dV/dq. Holonomic
constraints are differentiated twice, nonholonomic ones once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.mechanics.declaring.declared import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.declaring.declared import Declaration
    from plants.mechanics.deriving.calculus import Calculus

Numbers = list[Any]


@dataclass(frozen=True)
class Rows:
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
    constraints, gaps : Rows
        Two-sided and one-sided ones.
    """

    mass: list[Numbers]
    bias: Numbers
    forces: Mapping[str, Numbers]
    kinetic: Any
    potential: Any
    momenta: Numbers
    constraints: Rows
    gaps: Rows

    @property
    def load(self) -> Numbers:
        """f = Q - c [n], forces of all kinds together."""
        return [sum(parts[1:], parts[0]) - c for *parts, c in zip(*self.forces.values(), self.bias, strict=True)]


def symbols(calculus: Calculus, declared: Declaration, kind: str) -> Numbers:
    """Return the calculus' symbols of one kind of quantity."""
    return [calculus.symbol(f"{kind}{k}") for k in range(len(declared.quantities[kind]))]


def blocks_of(calculus: Calculus, declared: Declaration) -> Blocks:
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


def _rows(calculus: Calculus, declared: Declaration, residuals: Numbers, rows: Numbers) -> Rows:
    v = symbols(calculus, declared, "v")
    speeds = [*rate(calculus, declared, residuals), *rows]
    return Rows(
        residuals=residuals,
        jacobian=[calculus.gradient(speed, v) for speed in speeds],
        speeds=speeds,
        drift=calculus.replace(speeds, v, [0.0] * len(v)),
        curvature=rate(calculus, declared, speeds),
    )


def rate(calculus: Calculus, declared: Declaration, values: Sequence[Any]) -> Numbers:
    """Return d/dt of functions of (q, v, t) at fixed v."""
    q, v, t = symbols(calculus, declared, "q"), symbols(calculus, declared, "v"), calculus.symbol("t")
    return calculus.along(values, [*q, t], [*v, 1.0])
