"""Types of Structured Text in the interpreter: rounding, arithmetic, standard functions.

A REAL has single precision: every operation is evaluated in double precision and rounded. For sums, products, quotients
and square roots that is the correctly rounded result, since double precision has more than twice the digits and two.
Elementary functions are ``math``'s, rounded.
"""

from __future__ import annotations

import math
import operator
from ctypes import c_float
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

REALS = ("LREAL", "REAL")
INTEGERS = {
    "SINT": (-(2**7), 2**7 - 1), "INT": (-(2**15), 2**15 - 1), "DINT": (-(2**31), 2**31 - 1),
    "LINT": (-(2**63), 2**63 - 1), "USINT": (0, 2**8 - 1), "UINT": (0, 2**16 - 1), "UDINT": (0, 2**32 - 1),
    "ULINT": (0, 2**64 - 1),
}  # fmt: skip
LITERALS = {"real": "any real", "int": "any integer"}
"""Types of constants: they take the type of what they meet."""


def single(x: float) -> float:
    """Round to single precision; what is too large becomes infinite."""
    return c_float(x).value


def divide(a: float, b: float) -> float:
    """Quotient by IEEE rules."""
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)  # noqa: PLR0124


def _total(function: Callable[[float], float]) -> Callable[[float], float]:
    def total(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if function is math.log and x == 0.0 else math.nan

    return total


def _expt(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


STANDARD: dict[str, Callable[..., float]] = {
    "ABS": abs, "SQRT": _total(math.sqrt), "EXP": _total(math.exp), "LN": _total(math.log), "SIN": _total(math.sin),
    "COS": _total(math.cos), "TAN": _total(math.tan), "ASIN": _total(math.asin), "ACOS": _total(math.acos),
    "ATAN": math.atan, "EXPT": _expt,
}  # fmt: skip
REAL_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide, "**": _expt,
}  # fmt: skip
INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": lambda a, b: int(divide(a, b)), "MOD": lambda a, b: a - b * int(a / b) if b else 0,
}  # fmt: skip
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
LOGIC: dict[str, Callable[[bool, bool], bool]] = {"AND": operator.and_, "OR": operator.or_, "XOR": operator.xor}


def wrapped(kind: str, value: int) -> int:
    """Return an integer as its type holds it."""
    low, high = INTEGERS[kind]
    return (value - low) % (high - low + 1) + low


def converted(kind: str, value: float) -> float | int:
    """Return a number as another type: integers by rounding half to even, as the standard says."""
    if kind == "LREAL":
        return float(value)
    if kind == "REAL":
        return single(value)
    return wrapped(kind, round(value)) if math.isfinite(value) else 0
