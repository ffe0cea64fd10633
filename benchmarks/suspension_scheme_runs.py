"""The schemes of delayed accelerations compiled: symplectic Euler in lanes, rollouts differ by their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.suspension_schemes import NOMINAL_DAMPERS, START, End
from plants.core import kernel as kernels
from plants.core.elementary import abs as magnitude
from plants.core.elementary import maximum, where
from plants.core.kernel import ALIVE, Design
from plants.core.lanes import Lane, Loop
from plants.core.linear_solve import solve_general, solve_symmetric
from plants.core.loops import accelerations
from plants.core.run import Job, grid, run
from plants.suspension import SUSPENSION, loop_forms, motion
from plants.suspension.redundant import saddle
from plants.suspension.redundant_constraints import N

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.suspension_schemes import Scheme

_LEVEL = (0.0,) * 8
_LARGE = 1e3  # m, rad, m/s, ...: lost
_DELAYED_ARMS = (3, 4, 5, 6, 0, 1, 2)  # z0, beta, alpha, theta_n in the order of the minimal equations


class Runs:
    """A scheme compiled, for any number of steps and sets of parameters."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.plant = SUSPENSION if scheme.form == "minimal" else loop_forms.printed()
        self.unknowns = 7 if scheme.form == "minimal" else loop_forms.UNKNOWNS
        self.design = Design(f"suspension, symplectic Euler: {scheme}")
        rows = self.design.rows
        self.n_x = 14 if scheme.form == "minimal" else 2 * N + 4
        sizes = {
            "x": self.n_x,
            "w": self.unknowns,
            "p": len(self.plant.parameters),
            "opened": 1,
            "gap": 1,
            "steps": 1,
            ALIVE: 1,
        }
        for name, size in sizes.items():
            rows.add(name, size)
        self.design.after.append(Loop("step", (self._step,)))
        self.design.results = ("x", "opened", "gap", "steps")
        self.kernel = kernels.build(self.design)

    def _step(self, lane: Lane) -> None:
        h, x, before = lane.uniform("h"), lane["x"], lane["w"]
        found = self._unknowns(x, before, lane["p"])
        new = self._moved(x, found, lane["p"], h)
        size: Any = 0.0
        for value in new:
            size = maximum(magnitude(value), size)
        alive = lane.one(ALIVE) * where(_LARGE - size, 1.0, 0.0)
        lane["x"] = tuple(where(alive, a, b) for a, b in zip(new, x, strict=True))
        lane["w"] = tuple(where(alive, a, b) for a, b in zip(found, before, strict=True))
        gap = where(alive, self._gap(new, lane["p"]), lane.one("gap"))
        lane["gap"], lane["opened"] = (gap,), (maximum(lane.one("opened"), gap),)
        lane["steps"] = (lane.one("steps") + alive,)
        lane[ALIVE] = (alive,)

    def _unknowns(self, x: Any, before: Any, p: Any) -> tuple[Any, ...]:
        scheme, u = self.scheme, NOMINAL_DAMPERS
        if scheme.solved and scheme.form == "minimal":
            return solve_symmetric(motion.mass_matrix(0.0, x, u, _LEVEL, p), motion.force(0.0, x, u, _LEVEL, p))
        if scheme.solved:
            return solve_general(*loop_forms.printed_system(x, u, _LEVEL, p))
        passed = accelerations(self.plant, 0.0, x, before, u, _LEVEL, p)
        return tuple(old + scheme.share * (new - old) for old, new in zip(before, passed, strict=True))

    def _moved(self, x: Any, found: Any, p: Any, h: Any) -> tuple[Any, ...]:
        if self.scheme.form == "minimal":
            a = (*found[4:], *found[:4])
            speeds = tuple(v + h * rate for v, rate in zip(x[7:], a, strict=True))
            return (*(q + h * v for q, v in zip(x[:7], speeds, strict=True)), *speeds)
        speeds = tuple(v + h * rate for v, rate in zip(x[N + 4 :], found[:N], strict=True))
        places = tuple(q + h * v for q, v in zip(x[:N], speeds, strict=True))
        contact = saddle((*places, *x[N : N + 4], *speeds), NOMINAL_DAMPERS, _LEVEL, p[:-1]).z12_rates
        return (*places, *(z + h * rate for z, rate in zip(x[N : N + 4], contact, strict=True)), *speeds)

    def _gap(self, x: Any, p: Any) -> Any:
        if self.scheme.form == "minimal":
            return 0.0 * x[0]
        gap: Any = 0.0
        for residual in saddle(x, NOMINAL_DAMPERS, _LEVEL, p[:-1]).gaps:
            gap = maximum(magnitude(residual), gap)
        return gap

    def __call__(self, step: float, n_steps: int, cars: tuple[Mapping[str, float], ...] = ({},)) -> End:
        """Run the car's free motion once for every set of parameters."""
        rows = self.design.rows
        start = np.zeros((len(cars), rows.count))
        for row, changed in zip(start, cars, strict=True):
            p = self.plant.values("parameters", {**dict(changed), **self._kappa()})
            x = START if self.scheme.form == "minimal" else loop_forms.redundant_state(START)
            row[rows.span("p")], row[rows.span("x")], row[rows.span(ALIVE)] = p, x, 1.0
            row[rows.span("w")] = self._first(tuple(x), p)
        none = np.zeros((len(cars), 1), np.int64)
        keys = np.zeros((len(cars), 1, 5), np.int64)
        job = Job(start, np.zeros((1, 0)), none, keys, np.zeros((1, 1)), n_steps, step)
        found, _, _ = run(self.kernel, job, grid(len(cars), 1, self.kernel.lanes), threads=1)
        x = found[:, : self.n_x]
        positions = x[:, :7] if self.scheme.form == "minimal" else x[:, [0, 1, 2, 7, 8, 9, 10]]
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
