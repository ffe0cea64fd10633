"""Functions that generated text may call without defining them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plants.core.compiler import arithmetic
from plants.core.compiler.values import DOUBLE, INTEGER, TRUTH, Array, Complex, Number, double

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.compiler.lines import LineWriter
    from plants.core.compiler.values import Value

# LLVM's own functions of doubles. Those of the first line are instructions, those of the second calls of the C library.
INTRINSICS = {
    "fma": 3, "math.sqrt": 1, "np.sqrt": 1, "math.copysign": 2, "np.floor": 1, "math.fabs": 1,
    "math.log": 1, "math.exp": 1, "math.sin": 1, "math.cos": 1, "math.atan2": 2, "math.pow": 2,
}  # fmt: skip


def built_in(to: LineWriter, name: str, arguments: Sequence[Value]) -> Value | None:
    """Write the call of a function that needs no definition; None if there is none of that name for these arguments."""
    if name == "len" and len(arguments) == 1 and isinstance(arguments[0], Array):
        return Number(INTEGER, arguments[0].shape[0])
    numbers = [a for a in arguments if isinstance(a, Number)]
    if len(numbers) != len(arguments):
        return None
    if INTRINSICS.get(name) == len(numbers):
        return intrinsic(to, name.rpartition(".")[2], numbers)
    if name == "complex" and len(numbers) == 2:
        return Complex(to.as_kind(numbers[0], DOUBLE), to.as_kind(numbers[1], DOUBLE))
    if name in {"min", "max"} and len(numbers) >= 2:
        found = numbers[0]
        for number in numbers[1:]:
            found = arithmetic.extreme(to, name == "max", found, number)
        return found
    return _of_one(to, name, numbers[0]) if len(numbers) == 1 else None


def _of_one(to: LineWriter, name: str, number: Number) -> Number | None:
    if name in {"float", "np.float64"}:
        return to.as_kind(number, DOUBLE)
    if name in {"int", "np.int64"}:
        return to.as_kind(number, INTEGER) if number.kind != DOUBLE else None
    if name == "math.isnan":
        number = to.as_kind(number, DOUBLE)
        return to.put(TRUTH, f"fcmp uno double {number.text}, {number.text}")
    if name == "math.isinf":
        size = intrinsic(to, "fabs", [number])
        return to.put(TRUTH, f"fcmp oeq double {size.text}, {double(math.inf).text}")
    if name == "abs":
        if number.kind == DOUBLE:
            return intrinsic(to, "fabs", [number])
        below = to.put(TRUTH, f"icmp slt i64 {number.text}, 0")
        return arithmetic.selected(to, below, arithmetic.negative(to, number), number)
    return None


def intrinsic(to: LineWriter, name: str, numbers: Sequence[Number]) -> Number:
    """Write the call of one of LLVM's own functions."""
    given = ", ".join(f"double {to.as_kind(number, DOUBLE).text}" for number in numbers)
    return to.put(DOUBLE, f"call double @llvm.{name}.f64({given})")


def declarations() -> list[str]:
    """Return the declarations of all that can be called."""
    counts = {name.rpartition(".")[2]: count for name, count in INTRINSICS.items()}
    return [f"declare double @llvm.{name}.f64({', '.join(['double'] * n)})" for name, n in counts.items()]
