"""Common parts of whole programs: operations left, and time taken, against computer algebra's elimination of them.

Measured on a chain of n pendulums on a cart by Lagrange's equations, symbolically and on the tape.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.runner.report import FigureSection, aim
from experiments.runtime.timing import alternate, ratio
from plants.core import elementary
from plants.core.linear_solve import solve_symmetric
from plants.core.sharing.sharing import operations, shared
from plants.core.tracing.gradients import along, gradient
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, differentiate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.runner.size import Size

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


_ALGEBRA = ("symengine", "sympy")
_LARGE = 10  # pendulums


def sharing(size: Size) -> FigureSection:
    """Count and time chains of one to four pendulums on a cart, from one and the same expressions."""
    section = FigureSection("sharing", "Common parts of whole programs: accelerations of n pendulums on a cart")
    for n in range(1, size.repeats + 2):
        for expanded in (False, True):
            _chain(section, n, expanded=expanded, rounds=size.repeats)
        own = on_the_tape(n)
        section.figure(f"n = {n}, derived on the tape", operations(own), "operations")
        section.figure(f"n = {n}, derived on the tape, shared", operations(shared(own)), "operations")
    if size.repeats > 1:
        _large(section, size.repeats)
    section.notes.append(
        "Mass matrix and forces by Lagrange's equations, derived by symengine with and without multiplying out, and "
        "solved by the unrolled L D L'. Counted on the tape, which shares equal operations by itself; sum, product, "
        "quotient, negation and function are one operation each. "
        "The peers' eliminations take no factors out, and see mass matrix and forces only, not the solution."
    )
    section.notes.append("Times: of elimination alone. Symengine's is compiled, the other two are Python.")
    return section


def _chain(section: FigureSection, n: int, *, expanded: bool, rounds: int) -> None:
    mass, forces = symbolic(n, expanded=expanded)
    what = f"n = {n}, {'multiplied out' if expanded else 'as derived'}"
    alone = landed(mass, forces)
    ours = operations(shared(alone))
    section.figure(f"{what}: tape alone", operations(alone), "operations")
    theirs = {name: operations(_landed(name, mass, forces)) for name in _ALGEBRA}
    section.figure(f"{what}: shared", ours, "operations", _judged(ours, theirs["symengine"]))
    for name, count in theirs.items():
        section.figure(f"{what}: cse of {name}", count, "operations")
    given = {name: _expressions(name, mass, forces) for name in _ALGEBRA}
    calls = {"shared": lambda: shared(alone), **{k: lambda k=k: _module(k).cse(given[k]) for k in _ALGEBRA}}
    times = alternate(calls, rounds)
    for name, timing in times.items():
        section.time(f"{what}: time of {'' if name == 'shared' else 'cse of '}{name}", timing, "ms", 1e3)
    section.ratio(f"{what}: time, shared / cse of sympy", ratio(times["shared"], times["sympy"]))


def _large(section: FigureSection, rounds: int) -> None:
    """Time a program of some thousand operations, as the largest mechanisms have them."""
    mass, forces = symbolic(_LARGE, expanded=False)
    alone = landed(mass, forces)
    seconds = min(_processor_time(lambda: shared(alone)) for _ in range(rounds))
    what = f"n = {_LARGE}, as derived"
    theirs = operations(_landed("symengine", mass, forces))
    ours = operations(shared(alone))
    section.figure(f"{what}: tape alone", operations(alone), "operations")
    section.figure(f"{what}: shared", ours, "operations", _judged(ours, theirs))
    section.figure(f"{what}: cse of symengine", theirs, "operations")
    remark = f"without others' share; {aim('below 1 s', met=seconds < 1.0)}"
    section.figure(f"{what}: processor time of shared", seconds, "s", remark)


def _processor_time(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _judged(ours: int, theirs: int) -> str:
    return aim("at most symengine's", met=ours <= theirs)


def _module(name: str) -> Any:
    import symengine
    import sympy

    return {"symengine": symengine, "sympy": sympy}[name]


def _expressions(name: str, mass: list[list[Any]], forces: list[Any]) -> list[Any]:
    lower = [value for i, row in enumerate(mass) for value in row[: i + 1]]
    return [_module(name).sympify(value) for value in (*lower, *forces)]


def _landed(name: str, mass: list[list[Any]], forces: list[Any]) -> Any:
    """The program after one of the peers' elimination."""
    return landed(mass, forces, lambda values: _module(name).cse([_module(name).sympify(v) for v in values]))
