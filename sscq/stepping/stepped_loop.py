"""A closed loop compiled to be moved one controller sample at a time, with a clock in every lane.

It has the loops of :class:`sscq.closed_loop.ClosedLoop`, so it moves as a simulation does, bit for bit. Two things
differ: random numbers come from a table (:mod:`sscq.stepping.excitation_table`), and a second kernel on the same rows
senses what the next command may be based on, before that command is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core import kernel as kernels
from plants.core.kernel import Design
from plants.core.lanes import CLOCK, Lane, Loop, Uniform
from sscq.closed_loop import ClosedLoop
from sscq.sampling import MEASURED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.motion import Motion
    from plants.core.signal_bank import SignalBank


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
        design.after += [*self.scoring.loop(), *motion.items(), Loop("tick", (_tick,))]
        # The commands do not depend on them here, so nothing else would keep them: the senses do.
        design.kept += [CLOCK, "fresh", *(group for group in ("output_before", "packet") if group in design.rows)]
        look = Design(f"senses of {design.title}", rows=design.rows, before=[self._feed()], lanes=design.lanes)
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
