"""Traced numbers for functions that were written for NumPy: ``np.sin(x[0])``, ``A @ x``, ``np.array([...])``.

NumPy computes with arrays of objects by their operators, and calls ``sin`` of an array of objects as the method ``sin``
of each. So other people's functions of arrays can be traced as long as they compute and do not decide.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plants.core.tracing.tape import SymbolicNumber, Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OF_ONE = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "exp": "exp", "log": "log",
    "sqrt": "sqrt", "tanh": "tanh", "absolute": "abs", "fabs": "abs", "sign": "sign", "floor": "floor",
}  # fmt: skip


class NumpyNumber(SymbolicNumber):
    """A traced number that stands in an array of objects."""

    __slots__ = ("traced",)
    CONVERTED: ClassVar[str] = "keep it in a list or in an array that is made of such numbers"

    def __init__(self, traced: Traced) -> None:
        self.traced = traced

    def __pos__(self) -> NumpyNumber:
        return self

    def __neg__(self) -> NumpyNumber:
        return NumpyNumber(-self.traced)

    def __abs__(self) -> NumpyNumber:
        return NumpyNumber(abs(self.traced))

    def conjugate(self) -> NumpyNumber:
        """Return the number: it is real."""
        return self

    def square(self) -> NumpyNumber:
        """Return the square."""
        return NumpyNumber(self.traced * self.traced)

    def arctan(self) -> NumpyNumber:
        """Return the arc tangent [rad]."""
        return NumpyNumber(self.traced.tape.apply("atan2", self.traced, 1.0))

    def arctan2(self, other: object) -> NumpyNumber:
        """Return the angle of the point (other, self) [rad]."""
        return NumpyNumber(self.traced.tape.apply("atan2", self.traced, _plain(other)))


def _plain(value: object) -> Any:
    return value.traced if isinstance(value, NumpyNumber) else value


def _operator(name: str) -> Callable[[NumpyNumber, object], Any]:
    def operator(self: NumpyNumber, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy does it element by element
        return NumpyNumber(getattr(self.traced, name)(_plain(other)))

    operator.__name__ = name
    return operator


def _function(operation: str) -> Callable[[NumpyNumber], NumpyNumber]:
    return lambda self: NumpyNumber(self.traced.tape.apply(operation, self.traced))


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"):
    setattr(NumpyNumber, f"__{_name}__", _operator(f"__{_name}__"))
for _name, _operation in _OF_ONE.items():
    setattr(NumpyNumber, _name, _function(_operation))


def as_array(values: Sequence[Any]) -> np.ndarray:
    """Return numbers as a function written for NumPy takes them: an array of floats, or of traced numbers."""
    if not any(isinstance(value, Traced) for value in values):
        return np.array(values, float)
    array = np.empty(len(values), object)
    array[:] = [NumpyNumber(value) if isinstance(value, Traced) else float(value) for value in values]
    return array


def as_number(value: Any) -> Any:
    """Return one number as such a function takes it."""
    return NumpyNumber(value) if isinstance(value, Traced) else float(value)


def as_numbers(result: Any, size: int, what: str) -> tuple[Any, ...]:
    """Return what such a function gave as a tuple of `size` numbers.

    Raises
    ------
    ValueError
        If it gave another number of them.
    """
    flat = np.ravel(np.asarray(result, object))
    if len(flat) != size:
        raise ValueError(f"{what} must return {size} numbers, got {len(flat)}")
    return tuple(_plain(value) if isinstance(value, NumpyNumber) else float(value) for value in flat)


def point_by_point(block: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Return a block of floats and traced numbers that takes arrays as well, one point after the other."""

    def pointwise(t: Any, *tuples: Any) -> tuple[Any, ...]:
        numbers = [t, *(value for part in tuples for value in part)]
        if not any(isinstance(value, np.ndarray) and value.ndim for value in numbers):
            return block(t, *tuples)
        points = np.stack([a.astype(float) for a in np.broadcast_arrays(*numbers)], axis=-1)
        sizes = np.cumsum([1, *map(len, tuples)])
        rows = [
            block(float(point[0]), *(tuple(map(float, point[a:b])) for a, b in pairwise(sizes)))
            for point in points.reshape(-1, points.shape[-1])
        ]
        return tuple(np.reshape(column, points.shape[:-1]) for column in zip(*rows, strict=True))

    return pointwise


__all__ = ["NumpyNumber", "as_array", "as_number", "as_numbers", "point_by_point"]
