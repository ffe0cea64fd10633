"""How far a job is: rate and time left, on standard error."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

_SILENT_UNTIL = 2.0  # s; a shorter job says nothing
_TERMINAL_EVERY = 0.1  # s between updates of a terminal's line
_PLAIN_EVERY = 5.0  # s between lines in a file or pipe
_RATE_OVER = 15.0  # s over which the rate forgets: jobs speed up when kernels are compiled


class Progress:
    """A line such as ``search  1200/5000 loops  24%  410 loops/s  9 s left``.

    Parameters
    ----------
    total : int
        How much there is to do, in units.
    label, unit : str
        "search", "generations".
    done : int
        What an earlier session has done already; it does not count for the rate.
    quiet : bool
        Say nothing at all.
    stream : text stream, optional
        Standard error by default. A terminal's line is rewritten at most ten times a second; elsewhere a plain line
        comes every few seconds.
    clock : callable, optional
        Gives seconds; for tests.

    Examples
    --------
    >>> with Progress(100, "search", "generations") as progress:
    ...     for _ in range(100):
    ...         progress.advance()
    """

    def __init__(
        self,
        total: int,
        label: str,
        unit: str = "steps",
        *,
        done: int = 0,
        quiet: bool = False,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._label, self._unit, self._quiet = total, label, unit, quiet
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._start = self._last_shown = self._last_counted = clock()
        self._done = done
        self._rate = 0.0
        self._width = 0

    @property
    def done(self) -> int:
        """Units done so far."""
        return self._done

    def advance(self, units: int = 1, note: str = "") -> None:
        """Count `units` more as done and show it if it is time to; `note` is added to the line."""
        self.at(self._done + units, note)

    def at(self, done: int, note: str = "") -> None:
        """Set the number of units done, also backwards."""
        now = self._clock()
        self._count(done, now)
        every = _TERMINAL_EVERY if self._terminal else _PLAIN_EVERY
        if not self._quiet and now - self._start >= _SILENT_UNTIL and now - self._last_shown >= every:
            self._last_shown = now
            self._show(self._line(note))

    def _count(self, done: int, now: float) -> None:
        passed = now - self._last_counted
        if passed > 0.0 and done > self._done:
            share = min(1.0, max(passed / _RATE_OVER, passed / (now - self._start)))  # the mean at first, then recent
            self._rate += share * ((done - self._done) / passed - self._rate)
            self._last_counted = now
        self._done = done

    def _line(self, note: str) -> str:
        share = f"{self._done / self._total:4.0%}" if self._total else ""
        parts = [self._label, f"{self._done}/{self._total} {self._unit}", share]
        if self._rate > 0.0:
            parts += [
                f"{_figure(self._rate)} {self._unit}/s",
                f"{duration((self._total - self._done) / self._rate)} left",
            ]
        return "  ".join(part for part in (*parts, note) if part)

    def _show(self, line: str) -> None:
        if self._terminal:
            self._stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Remove a terminal's line; results say the rest."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _figure(value: float) -> str:
    return f"{value:.3g}" if value < 1000.0 else f"{value:.0f}"


def duration(seconds: float) -> str:
    """Return seconds in words: ``8 s``, ``2 min 5 s``, ``1 h 12 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
