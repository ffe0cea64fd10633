"""What the numbers of a part must be."""

from __future__ import annotations

import math
from numbers import Real


def check_finite(name: str, **values: float) -> None:
    """Raise ValueError naming the part `name` and the value that is no finite number."""
    for label, value in values.items():
        if not isinstance(value, Real) or not math.isfinite(value):
            message = f"{name}: {label} must be a finite number, got {value!r}"
            raise ValueError(message)


def check_positive(name: str, **values: float) -> None:
    """Raise ValueError naming the part `name` and the value that is no finite number above 0."""
    check_finite(name, **values)
    for label, value in values.items():
        if value <= 0.0:
            message = f"{name}: {label} must be positive, got {value!r}"
            raise ValueError(message)
