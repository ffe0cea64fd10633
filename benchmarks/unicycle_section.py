"""The figures of the unicycle's algebraic loop as a section of the benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.report import Section
from benchmarks.timing import ratio
from benchmarks.unicycle_loop import BASELINES, PUBLISHED, T_END, WAYS, Found, measured
from plants.core.kernel import LANES
from plants.unicycle.loop_gains import ARRANGEMENTS

if TYPE_CHECKING:
    from benchmarks.size import Size


def unicycle_loop(size: Size) -> Section:
    """Return all figures as a section."""
    return as_section(measured(size))


def as_section(found: Found) -> Section:
    """Return the figures of one run as a section."""
    section = Section("unicycle_loop", "The unicycle: its algebraic loop, solved, iterated, delayed")
    for roll, table in found.gains.items():
        for name in ARRANGEMENTS:
            section.figure(f"roll {roll:g} rad: loop gain, {name}", table[name].radius, "")
    for (name, step), error in found.errors.items():
        section.figure(f"{name}, {step:g} s: largest error in {T_END:g} s", error, "rad")
    for (name, step, case), time in found.lasted.items():
        section.figure(f"{name}, {step:g} s, from {case}: lasted", time, "s")
    for (form, mode), timing in found.times.items():
        section.time(f"{form}, {mode}", timing, "ns", 1e9, f"at the end {found.gaps[form, mode]:.1e} from solved")
    for form, mode in WAYS:
        if mode in BASELINES:
            values = ratio(found.times[form, mode], found.times[form, "loop_free"])
            section.ratio(f"{form}, {mode} / loop_free", values, f"published: up to {PUBLISHED:g}")
    values = ratio(found.lanes[1], found.lanes[LANES])
    section.ratio(f"minimal solved: 1 lane / {LANES} lanes", values, "aim: at least 4 with AVX-512")
    section.counts |= found.operations
    return section
