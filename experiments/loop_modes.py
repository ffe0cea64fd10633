"""Treatments of an algebraic loop beside each other: one plant, one excitation, one run for each mode.

As in::

    sscq simulate plant=nonlinear_inertia 'algebraic_loop=[solved,iterated,loop_free]'

What the modes share is told by `experiments.simulate`; here is what tells them apart: signals and accelerations over
each other, phase planes, the difference from the first mode, and what each costs. A mode that leaves the plant's region
is no error here: it is named, with the reason, and the others are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, document, element
from experiments.report.drawing.numbers import number, plain
from experiments.report.sections.view import swatch
from experiments.runtime.tables import text_table
from plants import DivergedError
from plants.core.accelerations import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from configs.schema import SimulateConfig
    from plants import Plant

    Array = np.ndarray

HEAD = (
    "mode",
    "evaluations a step",
    "passes a stage, most",
    "loop gain, most",
    "largest difference",
    "of",
    "energy residual",
)


@dataclass(frozen=True, eq=False)
class ModeRun:
    """What became of one mode: its simulation (`experiments.simulate.Simulation`), or None and why there is none."""

    mode: str
    done: Any
    reason: str = ""

    @property
    def title(self) -> str:
        """The mode in words."""
        return self.mode.replace("_", "-")


def runs_of(config: SimulateConfig, simulated: Callable[[SimulateConfig], Any]) -> tuple[ModeRun, ...]:
    """Run each mode of a configuration in its own simulation."""
    found = []
    for mode in config.loops:
        try:
            found.append(ModeRun(mode, simulated(replace(config, algebraic_loop=mode, loops=[]))))
        except DivergedError as error:
            found.append(ModeRun(mode, None, str(error)))
    return tuple(found)


def differences(runs: Sequence[ModeRun]) -> dict[str, tuple[float, str]]:
    """Return the largest difference of each mode's states from the first mode that ran, and of which state.

    In the range of that state in the first mode's run; a state that stands still there counts as it is.
    """
    first, *others = [run for run in runs if run.done is not None]
    states = first.done.run.group("states")
    spans = np.ptp(states, axis=0)
    scale = np.where(spans > 0.0, spans, 1.0)
    found = {}
    for run in others:
        apart = np.abs(run.done.run.group("states") - states).max(axis=0) / scale
        worst = int(np.argmax(apart))
        found[run.mode] = float(apart[worst]), first.done.plant.states[worst].name
    return found


def rows(runs: Sequence[ModeRun]) -> list[tuple[str, ...]]:
    """Return a row of :data:`HEAD` for each mode."""
    apart, found = differences(runs), list[tuple[str, ...]]()
    for run in runs:
        if run.done is None:
            found.append((run.title, "-", "-", "-", "left the plant's region", "-", "-"))
            continue
        trajectory, account = run.done.run, run.done.account
        steps = len(trajectory.time) - 1
        loop = trajectory.loop
        most = "-" if loop is None or loop.iterations is None else f"{loop.iterations.most:g}"
        value, state = apart.get(run.mode, (0.0, "-"))
        missed = "-" if account is None else number(float(np.abs(account.residual).max()), 3)
        gain = "-" if loop is None else number(loop.gain, 3)
        found.append((run.title, f"{trajectory.evaluations / steps:.3g}", most, gain, number(value, 3), state, missed))
    return found


def document_of(runs: Sequence[ModeRun]) -> dict[str, Any]:
    """Return the numbers of all modes as plain data."""
    apart = differences(runs)
    return {
        run.mode: {"diverged": run.reason}
        if run.done is None
        else {
            "evaluations": run.done.run.evaluations,
            "loop": None if run.done.run.loop is None else run.done.run.loop.numbers(),
            "largest_difference": apart.get(run.mode, (0.0, ""))[0],
            "final_state": dict(
                zip((q.name for q in run.done.plant.states), run.done.run.group("states")[-1], strict=True)
            ),
        }
        for run in runs
    }


def table(runs: Sequence[ModeRun]) -> str:
    """Return what is printed."""
    told = [f"{run.title}: {run.reason}" for run in runs if run.done is None]
    return "\n".join([text_table(HEAD, rows(runs)), *told])


# ----------------------------------------------------------------------------------------------------------------- page


def page(config: SimulateConfig, plant: Plant, runs: Sequence[ModeRun]) -> str:
    """Return the page: the same simulations give the same text."""
    steps = f"{plain(config.t_end)} s in steps of {plain(config.integration_step)} s"
    asked = f"{steps}, {config.integrator}, seed {config.seed}."
    told = [f"{run.title}: {run.reason}." for run in runs if run.done is None]
    intro = element("section", *(element("p", text) for text in (plant.text, asked, *told) if text), _key(runs))
    parts = [
        element("section", element("h3", "What each mode costs, and how far it is from the first"), _rows(runs)),
        _section("States", list(_states(plant, runs))),
        _section("Accelerations: what a rate moved in a step, by the step", list(_accelerations(plant, runs))),
        _section("Phase planes", list(_planes(plant, runs))),
        _section(f"Difference from {_first(runs).title}", list(_differences(plant, runs))),
    ]
    return document("Algebraic loop", plant.name, intro, *(part for part in parts if part))


def _first(runs: Sequence[ModeRun]) -> ModeRun:
    return next(run for run in runs if run.done is not None)


def _section(title: str, content: list[Html]) -> Html:
    return (
        element("section", element("h3", title), element("div", *content, class_="multiples")) if content else Html("")
    )


def _key(runs: Sequence[ModeRun]) -> Html:
    shown = [(k, run) for k, run in enumerate(runs) if run.done is not None]
    return element("p", *(element("span", swatch(_style(k, runs)), run.title) for k, run in shown), class_="keys")


def _style(place: int, runs: Sequence[ModeRun]) -> str:
    """Colours of the modes; the first is drawn thick, below the others."""
    return f"k{place}" + (" strong" if runs[place] is _first(runs) else "")


def _rows(runs: Sequence[ModeRun]) -> Html:
    head = element("tr", *(element("th", word) for word in HEAD))
    body = [element("tr", element("th", row[0]), *(element("td", cell) for cell in row[1:])) for row in rows(runs)]
    return element("div", element("table", element("thead", head), element("tbody", *body)), class_="scroll")


def _curves(
    runs: Sequence[ModeRun], of: Callable[[Any], tuple[Array, Array]], skip: ModeRun | None = None
) -> tuple[Curve, ...]:
    return tuple(
        Curve(*of(run.done), run.title, _style(k, runs))
        for k, run in enumerate(runs)
        if run.done is not None and run is not skip
    )


def _states(plant: Plant, runs: Sequence[ModeRun]) -> Iterator[Html]:
    for k, q in enumerate(plant.states):

        def moved(done: Any, k: int = k) -> tuple[Array, Array]:
            return done.run.time, done.run.group("states")[:, k]

        yield _figure(q.name, q.unit, _curves(runs, moved))


def _accelerations(plant: Plant, runs: Sequence[ModeRun]) -> Iterator[Html]:
    for k in layout(plant).velocities:
        q = plant.states[k]

        def moved(done: Any, k: int = k) -> tuple[Array, Array]:
            time = done.run.time
            return time[1:], np.diff(done.run.group("states")[:, k]) / np.diff(time)

        unit = f"{q.unit}²" if q.unit.endswith("/s") else f"{q.unit or '1'}/s"
        yield _figure(f"rate of {q.name}", unit, _curves(runs, moved))


def _planes(plant: Plant, runs: Sequence[ModeRun]) -> Iterator[Html]:
    """A velocity over the state that it is the rate of, where these are in pairs."""
    places = layout(plant)
    if plant.kinematics is not None or len(places.others) != len(places.velocities):
        return
    for a, b in zip(places.others, places.velocities, strict=True):
        across, up = plant.states[a], plant.states[b]

        def both(done: Any, a: int = a, b: int = b) -> tuple[Array, Array]:
            states = done.run.group("states")
            return states[:, a], states[:, b]

        chart = LineChart(up.name, _curves(runs, both), up.unit, x_label=across.name, x_unit=across.unit, height=300.0)
        yield element("figure", line_chart(chart))


def _differences(plant: Plant, runs: Sequence[ModeRun]) -> Iterator[Html]:
    first = _first(runs)
    if sum(run.done is not None for run in runs) < 2:
        return
    base = first.done.run.group("states")
    for k, q in enumerate(plant.states):

        def apart(done: Any, k: int = k) -> tuple[Array, Array]:
            return done.run.time, done.run.group("states")[:, k] - base[:, k]

        yield _figure(f"difference of {q.name}", q.unit, _curves(runs, apart, skip=first))


def _figure(name: str, unit: str, curves: tuple[Curve, ...]) -> Html:
    return element("figure", line_chart(LineChart(name, curves, unit, height=190.0)))
