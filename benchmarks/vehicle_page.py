"""Write docs/balancing_vehicle_studies.md: ``python -m benchmarks.vehicle_page [--quick] [--folder X]``.

Every number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import page_command
from benchmarks import vehicle_runs as runs
from benchmarks.prose import paragraph
from benchmarks.size import FULL
from benchmarks.timing import ratio
from benchmarks.vehicle_figures import figures
from benchmarks.vehicle_page_studies import slip, study_1, study_2, study_3
from benchmarks.vehicle_schemes import PASSES_TRIED, SCHEMES
from plants.core.kernel import LANES

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.size import Size
    from benchmarks.timing import Timing

OWN = next(iter(SCHEMES))
SCALES = ((0.05, 0.05), (0.1, 1.0))
HALVINGS = {"fixed 4 ms": (0, 0), "k from 0 to 4": (0, 4), "k from 1 to 5": (1, 5), "fixed 0.25 ms": (4, 4)}


@dataclass(frozen=True)
class Found:
    """All figures of one run, as :mod:`benchmarks.vehicle_runs` gives them."""

    slip: list[tuple[float, float, float]]
    errors: dict[str, dict[float, float]]
    times: dict[str, Timing]
    courses: dict[tuple[tuple[float, float], bool], runs.Course]
    bumps: dict[str, tuple[int, float, float, float]]


def measured(size: Size) -> Found:
    """Run everything; the bump is shorter in a quick run."""
    t_end = 6.0 if size == FULL else 1.6
    return Found(
        slip=runs.slip_found(),
        errors=runs.errors(),
        times=runs.times(size),
        courses={(s, e): runs.study_3(s, encoder=e) for s in SCALES for e in (False, True)},
        bumps={name: runs.bump(k, t_end) for name, k in HALVINGS.items()},
    )


def page(found: Found, about: dict[str, object]) -> str:
    """Return the page's text."""
    lines = [
        "# The balancing vehicle on slippery ground: studies",
        "",
        *paragraph(
            "Written by `python -m benchmarks.vehicle_page`. Open loops on the parameter set `study` (centre of",
            "mass below",
            f"the axle, static friction 0.15, kinetic 0.10), by the Rosenbrock method at {1e3 * runs.REFERENCE:g}",
            "ms; the",
            "gate's tests hold these runs against the reference trajectories to 1e-6. What the plant is:",
            "[balancing_vehicle.md](balancing_vehicle.md).",
        ),
        "",
        *(f"- {key}: {value}" for key, value in about.items()),
        "",
        *study_1(),
        *slip(found),
        *study_2(),
        *study_3(found),
        *_accuracy(found),
        *_bump(found),
    ]
    return "\n".join(lines) + "\n"


def _accuracy(found: Found) -> list[str]:
    head = [
        "| scheme | " + " | ".join(f"{1e3 * h:g} ms" for h in runs.STEPS) + f" | ns, {LANES} lanes | ns, one lane |"
    ]
    rows = [_scheme_row(found, name) for name in (*SCHEMES, *(f"own step, {k} passes" for k in PASSES_TRIED if k != 6))]
    lanes = ratio(found.times[f"{OWN}, one lane"], found.times[f"{OWN}, {LANES} lanes"])[1]
    dear = ratio(found.times[f"rosenbrock, {LANES} lanes"], found.times[f"{OWN}, {LANES} lanes"])[1]
    return [
        "## Step, accuracy and time",
        "",
        *paragraph(
            "Largest error of a coordinate [m, rad] in study 1b over 2 s, by step; and time of a step and rollout",
            "in closed",
            "loop at 1 ms with three PID channels and all measures, one thread. A dash: it is lost. Wheel angles",
            "of some",
            "17 rad are among the coordinates.",
        ),
        "",
        *head,
        "|---" * (len(runs.STEPS) + 3) + "|",
        *rows,
        "",
        *paragraph(
            f"{LANES} lanes make the own step {lanes:.2g} times as fast as one. The Rosenbrock method takes",
            f"{dear:.2g} times",
            f"as long a step and is at 1 ms {found.errors[OWN][1e-3] / found.errors['rosenbrock'][1e-3]:,.0f} times as",
            "accurate while wheels stay on the ground; where a wheel hits the ground its matrix loses its sign",
            "and the run",
            "may end (at 1 ms on the landings tried, at 0.1 ms not). So the plant brings its own step, and studies",
            "on smooth",
            'ground take the Rosenbrock method: `dataclasses.replace(plant, advance=None)`, `integrator="rosenbrock"`.',
            "Explicit velocities are cheaper still and as accurate here at 1 ms, but stand at the edge of their",
            "stability",
            "there: the stick oscillation of the nominal vehicle has 1180 1/s.",
        ),
        "",
    ]


def _scheme_row(found: Found, name: str) -> str:
    errors = found.errors[name]
    cells = [f"{errors[h]:.1e}" if math.isfinite(errors[h]) else "-" for h in runs.STEPS]
    times = [found.times.get(f"{name}, {count}") for count in (f"{LANES} lanes", "one lane")]
    cells += [f"{1e9 * t.best:,.0f}" if t is not None else "" for t in times]
    return f"| {name} | " + " | ".join(cells) + " |"


def _bump(found: Found) -> list[str]:
    return [
        "## A bump",
        "",
        *paragraph(
            "4 cm high and 20 cm long, taken at 2 m/s under both wheels, controller at 4 ms; averaging time five",
            "steps. The",
            "step is 4 ms / 2^k, with k changed after each control period by whether a gap was open or pressed (the",
            "reference path, one run at a time).",
        ),
        "",
        "| step | steps | x at the end, m | largest gap, m | deepest, mm |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {steps:,} | {x:.4f} | {high:.4f} | {-1e3 * low:.2g} |"
            for name, (steps, x, high, low) in found.bumps.items()
        ),
    ]


def write(found: Found, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its figures into a folder."""
    (folder / "balancing_vehicle_studies.md").write_text(page(found, about), encoding="utf-8")
    pictures = folder / "balancing_vehicle"
    pictures.mkdir(exist_ok=True)
    for name, text in figures().items():
        (pictures / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    page_command.run("vehicle_page", __doc__, measured, write, folder=page_command.FOLDER.parent)
