"""The mechanics kit's benchmark systems, their motions, and the forms that are compared.

The systems are written down once, for the tests of the kit; so are they measured.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import cos, sin
from typing import TYPE_CHECKING, Any

from tests.plants.mechanics import systems

from plants.core import elementary
from plants.core.trace import Program, names, trace
from plants.mechanics import Mechanism
from plants.mechanics.equations import Equations
from plants.mechanics.multipliers import with_multipliers
from plants.mechanics.parts import triangle
from plants.mechanics.reduced import reduced
from plants.mechanics.solving import solve_pivoted
from plants.mechanics.symbolic import Symbolic
from plants.mechanics.taped import Taped

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant

BAUMGARTE = ("baumgarte", 10.0, 10.0)  # 1/s
_A, _B = 2.0, 1.0  # rad, of the double pendulum from the downward vertical
_XA, _YA = sin(_A), -cos(_A)
_LB = 0.7
_XB, _YB = _LB * sin(_B), -_LB * cos(_B)

SYSTEMS: dict[str, Callable[[], Mechanism]] = {
    "sleigh": systems.sleigh,
    "vertical disk": systems.vertical_disk,
    "rolling disk": systems.rolling_disk,
    "cart, 1 link": partial(systems.cart, 1),
    "cart, 2 links": partial(systems.cart, 2),
    "cart, 3 links": partial(systems.cart, 3),
    "snakeboard": systems.snakeboard,
    "trailers": systems.trailers,
    "pendulum, Cartesian": systems.pendulum,
    "double pendulum, Cartesian": systems.double_pendulum,
    "slider-crank": systems.slider_crank,
}
"""By name; the last one passes positions where its constraints depend on one another."""

STARTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "sleigh": ((0, 0, 0.2), (1.0, 1.5)),
    "vertical disk": ((0, 0, 0, 0), (0.8, 4.0)),
    "rolling disk": ((0, 0, 0, 0.2, 0), (0.5, 0.0, 6.0)),
    "cart, 1 link": ((0.1, -0.2, 0.4, 0, 0, 0.3), (0.5, 0.4, -0.7)),
    "cart, 2 links": ((0.1, -0.2, 0.4, 0, 0, 0.3, -0.2), (0.5, 0.4, -0.7, 0.2)),
    "cart, 3 links": ((0.1, -0.2, 0.4, 0, 0, 0.3, -0.2, 0.1), (0.5, 0.4, -0.7, 0.2, 0.1)),
    "snakeboard": ((0, 0, 0.1, 0, 0.4, -0.3), (1.0, 2.0, 0.5, -0.4)),
    "trailers": ((0, 0, 0.1, 0.3, -0.2), (1.0, 0.5)),
    "pendulum, Cartesian": ((sin(2.0), -cos(2.0)), (0.0,)),
    "double pendulum, Cartesian": ((_XA, _YA, _XA + _XB, _YA + _YB), (0.0, 0.0)),
    "slider-crank": ((0.3, 0.3, 2.0 * cos(0.3)), (1.5,)),
}
"""Coordinates and quasi-velocities at the beginning; no inputs act."""

def pendulum_by_joint() -> Mechanism:
    """The Cartesian pendulum, transferred to its angle from the downward vertical."""
    mech = Mechanism("pendulum_by_joint")
    x, y = mech.coordinates("x y")
    vx, vy = mech.rates()
    m, l = mech.parameters(m=1.0, l=1.0)
    mech.kinetic(m / 2 * (vx**2 + vy**2))
    mech.potential(m * systems.G * y)
    angle = mech.joints("angle")
    mech.place({x: l * elementary.sin(angle), y: -l * elementary.cos(angle)})
    return mech


def double_pendulum_by_joints() -> Mechanism:
    """The Cartesian double pendulum, transferred to its angles from the downward vertical."""
    mech = Mechanism("double_pendulum_by_joints")
    xa, ya, xb, yb = mech.coordinates("xa ya xb yb")
    vxa, vya, vxb, vyb = mech.rates()
    ma, mb, la, lb = mech.parameters(ma=1.0, mb=1.5, la=1.0, lb=_LB)
    mech.kinetic(ma / 2 * (vxa**2 + vya**2) + mb / 2 * (vxb**2 + vyb**2))
    mech.potential(ma * systems.G * ya + mb * systems.G * yb)
    a, b = mech.joints("a b")
    x, y = la * elementary.sin(a), -la * elementary.cos(a)
    mech.place({xa: x, ya: y, xb: x + lb * elementary.sin(b), yb: y - lb * elementary.cos(b)})
    return mech


BY_JOINTS: dict[str, tuple[Callable[[], Mechanism], tuple[float, ...]]] = {
    "pendulum, Cartesian": (pendulum_by_joint, (2.0, 0.0)),
    "double pendulum, Cartesian": (double_pendulum_by_joints, (_A, _B, 0.0, 0.0)),
}
"""The same systems and motions without constraints: their first states are angles and rates."""

PIVOTED = "Routh, dense LU"
ROUTH = "Routh, range space"
FED_BACK = "Routh + Baumgarte"
QUASI = "quasi-velocities"  # as built: the smallest of the three ways below
NORMAL = "quasi, normal form"
AS_DERIVED = "quasi, as derived"
TAPED = "quasi, on the tape"


def start(name: str, plant: Plant) -> tuple[float, ...]:
    """Return a system's first state in the form of `plant`: the same motion in each."""
    if plant.equations.form == "joints":
        return BY_JOINTS[name][1]
    q, w = STARTS[name]
    if plant.equations.form == "quasi":
        return (*q, *w)
    declared = plant.equations.declared
    columns = Equations("quasi", declared, _taped(declared), plant.equations.full, q, declared.velocities.names, {})
    rates = columns.motion(*columns.block(0.0, (*q, *w)))[1]
    return (*q, *(float(rate) for rate in rates))


