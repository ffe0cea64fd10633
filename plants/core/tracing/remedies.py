"""What to write instead, in the words of the line itself: ``max(flow, 0.0)`` becomes ``maximum(flow, 0.0)``.

Python knows where in the line an operation stands; the source there is read as a syntax tree, and the form that can be
straight-line code is written from its parts. Where there is no source (a console, a generated function) the general
remedy stands.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

FUNCTIONS = (
    "abs",
    "acos",
    "asin",
    "atan2",
    "clip",
    "cos",
    "exp",
    "floor",
    "log",
    "maximum",
    "minimum",
    "pow",
    "quotient",
    "sign",
    "sin",
    "sqrt",
    "table1d",
    "table2d",
    "tan",
    "tanh",
    "where",
)
"""Names of :mod:`plants.core.elementary`, which stands above this module."""

_SAME = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan2": "atan2",
    "fabs": "abs",
    "absolute": "abs",
    "interp": "table1d",
    "interp1d": "table1d",
    "fmax": "maximum",
    "fmin": "minimum",
    "max": "maximum",
    "min": "minimum",
    "amax": "maximum",
    "amin": "minimum",
    "divide": "quotient",
}
"""Functions of Python, math and NumPy that are called otherwise here."""

_FORMS: dict[str, tuple[str, ...]] = {
    "pow": ("", "{0} ** {1}"),
    "power": ("", "{0} ** {1}"),
    "atan": ("atan2({0}, 1.0)",),
    "arctan": ("atan2({0}, 1.0)",),
    "sinh": ("0.5 * (exp({0}) - exp(-{0}))",),
    "cosh": ("0.5 * (exp({0}) + exp(-{0}))",),
    "log10": ("log({0}) / 2.302585092994046",),
    "log2": ("log({0}) / 0.6931471805599453",),
    "log1p": ("log(1.0 + {0})",),
    "expm1": ("exp({0}) - 1.0",),
    "square": ("{0} ** 2",),
    "cbrt": ("sign({0}) * pow(abs({0}), 1.0 / 3.0)",),
    "hypot": ("", "sqrt({0} ** 2 + {1} ** 2)"),
    "copysign": ("", "abs({0}) * where({1}, 1.0, -1.0)"),
    "heaviside": ("", "where({0}, 1.0, 0.0)"),
    "ceil": ("-floor(-{0})",),
    "int": ("sign({0}) * floor(abs({0}))",),
    "trunc": ("sign({0}) * floor(abs({0}))",),
    "round": ("floor({0} + 0.5)", "floor({0} * 10.0**{1} + 0.5) / 10.0**{1}"),
    "fmod": ("", "{0} - {1} * floor({0} / {1})"),
    "mod": ("", "{0} - {1} * floor({0} / {1})"),
    "radians": ("{0} * 0.017453292519943295",),
    "deg2rad": ("{0} * 0.017453292519943295",),
    "degrees": ("{0} * 57.29577951308232",),
    "rad2deg": ("{0} * 57.29577951308232",),
    "float": ("{0}",),
    "float64": ("{0}",),
    "isnan": ("0.0",),
    "sum": ("sum({0})",),
}
"""What has no function of its own, by the number of arguments."""

_LISTS = {
    "array": "a tuple, (a, b)",
    "asarray": "a tuple, (a, b)",
    "zeros": "a tuple, (a, b)",
    "dot": "sum(a * b for a, b in zip(row, x))",
    "matmul": "tuple(sum(a * b for a, b in zip(row, x)) for row in matrix)",
    "solve": "the plant's mass_matrix and force, or plants.core.linear_solve,",
    "range": "range with a fixed number",
    "sorted": "minimum(a, b) and maximum(a, b)",
    "any": "maximum(a, b) of conditions, each above 0 where it holds,",
    "all": "minimum(a, b) of conditions, each above 0 where it holds,",
}
"""What works on lists and arrays."""

_RULE = "it gives its second number where the first is > 0, else the third"


def remedy(frame: FrameType | None) -> str | None:
    """Return what to write in place of what `frame` is doing; None where its source is not known or says nothing."""
    path = _path_to(frame)
    for cure in (_of_call, _of_decision, _of_operator):
        text = cure(path) if path else None
        if text:
            return text + _import_for(text, frame.f_globals if frame else {})
    return None


def missing_name(error: BaseException) -> str:
    """Return what an error says of functions of elementary that are not imported, or of a number's methods; or ""."""
    if isinstance(error, NameError) and error.name in {*FUNCTIONS, *_SAME, "np", "math"}:
        name = _SAME.get(error.name, error.name)
        return f"from plants.core.elementary import {name}" if name in FUNCTIONS else f"import {_module(name)}"
    if isinstance(error, ImportError) and error.name == "plants.core.elementary":
        return f"it has {', '.join(FUNCTIONS)}; the arc tangent of y is atan2(y, 1.0)"
    if isinstance(error, AttributeError) and type(error.obj).__name__ == "Traced" and error.name in FUNCTIONS:
        return f"numbers have no methods: write {error.name}(...)"
    if isinstance(error, TypeError) and "unhashable type: 'Traced'" in str(error):
        return "a number that is not known yet looks nothing up: use table1d(x, nodes, values) or where(...)"
    if isinstance(error, ValueError) and "setting an array element" in str(error):
        return "collect numbers in a list or a tuple, not in an array"
    return ""


