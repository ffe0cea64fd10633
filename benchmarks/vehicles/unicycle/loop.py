"""Write docs/performance/unicycle_loop.md and its figure: ``python -m benchmarks.vehicles.unicycle.loop [--quick]``.

The unicycle's algebraic loop: how strong it is, how accurate delayed accelerations are, and what time it takes. Every
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
from controllers import PID
from experiments.report.drawing.svg import figure
from experiments.reproduce.registry import claim
from experiments.reproduce.vehicles.unicycle.delayed import (
    ANGLES_STEP,
    APART,
    LEAN,
    POINTS,
    SCHEMES,
    T_END,
    TILT,
    TWO_ROLLS,
    angle_charts,
    motions,
    threshold,
)
from experiments.reproduce.vehicles.unicycle.loop_forms import ARRANGEMENTS, gains, largest_share, upright
from experiments.reproduce.vehicles.unicycle.rollouts import (
    GAINS,
    SPEED,
    UnicycleRuns,
    UnicycleSchemeRuns,
    plant_of,
)
from experiments.runtime.tables import markdown_table
from plants.core.kernel.kernel import LANES
from plants.core.sharing.sharing import operations
from plants.unicycle import BETA0, UNICYCLE, UNICYCLE_SPEED_HOLD
from plants.unicycle.signals import K5
from plants.unicycle.tasks import start

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.runner.size import Size


ROLLS = (0.0, 0.047, 0.05, 0.1, 0.15, 0.2, 0.3)  # rad
STEPS = (1e-3, 1e-4)  # s
_MARKS = np.arange(1, 201) * (T_END / 200)  # s
PUBLISHED = claim("unicycle_run_time").values["most"]  # "up to 200 times" as fast without the loop
WAYS = ways("kit", "redundant")
CASES = {
    **{f"{roll:g} rad": (roll, SPEED) for roll in (0.03, 0.05, 0.06, 0.08, 0.1)},
    **{f"{roll:g} rad at 3 m/s": (roll, 3.0) for roll in (0.2, 0.25)},
}
FIRST = next(iter(CASES))
_ROLLOUTS = 16 * LANES  # of one timed call: some 10 ms where it is quick


@dataclass(frozen=True)
class UnicycleLoopFindings(LoopFindings):
    """All figures of one run; gains by roll [rad], balanced at rest.

    Attributes
    ----------
    shares : by roll
        Largest share of a pass for which relaxed passes of the minimal form converge.
    tilts : by arrangement
        Least, median and greatest gain at random tilts.
    errors : by scheme and step
        Largest distance in roll and pitch from the solution [rad] over the first case, or infinite where it falls.
    lasted : by scheme, step and case
        Time survived [s] of `T_END`.
    threshold : float
        Roll [rad] at which the gain of the minimal form is 1.
    """

    shares: dict[float, float]
    tilts: dict[str, tuple[float, float, float]]
    errors: dict[tuple[str, float], float]
    lasted: dict[tuple[str, float, str], float]
    threshold: float


def measured(size: Size) -> UnicycleLoopFindings:
    """Measure everything."""
    table = {roll: gains(state=upright(roll)) for roll in ROLLS}
    times = LoopTimes.of({way: UnicycleRuns(*way).run for way in WAYS}, _ROLLOUTS, size)
    lanes = lanes_in_turns(lambda n: UnicycleRuns("minimal", "solved", n).run, _ROLLOUTS, size)
    counts = {form: operations(traced(plant_of(form))) for form in ("minimal", "kit", "redundant", "printed")}
    shares = {roll: largest_share(upright(roll)) for roll in ROLLS}
    return UnicycleLoopFindings(table, {"": times}, lanes, counts, shares, _tilts(), *_schemes(), threshold())


def _tilts(count: int = 400) -> dict[str, tuple[float, float, float]]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        state = (0.0, *rng.uniform(-TILT, TILT, 2), *rng.uniform(-np.pi, np.pi, 2), *(0.0,) * 7)
        found.append([gain.radius for gain in gains(state=state).values()])
    rows = zip(np.min(found, axis=0), np.median(found, axis=0), np.max(found, axis=0), strict=True)
    return {name: tuple(map(float, row)) for name, row in zip(ARRANGEMENTS, rows, strict=True)}  # type: ignore[misc]


def _schemes() -> tuple[dict[tuple[str, float], float], dict[tuple[str, float, str], float]]:
    """Errors of the first case, and how long all cases last."""
    expected = solution()
    errors: dict[tuple[str, float], float] = {}
    lasted: dict[tuple[str, float, str], float] = {}
    starts = [(start(speed, roll, LEAN), speed) for roll, speed in CASES.values()]
    for name, scheme in SCHEMES.items():
        runs = UnicycleSchemeRuns(scheme)
        for step in STEPS:
            _, survived = runs(step, T_END, starts)
            lasted |= {(name, step, case): float(t) for case, t in zip(CASES, survived, strict=True)}
            stood = survived[0] >= T_END - 0.5 * step
            errors[name, step] = error(runs, step, expected) if stood else np.inf
    return errors, lasted


def error(runs: UnicycleSchemeRuns, step: float, expected: np.ndarray) -> float:
    """Return the largest distance in roll and pitch [rad] from the solution over the first case."""
    roll, speed = CASES[FIRST]
    begun = [(start(speed, roll, LEAN), speed)]
    found = np.array([runs(step, t, begun)[0][0][1:3] for t in _MARKS])
    return float(np.hypot(*(found - expected).T).max())


def solution() -> np.ndarray:
    """Return roll and pitch [n, 2] of the first case every 20 ms, by RK4."""
    k1, k2, k3, k4 = GAINS
    roll, speed = CASES[FIRST]
    closed = plants.close(
        UNICYCLE_SPEED_HOLD, PID(), (k1, 0.0, k2, k3, 0.0, k4), {"lean": BETA0 + K5 * speed, "roll": 0.0},
        channel_limits=False,
    )  # fmt: skip
    initial = {q.name: value for q, value in zip(UNICYCLE.states, start(speed, roll, LEAN), strict=True)}
    found = plants.simulate(closed, T_END, 5e-4, initial)
    return np.asarray(found.states[np.rint(_MARKS / 5e-4).astype(int), 1:3])


def unicycle_loop(size: Size) -> FigureSection:
    """Return all figures as a section."""
    return as_section(measured(size))


def as_section(found: UnicycleLoopFindings) -> FigureSection:
    """Return the figures of one run as a section."""
    section = FigureSection("unicycle_loop", "The unicycle: its algebraic loop, solved, iterated, delayed")
    for roll, table in found.gains.items():
        for name in ARRANGEMENTS:
            section.figure(f"roll {roll:g} rad: loop gain, {name}", table[name].radius, "")
    for (name, step), error in found.errors.items():
        section.figure(f"{name}, {step:g} s: largest error in {T_END:g} s", error, "rad")
    for (name, step, case), time in found.lasted.items():
        section.figure(f"{name}, {step:g} s, from {case}: lasted", time, "s")
    found.add_times(section, f"up to {PUBLISHED:g}")
    return section


def drawn_angles(points: int = POINTS) -> str:
    """Return yaw, pitch and roll over time, as the source compares them: a column for each roll, a row for each."""
    return figure(angle_charts({roll: motions(roll, points) for roll in TWO_ROLLS}))


def _gain_table(found: UnicycleLoopFindings) -> list[str]:
    """Loop gains by roll and arrangement; then those of random tilts."""
    rows = [
        [f"{roll:g}", *(f"{table[n].radius:.4f}" for n in ARRANGEMENTS), f"{found.shares[roll]:.3f}"]
        for roll, table in found.gains.items()
    ]
    for k, label in enumerate(("least", "median", "greatest")):
        rows.append([label, *(f"{found.tilts[n][k]:.3f}" for n in ARRANGEMENTS), ""])
    return markdown_table(["roll [rad]", *ARRANGEMENTS, "share"], rows)


def _scheme_table(found: UnicycleLoopFindings) -> list[str]:
    """Errors and times survived by scheme and step."""
    others = [case for case in CASES if case != FIRST]
    rows = []
    for name in SCHEMES:
        for step in STEPS:
            error, fell = found.errors[name, step], found.lasted[name, step, FIRST]
            cells = [f"{error:.2g}" if np.isfinite(error) else f"falls at {fell:.2g} s"]
            for case in others:
                time = found.lasted[name, step, case]
                cells.append("-" if time > T_END - 0.5 * step else f"{time:.2g}")
            rows.append([name, f"{1e3 * step:g} ms", *cells])
    return markdown_table(["scheme", "step", "error", *others], rows)


def page(found: UnicycleLoopFindings, about: dict[str, Any]) -> str:
    """Return the page's text."""
    minimal, *_ = ARRANGEMENTS
    (coarse, fine), relaxed = STEPS, "delayed, share 0.5"
    failing = next(case for case in CASES if found.lasted["delayed", fine, case] < T_END - 0.5 * fine)
    times = found.times[""].times
    return pages.filled(pages.TEMPLATES / "unicycle_loop.md", about, {
        **found.told(), "published": PUBLISHED, "gains": _gain_table(found), "schemes": _scheme_table(found),
        "upright": found.gains[0.0][minimal].radius, "rolled": found.gains[0.3][minimal].radius,
        "threshold": found.threshold, "tilt": TILT, "first": FIRST, "end": T_END,
        "coarse_ms": 1e3 * coarse, "fine_ms": 1e3 * fine,
        "worse": found.errors["delayed", fine] / found.errors["solved", fine],
        "failing": failing, "fails_after": found.lasted["delayed", fine, failing],
        "relaxed_falls": found.lasted[relaxed, coarse, FIRST], "relaxed_error": found.errors[relaxed, fine],
        "relaxed_worse": found.errors[relaxed, fine] / found.errors["solved", fine],
        "solved_over_free": found.times[""].over_loop_free("minimal", "solved"),
        "kit": times["kit", "solved"].best / times["minimal", "solved"].best,
        "angles": _ANGLES, "angles_ms": 1e3 * ANGLES_STEP, "apart": APART,
    })  # fmt: skip


_ANGLES = "unicycle_angles.svg"


def write(found: UnicycleLoopFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its figure into a folder."""
    (folder / "unicycle_loop.md").write_text(page(found, about), encoding="utf-8")
    (folder / _ANGLES).write_text(drawn_angles(), encoding="utf-8")


if __name__ == "__main__":
    pages.run("vehicles.unicycle.loop", __doc__, measured, write)
