"""The elementary kernels in C, read from their Python text: one source, the same operations in the same order.

The kernels are written in a small part of Python (assignments, arithmetic, comparisons, conditional expressions, calls
of one another), which has the same meaning in C for doubles, 64-bit integers and truth values. Whatever else appears in
one is refused.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from plants.core.elementary_kernels import KERNELS
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Typed = tuple[str, str]  # text and C type of an expression

_TYPES = {"float": "double", "np.int64": "int64_t", "np.int64 | int": "int64_t"}
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_CALLS = {"abs": "fabs", "fma": "fma", "math.sqrt": "sqrt", "math.copysign": "copysign", "np.floor": "floor"}
_NAMES = {"math.nan": "NAN", "math.inf": "INFINITY"}
_BITS = {  # a view of the same 64 bits has no form in C's expressions
    "k_bits": "K_INLINE int64_t k_bits(double x)\n{\n    int64_t bits;\n    memcpy(&bits, &x, sizeof bits);\n"
    "    return bits;\n}\n",
    "k_from_bits": "K_INLINE double k_from_bits(int64_t bits)\n{\n    double x;\n    memcpy(&x, &bits, sizeof x);\n"
    "    return x;\n}\n",
}


def source(names: Iterable[str]) -> str:
    """Text in C of the named kernels and of all they need, each function once.

    Parameters
    ----------
    names : iterable of str
        Keys of :data:`plants.core.elementary_kernels.KERNELS`.

    Returns
    -------
    str
        Needs ``math.h``, ``stdint.h``, ``string.h`` and the macro ``K_INLINE``; the same for any order of the names.

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
    return "\n".join(_BITS.get(name) or _CFunction(f).text() for name, f in functions.items())


def _tree(function: Callable[..., Any]) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(node, ast.FunctionDef) or node.returns is None:
        raise TypeError(f"{function.__name__} must be a function whose result is annotated")
    return node


def _result_types(function: Callable[..., Any]) -> list[str]:
    """C types of a kernel's results; the annotation is float, np.int64 or a tuple of these."""
    returns = _tree(function).returns
    if isinstance(returns, ast.Subscript) and isinstance(returns.slice, ast.Tuple):
        return [_TYPES[ast.unparse(part)] for part in returns.slice.elts]
    return [_TYPES[ast.unparse(returns)]]  # type: ignore[arg-type]  # _tree has checked that there is one


