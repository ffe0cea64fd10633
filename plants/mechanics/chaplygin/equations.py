"""Chaplygin's equations in Voronets' general form, mechanised: a program of named scalars.

The constraints give the dependent rates, v_dep = B v_ind, and no multipliers are left:

    d/dt dT~/dv_s - delta_s T~ + delta_s V - NOH_s = Q~_s
    NOH_s = sum_k dT/dv_k sum_r (delta_r B_ks - delta_s B_kr) v_r,    Q~_s = Q_s + sum_k B_ks Q_k

T~ is T with the dependent rates replaced, dT/dv_k is that of T itself, and delta_r = d/dq_r + sum_k B_kr d/dq_k moves
along the constraints: B and T may depend on any coordinate. Time is one more direction, with the rate 1, so that T and
the rows may hold it.

Real coordinates are used as rates, so B may have poles, and the equations fail there. It is a form for plants whose B
has none (rolling wheels with the wheels' angles as independent coordinates), and a check of the other forms.

Source: Neimark and Fufaev, Dynamics of Nonholonomic Systems (AMS, 1972), ch. III; kept intermediate variables,
dependency table and structure arrays after the mechanised procedure for computer derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.mechanics.chaplygin.along_constraints import AlongConstraints
from plants.mechanics.chaplygin.dependent_rates import named_slopes
from plants.mechanics.chaplygin.kept import Kept
from plants.mechanics.chaplygin.split import Split, split_of
from plants.mechanics.chaplygin.structure import Structure
from plants.mechanics.declaring.declared import DeclarationError
from plants.mechanics.deriving.blocks import Numbers, rate, symbols
from plants.mechanics.deriving.parts import Parts
from plants.mechanics.deriving.symbolic import Symbolic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.mechanics.declaring.declared import Declaration


@dataclass(frozen=True)
class Mechanised:
    """The equations U a = r as expressions in names.

    Attributes
    ----------
    kept : Kept
        The names.
    split : Split
    lists : mapping of name to list
        kinematics, coordinates, rates [n]; matrix, the lower triangle of U row by row; right [m]; slopes, B [g m]; and
        turning [g] of v_dep' = B a + turning. Independent rates are the symbols z0, z1, ...
    """

    kept: Kept
    split: Split
    lists: Mapping[str, Numbers]

    @property
    def equations(self) -> Numbers:
        """What a right-hand side needs: rates, U and r."""
        return [value for name in ("kinematics", "matrix", "right") for value in self.lists[name]]


def chaplygin(declared: Declaration, *, kept: bool = True, split: Split | None = None, **options: bool) -> Parts:
    """Return kinematics, U and r of a mechanism under linear constraints, in its independent rates.

    Parameters
    ----------
    declared : Declaration
        Its independent coordinates are those of ``Mechanism.independent``, or a good choice
        (:func:`plants.mechanics.chaplygin.split.split_of`).
    kept : bool
        Keep the intermediate variables; otherwise every name is replaced by what it stands for.
    split : Split, optional
        The choice, where it is known.
    **options : bool
        ``sines``: name each sine and cosine first (default: no). ``trigonometric``: shorten definitions by the
        trigonometric normal form (default: yes).

    Returns
    -------
    Parts
        In the state (q, z), z the independent rates in the order of their coordinates.

    Raises
    ------
    DeclarationError
        For joint coordinates, for constraints that move by themselves (b != 0), and where the split is impossible.
    """
    found = mechanised(declared, split=split, **options)
    calculus: Any = found.kept
    lists = found.lists
    if not kept:
        calculus = found.kept.calculus
        lists = {name: [calculus.short(x) for x in found.kept.written_back(xs)] for name, xs in lists.items()}
    m = len(found.split.independent)
    return Parts.of(lists, calculus, declared, positions=("q", declared.n), velocities=("z", m))


def mechanised(
    declared: Declaration, *, split: Split | None = None, sines: bool = False, trigonometric: bool = True
) -> Mechanised:
    """Derive the equations as names; options, errors as :func:`chaplygin`."""
    if declared.places:
        raise DeclarationError(
            f"mechanism {declared.name!r}: joint coordinates have no Chaplygin form; use form='quasi'"
        )
    calculus = Symbolic(declared, trigonometric=trigonometric)
    kept, split = Kept(calculus, sines=sines), split or split_of(declared)
    slopes = named_slopes(kept, _rows(calculus, declared), split.independent, split.dependent)
    motion = AlongConstraints(kept, declared, split, slopes)
    structure = Structure.of(kept, [slopes[k] for k in split.dependent], motion.momenta(), motion.directions)
    inertia, m = motion.inertia(), len(split.independent)
    lists = {
        "kinematics": motion.rates,
        "coordinates": symbols(calculus, declared, "q"),
        "rates": motion.rates,
        "matrix": [inertia[i][j] for i in range(m) for j in range(i + 1)],
        "right": [load + extra for load, extra in zip(motion.load(inertia), structure.nonholonomic(), strict=True)],
        "slopes": [entry for k in split.dependent for entry in slopes[k]],
        "turning": structure.turning(),
    }
    return Mechanised(kept, split, lists)


def _rows(calculus: Symbolic, declared: Declaration) -> list[Numbers]:
    """A [g][n] of constraints that do not move by themselves."""
    v = symbols(calculus, declared, "v")
    speeds = [*rate(calculus, declared, calculus.lift(declared.positions)), *calculus.lift(declared.rows)]
    rows = [calculus.gradient(speed, v) for speed in speeds]
    for number, (speed, row) in enumerate(zip(speeds, rows, strict=True)):
        if any(set(entry.free_symbols) & set(v) for entry in row):
            raise DeclarationError(f"mechanism {declared.name!r}: constraint {number} is not linear in the rates")
        if calculus.short(calculus.replace([speed], v, [0] * len(v))[0]) != 0:
            raise DeclarationError(
                f"mechanism {declared.name!r}: constraint {number} moves by itself (A v + b = 0 with b != 0); "
                "the Chaplygin form takes b = 0: give a basis with basis_offset and build with form='quasi'"
            )
    return rows
