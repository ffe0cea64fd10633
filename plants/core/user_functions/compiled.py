"""A function of numbers compiled by numba, in LLVM's words: a kernel's own compiler makes it a part of the kernel.

What numba compiles is a copy of the function whose names have the values they have now. It is kept as text, sealed as
all that is executed is, so that a later process needs no numba; numba's own files on disk are pickles, and never used.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib.metadata
import itertools
import json
import platform
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.kernel import cache, machine_code
from plants.core.user_functions.contents import NotCompilableError, closed_over, is_librarys, names_of, plain
from plants.core.user_functions.stand_ins import PLACE, STAND_INS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_C_LIBRARY = re.compile(
    "a?(cos|sin|tan)h?|atan2|cbrt|ceil|erfc?|exp2?|expm1|fabs|floor|fmod|hypot|log(10|1p|2)?|mem(cpy|move|set)|pow|round|"
    "sqrt|tgamma|trunc"
)
_SAME = 1e-9  # relative difference of a compiled function and Python's, which call other sines


@dataclass(frozen=True)
class CallForm:
    """How a function of tuples is called with flat numbers.

    Attributes
    ----------
    arguments : tuple of int or None
        Length of each argument that is a tuple; None for a number.
    results : tuple of str
        Where each number stands in what the function returns: ``[0]``, ``[1][2]``, or nothing for a number.
    """

    arguments: tuple[int | None, ...]
    results: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many numbers the function is given."""
        return sum(1 if size is None else size for size in self.arguments)

    def text(self) -> str:
        """Return a function ``entry`` of flat numbers that calls ``function``."""
        names = iter([f"a{k}" for k in range(self.count)])
        given = []
        for size in self.arguments:
            parts = list(itertools.islice(names, 1 if size is None else size))
            given.append(parts[0] if size is None else f"({', '.join(parts)}{',' if size == 1 else ''})")
        numbers = ", ".join(f"float(found{place})" for place in self.results)
        flat = ", ".join(f"a{k}" for k in range(self.count))
        return f"def entry({flat}):\n    found = function({', '.join(given)})\n    return {numbers}\n"


def versions() -> str:
    """Return what a compiled function depends on beside the function.

    Raises
    ------
    NotCompilableError
        If numba is not installed.
    """
    try:
        packages = [f"{name} {importlib.metadata.version(name)}" for name in ("numba", "llvmlite", "numpy")]
    except importlib.metadata.PackageNotFoundError as error:
        raise NotCompilableError(f"{error.name} is not installed: pip install {error.name}") from None
    return "\n".join([platform.python_version(), *packages, _own_text()])


@functools.cache
def _own_text() -> str:
    here = Path(__file__).parent
    texts = [path.read_bytes() for path in (here / "stand_ins.py", here / "contents.py", here / "compiled.py")]
    return hashlib.sha256(b"".join(texts)).hexdigest()


@dataclass(frozen=True)
class FunctionCode:
    """What numba made of a function.

    Attributes
    ----------
    text : str
        LLVM's text of the function, from doubles to its results; all NaN where it raised an exception.
    reads : tuple of tuple of int
        For each result, the places of the arguments that it may depend on.
    resident : bool
        Whether it needs numba in the process that runs it.
    """

    text: str
    reads: tuple[tuple[int, ...], ...]
    resident: bool


def code(name: str, function: FunctionType, entry: CallForm, points: Sequence[tuple[float, ...]]) -> FunctionCode:
    """Return what numba makes of a function, from the cache folder where it was made before.

    Parameters
    ----------
    name : str
        Its name there, which says all that it consists of.
    function : function
    entry : CallForm
    points : sequence of tuple of float
        Where what was compiled is compared with Python.

    Raises
    ------
    NotCompilableError
        If numba does not compile it, or what it compiles gives something else.
    """
    path = cache.folder() / f"function_{name}.ll"
    label = json.dumps([path.name, machine_code.processor(), versions().split("\n")])
    kept = cache.sealed(path, label)
    if kept is not None:
        record = json.loads(kept)
        return FunctionCode(record["text"], tuple(map(tuple, record["reads"])), resident=False)
    compiled = dispatcher(function, entry)
    _compare(compiled, PythonCall(function, entry), points)
    found = _reduced(name, compiled, entry)
    if not found.resident:
        cache.seal(path, label, json.dumps({"text": found.text, "reads": found.reads}).encode())
    return found


