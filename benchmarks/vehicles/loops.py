"""What the studies of algebraic loops share: how long each way to treat a loop takes, and how that is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runner.pages import span
from experiments.runtime.tables import markdown_table
from experiments.runtime.timing import Timing, alternate, ratio
from plants.core.kernel.kernel import LANES
from plants.core.tracing.trace import names, trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.runner.report import FigureSection
    from benchmarks.runner.size import Size
    from plants.core.algebraic_loop.gain import MatrixGain
    from plants.core.plant import Plant
    from plants.core.tracing.trace import Program

    Way = tuple[str, str]
    Run = Callable[[int, int], np.ndarray]

BASELINES = ("iterated", "iterated_exact", "gauss_seidel")


def ways(*others: str) -> tuple[Way, ...]:
    """Return all (form, mode): minimal and printed in every mode, other forms solved."""
    modes = ("solved", *BASELINES, "loop_free")
    minimal, printed = ([(form, mode) for mode in modes] for form in ("minimal", "printed"))
    return (*minimal, *((form, "solved") for form in others), *printed)


@dataclass(frozen=True)
class LoopTimes:
    """Times per step and rollout by (form, mode), and distances of the ends from the solved minimal form's."""

    times: Mapping[Way, Timing]
    gaps: Mapping[Way, float]

    @classmethod
    def of(cls, runs: Mapping[Way, Run], n: int, size: Size) -> LoopTimes:
        """Time `n` rollouts of each way in turns; a run takes (rollouts, steps) and returns coordinates at the end."""
        ends = {way: run(n, _steps(size)) for way, run in runs.items()}
        gaps = {way: float(np.abs(end - ends["minimal", "solved"]).max()) for way, end in ends.items()}
        return cls(_in_turns(runs, n, size), gaps)

    def over_loop_free(self, form: str, mode: str) -> float:
        """Return the time over that of the same form's loop-free run, the median over the turns."""
        return ratio(self.times[form, mode], self.times[form, "loop_free"])[1]

    def cells(self, form: str, mode: str) -> list[str]:
        """Return best time [ns], multiple of the loop-free run where the form has one, and distance."""
        over = f"{self.over_loop_free(form, mode):.2f}" if (form, "loop_free") in self.times else ""
        return [f"{1e9 * self.times[form, mode].best:,.0f}", over, f"{self.gaps[form, mode]:.1e}"]


def _steps(size: Size) -> int:
    return max(10, size.steps // 5)


def _in_turns(runs: Mapping[Any, Run], n: int, size: Size) -> dict[Any, Timing]:
    calls = {str(name): lambda run=run: run(n, _steps(size)) for name, run in runs.items()}
    found = alternate(calls, max(2, size.rounds // 4))
    return {name: found[str(name)].per(n * _steps(size)) for name in runs}


def lanes_in_turns(make: Callable[[int], Run], n: int, size: Size) -> dict[int, Timing]:
    """Return times per step and rollout in one lane and in `LANES`; `make` takes the number of lanes."""
    return _in_turns({lanes: make(lanes) for lanes in (1, LANES)}, n, size)


def traced(plant: Plant, unknowns: int = 0) -> Program:
    """Return the tape of all rates, or of one pass of so many unknowns of the algebraic loop."""
    sizes = {"x": plant.states, "u": plant.inputs, "w": plant.disturbances, "p": plant.parameters}
    groups = [names(kind, len(quantities)) for kind, quantities in sizes.items()]
    if unknowns:
        groups.insert(1, names("a", unknowns))
    block: Any = plant.acceleration if unknowns else plant.derivative
    return trace(block, "t", *groups)


@dataclass(frozen=True)
class LoopFindings:
    """Figures that every study of a loop has.

    Attributes
    ----------
    gains : by car or roll, and arrangement
    times : by kind of run, "" where there is only one
    lanes : Timing of 1 lane and of `LANES`, minimal form solved
    operations : by name, of one evaluation
    """

    gains: Mapping[Any, Mapping[str, MatrixGain]]
    times: Mapping[str, LoopTimes]
    lanes: Mapping[int, Timing]
    operations: Mapping[str, int]

    def time_table(self) -> list[str]:
        """Return times of all ways to treat the loop, by kind of run."""
        head = [cell for kind in self.times for cell in (_titled(kind, "ns"), "/ loop-free", "distance")]
        every = next(iter(self.times.values())).times
        rows = [[*way, *(cell for one in self.times.values() for cell in one.cells(*way))] for way in every]
        return markdown_table(["form", "loop", *head], rows)

    def told(self) -> dict[str, Any]:
        """Return what both pages say of times: ranges over the kinds of run."""
        kinds = self.times.values()
        over = {
            f"{form}_iterated": span(one.over_loop_free(form, mode) for one in kinds for mode in BASELINES)
            for form in ("minimal", "printed")
        }
        printed = [time.best for one in kinds for (form, _), time in one.times.items() if form == "printed"]
        solved = [one.times["minimal", "solved"].best for one in kinds]
        return over | {
            "newton": span(one.over_loop_free("printed", "iterated_exact") for one in kinds),
            "solved": span(1e9 * time for time in solved),
            "printed": span(1e9 * time for time in printed),
            "quickest": min(printed) / min(solved),
            "lanes": LANES,
            "faster": ratio(self.lanes[1], self.lanes[LANES])[1],
            "operations": ", ".join(f"{name} {count:,}" for name, count in self.operations.items()),
            "times": self.time_table(),
        }

    def add_times(self, section: FigureSection, published: str, lanes: str = "minimal solved", of: str = "") -> None:
        """Add times, ratios, lanes and operations to a section; `of` stands behind each kind of run."""
        for name, one in self.times.items():
            kind = f"{name}{of}"
            for (form, mode), timing in one.times.items():
                remark = f"at the end {one.gaps[form, mode]:.1e} from minimal solved"
                section.time(_titled(kind, f"{form}, {mode}"), timing, "ns", 1e9, remark)
            for form, mode in one.times:
                if mode in BASELINES:
                    values = ratio(one.times[form, mode], one.times[form, "loop_free"])
                    section.ratio(_titled(kind, f"{form}, {mode} / loop_free"), values, f"published: {published}")
        values = ratio(self.lanes[1], self.lanes[LANES])
        section.ratio(f"{lanes}: 1 lane / {LANES} lanes", values, "aim: at least 4 with AVX-512")
        section.counts |= self.operations


def _titled(kind: str, text: str) -> str:
    return f"{kind}: {text}" if kind else text
