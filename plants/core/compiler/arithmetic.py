"""Operations on numbers as LLVM's instructions, and functions that generated text may call without defining them.

Operations have Python's meaning: 64-bit integers, IEEE doubles.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from plants.core.compiler.values import DOUBLE, INTEGER, TRUTH, Array, Complex, Number, double

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.compiler.lines import LineWriter
    from plants.core.compiler.values import Part, Value


_DOUBLES: dict[type[ast.AST], str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_INTEGERS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
    ast.LShift: "shl", ast.RShift: "ashr",
}  # fmt: skip
_TRUTHS: dict[type[ast.AST], str] = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
_COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"),
}  # fmt: skip


def binary(to: LineWriter, operation: ast.operator, a: Number, b: Number) -> Number | None:
    """Return the result of an operation on two numbers; None if there is no such operation."""
    kind = type(operation)
    if a.kind == b.kind == TRUTH and kind in _TRUTHS:
        return to.put(TRUTH, f"{_TRUTHS[kind]} i1 {a.text}, {b.text}")
    if kind is ast.Div:
        a, b = to.as_kind(a, DOUBLE), to.as_kind(b, DOUBLE)
    a, b = to.same_kind(a, b)
    if a.kind == DOUBLE:
        return to.of_doubles(_DOUBLES[kind], a, b) if kind in _DOUBLES else None
    a, b = to.as_kind(a, INTEGER), to.as_kind(b, INTEGER)
    if kind in {ast.FloorDiv, ast.Mod}:
        return _floored(to, kind is ast.FloorDiv, a, b)
    return to.put(INTEGER, f"{_INTEGERS[kind]} i64 {a.text}, {b.text}") if kind in _INTEGERS else None


def of_complex(to: LineWriter, operation: ast.operator, a: Part, b: Part) -> Complex | None:
    """Return a sum, difference or product in which a number is complex; a real one counts as one with 0 beside it."""
    kind = type(operation)
    if isinstance(a, Number) and isinstance(b, Complex) and kind is ast.Mult:
        a, b = b, a
    if isinstance(a, Complex) and isinstance(b, Number) and kind is ast.Mult:
        b = to.as_kind(b, DOUBLE)
        return Complex(to.of_doubles("fmul", a.real, b), to.of_doubles("fmul", a.imag, b))
    if kind not in {ast.Add, ast.Sub, ast.Mult}:
        return None
    one, other = (z if isinstance(z, Complex) else Complex(to.as_kind(z, DOUBLE), double(0.0)) for z in (a, b))
    if kind is not ast.Mult:
        word = _DOUBLES[kind]
        return Complex(to.of_doubles(word, one.real, other.real), to.of_doubles(word, one.imag, other.imag))
    real = to.of_doubles(
        "fsub", to.of_doubles("fmul", one.real, other.real), to.of_doubles("fmul", one.imag, other.imag)
    )
    imag = to.of_doubles(
        "fadd", to.of_doubles("fmul", one.real, other.imag), to.of_doubles("fmul", one.imag, other.real)
    )
    return Complex(real, imag)


def _floored(to: LineWriter, quotient: bool, a: Number, b: Number) -> Number:
    """Quotient rounded down, or its remainder, which has the divisor's sign; 0 where the divisor is 0."""
    if b.text.isdecimal() and int(b.text) > 0 and int(b.text) & (int(b.text) - 1) == 0:
        size = int(b.text)
        return to.put(
            INTEGER, f"ashr i64 {a.text}, {size.bit_length() - 1}" if quotient else f"and i64 {a.text}, {size - 1}"
        )
    none = to.put(TRUTH, f"icmp eq i64 {b.text}, 0")
    divisor = to.put(INTEGER, f"select i1 {none.text}, i64 1, i64 {b.text}")
    rest = to.put(INTEGER, f"srem i64 {a.text}, {divisor.text}")
    signs = to.put(INTEGER, f"xor i64 {rest.text}, {divisor.text}")
    apart = to.put(TRUTH, f"icmp slt i64 {signs.text}, 0")
    left = to.put(TRUTH, f"icmp ne i64 {rest.text}, 0")
    below = to.put(TRUTH, f"and i1 {apart.text}, {left.text}")
    if quotient:
        whole = to.put(INTEGER, f"sdiv i64 {a.text}, {divisor.text}")
        less = to.put(INTEGER, f"zext i1 {below.text} to i64")
        result = to.put(INTEGER, f"sub i64 {whole.text}, {less.text}")
    else:
        more = to.put(INTEGER, f"select i1 {below.text}, i64 {divisor.text}, i64 0")
        result = to.put(INTEGER, f"add i64 {rest.text}, {more.text}")
    return to.put(INTEGER, f"select i1 {none.text}, i64 0, i64 {result.text}")


def negative(to: LineWriter, a: Number) -> Number:
    """Return -a."""
    if a.kind == DOUBLE:
        return to.put(DOUBLE, f"fneg double {a.text}")
    return to.put(INTEGER, f"sub i64 0, {to.as_kind(a, INTEGER).text}")


def compared(to: LineWriter, operation: ast.cmpop, a: Number, b: Number) -> Number | None:
    """Return the truth of a comparison; None if there is no such one. NaN differs from everything."""
    if type(operation) not in _COMPARISONS:
        return None
    of_integers, of_doubles = _COMPARISONS[type(operation)]
    a, b = to.same_kind(a, b)
    if a.kind == DOUBLE:
        return to.put(TRUTH, f"fcmp {of_doubles} double {a.text}, {b.text}")
    a, b = to.as_kind(a, INTEGER), to.as_kind(b, INTEGER)
    return to.put(TRUTH, f"icmp {of_integers} i64 {a.text}, {b.text}")


def selected(to: LineWriter, condition: Number, then: Number, other: Number) -> Number:
    """Return `then` where the condition holds, else `other`."""
    then, other = to.same_kind(then, other)
    return to.put(then.kind, f"select i1 {condition.text}, {then.kind} {then.text}, {other.kind} {other.text}")


def extreme(to: LineWriter, largest: bool, a: Number, b: Number) -> Number:
    """Return Python's max or min of two: the second where it is beyond the first, else (with NaN too) the first."""
    beyond = compared(to, ast.Gt() if largest else ast.Lt(), b, a)
    assert beyond is not None  # noqa: S101  (both comparisons exist)
    return selected(to, beyond, b, a)


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
            found = extreme(to, name == "max", found, number)
        return found
    return _of_one(to, name, numbers[0]) if len(numbers) == 1 else None


def _of_one(to: LineWriter, name: str, number: Number) -> Number | None:
    if name in {"float", "np.float64"}:
        return to.as_kind(number, DOUBLE)
    if name in {"int", "np.int64"}:
        if number.kind == DOUBLE:
            return to.put(INTEGER, f"fptosi double {number.text} to i64")
        return to.as_kind(number, INTEGER)
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
        return selected(to, below, negative(to, number), number)
    return None


def intrinsic(to: LineWriter, name: str, numbers: Sequence[Number]) -> Number:
    """Write the call of one of LLVM's own functions."""
    given = ", ".join(f"double {to.as_kind(number, DOUBLE).text}" for number in numbers)
    return to.put(DOUBLE, f"call double @llvm.{name}.f64({given})")


def declarations() -> list[str]:
    """Return the declarations of all that can be called."""
    counts = {name.rpartition(".")[2]: count for name, count in INTRINSICS.items()}
    return [f"declare double @llvm.{name}.f64({', '.join(['double'] * n)})" for name, n in counts.items()]
