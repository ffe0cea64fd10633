"""The forms of a constrained mechanism whose costs are compared, as plants for the same kernels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from experiments.reproduce.mechanics.mechanisms import SYSTEMS
from plants.core.tracing.trace import Program, names, trace
from plants.mechanics.algebra.calculus import triangle
from plants.mechanics.algebra.symbolic import Symbolic
from plants.mechanics.forms.reduced import reduced
from plants.mechanics.forms.solving import solve_pivoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant
    from plants.mechanics import Mechanism
    from plants.mechanics.equations import Equations

BAUMGARTE = ("baumgarte", 10.0, 10.0)  # 1/s
PIVOTED = "Routh, dense LU"
ROUTH = "Routh, range space"
FED_BACK = "Routh + Baumgarte"
GAUSS = "Gauss"
MAGGI = "Maggi, dense LU"
CHAPLYGIN = "Chaplygin"
QUASI = "quasi-velocities"  # as built: the smallest of the three ways below
NORMAL = "quasi, normal form"
AS_DERIVED = "quasi, as derived"
TAPED = "quasi, on the tape"


def forms(name: str, *wanted: str) -> dict[str, Plant]:
    """Return a system in the wanted forms whose costs are compared, or in all, by the form's name."""
    made = SYSTEMS[name]
    routh = made().build("routh", check=False)
    makers: dict[str, Callable[[], Plant]] = {
        PIVOTED: lambda: replace(routh, derivative=partial(_by_elimination, routh.equations)),
        ROUTH: lambda: routh,
        FED_BACK: lambda: made().build("routh", stabilise=BAUMGARTE, check=False),
        GAUSS: lambda: made().build("gauss", check=False),
        MAGGI: lambda: made().build("maggi", check=False),
        CHAPLYGIN: lambda: made().build("chaplygin", check=False),
        TAPED: lambda: _quasi(made(), "tape"),
        AS_DERIVED: lambda: _quasi(made(), "symbols, as derived"),
        NORMAL: lambda: _quasi(made(), "symbols"),
        QUASI: lambda: made().build("quasi", check=False),
    }
    return {form: make() for form, make in makers.items() if not wanted or form in wanted}


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
    equations = replace(plant.equations, parts=parts)
    blocks = ("mass_matrix", "force", "kinematics", "velocities", "energy", "supplied_power", "entropy_rate")
    return replace(plant, equations=equations, **{name: getattr(equations, name) for name in blocks})


def _by_elimination(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    """Rates by Routh's equations as they are printed: one matrix of order n + g, rows exchanged as pivots ask."""
    n, g = equations.declared.n, equations.declared.n_constraints
    lower, load, entries, target = equations.parts(("matrix", "load", "rows", "target"), t, x, u, w, p)
    rows = [entries[k * n : (k + 1) * n] for k in range(g)]
    upper = [[*row, *(-rows[k][i] for k in range(g))] for i, row in enumerate(triangle(lower, n))]
    solved = solve_pivoted([*upper, *([*row, *(0.0,) * g] for row in rows)], [*load, *target])
    return (*equations.kinematics(t, x, u, w, p), *solved[:n])
