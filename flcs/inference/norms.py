"""Fuzzy conjunction (AND) as blocks: t-norms have 1 as their identity, and are commutative, associative and monotone.

Source: E. P. Klement, R. Mesiar and E. Pap, Triangular Norms (Kluwer, 2000), sec. 1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core import elementary
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    Number = Any  # float, NumPy array or traced number
    Norm = Callable[[Number, Number], Number]


def product(a: Number, b: Number) -> Number:
    """Product t-norm a b."""
    return a * b


def minimum(a: Number, b: Number) -> Number:
    """Minimum t-norm min(a, b)."""
    return elementary.minimum(a, b)


T_NORMS: dict[str, Norm] = {"product": product, "minimum": minimum}


def t_norm(name: str) -> Norm:
    """Return the t-norm called `name`; ValueError with the near miss if there is none."""
    if name not in T_NORMS:
        raise ValueError(unknown("t-norm", str(name), tuple(T_NORMS)))
    return T_NORMS[name]