def forms(name: str) -> dict[str, Plant]:
    """Return a system in every form whose cost is compared, by the form's name."""
    made = SYSTEMS[name]
    routh = made().build("routh", check=False)
    return {
        PIVOTED: replace(routh, derivative=partial(_by_elimination, routh.equations)),
        ROUTH: routh,
        FED_BACK: made().build("routh", stabilise=BAUMGARTE, check=False),
        "Gauss": made().build("gauss", check=False),
        "Maggi, dense LU": made().build("maggi", check=False),
        TAPED: _quasi(made(), "tape"),
        AS_DERIVED: _quasi(made(), "symbols, as derived"),
        NORMAL: _quasi(made(), "symbols"),
        QUASI: made().build("quasi", check=False),
    }


def traced(plant: Plant, block: Any) -> Program:
    """Return a block of a plant as straight-line code."""
    sizes = [len(quantities) for quantities in (plant.inputs, plant.disturbances, plant.parameters)]
    given = (names(letter, n) for letter, n in zip("uwp", sizes, strict=True))
    return trace(block, "t", names("x", len(plant.states)), *given)


def counts(plant: Plant) -> dict[str, int]:
    """Return the operations of one evaluation of a plant's rates by name, as they are printed."""
    return traced(plant, plant.derivative).counts()


def _quasi(mechanism: Mechanism, way: str) -> Plant:
    """Return a system in quasi-velocities whose equations were derived in one given way, whatever their size."""
    declared, plant = mechanism.declared(), mechanism.build("quasi", derivatives="tape", check=False)
    if way == "tape":
        return plant
    parts = reduced(Symbolic(declared, trigonometric=way == "symbols"), declared).condensed()
    equations = replace(plant.equations, declared=declared, parts=parts)
    blocks = ("mass_matrix", "force", "kinematics", "velocities", "energy", "supplied_power", "entropy_rate")
    return replace(plant, equations=equations, **{name: getattr(equations, name) for name in blocks})


def _taped(declared: Any) -> Any:
    return reduced(Taped(declared), declared)


def _by_elimination(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Rates by Routh's equations as they are printed: one matrix of order n + g, rows exchanged as pivots ask."""
    n, g = equations.declared.n, equations.declared.n_constraints
    lower, load, entries, target = equations.parts(("matrix", "load", "rows", "target"), t, x, u, w, p)
    rows = [entries[k * n : (k + 1) * n] for k in range(g)]
    upper = [[*row, *(-rows[k][i] for k in range(g))] for i, row in enumerate(triangle(lower, n))]
    lam = solve_pivoted([*upper, *([*row, *(0.0,) * g] for row in rows)], [*load, *target])
    return (*equations.kinematics(t, x, u, w, p), *lam[:n])
