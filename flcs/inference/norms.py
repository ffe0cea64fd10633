"""Fuzzy conjunction and disjunction as blocks.

A t-norm (AND) has 1 as its identity, an s-norm (OR) has 0; both are commutative, associative and monotone.
Source: E. P. Klement, R. Mesiar and E. Pap, Triangular Norms (Kluwer, 2000), sec. 1.1 and 1.4.
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


def probabilistic_sum(a: Number, b: Number) -> Number:
    """Probabilistic sum s-norm a + b - a b, the dual of the product."""
    return a + b - a * b


def maximum(a: Number, b: Number) -> Number:
    """Maximum s-norm max(a, b), the dual of the minimum."""
    return elementary.maximum(a, b)


T_NORMS: dict[str, Norm] = {"product": product, "minimum": minimum}
S_NORMS: dict[str, Norm] = {"probabilistic_sum": probabilistic_sum, "maximum": maximum}


def t_norm(name: str) -> Norm:
    """Return the t-norm called `name`; ValueError with the near miss if there is none."""
    return _find("t-norm", name, T_NORMS)


def s_norm(name: str) -> Norm:
    """Return the s-norm called `name`; ValueError with the near miss if there is none."""
    return _find("s-norm", name, S_NORMS)


def _find(what: str, name: str, known: dict[str, Norm]) -> Norm:
    if name not in known:
        raise ValueError(unknown(what, str(name), tuple(known)))
    return known[name]
