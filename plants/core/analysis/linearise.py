"""A plant about one of its states: the input that holds it, and the matrices of the linear model there.

All slopes are the tape's forward-mode derivatives of the blocks: exact up to rounding, without a step size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.slopes import Slopes, changes
from plants.core.blocks import allocate_inputs
from plants.core.names import pick_values, position, unknown
from plants.core.quantities import OperatingPoint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
        that holds the state is found, the smallest change from the nominal one where several do.
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
    return _Point(t, np.array(plant.values("states", state)), np.array(w), np.array(p))


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
    """State and input at which all rates but those of `moving` states vanish, by Newton's method (least squares)."""
    held = [k for k in range(len(point.x)) if k not in moving]
    x, u = point.x.copy(), slopes.nominal_input()

    def local(x: Array, u: Array) -> Local:
        return slopes.at(point.t, x, u, point.w, point.p)

    now = local(x, u)
    for _ in range(_ROUNDS):
        excess = _excess(now, x, u, tolerance)[held]
        if np.all(excess <= 0.0) or not np.isfinite(now.rates).all():
            break
        jacobian = np.hstack([now.B[held], now.A[held][:, adjust]])
        if not np.isfinite(jacobian).all() or not jacobian.size:
            break
        change: Array = np.asarray(np.linalg.lstsq(jacobian, -now.rates[held], rcond=None)[0], float)
        step = _shortened(local, x, u, change, adjust, held, now)
        if step is None:
            break
        x, u, now = step
    _require_held(slopes, now, x, u, held, tolerance)
    return x, u


def _shortened(
    local: Callable[[Array, Array], Local],
    x: Array,
    u: Array,
    change: Array,
    adjust: list[int],
    held: list[int],
    now: Local,
) -> tuple[Array, Array, Local] | None:
    """The step along `change`, halved until the rates become smaller; None where they do not."""
    before, share = np.linalg.norm(now.rates[held]), 1.0
    for _ in range(_HALVINGS):
        x_new, u_new = x.copy(), u + share * change[: len(u)]
        x_new[adjust] += share * change[len(u) :]
        new = local(x_new, u_new)
        if np.linalg.norm(new.rates[held]) < before:  # false for NaN
            return x_new, u_new, new
        share *= 0.5
    return None


def _excess(local: Local, x: Array, u: Array, tolerance: float) -> Array:
    """How far each rate is above what rounding of its terms explains."""
    size = 1.0 + np.abs(local.A) @ np.abs(x) + np.abs(local.B) @ np.abs(u)
    return np.where(np.isfinite(local.rates), np.abs(local.rates) - tolerance * size, np.inf)


def _require_held(slopes: Slopes, local: Local, x: Array, u: Array, held: list[int], tolerance: float) -> None:
    plant = slopes.plant
    where = ", ".join(f"{q.name} = {value:.6g} {q.unit}" for q, value in zip(plant.states, x, strict=True))
    excess = _excess(local, x, u, tolerance)[held]
    if np.any(excess > 0.0):
        left = [
            f"{plant.states[k].name}: {local.rates[k]:.6g} {plant.states[k].unit}/s"
            for k, above in zip(held, excess, strict=True)
            if above > 0.0
        ]
        raise ValueError(
            f"no input holds plant {plant.name!r} at {where}; rates that remain: {', '.join(left)}. Use a state with "
            "zero rates, name states that may move on in moving=(...) or that may be changed in adjust=(...), or give "
            "the input"
        )
    for quantity, value in zip(slopes.inputs, u, strict=True):
        slack = tolerance * (1.0 + abs(value))
        if not quantity.low - slack <= value <= quantity.high + slack:
            raise ValueError(
                f"plant {plant.name!r} is held at {where} only by {quantity.name} = {value:.6g} {quantity.unit}, "
                f"outside its bounds [{quantity.low:g}, {quantity.high:g}]"
            )
