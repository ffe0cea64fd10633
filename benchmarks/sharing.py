"""Common parts of whole programs: operations left, and time taken, against computer algebra's elimination of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks import pendulum_chain
from benchmarks.report import Section
from benchmarks.timing import alternate, ratio
from plants.core.sharing import operations, shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.size import Size

_ALGEBRA = ("symengine", "sympy")
_LARGE = 10  # pendulums


def sharing(size: Size) -> Section:
    """Count and time chains of one to four pendulums on a cart, from one and the same expressions."""
    section = Section("sharing", "Common parts of whole programs: accelerations of n pendulums on a cart")
    for n in range(1, size.repeats + 2):
        for expanded in (False, True):
            _chain(section, n, expanded=expanded, rounds=size.repeats)
        own = pendulum_chain.on_the_tape(n)
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


def _chain(section: Section, n: int, *, expanded: bool, rounds: int) -> None:
    mass, forces = pendulum_chain.symbolic(n, expanded=expanded)
    what = f"n = {n}, {'multiplied out' if expanded else 'as derived'}"
    alone = pendulum_chain.landed(mass, forces)
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


def _large(section: Section, rounds: int) -> None:
    """Time a program of some thousand operations, as the largest mechanisms have them."""
    mass, forces = pendulum_chain.symbolic(_LARGE, expanded=False)
    alone = pendulum_chain.landed(mass, forces)
    seconds = min(_processor_time(lambda: shared(alone)) for _ in range(rounds))
    what = f"n = {_LARGE}, as derived"
    theirs = operations(_landed("symengine", mass, forces))
    ours = operations(shared(alone))
    section.figure(f"{what}: tape alone", operations(alone), "operations")
    section.figure(f"{what}: shared", ours, "operations", _judged(ours, theirs))
    section.figure(f"{what}: cse of symengine", theirs, "operations")
    remark = f"without others' share; aim: below 1 s, {'met' if seconds < 1.0 else 'MISSED'}"
    section.figure(f"{what}: processor time of shared", seconds, "s", remark)


def _processor_time(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _judged(ours: int, theirs: int) -> str:
    return f"aim: at most symengine's, {'met' if ours <= theirs else 'MISSED'}"


def _module(name: str) -> Any:
    import symengine
    import sympy

    return {"symengine": symengine, "sympy": sympy}[name]


def _expressions(name: str, mass: list[list[Any]], forces: list[Any]) -> list[Any]:
    lower = [value for i, row in enumerate(mass) for value in row[: i + 1]]
    return [_module(name).sympify(value) for value in (*lower, *forces)]


def _landed(name: str, mass: list[list[Any]], forces: list[Any]) -> Any:
    """The program after one of the peers' elimination."""
    return pendulum_chain.landed(
        mass, forces, lambda values: _module(name).cse([_module(name).sympify(v) for v in values])
    )