class _CFunction:
    """One kernel on its way to C: the types of its variables so far, and the lines written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.tree, self.lines = function, _tree(function), list[str]()
        arguments = self.tree.args.args
        self.types = {a.arg: _TYPES[ast.unparse(a.annotation)] for a in arguments if a.annotation is not None}

    def text(self) -> str:
        results, name = _result_types(self.function), self.tree.name
        given = ", ".join(f"{kind} {argument}" for argument, kind in self.types.items())
        for statement in self.tree.body[1:]:  # behind the docstring
            self._statement(statement)
        several = len(results) > 1
        fields = " ".join(f"{kind} r{k};" for k, kind in enumerate(results))
        head = [f"struct {name}_results {{ {fields} }};\n"] if several else []
        kind = f"struct {name}_results" if several else results[0]
        return "\n".join([*head, f"K_INLINE {kind} {name}({given})", "{", *self.lines, "}", ""])

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
            if isinstance(target, ast.Name):
                self._assign(target.id, self._expression(value))
                return
            if isinstance(target, ast.Tuple):
                self._assign_all([ast.unparse(t) for t in target.elts], value)
                return
        if isinstance(statement, ast.Return) and statement.value is not None:
            self._return(statement.value)
            return
        raise self._refused(statement)

    def _assign(self, name: str, value: Typed) -> None:
        declared = "" if name in self.types else f"{value[1]} "
        self.types[name] = value[1]
        self.lines.append(f"    {declared}{name} = {value[0]};")

    def _assign_all(self, names: list[str], value: ast.expr) -> None:
        """Assign several at once: all values are known before the first name changes."""
        place = f"all{len(self.lines)}"
        if isinstance(value, ast.Tuple):
            values = [self._expression(part) for part in value.elts]
            self.lines += [f"    const {kind} {place}_{k} = {text};" for k, (text, kind) in enumerate(values)]
            held = [(f"{place}_{k}", kind) for k, (_, kind) in enumerate(values)]
        else:
            text, _ = self._expression(value)
            called = _kernel(ast.unparse(value.func)) if isinstance(value, ast.Call) else None
            if called is None:
                raise self._refused(value)
            self.lines.append(f"    const struct {called.__name__}_results {place} = {text};")
            held = [(f"{place}.r{k}", kind) for k, kind in enumerate(_result_types(called))]
        for name, part in zip(names, held, strict=True):
            self._assign(name, part)

    def _return(self, value: ast.expr) -> None:
        if isinstance(value, ast.Tuple):
            parts = ", ".join(self._expression(part)[0] for part in value.elts)
            self.lines.append(f"    return (struct {self.tree.name}_results){{{parts}}};")
        else:
            self.lines.append(f"    return {self._expression(value)[0]};")

    def _expression(self, e: ast.expr) -> Typed:  # noqa: C901  (one line for each form there is)
        if isinstance(e, ast.Name):
            return e.id, self.types[e.id]
        if isinstance(e, ast.Attribute) and ast.unparse(e) in _NAMES:
            return _NAMES[ast.unparse(e)], "double"
        if isinstance(e, ast.Constant) and isinstance(e.value, float):
            return repr(e.value), "double"
        if isinstance(e, ast.Constant) and type(e.value) is int:
            return f"INT64_C({e.value})", "int64_t"
        if isinstance(e, ast.UnaryOp):
            text, kind = self._expression(e.operand)
            return (f"(!{text})", "int") if isinstance(e.op, ast.Not) else (f"(-{text})", kind)
        if isinstance(e, ast.BoolOp):  # operands have no effects: both are evaluated, without a branch
            sign = " & " if isinstance(e.op, ast.And) else " | "
            return f"({sign.join(self._expression(value)[0] for value in e.values)})", "int"
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            left, right = self._expression(e.left)[0], self._expression(e.comparators[0])[0]
            return f"({left} {_OPERATORS[type(e.ops[0])]} {right})", "int"
        if isinstance(e, ast.IfExp):
            condition, (then, kind), (other, _) = map(self._expression, (e.test, e.body, e.orelse))
            return f"({condition[0]} ? {then} : {other})", kind
        if isinstance(e, ast.BinOp):
            return self._binary(e)
        if isinstance(e, ast.Call):
            return self._call(e)
        raise self._refused(e)

    def _binary(self, e: ast.BinOp) -> Typed:
        (left, kind), (right, other) = self._expression(e.left), self._expression(e.right)
        if isinstance(e.op, ast.LShift):  # of a signed number it is not defined
            return f"(int64_t)((uint64_t){left} << {right})", "int64_t"
        return f"({left} {_OPERATORS[type(e.op)]} {right})", kind if kind == other else "double"

    def _call(self, e: ast.Call) -> Typed:
        name, args = ast.unparse(e.func), [self._expression(a)[0] for a in e.args]
        if name == "float":
            return args[0], "double"
        if name == "math.isnan":
            return f"({args[0]} != {args[0]})", "int"
        if name in _CALLS:
            return f"{_CALLS[name]}({', '.join(args)})", "double"
        called = _kernel(name)
        if called is None:
            raise self._refused(e)
        return f"{name}({', '.join(args)})", _result_types(called)[0]

    def _refused(self, node: ast.AST) -> TypeError:
        return TypeError(f"{self.tree.name}: {ast.unparse(node)!r} has no form in the C printer; write it otherwise")


def _kernel(name: str) -> Callable[..., Any] | None:
    """Return the function of that name among those that the kernels need."""
    return next((f for kernel in KERNELS.values() for f in kernel.functions if f.__name__ == name), None)
