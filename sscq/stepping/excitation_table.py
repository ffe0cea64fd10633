"""All random numbers of an episode in a table, drawn by the code that draws them in a closed loop.

Lanes that are at different times cannot share a stream of counter-based numbers: a kernel's streams run with its step.
So the streams of one episode are drawn ahead, forming filters included, with the very loops of the closed loop: the
table holds the bits that a simulation of the same situation and seed would see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plants.core import kernel as kernels
from plants.core.kernel import ALIVE, Design
from plants.core.run import grid
from plants.core.signal_bank import stream_arrays
from plants.core.simulate import count_steps, fill_rows
from sscq.stepping.repeated_call import RepeatedCall

if TYPE_CHECKING:
    from sscq.stepping.stepped_loop import SteppedLoop


class ExcitationTable:
    """Draws what excites a loop in one episode.

    Parameters
    ----------
    loop : SteppedLoop
        Says which signals there are; its row groups `fed` are drawn, in this order.
    """

    def __init__(self, loop: SteppedLoop) -> None:
        self.loop = loop
        self.design = Design(f"excitation of {loop.plant.name}", observed=True)
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


def _places(design: Design, group: str) -> range:
    return range(*design.rows.span(group).indices(design.rows.count))
