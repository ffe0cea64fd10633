"""Write docs/balancing_vehicle_contact.md: ``python -m benchmarks.vehicle_contact_page [--quick] [--folder X]``.

Every measured number on the page comes from the one run that writes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import page_command
from benchmarks import vehicle_contact_runs as runs
from benchmarks.prose import paragraph
from benchmarks.size import FULL
from benchmarks.svg import Chart, Curve, figure
from benchmarks.timing import ratio
from benchmarks.vehicle_contact_text import LAWS, MASS
from plants.balancing_vehicle.loads import END, MEAN
from plants.balancing_vehicle.parameters import GRAVITY
from plants.core.kernel import LANES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.size import Size
    from benchmarks.timing import Timing

NAMES = {MEAN: "mean of the gap", END: "gap at the step's end"}
SHOWN = 1e-3  # s, the step of the figures


@dataclass(frozen=True)
class Found:
    """Figures of one run, as :mod:`benchmarks.vehicle_contact_runs` gives them."""

    courses: dict[tuple[str, float], runs.Course]
    times: dict[tuple[str, int], Timing]


def measured(size: Size) -> Found:
    """Run everything; a quick run has two steps."""
    return Found(runs.courses(runs.STEPS if size == FULL else runs.STEPS[:2]), runs.times(size))


def page(found: Found, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        LAWS,
        "## Over a bump",
        "",
        *paragraph(
            f"{1e2 * runs.HEIGHT:g} cm high, {1e2 * runs.LENGTH:g} cm long, taken at {runs.SPEED:g} m/s under both",
            "wheels without torques and without friction in the bearings (parameter set `study`, dry ground): lift-off",
            "and landing. Averaging time five steps. `open`: largest gap at the end of a step with a force. `given`:",
            "how far the energy of the vehicle rises above what it began with.",
        ),
        "",
        "| law | step, ms | open, mm | deepest, mm | given, mJ | half a step back, mJ | left at the end, J |",
        "|---|---|---|---|---|---|---|",
        *(_row(law, h, one) for (law, h), one in found.courses.items()),
        "",
        *_summary(found),
        "",
        "![Gap, load and energy over the bump](balancing_vehicle/landing.svg)",
        "",
        *_cost(found, about),
        "",
        *(f"- {key}: {value}" for key, value in about.items()),
    ]
    return "\n".join(lines) + "\n"


def _row(law: str, h: float, one: runs.Course) -> str:
    given = [1e3 * float((e - e[0]).max()) for e in (one.energy, one.staggered)]
    numbers = (1e3 * one.open, 1e3 * one.deepest, *given)
    cells = " | ".join(f"{value:.0f}" if value >= 100.0 else f"{value:.2g}" for value in numbers)
    return f"| {NAMES[law]} | {1e3 * h:g} | {cells} | {one.energy[-1]:.3f} |"


def _summary(found: Found) -> list[str]:
    one = found.courses[END, SHOWN]
    bend = runs.SPEED**2 * 0.5 * runs.HEIGHT * (2.0 * math.pi / runs.LENGTH) ** 2
    due = 1e3 * MASS * SHOWN**2 * bend * (GRAVITY + 0.5 * bend) / 4.0
    given = 1e3 * float((one.staggered - one.staggered[0]).max())
    return paragraph(
        f"The bump begins with a curvature that asks for {bend:.0f} m/s^2: at 1 ms rigid contact gives",
        f"{due:.3g} mJ there by the formula above and {given:.3g} mJ in this run, of {one.energy[0]:.1f} J. It falls",
        "with the square of the step. The equations themselves give none under either law (to 1e-9 of it, by tests).",
    )


def _cost(found: Found, about: dict[str, object]) -> list[str]:
    each = {key: 1e9 * timing.median for key, timing in found.times.items()}
    dear = ratio(found.times[END, LANES], found.times[MEAN, LANES])[1]
    lanes = ratio(found.times[END, 1], found.times[END, LANES])[1]
    return [
        "## Cost",
        "",
        *paragraph(
            "Closed loop with three PID channels and all measures, one thread, on a machine with",
            f"{about['load at start']} processes at work: {each[MEAN, LANES]:,.0f} ns a step and rollout in {LANES}",
            "lanes by the mean,",
            f"{each[END, LANES]:,.0f} ns by the gap at the end ({dear:.2f} times in turns); {each[MEAN, 1]:,.0f} and",
            f"{each[END, 1]:,.0f} ns in one lane: {LANES} lanes make rigid contact {lanes:.2g} times as fast.",
        ),
    ]


def landing(found: Found) -> str:
    """Return the figure: lift-off and landing, the landing itself with its loads, energy."""
    shown = {NAMES[law]: found.courses[law, SHOWN] for law in (MEAN, END)}
    end = found.courses[END, SHOWN]
    lands = int((end.gap > 1e-3).nonzero()[0].max())
    near = slice(lands - 6, lands + 10)
    time = {name: 1e3 * (one.time - end.time[lands]) for name, one in shown.items()}
    return figure([
        Chart("Gap of the left wheel", "time, s", "gap, mm",
              tuple(Curve(name, one.time, 1e3 * one.gap) for name, one in shown.items())),
        Chart("The landing: gap", "time, ms", "gap, mm",
              tuple(Curve(name, time[name][near], 1e3 * one.gap[near], dots=True) for name, one in shown.items())),
        Chart("The landing: load of the step that begins there", "time, ms", "load, kN",
              tuple(Curve(name, time[name][near], 1e-3 * one.load[near], dots=True) for name, one in shown.items())),
        Chart("Energy, half a step back, less that at the start", "time, s", "mJ",
              tuple(Curve(name, one.time[240:300], 1e3 * (one.staggered - one.staggered[0])[240:300])
                    for name, one in shown.items())),
    ])  # fmt: skip


def write(found: Found, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its figure into a folder."""
    (folder / "balancing_vehicle_contact.md").write_text(page(found, about), encoding="utf-8")
    pictures = folder / "balancing_vehicle"
    pictures.mkdir(exist_ok=True)
    (pictures / "landing.svg").write_text(landing(found), encoding="utf-8")


if __name__ == "__main__":
    page_command.run("vehicle_contact_page", __doc__, measured, write, folder=page_command.FOLDER.parent)
