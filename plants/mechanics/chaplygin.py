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

import symengine as se

from plants.mechanics.blocks import Numbers, rate, symbols
from plants.mechanics.declared import KINDS, DeclarationError
from plants.mechanics.dependent_rates import named_slopes
from plants.mechanics.kept import Kept
from plants.mechanics.parts import Parts
from plants.mechanics.split import Split, split_of
from plants.mechanics.structure import Structure
from plants.mechanics.symbolic import Symbolic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.mechanics.declared import Declaration

_ZERO = se.Integer(0)


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


def chaplygin(declared: Declaration, *, kept: bool = True, sines: bool = False, trigonometric: bool = True) -> Parts:
    """Return kinematics, U and r of a mechanism under linear constraints, in its independent rates.

    Parameters
    ----------
    declared : Declaration
        Its independent coordinates are those of ``Mechanism.independent``, or a good choice
        (:func:`plants.mechanics.split.split_of`).
    kept : bool
        Keep the intermediate variables; otherwise every name is replaced by what it stands for.
    sines : bool
        Name each sine and cosine first.
    trigonometric : bool
        Shorten definitions by the trigonometric normal form.

    Returns
    -------
    Parts
        In the state (q, z), z the independent rates in the order of their coordinates.

    Raises
    ------
    DeclarationError
        For joint coordinates, for constraints that move by themselves (b != 0), and where the split is impossible.
    """
    found = mechanised(declared, sines=sines, trigonometric=trigonometric)
    calculus: Any = found.kept
    lists = found.lists
    if not kept:
        calculus = found.kept.calculus
        lists = {name: [calculus.short(x) for x in found.kept.written_back(xs)] for name, xs in lists.items()}
    m = len(found.split.independent)
    return Parts.of(lists, calculus, declared, positions=("q", declared.n), velocities=("z", m))


def mechanised(declared: Declaration, *, sines: bool = False, trigonometric: bool = True) -> Mechanised:
    """Derive the equations as names; options, errors as :func:`chaplygin`."""
    if declared.places:
        raise DeclarationError(
            f"mechanism {declared.name!r}: joint coordinates have no Chaplygin form; use form='quasi'"
        )
    calculus = Symbolic(declared, trigonometric=trigonometric)
    kept, split = Kept(calculus, sines=sines), split_of(declared)
    slopes = named_slopes(kept, _rows(calculus, declared), split.independent, split.dependent)
    motion = _Motion(kept, declared, split, slopes)
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
        if calculus.short(se.sympify(speed).xreplace(dict.fromkeys(v, _ZERO))) != 0:
            raise DeclarationError(
                f"mechanism {declared.name!r}: constraint {number} moves by itself (A v + b = 0 with b != 0); "
                "the Chaplygin form takes b = 0: give a basis with basis_offset and build with form='quasi'"
            )
    return rows


class _Motion:
    """Motion along the constraints: rates, energy and forces in names.

    Directions are the independent coordinates and, last, time.
    """

    def __init__(self, kept: Kept, declared: Declaration, split: Split, slopes: Mapping[int, Numbers]) -> None:
        self.kept, self.declared, self.split, self.slopes = kept, declared, split, slopes
        self.calculus = kept.calculus
        self.kinetic, self.potential = self.calculus.lift((declared.kinetic, declared.potential))
        self.z = [self.calculus.symbol(f"z{s}") for s in range(len(split.independent))]
        self.directions = [*self.z, se.Integer(1)]
        written: dict[int, Any] = dict(zip(split.independent, self.z, strict=True))
        for k in split.dependent:
            written[k] = sum((entry * z for entry, z in zip(slopes[k], self.z, strict=True)), _ZERO)
        self.written = [written[k] for k in range(declared.n)]
        self.rates = [kept.name(f"vd{k}", value) for k, value in enumerate(self.written)]
        self._move()

    def _move(self) -> None:
        m = len(self.z)
        for k, coordinate in enumerate(symbols(self.calculus, self.declared, "q")):
            speeds = self.slopes[k] if k in self.slopes else [int(s == k) for s in self.split.independent]
            self.kept.move(coordinate, [*speeds, 0])
        self.kept.move(self.calculus.symbol("t"), [0] * m + [1])

    def _on_constraints(self, values: Numbers, rates: Numbers) -> Numbers:
        return self.calculus.replace(values, symbols(self.calculus, self.declared, "v"), rates)

    def momenta(self) -> Numbers:
        """dT/dv_k of the dependent rates [g], of T as declared, in names."""
        v = symbols(self.calculus, self.declared, "v")
        wanted = self.calculus.gradient(self.kinetic, [v[k] for k in self.split.dependent])
        return self._on_constraints(wanted, self.rates)

    def inertia(self) -> list[Numbers]:
        """U [m + 1][m + 1] of T~ = v'U v / 2, with the rate of time, 1, as the last of v."""
        kinetic = self._on_constraints([self.kinetic], self.written)[0]
        slopes = self.calculus.gradient(kinetic, self.z)
        rest = dict.fromkeys(self.z, _ZERO)
        rows = [[*self.calculus.gradient(slope, self.z), slope.xreplace(rest)] for slope in slopes]
        rows.append([*(row[-1] for row in rows), 2 * kinetic.xreplace(rest)])
        count = len(rows)
        upper = {(i, j): self.kept.name(f"u{i}_{j}", rows[i][j]) for i in range(count) for j in range(i, count)}
        return [[upper[min(i, j), max(i, j)] for j in range(count)] for i in range(count)]

    def load(self, inertia: list[Numbers]) -> Numbers:
        """Q~, less the potential's slopes, and what is of second degree in the rates [m]."""
        forces = [
            sum(parts, _ZERO)
            for parts in zip(*(self.calculus.lift(self.declared.forces[kind]) for kind in KINDS), strict=True)
        ]
        forces = [self.kept.in_names(force) for force in self._on_constraints(forces, self.rates)]
        loads = []
        for s, k in enumerate(self.split.independent):
            push = forces[k] + sum((self.slopes[d][s] * forces[d] for d in self.split.dependent), _ZERO)
            loads.append(push - self.kept.delta(self.potential, s) + self._second_degree(inertia, s))
        return loads

    def _second_degree(self, inertia: list[Numbers], s: int) -> Any:
        """sum_rt (-delta_t u_sr + delta_s u_tr / 2) v_r v_t, each pair of rates taken once."""
        delta, v, total = self.kept.delta, self.directions, _ZERO
        for r in range(len(v)):
            inner = (delta(inertia[r][r], s) / 2 - delta(inertia[s][r], r)) * v[r]
            for t in range(r):
                inner += (delta(inertia[r][t], s) - delta(inertia[s][r], t) - delta(inertia[s][t], r)) * v[t]
            total += inner * v[r]
        return total
