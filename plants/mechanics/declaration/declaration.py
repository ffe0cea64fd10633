"""What a mechanism is made of, once its declaration is complete, and what each declared expression may depend on.

Letters stand for kinds of quantities: q coordinates, v their rates, u inputs, w disturbances, p parameters, s joint
coordinates, r their rates, z quasi-velocities. What is differentiated by time must be known without u' or q''.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plants.core.names import unknown
from plants.core.replay import replay
from plants.core.tracing.tape import Tape, Traced
from plants.core.tracing.trace import Program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plants.core.quantities import Quantity


KINDS = ("drive", "dissipative")
"""Kinds of forces: power that is supplied, power that is lost."""


class DeclarationError(ValueError):
    """A mechanism is declared wrongly: the message says what was expected and what to do."""


class Symbol(Traced):
    """A declared name. Unlike other traced numbers it can be the key of a mapping."""

    __slots__ = ("label",)
    __hash__ = object.__hash__  # type: ignore[assignment]  # by identity: what is written with it decides nothing on its value

    def __init__(self, tape: Tape, name: str, label: str) -> None:
        super().__init__(tape, tape.input(name).index)
        self.label = label


@dataclass(frozen=True)
class Gap:
    """A one-sided constraint: distance >= 0, and the coefficient of restitution of its impacts."""

    distance: Traced
    restitution: float


@dataclass(frozen=True)
class Velocities:
    """Quasi-velocities w and the rates v(q, w, t) that they stand for.

    Attributes
    ----------
    names : tuple of str [m]
    rates : tuple of Traced [n]
        v: D w + w0 where they are given by a basis.
    columns : tuple of tuple of Traced [m][n]
        Columns of D; empty where v is not linear in w.
    """

    names: tuple[str, ...]
    rates: tuple[Traced, ...]
    columns: tuple[tuple[Traced, ...], ...] = ()


@dataclass(frozen=True)
class MechanismDeclaration:
    """A mechanism's declaration; letters stand for kinds of quantities.

    Attributes
    ----------
    tape : Tape
        Holds every expression; its inputs are ``t`` and a kind's letter with a number.
    quantities, symbols : mapping of kind to tuple
        q coordinates, v their rates, u inputs, w disturbances, p parameters, s joint coordinates, r their rates, z
        quasi-velocities that were named before they were used.
    kinetic, potential : Traced
    forces : mapping of kind of force to tuple of Traced [n]
    positions, rows : tuple of Traced
        Residuals of holonomic and of nonholonomic constraints.
    linear : bool
        Whether the nonholonomic ones are meant to be linear in the rates.
    gaps : tuple of Gap
    velocities : Velocities, optional
    places : tuple of Traced [n]
        Coordinates as functions of the joint coordinates; empty without joints.
    measured : tuple of (Quantity, Traced)
    independent : tuple of int
        Numbers of the coordinates whose rates are independent, in rising order; empty where not declared.
    """

    name: str
    text: str
    tape: Tape
    quantities: Mapping[str, tuple[Quantity, ...]]
    symbols: Mapping[str, tuple[Symbol, ...]]
    kinetic: Traced
    potential: Traced
    forces: Mapping[str, tuple[Traced, ...]]
    positions: tuple[Traced, ...]
    rows: tuple[Traced, ...]
    linear: bool
    gaps: tuple[Gap, ...]
    velocities: Velocities | None
    places: tuple[Traced, ...]
    measured: tuple[tuple[Quantity, Any], ...]
    independent: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.quantities["q"])

    @property
    def n_constraints(self) -> int:
        """Number of two-sided constraints."""
        return len(self.positions) + len(self.rows)

    def inputs(self) -> tuple[str, ...]:
        """Names of the tape's inputs at (t, q, v, u, w, p), flat."""
        return ("t", *(f"{kind}{k}" for kind in "qvuwp" for k in range(len(self.quantities[kind]))))

    def baked(self, names: Sequence[str]) -> MechanismDeclaration:
        """Return the declaration with some parameters as constants of their nominal values."""
        labels = [q.name for q in self.quantities["p"]]
        for name in names:
            if name not in labels:
                raise DeclarationError(unknown(f"parameter of mechanism {self.name!r}", name, tuple(labels)))
        return _on_new_tape(self, set(names)) if names else self


