"""Sixteen lanes against one lane and against C printed from the same tape, for plants of 2, 6 and 14 states."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import c_peer, case, machine, printed_c, svg
from benchmarks.closed_loop import instructions
from benchmarks.report import Section, at_least, at_most
from benchmarks.timing import alternate, ratio

if TYPE_CHECKING:
    from benchmarks.printed_c import PrintedLoop
    from benchmarks.size import Size
    from sscq.closed_loop import ClosedLoop

# At least so many times one lane, by number of states: with 8 doubles a vector, and with 4.
AIMS = {512: {2: 8.0, 6: 5.0, 14: 4.0}, 256: {2: 6.0, 6: 3.5, 14: 3.0}}
_NS = 1e9


def lanes(size: Size) -> Section:
    """Time all in turns, on one thread."""
    section = Section("lanes", "Sixteen lanes against one lane and against C from the same tape")
    if not c_peer.available():
        section.notes.append("C skipped: no gcc.")
    with tempfile.TemporaryDirectory() as folder:
        found = {f"{n_x} states": _add(section, n_x, size, Path(folder)) for n_x in case.SIZES}
    bars = svg.Bars("Closed loop under PID", "ns per step and rollout", found)
    section.figures["lanes.svg"] = svg.figure([bars], 1)
    section.notes.append(f"Aims of the lanes are those for {machine.vectors()}.")
    return section


def _add(section: Section, n_x: int, size: Size, folder: Path) -> dict[str, float]:
    """Add the figures of one plant; return the best times of a step [ns]."""
    plant = case.SIZES[n_x]
    many, one = (case.loop_of(plant, size.steps, lanes=n) for n in (case.LANES, 1))
    peers = built(many, folder)
    theta = candidates(n_x, size)
    check([many.evaluate(theta, 1), one.evaluate(theta, 1)], peers, theta, size.steps)
    calls = {"16 lanes": lambda: many.evaluate(theta, 1), "one lane": lambda: one.evaluate(theta, 1)}
    calls |= {peer.name: lambda p=peer: p.run(theta, size.steps) for peer in peers}
    times = alternate(calls, max(2, size.rounds // 2))
    remarks = {"16 lanes": instructions(many), "one lane": "the same text"}
    for name, timing in times.items():
        each = timing.per(len(theta) * size.steps)
        section.time(f"{n_x} states: one step, {name}", each, "ns", _NS, remarks.get(name, "same bits"))
    factor = ratio(times["one lane"], times["16 lanes"])
    section.ratio(f"{n_x} states: one lane / 16 lanes", factor, at_least(factor, AIMS[machine.width()][n_x]))
    if peers:
        fastest = min((peer.name for peer in peers), key=lambda name: times[name].best)
        factor = ratio(times["16 lanes"], times[fastest])
        section.ratio(f"{n_x} states: 16 lanes / {fastest}", factor, at_most(factor, 1.3))
    section.counts |= {f"{kind} in a step, {n_x} states": n for kind, n in case.operations(many).items()}
    return {name: _NS * timing.per(len(theta) * size.steps).best for name, timing in times.items()}


def built(loop: ClosedLoop, folder: Path, real: str = "double") -> list[PrintedLoop]:
    """Return the loop in C for every width of vectors that the compiler knows; none without a compiler."""
    if not c_peer.available():
        return []
    peers = [printed_c.build(loop, folder, width, real) for width in printed_c.WIDTHS]
    return [peer for peer in peers if peer is not None]


def candidates(n_x: int, size: Size) -> np.ndarray:
    """Return gains [n, 3] that none of the plants diverges with; fewer for larger plants."""
    n = max(32, 2 * size.slice // n_x // 16 * 16)
    return case.gains(n) * np.array([1.0, 0.25, 1.0])


def check(ours: list, peers: list[PrintedLoop], theta: np.ndarray, n_steps: int) -> None:
    """Raise unless every peer computes the kernel's results, bit for bit."""
    wanted = case.table(ours[0])
    others = [case.table(quality) for quality in ours[1:]] + [peer.run(theta, n_steps)[:, 1:] for peer in peers]
    for other in others:
        if not np.array_equal(wanted, other):
            largest = float(np.max(np.abs(wanted - other)))
            message = f"results of the same operations differ by {largest:.1e}, expected equal bits"
            raise RuntimeError(message)
