"""The table of kernels: what each needs, where it holds, how exact it is; and their text."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from plants.core.elementary_kernels.bits import (
    k_abs,
    k_bits,
    k_floor,
    k_from_bits,
    k_head,
    k_quotient,
    k_ratio,
    k_sign,
    k_sqrt,
)
from plants.core.elementary_kernels.exponential import (
    k_exp,
    k_log,
    k_log_square_series,
    k_octave,
    k_octave_exp,
    k_pair_log,
    k_pow,
    k_sum_exp,
    k_tanh,
)
from plants.core.elementary_kernels.trigonometric import (
    k_acos,
    k_arc_series,
    k_asin,
    k_atan2,
    k_atan_series,
    k_pair_sqrt,
    k_quarter_turns,
    k_sincos,
    k_tan,
    k_turn_series,
)
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class ElementaryKernel:
    """One elementary function as generated kernels call it.

    Attributes
    ----------
    name : str
        Name of the operation; the function to call is ``k_<name>``.
    functions : tuple of functions
        What its text needs, each after those that it calls; the last is the function itself.
    domain : tuple of (float, float)
        Closed range of each argument within which `error_ulp` holds.
    error_ulp : float
        Largest error in that range, in units in the last place of the exact result.
    results : int
        Number of results: 2 (a tuple) for sincos, else 1.
    """

    name: str
    functions: tuple[Callable[..., Any], ...]
    domain: tuple[tuple[float, float], ...]
    error_ulp: float
    results: int = 1

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, as plain Python."""
        return self.functions[-1]


_ALL, _BITS, _ANGLE, _SINE = (-inf, inf), (k_bits, k_from_bits), (-1e5, 1e5), (-1.0, 1.0)
_HEAD = (*_BITS, k_head)
_TURNS = (k_bits, k_quarter_turns, k_turn_series)
_EXP = (*_BITS, k_octave_exp, k_sum_exp)
_ARC = (*_HEAD, k_pair_sqrt, k_arc_series)
_POW = (*_HEAD, k_octave_exp, k_sum_exp, k_octave, k_log_square_series, k_pair_log, k_pow)

KERNELS: dict[str, ElementaryKernel] = {
    kernel.name: kernel
    for kernel in (
        ElementaryKernel("sincos", (*_TURNS, k_sincos), (_ANGLE,), 1.0, results=2),
        ElementaryKernel("tan", (*_HEAD, k_ratio, *_TURNS[1:], k_tan), (_ANGLE,), 1.35),
        ElementaryKernel("asin", (*_ARC, k_asin), (_SINE,), 0.9),
        ElementaryKernel("acos", (*_ARC, k_acos), (_SINE,), 1.0),
        ElementaryKernel("atan2", (k_bits, k_atan_series, k_atan2), (_ALL, _ALL), 1.7),
        ElementaryKernel("exp", (*_EXP, k_exp), (_ALL,), 1.05),
        ElementaryKernel("log", (*_BITS, k_octave, k_log), ((0.0, inf),), 0.95),
        ElementaryKernel("tanh", (*_HEAD, k_ratio, k_octave_exp, k_tanh), (_ALL,), 1.25),
        ElementaryKernel("pow", _POW, (_ALL, _ALL), 1.2),
        ElementaryKernel("floor", (k_floor,), (_ALL,), 0.0),
        ElementaryKernel("abs", (k_abs,), (_ALL,), 0.0),
        ElementaryKernel("sign", (k_sign,), (_ALL,), 0.0),
        ElementaryKernel("sqrt", (k_sqrt,), ((0.0, inf),), 0.5),
        ElementaryKernel("quotient", (*_BITS, k_quotient), (_ALL, (1e-300, 1e300)), 1.51),
    )
}


def source(names: Iterable[str]) -> str:
    """Text of the named kernels and of all they need, each function once, below a decorator called ``inline``.

    Parameters
    ----------
    names : iterable of str
        Keys of :data:`KERNELS`.

    Returns
    -------
    str
        Python text that needs ``math``, ``np``, ``fma`` and ``inline`` in its namespace; the same for any order of the
        names.

    Raises
    ------
    ValueError
        If there is no kernel of a name; the near miss is named.
    """
    functions: dict[str, Callable[..., Any]] = {}
    for name in sorted(set(names)):
        if name not in KERNELS:
            raise ValueError(unknown("elementary kernel", name, list(KERNELS)))
        functions.update({f.__name__: f for f in KERNELS[name].functions})
    return "\n\n".join(f"@inline\n{inspect.getsource(f).rstrip()}\n" for f in functions.values())
