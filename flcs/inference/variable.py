"""Linguistic variables: an input with its range and its named terms."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flcs.inference.meaning import ZERO, nearly_zero, room_for_signs, untrue
from flcs.inference.membership import Shape, Triangular, shape_of, spread_apart
from plants.core.elementary import clip, maximum
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flcs.inference.membership import Number, Numbers

SMALLEST_GAP = 0.01  # of the range: centres that are closer make the gains jump
INPUT_WORDS = {"e": "error", "e_rate": "error rate", "z": "error integral"}

_SIGNED = {
    2: "N P",
    3: "N Z P",
    4: "NB NS PS PB",
    5: "NB NS Z PS PB",
    6: "NB NM NS PS PM PB",
    7: "NB NM NS Z PS PM PB",
    8: "NH NB NM NS PS PM PB PH",
    9: "NH NB NM NS Z PS PM PB PH",
}
_UNSIGNED = {
    2: "S B",
    3: "S M B",
    4: "VS S B VB",
    5: "VS S M B VB",
    6: "T VS S B VB H",
    7: "T VS S M B VB H",
    8: "T VS S MS MB B VB H",
    9: "T VS S MS M MB B VB H",
}
_SIGN = {"N": "negative", "P": "positive"}
_SIZE = {
    "H": "huge", "VB": "very big", "B": "big", "MB": "medium big", "M": "medium", "MS": "medium small", "S": "small",
    "VS": "very small", "T": "tiny",
}  # fmt: skip


def term_labels(n_terms: int, *, signed: bool = True) -> tuple[str, ...]:
    """Return the short names of 2 .. 9 terms: NB, NM, NS, Z, ... for a signed input, S, M, B, ... for one without sign.

    Raises
    ------
    ValueError
        For another number of terms.
    """
    if n_terms not in _SIGNED:
        raise ValueError(f"a linguistic variable has 2 to 9 terms, got {n_terms}")
    return tuple((_SIGNED if signed else _UNSIGNED)[n_terms].split())


def term_words(label: str) -> str:
    """Return the words of a short name ("NB": "negative big"); a name of one's own stands for itself."""
    if label == "Z":
        return ZERO
    if label in _SIZE:
        return _SIZE[label]
    if label in _SIGN:
        return _SIGN[label]
    sign, size = _SIGN.get(label[:1]), _SIZE.get(label[1:])
    return f"{sign} {size}" if sign and size else label


