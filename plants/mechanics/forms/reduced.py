"""Reduced equations H x' = r, without multipliers: quasi-velocities, joint coordinates, free systems.

The coordinates and their rates are given as functions of the state: v = D w + w0 for quasi-velocities (or any
v(q, w, t), where constraints are not linear in the rates; D = dv/dw then), q = q(s, t) and v = P s' + P_t for joint
coordinates, both as they are where nothing is constrained. With the accelerations a = D w' + s, virtual accelerations
are D dw, and Gauss' principle gives

    D' M D w' = D' (Q - c - M s)

Source: the quasi-velocity form of Gauss' principle of least constraint; the transfer by the Jacobian is its special
case w = s'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plants.mechanics.algebra.blocks import Numbers, blocks_of, symbols
from plants.mechanics.algebra.calculus import Parts
from plants.mechanics.forms.solving import dot

if TYPE_CHECKING:
    from plants.mechanics.algebra.calculus import Calculus
    from plants.mechanics.declaration.declaration import MechanismDeclaration


@dataclass(frozen=True)
class Motions:
    """Admissible motions as functions of a state (x, w) of positions and velocities.

    Attributes
    ----------
    positions, velocities : symbols of the state
    coordinates : [n]
        q(x, t).
    rates : [n]
        v(x, w, t).
    kinematics : [n_x]
        x' (x, w, t).
    """

    positions: Numbers
    velocities: Numbers
    coordinates: Numbers
    rates: Numbers
    kinematics: Numbers


def motions_of(calculus: Calculus, declared: MechanismDeclaration) -> Motions:
    """Return the admissible motions that a declaration names: by joints, by a basis, or all of them."""
    q, v = symbols(calculus, declared, "q"), symbols(calculus, declared, "v")
    if declared.places:
        s = symbols(calculus, declared, "s")
        z = [calculus.symbol(f"z{k}") for k in range(len(s))]
        places = calculus.lift(declared.places)
        return Motions(s, z, places, calculus.along(places, [*s, calculus.symbol("t")], [*z, 1.0]), z)
    if declared.velocities is None:
        return Motions(q, v, q, v, v)
    z = [calculus.symbol(f"z{k}") for k in range(len(declared.velocities.names))]
    rates = calculus.lift(declared.velocities.rates)
    return Motions(q, z, q, rates, rates)


def reduced(calculus: Calculus, declared: MechanismDeclaration) -> Parts:
    """Return kinematics, H and r of the reduced equations."""
    motions = motions_of(calculus, declared)
    return Parts.of(
        equations_of(calculus, declared),
        calculus,
        declared,
        positions=("s" if declared.places else "q", len(motions.positions)),
        velocities=("v" if motions.velocities is motions.rates else "z", len(motions.velocities)),
    )


def equations_of(calculus: Calculus, declared: MechanismDeclaration) -> dict[str, Numbers]:
    """Return kinematics, coordinates, rates, H ("matrix", lower triangle) and r ("right") in a calculus."""
    blocks, motions = blocks_of(calculus, declared), motions_of(calculus, declared)
    n, m = len(motions.rates), len(motions.velocities)
    old = [*symbols(calculus, declared, "q"), *symbols(calculus, declared, "v")]
    new = [*motions.coordinates, *motions.rates]
    flow = [*motions.positions, calculus.symbol("t")]
    remainder = calculus.along(motions.rates, flow, [*motions.kinematics, 1.0])
    basis = [calculus.gradient(rate, motions.velocities) for rate in motions.rates]
    mass = [calculus.replace(row, old, new) for row in blocks.mass]
    load = calculus.replace(blocks.load, old, new)
    load = [load[i] - dot(mass[i], remainder) for i in range(n)]
    columns = [[basis[i][j] for i in range(n)] for j in range(m)]
    pushed = [[dot(row, column) for row in mass] for column in columns]
    return {
        "kinematics": [calculus.short(value) for value in motions.kinematics],
        "coordinates": motions.coordinates,
        "rates": [calculus.short(value) for value in motions.rates],
        "matrix": [calculus.short(dot(columns[i], pushed[j])) for i in range(m) for j in range(i + 1)],
        "right": [calculus.short(dot(columns[i], load)) for i in range(m)],
    }
