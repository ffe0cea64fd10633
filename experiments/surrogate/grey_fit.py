"""A registered plant's parameters fitted to runs: a grey-box model, equations known, numbers not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares

import plants
from experiments.runtime.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from experiments.surrogate.runs import Run
    from plants import Plant

    Array = NDArray[np.float64]

_BAD = 1e3  # residual of a run that diverges
_REACH = 100.0  # parameters are searched within this factor of their nominal values
_SLOPE = 1e-4  # relative step of the difference quotients: far above the rounding of a simulation


@dataclass(frozen=True, eq=False)
class GreyFit:
    """A plant with fitted parameters, and the root mean square of its outputs' error as a share of their spread."""

    plant: Plant
    values: dict[str, float]
    error: float


def fit(model: Plant, names: Sequence[str], runs: Sequence[Run], like: Plant, step: float) -> GreyFit:
    """Fit parameters of `model` to runs of a plant with the outputs of `like`.

    Parameters
    ----------
    model : Plant
        Has all of these outputs among its measurements, and the same number of inputs.
    names : sequence of str
        Parameters to fit; the others keep their nominal values.
    runs : sequence of Run
    like : Plant
    step : float
        [s].
    """
    check(model, names, like)
    places = [model.index("measurements", q.name) for q in like.measurements]
    every = np.concatenate([run.outputs for run in runs])
    spread = np.maximum(every.std(axis=0), 1e-12)
    nominal = np.array([model.nominal()[model.index("parameters", name)] for name in names])

    def residual(share: Array) -> Array:
        values = dict(zip(names, (share * nominal).tolist(), strict=True))
        return np.concatenate([_error(free, run, values, places, step) / spread for run in runs]).ravel()

    free, (low, high) = _without_region(model), _bounds(model, names, nominal)
    done = least_squares(residual, np.ones(len(names)), bounds=(low, high), diff_step=_SLOPE, max_nfev=50)
    values = dict(zip(names, (done.x * nominal).tolist(), strict=True))
    return GreyFit(plants.with_parameters(model, values), values, float(np.sqrt(np.square(done.fun).mean())))


def check(model: Plant, names: Sequence[str], like: Plant) -> None:
    """Refuse a model that cannot stand for the plant."""
    for name in names:
        place = model.index("parameters", name)
        if model.parameters[place].nominal == 0.0:
            raise UserError(f"parameter {name!r} of {model.name} is 0: it needs a first value to be fitted from")
    if not names:
        raise UserError(f"say which parameters of {model.name} to fit, such as --fit {model.parameters[0].name}")
    missing = [q.name for q in like.measurements if q.name not in [m.name for m in model.measurements]]
    if missing or len(model.inputs) != len(like.inputs):
        raise UserError(
            f"the model {model.name} must have the outputs {', '.join(q.name for q in like.measurements)} and "
            f"{len(like.inputs)} inputs; it has {', '.join(q.name for q in model.measurements)} and {len(model.inputs)}"
        )
    wanted, has = [c.output for c in like.channels], [c.output for c in model.channels]
    if wanted != has:
        raise UserError(f"the model {model.name} must control {', '.join(wanted)}; its channels are {', '.join(has)}")


def _bounds(model: Plant, names: Sequence[str], nominal: Array) -> tuple[Array, Array]:
    """Shares of the nominal values that stay inside the parameters' ranges and keep their sign."""
    quantities = [model.parameters[model.index("parameters", name)] for name in names]
    ends = np.array([(q.low, q.high) for q in quantities]) / nominal[:, None]
    low, high = np.minimum(*ends.T), np.maximum(*ends.T)
    return np.maximum(low, 1.0 / _REACH), np.minimum(high, _REACH)


def _without_region(model: Plant) -> Plant:
    """The model where it does not hold, too: of an unstable plant it may leave the region a little before the plant."""
    return replace(model, states=tuple(replace(q, low=-math.inf, high=math.inf) for q in model.states))


def _error(model: Plant, run: Run, values: dict[str, float], places: Sequence[int], step: float) -> Array:
    n = len(run.inputs)
    try:
        found = plants.simulate(model, n * step, step, parameters=values, inputs=run.inputs)
    except plants.DivergedError:
        return np.full_like(run.outputs, _BAD)
    return np.asarray(found.outputs[:, places] - run.outputs)
