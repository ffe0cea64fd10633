"""Plain data, as JSON has it: texts, finite numbers, truth values, lists and mappings with texts as keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any


def plain(value: Any, what: str) -> Any:
    """Return `value` as plain data: mappings as dicts, sequences and arrays as lists, NumPy's numbers as Python's.

    Parameters
    ----------
    value : object
    what : str
        What it is, for the message.

    Raises
    ------
    ValueError
        For a number that is not finite or an object that is no plain data, naming its place.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Mapping):
        return {_key(key, what): plain(item, f"{what}[{key!r}]") for key, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist(), what)
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{what}[{number}]") for number, item in enumerate(value)]
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _finite(float(value), what)
    raise ValueError(f"{what} must be plain data (text, number, list, mapping), got {type(value).__name__}")


def _key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"keys of {what} must be texts, got {key!r}")  # noqa: TRY004  (the caller's value, not its type)
    return key


def _finite(number: float, what: str) -> float:
    if not math.isfinite(number):
        raise ValueError(f"{what} must be a finite number, got {number}; use null (None) for a value that is not known")
    return number
