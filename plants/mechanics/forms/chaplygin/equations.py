"""Chaplygin's equations in Voronets' general form, mechanised: a program of named scalars.

The constraints give the dependent rates, v_dep = B v_ind, and no multipliers are left:

    d/dt dT~/dv_s - delta_s T~ + delta_s V - NOH_s = Q~_s
    NOH_s = sum_k dT/dv_k sum_r (delta_r B_ks - delta_s B_kr) v_r,    Q~_s = Q_s + sum_k B_ks Q_k

T~ is T with the dependent rates replaced, dT/dv_k is that of T itself, and delta_r = d/dq_r + sum_k B_kr d/dq_k moves
along the constraints: B and T may depend on any coordinate. Time is one more direction, with the rate 1, so that T
and the rows may hold it. Structure arrays say how B turns along the constraints, and what that exerts.

Real coordinates are used as rates, so B may have poles, and the equations fail there. It is a form for plants whose B
has none (rolling wheels with the wheels' angles as independent coordinates), and a check of the other forms.

The constraints are solved for the dependent rates in symbols, block after block: the rows are put in block triangular
order, the fewest rows that hold no more unknowns than they are first, and later ones are written in the names of their
results. Each block is solved by Cramer's rule: only its determinant's zeros are poles, where elimination would add
those of its pivots. Entries are always brought to their shortest form: with a heading left in the determinant,
quotients would stand where there are constants.

Source: Neimark and Fufaev, Dynamics of Nonholonomic Systems (AMS, 1972), ch. III; kept intermediate variables,
dependency table and structure arrays after the mechanised procedure for computer derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import symengine as se

from plants.mechanics.algebra.blocks import Numbers, rate, symbols
from plants.mechanics.algebra.calculus import Parts
from plants.mechanics.algebra.normal_form import shortened
from plants.mechanics.algebra.symbolic import Symbolic
from plants.mechanics.declaration.declaration import KINDS, DeclarationError
from plants.mechanics.forms.chaplygin.named_scalars import Kept
from plants.mechanics.forms.chaplygin.split import Split, split_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.declaration.declaration import MechanismDeclaration


_ZERO = se.Integer(0)


def named_slopes(
    kept: Kept, rows: Sequence[Sequence[Any]], independent: Sequence[int], dependent: Sequence[int]
) -> dict[int, list[Any]]:
    """Return the names of B's rows.

    Parameters
    ----------
    kept : Kept
        Where entries of B, and determinants that are sums, become names.
    rows : [g][n]
        A.
    independent, dependent : sequence of int [m], [g]
        Numbers of the coordinates.

    Returns
    -------
    dict of int to list [m]
        By number of the dependent coordinate.
    """
    rows = [[shortened(se.sympify(entry)) for entry in row] for row in rows]
    slopes: dict[int, list[Any]] = {}
    for chosen, unknown in _blocks(rows, dependent):
        matrix = [[rows[i][k] for k in unknown] for i in chosen]
        sides = [
            [-rows[i][s] - _sum(rows[i][k] * slopes[k][j] for k in slopes) for i in chosen]
            for j, s in enumerate(independent)
        ]
        _solve(kept, matrix, sides, unknown, slopes)
    return slopes


def _blocks(rows: Sequence[Sequence[Any]], dependent: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Rows and unknowns of each block, in the order of solution."""
    waiting, unsolved, blocks = list(range(len(rows))), list(dependent), []
    while waiting:
        chosen, unknown = _smallest(rows, waiting, unsolved)
        waiting = [i for i in waiting if i not in chosen]
        unsolved = [k for k in unsolved if k not in unknown]
        blocks.append((chosen, unknown))
    return blocks


def _smallest(rows: Sequence[Sequence[Any]], waiting: list[int], unsolved: list[int]) -> tuple[list[int], list[int]]:
    for size in range(1, len(waiting)):
        for chosen in combinations(waiting, size):
            unknown = [k for k in unsolved if any(rows[i][k] != 0 for i in chosen)]
            if len(unknown) == size:
                return list(chosen), unknown
    return waiting, unsolved


def _solve(kept: Kept, matrix: Any, sides: Any, unknown: Sequence[int], slopes: dict[int, list[Any]]) -> None:
    below = determinant(matrix)
    if isinstance(below, se.Add):
        below = kept.name("det" + "_".join(map(str, unknown)), below)
    for column, k in enumerate(unknown):
        above = [determinant(_replaced(matrix, column, side)) for side in sides]
        slopes[k] = [kept.name(f"k{k}_{j}", shortened(a / below)) for j, a in enumerate(above)]


def determinant(matrix: Sequence[Sequence[Any]]) -> Any:
    """Return the determinant by expansion along rows, each minor formed once."""
    minors: dict[tuple[int, ...], Any] = {(): se.Integer(1)}
    n = len(matrix)
    for i, row in enumerate(matrix):
        wider: dict[tuple[int, ...], Any] = {}
        for columns in combinations(range(n), i + 1):
            terms = (
                (-1) ** (i + place) * row[j] * minors[columns[:place] + columns[place + 1 :]]
                for place, j in enumerate(columns)
            )
            wider[columns] = shortened(_sum(terms))
        minors = wider
    return minors[tuple(range(n))]


