"""A generated source as a module in LLVM's text: its `rollout`, and of its other functions those that this needs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from plants.core.compiler.arithmetic import declarations
from plants.core.compiler.expressions import RefusedError, refused
from plants.core.compiler.function import Function
from plants.core.compiler.values import DOUBLE, INTEGER, Array, Number, Value, double, integer, type_of
from plants.core.tracing.calls import results_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.compiler.lines import LineWriter

__all__ = ["RefusedError", "module_text"]

_KINDS = {"int64": INTEGER, "float64": DOUBLE}
# Without the first group LLVM halves vectors on processors that once ran them slowly.
_ATTRIBUTES = """attributes #0 = { nounwind "prefer-vector-width"="512" }
attributes #1 = { nounwind alwaysinline }
attributes #2 = { nounwind noinline }
"""


def module_text(source: str, entry: str, arguments: Sequence[str], symbol: str) -> str:
    """Return a source's function as LLVM's text.

    Parameters
    ----------
    source : str
        Functions, and names of numbers. Functions below ``@inline`` are made part of their callers. Where the name
        ``FUSED`` is among them, products may be fused with sums.
    entry : str
        Name of the function.
    arguments : sequence of str
        Types of its arguments: ``int64``, ``float64``, or an array such as ``float64[:,::1]``.
    symbol : str
        Its name in the machine code. An array is passed as its address and its shape.

    Raises
    ------
    RefusedError
        For what the compiler has no form for.
    """
    module = _Module(ast.parse(source))
    function = Function(module.trees[entry], [_argument(text) for text in arguments], module)
    if function.result != "void":
        raise RefusedError(f"{entry} must not return anything, it returns {function.result}")
    called = "\n\n".join(module.texts)
    main = function.text(f"define void @{symbol}").replace(") {", ") #0 {", 1)
    return "\n\n".join([*declarations(), called, main, _ATTRIBUTES])


def _argument(text: str) -> Value:
    kind, _, dimensions = text.partition("[")
    if not dimensions:
        return Number(_KINDS[kind], "")
    return Array(_KINDS[kind], "", ("",) * (dimensions.count(",") + 1))


class _Module:
    """Functions and constants of a source; functions are written when they are first called, for kinds of arguments."""

    def __init__(self, tree: ast.Module) -> None:
        self.trees: dict[str, ast.FunctionDef] = {}
        self.constants: dict[str, Number] = {}
        self.texts: list[str] = []
        self._written: dict[str, Function] = {}
        self._outsiders: set[str] = set()
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef):
                self.trees[statement.name] = statement
            elif isinstance(statement, ast.Assign):
                self._constant(statement)

    def _constant(self, statement: ast.Assign) -> None:
        (target,), value = statement.targets, statement.value
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Constant)):
            raise refused(statement)
        if type(value.value) is int:
            self.constants[target.id] = integer(value.value)
        elif isinstance(value.value, float):
            self.constants[target.id] = double(value.value)
        else:
            raise refused(statement)

    def call(self, to: LineWriter, name: str, arguments: Sequence[Value]) -> Value | None:
        """Write the call of a function of the source; None if there is none of that name."""
        if name not in self.trees:
            return self._outside(to, name, arguments)
        kinds = [f"{a.kind}{len(a.shape)}" if isinstance(a, Array) else type_of(a) for a in arguments]
        symbol = re.sub(r"[^A-Za-z0-9_.]+", "_", ".".join((name, *kinds)))
        if symbol not in self._written:
            self._write(symbol, self.trees[name], arguments)
        function = self._written[symbol]
        text = f"call {function.result} @{symbol}({', '.join(_passed(to, arguments))})"
        if function.result == "void":
            to.do(text)
            return ()
        assert function.returned is not None  # noqa: S101  (it returns something)
        return to.taken(to.put(function.result, text), function.returned)

    def _outside(self, to: LineWriter, name: str, arguments: Sequence[Value]) -> Value | None:
        """Write the call of a function that stands elsewhere: doubles to so many doubles as the text says it gives."""
        count = self.constants.get(results_name(name))
        if count is None:
            return None
        given = [to.as_kind(a, DOUBLE).text for a in arguments if isinstance(a, Number)]
        like: Value = (Number(DOUBLE, ""),) * int(count.text) if count.text != "1" else Number(DOUBLE, "")
        if name not in self._outsiders:
            self._outsiders.add(name)
            self.texts.append(f"declare {type_of(like)} @{name}({', '.join([DOUBLE] * len(given))})")
        passed = ", ".join(f"{DOUBLE} {text}" for text in given)
        return to.taken(to.put(type_of(like), f"call {type_of(like)} @{name}({passed})"), like)

    def _write(self, symbol: str, tree: ast.FunctionDef, arguments: Sequence[Value]) -> None:
        function = self._written[symbol] = Function(tree, arguments, self)
        inline = any(ast.unparse(decorator) == "inline" for decorator in tree.decorator_list)
        head = f"define internal {function.result} @{symbol}"
        self.texts.append(function.text(head).replace(") {", f") #{1 if inline else 2} {{", 1))


def _passed(to: LineWriter, arguments: Sequence[Value]) -> list[str]:
    texts: list[str] = []
    for argument in arguments:
        if isinstance(argument, Array):
            texts += [f"ptr {argument.pointer}", *(f"i64 {size}" for size in argument.shape)]
        else:
            register = to.given(argument)
            texts.append(f"{register.kind} {register.text}")
    return texts
