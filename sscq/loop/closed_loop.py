"""The closed loop as one kernel, run for many candidates in many situations."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.gpu import DEVICES
from plants.core.gpu.run import run as on_gpu
from plants.core.gpu.text import device_text
from plants.core.kernel import kernel as kernels
from plants.core.kernel.drawn import ROOM, RepeatedStreams
from plants.core.kernel.kernel import ALIVE, LANES, KernelDesign
from plants.core.kernel.lanes import Lane, LaneLoop
from plants.core.kernel.run import RolloutGrid, RolloutJob, grid, run
from plants.core.kernel.signal_bank import stream_arrays
from plants.core.motion.loop_account import warn
from plants.core.motion.loop_watch import LoopWatch
from plants.core.motion.modes import scheme
from plants.core.motion.simulate import count_steps, fill_rows
from plants.core.motion.step import Motion
from plants.core.names import unknown
from sscq.loop.controller_side import Sampling
from sscq.loop.measures import ON_THE_WAY, Scoring, check_measures
from sscq.loop.quality import ALL_MEASURES, Quality
from sscq.loop.spec import LoopSpec
from sscq.situations.situation_sets import repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from plants.core.gpu.text import DeviceText
    from plants.core.kernel.signal_bank import Streams
    from plants.excitation import Feed
    from sscq.situations.situation import Situation


@dataclass(frozen=True)
class Snapshot:
    """Complete state of rollouts at a step: continuing from it equals not having stopped, bit for bit.

    Attributes
    ----------
    rows : ndarray [n, rows]
        Workspaces: plant, controller, schedule, held noise, filters, delay lines, measures.
    step : int
        Absolute number of steps done.
    """

    rows: np.ndarray
    step: int


@dataclass(frozen=True)
class Outcome:
    """What a run of the kernel gave: measures [n_out, n_measures], steps reached [n_out], snapshot, record.

    `watched` [n_out, n] are the results of a loop-free kernel's watch on the loop's gain, without columns elsewhere.
    """

    measures: np.ndarray
    watched: np.ndarray
    steps: np.ndarray
    snapshot: Snapshot | None
    record: np.ndarray


@dataclass(frozen=True)
class Call:
    """What a call in some situations needs whoever the candidates are: formed once, not in every generation.

    `start` [n, rows] are workspaces at the situations' start, `streams` their random numbers' codes, keys and series,
    `repeated` the same for runs from the start that come again, `integers` and `numbers` the kernel's by name,
    `n_steps` the steps up to the horizon.
    """

    start: np.ndarray
    streams: Streams
    repeated: RepeatedStreams
    integers: dict[str, int]
    numbers: dict[str, float]
    n_steps: int


class ClosedLoop:
    """A compiled closed loop.

    Parameters
    ----------
    plant : Plant
    controller : Controller, law or tuple of laws
    situations : sequence of Situation
        What they use together decides what is compiled in; each keeps its own numbers.
    step : float
        Integration step [s].
    integrator, algebraic_loop : str
        As for `plants.simulate`.
    measures : sequence of str
        Names of :data:`sscq.loop.quality.ALL_MEASURES` and of the plant's own measures to accumulate.
    observe : bool
        Also keep what `record` shows.
    entropy_scale : float
        Factor on kd * e'^2 where the loop is not collocated.
    damping : sequence of float
        Of observed loops: damping of each channel for the measure :data:`sscq.loop.measures.DAMPED`; left out: none.
    lanes : int
        Rollouts side by side; 1 only for comparison, and on a GPU.
    device : str
        "cpu", or "cuda": results alone come from an NVIDIA GPU, one thread a rollout. Snapshots and records do not.
    kept : sequence of str
        Row groups that a snapshot has to show although no loop reads them again.
    """

    def __init__(
        self,
        plant: Plant,
        controller: Any,
        situations: Sequence[Situation],
        step: float = 0.01,
        *,
        integrator: str = "rk4",
        algebraic_loop: str = "solved",
        measures: Sequence[str] = ALL_MEASURES,
        observe: bool = False,
        entropy_scale: float = 1.0,
        damping: Sequence[float] = (),
        lanes: int = LANES,
        device: str = "cpu",
        kept: Sequence[str] = (),
    ) -> None:
        if device not in DEVICES:
            raise ValueError(unknown("device", device, DEVICES))
        self.device = device
        measures = check_measures(measures, plant)
        self.plant, self.situations, self.step, self.observe = plant, tuple(situations), step, observe
        self.spec = LoopSpec(plant, controller, situations, step)
        motion = Motion(
            plant, integrator, algebraic_loop, disturbances=self.spec.disturbances.values, inputs=_held_inputs
        )
        title = f"closed loop of {plant.name}: {scheme(plant, integrator)}, algebraic loop {algebraic_loop}"
        self.design = KernelDesign(title, lanes=lanes if device == "cpu" else 1, observed=observe)
        origin = bool(ON_THE_WAY & set(measures))
        travel = "total_variation" in measures
        self.sampling = Sampling(self.spec, motion, travel=travel, origin=origin, observe=observe)
        self._jumps = [self._jump_times(situation) for situation in self.situations]
        jumps = max(map(len, self._jumps)) if "itae" in measures else 1
        self.entropy_scale = entropy_scale
        scaled = entropy_scale != 1.0 or not all(channel.collocated for channel in plant.channels)
        n = len(plant.channels)
        if len(damping) and (not observe or len(damping) != n):
            raise ValueError(f"damping is for observed loops, a number for each of {n} channels, got {damping}")
        # All observed loops have it, so that verdicts and records use the same compiled kernel.
        self.scoring = Scoring(self.spec, self.sampling, measures, scaled=scaled, jumps=jumps, damped=observe)
        self.damping = tuple(damping) or (0.0,) * n
        self.measures = self.scoring.measures
        self.watch = None if motion.loop_free is None else LoopWatch(motion, motion.loop_free)
        self._build(motion)
        self.design.kept += kept
        self.kernel = kernels.build(self.design)
        self._calls: dict[tuple[int, ...], Call] = {}

    def _build(self, motion: Motion) -> None:
        design, spec = self.design, self.spec
        motion.add_rows(design)
        self.sampling.add_rows(design)
        self.scoring.add_rows(design)
        if self.watch is not None:
            self.watch.add_rows(design)
        if self.observe:
            design.rows.add("y_true", len(self.plant.measurements))
            design.rows.add("entropy_rates", 2)
            if self.scoring.rest is not None:
                design.rows.add("entropy_at_rest")
            design.rows.add("signals", 2 * len(self.plant.channels) + len(spec.controller.schedule.signals))
            if self.plant.disturbances:
                design.rows.add("w", len(self.plant.disturbances))
        spec.references.add_to(design)
        spec.disturbances.add_to(design)
        self.scoring.add_to(design)
        self.sampling.add_to(design)
        look = [LaneLoop("look", (self._look,))] if self.observe else []
        design.before += look
        watch = [] if self.watch is None else [self.watch.loop()]
        design.after += [*self.scoring.loop(), *watch, *motion.items()]
        design.last = list(look)

    def _look(self, lane: Lane) -> None:
        """What a record shows beside the loop's own rows, at this step's time."""
        t = lane.uniform("t")
        _, w, _ = self.sampling.motion.block(lane, t, t)
        lane["r"] = self.sampling.refer(lane)
        lane["y_true"] = self.sampling.outputs(lane)
        if w:
            lane["w"] = w
        moment = self.scoring.moment(lane)
        # A record shows what the plant loses; the measures count it less its loss at rest.
        lane["entropy_rates"] = (self.scoring.of_plant(lane), moment.entropy_controller)
        if self.scoring.rest is not None:
            lane["entropy_at_rest"] = (self.scoring.at_rest(lane),)

    # ------------------------------------------------------------------------------------------------------- running

    def repeated(self, number: int) -> ClosedLoop:
        """Return the loop in the same situations with the seeds of a repetition; nothing is traced or printed again."""
        if self.device == "cuda" and not self.observe:
            _ = self.device_text  # printed once, for all repetitions
        other = copy.copy(self)
        other.situations = repeated(self.situations, number)
        other._calls = {}  # noqa: SLF001  (of this class)
        return other

    def start_rows(self, number: int) -> np.ndarray:
        """Return the initial workspace [rows] of one situation, without delay lines."""
        situation, spec = self.situations[number], self.spec
        x, p = self.plant.start(situation.initial, situation.parameters)
        rows: dict[str, Sequence[float]] = {
            "x": x,
            "p": p,
            ALIVE: (1.0,),
            "since": (self._jumps[number] + self._jumps[number][-1:] * self.scoring.jumps)[: self.scoring.jumps],
            "k": spec.controller.schedule.initial(),
        }
        rows |= self.sampling.motion.start(x)
        if self.watch is not None:
            rows |= self.watch.start(x, p)
        rows |= {f"c{i}": law.initial() for i, law in enumerate(spec.laws)}
        rows |= self.sampling.start(number)
        for bank in (spec.references, spec.disturbances):
            rows |= bank.start(number, situation.name, situation.seed)
        rows |= self.scoring.start(number, situation.seed)
        rows |= self.scoring.own.start()
        column = np.zeros(self.design.rows.count)
        fill_rows(column, self.design, rows)
        return column

    def _jump_times(self, situation: Situation) -> tuple[float, ...]:
        """The start and the times within the horizon at which reference or load jumps, in order."""
        signals = [*situation.references(self.plant), *situation.excitations(self.plant)]
        jumps = {part.last_jump() for signal in signals for part in signal.parts}
        return (0.0, *sorted(jump for jump in jumps if 0.0 < jump < situation.t_end))

    def run(
        self,
        theta: np.ndarray,
        numbers: Sequence[int],
        *,
        n_steps: int | None = None,
        snapshot: Snapshot | None = None,
        keys: Sequence[tuple[str, int]] | None = None,
        feeds: Sequence[Sequence[Feed]] | None = None,
        threads: int | None = None,
        keep: bool = False,
        record: Sequence[int] = (),
    ) -> Outcome:
        """Run every candidate in the situations `numbers`, which must have the same horizon, delays and hold times.

        Parameters
        ----------
        theta : ndarray [n_candidates, n_theta]
        numbers : sequence of int
            Places of the situations.
        n_steps : int, optional
            Left out: up to the situations' horizon.
        snapshot : Snapshot, optional
            Where to continue, one row per situation; the measures start again from 0, filters of own ones go on.
        keys : sequence of (name, seed), optional
            Other streams of random numbers than the situations' own (continuations after a snapshot).
        feeds : sequence [situation][stream] of Feed, optional
            Other sources than the situations' own.
        keep : bool
            Whether to return the snapshot at the end (rows situation-major).
        record : sequence of int
            Rows to record, of the first situation and candidate.
        """
        call = self.call(tuple(numbers))
        start, first_step = (call.start, 0) if snapshot is None else self._continued(snapshot, call)
        total, streams = call.n_steps if n_steps is None else n_steps, call.streams
        if keys is not None or feeds is not None:
            given = [self.feeds(i) for i in numbers] if feeds is None else feeds
            streams = self._streams(given, self._keys(numbers) if keys is None else keys)
        elif self.device == "cpu" and first_step + total <= call.n_steps:
            streams = call.repeated.of_run()
        job = RolloutJob(start, theta, *streams, total, self.step, first_step, call.integers, call.numbers)
        if self.device == "cuda" and not (keep or len(record)):
            return self.outcome(on_gpu(self.device_text, job), total, None, np.empty(0))
        where = grid(len(numbers), len(theta), self.kernel.lanes)
        results, finals, taken = run(self.kernel, job, where, threads=threads, finals=keep, record=record)
        after = Snapshot(finals, first_step + total) if keep else None
        return self.outcome(results, total, after, taken)

    @cached_property
    def device_text(self) -> DeviceText:
        """The kernel for a thread of a GPU."""
        return device_text(self.design)

    def outcome(self, results: np.ndarray, total: int, after: Snapshot | None, record: np.ndarray) -> Outcome:
        """Sort the kernel's results: steps, built-in measures, states of own ones, the watch on the loop's gain."""
        own, steps, n = self.scoring.own, results[:, 0], 1 + len(self.scoring.built_in)
        measures, watched = results[:, 1:n], results[:, n + own.width :]
        if own:
            measures = np.hstack([measures, own.final(results[:, n : n + own.width], steps, total)])
        return Outcome(measures, watched, steps, after, record)

    def groups(self) -> list[list[int]]:
        """Return the situations that can share a call: equal horizon, delays and hold times."""
        return [list(group) for group in self._groups]

    @cached_property
    def _groups(self) -> list[list[int]]:
        groups: dict[tuple[object, ...], list[int]] = {}
        for i, situation in enumerate(self.situations):
            key = (situation.t_end, self.spec.delays[i], tuple(sorted(self._every(i).items())))
            groups.setdefault(key, []).append(i)
        return list(groups.values())

    def evaluate(self, theta: np.ndarray, threads: int | None = None, *, stacklevel: int = 1) -> Quality:
        """Return the quality of every candidate in every situation.

        In loop-free modes with the largest gain of the plant's algebraic loop, and one LoopGainWarning if that was too
        large for some candidates; it names the line of the caller, `stacklevel` calls up.
        """
        n, steps = len(self.situations), np.zeros((len(self.situations), len(theta)))
        values = np.zeros((len(self.measures), n, len(theta)))
        met = np.zeros((n, len(theta), 0 if self.watch is None else len(self.watch.results)))
        for numbers in self._groups:
            outcome = self.run(theta, numbers, threads=threads)
            steps[numbers] = outcome.steps.reshape(len(numbers), -1)
            shaped = outcome.measures.reshape(len(numbers), len(theta), -1)
            values[:, numbers] = np.moveaxis(shaped, -1, 0)
            met[numbers] = outcome.watched.reshape(len(numbers), len(theta), -1)
        if self.watch is None:
            return self.quality(values, steps)
        found = self.quality(values, steps, met[..., 0])
        warn(self.watch.caution(met, found.situations), stacklevel + 1)
        return found

    def quality(self, values: np.ndarray, steps: np.ndarray, gains: np.ndarray | None = None) -> Quality:
        """Return measures [measure, situation, candidate] of rollouts that got so far [situation, candidate]."""
        wanted = np.array([count_steps(s.t_end, self.step) for s in self.situations])
        diverged = np.where(steps < wanted[:, None], steps * self.step, np.nan)
        horizon, names = np.array([s.t_end for s in self.situations]), tuple(s.name for s in self.situations)
        measures = dict(zip(self.measures, values, strict=True))
        return Quality(names, horizon, diverged, measures, gains, self.scoring.own.worst)

    def call(self, numbers: tuple[int, ...]) -> Call:
        """What a call in these situations needs."""
        if numbers not in self._calls:
            integers, parts, ring_rows = self._delay_numbers(numbers)
            if self.scoring.scaled:
                parts["entropy_scale"] = self.entropy_scale
            if self.scoring.damped:
                parts |= dict(zip(self.scoring.dampers, self.damping, strict=True))
            streams = self._streams([self.feeds(i) for i in numbers], self._keys(numbers))
            start, integers = self._starts(numbers, ring_rows), integers | self._every(numbers[0])
            n_steps = count_steps(self.situations[numbers[0]].t_end, self.step)
            counts = [s.count(integers[s.every], n_steps) for s in self.design.streams]
            read = RepeatedStreams(streams, counts, ROOM * len(numbers) // len(self.situations))
            self._calls[numbers] = Call(start, streams, read, integers, parts, n_steps)
        return self._calls[numbers]

    def _keys(self, numbers: Sequence[int]) -> list[tuple[str, int]]:
        """Name and seed of each situation."""
        return [(self.situations[i].name, self.situations[i].seed) for i in numbers]

    def _streams(self, feeds: Sequence[Sequence[Feed]], keys: Sequence[tuple[str, int]]) -> Streams:
        return stream_arrays(feeds, [s.name for s in self.design.streams], keys)

    def _continued(self, snapshot: Snapshot, call: Call) -> tuple[np.ndarray, int]:
        """Workspaces to go on with, measures at 0, and the step they are at."""
        if snapshot.rows.shape != call.start.shape:
            message = f"the snapshot has shape {snapshot.rows.shape}, expected {call.start.shape}"
            raise ValueError(message)
        start = snapshot.rows.copy()
        for name in self.design.results:
            if name not in self.scoring.own.groups:
                start[:, self.design.rows.span(name)] = 0.0
        self.scoring.own.start_again(start, self.design)
        return start, snapshot.step

    def _starts(self, numbers: Sequence[int], ring_rows: int) -> np.ndarray:
        """Workspaces [n, rows] at the situations' start, with delay lines; read by all calls, so not to be written."""
        n_rows = self.design.rows.count
        start = np.zeros((len(numbers), n_rows + ring_rows))
        for place, i in enumerate(numbers):
            start[place, :n_rows] = self.start_rows(i)
            if self.spec.delayed_input:
                rest = [q.nominal for q in self.plant.inputs]
                width = len(rest)
                last = self._input_slots(numbers) * width + n_rows
                start[place, last : last + width] = rest
        start.flags.writeable = False
        return start

    def _input_slots(self, numbers: Sequence[int]) -> int:
        return max(self.spec.delays[i].input_slots(self.spec.timing.sample) for i in numbers)

    def _delay_numbers(self, numbers: Sequence[int]) -> tuple[dict[str, int], dict[str, float], int]:
        """Kernel integers and numbers of the delay lines, and how many rows these take behind the kernel's own."""
        integers: dict[str, int] = {}
        parts: dict[str, float] = {}
        delay, rows = self.spec.delays[numbers[0]], 0
        if self.spec.delayed_input:
            depth = self._input_slots(numbers)
            integers |= {"input_ring": self.design.rows.count, "input_depth": depth, "input_delay": delay.input_steps}
            parts["input_part"] = delay.input_part
            rows += (depth + 1) * len(self.plant.inputs)
        if self.spec.delayed_output:
            depth = delay.output_slots()
            ring = self.design.rows.count + rows
            integers |= {"output_ring": ring, "output_depth": depth, "output_delay": delay.output_samples}
            parts["output_part"] = delay.output_part
            rows += depth * len(self.spec.watched)
        return integers, parts, rows

    def feeds(self, number: int) -> list[Feed]:
        """Return what feeds the streams of one situation, in the kernel's order."""
        signals = [*self.spec.references.streams(number), *self.spec.disturbances.streams(number)]
        return [*signals, *self.scoring.feeds(number), *self.sampling.feeds(number)]

    def _every(self, number: int) -> dict[str, int]:
        """Steps between samples of each stream in one situation."""
        signals = self.spec.references.every(number) | self.spec.disturbances.every(number)
        return signals | self.scoring.every(number) | self.sampling.every()


def _held_inputs(lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:  # noqa: ARG001  (held: no stage times)
    return lane["u"]


def side_by_side(candidates: Sequence[int], lanes: int) -> RolloutGrid:
    """Return the grid of rollouts that have a lane each: its own start, its candidate's numbers."""
    n = len(candidates)
    flat = np.arange(-(-n // lanes) * lanes)
    out, start = np.where(flat < n, flat, -1), np.minimum(flat, n - 1)
    tables = (start, np.asarray(candidates)[start], out)
    a, b, c = (np.ascontiguousarray(t.reshape(-1, lanes).astype(np.int64)) for t in tables)
    return RolloutGrid(a, b, c, n)
