"""How a run treated its plant's algebraic loop: evaluations, iterations, residuals, and the loop's gain on the way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.algebraic_loop.gain import EvaluationPoints, gain_matrices, spectral_radius, spurious_damping
from plants.core.algebraic_loop.iteration import TOLERANCE
from plants.core.algebraic_loop.loop_free import SHARES, loop_delay

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.core.plant import Plant

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Iterations:
    """What iterating cost and reached.

    Attributes
    ----------
    mean, most : float, int
        Passes per stage; the last pass of a stage only confirms.
    residual, tolerance : float
        Largest residual |f(a) - a| / (1 + |a|) that was accepted, and the one asked for.
    failure : str
        Which equation did not converge, where and with which residual; empty if all did.
    """

    mean: float
    most: int
    residual: float
    tolerance: float = TOLERANCE
    failure: str = ""


@dataclass(frozen=True, eq=False)
class LoopReport:
    """How a run treated the plant's algebraic loop.

    Attributes
    ----------
    mode : str
        The run's `algebraic_loop`.
    step : float
        [s]
    evaluations : int
        Of the right-hand side.
    iterations : Iterations or None
        None where nothing is iterated.
    plant : Plant
    points : EvaluationPoints
        Time [n + 1] and arrays [.., n + 1] where the run has been.
    """

    mode: str
    step: float
    evaluations: int
    iterations: Iterations | None
    plant: Plant
    points: EvaluationPoints

    @cached_property
    def gains(self) -> Array:
        """Gain of the algebraic loop at every recorded time [n + 1]."""
        return spectral_radius(self._matrices)

    @cached_property
    def factors(self) -> Array:
        """By how much a step multiplies the error of a rebuilt acceleration [n + 1]; 0 unless loop-free."""
        share = SHARES.get(self.mode)
        if share is None:
            return np.zeros(len(self.gains))
        return spectral_radius((1.0 - share) * np.eye(self._matrices.shape[1]) + share * self._matrices)

    @cached_property
    def _matrices(self) -> Array:
        return gain_matrices(self.plant, self.points)

    @property
    def gain(self) -> float:
        """Largest gain met."""
        return float(self.gains[self._largest])

    @property
    def gain_time(self) -> float:
        """When it was met first [s]."""
        return float(self.points.t[self._largest])

    @property
    def _largest(self) -> int:
        return int(np.argmax(np.nan_to_num(self.gains, nan=-1.0)))

    @cached_property
    def growth(self) -> float | None:
        """Largest growth rate that the delay of a loop-free form adds to a mode at the start [1/s]; else None."""
        if self.mode not in SHARES:
            return None
        t, x, u, _, p = self.points
        state, inputs = ([row[0] for row in group] for group in (x, u))
        delay = loop_delay(self.mode, self.step)
        found = spurious_damping(self.plant, delay, state, p, inputs=inputs, t=float(t[0]))
        return float(found.growth.max()) if len(found.growth) else 0.0

    def caution(self) -> str:
        """Return what is to be said of the gain in a loop-free run; empty where the form is safe."""
        if self.mode not in SHARES:
            return ""
        raw = self.mode != "loop_free_filtered"
        risky = (self.gains >= 1.0) if raw else (self.factors >= 1.0)
        if not risky.any():
            return ""
        first, factor = int(np.argmax(risky)), float(np.nanmax(self.factors))
        where = f"t = {self.points.t[first]:.6g} s, {state_in_words(self.plant, self.points.x, first)}"
        return (
            f"the gain of the algebraic loop of plant {self.plant.name!r} is {self.gains[first]:.4g} at {where}, and "
            f"{self.gain:.4g} at most: with algebraic_loop={self.mode!r} errors of the accelerations are multiplied "
            f"by up to {factor:.3g} a step; 'solved' has no such limit"
        )

    def numbers(self) -> dict[str, Any]:
        """Return the report as plain data."""
        done = self.iterations
        return {
            "mode": self.mode, "evaluations": self.evaluations, "gain": self.gain, "gain_time": self.gain_time,
            "iterations_mean": done and done.mean, "iterations_most": done and done.most,
            "largest_residual": done and done.residual, "tolerance": done and done.tolerance,
            "spurious_growth": self.growth,
        }  # fmt: skip

    def __str__(self) -> str:
        title = f"algebraic loop {self.mode.replace('_', '-')}: {self.evaluations} evaluations"
        parts = [title, f"gain up to {self.gain:.4g} (t = {self.gain_time:.6g} s)"]
        if self.iterations is not None:
            done = self.iterations
            parts.append(
                f"{done.mean:.3g} passes a stage, at most {done.most}, largest residual {done.residual:.2g} "
                f"(tolerance {done.tolerance:.0e})"
            )
        if self.growth is not None:
            parts.append(f"its delay adds up to {self.growth:+.3g} 1/s to the growth of the plant's modes at the start")
        return "; ".join(parts)


def state_in_words(plant: Plant, x: Any, place: int) -> str:
    """Return the state at one of many points, with names and units."""
    return ", ".join(f"{q.name} = {row[place]:.6g} {q.unit}" for q, row in zip(plant.states, x, strict=True))
