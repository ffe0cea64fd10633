"""A mechanism's state under contact, for lanes: its blocks, the forces of closed gaps, its accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import where
from plants.core.linear_solve import solve_symmetric
from plants.mechanics.contacts.cases import Mobility
from plants.mechanics.deriving.blocks import Rows
from plants.mechanics.deriving.full import MATRICES
from plants.mechanics.deriving.parts import in_rows, triangle
from plants.mechanics.forms.multipliers import stabilised
from plants.mechanics.forms.solving import dot

if TYPE_CHECKING:
    from plants.mechanics.deriving.full import Full


@dataclass(frozen=True)
class Limits:
    """Below what a gap is closed [m] and slow [m/s], a rebound is rest [m/s]; Baumgarte's feedback [1/s]."""

    distance: float
    speed: float
    rest_speed: float
    baumgarte: tuple[float, float] | None


class Touch:
    """Blocks of one state, and its accelerations under contact."""

    def __init__(self, full: Full, limits: Limits, t: Any, x: Any, u: Any, w: Any, p: Any) -> None:
        n = full.declared.n
        self.full, self.limits, self.t, self.rest = full, limits, t, (u, w, p)
        self.q, self.v = x[:n], x[n:]
        self.restitutions = [gap.restitution for gap in full.declared.gaps]
        values = dict(zip(MATRICES, full(MATRICES, t, self.q, self.v, u, w, p), strict=True))
        self.mass, load = triangle(values["mass"], n), values["load"]
        self.residuals, self.drift = values["residuals"], values["drift"]
        self.rows, self.gap_rows = in_rows(values["jacobian"], n), in_rows(values["gap_jacobian"], n)
        self.gaps, self.speeds = values["gaps"], values["gap_speeds"]
        self.mobility = Mobility(self.mass, self.rows, self.gap_rows)
        constraints = Rows(self.residuals, self.rows, values["speeds"], self.drift, values["curvature"])
        held = [where(d, where(s, 1.0, 0.0), 0.0) for d, s in zip(self.near(), self.slow(self.speeds), strict=True)]
        self.accelerations, _, self.forces = self.mobility.nearest(
            solve_symmetric(self.mass, load),
            [-c for c in stabilised(constraints, limits.baumgarte)],
            [-c for c in values["gap_curvature"]],
            held,
        )
        self.gap_accelerations = [
            dot(row, self.accelerations) + c for row, c in zip(self.gap_rows, values["gap_curvature"], strict=True)
        ]

    def moved(self, t: Any, q: Any, v: Any) -> Touch:
        """Return the same at another time and state, inputs held."""
        return Touch(self.full, self.limits, t, (*q, *v), *self.rest)

    def steady(self) -> list[Any]:
        """Speeds that the gaps would have at rest: where they move themselves."""
        return [s - dot(row, self.v) for row, s in zip(self.gap_rows, self.speeds, strict=True)]

    def near(self) -> list[Any]:
        """Above 0 for a gap that counts as closed."""
        return [self.limits.distance - gap for gap in self.gaps]

    def slow(self, speeds: Any) -> list[Any]:
        """Above 0 for a gap's speed that counts as none."""
        return [self.limits.speed - magnitude(speed) for speed in speeds]
