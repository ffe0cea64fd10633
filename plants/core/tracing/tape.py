"""The tape: a block run once with symbols becomes straight-line code.

Every operation on a traced number is appended to its tape. Equal operations on equal arguments are the same node
(hash-consing), operations on constants are carried out at once. A traced number has no value yet, so nothing can
be decided by it or computed elsewhere: what cannot be straight-line code (a comparison, a truth value, a
conversion to float) raises :class:`TracingError` with the line of the user's function and the remedy.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from plants.core.tracing import calls, scalar
from plants.core.tracing.remedies import remedy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType


__all__ = ["Tape", "Traced", "TracingError"]


_HERE = Path(__file__).resolve().parents[1]
_REMEDY = "use where(condition, a, b): it gives a where condition > 0, else b"


class TracingError(TypeError):
    """A block did something with a traced number that has no straight-line form."""


def _user_frame() -> FrameType | None:
    """The innermost frame outside plants.core and libraries: where the block's author can act."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  (the only way to name the line without a traceback)
    while frame is not None and (
        _HERE in Path(frame.f_code.co_filename).resolve().parents
        or frame.f_globals.get("__name__", "").partition(".")[0] in {"numpy", "scipy"}
    ):
        frame = frame.f_back
    return frame


def refuse(what: str, general: str = _REMEDY) -> NoReturn:
    """Raise a :class:`TracingError` that names the user's line and what to write there instead."""
    frame = _user_frame()
    line = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}" if frame else "unknown line"
    raise TracingError(f"{line}: {what} of a traced number; {remedy(frame) or general}")


