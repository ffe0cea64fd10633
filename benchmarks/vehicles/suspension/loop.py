"""Write docs/performance/suspension_loop.md: ``python -m benchmarks.vehicles.suspension.loop [--quick]``.

The full car's algebraic loop: how strong it is, how accurate delayed accelerations are, and what time it takes. Every
number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.runner import pages
from benchmarks.runner.report import FigureSection
from benchmarks.vehicles.loops import LoopFindings, LoopTimes, lanes_in_turns, traced, ways
from experiments.reproduce.registry import claim
from experiments.reproduce.vehicles.suspension.loop_forms import ARRANGEMENTS, UNKNOWNS, gains
from experiments.reproduce.vehicles.suspension.rollouts import (
    DAMPING,
    NOMINAL_DAMPERS,
    SCHEMES,
    START,
    CarRuns,
    CarScheme,
    CarSchemeRuns,
    plant_of,
)
from experiments.runtime.tables import markdown_table
from plants.core.kernel.kernel import LANES
from plants.core.sharing.sharing import operations, shared
from plants.suspension import SUSPENSION
from plants.suspension.signals import REST

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.runner.size import Size
    from experiments.reproduce.vehicles.suspension.rollouts import End


STEPS = (1e-3, 2e-4)  # s
PUBLISHED = claim("car_run_time").values["fixed"]  # run time of the loop over the loop-free run time
SHARES = (1.0, 0.7, 0.5)
LOST_AFTER = 2000  # steps that a scheme which runs must survive
WAYS = ways("redundant")
ROLLOUTS = 4 * LANES  # of one timed call


def _times(factor: float, *labels: str) -> dict[str, float]:
    return {q.name: factor * q.nominal for q in SUSPENSION.parameters if q.name.rpartition("_")[0] in labels}


CARS: dict[str, dict[str, float]] = {
    "nominal": {},
    **{f"strut mass x {factor:g}": _times(factor, "ms") for factor in (9.0, 10.0, 12.0, 20.0)},
    "arm and wheel mass x 0.1": _times(0.1, "ma", "mw"),
    "strut foot at 0.4 m": {"e2_front": 0.4, "e2_rear": 0.4},
    "strut foot at 0.5 m": {"e2_front": 0.5, "e2_rear": 0.5},
}


@dataclass(frozen=True)
class CarLoopFindings(LoopFindings):
    """All figures of one run; gains by car, at the nominal rest, and times by damping.

    Attributes
    ----------
    ends : by scheme and step, free motion of 1 s
    reference : ndarray [7]
        Where that motion ends.
    lost : by (share, kappa), with struts of twelve times the mass
        Steps survived.
    """

    ends: dict[tuple[str, float], End]
    reference: np.ndarray
    lost: dict[tuple[float, float], int]

    def error(self, name: str, step: float) -> float:
        """Return a scheme's largest error of a position [m, rad]."""
        return float(np.abs(self.ends[name, step].positions[0] - self.reference).max())


def measured(size: Size) -> CarLoopFindings:
    """Measure everything."""
    reference = plants.simulate(SUSPENSION, 1.0, 1e-4, START, inputs=list(NOMINAL_DAMPERS)).states[-1][:7]
    ends = {}
    for name, scheme in SCHEMES.items():
        runs = CarSchemeRuns(scheme)
        ends |= {(name, step): runs(step, round(1.0 / step)) for step in STEPS}
    lost = {}
    for share in SHARES:
        for kappa in (0.0, 20.0):
            runs = CarSchemeRuns(CarScheme("printed", share=share, kappa=kappa))
            lost[share, kappa] = int(runs(STEPS[0], LOST_AFTER, (CARS["strut mass x 12"],)).steps[0])
    times = {
        damping: LoopTimes.of({way: CarRuns(*way, damping).run for way in WAYS}, ROLLOUTS, size) for damping in DAMPING
    }
    lanes = lanes_in_turns(lambda n: CarRuns("minimal", "solved", "variable", n).run, ROLLOUTS, size)
    table = {name: gains(car, REST) for name, car in CARS.items()}
    return CarLoopFindings(table, times, lanes, _operations(), ends, reference, lost)


def _operations() -> dict[str, int]:
    forms = ("minimal", "redundant", "printed")
    return {
        **{f"{form}, all rates": operations(traced(plant_of(form))) for form in forms},
        "minimal, all rates, shared": operations(shared(traced(SUSPENSION))),
        f"printed, one pass of the {UNKNOWNS}": operations(traced(plant_of("printed"), UNKNOWNS)),
    }


def suspension_loop(size: Size) -> FigureSection:
    """Return all figures as a section."""
    return as_section(measured(size))


def as_section(found: CarLoopFindings) -> FigureSection:
    """Return the figures of one run as a section."""
    section = FigureSection("suspension_loop", "The full car: its algebraic loop, solved, iterated, delayed")
    for car, table in found.gains.items():
        for name in ARRANGEMENTS:
            section.figure(
                f"{car}: loop gain, {name}", table[name].radius, "", f"largest real part {table[name].real:.4f}"
            )
    for (name, step), end in found.ends.items():
        remark = f"linkage open by {end.opened[0]:.1e} m"
        section.figure(f"{name}, {step:g} s: error after 1 s", found.error(name, step), "m, rad", remark)
    for (share, kappa), steps in found.lost.items():
        section.figure(
            f"struts of 12 times the mass, share {share:g}, kappa {kappa:g}/s: steps", steps, f"of {LOST_AFTER}"
        )
    found.add_times(section, f"{PUBLISHED:g}", "minimal solved, variable damping", " damping")
    return section


def _gain_table(found: CarLoopFindings) -> list[str]:
    rows = [
        [car, *(f"{table[n].radius:.6f} ({table[n].real:.4f})" for n in ARRANGEMENTS)]
        for car, table in found.gains.items()
    ]
    return markdown_table(["car", *ARRANGEMENTS], rows)


def _accuracy_table(found: CarLoopFindings) -> list[str]:
    """Errors and gaps of the schemes by step."""
    rows = []
    for name, scheme in SCHEMES.items():
        cells = []
        for step in STEPS:
            end = found.ends[name, step]
            gap = "" if scheme.form == "minimal" else f" ({end.open_at_end[0]:.1e}, {end.opened[0]:.1e})"
            cells.append(f"{found.error(name, step):.2g}{gap}")
        rows.append([name, *cells])
    return markdown_table(["scheme", *(f"{1e3 * step:g} ms" for step in STEPS)], rows)


def page(found: CarLoopFindings, about: dict[str, Any]) -> str:
    """Return the page's text."""
    lost = [(f"{share:g}", f"{found.lost[share, 0.0]}", f"{found.lost[share, 20.0]}") for share in SHARES]
    return pages.filled(
        pages.TEMPLATES / "suspension_loop.md",
        about,
        {
            **found.told(),
            "published": PUBLISHED,
            "gains": _gain_table(found),
            "accuracy": _accuracy_table(found),
            "open_by": {name: found.ends[name, STEPS[0]].open_at_end[0] for name in SCHEMES},
            "lost": markdown_table(("share of a pass", "no drift control", "kappa 20/s"), lost),
        },
    )


def write(found: CarLoopFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page into a folder."""
    (folder / "suspension_loop.md").write_text(page(found, about), encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.suspension.loop", __doc__, measured, write)
