"""Settings: declared with text, unit and range in the dataclass that uses them, and checked where a user gives them.

The command line reads the same declarations: ``--help``, the types and the ranges of a configuration come from them.
What is refused is said in one sentence: what was expected, what came, what to do.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from plants.core.names import did_you_mean, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True)
class SettingRule:
    """Documentation and range of one setting.

    Attributes
    ----------
    text, unit : str
        One line for the help; SI unit or empty.
    low, high : float
        Smallest and largest value; ``above`` and ``below`` exclude their end.
    choices : tuple of str
        All words that the setting may be; empty: any.
    session : bool
        The setting concerns this session only (output folder, threads, ...): it changes no result, is not stored with
        a run and may differ when the run is resumed.
    file : bool
        The setting names a file of the user's that the run reads.
    advanced : bool
        Seldom of use: ``--help`` leaves it out, ``--help=all`` lists it.
    infinite : bool
        Infinity is a value like others, although there is a range.
    """

    text: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    choices: tuple[str, ...] = ()
    session: bool = False
    file: bool = False
    advanced: bool = False
    infinite: bool = False

    def complaint(self, value: Any) -> str:
        """Return what is wrong with `value`, or an empty string."""
        if isinstance(value, str):
            return self._word(value) if self.choices else ""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return ""
        inside = self.low <= value <= self.high and (self.above < value < self.below or not self._open)
        finite = "finite and " if self._open and math.isinf(value) else ""
        return "" if inside and not math.isnan(value) else f"must be {finite}{self.range()}, got {value}"

    @property
    def bounded(self) -> bool:
        """Whether there is a smallest or a largest value."""
        return self._open or math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def _open(self) -> bool:
        return math.isfinite(self.above) or math.isfinite(self.below)

    def _word(self, value: str) -> str:
        if value in self.choices:
            return ""
        return f"must be one of {', '.join(self.choices)}, got {value!r}{did_you_mean(value, self.choices)}"

    def range(self) -> str:
        """Return the range in words, empty where anything goes."""
        ends = (("at least", self.low), ("above", self.above), ("at most", self.high), ("below", self.below))
        words = [f"{word} {end:g}" for word, end in ends if math.isfinite(end)]
        if not words:
            return "a number" if not self.choices else ""
        return " and ".join(words) + (f" {self.unit}" if self.unit else "")


def setting(default: Any, text: str, **rule: Any) -> Any:
    """Return a dataclass field with a :class:`SettingRule`; lists, dicts and dataclasses are given as their factory."""
    metadata = {"rule": SettingRule(text, **rule)}
    if callable(default):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def inherited(source: type, name: str, default: Any) -> Any:
    """Return a setting of a base class with another default."""
    return dataclasses.field(default=default, metadata=source.__dataclass_fields__[name].metadata)  # type: ignore[attr-defined]


def check(given: Any, what: str) -> None:
    """Check a dataclass against the rules of its fields, in their order, then against its own.

    A dataclass may add ``complaints(self)``, which yields what several of its settings must satisfy together.

    Raises
    ------
    ValueError
        With the first setting that is out of its range, after the word `what`, such as "fitness".
    """
    for field in dataclasses.fields(given):
        if "rule" in field.metadata:
            for place, value in places(getattr(given, field.name), field.name):
                if complaint := _complaint(field.metadata["rule"], value, whole=str(field.type).startswith("int")):
                    raise ValueError(f"{what}: {place} {complaint}")
    for complaint in given.complaints() if hasattr(given, "complaints") else ():
        raise ValueError(f"{what}: {complaint}")


def _complaint(rule: SettingRule, value: Any, *, whole: bool) -> str:
    """As the rule's own; here numbers have to be finite, whole where the field is an int, and words where it is one."""
    if rule.choices and value is not None and not isinstance(value, str):
        return f"must be one of {', '.join(rule.choices)}, got {value!r}"
    if rule.bounded and isinstance(value, str):
        return f"must be a number {rule.range()}, got {value!r}"
    if whole and value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        return f"must be a whole number, got {value!r}"
    if isinstance(value, float) and math.isinf(value) and rule.bounded and not rule.infinite:
        return f"must be finite and {rule.range()}, got {value}"
    return rule.complaint(value)


def places(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield every number and word of a setting, with where it stands: ``name``, ``name[0]``, ``name.key``."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from places(item, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from places(item, f"{place}[{number}]")
    else:
        yield place, value


def one_of(what: str, value: str, known: Sequence[str]) -> str:
    """Return `value` if it is among `known`, else raise ValueError with the near miss."""
    if value not in known:
        raise ValueError(unknown(what, str(value), known))
    return value


def finite(what: str, value: float) -> float:
    """Return `value` as a finite float, or raise ValueError."""
    number = float(value)
    if not math.isfinite(number):
        message = f"{what} must be a finite number, got {value}"
        raise ValueError(message)
    return number


def positive(what: str, value: float, hint: str = "") -> float:
    """Return `value` as a finite float above 0, or raise ValueError."""
    number = finite(what, value)
    if number <= 0.0:
        message = f"{what} must be positive, got {value}" + (f"; {hint}" if hint else "")
        raise ValueError(message)
    return number


def optional_positive(what: str, value: float | None) -> float | None:
    """Return None for None, else what :func:`positive` returns."""
    return None if value is None else positive(what, value, "use None to switch it off")


def interval(what: str, value: Iterable[float]) -> tuple[float, float]:
    """Return `value` as (low, high) with low < high; infinite ends are allowed."""
    try:
        ends = tuple(float(end) for end in value)
    except TypeError:
        message = f"{what} must be two numbers (low, high), got {value!r}; use -inf or inf for an open end"
        raise TypeError(message) from None
    if len(ends) != 2 or not ends[0] < ends[1]:
        message = f"{what} must be (low, high) with low < high, got {ends}; use -inf or inf for an open end"
        raise ValueError(message)
    return ends[0], ends[1]


def increasing(what: str, values: Iterable[float]) -> tuple[float, ...]:
    """Return `values` as a tuple of finite, strictly increasing floats with at least one entry."""
    numbers = tuple(finite(what, value) for value in values)
    if not numbers or any(right <= left for left, right in pairwise(numbers)):
        message = f"{what} must increase strictly and have at least one entry, got {numbers}"
        raise ValueError(message)
    return numbers


def distinct(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return `names` as a tuple of at least one name, all different."""
    if isinstance(names, str):
        message = f'{what} must be a tuple of names, got the string {names!r}; write ("{names}",)'
        raise TypeError(message)
    result = tuple(names)
    if not result or len(set(result)) != len(result):
        message = f"{what} must be different names, at least one, got {result}"
        raise ValueError(message)
    return result
