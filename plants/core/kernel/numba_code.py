"""The same generated text compiled by Numba: a second opinion about our compiler, ``SSCQ_COMPILER=numba``.

Numba reads all of Python where ours reads what kernels are printed in, finds types itself, and optimises with its own
settings; both end in the LLVM of llvmlite. It takes some ten times as long, and nothing is kept on disk.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.tracing import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_INLINE, _FMA = "def inline(function):", "return a * b + c\n"  # in the head of every printed text
_FUSED = "\nFUSED = 1\n"


class NumbaCode:
    """A generated source's `rollout` as Numba compiles it, called as machine code is.

    Parameters
    ----------
    text : str
    arguments : sequence of str
        Types, such as "int64" or "float64[:,::1]".

    Raises
    ------
    ModuleNotFoundError
        If Numba is not installed.
    """

    def __init__(self, text: str, arguments: Sequence[str]) -> None:
        self._call = by_numba(text, arguments)

    def __call__(self, *values: Any) -> None:
        """Call it; arrays that must not be written to are copied, since Numba's types say nothing of that."""
        self._call(*(v if not isinstance(v, np.ndarray) or v.flags.writeable else v.copy() for v in values))


def by_numba(text: str, arguments: Sequence[str]) -> Callable[..., None]:
    """Return the rollout of a generated text as Numba compiles it, told that fma rounds once."""
    try:
        from numba import njit
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "SSCQ_COMPILER=numba needs Numba, which is not installed: pip install numba"
        ) from None
    settings: dict[str, Any] = {"error_model": "numpy", "nogil": True}
    if _FUSED in text:
        settings["fastmath"] = {"contract"}
    head, printed, rest = text.partition(_FMA)
    if printed:
        head = head.partition(_INLINE)[0]
    else:  # written by hand: without the head of a printed text
        head, rest = "", text
    plain = functools.partial(njit, **settings)
    space: dict[str, Any] = {"inline": plain(forceinline=True), "fma": _fused_sum(), "plain": plain()}
    space |= {name: _guarded(one, plain()) for name, one in calls.called(text).items()}
    # Functions without a decorator are called; `rollout` itself is told the types of its arguments.
    marked = re.sub(r"(?<!@inline\n)^(def (?!rollout\())", r"@plain\n\1", head + rest, flags=re.MULTILINE)
    exec(marked, space)  # noqa: S102  (our own text)
    rollout: Callable[..., None] = njit(f"void({', '.join(arguments)})", **settings)(space["rollout"])
    return rollout


def _guarded(function: calls.CalledFunction, compile_: Callable[..., Any]) -> Any:
    """A function that a text calls, by numba; NaN where it raises an exception."""
    assert function.by_numba is not None  # noqa: S101  (whoever made it known said how; for the type checker)
    inner, lost = function.by_numba(), (float("nan"),) * function.results
    none = lost[0] if function.results == 1 else lost

    def guarded(*values: float) -> Any:
        try:
            return inner(*values)
        except Exception:  # noqa: BLE001  (numba knows no other)
            return none

    return compile_(guarded)


def _fused_sum() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            double = ir.DoubleType()
            fused = ir.FunctionType(double, [double, double, double])
            return builder.call(builder.module.declare_intrinsic("llvm.fma", [double], fused), values)

        return types.float64(types.float64, types.float64, types.float64), code

    return fma
