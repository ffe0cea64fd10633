"""A block of a plant: traced where it can be, else a call of what numba makes of it.

Nothing is decided before a block is first run with symbols. Where that raises, the block is compiled as it stands, its
results are operations of the tape, and one warning says which line it was. What numba refuses as well raises as before,
with numba's reason.
"""

from __future__ import annotations

import functools
import hashlib
import math
import traceback
import warnings
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from plants.core.tracing import calls
from plants.core.tracing.calls import CalledFunction
from plants.core.tracing.remedies import missing_name
from plants.core.tracing.tape import Traced, TracingError
from plants.core.tracing.trace import flat
from plants.core.user_functions import compiled
from plants.core.user_functions.contents import NotCompilableError, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plants.core.quantities import Channel, Quantity

_HERE = Path(__file__).resolve().parents[2]
_OWN_ERRORS = (TypeError, ValueError, AttributeError, NotImplementedError, AssertionError, IndexError, KeyError)
"""What code that knows no traced numbers raises when it meets one, beside TracingError."""
_USUAL = ("t", "x", "u", "w", "p")
_GROUPS = {
    "acceleration": ("t", "x", "a", "u", "w", "p"),
    "after_step": (*_USUAL, "h"),
    "advance": (*_USUAL, "h"),
    "allocate": ("t", "x", "commands", "p"),
}
BLOCKS = (
    *_GROUPS,
    "derivative",
    "outputs",
    "energy",
    "supplied_power",
    "entropy_rate",
    "mass_matrix",
    "force",
    "kinematics",
)
"""Names of the blocks that may be calls."""
_OF_ONE_NUMBER = ("energy", "supplied_power", "entropy_rate")
_GENERAL = "use the functions of plants.core.elementary on numbers and tuples of numbers"
_REACH = 1e-5  # of an argument's range: how far it is moved for a difference quotient
_NEAR = 0.05  # of an argument's range: where what is compiled is compared with Python
_refused: dict[str, str] = {}
_told: set[str] = set()


class UntracedWarning(UserWarning):
    """A block that cannot be traced and is compiled as it stands."""


class Declared(Protocol):
    """What a block needs to know of its plant."""

    @property
    def name(self) -> str:
        """Name of the plant."""

    @property
    def step(self) -> float:
        """Integration step [s]."""

    @property
    def states(self) -> tuple[Quantity, ...]:
        """All states."""

    @property
    def parameters(self) -> tuple[Quantity, ...]:
        """All parameters."""

    @property
    def inputs(self) -> tuple[Quantity, ...]:
        """All inputs."""

    @property
    def disturbances(self) -> tuple[Quantity, ...]:
        """All disturbances."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """All control channels."""

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the accelerated states; empty: the second half."""


