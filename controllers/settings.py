"""Checks of settings where a user gives them: what was expected, what came, what to do."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def one_of(what: str, value: str, known: Sequence[str]) -> str:
    """Return `value` if it is among `known`, else raise ValueError with the near miss."""
    if value not in known:
        raise ValueError(unknown(what, str(value), known))
    return value


def finite(what: str, value: float) -> float:
    """Return `value` as a finite float, or raise ValueError."""
    number = float(value)
    if not math.isfinite(number):
        message = f"{what} must be a finite number, got {value}"
        raise ValueError(message)
    return number


def positive(what: str, value: float, hint: str = "") -> float:
    """Return `value` as a finite float above 0, or raise ValueError."""
    number = finite(what, value)
    if number <= 0.0:
        message = f"{what} must be positive, got {value}" + (f"; {hint}" if hint else "")
        raise ValueError(message)
    return number


def optional_positive(what: str, value: float | None) -> float | None:
    """Return None for None, else what :func:`positive` returns."""
    return None if value is None else positive(what, value, "use None to switch it off")


def interval(what: str, value: Iterable[float]) -> tuple[float, float]:
    """Return `value` as (low, high) with low < high; infinite ends are allowed."""
    try:
        ends = tuple(float(end) for end in value)
    except TypeError:
        message = f"{what} must be two numbers (low, high), got {value!r}; use -inf or inf for an open end"
        raise TypeError(message) from None
    if len(ends) != 2 or not ends[0] < ends[1]:
        message = f"{what} must be (low, high) with low < high, got {ends}; use -inf or inf for an open end"
        raise ValueError(message)
    return ends[0], ends[1]


def increasing(what: str, values: Iterable[float]) -> tuple[float, ...]:
    """Return `values` as a tuple of finite, strictly increasing floats with at least one entry."""
    numbers = tuple(finite(what, value) for value in values)
    if not numbers or any(right <= left for left, right in pairwise(numbers)):
        message = f"{what} must increase strictly and have at least one entry, got {numbers}"
        raise ValueError(message)
    return numbers


def distinct(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return `names` as a tuple of at least one name, all different."""
    if isinstance(names, str):
        message = f'{what} must be a tuple of names, got the string {names!r}; write ("{names}",)'
        raise TypeError(message)
    result = tuple(names)
    if not result or len(set(result)) != len(result):
        message = f"{what} must be different names, at least one, got {result}"
        raise ValueError(message)
    return result
