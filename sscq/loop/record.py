"""Record closed loops: everything about a run over time, and where it has been at the ticks of a schedule.

A record is a :class:`plants.core.motion.trajectory.Trajectory` with groups of columns. What was visited are errors,
their rates and integrals, and plant outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.motion.loop_account import loop_report, points_of, warn_of_gain
from plants.core.motion.simulate import count_steps
from plants.core.motion.trajectory import Trajectory
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.evaluate import as_theta
from sscq.loop.measures import all_measures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.loop.closed_loop import Outcome
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


_TOGETHER = 4_096  # rows of lanes that are sorted by lane together: they stay in the processor's cache


def record(
    plant: Plant,
    controller: Any,
    gains: Any,
    situation: Situation,
    step: float = 0.01,
    integrator: str = "rk4",
    algebraic_loop: str = "solved",
    *,
    entropy_scale: float = 1.0,
) -> Trajectory:
    """Return everything about one closed loop over time.

    Returns
    -------
    Trajectory
        Groups "states", "outputs" (true measurements), "reference", "command" (per channel), "inputs", "gains",
        "entropy_rates" (of plant and controller, W), "entropy_at_rest" (of plants that lose at rest: what the measures
        take off), "signals" (what the schedule sees: error and error rate of each channel, then the plant outputs that
        it asks for), and where there are any "schedule_states", "disturbances" and "measures" (the plant's own, as they
        would be if the rollout ended then).
        A rollout that diverges stays where it was. ``evaluations`` and ``loop`` as from :func:`plants.simulate`; an
        iteration that does not converge ends the rollout, and ``loop.iterations.failure`` names the equation.
    """
    recorder = Recorder(plant, controller, (situation,), step, integrator, algebraic_loop, entropy_scale=entropy_scale)
    return recorder(gains)


class Recorder:
    """Closed loops that show everything, as :func:`record`: one kernel for all candidates and situations.

    Parameters
    ----------
    plant, controller, step, integrator, algebraic_loop, entropy_scale
        As for :func:`record`.
    situations : sequence of Situation
    """

    def __init__(
        self,
        plant: Plant,
        controller: Any,
        situations: Sequence[Situation],
        step: float = 0.01,
        integrator: str = "rk4",
        algebraic_loop: str = "solved",
        *,
        entropy_scale: float = 1.0,
    ) -> None:
        self.controller = controller
        self.loop = ClosedLoop(
            plant, controller, situations, step, integrator=integrator, algebraic_loop=algebraic_loop, observe=True,
            measures=all_measures(plant), entropy_scale=entropy_scale,
        )  # fmt: skip

    def __call__(self, gains: Any, number: int = 0) -> Trajectory:
        """Return the record of one candidate [n_theta] in the situation at place `number`."""
        return next(self.several(gains, [number]))[1]

    def several(self, gains: Any, numbers: Sequence[int]) -> Iterator[tuple[int, Trajectory]]:
        """Yield the place and the record of one candidate [n_theta] in each of the situations at places `numbers`.

        Those that can share a call of the kernel run side by side and come one after the other.
        """
        loop = self.loop
        theta = as_theta(self.controller, loop, gains)
        if len(theta) != 1:
            message = f"record shows one candidate, got {len(theta)}"
            raise ValueError(message)
        lanes = loop.kernel.lanes
        for group in loop.groups():
            wanted = [number for number in numbers if number in group]
            for first in range(0, len(wanted), lanes):
                yield from self._together(theta, wanted[first : first + lanes])

    def _together(self, theta: np.ndarray, numbers: Sequence[int]) -> Iterator[tuple[int, Trajectory]]:
        """Records of situations that share a call, a lane each."""
        loop, parts = self.loop, _recorded(self.loop)
        own, kept = loop.scoring.own, [*(group for _, group, _, _ in parts), *loop.scoring.own.groups]
        rows = [row for group in kept for row in range(*loop.design.rows.span(group).indices(10**6))]
        outcome = loop.run(theta, numbers, threads=1, record=rows, keep=True)
        names = [name for _, _, labels, _ in parts for name in labels]
        units = [unit for _, _, _, labels in parts for unit in labels]
        groups, first = {}, 0
        for title, _, labels, _ in parts:
            groups[title] = slice(first, first + len(labels))
            first += len(labels)
        if own:
            groups["measures"] = slice(first, first + len(own.measures))
            names, units = (a + b for a, b in zip((names, units), own.labels(), strict=True))
        n_steps = count_steps(loop.situations[numbers[0]].t_end, loop.step)
        time = np.arange(n_steps + 1) * loop.step
        for lane, (number, taken) in enumerate(zip(numbers, _by_lane(outcome.record, len(numbers)), strict=True)):
            reached = int(outcome.steps[lane])
            taken[reached + 1 :] = taken[min(reached, n_steps)]
            shown = np.hstack([taken[:, :first], own.running(taken[:, first:], reached)]) if own else taken
            done = Trajectory(time, shown, tuple(names), tuple(units), groups)
            yield number, self._with_report(done, outcome, lane, number)

    def _with_report(self, done: Trajectory, outcome: Outcome, lane: int, number: int) -> Trajectory:
        """Count the evaluations, and tell how the plant's algebraic loop went."""
        loop = self.loop
        assert outcome.snapshot is not None  # noqa: S101  (it was asked for; for the type checker)
        parameters = loop.plant.values("parameters", loop.situations[number].parameters)
        points = points_of(done, parameters, int(outcome.steps[lane]))
        motion, final = loop.sampling.motion, outcome.snapshot.rows[lane]
        evaluations, report = loop_report(motion, loop.design.rows, final, loop.step, points)
        warn_of_gain(report, stacklevel=6)  # a record shows what happened, divergence too
        return replace(done, evaluations=evaluations, loop=report)


