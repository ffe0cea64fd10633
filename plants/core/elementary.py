"""Elementary functions for blocks: on floats, NumPy arrays and traced numbers alike.

A block imports its functions from here and nowhere else. With floats they are `math`'s (IEEE results instead of
exceptions), with arrays NumPy's, with traced numbers nodes of the tape, which the compiled kernels evaluate by the
branch-free forms of :mod:`plants.core.elementary_kernels` (range and error bound of each are given there).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.tracing import scalar
from plants.core.tracing.tape import Traced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Number = Any  # float, ndarray or Traced: blocks are generic in it

__all__ = [
    "abs", "acos", "asin", "atan2", "clip", "cos", "exp", "floor", "log", "maximum", "minimum", "pow", "quotient",
    "sign", "sin", "sqrt", "table1d", "table2d", "tan", "tanh", "where",
]  # fmt: skip


def _apply(name: str, array: Callable[..., Any], *values: Number) -> Number:
    for value in values:
        if isinstance(value, Traced):
            return value.tape.apply(name, *values)
    for value in values:
        if isinstance(value, np.ndarray):
            with np.errstate(all="ignore"):
                return array(*values)
    return scalar.OPERATIONS[name](*values)


def sin(x: Number) -> Number:
    """Sine of an angle [rad]."""
    return _apply("sin", np.sin, x)


def cos(x: Number) -> Number:
    """Cosine of an angle [rad]."""
    return _apply("cos", np.cos, x)


def tan(x: Number) -> Number:
    """Tangent of an angle [rad]."""
    return _apply("tan", np.tan, x)


def asin(x: Number) -> Number:
    """Arc sine [rad]; NaN outside [-1, 1]."""
    return _apply("asin", np.arcsin, x)


def acos(x: Number) -> Number:
    """Arc cosine [rad]; NaN outside [-1, 1]."""
    return _apply("acos", np.arccos, x)


def atan2(y: Number, x: Number) -> Number:
    """Angle of the point (x, y) [rad], in (-pi, pi]."""
    return _apply("atan2", np.arctan2, y, x)


def exp(x: Number) -> Number:
    """Exponential."""
    return _apply("exp", np.exp, x)


def log(x: Number) -> Number:
    """Natural logarithm; minus infinity at 0, NaN below."""
    return _apply("log", np.log, x)


def sqrt(x: Number) -> Number:
    """Square root; NaN below 0."""
    return _apply("sqrt", np.sqrt, x)


def tanh(x: Number) -> Number:
    """Hyperbolic tangent."""
    return _apply("tanh", np.tanh, x)


def pow(x: Number, y: Number) -> Number:  # noqa: A001  (the field's name)
    """`x` to the power `y`; NaN for a negative base with a fractional exponent."""
    if isinstance(x, Traced) and not isinstance(y, Traced):
        return x**y  # small constant exponents become products
    return _apply("pow", np.power, x, y)


def abs(x: Number) -> Number:  # noqa: A001  (the field's name)
    """Magnitude."""
    return _apply("abs", np.abs, x)


def quotient(a: Number, b: Number) -> Number:
    """`a` / `b` for a divisor that is far from 0 and finite, as a mass or a pivot is: faster in lanes than ``a / b``.

    In lanes within 1.51 ulp for 1e-300 <= abs(b) <= 1e300, and possibly NaN or infinite outside.
    """
    return _apply("quotient", np.divide, a, b)


def sign(x: Number) -> Number:
    """1, 0 or -1."""
    return _apply("sign", np.sign, x)


def floor(x: Number) -> Number:
    """Largest integer not above `x`, as a float."""
    return _apply("floor", np.floor, x)


def where(condition: Number, a: Number, b: Number) -> Number:
    """`a` where `condition` > 0, else `b` (also where the condition is NaN). Both are always evaluated."""
    return _apply("where", lambda c, x, y: np.where(np.greater(c, 0.0), x, y), condition, a, b)


def minimum(a: Number, b: Number) -> Number:
    """`a` if a < b, else `b`: `b` where either is NaN."""
    return _apply("minimum", lambda x, y: np.where(np.less(x, y), x, y), a, b)


def maximum(a: Number, b: Number) -> Number:
    """`a` if a > b, else `b`: `b` where either is NaN."""
    return _apply("maximum", lambda x, y: np.where(np.greater(x, y), x, y), a, b)


def clip(x: Number, low: Number, high: Number) -> Number:
    """`x` limited to [low, high]; `low` where `x` is NaN."""
    return minimum(maximum(x, low), high)


def table1d(x: Number, nodes: Sequence[float], values: Sequence[Number]) -> Number:
    """Piecewise linear interpolation, constant outside.

    Parameters
    ----------
    x : number
        Where to read.
    nodes : sequence of float [n], strictly increasing
    values : sequence of number [n]

    Returns
    -------
    number
        The first value where `x` is NaN.
    """
    _check_nodes(nodes, len(values))
    result = values[0]
    for k in range(len(nodes) - 1):
        width = nodes[k + 1] - nodes[k]
        result = result + (values[k + 1] - values[k]) * (clip(x - nodes[k], 0.0, width) * (1.0 / width))
    return result


def table2d(
    x: Number, y: Number, x_nodes: Sequence[float], y_nodes: Sequence[float], values: Sequence[Sequence[Number]]
) -> Number:
    """Bilinear interpolation of `values` [n_x][n_y], constant outside."""
    _check_nodes(x_nodes, len(values))
    return table1d(x, x_nodes, [table1d(y, y_nodes, row) for row in values])


def _check_nodes(nodes: Sequence[float], n_values: int) -> None:
    if len(nodes) != n_values or n_values < 1:
        raise ValueError(f"a table needs as many values as nodes, got {len(nodes)} nodes and {n_values} values")
    if any(right <= left for left, right in pairwise(nodes)):
        raise ValueError(f"table nodes must increase strictly, got {tuple(nodes)}")