class SymbolicNumber:
    """A number that is compared with nothing, has no truth value and is no plain number.

    Attributes
    ----------
    CONVERTED : str
        What to do instead of a conversion to a plain number.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    CONVERTED: ClassVar[str]

    def _compared(self, *_: object) -> NoReturn:
        refuse("comparison")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __bool__(self) -> NoReturn:  # noqa: PLE0304  (there is no truth value to return)
        refuse("truth value (if, and, or, not, while, min, max, sorted)")

    def _converted(self, *_: object) -> NoReturn:
        refuse("conversion to a plain number", self.CONVERTED)

    def __format__(self, form: str) -> str:
        return refuse("text with digits", "print it where it has a value, in a simulation") if form else repr(self)

    __float__ = __int__ = __index__ = __complex__ = __round__ = __floor__ = __ceil__ = __trunc__ = _converted
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = _converted


_COMMUTATIVE = frozenset({"add", "mul"})
_POWERS_UNROLLED = 16
_UFUNCS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "power": "pow"}
_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


class Tape:
    """Nodes in order of creation; node i only refers to nodes before it.

    Attributes
    ----------
    operations : list of str
        Name of each node's operation: ``input``, ``const``, a name of :data:`plants.core.tracing.scalar.OPERATIONS`, or
        a result of a function that is called (:mod:`plants.core.tracing.calls`).
    arguments : list of tuple of int
        Node numbers of each node's arguments (for ``const`` and ``input``: empty).
    shapes : list of bytes
        Digest of each node's expression down to inputs and to what was kept under a name. Arguments of sums and
        products are ordered by it, so that the same expression is the same whatever else is on the tape.
    """

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.arguments: list[tuple[int, ...]] = []
        self.shapes: list[bytes] = []
        self.constants: dict[int, float] = {}
        self.input_names: dict[int, str] = {}
        self._seen: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self.operations)

    def _append(
        self, operation: str, arguments: tuple[int, ...], key: tuple[Any, ...], stands_for: str | None = None
    ) -> int:
        if key not in self._seen:
            self._seen[key] = len(self.operations)
            shape = key if operation in {"input", "const"} else (operation, *(self.shapes[a] for a in arguments))
            shape = shape if stands_for is None else ("input", stands_for)
            self.shapes.append(hashlib.blake2b(repr(shape).encode(), digest_size=16).digest())
            self.operations.append(operation)
            self.arguments.append(arguments)
        return self._seen[key]

    def input(self, name: str) -> Traced:
        """Return the traced number called `name`; the same name is the same number."""
        index = self._append("input", (), ("input", name))
        self.input_names[index] = name
        return Traced(self, index)

    def constant(self, value: float) -> Traced:
        """Return `value` as a node of this tape."""
        number = float(value)
        index = self._append("const", (), ("const", number.hex()))
        self.constants[index] = number
        return Traced(self, index)

    def lift(self, value: object) -> Traced:
        """Return `value` as a traced number of this tape, or raise if it is neither a number nor of this tape."""
        if isinstance(value, Traced):
            if value.tape is not self:
                refuse("mixing two tapes", "trace all blocks of one computation in one call")
            return value
        if isinstance(value, (int, float)) or (hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0):
            return self.constant(float(value))
        return refuse(
            f"arithmetic with {type(value).__name__}", "blocks compute with numbers and flat tuples of numbers"
        )

    def apply(self, operation: str, *values: object) -> Traced:
        """Append `operation` on `values`, folding constants and the identities that are exact for finite numbers."""
        nodes = tuple(self.lift(value).index for value in values)
        if calls.is_call(operation):
            return Traced(self, self._append(operation, nodes, (operation, *nodes)))
        known = [self.constants.get(node) for node in nodes]
        if all(number is not None for number in known):
            return self.constant(scalar.OPERATIONS[operation](*known))
        if operation == "sub" and known[0] == 0.0:
            return self.apply("neg", values[1])
        short = _identity(operation, nodes, known)
        if short is not None:
            return self.constant(short) if isinstance(short, float) else Traced(self, short)
        if operation in _COMMUTATIVE:
            nodes = tuple(sorted(nodes, key=self.shapes.__getitem__))
        return Traced(self, self._append(operation, nodes, (operation, *nodes)))

    def keep(self, value: object, name: str | None = None) -> Traced:
        """Return `value` as a number that was rounded here: printers never join operations across it.

        Whether a product and a sum become one fused operation must not depend on which other code shares the tape, or
        a feature that is compiled in but not used would change bits.

        Parameters
        ----------
        value : number
        name : str, optional
            What it stands for. It is then what an input of that name would be, to the bit, whatever it was computed by:
            no constant is folded across it, and what is computed from it has the same order of arguments.
        """
        number = self.lift(value)
        if name is None and self.operations[number.index] in {"const", "input", "keep"}:
            return number
        if name is not None and self.input_names.get(number.index) == name:
            return number
        return Traced(self, self._append("keep", (number.index,), ("keep", number.index, name), name))

    def needed(self, outputs: Iterable[int]) -> list[int]:
        """Return the nodes that `outputs` depend on, in order of evaluation (dead code is not among them)."""
        marked: set[int] = set()
        stack = list(outputs)
        while stack:
            node = stack.pop()
            if node not in marked:
                marked.add(node)
                stack.extend(self.arguments[node])
        return sorted(marked)

    def counts(self, outputs: Iterable[int]) -> dict[str, int]:
        """Return how often each operation occurs among the nodes that `outputs` need."""
        result: dict[str, int] = {}
        for node in self.needed(outputs):
            name = self.operations[node]
            if name not in {"input", "const"}:
                result[name] = result.get(name, 0) + 1
        return result


def _identity(operation: str, nodes: tuple[int, ...], known: list[float | None]) -> int | float | None:
    """Node or constant that the operation reduces to, or None."""
    if operation == "where":
        if known[0] is not None:
            return nodes[1] if known[0] > 0.0 else nodes[2]
        return nodes[1] if nodes[1] == nodes[2] else None
    if len(nodes) != 2:
        return None
    (left, right), (a, b) = nodes, known
    if operation == "add":
        return right if a == 0.0 else left if b == 0.0 else None
    if operation == "sub":
        return left if b == 0.0 else 0.0 if left == right else None
    if operation == "mul":
        if 0.0 in (a, b):
            return 0.0
        return right if a == 1.0 else left if b == 1.0 else None
    if operation in {"div", "quotient"}:
        return left if b == 1.0 else 0.0 if a == 0.0 else None
    return left if operation in {"minimum", "maximum"} and left == right else None


class Traced(SymbolicNumber):
    """A number whose history is on a tape. Arithmetic works; deciding on it raises."""

    __slots__ = ("index", "tape")
    CONVERTED: ClassVar[str] = "use the functions of plants.core.elementary instead of math's"

    def __init__(self, tape: Tape, index: int) -> None:
        self.tape = tape
        self.index = index

    def __repr__(self) -> str:
        return f"Traced({self.tape.operations[self.index]} #{self.index})"

    def __add__(self, other: object) -> Traced:
        return self.tape.apply("add", self, other)

    def __radd__(self, other: object) -> Traced:
        return self.tape.apply("add", other, self)

    def __sub__(self, other: object) -> Traced:
        return self.tape.apply("sub", self, other)

    def __rsub__(self, other: object) -> Traced:
        return self.tape.apply("sub", other, self)

    def __mul__(self, other: object) -> Traced:
        return self.tape.apply("mul", self, other)

    def __rmul__(self, other: object) -> Traced:
        return self.tape.apply("mul", other, self)

    def __truediv__(self, other: object) -> Traced:
        return self.tape.apply("div", self, other)

    def __rtruediv__(self, other: object) -> Traced:
        return self.tape.apply("div", other, self)

    def __neg__(self) -> Traced:
        return self.tape.apply("neg", self)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        return self.tape.apply("abs", self)

    def __pow__(self, exponent: object) -> Traced:
        if not isinstance(exponent, Traced) and hasattr(exponent, "__index__"):
            exponent = int(exponent)  # NumPy's integers as well
        if isinstance(exponent, (int, float)) and float(exponent).is_integer() and abs(exponent) <= _POWERS_UNROLLED:
            return _integer_power(self, int(exponent))
        if isinstance(exponent, float) and abs(exponent) == 0.5:
            root = self.tape.apply("sqrt", self)
            return root if exponent > 0 else 1.0 / root
        return self.tape.apply("pow", self, exponent)

    def __rpow__(self, base: object) -> Traced:
        return self.tape.apply("pow", base, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, **__: object) -> Traced:
        """Arithmetic with a NumPy scalar on the left comes here; everything else is refused."""
        scalars = all(getattr(value, "ndim", 0) == 0 for value in inputs)
        if method == "__call__" and scalars and ufunc.__name__ in _UFUNCS:
            return self.tape.apply(_UFUNCS[ufunc.__name__], *inputs)
        if ufunc.__name__ in _UFUNCS:
            refuse("arithmetic with an array", "blocks compute with numbers and flat tuples of numbers")
        if ufunc.__name__ in _COMPARISONS:
            refuse("comparison")
        return refuse(f"NumPy's {ufunc.__name__}", "use the functions of plants.core.elementary instead of NumPy's")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        refuse("conversion to an array", "use tuples: blocks compute with numbers and flat tuples of numbers")

    def __iter__(self) -> NoReturn:
        refuse("unpacking", "this argument is one number, not a tuple")

    def __getitem__(self, _: object) -> NoReturn:
        refuse("indexing", "this argument is one number, not a tuple")


def _integer_power(x: Traced, exponent: int) -> Traced:
    """Repeated squaring: exact products, no call of pow."""
    if exponent < 0:
        return 1.0 / _integer_power(x, -exponent)
    result, square = x.tape.constant(1.0), x
    while exponent:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return result
