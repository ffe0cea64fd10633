"""One function of generated text, statement by statement, as LLVM's text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from plants.core.compiler.expressions import ExpressionWriter, Surroundings, refused
from plants.core.compiler.lines import LineWriter
from plants.core.compiler.values import DOUBLE, INTEGER, TRUTH, Array, Number, Value, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class Function:
    """A function of given kinds of arguments.

    Parameters
    ----------
    tree : ast.FunctionDef
    arguments : sequence of Value
        What stands for each in the caller's eyes; only kinds and numbers of dimensions count.
    around : Surroundings

    Attributes
    ----------
    result : str
        LLVM's type of what it returns; "void" for nothing.
    parameters : list of str
        In LLVM's text; an array is its address and its shape.
    lines : LineWriter
    """

    def __init__(self, tree: ast.FunctionDef, arguments: Sequence[Value], around: Surroundings) -> None:
        self.tree, self.lines = tree, LineWriter(fused="FUSED" in around.constants)
        self.result, self.parameters = "", list[str]()
        self.returned: Value | None = None
        self._expressions = ExpressionWriter(self.lines, around)
        self._around_loop: list[tuple[str, str]] = []
        for name, argument in zip([a.arg for a in tree.args.args], arguments, strict=True):
            self._parameter(name, argument)
        self._block(tree.body)
        self.result = self.result or "void"
        if self.lines.open and self.result != "void":
            raise TypeError(f"{tree.name} returns {self.result}, and may end without")
        self.lines.leave("ret void")

    def text(self, head: str) -> str:
        """Return the function; `head` is what stands before its parameters."""
        parameters = ", ".join(self.parameters)
        body = "\n".join(["entry:", *self.lines.slots, *self.lines.lines])
        return f"{head}({parameters}) {{\n{body}\n}}"

    def _parameter(self, name: str, argument: Value) -> None:
        if isinstance(argument, Array):
            shape = [f"%{name}.{k}" for k in range(len(argument.shape))]
            self.parameters += [f"ptr noalias %{name}", *(f"i64 {size}" for size in shape)]
            self.lines.assign(name, Array(argument.kind, f"%{name}", tuple(shape)))
        else:
            kind = type_of(argument)
            self.parameters.append(f"{kind} %{name}")
            given = Number(kind, f"%{name}")
            self.lines.assign(name, self.lines.taken(given, argument))

    # ---------------------------------------------------------------------------------------------------- statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.lines.open:
                return  # behind return or break
            write = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if write is None:
                raise refused(statement)
            write(statement)

    def _expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):  # a docstring
            self._expressions.value(statement.value)

    def _pass(self, statement: ast.Pass) -> None:
        """Write nothing."""

    def _assign(self, statement: ast.Assign) -> None:
        (target,) = statement.targets
        self._give(target, self._expressions.value(statement.value))

    def _give(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.lines.assign(target.id, value)
        elif isinstance(target, ast.Subscript) and isinstance(value, Number):
            kind, place = self._expressions.element(target)
            value = self.lines.as_kind(value, kind)
            self.lines.do(f"store {kind} {value.text}, ptr {place.text}")
        elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
            for part, number in zip(target.elts, value, strict=True):
                self._give(part, number)
        else:
            raise refused(target)

    def _augassign(self, statement: ast.AugAssign) -> None:
        after = self._expressions.value(ast.BinOp(statement.target, statement.op, statement.value))
        self._give(statement.target, after)

    def _return(self, statement: ast.Return) -> None:
        if statement.value is None:
            self._leave("void", "ret void")
            return
        value = self._expressions.value(statement.value)
        if isinstance(value, Array):
            raise refused(statement)
        self.returned, register = value, self.lines.given(value)
        self._leave(register.kind, f"ret {register.kind} {register.text}")

    def _leave(self, kind: str, text: str) -> None:
        if self.result not in {"", kind}:
            raise TypeError(f"{self.tree.name} returns {self.result} in one place and {kind} in another")
        self.result = kind
        self.lines.leave(text)

    # -------------------------------------------------------------------------------------------- branches and loops

    def _if(self, statement: ast.If) -> None:
        then, other, end = (self.lines.label(stem) for stem in ("then", "else", "end"))
        condition = self._expressions.condition(statement.test)
        self.lines.branch(condition, then, other if statement.orelse else end)
        goes_on = [self._branch(then, statement.body, end)]
        goes_on.append(self._branch(other, statement.orelse, end) if statement.orelse else True)
        if any(goes_on):
            self.lines.begin(end)

    def _branch(self, label: str, statements: Sequence[ast.stmt], end: str) -> bool:
        """Write one of two branches; return whether what stands behind them is reached from it."""
        self.lines.begin(label)
        self._block(statements)
        reached = self.lines.open
        self.lines.jump(end)
        return reached

    def _while(self, statement: ast.While) -> None:
        head, body, end = (self.lines.label(stem) for stem in ("while", "body", "done"))
        self.lines.begin(head)
        self.lines.branch(self._expressions.condition(statement.test), body, end)
        self._loop(body, statement.body, head, end)
        self.lines.jump(head)
        self.lines.begin(end)

    def _for(self, statement: ast.For) -> None:
        """Count in a register: the variable may be changed within the loop without effect on the count."""
        first, last, step = self._range(statement.iter)
        head, body, latch, end = (self.lines.label(stem) for stem in ("for", "body", "next", "done"))
        before = self.lines.label("before")
        self.lines.begin(before)
        self.lines.begin(head)
        count, more = f"%{head}.count", f"%{head}.more"
        self.lines.do(f"{count} = phi i64 [ {first.text}, %{before} ], [ {more}, %{latch} ]")
        self.lines.branch(self.lines.put(TRUTH, f"icmp slt i64 {count}, {last.text}"), body, end)
        self.lines.begin(body)
        self._give(statement.target, Number(INTEGER, count))
        self._loop("", statement.body, latch, end)
        self.lines.begin(latch)
        self.lines.do(f"{more} = add nsw i64 {count}, {step.text}")
        self.lines.jump(head)
        self.lines.begin(end)

    def _loop(self, label: str, statements: Sequence[ast.stmt], again: str, end: str) -> None:
        if label:
            self.lines.begin(label)
        self._around_loop.append((again, end))
        self._block(statements)
        self._around_loop.pop()

    def _range(self, e: ast.expr) -> tuple[Number, Number, Number]:
        if not (isinstance(e, ast.Call) and ast.unparse(e.func) == "range"):
            raise refused(e)
        given = [self._expressions.number(a) for a in e.args]
        first, step = Number(INTEGER, "0"), Number(INTEGER, "1")
        if len(given) == 1:
            return first, given[0], step
        step = given[2] if len(given) == 3 else step
        if any(n.kind == DOUBLE for n in given) or not step.text.isdecimal() or int(step.text) == 0:
            raise refused(e)
        return given[0], given[1], step

    def _break(self, statement: ast.Break) -> None:
        if not self._around_loop:
            raise refused(statement)
        self.lines.jump(self._around_loop[-1][1])

    def _continue(self, statement: ast.Continue) -> None:
        if not self._around_loop:
            raise refused(statement)
        self.lines.jump(self._around_loop[-1][0])