@dataclass(frozen=True)
class Variable:
    """An input of a rule base.

    Attributes
    ----------
    name, unit : str
        "e", "e_rate", "z" (error, its rate, its integral) or the name of a plant output.
    low, high : float
        Range that was taught [unit]; the input is limited to it.
    centres : tuple of float [n_terms]
        Of the terms, at least 1 % of the range apart.
    widths : tuple of float [n_terms]
        For shapes that have widths; left out, neighbours cross at 1/2.
    shape : Shape, or its name
    labels : tuple of str [n_terms]
        Left out: NB .. PB where the range has room for both signs and these words are true of the centres (see
        :mod:`flcs.inference.meaning`), else S .. B.

    Raises
    ------
    ValueError
        Where these contradict each other.
    """

    name: str
    unit: str
    low: float
    high: float
    centres: tuple[float, ...]
    widths: tuple[float, ...] = ()
    shape: Shape = field(default_factory=Triangular)
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check and coerce."""
        object.__setattr__(self, "shape", shape_of(self.shape))
        for name in ("low", "high"):
            object.__setattr__(self, name, self._finite(name, getattr(self, name)))
        if not self.low < self.high:
            raise ValueError(f"range of {self.name!r} must satisfy low < high, got [{self.low}, {self.high}]")
        for name in ("centres", "widths"):
            object.__setattr__(self, name, tuple(self._finite(name, value) for value in getattr(self, name)))
        object.__setattr__(self, "labels", tuple(self.labels) or self._default_labels())
        if not self.widths and len(self.centres) > 1:
            object.__setattr__(self, "widths", self.shape.default_widths(self.centres))
        self._check_terms()

    def _default_labels(self) -> tuple[str, ...]:
        signed = term_labels(self.n_terms)
        if self._has_room and not untrue([term_words(label) for label in signed], self.centres):
            return signed
        return term_labels(self.n_terms, signed=False)

    @property
    def _has_room(self) -> bool:
        return room_for_signs(self.low, self.high, self.n_terms, self.smallest_gap)

    def _finite(self, what: str, value: float) -> float:
        if not math.isfinite(value):
            raise ValueError(f"{what} of variable {self.name!r} must be finite, got {value}")
        return float(value)

    def _check_terms(self) -> None:
        n, where = self.n_terms, f"variable {self.name!r}"
        term_labels(n)
        if len(self.labels) != n or len(set(self.labels)) != n:
            raise ValueError(f"{where} has {n} centres and needs as many different labels, got {self.labels}")
        if spread_apart(self.centres, self.smallest_gap) != self.centres:
            raise ValueError(
                f"centres of {where} must increase by at least {self.smallest_gap:g} (1 % of the range), "
                f"got {self.centres}; flcs.membership.spread_apart moves them"
            )
        if len(self.widths) != (n if self.shape.has_widths else 0):
            expected = f"{n} widths" if self.shape.has_widths else "no widths"
            raise ValueError(f"{where} with {self.shape.name} terms needs {expected}, got {len(self.widths)}")
        if any(width < self.smallest_width for width in self.widths):
            raise ValueError(f"widths of {where} must be at least {self.smallest_width:g}, got {self.widths}")

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.centres)

    @property
    def signed(self) -> bool:
        """Whether its terms are called negative, zero and positive, and its range has room to keep that true."""
        return self._has_room and self.labels == term_labels(self.n_terms)

    @property
    def smallest_gap(self) -> float:
        """Smallest distance of neighbouring centres [unit]."""
        return SMALLEST_GAP * (self.high - self.low)

    @property
    def smallest_width(self) -> float:
        """Smallest width of a term [unit]."""
        return SMALLEST_GAP * (self.high - self.low)

    @property
    def words(self) -> str:
        """The name as it stands in a sentence."""
        return INPUT_WORDS.get(self.name, self.name.replace("_", " "))

    def term_words(self, term: int) -> str:
        """Return a term's words; of a term called zero whose centre lies elsewhere this centre, "about -14.2 K"."""
        words = term_words(self.labels[term])
        if words != ZERO or nearly_zero(term, self.centres):
            return words
        unit = "" if self.unit in {"", "1"} else f" {self.unit}"
        return f"about {self.centres[term]:.3g}{unit}"

    def limited(self, x: Number) -> Number:
        """`x` limited to the taught range: a block (the low end where `x` is NaN)."""
        return clip(x, self.low, self.high)

    def memberships(self, x: Number, centres: Numbers | None = None, widths: Numbers | None = None) -> Numbers:
        """Membership of `x`, limited to the range, in each term: a block.

        Parameters
        ----------
        x : number
        centres, widths : tuple of number, optional
            In place of the variable's own, as a search proposes them: centres are moved apart and widths raised where
            they are too small.
        """
        inside = self.limited(x)
        own_widths = self.widths if widths is None else tuple(maximum(w, self.smallest_width) for w in widths)
        own_centres = self.centres if centres is None else spread_apart(centres, self.smallest_gap)
        return self.shape.memberships(inside, own_centres, own_widths)

    def index(self, label: str) -> int:
        """Return the position of a term; ValueError with the near miss if there is none."""
        if label not in self.labels:
            raise ValueError(unknown(f"term of {self.name!r}", label, self.labels))
        return self.labels.index(label)


def evenly(low: float, high: float, n_terms: int) -> tuple[float, ...]:
    """Return `n_terms` centres spaced evenly from `low` to `high`."""
    return tuple(low + (high - low) * j / (n_terms - 1) for j in range(n_terms))


def check_names(variables: Sequence[Variable]) -> None:
    """Raise ValueError if two variables of one rule base have the same name."""
    names = [variable.name for variable in variables]
    if not names or len(set(names)) != len(names):
        raise ValueError(f"a rule base needs at least one input, all of different names, got {names}")
