"""The schemes of delayed accelerations compiled: symplectic Euler in lanes, rollouts differ by their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.euler_runs import EulerRuns
from benchmarks.suspension_schemes import NOMINAL_DAMPERS, START, End
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum
from plants.core.linear_solve import solve_general, solve_symmetric
from plants.core.loops import accelerations
from plants.suspension import SUSPENSION, loop_forms, motion
from plants.suspension.redundant import saddle
from plants.suspension.redundant_constraints import N

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.suspension_schemes import Scheme

_LEVEL = (0.0,) * 8
_DELAYED_ARMS = (3, 4, 5, 6, 0, 1, 2)  # z0, beta, alpha, theta_n in the order of the minimal equations


class Runs(EulerRuns):
    """A scheme compiled, for any number of steps and sets of parameters."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.plant = SUSPENSION if scheme.form == "minimal" else loop_forms.printed()
        unknowns = 7 if scheme.form == "minimal" else loop_forms.UNKNOWNS
        n_x = 14 if scheme.form == "minimal" else 2 * N + 4
        super().__init__(f"suspension, symplectic Euler: {scheme}", n_x, unknowns, len(self.plant.parameters))

    def found(self, x: Any, before: Any, p: Any) -> tuple[Any, ...]:
        """All unknowns at once, or in one pass."""
        scheme, u = self.scheme, NOMINAL_DAMPERS
        if scheme.solved and scheme.form == "minimal":
            return solve_symmetric(motion.mass_matrix(0.0, x, u, _LEVEL, p), motion.force(0.0, x, u, _LEVEL, p))
        if scheme.solved:
            return solve_general(*loop_forms.printed_system(x, u, _LEVEL, p))
        passed = accelerations(self.plant, 0.0, x, before, u, _LEVEL, p)
        return tuple(old + scheme.share * (new - old) for old, new in zip(before, passed, strict=True))

    def moved(self, x: Any, found: Any, p: Any, h: Any) -> tuple[Any, ...]:
        """Speeds, then places, then contacts."""
        if self.scheme.form == "minimal":
            a = (*found[4:], *found[:4])
            speeds = tuple(v + h * rate for v, rate in zip(x[7:], a, strict=True))
            return (*(q + h * v for q, v in zip(x[:7], speeds, strict=True)), *speeds)
        speeds = tuple(v + h * rate for v, rate in zip(x[N + 4 :], found[:N], strict=True))
        places = tuple(q + h * v for q, v in zip(x[:N], speeds, strict=True))
        contact = saddle((*places, *x[N : N + 4], *speeds), NOMINAL_DAMPERS, _LEVEL, p[:-1]).z12_rates
        return (*places, *(z + h * rate for z, rate in zip(x[N : N + 4], contact, strict=True)), *speeds)

    def gap(self, x: Any, p: Any) -> Any:
        """The largest of the linkages."""
        if self.scheme.form == "minimal":
            return super().gap(x, p)
        gap: Any = 0.0
        for residual in saddle(x, NOMINAL_DAMPERS, _LEVEL, p[:-1]).gaps:
            gap = maximum(magnitude(residual), gap)
        return gap

    def __call__(self, step: float, n_steps: int, cars: tuple[Mapping[str, float], ...] = ({},)) -> End:
        """Run the car's free motion once for every set of parameters."""
        x = START if self.scheme.form == "minimal" else loop_forms.redundant_state(START)
        starts = []
        for changed in cars:
            p = self.plant.values("parameters", {**dict(changed), **self._kappa()})
            starts.append((x, self._first(tuple(x), p), p))
        found = self.run(starts, step, n_steps)
        positions = found[:, :7] if self.scheme.form == "minimal" else found[:, [0, 1, 2, 7, 8, 9, 10]]
        return End(positions, found[:, -3], found[:, -2], found[:, -1])

    def _kappa(self) -> dict[str, float]:
        return {} if self.scheme.form == "minimal" else {"kappa": self.scheme.kappa}

    def _first(self, x: tuple[float, ...], p: tuple[float, ...]) -> np.ndarray:
        """The unknowns at the start."""
        if self.scheme.still:
            return np.zeros(self.unknowns)
        if self.scheme.form == "minimal":
            rates = SUSPENSION.derivative(0.0, x, NOMINAL_DAMPERS, _LEVEL, p)  # type: ignore[misc]
            return np.array([rates[7 + k] for k in _DELAYED_ARMS])
        matrix, right = loop_forms.printed_system(x, NOMINAL_DAMPERS, _LEVEL, p)
        return np.linalg.solve(np.array(matrix, float), np.array(right, float))
