"""Sixteen lanes against one lane and against C printed from the same tape, for plants of 2, 6 and 14 states.

The printed C has the same rows, lanes and guard as the kernel. Would single precision pay? The same C in float says
how much faster it is, and what is lost.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engine import case, closed_loop
from benchmarks.engine.closed_loop import instructions
from benchmarks.runner import machine
from benchmarks.runner.report import FigureSection, at_least, at_most
from experiments.report.drawing import svg
from experiments.runtime.timing import alternate, ratio
from plants.core.kernel import kernel
from plants.core.kernel.kernel import ALIVE
from plants.core.kernel.lanes import LaneLoop, Text, fuse
from plants.core.printers import c, c_kernels

if TYPE_CHECKING:
    from benchmarks.runner.size import Size
    from plants.core.kernel.kernel import KernelDesign
    from sscq.loop.closed_loop import ClosedLoop


# As for the loop written by hand: without traps to keep, selects need no detours. The results are the same.
_FLAGS = ("-std=c99", "-O3", "-march=native", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno")
WIDTHS = (256, 512)
_REAL = {"double": ctypes.c_double, "float": ctypes.c_float}
_FILE = """/* {title}: printed from the tapes of the kernel of the same name. */
{header}
enum {{ LANES = {lanes}, ROWS = {rows} }};

{kernels}
void rollout(const double *start, const double *theta, size_t n, long first_step, long n_steps, const double *numbers,
             double *results)
{{
    double S[ROWS][LANES] __attribute__((aligned(64)));
{unpack}
    for (size_t first = 0; first < n; first += LANES) {{
        for (int lane = 0; lane < LANES; lane++) {{
            const size_t candidate = first + lane < n ? first + lane : n - 1;
            for (int row = 0; row < ROWS; row++) S[row][lane] = start[row];
            for (int row = 0; row < {n_theta}; row++) S[{theta_row} + row][lane] = theta[candidate * {n_theta} + row];
        }}
        long step = first_step;
        while (step < first_step + n_steps) {{
            const double t = step * h;
            (void)t;
{steps}
            step += 1;
            if (step % 256 == 0) {{
                int dead = 1;
                for (int lane = 0; lane < LANES; lane++) if (S[{alive}][lane] > 0.0) dead = 0;
                if (dead) break;
            }}
        }}
        for (int lane = 0; lane < LANES && first + lane < n; lane++) {{
            double *result = results + (first + lane) * {n_results};
{give_back}
        }}
    }}
}}
"""


def text(design: KernelDesign) -> str:
    """Return the C file of a kernel's design.

    Raises
    ------
    ValueError
        If the design has statements at step level (noise, delays, iterations), which are Python text.
    """
    rows, printed = design.rows, Text(design.rows, design.lanes, _kept(design), c.PrintedC)
    steps = []
    for item in fuse([*design.before, *design.after]):
        if not isinstance(item, LaneLoop):
            message = f"{design.title}: the printed C has lane loops only, got {type(item).__name__}; leave out noise"
            raise ValueError(message)  # noqa: TRY004  (the kind of item is what the situation asks for)
        steps.append(f"if ({item.when}) {{\n{printed.mark(item)}\n}}" if item.when else printed.mark(item))
    printed.print()
    given = [row for name in design.results for row in range(*rows.span(name).indices(rows.count))]
    names = ["h", *design.numbers]
    return _FILE.format(
        title=design.title, header="#include <stddef.h>\n" + c.HEADER, lanes=design.lanes, rows=rows.count,
        kernels=c_kernels.source(printed.kernels) if printed.kernels else "",
        unpack="\n".join(f"    const double {name} = numbers[{k}];" for k, name in enumerate(names)),
        n_theta=rows.size.get(design.theta, 0), theta_row=rows.first.get(design.theta, 0),
        steps=printed.placed("\n".join(steps)), alive=rows.first[ALIVE], n_results=len(given),
        give_back="\n".join(f"            result[{k}] = S[{row}][lane];" for k, row in enumerate(given)),
    )  # fmt: skip


def _kept(design: KernelDesign) -> set[str]:
    rows = design.rows
    names = [ALIVE, *design.results, *design.kept]
    return {str(row) for name in names for row in range(*rows.span(name).indices(rows.count))}


@dataclass(frozen=True)
class PrintedLoop:
    """A closed loop's C text, compiled."""

    name: str
    loop: ClosedLoop
    function: ctypes._CFuncPtr
    real: str

    def run(self, theta: np.ndarray, n_steps: int) -> np.ndarray:
        """Return steps and measures [candidate, 1 + n_measures] of the loop's first situation."""
        kind = _REAL[self.real]
        start, given = self.loop.start_rows(0).astype(kind), np.ascontiguousarray(theta, kind)
        results = np.empty((len(given), 1 + len(self.loop.measures)), kind)
        numbers = np.array([self.loop.step], kind)
        pointers = (start.ctypes, given.ctypes, len(given), 0, n_steps, numbers.ctypes, results.ctypes)
        self.function(*pointers)
        return results.astype(float)