def _module(name: str) -> str:
    return {"np": "numpy as np"}.get(name, name)


def _path_to(frame: FrameType | None) -> list[ast.AST]:
    """Nodes from the operation that `frame` is at to the function around it, innermost first."""
    if frame is None:
        return []
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    linecache.checkcache(frame.f_code.co_filename)
    tree = _tree("".join(linecache.getlines(frame.f_code.co_filename)))
    if tree is None or None in positions:
        return []
    first, last, begin, end = positions
    path: list[ast.AST] = []
    _descend(tree, (first, begin, last, end), path)
    return path[::-1] if path else []


def _descend(node: ast.AST, wanted: tuple[int | None, ...], path: list[ast.AST]) -> bool:
    path.append(node)
    if _place(node) == wanted and not isinstance(node, (ast.Expr, ast.Module)):
        return True
    if any(_descend(child, wanted, path) for child in ast.iter_child_nodes(node)):
        return True
    path.pop()
    return False


def _place(node: ast.AST) -> tuple[int | None, ...]:
    return tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


@functools.lru_cache(maxsize=8)  # by its text: a file that is written again is another one
def _tree(source: str) -> ast.AST | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _of_call(path: Sequence[ast.AST]) -> str | None:
    """Functions of Python, math and NumPy."""
    call = path[0]
    if not isinstance(call, ast.Call):
        return None
    name = _name(call)
    arguments = call.args
    if name in {"max", "min"} and len(arguments) == 1 and isinstance(arguments[0], (ast.List, ast.Tuple)):
        arguments = arguments[0].elts
    texts, given = [ast.unparse(arg) for arg in arguments], f"instead of {ast.unparse(call)}"
    if name in _LISTS:
        return f"use {_LISTS[name]} {given}"
    forms = _FORMS.get(name, ())
    if 1 <= len(texts) <= len(forms) and forms[len(texts) - 1]:
        return f"use {_plain(forms[len(texts) - 1].format(*map(_operand, arguments)))} {given}"
    own = _SAME.get(name, name)
    if own in {"maximum", "minimum"}:
        return f"use {functools.reduce(lambda a, b: f'{own}({a}, {b})', texts)} {given}" if len(texts) > 1 else None
    if own == "where" and not (isinstance(call.func, ast.Attribute) and len(texts) == 3):
        return None
    return f"use {own}({', '.join(texts)}) {given}" if own in FUNCTIONS else None


def _operand(node: ast.expr) -> str:
    """The text of an operand, in brackets where other operations could tear it apart."""
    whole = isinstance(node, (ast.Name, ast.Constant, ast.Subscript, ast.Call, ast.Attribute))
    return ast.unparse(node) if whole else f"({ast.unparse(node)})"


def _plain(text: str) -> str:
    """An expression without brackets that it does not need."""
    return ast.unparse(ast.parse(text, mode="eval"))


