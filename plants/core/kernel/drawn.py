"""Random numbers drawn beforehand, to the bit as kernels draw them, for runs that are made again and again.

A kernel draws the numbers of every chunk for itself, and those of every lane where the lanes of a chunk have different
starts. A search runs the same situations hundreds of times, often with few candidates: then drawing takes several
times as long as the motion does. Drawn once, the numbers are read like a recorded series.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from plants.core.kernel import cache
from plants.core.kernel.kernel import written
from plants.core.signals import noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.kernel.signal_bank import Streams

ROOM = 2**26
"""Bytes that tables of all situations of a loop may take; what needs more is drawn by the kernels, block by block."""
_ARGUMENTS = ("int64[::1]", "int64[:,::1]", "float64[:,::1]", "float64[:,:,::1]")


class RepeatedStreams:
    """The random numbers of starts, for one run after another: drawn at the second one, and read from then on.

    Parameters
    ----------
    streams : tuple of ndarray
        Codes, keys and series as of :func:`plants.core.kernel.signal_bank.stream_arrays`.
    counts : sequence of int [stream]
        How many samples of each stream a run reads at most.
    room : int
        Bytes that their table may take.
    """

    def __init__(self, streams: Streams, counts: Sequence[int], room: int = ROOM) -> None:
        self.streams, self.counts, self.room = streams, counts, room
        self._runs = 0

    def of_run(self) -> Streams:
        """Return what the next run is given: whoever runs once has nothing to draw beforehand."""
        self._runs += 1
        if self._runs == 2:
            self.streams = drawn(self.streams, self.counts, self.room)
        return self.streams


def drawn(streams: Streams, counts: Sequence[int], room: int = ROOM) -> Streams:
    """Return the same streams, with all their random numbers in the table of recorded series.

    They come back as they are where there is nothing to draw, or where the table has no room.

    Parameters
    ----------
    streams, counts, room
        As of :class:`RepeatedStreams`; behind these samples the table has other numbers.
    """
    codes, keys, series = streams
    places = np.nonzero((codes == noise.GAUSSIAN) | (codes == noise.UNIFORM))
    n = len(places[0])
    if n == 0:
        return streams
    blocks = -(-max(counts[int(stream)] for stream in places[1]) // noise.BLOCK)
    width = max(blocks * noise.BLOCK, series.shape[1])
    if 8 * width * (n + len(series)) > room:
        return streams
    table = np.empty((n, blocks, noise.BLOCK))
    cache.function(_text(), _ARGUMENTS)(codes[places], keys[places], series, table)
    read, numbers = codes.copy(), keys.copy()
    read[places] = noise.RECORDED
    numbers[places[0], places[1], 4] = len(series) + np.arange(n)
    rows = [_wide(series, width), _wide(table.reshape(n, -1), width)]
    return read, numbers, np.vstack(rows)


def _wide(rows: np.ndarray, width: int) -> np.ndarray:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])), mode="edge")


@functools.cache
def _text() -> str:
    title = "Samples of random streams, from their first on: table [stream, block, 1024]."
    return written(
        title, [f"MASK = {noise.MASK}"], [noise.philox, noise.unit_pair, noise.fill], noise.fill_table, fused=False
    )
