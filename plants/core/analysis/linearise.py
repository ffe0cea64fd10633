"""A plant about one of its states: the input that holds it, and the matrices of the linear model there.

All slopes are the tape's forward-mode derivatives of the blocks: exact up to rounding, without a step size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from plants.core.analysis.slopes import Slopes, changes
from plants.core.analysis.starts import bounds, fewest_left, starts
from plants.core.blocks import allocate_inputs
from plants.core.names import pick_values, position, unknown
from plants.core.quantities import OperatingPoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants.core.analysis.slopes import Local
    from plants.core.plant import Plant

    Array = NDArray[np.float64]
    Given = Mapping[str, float] | Sequence[float] | None

_ROUNDS = 60
_HALVINGS = 30


@dataclass(frozen=True)
class LinearModel:
    """dx' = A dx + B du + E dw,  dy = C dx + D du + F dw: a plant about one point, deviations marked by d.

    Attributes
    ----------
    A, B, E : ndarray [n_x, n_x], [n_x, n_u], [n_x, n_w]
    C, D, F : ndarray [n_y, n_x], [n_y, n_u], [n_y, n_w]
    state, input, output : ndarray [n_x], [n_u], [n_y]
        The point; with ``commands=True`` the input is the channels' commands.
    rates : ndarray [n_x]
        State rates there, 0 to rounding at an equilibrium.
    delay : float
        Dead time of the inputs [s], which the matrices leave out.
    states, inputs, disturbances, outputs : tuple of str
        Names of the rows and columns.
    """

    A: Array
    B: Array
    E: Array
    C: Array
    D: Array
    F: Array
    state: Array
    input: Array
    output: Array
    rates: Array
    delay: float
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    disturbances: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of A [1/s], the slowest decay (or fastest growth) first."""
        values = np.linalg.eigvals(self.A).astype(complex)
        return values[np.argsort(-values.real, kind="stable")]

    def row(self, output: str) -> Array:
        """Return the row of C that belongs to an output [n_x]."""
        return self.C[position("outputs of the linear model", self.outputs, output)]


def linearise(
    plant: Plant,
    state: Given | OperatingPoint | str = None,
    parameters: Given = None,
    input: Given = None,  # noqa: A002  (the field's word for u)
    disturbances: Given = None,
    *,
    adjust: Sequence[str] = (),
    moving: Sequence[str] = (),
    commands: bool = False,
    t: float = 0.0,
    tolerance: float = 1e-9,
) -> LinearModel:
    """Return the linear model of `plant` about `state`, held there by its input.

    Parameters
    ----------
    plant : Plant
    state : mapping by name, full sequence, OperatingPoint, or name of one of the plant's operating points, optional
        Left out: the nominal initial state.
    parameters, disturbances : mapping by name or full sequence, optional
        Replace nominal values (disturbances: 0). An operating point brings its own parameters; these go before.
    input : mapping by name or full sequence, optional
        Given: the model is taken at this input, whether or not the state is held (`rates` tells). Left out: the input
        that holds the state is found, from the nominal one and, where that leads to none inside the bounds, from
        starts all over them; the smallest change from the nominal one where several do.
    adjust : sequence of str
        States that may be changed to reach the equilibrium (the heights of tanks that follow from one inflow).
    moving : sequence of str
        States whose rate need not be 0 (the position of a vehicle at constant speed).
    commands : bool
        Take the channels' commands (through the plant's ``allocate``) in place of its inputs.
    t : float
        Time [s], for blocks that depend on it.
    tolerance : float
        Largest rate that counts as held, relative to 1 and the sum of the magnitudes of its linear terms.

    Returns
    -------
    LinearModel

    Raises
    ------
    ValueError
        If no input holds the state, or only one outside its bounds; where the plant's `after_step` changes the state;
        for unknown names and wrong lengths.

    Notes
    -----
    The model is that of the derivative. A plant's `after_step` is not in it: what that would do to deviations (take
    away those that leave a constraint) is not modelled, so modes across a constraint are those of the free equations.
    """
    point = _point(plant, state, parameters, disturbances, t)
    slopes = Slopes(plant, commands=commands)
    x, u = point.x.copy(), slopes.nominal_input()
    if input is None:
        x, u = _held(slopes, point, _places(plant, adjust), _places(plant, moving), tolerance)
    else:
        u = np.array(pick_values(f"inputs of plant {plant.name!r}", slopes.inputs, input))
    _require_kept(slopes, point, x, u)
    local = slopes.at(point.t, x, u, point.w, point.p)
    delay = 0.0 if plant.input_delay is None else float(point.p[plant.index("parameters", plant.input_delay)])
    return LinearModel(
        local.A, local.B, local.E, local.C, local.D, local.F,
        state=x, input=u, output=local.output, rates=local.rates, delay=delay,
        states=tuple(q.name for q in plant.states),
        inputs=tuple(q.name for q in slopes.inputs),
        disturbances=tuple(q.name for q in plant.disturbances),
        outputs=tuple(q.name for q in plant.measurements),
    )  # fmt: skip


