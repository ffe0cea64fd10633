"""The blocks that every formulation uses: mass matrix, bias, forces, constraints at the acceleration level.

    M a + c = Q + A' lam,    A a + gam = 0

With T of second degree in the rates, M = d2T/dv2 and c = d/dt(dT/dv) at fixed v, less dT/dq, plus dV/dq. Holonomic
constraints are differentiated twice, nonholonomic ones once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.mechanics.declared import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.calculus import Calculus
    from plants.mechanics.declared import Declaration

Numbers = list[Any]


@dataclass(frozen=True)
class Blocks:
    """Blocks at (t, q, v, u, w, p), numbers of one calculus.

    Attributes
    ----------
    mass : [n][n]
    bias, force : [n]
        c and Q: forces of all kinds together.
    forces : mapping of kind of force to [n]
    kinetic, potential : number
    residuals : [n_positions]
        Of the holonomic constraints.
    jacobian : [g][n]
        Rows of A: holonomic first.
    speeds : [g]
        A v + b.
    drift : [g]
        b.
    curvature : [g]
        gam.
    """

    mass: list[Numbers]
    bias: Numbers
    force: Numbers
    forces: Mapping[str, Numbers]
    kinetic: Any
    potential: Any
    residuals: Numbers
    jacobian: list[Numbers]
    speeds: Numbers
    drift: Numbers
    curvature: Numbers


def symbols(calculus: Calculus, declared: Declaration, kind: str) -> Numbers:
    """Return the calculus' symbols of one kind of quantity."""
    return [calculus.symbol(f"{kind}{k}") for k in range(len(declared.quantities[kind]))]


def blocks_of(calculus: Calculus, declared: Declaration) -> Blocks:
    """Derive the blocks of a declaration."""
    q, v = symbols(calculus, declared, "q"), symbols(calculus, declared, "v")
    kinetic, potential = calculus.lift((declared.kinetic, declared.potential))
    momenta = calculus.gradient(kinetic, v)
    forces = {kind: calculus.lift(declared.forces[kind]) for kind in KINDS}
    residuals = calculus.lift(declared.positions)
    holonomic = rate(calculus, declared, residuals)
    speeds = [*holonomic, *calculus.lift(declared.rows)]
    jacobian = [calculus.gradient(speed, v) for speed in speeds]
    push = calculus.gradient(kinetic, q)
    pull = calculus.gradient(potential, q)
    turning = rate(calculus, declared, momenta)
    return Blocks(
        mass=[calculus.gradient(momentum, v) for momentum in momenta],
        bias=[c - a + b for c, a, b in zip(turning, push, pull, strict=True)],
        force=[sum(parts[1:], parts[0]) for parts in zip(*forces.values(), strict=True)],
        forces=forces,
        kinetic=kinetic,
        potential=potential,
        residuals=residuals,
        jacobian=jacobian,
        speeds=speeds,
        drift=calculus.replace(speeds, v, [0.0] * len(v)),
        curvature=rate(calculus, declared, speeds),
    )


def rate(calculus: Calculus, declared: Declaration, values: Sequence[Any]) -> Numbers:
    """Return d/dt of functions of (q, v, t) at fixed v."""
    q, v, t = symbols(calculus, declared, "q"), symbols(calculus, declared, "v"), calculus.symbol("t")
    return calculus.along(values, [*q, t], [*v, 1.0])
