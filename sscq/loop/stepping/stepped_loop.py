"""A closed loop compiled to be moved one controller sample at a time, with a clock in every lane.

It has the loops of :class:`sscq.loop.closed_loop.ClosedLoop`, so it moves as a simulation does, bit for bit. Two
things differ: random numbers come from a table, and a second kernel on the same rows senses what the next command may
be based on, before that command is known.

Why a table: lanes that are at different times cannot share a stream of counter-based numbers, since a kernel's streams
run with its step. So the streams of one episode are drawn ahead, forming filters included, with the very loops of the
closed loop: the table holds the bits that a simulation of the same situation and seed would see.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel import kernel as kernels
from plants.core.kernel.kernel import ALIVE, KernelDesign
from plants.core.kernel.lanes import CLOCK, Lane, LaneLoop, Uniform
from plants.core.kernel.run import grid
from plants.core.kernel.signal_bank import stream_arrays
from plants.core.motion.simulate import count_steps, fill_rows
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.controller_side import MEASURED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.kernel.kernel import Kernel
    from plants.core.kernel.run import RolloutGrid
    from plants.core.kernel.signal_bank import SignalBank
    from plants.core.motion.step import Motion


class RepeatedCall:
    """A call of a kernel: fill its arrays, call it, read its arrays.

    A step of a few lanes takes microseconds; to set up a call as `plants.core.kernel.run` does takes longer.

    Attributes
    ----------
    start : ndarray [n, rows]
    theta : ndarray [n, n_theta]
    series : ndarray [n_series, length]
    results : ndarray [n, n_results]
    finals : ndarray [n, rows]
        Workspaces at the end, where they are asked for.
    record : ndarray [steps + 1, recorded, lanes]
        Of the first lanes, where rows are to be recorded.
    """

    def __init__(
        self,
        kernel: Kernel,
        where: RolloutGrid,
        n_steps: int,
        step: float,
        *,
        width: int,
        n_theta: int = 0,
        series: np.ndarray,
        codes: np.ndarray,
        keys: np.ndarray,
        integers: Mapping[str, int],
        numbers: Mapping[str, float],
        finals: bool = False,
        record: Sequence[int] = (),
    ) -> None:
        n = where.n_out
        self.start, self.theta, self.series, self.keys = np.zeros((n, width)), np.zeros((n, n_theta)), series, keys
        self.results = np.zeros((n, sum(kernel.rows.size[name] for name in kernel.results)))
        self.finals = np.zeros((n if finals else 0, width))
        self.record = np.zeros((n_steps + 1 if record else 0, len(record), kernel.lanes))
        self._integers = np.array([0, n_steps, *(integers[name] for name in kernel.integers)], np.int64)
        shared = (
            0, len(where.lane_start), where.lane_start, where.lane_theta, where.lane_out, self.start, self.theta,
            codes, keys, series, self._integers, np.array([step, *(numbers[name] for name in kernel.numbers)], float),
            self.results, self.finals, np.array(record, np.int64), self.record, *kernel.memory(width),
        )  # fmt: skip
        rollout = kernel.rollout
        bind = getattr(rollout, "bound", None)  # interpreted sources are plain functions
        self._call = functools.partial(rollout, *shared) if bind is None else bind(*shared)

    def __call__(self, first_step: int = 0) -> None:
        """Run from this step on."""
        self._integers[0] = first_step
        self._call()


class SteppedLoop(ClosedLoop):
    """A closed loop in two kernels: `kernel` commands and moves, `senses` only looks.

    Its parameters are those of a closed loop; situations must agree in delays and hold times, since all lanes share
    a call. `fed` are the row groups that are read from a table.
    """

    fed: list[str]

    def _build(self, motion: Motion) -> None:
        design = self.design
        design.title = f"stepped {design.title}"
        design.rows.add(CLOCK)
        motion.add_rows(design)
        self.sampling.add_rows(design)
        self.scoring.add_rows(design)
        self.fed = [group for bank in self.banks for group in bank.add_held(design)]
        self.fed += [chance.row for chance in self.sampling.chances]
        design.before.append(self._feed())
        self.sampling.add_sensing(design)
        self.sampling.add_control(design)
        design.after += [*self.scoring.loop(), *motion.items(), LaneLoop("tick", (_tick,))]
        # The commands do not depend on them here, so nothing else would keep them: the senses do.
        design.kept += [CLOCK, "fresh", *(group for group in ("output_before", "packet") if group in design.rows)]
        look = KernelDesign(f"senses of {design.title}", rows=design.rows, before=[self._feed()], lanes=design.lanes)
        self.sampling.add_sensing(look)
        look.results = ("extra", "r")
        self.senses = kernels.build(look)

    @property
    def banks(self) -> list[SignalBank]:
        """All signals of the loop."""
        rest = self.scoring.rest
        return [self.spec.references, self.spec.disturbances, *([] if rest is None else [rest])]

    @property
    def fed_rows(self) -> list[int]:
        """Numbers of the rows that are read from a table."""
        span = self.design.rows.span
        return [row for group in self.fed for row in range(*span(group).indices(self.design.rows.count))]

    def _feed(self) -> Uniform:
        """Statements that read this step's numbers from the table: a row of it for each lane and fed row."""
        rows = self.fed_rows
        reads = [
            f"    S[{row}, lane] = series[source * {len(rows)} + {k}, step - first_step]" for k, row in enumerate(rows)
        ]
        head = (f"for lane in range({self.design.lanes}):", "    source = lane_start[chunk, lane]")
        return Uniform((*head, *reads) if rows else ())

    def delay_numbers(self) -> tuple[dict[str, int], dict[str, float], int]:
        """Return the integers and numbers of the delay lines and how many rows they take behind the kernel's own."""
        return self._delay_numbers(range(len(self.situations)))

    def template(self, number: int) -> np.ndarray:
        """Return the workspace [rows] at the start of a situation; its table is yet to be read."""
        integers, _, rows = self.delay_numbers()
        column = np.concatenate([self.start_rows(number), np.zeros(rows)])
        if self.spec.delayed_input:
            rest = [q.nominal for q in self.plant.inputs]
            first, slots = integers["input_ring"], integers["input_depth"] + 1
            column[first : first + slots * len(rest)] = rest * slots
        return column

    def fill_ring(self, rows: np.ndarray, lanes: Sequence[int]) -> None:
        """Put the first measurement of `lanes` into all slots of the output delay: before it, it holds."""
        if self.spec.delayed_output:
            integers = self.delay_numbers()[0]
            first, width = integers["output_ring"], len(self.spec.watched)
            measured = rows[lanes][:, self.design.rows.span(MEASURED.group)]
            slots = first + width * integers["output_depth"]
            rows[np.asarray(lanes)[:, None], np.arange(first, slots)] = np.tile(measured, integers["output_depth"])


