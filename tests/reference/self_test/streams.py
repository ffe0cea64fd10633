"""Many independent streams of one random part at once, by the part's own blocks on arrays.

The numbers are those of the compiled kernels but for rounding: the same start, the same counter-based unit noise, the
same functions `advance` and `value`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.signals import noise
from plants.core.signals.signal import number_or_tuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plants.core.signals.signal import Part

_AT_ONCE = 400_000  # numbers of unit noise made at a time


class Streams:
    """A part in several streams.

    Parameters
    ----------
    part : Part
        Random; not a recorded one.
    step : float
        Integration step [s].
    names : sequence of (situation's name, seed, name of the stream)
        The kernels call the streams of the first part of its kind ``w_<disturbance>_<kind in small letters>0``. A part
        that shares its numbers takes those, whatever the stream's name.

    Raises
    ------
    ValueError
        For a part that is not random, or recorded.
    """

    def __init__(self, part: Part, step: float, names: Sequence[tuple[str, int, str]]) -> None:
        self.part, self.step = part, step
        self.feed, self.settings = part.feed(step), part.settings(step)
        if not part.random or self.feed.code == noise.RECORDED:
            raise ValueError(f"{type(part).__name__} draws no numbers: streams can be made of parts fed by unit noise")
        self.every = 1 if self.feed.every is None else max(1, round(self.feed.every / step))
        tails = ["", *(f"/{k}" for k in range(1, part.n_units))][: part.n_units]
        self._keys = [_keys(names, tail) for tail in tails]
        if self.feed.shared:
            self._keys = [_keys([(*name[:2], stream) for name in names], "") for stream in self.feed.shared]
            begun = np.array([part.begin(*name[:2], step) for name in names]).T
            self._state = number_or_tuple(tuple(begun))
        else:
            self._state = self._start(_keys(names, "/start"))
        self._width = len(names)

    def _start(self, keys: np.ndarray) -> Any:
        drawn = []
        for code in (noise.GAUSSIAN, noise.UNIFORM):
            samples = noise.streams(code, 0, self.part.n_states + self.part.n_states % 2, keys)
            drawn.append(number_or_tuple(tuple(samples[: self.part.n_states])))
        start = self.part.start(*drawn)
        shape = np.zeros(len(keys))
        return tuple(s + shape for s in start) if self.part.n_states > 1 else start + shape

    def run(self, count: int) -> Iterator[Any]:
        """Yield the state after each of the next `count` samples; a sample lasts a step, or the part's hold time."""
        noises = self._noises(count * self.feed.substeps)
        for _ in range(count):
            for _ in range(self.feed.substeps):
                self._state = self.part.advance(self._state, next(noises), self.settings)
            yield self._state

    def _noises(self, count: int) -> Iterator[Any]:
        if not self._keys:
            while True:
                yield 0.0
        block = 2 * max(1, _AT_ONCE // (2 * self._width * len(self._keys)))
        for first in range(0, count, block):
            odd, from_here = self.feed.ahead % 2, first + self.feed.ahead
            pairs = [noise.streams(self.feed.code, from_here - odd, block + 2 * odd, keys) for keys in self._keys]
            drawn = [samples[odd : odd + block] for samples in pairs]
            yield from map(number_or_tuple, zip(*drawn, strict=True))

    def value(self, state: Any) -> Any:
        """Return the part's value [n_streams] in a state."""
        return self.part.value(0.0, self.settings, state)

    def states(self, count: int) -> np.ndarray:
        """Return the next states [count, n_states, n_streams]."""
        return np.array([np.atleast_2d(np.array(state)) for state in self.run(count)])

    def values(self, count: int) -> np.ndarray:
        """Return the next values [count, n_streams]."""
        return np.array([self.value(state) for state in self.run(count)])


def _keys(names: Sequence[tuple[str, int, str]], tail: str) -> np.ndarray:
    return np.array([noise.stream_key(name, seed, f"{stream}{tail}") for name, seed, stream in names], np.uint64)
