"""What happens to a linear plant of two states from one row of a log to the next, its input held and late.

Structures (:mod:`plants.identification.two_lags`, :mod:`plants.identification.oscillating`) differ in their exact step
over a held input; all else is here. The states are an inner one and the output y; inputs and loads enter as v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from plants.core import elementary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

DISTURBANCES = ("noise", "load", "walk", "load_time", "curve")
"""Parameters that all structures end with: standard deviation of the sensor noise [y], of the coloured load [u], of the
walking load's steps [u/sqrt(s)], the coloured load's time [s], and the curve of the input's characteristic [1/u]."""

DYNAMICS = 3
"""How many parameters all structures begin with, before the dead time: their steps depend on these alone."""

Coefficients = tuple[Any, Any, Any, Any, Any, Any]
"""Of a step: what the inner state and y give to the inner state, then to y, and what a held v gives to both."""

Spans = tuple[float, float]
"""Of the output and of the input: what is vague at the start of a log is so in hundredths of them."""

PER_CENT: Spans = (100.0, 100.0)

_SIXTH = 1.0 / 6.0
_SMALL_CURVE = 1e-5  # of curve times input, below which it is told by its series


def curved(u: Any, curve: Any, inverse: Any = None) -> Any:
    """Return phi of deviations from the middle of the input: (exp(curve u) - 1) / curve, u itself without a curve.

    Of arrays, and of the traced numbers of a kernel. With `inverse`, 1 / curve, a kernel is spared a division.
    """
    bend = curve * u
    small = _SMALL_CURVE - elementary.abs(bend)
    series = u * (1.0 + bend * (0.5 + bend * _SIXTH))
    whole = elementary.exp(bend) - 1.0
    steep = whole * inverse if inverse is not None else whole / elementary.where(small, 1.0, curve)
    return elementary.where(small, series, steep)


@dataclass(frozen=True, eq=False)
class ExactStep:
    """What a step of some length does to (inner, y) while v is held: states [n, 2, 2], input [n, 2]."""

    states: Array
    input: Array

    @classmethod
    def of(cls, structure: PlantStructure, parameters: Array, h: Array | float) -> ExactStep:
        """Return it for parameters [n, n_parameters] over `h` seconds, one for all or [n]."""
        x_x, x_y, y_x, y_y, x_v, y_v = structure.coefficients(tuple(parameters[:, :DYNAMICS].T), h)
        return cls(np.stack([[x_x, x_y], [y_x, y_y]]).transpose(2, 0, 1), np.stack([x_v, y_v], axis=1))


@dataclass(frozen=True, eq=False)
class StartOfLog:
    """What is known of the inner state before the first row [n].

    Attributes
    ----------
    share : array [n]
        Of phi(u) of the first row in it.
    variance, shared : array [n]
        Its variance, and its covariance with the walking load.
    """

    share: Array
    variance: Array
    shared: Array


class PlantStructure(Protocol):
    """A family of plants with two states."""

    name: str
    parameters: tuple[str, ...]

    def __hash__(self) -> int:
        """Kernels are kept by structure."""

    def coefficients(self, dynamics: Sequence[Any], h: Any) -> Coefficients:
        """Return what a step over `h` seconds does, of arrays and of traced numbers; of the first parameters."""

    def equations(self, parameters: Array) -> tuple[Array, Array]:
        """Return A [2, 2] and b [2] of (inner, y)' = A (inner, y) + b v for one parameter set [n_parameters]."""

    def times(self, parameters: Array) -> tuple[Array, Array]:
        """Return the slow lag and what is as good as dead time [n] [s]; infinite lags of integrators stay so."""

    def start(self, parameters: Array, spans: Spans) -> StartOfLog:
        """Return what is known of the inner state at the start."""

    def dead_time(self, parameters: Array) -> Array:
        """Return the dead time [n] [s]."""


@dataclass(frozen=True, eq=False)
class Row:
    """A row, for parameter sets [n].

    With dead time (rows + part) step the input of `rows + 1` rows before acts for the first `part` of the row, that of
    `rows` before for the rest.

    Attributes
    ----------
    whole : ExactStep
        Of the whole row: for loads.
    rows : array of int [n]
    before, after : array [n, 2]
        What the two inputs in force give to (inner, y).
    fading : array [n]
        Of the coloured load.
    """

    whole: ExactStep
    rows: NDArray[np.intp]
    before: Array
    after: Array
    fading: Array

    @classmethod
    def of(cls, structure: PlantStructure, parameters: Array, step: float) -> Row:
        """Return it for parameters [n, n_parameters]."""
        dead = structure.dead_time(parameters)
        rows = np.floor(dead / step).astype(np.intp)
        part = dead - rows * step
        # All three at once: of a few parameter sets Python's own time is most of it.
        steps = np.concatenate([part, step - part, np.full_like(part, step)])
        all_three = ExactStep.of(structure, np.tile(parameters, (3, 1)), steps)
        parts = zip(all_three.states.reshape(3, -1, 2, 2), all_three.input.reshape(3, -1, 2), strict=True)
        early, late, whole = (ExactStep(*one) for one in parts)
        return cls(
            whole=whole,
            rows=rows,
            before=np.einsum("nij,nj->ni", late.states, early.input),
            after=late.input,
            fading=np.exp(-step / column(structure, parameters, "load_time")),
        )


def column(structure: PlantStructure, parameters: Array, name: str) -> Array:
    """Return one parameter [n] of parameters [n, n_parameters]."""
    return np.asarray(parameters[:, structure.parameters.index(name)])