class PlantBlock:
    """A function of a plant.

    Parameters
    ----------
    function : callable
    name : str
        Of the block.
    plant : Declared
    """

    def __init__(self, function: Callable[..., Any], name: str, plant: Declared) -> None:
        functools.update_wrapper(self, function)
        self.function, self.block, self.plant = function, name, plant

    def __call__(self, *arguments: Any) -> Any:
        """Run it with floats, arrays or traced numbers."""
        try:
            return self._form(self.function(*arguments))
        except TracingError as error:
            return self._called(arguments, error)
        except _OWN_ERRORS as error:
            numbers = flat(arguments)
            if any(isinstance(value, Traced) for value in numbers):
                return self._called(arguments, error)
            if any(isinstance(value, np.ndarray) and value.ndim for value in numbers) and self._runs():
                return self._point_by_point(arguments)
            raise

    def _form(self, found: Any) -> Any:
        """What was found, as a tuple where it is an array of the block's numbers: what is compiled may give one."""
        if not isinstance(found, np.ndarray) or not found.ndim or self.block in _OF_ONE_NUMBER:
            return found
        return tuple(map(tuple, found)) if self.block == "mass_matrix" else tuple(found)

    def __getattr__(self, name: str) -> Any:
        """Return what the function has: its code, its source's place, what its author hung on it."""
        if name == "function":  # not there yet, while a copy is made
            raise AttributeError(name)
        return getattr(self.function, name)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, PlantBlock) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)

    # --------------------------------------------------------------------------------------------- as a call on a tape

    def _called(self, arguments: Sequence[Any], error: Exception) -> Any:
        """Return the results of a call as traced numbers, in the form in which the function gives them."""
        tape = next(value.tape for value in flat(arguments) if isinstance(value, Traced))
        if not self._runs():
            raise error
        nominal = self._form(self.function(*self._nominal(len(arguments))))
        function = self._function(arguments, nominal, error)
        if function.name not in _told:
            _told.add(function.name)
            warnings.warn(
                f"{function.title} is compiled by numba as it stands, because {function.reason}; its slopes are "
                "difference quotients",
                UntracedWarning,
                stacklevel=2,
            )
        given = flat(arguments)
        numbers = iter([tape.apply(operation, *given) for operation in calls.operations(function)])
        return _shaped(nominal, numbers)

    def _runs(self) -> bool:
        """Whether the block runs with the nominal numbers: else its error has nothing to do with tracing."""
        try:
            found = self._form(self.function(*self._nominal(len(self._groups()))))
        except Exception:  # noqa: BLE001  (the user's code: whatever it raises, it does not run)
            return False
        return all(isinstance(value, (int, float, np.number, np.bool_)) for value in flat(found))

    def _function(self, arguments: Sequence[Any], nominal: Any, error: Exception) -> CalledFunction:
        """What is called, for arguments and results of this form."""
        reason, title = _line_of(error), f"{self.block} of plant {self.plant.name!r}"
        remedy = str(error) if isinstance(error, TracingError) else f"{reason}; {missing_name(error) or _GENERAL}"
        lengths = tuple(len(one) if isinstance(one, (tuple, list)) else None for one in arguments)
        entry = compiled.CallForm(lengths, tuple(_places(nominal)))
        reaches = tuple(_REACH * scale for scale in self._scales(len(arguments)))
        try:
            name = self._name(title, entry, reaches)
            known = calls.known(name)
            if known is not None:
                return known
            code = self._code(name, entry)
        except NotCompilableError as refused:
            raise TracingError(f"{remedy}; numba does not compile {title} as it stands, either: {refused}") from error
        by_numba = functools.partial(compiled.dispatcher, self.function, entry)  # type: ignore[arg-type]
        python = compiled.PythonCall(self.function, entry)
        return calls.add(
            CalledFunction(name, python, title, reason, remedy, reaches, code.reads, code.text, code.resident, by_numba)
        )

    def _name(self, title: str, entry: compiled.CallForm, reaches: tuple[float, ...]) -> str:
        """A name that says all that the function consists of, and how it is called."""
        if not isinstance(self.function, FunctionType):
            raise NotCompilableError(f"it is a {type(self.function).__name__}, not a function")
        told = (title, digest(self.function), entry, reaches)
        return f"{self.block}_{hashlib.sha256(repr(told).encode()).hexdigest()[:20]}"

    def _code(self, name: str, entry: compiled.CallForm) -> compiled.FunctionCode:
        if name in _refused:
            raise NotCompilableError(_refused[name])
        try:
            return compiled.code(name, self.function, entry, self._points(len(entry.arguments)))  # type: ignore[arg-type]
        except NotCompilableError as refused:
            _refused[name] = str(refused)
            raise

    def _point_by_point(self, arguments: Sequence[Any]) -> Any:
        """Results for arrays of points, one point after the other."""
        numbers = np.broadcast_arrays(*flat(arguments))
        shape, columns = numbers[0].shape, [np.ravel(one).tolist() for one in numbers]
        found = [self._form(self.function(*_shaped(arguments, iter(point)))) for point in zip(*columns, strict=True)]
        rows = [flat(one) for one in found]
        return _shaped(found[0], iter([np.reshape(column, shape) for column in zip(*rows, strict=True)]))

    # --------------------------------------------------------------------------------------------------- its arguments

    def _groups(self) -> tuple[str, ...]:
        return _GROUPS.get(self.block, _USUAL)

    def _quantities(self, group: str) -> tuple[Quantity, ...]:
        plant = self.plant
        known = {"x": plant.states, "u": plant.inputs, "w": plant.disturbances, "p": plant.parameters}
        return known[group]

    def _accelerated(self) -> int:
        return len(self.plant.velocities) or len(self.plant.states) // 2

    def _nominal(self, count: int) -> list[Any]:
        """Nominal arguments, `count` of them."""
        values: dict[str, Any] = {"t": 0.0, "h": float(self.plant.step), "a": (0.0,) * self._accelerated()}
        values["commands"] = tuple(min(max(0.0, c.low), c.high) for c in self.plant.channels)
        values["x"], values["u"], values["p"] = (
            tuple(float(q.nominal) for q in self._quantities(group)) for group in ("x", "u", "p")
        )
        values["w"] = tuple(float(q.rest) for q in self.plant.disturbances)
        return [values[group] for group in self._groups()[:count]]

    def _scales(self, count: int) -> list[float]:
        """What a large change of each flat argument is."""
        scales: dict[str, list[float]] = {"t": [1e3 * self.plant.step], "h": [float(self.plant.step)]}
        scales["a"] = [1.0] * self._accelerated()
        scales["commands"] = [_span(c.low, c.high, 0.0) for c in self.plant.channels]
        for group in ("x", "u", "w"):
            scales[group] = [_span(q.low, q.high, q.nominal) for q in self._quantities(group)]
        scales["p"] = [abs(q.nominal) or 1.0 for q in self.plant.parameters]
        return [one for group in self._groups()[:count] for one in scales[group]]

    def _points(self, count: int) -> list[tuple[float, ...]]:
        """The nominal point and some near it."""
        middle, scales = np.array(flat(self._nominal(count)), float), np.array(self._scales(count))
        rng = np.random.default_rng(0)
        moved = middle + _NEAR * scales * rng.uniform(-1.0, 1.0, (8, len(middle)))
        return [tuple(map(float, point)) for point in (middle, *moved)]