def _on_new_tape(old: MechanismDeclaration, baked: set[str]) -> MechanismDeclaration:
    """Copy a declaration, with numbers in place of the parameters called `baked`."""
    tape = Tape()
    kept = [k for k, q in enumerate(old.quantities["p"]) if q.name not in baked]
    values: dict[str, Any] = {f"p{k}": q.nominal for k, q in enumerate(old.quantities["p"]) if q.name in baked}
    values |= {f"p{k}": tape.input(f"p{new}") for new, k in enumerate(kept)}
    inputs = tuple(old.tape.input_names.values())
    numbers = [values.get(name) if name in values else tape.input(name) for name in inputs]

    def moved(group: Sequence[Traced]) -> tuple[Traced, ...]:
        program = Program(old.tape, inputs, tuple(value.index for value in group))
        return tuple(tape.lift(value) for value in replay(program, *numbers))

    velocities = old.velocities and Velocities(
        old.velocities.names, moved(old.velocities.rates), tuple(moved(c) for c in old.velocities.columns)
    )
    parameters = tuple(old.quantities["p"][k] for k in kept)
    return replace(
        old,
        tape=tape,
        quantities={**old.quantities, "p": parameters},
        symbols={},
        kinetic=moved([old.kinetic])[0],
        potential=moved([old.potential])[0],
        forces={kind: moved(group) for kind, group in old.forces.items()},
        positions=moved(old.positions),
        rows=moved(old.rows),
        gaps=tuple(Gap(d, g.restitution) for d, g in zip(moved([g.distance for g in old.gaps]), old.gaps, strict=True)),
        velocities=velocities,
        places=moved(old.places),
        measured=tuple((q, moved([value])[0]) for q, value in old.measured),
    )


_WORDS = {
    "q": "the coordinate", "v": "the rate", "u": "the input", "w": "the disturbance", "p": "the parameter",
    "s": "the joint coordinate", "r": "the joint's rate", "t": "time", "z": "the quasi-velocity",
}  # fmt: skip
_SAY = {
    "q": "coordinates", "v": "rates", "u": "inputs", "w": "disturbances", "p": "parameters", "s": "joint coordinates",
    "r": "joints' rates", "t": "time", "z": "quasi-velocities",
}  # fmt: skip


def check_dependence(declared: MechanismDeclaration) -> None:
    """Refuse expressions of quantities that their derivation would not see.

    Raises
    ------
    DeclarationError
        Naming the expression, the quantity, and what it may depend on.
    """
    for what, values, allowed in _groups(declared):
        used = {
            declared.tape.input_names.get(node, "") for node in declared.tape.needed(value.index for value in values)
        }
        for name in sorted(used - {""}):
            if name[0] not in allowed:
                _refuse(declared, what, name, allowed)


def _groups(declared: MechanismDeclaration) -> Iterator[tuple[str, Sequence[Traced], str]]:
    yield "the kinetic energy", [declared.kinetic], "qvtp"
    yield "the potential energy", [declared.potential], "qtp"
    for kind, values in declared.forces.items():
        yield f"a force of kind {kind!r}", values, "qvtpuw"
    yield "a position constraint", declared.positions, "qtp"
    yield "a velocity constraint", declared.rows, "qvtp"
    yield "a gap", [gap.distance for gap in declared.gaps], "qtp"
    yield "the place of a coordinate", declared.places, "stp"
    if declared.velocities is not None:
        for name, column in zip(declared.velocities.names, declared.velocities.columns, strict=False):
            yield f"basis vector {name!r}", column, "qtp"
        yield "an admissible rate", declared.velocities.rates, "qtpz"
    yield "a measurement", [value for _, value in declared.measured], "qvtpuw"


def _refuse(declared: MechanismDeclaration, what: str, name: str, allowed: str) -> None:
    kind, label = name[0], name
    if kind == "z" and declared.velocities is not None:
        label = declared.velocities.names[int(name[1:])]
    elif kind != "t":
        label = declared.quantities[kind][int(name[1:])].name
    raise DeclarationError(
        f"mechanism {declared.name!r}: {what} depends on {_WORDS[kind]} {label!r}; it may depend on "
        f"{', '.join(_SAY[k] for k in allowed)}. {_REMEDIES.get(kind, '')}".rstrip()
    )


_REMEDIES = {
    "s": "Write it with coordinates: their values follow from the joints",
    "r": "Write it with the coordinates' rates: their values follow from the joints",
    "u": "A motion that is commanded is a force of a stiff drive, or a function of time",
    "w": "What is disturbed from outside enters by a force",
    "v": "What depends on rates is a force, a kinetic energy or a velocity constraint",
    "q": "With joints every coordinate needs a place, a function of the joint coordinates",
}
