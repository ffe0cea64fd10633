"""Functions that stay calls: what cannot be traced is one operation of the tape for each number that it gives.

Such an operation is called by the function's name, a point and the number of its result. What the function is, is known
by its name alone, which ends with a digest of all that the function consists of: equal names are equal functions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_known: dict[str, CalledFunction] = {}
_RESULTS = "RESULTS_"
_DECLARED = re.compile(rf"^{_RESULTS}(\w+) = \d+$", re.MULTILINE)
_LOST = (ArithmeticError, ValueError)
"""What a function raises where it has no value: a rollout that meets it is lost (as in :mod:`plants.core.slow`)."""


@dataclass(eq=False)
class CalledFunction:
    """A function of numbers that is called, not traced.

    Attributes
    ----------
    name : str
        What it is called in texts.
    function : callable
        Flat floats to a list of floats, in plain Python.
    title : str
        Whose it is, for readers: ``derivative of plant 'valve'``.
    reason : str
        The line that cannot be traced, and what is done there.
    remedy : str
        The same, with what to write there instead.
    reaches : tuple of float
        How far each argument is moved for a difference quotient.
    reads : tuple of tuple of int
        For each result, the places of the arguments that it may depend on.
    code : str
        In LLVM's words, a function of this name from doubles to its results; NaN where it raised an exception.
    resident : bool
        Whether the code needs numba in the process, so that no machine code with it is kept on disk.
    by_numba : callable, optional
        Gives what numba compiled, as a function that its other compiled functions may call.
    """

    name: str
    function: Callable[..., Sequence[float]]
    title: str
    reason: str
    remedy: str
    reaches: tuple[float, ...]
    reads: tuple[tuple[int, ...], ...]
    code: str = ""
    resident: bool = False
    by_numba: Callable[[], Callable[..., Any]] | None = None
    _last: tuple[tuple[float, ...], tuple[float, ...]] | None = field(default=None, repr=False)

    @property
    def results(self) -> int:
        """How many numbers it gives."""
        return len(self.reads)

    def __call__(self, *values: float) -> tuple[float, ...]:
        """Return its results for plain floats; NaN where it has none."""
        last = self._last
        if last is not None and last[0] == values:
            return last[1]
        try:
            found = tuple(float(value) for value in self.function(*values))
        except _LOST:
            found = (float("nan"),) * self.results
        self._last = (values, found)
        return found


def add(function: CalledFunction) -> CalledFunction:
    """Make a function known by its name; return the one that is known by it."""
    return _known.setdefault(function.name, function)


def known(name: str) -> CalledFunction | None:
    """Return the function of this name; None if there is none."""
    return _known.get(name)


def independent(operation: str, place: int) -> bool:
    """Whether an operation is a result of a called function that does not read its argument at this place."""
    if not is_call(operation):
        return False
    function, number = of(operation)
    return place not in function.reads[number]


def is_call(operation: str) -> bool:
    """Whether an operation of a tape is a result of a called function."""
    return "." in operation


def operations(function: CalledFunction) -> list[str]:
    """Return the names of the operations that give a function's results."""
    return [f"{function.name}.{k}" for k in range(function.results)]


def of(operation: str) -> tuple[CalledFunction, int]:
    """Return the function of an operation, and the number of its result."""
    name, _, number = operation.rpartition(".")
    return _known[name], int(number)


def among(names: Iterable[str]) -> list[CalledFunction]:
    """Return the functions that are called by some of these operations, each once."""
    return [_known[name] for name in dict.fromkeys(one.rpartition(".")[0] for one in names if is_call(one))]


def evaluate(operation: str, *values: Any) -> Any:
    """Return one result for floats, or for arrays of points."""
    function, number = of(operation)
    if not any(isinstance(value, np.ndarray) for value in values):
        return function(*map(float, values))[number]
    points = np.broadcast_arrays(*values)
    flat = zip(*(np.ravel(one).tolist() for one in points), strict=True)
    return np.reshape([function(*point)[number] for point in flat], points[0].shape)


def refusal(function: CalledFunction, what: str) -> str:
    """Return why something cannot be done with a called function, and what to do."""
    return (
        f"{what} needs equations, and {function.title} is a call of your function ({function.reason}); write that line "
        "with the functions of plants.core.elementary, and it can be done"
    )


def declaration(name: str, results: int) -> str:
    """Return the line by which a text says that it calls a function that is not in it, and what that gives."""
    return f"{_RESULTS}{name} = {results}\n"


def results_name(name: str) -> str:
    """Return the name of the number of results in a text."""
    return _RESULTS + name


def called(text: str) -> dict[str, CalledFunction]:
    """Return the functions that a generated text calls, by name.

    Raises
    ------
    ValueError
        If one is not known: its text is of another process, or of another state of the user's file.
    """
    names = _DECLARED.findall(text)
    for name in names:
        if name not in _known:
            raise ValueError(f"the generated text calls {name}, and no plant of this process has such a function")
    return {name: _known[name] for name in names}


def interpreted(text: str) -> dict[str, Callable[..., Any]]:
    """Return what stands for the functions that a text calls where it runs as plain Python, by name."""

    def single(function: CalledFunction) -> Callable[..., Any]:
        return lambda *values: function(*map(float, values))[0]

    return {name: single(one) if one.results == 1 else one for name, one in called(text).items()}
