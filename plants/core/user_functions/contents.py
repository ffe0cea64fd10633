"""All that a function consists of: its code, what it calls, and the constants that it reads.

A function is compiled with the values that its names have now. So its digest covers them: another helper, another entry
of a table or another closed-over number make another function. Places in files do not count.
"""

from __future__ import annotations

import hashlib
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.user_functions.stand_ins import STAND_INS

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIBRARIES = frozenset({"numpy", "scipy", "numba", "llvmlite"})
_RANDOM = frozenset({"random", "numpy.random", "secrets"})


class NotCompilableError(TypeError):
    """A function that cannot be compiled; the text says why, as a part of a sentence."""


def digest(function: FunctionType) -> str:
    """Return a digest of all that a function consists of.

    Raises
    ------
    NotCompilableError
        If something that it reads is neither numbers, texts, tables nor a function.
    """
    return hashlib.sha256(_Reader().of("it", function, frozenset()).encode()).hexdigest()


def names_of(code: CodeType) -> frozenset[str]:
    """Return the names of globals and attributes that a function's code uses, inner functions included."""
    inner = (names_of(one) for one in code.co_consts if isinstance(one, CodeType))
    return frozenset(code.co_names).union(*inner)


def closed_over(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield names and values that a function takes from the functions around it."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            raise NotCompilableError(f"its name {name!r} has no value yet") from None


def plain(value: Any) -> Any:
    """Return the Python function inside of a wrapper: a plant's block, or a function that is compiled already."""
    for attribute in ("py_func", "__wrapped__"):
        inner = getattr(value, attribute, None)
        if isinstance(inner, FunctionType) and not isinstance(value, FunctionType):
            return inner
    return value


def is_librarys(function: FunctionType) -> bool:
    """Whether a function is of Python's own or a numerical library, which is taken by its name."""
    root = (function.__module__ or "").partition(".")[0]
    return root in _LIBRARIES or root in sys.stdlib_module_names


class _Reader:
    """Writes down what it is shown; functions that call each other are written once."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}

    def of(self, name: str, value: Any, names: frozenset[str]) -> str:
        """Return a value of this name as text; of modules, what is used by `names`."""
        if callable(value) and value in STAND_INS:
            return _by_name(value)
        value = plain(value)
        if isinstance(value, (tuple, list, frozenset)):
            parts = [self.of(name, one, names) for one in value]
            return f"{type(value).__qualname__}({', '.join(sorted(parts) if isinstance(value, frozenset) else parts)})"
        if isinstance(value, CodeType):
            return self._code(value)
        if isinstance(value, ModuleType):
            return self._module(name, value, names)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, (type, BuiltinFunctionType, np.ufunc)) or _is_numpys(value):
            return _by_name(value)
        return _of_numbers(name, value)

    def _module(self, name: str, module: ModuleType, names: frozenset[str]) -> str:
        if module.__name__ in _RANDOM:
            raise NotCompilableError(f"it draws random numbers of its own ({module.__name__}): take a disturbance")
        if module.__name__.partition(".")[0] in sys.stdlib_module_names:
            return module.__name__
        used = [one for one in sorted(names) if one in vars(module)]
        if module.__name__.partition(".")[0] in _LIBRARIES:  # only to see what it draws from
            used = [one for one in used if isinstance(vars(module)[one], ModuleType)]
        parts = [f"{one}: {self.of(f'{name}.{one}', vars(module)[one], names)}" for one in used]
        return f"{module.__name__}({'; '.join(parts)})"

    def _function(self, function: FunctionType) -> str:
        if is_librarys(function):
            return f"{function.__module__}.{function.__qualname__}"
        if id(function) in self._seen:
            return f"function {self._seen[id(function)]}"
        self._seen[id(function)] = len(self._seen)
        names = names_of(function.__code__)
        known = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
        parts = [self._code(function.__code__)]
        for name, value in [*known.items(), *closed_over(function)]:
            parts.append(f"{name}: {self.of(name, value, names)}")
        given = (function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items())))
        parts += [self.of("a default value", one, names) for one in given]
        return f"function({'; '.join(parts)})"

    def _code(self, code: CodeType) -> str:
        counts = (code.co_argcount, code.co_kwonlyargcount, code.co_flags)
        named = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        constants = self.of("a constant", code.co_consts, frozenset())
        return f"code({code.co_code.hex()}, {code.co_exceptiontable.hex()}, {counts}, {named}, {constants})"


def _of_numbers(name: str, value: Any) -> str:
    """Text of numbers, strings and arrays with all their bits."""
    if value is None or value is Ellipsis or isinstance(value, (bool, int, str, bytes, complex)):
        return repr(value)
    if isinstance(value, float):
        return f"{type(value).__name__} {value.hex()}"
    if isinstance(value, np.generic):
        return f"{value.dtype} {value.tobytes().hex()}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    kind = type(value).__name__
    raise NotCompilableError(f"{name} is {'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}, not numbers or a table")


def _by_name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', value)}"


def _is_numpys(value: Any) -> bool:
    """Whether a value is a function of NumPy's that is none of Python's."""
    return callable(value) and (getattr(value, "__module__", "") or "").partition(".")[0] == "numpy"
