"""A chain of n pendulums on a cart by Lagrange's equations: mass matrix and forces, symbolically and on the tape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core import elementary
from plants.core.gradients import along, gradient
from plants.core.linear_solve import solve_symmetric
from plants.core.tape import Tape
from plants.core.trace import Program, differentiate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Definitions = Sequence[tuple[Any, Any]]  # symbols and what they stand for, each behind those that it needs
    Common = Callable[[list[Any]], tuple[Definitions, list[Any]]]

_FUNCTIONS = {"sin": elementary.sin, "cos": elementary.cos}


@dataclass(frozen=True)
class Chain:
    """Names of the quantities of a chain of `n` pendulums: cart first, then links from the cart on.

    Positions are the cart's place [m] and angles from the upright [rad]; masses [kg], lengths [m], damping of the
    cart [N s/m] and of the joints' angles [N m s], gravity [m/s^2], force on the cart [N].
    """

    n: int

    def group(self, letter: str, first: int = 0) -> list[str]:
        """Return the names of one group."""
        return [f"{letter}{k}" for k in range(first, self.n + 1)]

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        groups = (self.group("q"), self.group("v"), self.group("m"), self.group("l", 1), self.group("d"))
        return (*(name for group in groups for name in group), "g", "f")

    def energies(self, s: Mapping[str, Any], functions: Any, rate: Callable[[Any], Any]) -> tuple[Any, Any]:
        """Kinetic and potential energy [J]; `rate` gives the rate of a place along the velocities."""
        place, height = s["q0"], 0.0 * s["g"]
        kinetic, potential = s["m0"] * s["v0"] ** 2, 0.0 * s["g"]
        for k in range(1, self.n + 1):
            place = place + s[f"l{k}"] * functions.sin(s[f"q{k}"])
            height = height + s[f"l{k}"] * functions.cos(s[f"q{k}"])
            kinetic = kinetic + s[f"m{k}"] * (rate(place) ** 2 + rate(height) ** 2)
            potential = potential + s[f"m{k}"] * s["g"] * height
        return kinetic / 2, potential


def symbolic(n: int, *, expanded: bool) -> tuple[list[list[Any]], list[Any]]:
    """Return mass matrix [n + 1][n + 1] and forces [n + 1] as expressions of symengine."""
    import symengine

    chain = Chain(n)
    s = {name: symengine.Symbol(name) for name in chain.names}
    q, v, d = ([s[name] for name in chain.group(letter)] for letter in "qvd")
    write = symengine.expand if expanded else lambda e: e

    def rate(e: Any) -> Any:
        return sum(symengine.diff(e, a) * b for a, b in zip(q, v, strict=True))

    kinetic, potential = (write(e) for e in chain.energies(s, symengine, rate))
    momenta = [symengine.diff(kinetic, b) for b in v]
    mass = [[write(symengine.diff(p, b)) for b in v] for p in momenta]
    driven = [s["f"], *[0] * n]
    forces = [
        write(u - c * b + symengine.diff(kinetic - potential, a) - rate(p))
        for u, c, a, b, p in zip(driven, d, q, v, momenta, strict=True)
    ]
    return mass, forces


def on_the_tape(n: int) -> Program:
    """Return the accelerations, derived by the tape's own derivatives."""
    chain, tape = Chain(n), Tape()
    s = {name: tape.input(name) for name in chain.names}
    q, v, d = ([s[name] for name in chain.group(letter)] for letter in "qvd")
    kinetic, potential = chain.energies(s, elementary, lambda e: along([e], q, v)[0])
    momenta = gradient(kinetic, v)
    pulls = gradient(kinetic - potential, q)
    carried = along(momenta, q, v)
    driven = [s["f"], *[0.0] * n]
    forces = [u - c * b + pull - p for u, c, b, pull, p in zip(driven, d, v, pulls, carried, strict=True)]
    return _program(tape, chain, solve_symmetric(differentiate(momenta, v), forces))


def landed(mass: list[list[Any]], forces: list[Any], common: Common | None = None) -> Program:
    """Return the accelerations of symbolic equations on the tape, after another's elimination of common parts."""
    chain, tape = Chain(len(forces) - 1), Tape()
    lower = [mass[i][j] for i in range(len(forces)) for j in range(i + 1)]
    known: dict[Any, Any] = {}
    definitions, wanted = common([*lower, *forces]) if common else ((), [*lower, *forces])
    for symbol, value in definitions:
        known[symbol] = _land(tape, value, known)
    values = iter([_land(tape, value, known) for value in wanted])
    rows = [[next(values) for _ in range(i + 1)] for i in range(len(forces))]
    return _program(tape, chain, solve_symmetric(rows, list(values)))


def _program(tape: Tape, chain: Chain, values: Sequence[Any]) -> Program:
    return Program(tape, chain.names, tuple(tape.lift(value).index for value in values))


def _land(tape: Tape, e: Any, known: dict[Any, Any]) -> Any:
    """Return an expression of symengine or sympy as a number of the tape."""
    if e not in known:
        known[e] = _operation(tape, e, known)
    return known[e]


def _operation(tape: Tape, e: Any, known: dict[Any, Any]) -> Any:
    kind = type(e).__name__.lower()
    if e.is_Symbol:
        return tape.input(str(e))
    if e.is_number:
        return float(e)
    if kind == "pow" and e.args[1].is_Integer:
        return _land(tape, e.args[0], known) ** int(e.args[1])
    first, *others = (_land(tape, part, known) for part in e.args)
    if kind in _FUNCTIONS:
        return _FUNCTIONS[kind](first)
    for other in others:
        first = first + other if kind == "add" else first * other
    return first
