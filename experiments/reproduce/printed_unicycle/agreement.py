"""Which printed coefficients hold: each text's numbers beside the derivation's, at random states, unequal parameters.

And how far the plant's equations of motion are from this derivation's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.reproduce.printed_unicycle import formula, motion, reference
from experiments.reproduce.printed_unicycle.coefficients import (
    Coefficient,
    ReferenceValue,
    coefficients,
    read,
    references,
)
from experiments.reproduce.printed_unicycle.geometry import BODIES, COORDINATES, LENGTHS, PIECES, Terms, expanded, terms
from plants.unicycle import energy
from plants.unicycle import motion as plant_motion
from plants.unicycle.parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Rounding of sums of some ten terms at angles and parameters of order 1 is below 1e-13 of the result unless they
# cancel; a wrong sign, index or factor is of order 1.
TOLERANCE = 1e-9
LITERAL, REPAIRED, INSERTED, WRONG = "as printed", "repaired", "rolling inserted", "wrong"
CORRECT, NEITHER = "correct", "neither"
SEED, STATES = 20040039555, 4
_SYMBOLS = {"gamma": "γ", "beta": "β", "theta_w": "θw", "psi": "Ψ", "eta": "η", "yk1": "Δyk1", "dz": "Δz"}
_SYMBOLS |= {f"theta{k}": f"θ{k}" for k in range(1, 5)}


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates and parameters: all angles independent, no two parameters equal."""

    q: np.ndarray
    p: dict[str, float]

    @cached_property
    def terms(self) -> Terms:
        """What our derivation gives here."""
        return terms(self.q, self.p)

    @cached_property
    def closures(self) -> tuple[np.ndarray, np.ndarray]:
        """Slopes [4, 10] and second derivatives [4, 10, 10] of the closures."""
        return expanded("closures", self.q, self.p)[1:]

    @cached_property
    def printed(self) -> dict[str, float]:
        """Numbers of the names that stand in the printed formulas."""
        angles = dict(zip(COORDINATES, self.q.tolist(), strict=True))
        given: dict[str, float] = self.p | angles
        known = {_SYMBOLS.get(name, name): value for name, value in given.items()}
        beta, psi, radius = angles["beta"], angles["psi"], self.p["Rw"]
        known |= {"ZU": beta + angles["theta1"], "ZZ": beta + angles["theta2"]}
        known |= {"PR": psi + angles["theta3"], "PL": psi + angles["theta4"]}
        known |= {"ZU2B": known["ZU"] + beta, "ZZ2B": known["ZZ"] + beta}
        known |= {"P2R": known["PR"] + psi, "P2L": known["PL"] + psi}
        known |= {"Rwe5c": radius + self.p["e5"] * np.cos(beta), "Rwe6": radius + self.p["e6"] * np.cos(beta)}
        # The source halves the wheel; the only reading of its symbols under which its lists agree with one another.
        known |= {"IIWShX": 0.5 * self.p["IWx"], "IIWShZ": 0.5 * self.p["IWz"]}
        return known | {"IIIWShYK": 0.5 * (self.p["IWy"] + self.p["MW"] * radius**2)}


def random_states(count: int = STATES, seed: int = SEED) -> tuple[State, ...]:
    """Draw states and parameters."""
    rng = np.random.default_rng(seed)
    return tuple(State(rng.uniform(-1.3, 1.3, len(COORDINATES)), random_parameters(rng)) for _ in range(count))


def random_parameters(rng: np.random.Generator) -> dict[str, float]:
    """Draw unequal lengths, masses and inertias, all of one order so that none hides behind another."""
    p = {name: float(rng.uniform(0.2, 1.0)) for name in LENGTHS}
    p |= {f"M{body}": float(rng.uniform(0.5, 5.0)) for body in BODIES}
    p |= {f"I{body}{axis}": float(rng.uniform(0.1, 1.0)) for body in BODIES for axis in "xyz"}
    return p | {"g": 9.81}


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
    where: tuple[Any, ...] = (body, pieces, equation, *places)
    return twice * float(whole[where].sum())


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
        value = formula.Formula(one.name, _multiple(one.factor, parts), "")
        right = distance(value, one, states) <= TOLERANCE
        found["fail" if not right else "hold" if parts else "nowhere"].append(one.name)
    return Referred(*(tuple(names) for names in found.values()))


def _multiple(factor: float, parts: Sequence[formula.Formula]) -> formula.Value:
    return lambda values: factor * sum(part(values) for part in parts)


DRAWN, _DRAWN_SEED = 100, 5


@dataclass(frozen=True)
class Distances:
    """Largest distances of the plant's equations, relative to the largest entry of the matrix, forces, energy."""

    mass: float
    force: float
    energy: float


def distances(states: int = DRAWN, seed: int = _DRAWN_SEED) -> Distances:
    """Compare mass matrices, forces and energies."""
    rng = np.random.default_rng(seed)
    return Distances(*np.max([_at(*draw(rng)) for _ in range(states)], axis=0).tolist())


def draw(rng: np.random.Generator) -> tuple[list[float], ...]:
    """Draw state, torques, pushes and slopes, parameters: all within 20 %, the term `nh` anything from 0 to 1."""
    p = {q.name: q.nominal * rng.uniform(0.8, 1.2) for q in PARAMETERS}
    p |= {"psi0": rng.uniform(-3.0, 3.0), "Droll": rng.uniform(0.0, 0.1), "nh": rng.uniform(0.0, 1.0)}
    limits = np.array([3.0, 0.6, 0.6, 9.0, 9.0, 4.0, 4.0, 4.0, 15.0, 15.0, 5.0, 5.0])
    pushes = np.array([20.0, 20.0, 20.0, 1.0, 0.2, 0.2])
    drawn = (limits, np.full(3, 5.0), pushes)
    return (*((size * rng.uniform(-1.0, 1.0, len(size))).tolist() for size in drawn), [p[q.name] for q in PARAMETERS])


def _at(x: list[float], u: list[float], w: list[float], p: list[float]) -> tuple[float, float, float]:
    block = (0.0, tuple(x), tuple(u), tuple(w), tuple(p))
    theirs = (plant_motion.mass_matrix(*block), plant_motion.force(*block), energy.energy(*block))
    named = reference.by_name(p)
    given = motion.Inputs((u[0], u[1], u[2]), (w[0], w[1], w[2]), w[3], (w[4], w[5]))
    at = motion.posture(x, named)
    of = motion.balance(at, named, given.slope)
    # Energy is that over level ground: slopes are forces.
    ours = (of.mass, motion.load(at, of, named, given, p[-1]), of.energy)
    gaps = [np.abs(np.subtract(a, b)).max() / np.abs(a).max() for a, b in zip(ours, theirs, strict=True)]
    return gaps[0], gaps[1], gaps[2]
