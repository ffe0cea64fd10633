"""Motion along linear constraints: rates, energy and forces in the names of v_dep = B v_ind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import symengine as se

from plants.mechanics.declaring.declared import KINDS
from plants.mechanics.deriving.blocks import Numbers, symbols

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants.mechanics.chaplygin.kept import Kept
    from plants.mechanics.chaplygin.split import Split
    from plants.mechanics.declaring.declared import Declaration

_ZERO = se.Integer(0)


class AlongConstraints:
    """Rates, energy and forces of a mechanism that moves along its constraints.

    Parameters
    ----------
    kept : Kept
        Where names go; every coordinate's speeds are set there.
    declared : Declaration
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