def build(loop: ClosedLoop, folder: Path, width: int, real: str = "double") -> PrintedLoop | None:
    """Compile a loop with vectors of `width` bits; None where this machine's compiler does not know the width.

    `real` is "double", or "float" for the same text in single precision.
    """
    path = folder / f"{closed_loop.file_name(loop.plant.name)}_{loop.kernel.lanes}_{width}_{real}.c"
    path.write_text(text(loop.design) if real == "double" else single(text(loop.design)), encoding="utf-8")
    compiled = closed_loop.compile_c(path, path.with_suffix(".so"), (*_FLAGS, f"-mprefer-vector-width={width}"))
    if compiled is None:
        return None
    function = compiled[0].rollout
    function.restype = None
    pointer = closed_loop.POINTER
    function.argtypes = [pointer, pointer, ctypes.c_size_t, ctypes.c_long, ctypes.c_long, pointer, pointer]
    return PrintedLoop(f"C from the same tape, {width}-bit vectors", loop, function, real)


def single(source: str) -> str:
    """Return the text in single precision; it must call no elementary kernel (these are made for doubles)."""
    if "K_INLINE double k_" in source:
        message = "the elementary kernels hold for doubles only: choose a plant without sin, exp, ..."
        raise ValueError(message)
    body = re.sub(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(?![\w.])", r"\1f", source)
    for double, float_ in (("double", "float"), ("fma(", "fmaf("), ("fabs(", "fabsf("), ("sqrt(", "sqrtf(")):
        body = re.sub(rf"\b{re.escape(double)}", float_, body)
    return body


# At least so many times one lane, by number of states: with 8 doubles a vector, and with 4.
AIMS = {512: {2: 8.0, 6: 5.0, 14: 4.0}, 256: {2: 6.0, 6: 3.5, 14: 3.0}}
_NS = 1e9


def lanes(size: Size) -> FigureSection:
    """Time all in turns, on one thread."""
    section = FigureSection("lanes", "Sixteen lanes against one lane and against C from the same tape")
    if not closed_loop.available():
        section.notes.append("C skipped: no gcc.")
    with tempfile.TemporaryDirectory() as folder:
        found = {f"{n_x} states": _add(section, n_x, size, Path(folder)) for n_x in case.SIZES}
    bars = svg.Bars("Closed loop under PID", "ns per step and rollout", found)
    section.figures["lanes.svg"] = svg.figure([bars], 1)
    section.notes.append(f"Aims of the lanes are those for {machine.vectors()}.")
    return section


def _add(section: FigureSection, n_x: int, size: Size, folder: Path) -> dict[str, float]:
    """Add the figures of one plant; return the best times of a step [ns]."""
    plant = case.SIZES[n_x]
    many, one = (case.loop_of(plant, size.steps, lanes=n) for n in (kernel.LANES, 1))
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
    if not closed_loop.available():
        return []
    peers = [build(loop, folder, width, real) for width in WIDTHS]
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


_PAYS = 1.5


def single_precision(size: Size) -> FigureSection:
    """Time the loops in double and in float, both as C from the same tape."""
    section = FigureSection("single_precision", "Single precision: the same C text in float")
    if not closed_loop.available():
        section.notes.append("Skipped: no gcc.")
        return section
    with tempfile.TemporaryDirectory() as folder:
        for n_x in case.SIZES:
            _add_precision(section, n_x, size, Path(folder))
    section.notes.append(
        "What a float mode could gain. The kernels have none: elementary functions and noise are made for doubles."
    )
    return section


def _add_precision(section: FigureSection, n_x: int, size: Size, folder: Path) -> None:
    loop, theta = case.loop_of(case.SIZES[n_x], size.steps), candidates(n_x, size)
    peers = {f"{real}, {peer.name}": peer for real in ("double", "float") for peer in built(loop, folder, real)}
    if not all(any(name.startswith(real) for name in peers) for real in ("double", "float")):
        section.notes.append(f"{n_x} states skipped: the compiler builds neither width of vectors.")
        return
    calls = {name: lambda p=peer: p.run(theta, size.steps) for name, peer in peers.items()}
    times = alternate(calls, max(2, size.rounds // 4))
    exact, rough = (
        min((n for n in times if n.startswith(real)), key=lambda n: times[n].best) for real in ("double", "float")
    )
    for name in (exact, rough):
        section.time(f"{n_x} states: one step, {name}", times[name].per(len(theta) * size.steps), "ns", 1e9)
    factor = ratio(times[exact], times[rough])
    section.ratio(f"{n_x} states: double / float", factor, "would pay" if factor[0] >= _PAYS else "would not pay")
    wanted, found = (peers[name].run(theta, size.steps)[:, 1:] for name in (exact, rough))
    lost = float(np.max(np.abs(found - wanted) / np.abs(wanted)))
    section.figure(f"{n_x} states: largest relative error of a measure", lost, "", f"{size.steps:,} steps")