def _by_lane(record: np.ndarray, n: int) -> np.ndarray:
    """Return records [n, step, row] of the first `n` lanes, part by part: each row of lanes leaves memory once."""
    steps, rows, lanes = record.shape
    flat, found = record.reshape(-1, lanes), np.empty((n, steps * rows))
    for first in range(0, len(flat), _TOGETHER):
        found[:, first : first + _TOGETHER] = flat[first : first + _TOGETHER, :n].T
    return found.reshape(n, steps, rows)


def _recorded(loop: ClosedLoop) -> list[tuple[str, str, list[str], list[str]]]:
    """Title, row group, names and units of everything a record shows."""
    plant, controller = loop.plant, loop.spec.controller
    outputs = [c.output for c in plant.channels]
    units = [plant.measurements[plant.index("measurements", o)].unit for o in outputs]
    seen = [f"{word} {o}" for o in outputs for word in ("error", "error rate")]
    extra, n_states = list(controller.schedule.signals), controller.schedule.n_states
    parts = [
        ("states", "x", [q.name for q in plant.states], [q.unit for q in plant.states]),
        ("outputs", "y_true", [f"output {q.name}" for q in plant.measurements], [q.unit for q in plant.measurements]),
        ("reference", "r", [f"reference {o}" for o in outputs], units),
        ("command", "command", [f"command {o}" for o in outputs], ["" for _ in outputs]),
        ("inputs", "u", [q.name for q in plant.inputs], [q.unit for q in plant.inputs]),
        ("gains", "g", list(controller.gain_names), ["" for _ in controller.gain_names]),
        ("entropy_rates", "entropy_rates", ["entropy rate plant", "entropy rate controller"], ["W", "W"]),
        ("signals", "signals", [*seen, *(f"signal {name}" for name in extra)], ["" for _ in (*seen, *extra)]),
    ]
    if loop.scoring.rest is not None:
        parts.append(("entropy_at_rest", "entropy_at_rest", ["entropy rate at rest"], ["W"]))
    if n_states:
        parts.append(("schedule_states", "k", [f"schedule state {i}" for i in range(n_states)], [""] * n_states))
    if plant.disturbances:
        parts.append(("disturbances", "w", [q.name for q in plant.disturbances], [q.unit for q in plant.disturbances]))
    return parts


@dataclass(frozen=True)
class Visited:
    """What was met; what follows a divergence is left out.

    Attributes
    ----------
    own : array [n, n_channels, 3]
        Error, error rate as the law filters it, and the integral of the error up to the tick.
    outputs : array [n, n_y]
        All outputs of the plant, without noise.
    situation : array [n]
        Number of the situation of each row.
    """

    own: Array
    outputs: Array
    situation: NDArray[np.int64]


def visited(
    plant: Plant,
    controller: Any,
    theta: Any,
    situations: Sequence[Situation],
    step: float,
    tick: float,
    *,
    count: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Visited:
    """Return where a controller takes the plant.

    Parameters
    ----------
    plant, controller, situations, step
        As for a closed loop.
    theta : array [n_theta]
    tick : float
        [s], a multiple of the step.
    count : int, optional
        Only so many situations are run, the first ones; the others say what is compiled in. Left out: all.
    options : mapping, optional
        Integrator and loop mode.
    """
    recorder = Recorder(plant, controller, situations, step, **dict(options or {}))
    every = max(1, round(tick / step))
    found = {}
    for number, run in recorder.several(theta, range(len(situations) if count is None else count)):
        seen = run.group("signals")[:-1:every, : 2 * len(plant.channels)]
        outputs = run.group("outputs")[:-1:every]
        good = np.isfinite(seen).all(axis=1) & np.isfinite(outputs).all(axis=1)
        own = seen[good].reshape(int(good.sum()), -1, 2)
        integral = tick * (np.cumsum(own[..., :1], axis=0) - own[..., :1])
        found[number] = np.concatenate([own, integral], axis=-1), outputs[good], np.full(len(own), number)
    parts = [np.concatenate(part) for part in zip(*(found[number] for number in sorted(found)), strict=True)]
    return Visited(*parts)
