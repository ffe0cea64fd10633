"""Stiff or redundant mechanisms, one at a time: SciPy's implicit solvers in independent coordinates.

The equations with constraints are a differential-algebraic system of index 3. Differentiated constraints (index 1)
would drift; so the coordinates are partitioned. The solver sees independent coordinates and rates alone, the
dependent ones follow from the constraints at every evaluation: by Newton's method at the level of positions, by a
linear solve at the level of speeds. Where another partition is much better along the motion, the solver is restarted
with that one.

Source: Wehage and Haug (1982), J. Mechanical Design 104, p. 247: generalized coordinate partitioning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import integrate as scipy_integrate
from scipy.linalg import qr
from scipy.optimize import minimize_scalar

from plants.core.motion.trajectory import Trajectory
from plants.core.names import pick_values, position, unknown
from plants.mechanics.admissible import projected
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.forms import pseudo_inverse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Matrices
    from plants.mechanics.declaration.declaration import MechanismDeclaration
    from plants.mechanics.mechanism import Mechanism

    Array = NDArray[np.float64]
    Numbers = NDArray[np.intp]


_RANK = 1e-9  # of the largest pivot: what is smaller repeats other rows


@dataclass(frozen=True)
class Partition:
    """Which coordinates and which rates are independent.

    Attributes
    ----------
    places, speeds : ndarray of int
        Independent coordinates, independent rates.
    tied_places, tied_speeds : ndarray of int
        The dependent ones.
    worth : float
        Smallest singular value of the dependent blocks when chosen.
    """

    places: Numbers
    speeds: Numbers
    tied_places: Numbers
    tied_speeds: Numbers
    worth: float = 0.0


def chosen(at: Matrices) -> Partition:
    """Return the partition whose dependent columns a pivoted QR of the constraints takes first."""
    tied_places, tied_speeds = _pivots(at.jacobian[: len(at.residuals)]), _pivots(at.jacobian)
    everything = np.arange(len(at.load))
    places, speeds = np.setdiff1d(everything, tied_places), np.setdiff1d(everything, tied_speeds)
    choice = Partition(places, speeds, tied_places, tied_speeds)
    return replace(choice, worth=worth(at, choice))


def worth(at: Matrices, choice: Partition) -> float:
    """Return the smallest singular value of the dependent blocks at a state; 1 without constraints."""
    blocks = at.jacobian[: len(at.residuals), choice.tied_places], at.jacobian[:, choice.tied_speeds]
    return min((float(np.linalg.svd(b, compute_uv=False)[-1]) for b in blocks if b.size), default=1.0)


def _pivots(rows: Array) -> Numbers:
    if not len(rows):
        return np.zeros(0, np.intp)
    _q, r, order = qr(rows, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    return np.sort(order[: int((size > _RANK * size[0]).sum())])


METHODS = {name: getattr(scipy_integrate, name) for name in ("BDF", "Radau", "LSODA", "DOP853")}
_WORN = 0.3  # of the best choice's worth: below that a partition is chosen anew (often enough to be far from poles)
_SINGULAR = 1e-4  # of the first choice's worth: nothing is independent of the others any more
_NEWTON = 20
_EXACT = 1e-12


class PartitionError(ArithmeticError):
    """The dependent coordinates could not be found: the motion runs into a singular position."""


@dataclass(frozen=True)
class PartitionedRun:
    """A run and how it was made.

    Attributes
    ----------
    trajectory : Trajectory
        Coordinates and rates ("states") and the multipliers.
    partitions : tuple of (float, tuple of str)
        When a partition was chosen [s], and its independent coordinates.
    """

    trajectory: Trajectory
    partitions: tuple[tuple[float, tuple[str, ...]], ...]


def integrate(
    mechanism: Mechanism | MechanismDeclaration,
    t_end: float,
    initial: tuple[Sequence[float], Sequence[float]] | None = None,
    *,
    method: str = "BDF",
    samples: int = 201,
    inputs: Mapping[str, float | Callable[[float], float]] | None = None,
    parameters: Mapping[str, float] | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
) -> PartitionedRun:
    """Integrate a mechanism by a solver of SciPy.

    Parameters
    ----------
    initial : (coordinates [n], rates [n]), optional
        Left out: the nominal ones. Moved onto the constraints.
    method : str
        "BDF", "Radau" or "LSODA" for stiff motion, "DOP853" for smooth one.
    samples : int
        Times at which the motion is given, from 0 to `t_end`.
    inputs : mapping of name to number or function of time [s]

    Raises
    ------
    DeclarationError
        With gaps, joints, or velocity constraints that are not linear in the rates.
    PartitionError
        At a singular position.
    RuntimeError
        Where the solver gives up.
    """
    if method not in METHODS:
        raise ValueError(unknown("method", method, tuple(METHODS)))
    declared = mechanism.declared() if hasattr(mechanism, "declared") else mechanism
    _refuse(declared)
    return _Integration(declared, inputs or {}, parameters or {}).run(
        t_end, initial, METHODS[method], samples, rtol, atol
    )


def _refuse(declared: MechanismDeclaration) -> None:
    """Raise for what would be left out of the motion."""
    cannot = [
        (declared.gaps, "gaps: follow them with plants.mechanics.runs.event_driven.simulate_contacts"),
        (declared.places, "joints: they are independent as they are, build(form='joints') needs no partition"),
        (not declared.linear, "velocity constraints that are not linear in the rates: build() gives a plant of them"),
    ]
    for found, what in cannot:
        if found:
            raise DeclarationError(
                f"mechanism {declared.name!r} is not integrated in independent coordinates with {what}"
            )


class _Integration:
    """One run: the blocks, the present partition, the last full state (where Newton's method starts)."""

    def __init__(
        self, declared: MechanismDeclaration, inputs: Mapping[str, Any], parameters: Mapping[str, float]
    ) -> None:
        self.full, self.declared, self.evaluations = Full(declared), declared, 0
        what, names = f"inputs of mechanism {declared.name!r}", [q.name for q in declared.quantities["u"]]
        for name in inputs:
            position(what, names, name)
        self.inputs = [inputs.get(name, 0.0) for name in names]
        self.p = pick_values(f"parameters of mechanism {declared.name!r}", declared.quantities["p"], parameters)

    def run(self, t_end: float, initial: Any, method: Any, samples: int, rtol: float, atol: float) -> PartitionedRun:
        q, v = initial or ([x.nominal for x in self.declared.quantities[kind]] for kind in "qv")
        self.q, self.v = projected(self.full, q, v, 0.0, self.p)
        times, rows = np.linspace(0.0, t_end, samples), [self._row(0.0)]
        log, t = [], 0.0
        self.partition = chosen(self._at(t))
        self.worth = self.partition.worth
        while len(rows) < samples:
            log.append((t, tuple(self.declared.quantities["q"][k].name for k in self.partition.places)))
            solver = method(self._rates, t, self._packed(), t_end, rtol=rtol, atol=atol)
            t = self._advance(solver, times, rows)
        names = tuple(x.name for kind in "qv" for x in self.declared.quantities[kind])
        held = tuple(f"multiplier_{k + 1}" for k in range(self.declared.n_constraints))
        units = tuple(x.unit for kind in "qv" for x in self.declared.quantities[kind]) + ("",) * len(held)
        groups = {"states": slice(0, len(names)), "multipliers": slice(len(names), len(names) + len(held))}
        trajectory = Trajectory(times, np.array(rows), names + held, units, groups, self.evaluations)
        return PartitionedRun(trajectory, tuple(log))

    def _advance(self, solver: Any, times: Array, rows: list[Array]) -> float:
        """Step until the end, or until the partition is worn; return the time reached."""
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed":
                raise RuntimeError(
                    f"mechanism {self.declared.name!r}: the solver gave up at t = {solver.t:.6g} s ({message}); "
                    "loosen rtol, or look for a singular position there"
                )
            between = solver.dense_output()
            while len(rows) < len(times) and times[len(rows)] <= solver.t:
                self._completed(times[len(rows)], between(times[len(rows)]))
                rows.append(self._row(times[len(rows)]))
            self._refuse_singular(solver.t_old, solver.t, between)
            self._completed(solver.t, solver.y)
            if self._worn(float(solver.t)):
                break
        return float(solver.t)

    def _worn(self, t: float) -> bool:
        """Choose anew where another partition is much better."""
        at = self._at(t)
        best = chosen(at)
        if worth(at, self.partition) > _WORN * best.worth:
            return False
        self.partition = best
        return True

    def _refuse_singular(self, start: float, end: float, between: Any) -> None:
        """Raise where the best partition's worth falls to 0 within a step: beyond lies more than one branch."""

        def best(t: float) -> float:
            self._completed(t, between(t))
            return chosen(self._at(t)).worth

        near = 1e-3 * (end - start)
        values = [best(t) for t in (start, start + near, end - near, end)]
        if values[1] < values[0] and values[2] < values[3]:
            found = minimize_scalar(
                best, bounds=(start, end), method="bounded", options={"xatol": 1e-9 * (end - start)}
            )
            values.append(float(found.fun))
        if min(values) < _SINGULAR * self.worth:
            raise PartitionError(self._singular(end))

    def _singular(self, t: float) -> str:
        return (
            f"mechanism {self.declared.name!r}: near t = {t:.6g} s the constraints lose rank; it runs into a singular "
            "position. Quasi-velocities (form='quasi') pass those where their basis does not vanish"
        )

    def _row(self, t: float) -> Array:
        at = self.full.at(t, self.q, self.v, self._u(t), p=self.p)
        pull = at.mass @ pseudo_inverse.accelerations(at) - at.load
        held = np.linalg.lstsq(at.jacobian.T, pull, rcond=None)[0] if len(at.jacobian) else np.zeros(0)
        return np.concatenate([self.q, self.v, held])

    def _u(self, t: float) -> tuple[float, ...]:
        return tuple(float(value(t)) if callable(value) else float(value) for value in self.inputs)

    def _packed(self) -> Array:
        return np.concatenate([self.q[self.partition.places], self.v[self.partition.speeds]])

    def _rates(self, t: float, y: Array) -> Array:
        self.evaluations += 1
        try:
            self._completed(t, y)
        except PartitionError:
            return np.full(len(y), np.nan)  # a trial step too far: the solver takes a shorter one
        at = self.full.at(t, self.q, self.v, self._u(t), p=self.p)
        a = pseudo_inverse.accelerations(at)
        return np.concatenate([self.v[self.partition.places], a[self.partition.speeds]])

    def _completed(self, t: float, y: Array) -> None:
        """Take independent coordinates and rates from the solver, the others from the constraints."""
        choice, q, v = self.partition, self.q.copy(), self.v.copy()
        count = len(choice.places)
        q[choice.places], v[choice.speeds] = y[:count], y[count:]
        for _ in range(_NEWTON):
            if not np.isfinite(q).all():
                raise PartitionError(self._singular(t))
            at = self.full.at(t, q, v, p=self.p)
            if not len(at.residuals) or np.abs(at.residuals).max() < _EXACT:
                break
            rows = at.jacobian[: len(at.residuals), choice.tied_places]
            q[choice.tied_places] -= np.linalg.lstsq(rows, at.residuals, rcond=None)[0]
        else:
            raise PartitionError(self._singular(t))
        if len(choice.tied_speeds):
            free = at.jacobian[:, choice.speeds] @ v[choice.speeds] + at.drift
            v[choice.tied_speeds] = np.linalg.lstsq(at.jacobian[:, choice.tied_speeds], -free, rcond=None)[0]
        self.q, self.v = q, v

    def _at(self, t: float) -> Matrices:
        return self.full.at(t, self.q, self.v, p=self.p)