def _of_decision(path: Sequence[ast.AST]) -> str | None:
    """Comparisons and truth values: chosen between, decided on, or used as a number."""
    test = path[0]
    if not isinstance(test, ast.expr) or isinstance(test, (ast.Call, ast.BinOp, ast.Subscript)):
        return None
    decides = isinstance(test, (ast.Compare, ast.BoolOp, ast.UnaryOp))
    for node in path[1:]:
        if isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            test, decides = node, True
            continue
        condition = _condition(test)
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and test is node.test and condition:
            return _instead(node, condition)
        if isinstance(node, ast.Call) and decides and condition and _name(node) == "where" and test in node.args:
            others = ", ".join(ast.unparse(arg) for arg in node.args[1:])
            return f"use where({condition}, {others}) instead of {ast.unparse(node)}: {_RULE}"
        if isinstance(node, ast.Call) and _name(node) in {"any", "all"}:
            return _of_call([node])
        if isinstance(node, (ast.List, ast.Tuple, ast.GeneratorExp)):
            continue
        break
    condition = _condition(test)
    return (
        f"use where({condition}, 1.0, 0.0) instead of ({ast.unparse(test)}): {_RULE}" if decides and condition else None
    )


def _instead(node: ast.If | ast.IfExp | ast.While, condition: str) -> str:
    if isinstance(node, ast.IfExp):
        chosen = f"where({condition}, {ast.unparse(node.body)}, {ast.unparse(node.orelse)})"
        return f"use {chosen} instead of {ast.unparse(node)}: {_RULE}"
    test = ast.unparse(node.test)
    if isinstance(node, ast.While):
        return (
            f"use a loop of fixed length, for k in range(10), with where({condition}, a, b) in it instead of while "
            f"{test}: blocks are run once for all numbers"
        )
    return f"use where({condition}, a, b) instead of if {test}, with a and b what its two branches compute: {_RULE}"


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _condition(test: ast.AST) -> str | None:
    """A number that is above 0 where the test holds."""
    if isinstance(test, ast.BoolOp):
        parts = [_condition(value) for value in test.values]
        return _joined("minimum" if isinstance(test.op, ast.And) else "maximum", parts)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _condition(test.operand)
        return _plain(f"-({inner})") if inner else None
    if isinstance(test, ast.Compare):
        terms = [test.left, *test.comparators]
        pairs = zip(test.ops, terms[:-1], terms[1:], strict=True)
        return _joined("minimum", [_compared(*pair) for pair in pairs])
    return ast.unparse(test)


def _joined(function: str, parts: Sequence[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return functools.reduce(lambda a, b: f"{function}({a}, {b})", known) if len(known) == len(parts) else None


def _compared(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> str | None:
    if isinstance(operator, (ast.Gt, ast.GtE)):
        return _difference(left, right)
    if isinstance(operator, (ast.Lt, ast.LtE)):
        return _difference(right, left)
    if isinstance(operator, ast.Eq):
        return f"1e-9 - abs({_difference(left, right)})"
    return f"abs({_difference(left, right)}) - 1e-9" if isinstance(operator, ast.NotEq) else None


def _difference(above: ast.expr, below: ast.expr) -> str:
    if isinstance(below, ast.Constant) and below.value == 0:
        return ast.unparse(above)
    simple = isinstance(below, ast.BinOp) and isinstance(below.op, (ast.Mult, ast.Div))
    return f"{ast.unparse(above)} - {ast.unparse(below) if simple else _operand(below)}"


def _of_operator(path: Sequence[ast.AST]) -> str | None:
    """Remainders, whole quotients, tables read by a number that is not known yet."""
    node = path[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.FloorDiv)):
        a, b = _operand(node.left), _operand(node.right)
        whole = f"floor({a} / {b})"
        form = whole if isinstance(node.op, ast.FloorDiv) else f"{a} - {b} * {whole}"
        return f"use {_plain(form)} instead of {ast.unparse(node)}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return f"use {_LISTS['matmul']} instead of {ast.unparse(node)}"
    if isinstance(node, ast.Subscript):
        table = f"table1d({ast.unparse(node.slice)}, nodes, {ast.unparse(node.value)})"
        return f"use {table} instead of {ast.unparse(node)}"
    return None


def _import_for(text: str, known: Mapping[str, object]) -> str:
    """Which functions of the remedy the file has not imported from elementary."""
    written = text.partition(" instead of ")[0]
    used = [name for name in FUNCTIONS if re.search(rf"\b{name}\(", written)]
    from_here = "plants.core.elementary"
    needed = [name for name in used if name != "abs" and getattr(known.get(name), "__module__", "") != from_here]
    return f" (from plants.core.elementary import {', '.join(needed)})" if needed else ""