@dataclass(frozen=True)
class _Point:
    t: float
    x: Array
    w: Array
    p: Array


def _point(plant: Plant, state: Any, parameters: Given, disturbances: Given, t: float) -> _Point:
    if isinstance(state, str):
        known = {point.name: point for point in plant.operating_points}
        if state not in known:
            raise ValueError(unknown("operating point", state, tuple(known)))
        state = known[state]
    if isinstance(state, OperatingPoint):
        base = plant.values("parameters", state.parameters)
        pairs = zip(plant.parameters, base, strict=True)
        moved = tuple(replace(q, nominal=value) for q, value in pairs)
        p = pick_values(f"parameters of plant {plant.name!r}", moved, parameters)
        state = state.state
    else:
        p = plant.values("parameters", parameters)
    at_rest = tuple(replace(q, nominal=q.rest) for q in plant.disturbances)
    w = pick_values(f"disturbances of plant {plant.name!r}", at_rest, disturbances)
    return _Point(t, np.array(plant.start(state, p)[0]), np.array(w), np.array(p))


def _require_kept(slopes: Slopes, point: _Point, x: Array, u: Array) -> None:
    plant, held = slopes.plant, tuple(u.tolist())
    if slopes.commands:
        held = allocate_inputs(plant, point.t, tuple(x.tolist()), held, tuple(point.p.tolist()))
    changed = changes(plant, point.t, x, held, point.w, point.p)
    if changed:
        raise ValueError(
            f"after_step of plant {plant.name!r} changes the state about which it is linearised: {changed}. A linear "
            "model knows nothing of impacts and projections: choose a state that after_step leaves as it is"
        )


def _places(plant: Plant, labels: Sequence[str]) -> list[int]:
    return [plant.index("states", label) for label in labels]


def _held(slopes: Slopes, point: _Point, adjust: list[int], moving: list[int], tolerance: float) -> tuple[Array, Array]:
    """State and input at which all rates but those of `moving` states vanish."""
    held = [k for k in range(len(point.x)) if k not in moving]
    search = _Search(slopes, point, adjust, held, tolerance)
    first = search.newton(point.x, slopes.nominal_input())
    if search.rests(first) and not _outside(slopes, first.u, tolerance):
        return first.x, first.u
    ends = search.ends()
    found = search.nearest(ends)
    if found is None:
        _refuse(search, first, ends)
    return found.x, found.u


@dataclass(frozen=True)
class _Reached:
    x: Array
    u: Array
    local: Local


_SHUT = 1e-9  # residual of a constraint that counts as 0