class PythonCall:
    """A function of flat numbers in plain Python."""

    def __init__(self, function: Callable[..., Any], entry: CallForm) -> None:
        self._call = _executed(entry, {"function": function})
        self._single = len(entry.results) == 1

    def __call__(self, *values: float) -> tuple[float, ...]:
        """Return all results."""
        found = self._call(*values)
        return (found,) if self._single else found


def dispatcher(function: FunctionType, entry: CallForm) -> Any:
    """Return a function of flat numbers as numba compiled it.

    Raises
    ------
    NotCompilableError
        With numba's reason.
    """
    from numba import njit
    from numba.core.errors import NumbaWarning

    copies = _Copies(njit)
    result = "float64" if len(entry.results) == 1 else f"UniTuple(float64, {len(entry.results)})"
    called = _executed(entry, {"function": copies.of(function, frozenset()), "float": float})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            return njit(f"{result}({', '.join(['float64'] * entry.count)})", error_model="python")(called)
    except Exception as error:  # noqa: BLE001  (whatever it raises, it does not compile this)
        raise NotCompilableError(_reason(error)) from None


def _executed(entry: CallForm, known: dict[str, Any]) -> Callable[..., Any]:
    exec(entry.text(), known)  # noqa: S102  (our own text)
    made: Callable[..., Any] = known["entry"]
    return made


class _Copies:
    """Copies of functions whose names have the values they have now, compiled by numba when they are called."""

    def __init__(self, njit: Any) -> None:
        self._njit = njit
        self._made: dict[int, Any] = {}

    def of(self, value: Any, names: frozenset[str]) -> Any:
        """Return what stands for a value in a copy; of a module, `names` are used."""
        if callable(value) and value in STAND_INS:
            stand_in = STAND_INS[value]
            return self._function(stand_in, error_model="numpy") if isinstance(stand_in, FunctionType) else stand_in
        value = plain(value)
        if isinstance(value, list):
            value = tuple(value)
        if isinstance(value, tuple):
            parts = [self.of(one, names) for one in value]
            same = all(a is b for a, b in zip(parts, value, strict=True))
            return value if same else tuple(parts)
        if isinstance(value, ModuleType):
            return self._module(value, names)
        if isinstance(value, FunctionType) and not is_librarys(value):  # of the user, or beside a stand-in
            if value.__module__ == PLACE:
                return self._function(value, error_model="numpy")
            return self._function(value, error_model="python", boundscheck=True)
        return value

    def _module(self, module: ModuleType, names: frozenset[str]) -> ModuleType:
        """A module, or a copy of its used parts where some are functions to be compiled."""
        used = {name: vars(module)[name] for name in sorted(names) if name in vars(module)}
        copies = {name: self.of(value, names) for name, value in used.items()}
        if all(copies[name] is value for name, value in used.items()):
            return module
        copy = ModuleType(module.__name__)
        copy.__dict__.update(copies)
        return copy

    def _function(self, function: FunctionType, **settings: Any) -> Any:
        if id(function) not in self._made:
            code, names = function.__code__, names_of(function.__code__)
            space: dict[str, Any] = {"__builtins__": builtins}
            cells = tuple(CellType() for _ in code.co_freevars)
            copy = FunctionType(code, space, function.__name__, function.__defaults__, cells)
            copy.__kwdefaults__ = function.__kwdefaults__
            self._made[id(function)] = self._njit(copy, **settings)
            # Only now: functions may call each other.
            known = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
            space |= {name: self.of(value, names) for name, value in known.items()}
            values = dict(closed_over(function))
            for name, cell in zip(code.co_freevars, cells, strict=True):
                cell.cell_contents = self.of(values[name], names)
        return self._made[id(function)]


