"""Operations on numbers as LLVM's instructions: Python's meaning, 64-bit integers, IEEE doubles."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from plants.core.compiler.values import DOUBLE, INTEGER, TRUTH, Complex, Number, double

if TYPE_CHECKING:
    from plants.core.compiler.lines import LineWriter
    from plants.core.compiler.values import Part

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