def _span(low: float, high: float, nominal: float) -> float:
    if math.isfinite(low) and math.isfinite(high) and high > low:
        return float(high - low)
    return abs(nominal) or 1.0


def _places(found: Any, place: str = "") -> Iterator[str]:
    """Where each number of a result stands in it."""
    if isinstance(found, (tuple, list)):
        for k, part in enumerate(found):
            yield from _places(part, f"{place}[{k}]")
    else:
        yield place


def _shaped(like: Any, numbers: Iterator[Any]) -> Any:
    """Return numbers in the form of something nested."""
    if isinstance(like, (tuple, list)):
        return tuple(_shaped(part, numbers) for part in like)
    return next(numbers)


def _line_of(error: Exception) -> str:
    """The line that cannot be traced, and what is done there, without the remedy."""
    if isinstance(error, TracingError):
        return str(error).partition("; ")[0]
    return f"{place_of(error)}: {type(error).__name__}: {error}"


def place_of(error: BaseException) -> str:
    """Return the innermost line outside this package and libraries, else the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if _HERE not in Path(f.filename).resolve().parents and "site-packages" not in f.filename]
    frame = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno} in {frame.name}"


def wrapped(function: Callable[..., Any] | None, name: str, plant: Declared) -> Callable[..., Any] | None:
    """Return a plant's function as a block of this plant; None stays None."""
    if function is None:
        return None
    return PlantBlock(function.function if isinstance(function, PlantBlock) else function, name, plant)