_FILE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def _reason(error: Exception) -> str:
    """Return numba's reason as part of a sentence, with the line of the user's file."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines()]
    told = [
        line for line in lines if line and not line.startswith(("Failed in nopython", "During: ", "File ", "Enable "))
    ]
    told = [line for line in told if not set(line) <= set("-^~<> ")]
    place = next((found for found in map(_FILE.search, lines) if found and found["file"] != "<string>"), None)
    first = told[0].rstrip(".:") if told else type(error).__name__
    return f"{first} ({place['file']}:{place['line']})" if place else first


def _compare(compiled: Any, python: Callable[..., tuple[float, ...]], points: Sequence[tuple[float, ...]]) -> None:
    """Raise where numba means something else than Python does."""
    lost = (ArithmeticError, ValueError)
    for point in points:
        try:
            expected = np.array(python(*point))
        except lost:
            continue
        try:
            got = np.atleast_1d(compiled(*point))
        except lost:
            got = np.full(len(expected), np.nan)
        if not np.allclose(got, expected, rtol=_SAME, atol=_SAME, equal_nan=True):
            raise NotCompilableError(
                f"what numba compiles gives {got.tolist()} where Python gives {expected.tolist()}, at {list(point)}"
            )


def _reduced(name: str, compiled: Any, entry: CallForm) -> FunctionCode:
    """Nothing but a function `name`, NaN where numba's raises."""
    (result,) = compiled.overloads.values()
    text, inner = result.library.get_llvm_str(), result.fndesc.mangled_name
    module = _alone(text + _adapter(name, inner, entry), {name})
    outside = [one.name for one in (*module.functions, *module.global_variables) if one.is_declaration]
    resident = any(not one.startswith("llvm.") and not _C_LIBRARY.fullmatch(one) for one in outside)
    return FunctionCode(str(module), _reads(text, inner, entry), resident)


def _reads(text: str, inner: str, entry: CallForm) -> tuple[tuple[int, ...], ...]:
    """Arguments that each result may depend on: those that LLVM still needs where nothing else is asked for."""
    names = [f"result{k}" for k in range(len(entry.results))]
    each = "".join(_one_result(name, k, inner, entry) for k, name in enumerate(names))
    module = _alone(text + each, set(names), ends=True)
    bodies = [str(module.get_function(name)).partition("{")[2] for name in names]
    return tuple(tuple(k for k in range(entry.count) if re.search(rf"%a{k}\b", body)) for body in bodies)


def _alone(text: str, names: set[str], *, ends: bool = False) -> Any:
    """LLVM's improved module of these functions of a text, and of what they call; `ends`: no loop goes on for ever."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    for one in (*module.functions, *module.global_variables):
        if not one.is_declaration and one.name not in names:
            one.linkage = "internal"
    for one in module.functions if ends else ():
        if not one.is_declaration:
            one.add_function_attribute("mustprogress")
    machine_code.optimise(module)
    return module


def _begun(kind: str, name: str, inner: str, entry: CallForm) -> list[str]:
    """The head of a function of doubles around one in numba's manner, which gives a status and writes its results."""
    given = ", ".join(f"double %a{k}" for k in range(entry.count))
    passed = ", ".join(["ptr %results", "ptr %exception", *([given] if given else [])])
    return [
        f"define {kind} @{name}({given}) {{",
        f"  %results = alloca [{len(entry.results)} x double]",
        "  %exception = alloca ptr",
        f"  %status = call i32 @{inner}({passed}) alwaysinline",
        "  %good = icmp eq i32 %status, 0",
    ]


def _one_result(name: str, k: int, inner: str, entry: CallForm) -> str:
    """A function that gives one result, and takes for granted that nothing is raised."""
    lines = [
        *_begun("double", name, inner, entry),
        "  br i1 %good, label %well, label %never",
        "never:",
        "  unreachable",
        "well:",
        f"  %p = getelementptr double, ptr %results, i64 {k}",
        "  %r = load double, ptr %p",
        "  ret double %r",
    ]
    return "\n".join(["", *lines, "}", ""])


def _adapter(name: str, inner: str, entry: CallForm) -> str:
    """A function of doubles that gives all results, NaN where the status is not good."""
    count = len(entry.results)
    kind = "double" if count == 1 else "{ " + ", ".join(["double"] * count) + " }"
    lines = _begun(kind, name, inner, entry)
    whole = "undef"
    for k in range(count):
        lines += [
            f"  %p{k} = getelementptr double, ptr %results, i64 {k}",
            f"  %r{k} = load double, ptr %p{k}",
            f"  %v{k} = select i1 %good, double %r{k}, double 0x7FF8000000000000",
        ]
        if count > 1:
            lines.append(f"  %w{k} = insertvalue {kind} {whole}, double %v{k}, {k}")
            whole = f"%w{k}"
    lines.append(f"  ret {kind} {'%v0' if count == 1 else whole}")
    return "\n".join(["", *lines, "}", ""])
