"""The figures of the full car's algebraic loop as a section of the benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report import Section
from benchmarks.suspension_loop import BASELINES, LOST_AFTER, PUBLISHED, WAYS, Found, measured
from benchmarks.timing import ratio
from plants.core.kernel import LANES
from plants.suspension.loop_gains import ARRANGEMENTS

if TYPE_CHECKING:
    from benchmarks.size import Size


def suspension_loop(size: Size) -> Section:
    """Return all figures as a section."""
    return as_section(measured(size))


def as_section(found: Found) -> Section:
    """Return the figures of one run as a section."""
    section = Section("suspension_loop", "The full car: its algebraic loop, solved, iterated, delayed")
    for car, table in found.gains.items():
        for name in ARRANGEMENTS:
            section.figure(
                f"{car}: loop gain, {name}", table[name].radius, "", f"largest real part {table[name].real:.4f}"
            )
    for (name, step), end in found.ends.items():
        error = float(np.abs(end.positions[0] - found.reference).max())
        section.figure(
            f"{name}, {step:g} s: error after 1 s", error, "m, rad", f"linkage open by {end.opened[0]:.1e} m"
        )
    for (share, kappa), steps in found.lost.items():
        section.figure(
            f"struts of 12 times the mass, share {share:g}, kappa {kappa:g}/s: steps", steps, f"of {LOST_AFTER}"
        )
    for damping, times in found.times.items():
        for (form, mode), timing in times.items():
            remark = f"at the end {found.gaps[damping][form, mode]:.1e} from minimal solved"
            section.time(f"{damping} damping: {form}, {mode}", timing, "ns", 1e9, remark)
        for form, mode in WAYS:
            if mode in BASELINES:
                values = ratio(times[form, mode], times[form, "loop_free"])
                section.ratio(f"{damping} damping: {form}, {mode} / loop_free", values, f"published: {PUBLISHED:g}")
    values = ratio(found.lanes[1], found.lanes[LANES])
    section.ratio(f"minimal solved, variable damping: 1 lane / {LANES} lanes", values, "aim: at least 4 with AVX-512")
    section.counts |= found.operations
    return section
