"""What each declared expression may depend on: what is differentiated by time must be known without u' or q''."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.mechanics.declaring.declared import DeclarationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plants.core.tape import Traced
    from plants.mechanics.declaring.declared import Declaration

_WORDS = {
    "q": "the coordinate", "v": "the rate", "u": "the input", "w": "the disturbance", "p": "the parameter",
    "s": "the joint coordinate", "r": "the joint's rate", "t": "time", "z": "the quasi-velocity",
}  # fmt: skip
_SAY = {
    "q": "coordinates", "v": "rates", "u": "inputs", "w": "disturbances", "p": "parameters", "s": "joint coordinates",
    "r": "joints' rates", "t": "time", "z": "quasi-velocities",
}  # fmt: skip


def check(declared: Declaration) -> None:
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


def _groups(declared: Declaration) -> Iterator[tuple[str, Sequence[Traced], str]]:
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


def _refuse(declared: Declaration, what: str, name: str, allowed: str) -> None:
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
