"""CasADi expressions as a plant: their graph, operation by operation, becomes ours.

Source: J. A. E. Andersson et al., CasADi: a software framework for nonlinear optimization and optimal control,
Mathematical Programming Computation 11 (2019) 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.adapters import functions as extra
from plants.adapters.instructions import KINDS, Instructions, plant_of
from plants.adapters.optional import package
from plants.core import elementary as e

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.core.plant import Plant
    from plants.core.quantities import Quantity

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "ASSIGN": lambda a: a, "ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "MUL": lambda a, b: a * b,
    "DIV": lambda a, b: a / b, "NEG": lambda a: -a, "EXP": e.exp, "LOG": e.log, "POW": e.pow, "CONSTPOW": e.pow,
    "SQRT": e.sqrt, "SQ": lambda a: a * a, "TWICE": lambda a: 2.0 * a, "SIN": e.sin, "COS": e.cos, "TAN": e.tan,
    "ASIN": e.asin, "ACOS": e.acos, "ATAN": extra.atan, "LT": extra.less, "LE": extra.less_equal, "EQ": extra.equal,
    "NE": extra.unequal, "NOT": extra.negated, "AND": extra.both, "OR": extra.either, "FLOOR": e.floor,
    "CEIL": extra.ceiling, "FMOD": extra.remainder, "FABS": e.abs, "SIGN": e.sign, "COPYSIGN": extra.copysign,
    "IF_ELSE_ZERO": extra.chosen, "FMIN": e.minimum, "FMAX": e.maximum, "INV": lambda a: 1.0 / a, "SINH": extra.sinh,
    "COSH": extra.cosh, "TANH": e.tanh, "ASINH": extra.asinh, "ACOSH": extra.acosh, "ATANH": extra.atanh,
    "ATAN2": e.atan2, "LOG1P": extra.log1p, "EXPM1": extra.expm1, "HYPOT": extra.hypot,
}  # fmt: skip


def from_casadi(
    name: str,
    expressions: Mapping[str, Any],
    *,
    states: Sequence[tuple[Any, Quantity]],
    inputs: Sequence[tuple[Any, Quantity]] = (),
    disturbances: Sequence[tuple[Any, Quantity]] = (),
    parameters: Sequence[tuple[Any, Quantity]] = (),
    time: Any = None,
    **more: Any,
) -> Plant:
    """Return a plant whose blocks are CasADi expressions; it is compiled like any other.

    Parameters
    ----------
    name : str
    expressions : mapping
        Of "derivative", and if there are any "outputs", "energy", "supplied_power", "entropy_rate": SX or MX
        expressions, vectors or lists of scalars.
    states, inputs, disturbances, parameters : sequence of (symbol, Quantity)
        The scalar symbols (``casadi.SX.sym`` or ``MX.sym``) that the expressions are made of.
    time : symbol, optional
    **more
        Anything else that a :class:`plants.Plant` declares: `channels`, `measurements`, `situations`, ...

    Raises
    ------
    ValueError
        For an expression with other symbols (naming them), or an operation that has no compiled form (naming it).
    """
    groups = dict(zip(KINDS, (states, inputs, disturbances, parameters), strict=True))

    def translate(block: str, expression: Any) -> Instructions:
        return _instructions(f"{block} of plant {name!r}", expression, groups, time)

    return plant_of(name, expressions, groups, translate, more)


def _instructions(what: str, expression: Any, groups: Mapping[str, Sequence[tuple[Any, Quantity]]], time: Any) -> Any:
    """Translate one expression."""
    casadi = package("casadi")
    whole = casadi.vertcat(*expression) if isinstance(expression, (list, tuple)) else casadi.vec(expression)
    kind = type(next(symbol for pairs in groups.values() for symbol, _ in pairs))
    vectors = [casadi.vertcat(kind(), *(symbol for symbol, _ in groups[group])) for group in KINDS]
    vectors.insert(0, kind(0, 1) if time is None else time)
    known = {symbol.name() for symbol in casadi.symvar(casadi.veccat(*vectors))}
    strange = [symbol.name() for symbol in casadi.symvar(kind(whole)) if symbol.name() not in known]
    if strange:
        raise ValueError(f"{what} has symbols that are no state, input, disturbance or parameter: {', '.join(strange)}")
    return _translated(what, _function(casadi, vectors, kind(whole), groups, time))


def _function(casadi: Any, vectors: Sequence[Any], whole: Any, groups: Mapping[str, Any], time: Any) -> Any:
    """The expression as a function of (t, x, u, w, p) in scalar operations."""
    if isinstance(whole, casadi.SX):
        return casadi.Function("block", list(vectors), [whole])
    symbols = [[symbol for symbol, _ in groups[group]] for group in KINDS]
    scalars = [casadi.SX.sym("t", 0 if time is None else 1)]
    scalars += [casadi.SX.sym(group, len(found)) for group, found in zip(KINDS, symbols, strict=True)]
    arguments = [*([] if time is None else [time]), *(symbol for found in symbols for symbol in found)]
    values = [*([] if time is None else [scalars[0]])]
    values += [vector[k] for vector, found in zip(scalars[1:], symbols, strict=True) for k in range(len(found))]
    inner = casadi.Function("inner", arguments, [whole]).expand()
    return casadi.Function("block", scalars, [inner(*values)])


def _translated(what: str, function: Any) -> Instructions:
    casadi, code = package("casadi"), Instructions()
    names = {getattr(casadi, key): key.removeprefix("OP_") for key in dir(casadi) if key.startswith("OP_")}
    places: dict[int, int] = {}  # of the function's work vector, whose places are used again
    found: dict[int, int] = {}
    for k in range(function.n_instructions()):
        operation = names[function.instruction_id(k)]
        into, given = function.instruction_output(k), function.instruction_input(k)
        if operation == "CONST":
            places[into[0]] = code.constant(function.instruction_constant(k))
        elif operation == "INPUT":
            places[into[0]] = code.input(given[0], given[1])
        elif operation == "OUTPUT":
            found[into[1]] = places[given[0]]
        elif operation in _OPERATIONS:
            places[into[0]] = code.add(_OPERATIONS[operation], *(places[place] for place in given))
        else:
            raise ValueError(f"{what}: CasADi's operation {operation} has no compiled form; rewrite it")
    size = function.size1_out(0)
    zero = code.constant(0.0) if len(found) < size else 0  # entries that are structurally 0 are not written
    nonzero = function.sparsity_out(0).row()
    by_row = {row: found[k] for k, row in enumerate(nonzero)}
    code.outputs = [by_row.get(row, zero) for row in range(size)]
    return code
