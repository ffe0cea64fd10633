"""Structure arrays of linear constraints v_dep = B v_ind: how B turns along the constraints, and what that exerts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import symengine as se

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.mechanics.chaplygin.kept import Kept
    from plants.mechanics.deriving.blocks import Numbers

_ZERO = se.Integer(0)


@dataclass(frozen=True)
class Structure:
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
    def of(cls, kept: Kept, slopes: Sequence[Numbers], momenta: Numbers, rates: Numbers) -> Structure:
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
