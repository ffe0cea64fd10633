"""What is compiled in place of functions that numba does not know, or knows only for arrays.

Those of :mod:`plants.core.elementary` for plain numbers, with its rules for NaN, and NumPy's interpolation at one
point, which numba does by building arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary

if TYPE_CHECKING:
    from collections.abc import Callable


PLACE = __name__
"""Module of the functions that stand in."""


def _sign(x: float) -> float:
    return x if x != x else (1.0 if x > 0.0 else 0.0) - (1.0 if x < 0.0 else 0.0)  # noqa: PLR0124


def _where(condition: float, a: float, b: float) -> float:
    return a if condition > 0.0 else b


def _minimum(a: float, b: float) -> float:
    if a < b:  # min() has other rules for NaN
        return a
    return b


def _maximum(a: float, b: float) -> float:
    if a > b:
        return a
    return b


def _clip(x: float, low: float, high: float) -> float:
    return _minimum(_maximum(x, low), high)


def _quotient(a: float, b: float) -> float:
    return a / b


def _power(x: float, y: float) -> float:
    return x**y


def _table1d(x: float, nodes: Any, values: Any) -> float:
    result: float = values[0]
    for k in range(len(nodes) - 1):
        width = nodes[k + 1] - nodes[k]
        result = result + (values[k + 1] - values[k]) * (_clip(x - nodes[k], 0.0, width) * (1.0 / width))
    return result


def _table2d(x: float, y: float, x_nodes: Any, y_nodes: Any, values: Any) -> float:
    result = before = _table1d(y, y_nodes, values[0])
    for k in range(len(x_nodes) - 1):
        width = x_nodes[k + 1] - x_nodes[k]
        after = _table1d(y, y_nodes, values[k + 1])
        result = result + (after - before) * (_clip(x - x_nodes[k], 0.0, width) * (1.0 / width))
        before = after
    return result


def _interp(x: float, nodes: Any, values: Any) -> float:
    """As NumPy's C code does it for one number."""
    last = len(nodes) - 1
    if x != x or x < nodes[0] or last == 0:  # noqa: PLR0124
        return x if x != x else values[0]  # noqa: PLR0124
    if x >= nodes[last]:
        return values[last]
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= x:
            low = middle
        else:
            high = middle
    if nodes[low] == x:
        return values[low]
    slope = (values[low + 1] - values[low]) / (nodes[low + 1] - nodes[low])
    return slope * (x - nodes[low]) + values[low]


STAND_INS: dict[Any, Callable[..., float]] = {
    elementary.sin: math.sin,
    elementary.cos: math.cos,
    elementary.tan: math.tan,
    elementary.asin: math.asin,
    elementary.acos: math.acos,
    elementary.atan2: math.atan2,
    elementary.exp: math.exp,
    elementary.log: math.log,
    elementary.sqrt: math.sqrt,
    elementary.tanh: math.tanh,
    elementary.pow: _power,
    elementary.abs: abs,
    elementary.quotient: _quotient,
    elementary.sign: _sign,
    elementary.floor: np.floor,
    elementary.where: _where,
    elementary.minimum: _minimum,
    elementary.maximum: _maximum,
    elementary.clip: _clip,
    elementary.table1d: _table1d,
    elementary.table2d: _table2d,
    np.interp: _interp,
}
"""Functions by what they stand in for; divisions by 0 give infinity or NaN in them."""
