"""The account of an energy-Lyapunov function along one run, and its text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TOLERANCE = 1e-6  # of the turnover: what the account may miss at the plant's own step


@dataclass(frozen=True, eq=False)
class EnergyLyapunov:
    """The account of V = E + sum of kp e^2 / 2 over a run of n steps.

    Attributes
    ----------
    time, V : ndarray [n + 1], s, J
    terms : mapping of str to ndarray [n], J
        What each step adds to V: "plant dissipation", "derivative action", "integral action", "change of kp",
        "disturbance", "sampling" (hold and filter of the P and D terms), "limits" (of command and actuator).
    residual : ndarray [n + 1], J
        V less its start and all terms so far: the error of the quadrature, of order 4 in the step as that of RK4.
    command_mismatch : float
        Largest difference between the recorded command and the law's, replayed.
    falling : float
        Share of steps in which V falls.
    limited : float
        Share of steps in which the input is not what the law demands.
    slew_limit : float
        Largest constant rate of kp that plant dissipation and derivative action balance on average along this run,
        2 <T0 S' + kd e'^2> / <e^2>; negative: they feed energy in even at constant kp.
    slew_used : float
        <kp' e^2> / <e^2>: the rate of kp as this run weighs it, to be compared with the limit.
    thermodynamic_falling, thermodynamic_rate : float
        A diagnostic and no proof: share of time with V_T' < 0 and its mean, of V_T = sum e^2 / 2 + S^2 / 2 with S the
        integral of plant's less controller's entropy production.
    """

    time: Array
    V: Array
    terms: Mapping[str, Array]
    residual: Array
    command_mismatch: float
    falling: float
    limited: float
    slew_limit: float
    slew_used: float
    thermodynamic_falling: float
    thermodynamic_rate: float

    @property
    def turnover(self) -> float:
        """Energy that went through the account [J]: what a residual is to be compared with."""
        return float(max(np.abs(self.V).max(), *(np.abs(part).sum() for part in self.terms.values())))

    @property
    def closure(self) -> float:
        """Largest residual over the turnover."""
        return float(np.abs(self.residual).max()) / (self.turnover or 1.0)

    @property
    def closes(self) -> bool:
        """Whether the account closes within 1e-6 and the replayed law gives the recorded commands."""
        return self.closure <= TOLERANCE and self.command_mismatch <= TOLERANCE

    def numbers(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        return {
            "terms": {name: float(part.sum()) for name, part in self.terms.items()},
            "start": float(self.V[0]),
            "end": float(self.V[-1]),
            "closure": self.closure,
            "closes": self.closes,
            "command_mismatch": self.command_mismatch,
            "falling": self.falling,
            "limited": self.limited,
            "slew_limit": self.slew_limit if math.isfinite(self.slew_limit) else None,
            "slew_used": self.slew_used,
            "thermodynamic_falling": self.thermodynamic_falling,
            "thermodynamic_rate": self.thermodynamic_rate,
        }

    def __str__(self) -> str:
        return _text(self)


def _text(found: EnergyLyapunov) -> str:
    """The account as text."""
    falls = f"falling in {100 * found.falling:.0f} % of the time"
    closes = "closes" if found.closes else "DOES NOT CLOSE"
    residual = f"residual {found.closure:.1e} of the turnover ({found.turnover:.4g} J)"
    lines = [
        f"V = E + kp e^2 / 2 from {found.V[0]:.6g} to {found.V[-1]:.6g} J, {falls}:",
        *(f"  {name:<18} {part.sum():+.6g} J" for name, part in found.terms.items()),
        f"The account {closes}: {residual}; replayed and recorded commands differ by {found.command_mismatch:.1e}.",
    ]
    if found.limited:
        lines.append(f"The input is limited in {100 * found.limited:.0f} % of the time.")
    lines.append(_slew(found))
    lines.append(
        f"Diagnostic, no proof: V_T = e^2 / 2 + S^2 / 2 falls in {100 * found.thermodynamic_falling:.0f} % of the time "
        f"(mean rate {found.thermodynamic_rate:+.4g} 1/s)."
    )
    return "\n".join(lines)


def _slew(found: EnergyLyapunov) -> str:
    if found.slew_limit < 0.0:
        return "Slew limit of kp: none, plant and derivative action feed energy in even at constant kp."
    if not math.isfinite(found.slew_limit):
        return "Slew limit of kp: none, there is no error."
    return (
        f"Slew limit of kp: {found.slew_limit:.4g} per s on average along this run; used: {found.slew_used:+.4g} per s."
    )
