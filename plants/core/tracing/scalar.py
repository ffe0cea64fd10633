"""Each operation of the tape on plain floats: IEEE results where `math` would raise.

This is the debugger's view of a block and folds the tape's constants. A comparison with NaN is false, so `minimum`,
`maximum` and `where` return their last argument then; every printer keeps to the same rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plants.core.tracing import calls

if TYPE_CHECKING:
    from collections.abc import Callable


def _by_numpy(name: str, *values: float) -> float:
    with np.errstate(all="ignore"):
        return float(getattr(np, name)(*values))


def _total(function: Callable[..., float], name: str) -> Callable[..., float]:
    """`function` of math, with NumPy's IEEE result where math raises (log(0), exp(1000), sqrt(-1), ...)."""

    def total(*values: float) -> float:
        try:
            return function(*values)
        except (ValueError, OverflowError, ZeroDivisionError):
            return _by_numpy(name, *values)

    return total


def divide(a: float, b: float) -> float:
    """Return a / b by IEEE rules (1 / 0 is infinite)."""
    return a / b if b != 0.0 else _by_numpy("divide", a, b)


def power(a: float, b: float) -> float:
    """Return a ** b by IEEE rules; a negative base with a fractional exponent gives NaN."""
    try:
        return math.pow(a, b)
    except (ValueError, OverflowError):
        return _by_numpy("power", a, b)


def floor(a: float) -> float:
    """Return the largest integer not above `a`, as a float; -0 stays, as everywhere."""
    return math.copysign(math.floor(a), a) if math.isfinite(a) else a


def sign(a: float) -> float:
    """Return 1, 0 or -1; NaN for NaN."""
    return a if a != a else float(a > 0.0) - float(a < 0.0)  # noqa: PLR0124  (the NaN test)


def minimum(a: float, b: float) -> float:
    """Return a if a < b else b: b where either is NaN."""
    return a if a < b else b


def maximum(a: float, b: float) -> float:
    """Return a if a > b else b: b where either is NaN."""
    return a if a > b else b


def where(condition: float, a: float, b: float) -> float:
    """Return a where condition > 0, else b (also for a NaN condition)."""
    return a if condition > 0.0 else b


OPERATIONS: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": divide,
    "quotient": divide,
    "neg": lambda a: -a,
    "keep": lambda a: a,
    "sin": _total(math.sin, "sin"),
    "cos": _total(math.cos, "cos"),
    "tan": _total(math.tan, "tan"),
    "asin": _total(math.asin, "arcsin"),
    "acos": _total(math.acos, "arccos"),
    "atan2": math.atan2,
    "exp": _total(math.exp, "exp"),
    "log": _total(math.log, "log"),
    "sqrt": _total(math.sqrt, "sqrt"),
    "tanh": math.tanh,
    "pow": power,
    "abs": abs,
    "sign": sign,
    "floor": floor,
    "minimum": minimum,
    "maximum": maximum,
    "where": where,
}


def carried_out(operation: str, *values: float) -> float:
    """Return what an operation of a tape gives for plain floats."""
    known = OPERATIONS.get(operation)
    return calls.evaluate(operation, *values) if known is None else known(*values)
