"""Expressions of generated text as LLVM's instructions."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Protocol

from plants.core.compiler import arithmetic
from plants.core.compiler.arithmetic import built_in, intrinsic
from plants.core.compiler.values import (
    DOUBLE,
    INTEGER,
    TRUTH,
    Array,
    Complex,
    Number,
    Part,
    Value,
    double,
    integer,
    truth,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.compiler.lines import LineWriter

_NAMED = {
    "math.nan": math.nan, "np.nan": math.nan, "math.inf": math.inf, "np.inf": math.inf, "math.pi": math.pi
}  # fmt: skip


class RefusedError(TypeError):
    """A statement or expression that generated text may not contain."""


class Surroundings(Protocol):
    """What a function sees of its module."""

    constants: dict[str, Number]

    def call(self, to: LineWriter, name: str, arguments: Sequence[Value]) -> Value | None:
        """Write the call of another function of the text; None if there is none of that name."""


class ExpressionWriter:
    """Writes expressions to the lines of one function.

    Parameters
    ----------
    to : LineWriter
    around : Surroundings
    """

    def __init__(self, to: LineWriter, around: Surroundings) -> None:
        self.to, self.around = to, around

    def value(self, e: ast.expr) -> Value:
        """Write an expression; return its value."""
        write = getattr(self, f"_{type(e).__name__.lower()}", None)
        found = None if write is None else write(e)
        if found is None:
            raise refused(e)
        return found

    def number(self, e: ast.expr) -> Number:
        """Write an expression that is one number."""
        found = self.value(e)
        if not isinstance(found, Number):
            raise refused(e)
        return found

    def part(self, e: ast.expr) -> Part:
        """Write an expression that is one number, real or complex."""
        found = self.value(e)
        if not isinstance(found, Number | Complex):
            raise refused(e)
        return found

    def condition(self, e: ast.expr) -> Number:
        """Write an expression as a truth value."""
        return self.to.as_truth(self.number(e))

    def element(self, e: ast.Subscript) -> tuple[str, Number]:
        """Write the address of an entry of an array; return its kind and the address."""
        array, indices = self._array(e.value), self._indices(e)
        if len(indices) != len(array.shape):
            raise refused(e)
        return array.kind, self._address(array, indices)

    # ---------------------------------------------------------------------------------- one method for each form

    def _constant(self, e: ast.Constant) -> Value | None:
        if isinstance(e.value, bool):
            return truth(e.value)
        if isinstance(e.value, int):
            return integer(e.value)
        return double(e.value) if isinstance(e.value, float) else None

    def _name(self, e: ast.Name) -> Value | None:
        found = self.to.read(e.id)
        return self.around.constants.get(e.id) if found is None else found

    def _attribute(self, e: ast.Attribute) -> Value | None:
        name = ast.unparse(e)
        if name in _NAMED:
            return double(_NAMED[name])
        if e.attr not in {"real", "imag"}:
            return None
        whole = self.value(e.value)
        return getattr(whole, e.attr) if isinstance(whole, Complex) else None

    def _tuple(self, e: ast.Tuple) -> Value:
        return tuple(self.value(part) for part in e.elts)

    def _unaryop(self, e: ast.UnaryOp) -> Value | None:
        if isinstance(e.op, ast.USub):
            value = e.operand.value if isinstance(e.operand, ast.Constant) else None
            if isinstance(value, float):
                return double(-value)
            if type(value) is int:
                return integer(-value)
            return arithmetic.negative(self.to, self.number(e.operand))
        if isinstance(e.op, ast.Not):
            return self.to.put(TRUTH, f"xor i1 {self.condition(e.operand).text}, true")
        return None

    def _binop(self, e: ast.BinOp) -> Value | None:
        a, b = self.part(e.left), self.part(e.right)
        if isinstance(e.op, ast.Pow):
            return self._power(a, b, e.right)
        if isinstance(a, Number) and isinstance(b, Number):
            return arithmetic.binary(self.to, e.op, a, b)
        return arithmetic.of_complex(self.to, e.op, a, b)

    def _power(self, a: Part, b: Part, exponent: ast.expr) -> Value | None:
        if not isinstance(a, Number) or not isinstance(b, Number) or a.kind != DOUBLE:
            return None
        if isinstance(exponent, ast.Constant) and type(exponent.value) is int:
            return self.to.of_doubles("fmul", a, a) if exponent.value == 2 else None
        return intrinsic(self.to, "pow", [a, b])

    def _boolop(self, e: ast.BoolOp) -> Value:
        word = "and" if isinstance(e.op, ast.And) else "or"
        found = self.condition(e.values[0])
        for part in e.values[1:]:
            found = self.to.put(TRUTH, f"{word} i1 {found.text}, {self.condition(part).text}")
        return found

    def _compare(self, e: ast.Compare) -> Value | None:
        sides = [self.number(part) for part in (e.left, *e.comparators)]
        found: Number | None = None
        for operation, left, right in zip(e.ops, sides[:-1], sides[1:], strict=True):
            one = arithmetic.compared(self.to, operation, left, right)
            if one is None:
                return None
            found = one if found is None else self.to.put(TRUTH, f"and i1 {found.text}, {one.text}")
        return found

    def _ifexp(self, e: ast.IfExp) -> Value | None:
        condition, then, other = self.condition(e.test), self.value(e.body), self.value(e.orelse)
        if isinstance(then, Number) and isinstance(other, Number):
            return arithmetic.selected(self.to, condition, then, other)
        if isinstance(then, Array) and isinstance(other, Array) and then.kind == other.kind:
            return self._selected(condition, then, other)
        return None

    def _selected(self, condition: Number, then: Array, other: Array) -> Value | None:
        if len(then.shape) != len(other.shape):
            return None
        pairs = [("ptr", then.pointer, other.pointer)]
        pairs += [(INTEGER, a, b) for a, b in zip(then.shape, other.shape, strict=True)]
        found = [arithmetic.selected(self.to, condition, Number(k, a), Number(k, b)).text for k, a, b in pairs]
        return Array(then.kind, found[0], tuple(found[1:]))

    def _call(self, e: ast.Call) -> Value | None:
        if isinstance(e.func, ast.Attribute) and e.func.attr == "view" and len(e.args) == 1:
            return self._bits(e.func.value, ast.unparse(e.args[0]))
        if isinstance(e.func, ast.Attribute) and e.func.attr == "reshape":
            return self._reshaped(e)
        arguments = [self.value(a) for a in e.args]
        found = built_in(self.to, ast.unparse(e.func), arguments)
        return self.around.call(self.to, ast.unparse(e.func), arguments) if found is None else found

    def _subscript(self, e: ast.Subscript) -> Value:
        if isinstance(e.value, ast.Attribute) and e.value.attr == "shape" and isinstance(e.slice, ast.Constant):
            return Number(INTEGER, self._array(e.value.value).shape[e.slice.value])  # type: ignore[index]
        if isinstance(e.slice, ast.Slice):
            return self._beginning(e, e.slice)
        array = self.value(e.value)
        if isinstance(array, tuple) and isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, int):
            return array[e.slice.value]
        indices = self._indices(e)
        if not isinstance(array, Array) or len(indices) > len(array.shape):
            raise refused(e)
        place = self._address(array, indices)
        rest = array.shape[len(indices) :]
        if rest:
            return Array(array.kind, place.text, rest)
        return self.to.put(array.kind, f"load {array.kind}, ptr {place.text}")

    # -------------------------------------------------------------------------------------------------------- arrays

    def _array(self, e: ast.expr) -> Array:
        found = self.value(e)
        if not isinstance(found, Array):
            raise refused(e)
        return found

    def _indices(self, e: ast.Subscript) -> list[Number]:
        parts = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        found = [self.number(part) for part in parts]
        if any(index.kind != INTEGER for index in found):
            raise refused(e)
        return found

    def _address(self, array: Array, indices: Sequence[Number]) -> Number:
        """Address of the entry, or of the first of those, that begin with these indices."""
        place = indices[0]
        for index, size in zip(indices[1:], array.shape[1:], strict=False):
            place = self.to.put(INTEGER, f"mul nsw i64 {place.text}, {size}")
            place = self.to.put(INTEGER, f"add nsw i64 {place.text}, {index.text}")
        for size in array.shape[len(indices) :]:
            place = self.to.put(INTEGER, f"mul nsw i64 {place.text}, {size}")
        return self.to.put("ptr", f"getelementptr inbounds {array.kind}, ptr {array.pointer}, i64 {place.text}")

    def _beginning(self, e: ast.Subscript, part: ast.Slice) -> Array:
        """First rows of an array, a[:n]: no other slice has a form."""
        if part.lower is not None or part.step is not None or part.upper is None:
            raise refused(e)
        array, size = self._array(e.value), self.number(part.upper)
        if size.kind != INTEGER:
            raise refused(e)
        return Array(array.kind, array.pointer, (size.text, *array.shape[1:]))

    def _reshaped(self, e: ast.Call) -> Value:
        assert isinstance(e.func, ast.Attribute)  # noqa: S101  (the caller has looked)
        array, sizes = self._array(e.func.value), [self.number(size) for size in e.args]
        return Array(array.kind, array.pointer, tuple(size.text for size in sizes))

    def _bits(self, e: ast.expr, kind: str) -> Value | None:
        """View of the same 64 bits, from np.float64(...) as np.int64 or back."""
        number = self.number(e)
        if kind == "np.int64" and number.kind == "double":
            return self.to.put(INTEGER, f"bitcast double {number.text} to i64")
        if kind == "np.float64" and number.kind == INTEGER:
            return self.to.put("double", f"bitcast i64 {number.text} to double")
        return None


def refused(node: ast.AST) -> RefusedError:
    """Return the error for what has no form here."""
    line = getattr(node, "lineno", "?")
    return RefusedError(
        f"line {line} of the generated text: {ast.unparse(node)!r} has no form in the compiler of kernels; "
        "plants/core/compiler says what there is"
    )
