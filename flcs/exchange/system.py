"""A fuzzy inference system as files of any format describe it: what they have in common, and where it stands in them.

Terms are piecewise linear, Gaussian or bells; rules are conjunctions of one term for each input, and say a constant or
an affine function of the inputs for each output; the output is their weighted mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from plants.core.reading.files import FileError, read_text

if TYPE_CHECKING:
    from pathlib import Path

Point = tuple[float, float]
_LARGEST = 2**20  # bytes of a file of rules


class ExchangeError(ValueError):
    """A file that cannot be read, or that says what a knowledge base cannot hold, or the other way round."""


def refuse(line: int, expected: str, came: object) -> NoReturn:
    """Raise ExchangeError about a line of a file (0: no line of its own)."""
    raise ExchangeError(f"{f'line {line}: ' if line else ''}expected {expected}, got {came}")


def text_of(path: str | Path) -> str:
    """Return the text of a file of rules.

    Raises
    ------
    ExchangeError
        If it cannot be read as one, naming the file.
    """
    try:
        return read_text(path, _LARGEST)
    except (OSError, FileError) as error:
        raise ExchangeError(f"{path} cannot be read as text: {error}") from error


@dataclass(frozen=True)
class Term:
    """A linguistic term.

    Attributes
    ----------
    label : str
    kind : {"points", "gaussian", "bell"}
    points : tuple of (place, membership)
        Of "points", in order; the membership is linear between and constant beyond them.
    numbers : tuple of float
        (centre, standard deviation) of "gaussian"; (centre, distance of membership 1/2, slope) of "bell".
    line : int
        Where it stands in its file.
    """

    label: str
    kind: str
    points: tuple[Point, ...] = ()
    numbers: tuple[float, ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Antecedent:
    """An input: name, range (None: the file says none) and terms."""

    name: str
    low: float | None
    high: float | None
    terms: tuple[Term, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Consequent:
    """An output: name, range, and the value that holds where no rule fires (None: the file says none)."""

    name: str
    low: float | None
    high: float | None
    default: float | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class SystemRule:
    """IF each input is its term THEN each output is its value.

    Attributes
    ----------
    terms : tuple of int [n_inputs]
    values : tuple of tuple [n_outputs]
        (constant,) or (constant, factor of each input).
    on : bool
        False: its weight is 0.
    line : int
    """

    terms: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    on: bool = True
    line: int = field(default=0, compare=False)


@dataclass(frozen=True)
class FuzzySystem:
    """One channel's rules as a file holds them.

    Attributes
    ----------
    name : str
    inputs : tuple of Antecedent
    outputs : tuple of Consequent
    rules : tuple of SystemRule
    conjunction : {"product", "minimum"}
    """

    name: str
    inputs: tuple[Antecedent, ...]
    outputs: tuple[Consequent, ...]
    rules: tuple[SystemRule, ...]
    conjunction: str = "product"


def range_of(low: float, high: float) -> tuple[float, float]:
    """Return a gain's range as files say it: some width also where the gain stands still, as other programs ask."""
    return (low, high) if low < high else (low, low + 1.0)
