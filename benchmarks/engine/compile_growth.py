"""How the time to compile grows with a block's length: sines and divisions in a chain, and outputs side by side."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from unittest import mock

from benchmarks.runner.report import FigureSection
from experiments.report.drawing import svg
from plants.core.elementary import sin
from plants.core.kernel import kernel as kernels
from plants.core.kernel import lanes, machine_code
from plants.core.kernel.kernel import ALIVE, ARGUMENTS, KernelDesign
from plants.core.kernel.lanes import LaneLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runner.size import Size
    from plants.core.kernel.lanes import Lane

_SIZES = (500, 1000, 2000, 5000, 10000)
_WHOLE = 1000  # uncut, up to here: 2 000 sines and divisions take more than a minute


def _sines(n: int, a: Any, b: Any) -> tuple[Any, ...]:
    """A chain of n / 2 sines and n / 2 divisions."""
    for k in range(n // 2):
        a = 0.5 * sin(a + 0.1 * k)
        b = b / (2.0 + a)
    return a, b


def _outputs(n: int, a: Any, b: Any) -> tuple[Any, ...]:
    return tuple(a * (0.1 * k) + b for k in range(n))


def compile_growth(size: Size) -> FigureSection:
    """Compile blocks of growing length in pieces as kernels are, and whole as they were before."""
    section = FigureSection("compile_growth", "Time to compile against the number of operations")
    sizes = _SIZES if size.rounds > 4 else _SIZES[:2]
    charts = [_chart(section, title, block, sizes) for title, block in _BLOCKS.items()]
    section.figures["compile_growth.svg"] = svg.figure(charts)
    return section


_BLOCKS: dict[str, Callable[[int, Any, Any], tuple[Any, ...]]] = {"sines and divisions": _sines, "outputs": _outputs}


def _chart(
    section: FigureSection, title: str, block: Callable[[int, Any, Any], tuple[Any, ...]], sizes: tuple[int, ...]
) -> svg.Chart:
    curves = []
    for how, longest, most in (("in pieces", lanes.LONGEST, max(sizes)), ("whole", 10**9, _WHOLE)):
        counts = [n for n in sizes if n <= most]
        with mock.patch.object(lanes, "LONGEST", longest):
            times = [_compiled(block, n) for n in counts]
        for n, spent in zip(counts, times, strict=True):
            section.figure(f"{n:,} {title}, {how}", spent, "s", "processor time, cold")
        curves.append(svg.SvgLine(how, counts, times, dots=True))
    return svg.Chart(title, "operations", "s", tuple(curves), log_x=True, log_y=True)


def _compiled(block: Callable[[int, Any, Any], tuple[Any, ...]], n: int) -> float:
    def body(lane: Lane) -> None:
        lane["out"] = block(n, *lane["in"])

    begin = time.process_time()
    design = KernelDesign("a long block", results=("out",))
    for name, width in (("in", 2), ("out", n if block is _outputs else 2), (ALIVE, 1)):
        design.rows.add(name, width)
    design.after.append(LaneLoop("block", (body,)))
    machine_code.compiled(kernels.build(design).text, ARGUMENTS)
    return time.process_time() - begin
