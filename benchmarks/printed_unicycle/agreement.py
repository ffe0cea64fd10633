"""Which printed coefficients hold: each text's numbers beside those of :mod:`.derived`, at random states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.printed_unicycle import formula
from benchmarks.printed_unicycle.coefficients import Coefficient, ReferenceValue, coefficients, read, references
from benchmarks.printed_unicycle.geometry import BODIES, COORDINATES, PIECES
from benchmarks.printed_unicycle.states import State, random_states

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Rounding of sums of some ten terms at angles and parameters of order 1 is below 1e-13 of the result unless they
# cancel; a wrong sign, index or factor is of order 1.
TOLERANCE = 1e-9
LITERAL, REPAIRED, INSERTED, WRONG = "as printed", "repaired", "rolling inserted", "wrong"
CORRECT, NEITHER = "correct", "neither"


@dataclass(frozen=True)
class AgreementOfCoefficient:
    """What became of one printed coefficient.

    Attributes
    ----------
    coefficient : Coefficient
    status : str
        :data:`LITERAL`: agrees as printed. :data:`REPAIRED`: agrees once unreadable characters are repaired.
        :data:`INSERTED`: agrees only with the equations that result from inserting the rolling condition into the
        energy. :data:`WRONG`: with neither.
    readable : bool
        Whether the printed text is arithmetic as it stands.
    corrected : str
        For wrong ones, what the corrected text agrees with: :data:`CORRECT`, :data:`INSERTED` or :data:`NEITHER`.
    distance : float
        Relative distance of the printed (or repaired) text from the correct coefficient, the largest of all states.
    """

    coefficient: Coefficient
    status: str
    readable: bool
    corrected: str
    distance: float


def expected(what: Coefficient | ReferenceValue, state: State, *, nonholonomic: bool = True) -> float:
    """Return what a coefficient must be at a state, by the derivation from the figure."""
    if what.kind.startswith("closure"):
        row = int(what.equation.removeprefix("closure")) - 1
        places = tuple(COORDINATES.index(rate) for rate in what.rates)
        return what.sign * float(state.closures[what.kind == "closure rate"][(row, *places)])
    body, equation = BODIES.index(what.body), COORDINATES.index(what.equation)
    if what.kind == "gravity":
        return float(state.terms.gravity[body, equation])
    pieces = [PIECES.index(what.piece)] if what.piece else [0, 1]
    places = tuple(COORDINATES.index(rate) for rate in what.rates)
    velocity = state.terms.velocity if nonholonomic else state.terms.inserted
    whole = velocity if what.kind == "velocity" else state.terms.mass
    twice = 2.0 if len(set(places)) == 2 else 1.0
    return twice * float(whole[(body, pieces, equation, *places)].sum())


def distance(text: formula.Formula, what: Coefficient | ReferenceValue, states: Sequence[State], **form: bool) -> float:
    """Largest relative distance of a formula's values from what they must be."""
    gaps = []
    for state in states:
        ours, printed = expected(what, state, **form), text(state.printed)
        gaps.append(abs(printed - ours) / max(abs(printed), abs(ours), 1e-300))
    return max(gaps)


def rightly_read(every: Sequence[Coefficient], names: Sequence[str]) -> dict[str, formula.Formula]:
    """Corrected texts of the coefficients that refer to no other: what others may refer to."""
    found = {}
    for one in every:
        try:
            found[one.name] = read(one.name, one.right, names)
        except formula.FormulaError:
            continue  # refers to another: no other refers to it
    return found


def verdicts(
    every: Sequence[Coefficient] | None = None, states: Sequence[State] | None = None
) -> tuple[AgreementOfCoefficient, ...]:
    """Judge printed coefficients.

    Parameters
    ----------
    every : sequence of Coefficient, optional
        Left out: all that are printed.
    states : sequence of State, optional
        Left out: those of :func:`random_states`.

    Raises
    ------
    formula.FormulaError
        If a repaired or corrected text cannot be read, naming the coefficient and the position.
    """
    every = coefficients() if every is None else every
    states = random_states() if states is None else states
    names = sorted(states[0].printed)
    others = rightly_read(every, names)
    return tuple(_verdict(one, names, others, states) for one in every)


def _verdict(
    one: Coefficient, names: Sequence[str], others: Mapping[str, formula.Formula], states: Sequence[State]
) -> AgreementOfCoefficient:
    known = {name: text for name, text in others.items() if name != one.name}
    printed = _attempt(one, names, known)
    usable = printed
    if one.repaired:
        usable = read(one.name, one.repaired, names, known)
    if usable is None:
        usable = read(one.name, one.printed, names, known)  # raises, saying where
    gap = distance(usable, one, states)
    if printed is not None and distance(printed, one, states) <= TOLERANCE:
        return AgreementOfCoefficient(one, LITERAL, True, "", gap)
    if gap <= TOLERANCE:
        return AgreementOfCoefficient(one, REPAIRED, printed is not None, "", gap)
    if distance(usable, one, states, nonholonomic=False) <= TOLERANCE:
        return AgreementOfCoefficient(one, INSERTED, printed is not None, "", gap)
    right = read(one.name, one.right, names, known)
    return AgreementOfCoefficient(one, WRONG, printed is not None, _sense(right, one, states), gap)


def _attempt(one: Coefficient, names: Sequence[str], known: Mapping[str, formula.Formula]) -> formula.Formula | None:
    try:
        return read(one.name, one.printed, names, known)
    except formula.FormulaError:
        return None


def _sense(text: formula.Formula, one: Coefficient, states: Sequence[State]) -> str:
    if distance(text, one, states) <= TOLERANCE:
        return CORRECT
    return INSERTED if distance(text, one, states, nonholonomic=False) <= TOLERANCE else NEITHER


@dataclass(frozen=True)
class Referred:
    """Definitions by another one: names of those that hold, that refer to nothing printed and must be 0, that fail."""

    hold: tuple[str, ...]
    nowhere: tuple[str, ...]
    fail: tuple[str, ...]


def referred(every: Sequence[ReferenceValue] | None = None, states: Sequence[State] | None = None) -> Referred:
    """Judge the definitions by reference, with the corrected texts of what they refer to."""
    every = references() if every is None else every
    states = random_states() if states is None else states
    others = rightly_read(coefficients(), sorted(states[0].printed))
    found: dict[str, list[str]] = {"hold": [], "nowhere": [], "fail": []}
    for one in every:
        names = [one.refers_to] if one.refers_to in others else [f"{one.refers_to}{piece}" for piece in "im"]
        parts = [others[name] for name in names if name in others]
        value = formula.Formula(one.name, lambda v, parts=parts, k=one.factor: k * sum(f(v) for f in parts), "")
        right = distance(value, one, states) <= TOLERANCE
        found["fail" if not right else "hold" if parts else "nowhere"].append(one.name)
    return Referred(*(tuple(names) for names in found.values()))