def _tick(lane: Lane) -> None:
    lane[CLOCK] = (lane.one(CLOCK) + 1.0,)


class ExcitationTable:
    """Draws what excites a loop in one episode.

    Parameters
    ----------
    loop : SteppedLoop
        Says which signals there are; its row groups `fed` are drawn, in this order.
    """

    def __init__(self, loop: SteppedLoop) -> None:
        self.loop = loop
        self.design = KernelDesign(f"excitation of {loop.plant.name}", observed=True)
        self.design.rows.add(ALIVE)
        for bank in loop.banks:
            bank.add_to(self.design)
        for chance in loop.sampling.chances:
            self.design.rows.add(chance.row)
            chance.add_to(self.design)
        self.design.last = self.design.before  # the numbers of the last measurement, at the horizon, are drawn too
        self.design.results = (ALIVE,)
        self.rows = [row for group in loop.fed for row in _places(self.design, group)]
        self.kernel = kernels.build(self.design) if self.rows else None

        self._calls: dict[int, RepeatedCall] = {}

    def draw(self, number: int, seed: int) -> np.ndarray:
        """Return the fed rows [n_rows, steps + 1] of the situation at place `number`, with another seed.

        What is returned is overwritten by the next episode's.
        """
        if self.kernel is None:
            return np.zeros((0, 1))
        call, name = self._call(number), self.loop.situations[number].name
        for bank in self.loop.banks:
            fill_rows(call.start[0], self.design, bank.start(number, name, seed))
        call.keys[:] = self._streams(number, seed)[1]
        call()
        return call.record[:, :, 0].T

    def _streams(self, number: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        names = [stream.name for stream in self.design.streams]
        return stream_arrays([self.loop.feeds(number)], names, [(self.loop.situations[number].name, seed)])

    def _call(self, number: int) -> RepeatedCall:
        """The call that draws the episodes of a situation."""
        if number not in self._calls:
            assert self.kernel is not None  # noqa: S101  (who asks has looked; for the type checker)
            integers = self.loop.sampling.every()
            for bank in self.loop.banks:
                integers |= bank.every(number)
            codes, keys, series = self._streams(number, 0)
            call = RepeatedCall(
                self.kernel, grid(1, 1, self.kernel.lanes),
                count_steps(self.loop.situations[number].t_end, self.loop.step), self.loop.step,
                width=self.design.rows.count, series=series, codes=codes, keys=keys, integers=integers, numbers={},
                record=self.rows,
            )  # fmt: skip
            fill_rows(call.start[0], self.design, {ALIVE: (1.0,)})
            self._calls[number] = call
        return self._calls[number]


def _places(design: KernelDesign, group: str) -> range:
    return range(*design.rows.span(group).indices(design.rows.count))
