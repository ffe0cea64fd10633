"""All blocks of a declaration as numbers: in the coordinates and rates as declared, derived on the tape.

Observers, admissible states, checks and the one-at-a-time reference paths read them. A plant that was derived by
computer algebra is so checked against blocks that were derived otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.deriving.blocks import blocks_of, symbols
from plants.mechanics.deriving.parts import Parts, triangle
from plants.mechanics.deriving.taped import Taped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.mechanics.declaring.declared import Declaration

    Array = NDArray[np.float64]


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
    declared : Declaration
    """

    def __init__(self, declared: Declaration) -> None:
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


def _parts(declared: Declaration) -> Parts:
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
