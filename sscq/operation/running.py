"""A closed loop in operation: windows and their parts joined from snapshot to snapshot while the plant drifts.

Parameters stand still within a part of a window and move on between parts; references and loads are those of the
window's situation; states, filters, delay lines and noise go on. A window may be replayed on other plants, with other
numbers of the controller and other noise, from where it began.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.loop.closed_loop import ClosedLoop, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.loop.spec import LoopSpec
    from sscq.operation.course import DriftCourse
    from sscq.operation.programme import Programme

    Array = NDArray[np.float64]

IAE, TRAVEL = "iae", "total_variation"
_KEPT = ("r", "y", "u", "g", "command")
_NO_INTEGRAL = 1e-9  # a smaller integral gain never takes a shift of the integral back


@dataclass(frozen=True, eq=False)
class PartRecord:
    """A part of a window.

    Attributes
    ----------
    iae, travel : float
        Of the part alone.
    end : Snapshot
    lost : bool
        Whether the loop left the plant's region in it.
    log : mapping of row group to array [n_steps, n]
        "r", "y" as the controller sees it, "u"; empty unless asked for.
    """

    iae: float
    travel: float
    end: Snapshot
    lost: bool
    log: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class ReplayRecord:
    """Replays of a window: arrays [rollout, candidate]."""

    iae: Array
    travel: Array
    lost: NDArray[np.bool_]


class RunningLoop:
    """The loop of one controller.

    Parameters
    ----------
    programme : Programme
    controller : Controller, law or tuple of laws
    parts : int
        Of a window.
    options : mapping, optional
        Integrator and loop mode.
    threads : int, optional

    Raises
    ------
    ValueError
        If a window is no whole number of the schedule's ticks, or has fewer of them than parts.
    """

    def __init__(
        self,
        programme: Programme,
        controller: Any,
        parts: int = 8,
        options: Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> None:
        self.programme, self.parts, self.threads = programme, parts, threads
        self.loop = ClosedLoop(
            programme.plant,
            controller,
            programme.situations,
            programme.step,
            measures=(IAE, TRAVEL),
            kept=_KEPT,
            observe=True,
            **dict(options or {}),
        )
        self.ends = part_ends(self.loop.spec, programme, parts)

    def begun(self, window: int = 0) -> Snapshot:
        """Return the loop at rest at the beginning of a window."""
        return Snapshot(np.array(self.loop.call((window,)).start), window * self.programme.window_steps)

    def part_steps(self, number: int) -> int:
        """Return the integration steps of a part of any window."""
        return self.ends[number + 1] - self.ends[number]

    def part(
        self, window: int, number: int, theta: Array, course: DriftCourse, state: Snapshot, *, log: bool = False
    ) -> PartRecord:
        """Run a part of a window.

        Parameters
        ----------
        window, number : int
        theta : array [n_theta]
        course : DriftCourse
            Its parameters at the middle of the part hold.
        state : Snapshot
            Where the part before ended.
        """
        steps = self.part_steps(number)
        middle = (state.step + 0.5 * steps) * self.programme.step
        state = self._placed(window, state, [course.at(middle)])
        names = ("r", "y", "u") if log else ()
        spans = {name: self.loop.design.rows.span(name) for name in names}
        rows = [row for span in spans.values() for row in range(span.start, span.stop)]
        found = self.loop.run(theta[None], [window], n_steps=steps, snapshot=state, threads=1, keep=True, record=rows)
        assert found.snapshot is not None  # noqa: S101  (it was asked for; for the type checker)
        logged, first = {}, 0
        for name, span in spans.items():
            size = span.stop - span.start
            logged[name] = found.record[:-1, first : first + size, 0].copy()
            first += size
        iae, travel = (float(column[0]) for column in self._measured(found.measures))
        return PartRecord(iae, travel, found.snapshot, bool(found.steps[0] < steps), logged)

    def replay(
        self,
        window: int,
        state: Snapshot,
        theta: Array,
        plants: Sequence[Mapping[str, float]],
        seeds: Sequence[int],
    ) -> ReplayRecord:
        """Run a window again from where it began, on other plants with noise of their own.

        Parameters
        ----------
        theta : array [n_candidates, n_theta]
        plants : sequence [n] of parameters by name
        seeds : sequence of int [n]
        """
        many = Snapshot(np.repeat(state.rows, len(plants), axis=0), state.step)
        keys = [(self.programme.situations[window].name, seed) for seed in seeds]
        steps = self.programme.window_steps
        found = self.loop.run(
            np.atleast_2d(theta),
            [window] * len(plants),
            n_steps=steps,
            snapshot=self._placed(window, many, plants),
            keys=keys,
            threads=self.threads,
        )
        iae, travel = (column.reshape(len(plants), -1) for column in self._measured(found.measures))
        return ReplayRecord(iae, travel, found.steps.reshape(len(plants), -1) < steps)

    def predicted(
        self,
        window: int,
        number: int,
        state: Snapshot,
        theta: Array,
        plants: Sequence[Mapping[str, float]],
        seeds: Sequence[int],
    ) -> Array:
        """Return the outputs that a controller [n_theta] would see in a part [n, n_steps, n_channels].

        Parameters
        ----------
        window, number : int
        state : Snapshot
            Where the part begins.
        plants : sequence [n] of parameters by name
            No more than the kernel has lanes.
        seeds : sequence of int [n]
            Of the noise.
        """
        many = Snapshot(np.repeat(state.rows, len(plants), axis=0), state.step)
        span = self.loop.design.rows.span("y")
        found = self.loop.run(
            theta[None],
            [window] * len(plants),
            n_steps=self.part_steps(number),
            snapshot=self._placed(window, many, plants),
            keys=[(self.programme.situations[window].name, seed) for seed in seeds],
            threads=1,
            record=range(span.start, span.stop),
        )
        return np.moveaxis(found.record[:-1, :, : len(plants)], -1, 0)

    def handed_over(
        self, window: int, state: Snapshot, old: Array, new: Array, plant: Mapping[str, float]
    ) -> tuple[Snapshot, Array]:
        """Return the state with which new numbers take over without a bump, and what is left of the bump [n_channels].

        Each channel's integral takes up by how much the new gains' next command differs from the old ones' in the same
        sample. Where the new integral gain is none nothing would lead that back, so the difference stays. The bump is
        that of the commands; at a limit of the command it may not be 0 either.

        Parameters
        ----------
        window : int
            That which ends, or goes on.
        state : Snapshot
        old, new : array [n_theta]
        plant : mapping
            The plant's present parameters that drift.
        """
        before = self._next(window, state, old, plant)
        after = self._next(window, state, new, plant)
        rows, design, spec = state.rows.copy(), self.loop.design.rows, self.loop.spec
        shift = self._of(before, "command") - self._of(after, "command")
        gains = self._of(after, "g")
        for i in range(len(spec.laws)):
            if abs(gains[spec.gains_of(i)][1]) > _NO_INTEGRAL:
                rows[0, design.span(f"c{i}").start] += shift[i]
        taken = replace(state, rows=rows)
        left = self._of(self._next(window, taken, new, plant), "command") - self._of(before, "command")
        return taken, left

    def _next(self, window: int, state: Snapshot, theta: Array, plant: Mapping[str, float]) -> Snapshot:
        """The next sample with these numbers."""
        found = self.loop.run(
            theta[None], [window], n_steps=1, snapshot=self._placed(window, state, [plant]), threads=1, keep=True
        )
        assert found.snapshot is not None  # noqa: S101  (it was asked for; for the type checker)
        return found.snapshot

    def _measured(self, measures: Array) -> tuple[Array, Array]:
        """Columns of error and travel."""
        iae, travel = (measures[:, self.loop.measures.index(name)] for name in (IAE, TRAVEL))
        return iae, travel

    def _of(self, state: Snapshot, group: str) -> Array:
        return state.rows[0, self.loop.design.rows.span(group)]

    def _placed(self, window: int, state: Snapshot, plants: Sequence[Mapping[str, float]]) -> Snapshot:
        """The state with parameters of plants, and with what a window's situation asks for."""
        rows, design, loop = state.rows.copy(), self.loop.design.rows, self.loop
        start = loop.call((window,)).start[0]
        for bank in (loop.spec.references, loop.spec.disturbances):
            for slots in bank.slots:
                for slot in slots:
                    if slot.kind.n_settings:
                        span = design.span(slot.group)
                        rows[:, span] = start[span]
        span, given = design.span("p"), self.programme.situations[window].parameters
        common = dict(zip((q.name for q in loop.plant.parameters), loop.plant.values("parameters", given), strict=True))
        for row, plant in zip(rows, plants, strict=True):
            row[span] = loop.plant.values("parameters", {**common, **plant})
        return replace(state, rows=rows)


def part_ends(spec: LoopSpec, programme: Programme, parts: int) -> tuple[int, ...]:
    """Return the integration steps, within a window, at which its parts begin, and its end: whole ticks of a schedule.

    Raises
    ------
    ValueError
        If a window is no whole number of ticks, or has fewer of them than parts.
    """
    tick = spec.timing.sample * spec.timing.tick
    ticks, rest = divmod(programme.window_steps, tick)
    if rest or ticks < parts:
        raise ValueError(
            f"a window of {programme.window_time:g} s must be {parts} parts of whole ticks of "
            f"{tick * programme.step:g} s; choose another number of parts"
        )
    return tuple(tick * (ticks * k // parts) for k in range(parts + 1))