def _replaced(matrix: Sequence[Sequence[Any]], column: int, side: Sequence[Any]) -> list[list[Any]]:
    return [[side[i] if j == column else entry for j, entry in enumerate(row)] for i, row in enumerate(matrix)]


def _sum(terms: Any) -> Any:
    return sum(terms, _ZERO)


@dataclass(frozen=True)
class StructureArrays:
    """Arrays over dependent rates k, independent rates s, and directions r (independent coordinates, then time).

    Attributes
    ----------
    turns : [g][m][m + 1]
        BBB[k][s][r] = delta_r B_ks.
    skew : [g][m][m + 1]
        Asy[k][s][r] = BBB[k][s][r] - BBB[k][r][s]: 0 throughout where the constraints are holonomic.
    momenta : [g]
        PIAN[k] = dT/dv_k, of T with all rates in it.
    rates : [m + 1]
        dq[r].
    """

    turns: list[list[Numbers]]
    skew: list[list[Numbers]]
    momenta: Numbers
    rates: Numbers

    @classmethod
    def of(cls, kept: Kept, slopes: Sequence[Numbers], momenta: Numbers, rates: Numbers) -> StructureArrays:
        """Form the arrays; entries that are no constants become names."""
        m = len(rates) - 1
        turns = [[[kept.delta(entry, r) for r in range(m + 1)] for entry in row] for row in slopes]
        skew = [_skew(kept, k, turn) for k, turn in enumerate(turns)]
        needed = [any(entry != 0 for row in block for entry in row) for block in skew]
        names = [
            kept.name(f"PIAN{k}", p) if used else _ZERO for k, (p, used) in enumerate(zip(momenta, needed, strict=True))
        ]
        return cls(turns, skew, names, rates)

    def nonholonomic(self) -> Numbers:
        """NOH[s] = sum_k PIAN[k] sum_(r != s) Asy[k][s][r] dq[r], on the side of the forces [m]."""
        return [
            sum((p * _along(block[s], self.rates) for p, block in zip(self.momenta, self.skew, strict=True)), _ZERO)
            for s in range(len(self.rates) - 1)
        ]

    def turning(self) -> Numbers:
        """sum_sr BBB[k][s][r] v_s v_r [g], what v_dep' has beside B a."""
        return [
            sum((_along(row, self.rates) * rate for row, rate in zip(turn, self.rates, strict=False)), _ZERO)
            for turn in self.turns
        ]


def _skew(kept: Kept, k: int, turn: list[Numbers]) -> list[Numbers]:
    """One slice of Asy; each pair of opposite entries has one name."""
    m = len(turn)
    skew = [[_ZERO] * m + [row[m]] for row in turn]
    for s in range(m):
        for r in range(s + 1, m):
            skew[s][r] = kept.name(f"Asy{k}_{s}_{r}", turn[s][r] - turn[r][s])
            skew[r][s] = -skew[s][r]
    return skew


def _along(row: Numbers, rates: Numbers) -> Any:
    return sum((entry * rate for entry, rate in zip(row, rates, strict=True)), _ZERO)


class AlongConstraints:
    """Rates, energy and forces of a mechanism that moves along its constraints.

    Parameters
    ----------
    kept : Kept
        Where names go; every coordinate's speeds are set there.
    declared : MechanismDeclaration
    split : Split
    slopes : mapping of dependent coordinate to list [m]
        Rows of B.

    Attributes
    ----------
    z, directions : [m], [m + 1]
        Independent rates, and the same with that of time, 1, behind them.
    rates : [n]
        All rates in names.
    """

    def __init__(self, kept: Kept, declared: MechanismDeclaration, split: Split, slopes: Mapping[int, Numbers]) -> None:
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
        pairs = [(i, j) for i in range(count) for j in range(i, count) if not self.kept.vanishes(rows[i][j])]
        upper = {(i, j): self.kept.name(f"u{i}_{j}", rows[i][j]) for i, j in pairs}
        return [[upper.get((min(i, j), max(i, j)), _ZERO) for j in range(count)] for i in range(count)]

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
    structure : StructureArrays
        What the constraints' turning exerts.
    """

    kept: Kept
    split: Split
    lists: Mapping[str, Numbers]
    structure: StructureArrays

    @property
    def equations(self) -> Numbers:
        """What a right-hand side needs: rates, U and r."""
        return [value for name in ("kinematics", "matrix", "right") for value in self.lists[name]]


def chaplygin(
    declared: MechanismDeclaration, *, kept: bool = True, split: Split | None = None, **options: bool
) -> Parts:
    """Return kinematics, U and r of a mechanism under linear constraints, in its independent rates.

    Parameters
    ----------
    declared : MechanismDeclaration
        Its independent coordinates are those of ``Mechanism.independent``, or a good choice
        (:func:`plants.mechanics.forms.chaplygin.split.split_of`).
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
    declared: MechanismDeclaration, *, split: Split | None = None, sines: bool = False, trigonometric: bool = True
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
    structure = StructureArrays.of(kept, [slopes[k] for k in split.dependent], motion.momenta(), motion.directions)
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
    return Mechanised(kept, split, lists, structure)


def _rows(calculus: Symbolic, declared: MechanismDeclaration) -> list[Numbers]:
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