@dataclass(frozen=True)
class _Search:
    """Newton's method (least squares) for the rates of `held` states, from one start or from many."""

    slopes: Slopes
    point: _Point
    adjust: list[int]
    held: list[int]
    tolerance: float

    def local(self, x: Array, u: Array) -> Local:
        return self.slopes.at(self.point.t, x, u, self.point.w, self.point.p)

    def rests(self, reached: _Reached) -> bool:
        shut = not self.adjust or np.abs(reached.local.residuals).max(initial=0.0) <= _SHUT
        return bool(np.all(self.excess(reached) <= 0.0) and shut)

    def left(self, local: Local) -> Array:
        """What has to vanish: the rates; where states are adjusted also what they miss the constraints by."""
        rates = local.rates[self.held]
        return np.append(rates, local.residuals) if self.adjust and local.residuals.size else rates

    def slopes_of_left(self, local: Local) -> Array:
        """Slopes of :meth:`left` by the inputs and the adjusted states."""
        rows = np.hstack([local.B[self.held], local.A[self.held][:, self.adjust]])
        if self.adjust and local.residuals.size:
            free = np.zeros((len(local.residuals), local.B.shape[1]))
            rows = np.vstack([rows, np.hstack([free, local.G[:, self.adjust]])])
        return rows

    def excess(self, reached: _Reached) -> Array:
        return np.asarray(_excess(reached.local, reached.x, reached.u, self.tolerance)[self.held], float)

    def newton(self, x: Array, u: Array, limits: tuple[Array, Array] | None = None) -> _Reached:
        """Where the method ends; with `limits` of what may change (inputs, then states) it does not leave them."""
        now = _Reached(x.copy(), u.copy(), self.local(x, u))
        for _ in range(_ROUNDS):
            if self.rests(now) or not np.isfinite(now.local.rates).all():
                break
            jacobian = self.slopes_of_left(now.local)
            if not np.isfinite(jacobian).all() or not jacobian.size:
                break
            change = np.asarray(np.linalg.lstsq(jacobian, -self.left(now.local), rcond=None)[0], float)
            step = self._shortened(now, change, limits)
            if step is None:
                break
            now = step
        return now

    def _shortened(self, now: _Reached, change: Array, limits: tuple[Array, Array] | None) -> _Reached | None:
        """The step along `change`, halved until the rates become smaller; None where they do not."""
        before, share = np.linalg.norm(self.left(now.local)), 1.0
        free = np.append(now.u, now.x[self.adjust])
        for _ in range(_HALVINGS):
            moved = free + share * change
            x, u = self._placed(moved if limits is None else np.clip(moved, *limits))
            new = self.local(x, u)
            if np.linalg.norm(self.left(new)) < before:  # false for NaN
                return _Reached(x, u, new)
            share *= 0.5
        return None

    def _placed(self, free: Array) -> tuple[Array, Array]:
        """State and input from what may change: the inputs, then the adjusted states."""
        n_u = len(self.slopes.inputs)
        x = self.point.x.copy()
        x[self.adjust] = free[n_u:]
        return x, free[:n_u].copy()

    def nearest(self, ends: Sequence[_Reached]) -> _Reached | None:
        """The rest among `ends` that is nearest to the nominal input; None where there is none."""
        found = [reached for reached in ends if self.rests(reached)]
        if not found:
            return None
        limits, usual = self._limits(), np.append(self.slopes.nominal_input(), self.point.x[self.adjust])
        width = limits[1] - limits[0]
        return min(found, key=lambda r: float(np.abs((np.append(r.u, r.x[self.adjust]) - usual) / width).max()))

    def ends(self) -> list[_Reached]:
        """Where the method ends inside the bounds, from the best starts."""
        limits = self._limits()
        free = starts(*limits)
        if not len(free):
            return []
        n_u = len(self.slopes.inputs)
        many = np.repeat(self.point.x[:, None], free.shape[1], axis=1)
        many[self.adjust] = free[n_u:]
        with np.errstate(all="ignore"):  # a model need not hold everywhere
            best = fewest_left(self.local(many, free[:n_u]).rates[:, self.held])
        return [self.newton(*self._placed(free[:, k]), limits) for k in best]

    def _limits(self) -> tuple[Array, Array]:
        quantities = [*self.slopes.inputs, *(self.slopes.plant.states[k] for k in self.adjust)]
        return bounds(quantities, np.append(self.slopes.nominal_input(), self.point.x[self.adjust]))


def _excess(local: Local, x: Array, u: Array, tolerance: float) -> Array:
    """How far each rate is above what rounding of its terms explains."""
    size = 1.0 + np.abs(local.A) @ np.abs(x) + np.abs(local.B) @ np.abs(u)
    return np.where(np.isfinite(local.rates), np.abs(local.rates) - tolerance * size, np.inf)


def _outside(slopes: Slopes, u: Array, tolerance: float) -> list[int]:
    """Places of the inputs that are outside their bounds."""
    slack = tolerance * (1.0 + np.abs(u))
    inside = [q.low - s <= value <= q.high + s for q, value, s in zip(slopes.inputs, u, slack, strict=True)]
    return [k for k, holds in enumerate(inside) if not holds]


def _refuse(search: _Search, first: _Reached, ends: Sequence[_Reached]) -> NoReturn:
    """Say what is left of the rates where the least is, or by which input outside its bounds the state is held."""
    slopes, plant = search.slopes, search.slopes.plant

    def at(reached: _Reached) -> str:
        return ", ".join(f"{q.name} = {v:.6g} {q.unit}".rstrip() for q, v in zip(plant.states, reached.x, strict=True))

    if search.rests(first):
        k = _outside(slopes, first.u, search.tolerance)[0]
        quantity, value = slopes.inputs[k], first.u[k]
        raise ValueError(
            f"plant {plant.name!r} is held at {at(first)} only by {quantity.name} = {value:.6g} {quantity.unit}, "
            f"outside its bounds [{quantity.low:g}, {quantity.high:g}]"
        )
    finite = [reached for reached in (first, *ends) if np.isfinite(reached.local.rates).all()]
    least = min(finite or [first], key=lambda reached: float(search.excess(reached).max()))
    left = [
        f"{plant.states[k].name}: {least.local.rates[k]:.6g} {plant.states[k].unit}/s"
        for k, above in zip(search.held, search.excess(least), strict=True)
        if above > 0.0
    ]
    inputs = ", ".join(f"{q.name} = {v:.6g} {q.unit}".rstrip() for q, v in zip(slopes.inputs, least.u, strict=True))
    raise ValueError(
        f"no input holds plant {plant.name!r} at {at(least)}{f'; the best is {inputs}' if inputs else ''}; "
        f"rates that remain: {', '.join(left)}. Use a state with "
        "zero rates, name states that may move on in moving=(...) or that may be changed in adjust=(...), or give "
        "the input"
    )
