"""The same loop in C, printed from the same tapes as the kernel: same rows, same lanes, same guard.

What differs from the kernel is the compiler alone, so the results agree bit for bit.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel import ALIVE
from plants.core.lanes import Loop, Text, fuse
from plants.core.printers import c, c_kernels

if TYPE_CHECKING:
    from pathlib import Path

    from plants.core.kernel import Design
    from sscq.closed_loop import ClosedLoop

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


def text(design: Design) -> str:
    """Return the C file of a kernel's design.

    Raises
    ------
    ValueError
        If the design has statements at step level (noise, delays, iterations), which are Python text.
    """
    rows, printed = design.rows, Text(design.rows, design.lanes, _kept(design), c.PrintedC)
    steps = []
    for item in fuse([*design.before, *design.after]):
        if not isinstance(item, Loop):
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


def _kept(design: Design) -> set[str]:
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
    stem = f"{re.sub(r'[^a-z0-9]+', '_', loop.plant.name.lower())}_{loop.kernel.lanes}_{width}_{real}"
    path = folder / f"{stem}.c"
    path.write_text(text(loop.design) if real == "double" else single(text(loop.design)), encoding="utf-8")
    command = ["gcc", *_FLAGS, f"-mprefer-vector-width={width}", "-shared", "-fPIC", "-o", str(path.with_suffix(".so"))]
    done = subprocess.run([*command, str(path), "-lm"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    function = ctypes.CDLL(str(path.with_suffix(".so"))).rollout
    function.restype = None
    pointer = ctypes.c_void_p
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
