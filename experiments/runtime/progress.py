"""How far a job is: rate and time left, on standard error."""

from __future__ import annotations

import re
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SILENT_UNTIL = 2.0  # s; a shorter job says nothing
_TERMINAL_EVERY = 0.1  # s between updates of a terminal's line
_PLAIN_EVERY = 5.0  # s between lines in a file or pipe
_RATE_OVER = 15.0  # s over which the rate forgets: jobs speed up when kernels are compiled


@dataclass(frozen=True)
class PlannedWork:
    """What a stage of a job will take: units of work, whose pace is measured, and seconds beside them."""

    units: float
    seconds: float = 0.0


class JobProgress:
    """How far a job of several stages is; it stands before the line of the present stage.

    Times of stages that are still to come follow from the pace of those before, or are those of the same stage of
    another search ("tables" for "tables_search_2"), where that is done.

    Parameters
    ----------
    label : str
        "design".
    planned : mapping of stage to PlannedWork
        In the order in which stages come; one that is not there counts nothing. Empty: nothing is said.
    took : mapping of stage to float
        Seconds that stages took in earlier sessions.
    clock : callable, optional
        Gives seconds; for tests.
    """

    def __init__(
        self,
        label: str = "",
        planned: Mapping[str, PlannedWork] | None = None,
        took: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label, self._planned, self._took, self._clock = label, dict(planned or {}), dict(took or {}), clock
        self._names = list(self._planned)
        self._present, self._start, self._passed = "", clock(), 0.0
        self.begun = self.last_shown = clock()

    def begin(self, stage: str) -> None:
        """Say that a stage is computed from here on; all planned before it are done, or will not be."""
        self._present, self._start, self._passed = stage, self._clock(), 0.0

    def end(self, stage: str) -> None:
        """Say that a stage is finished; one that was not begun is an earlier session's."""
        if stage == self._present:
            self._took[stage] = self._clock() - self._start

    def passed(self, units: float | None) -> None:
        """Count units of the present stage as done: a part of it is over. None: all of them."""
        self._passed += self._work.units if units is None else units

    @property
    def _work(self) -> PlannedWork:
        return self._planned.get(self._present, PlannedWork(0.0))

    def words(self, share: float, units: float | None = None) -> str:
        """Return how far the job is, such as ``design 37%, 4 min 10 s left``; empty where that is not known yet.

        Parameters
        ----------
        share : float
            Of the present part of the present stage, that is done.
        units : float, optional
            Of this part; None: it is the whole stage.
        """
        if self._present not in self._planned:
            return ""
        work, elapsed = self._work, self._clock() - self._start
        done = self._passed + share * (work.units if units is None else units)
        part = min(1.0, done / work.units) if work.units else share
        here = self._names.index(self._present)
        before = [name for name in self._names[:here] if name in self._took]
        pace = self._pace(before, part * work.units, elapsed - work.seconds)
        if pace is None:
            return ""
        spent = sum(self._took[name] for name in before) + elapsed
        left = (1.0 - part) * self._expected(self._present, pace)
        left += sum(self._expected(name, pace) for name in self._names[here + 1 :])
        return f"{self._label} {spent / (spent + left):.0%}, {duration(left)} left"

    def _pace(self, before: list[str], units: float, seconds: float) -> float | None:
        """Seconds a unit, of the stages before and what is done of the present one."""
        units += sum(self._planned[name].units for name in before)
        seconds += sum(self._took[name] - self._planned[name].seconds for name in before)
        return max(0.0, seconds) / units if units else None

    def _expected(self, stage: str, pace: float) -> float:
        of_search = re.compile(re.escape(re.sub(r"_search_\d+$", "", stage)) + r"(_search_\d+)?")
        known = [seconds for name, seconds in self._took.items() if name != stage and of_search.fullmatch(name)]
        work = self._planned[stage]
        return sum(known) / len(known) if known else pace * work.units + work.seconds


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
    job : JobProgress, optional
        The job that this is a part of: how far that is stands at the beginning of the line.
    units : float, optional
        Of the job's present stage, that this is; None: all of them.
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
        job: JobProgress | None = None,
        units: float | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._label, self._unit, self._quiet = total, label, unit, quiet
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._start = self._last_counted = clock()
        self._job, self._units = job or JobProgress(clock=clock), units
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
        if not self._quiet and now - self._job.begun >= _SILENT_UNTIL and now - self._job.last_shown >= every:
            self._job.last_shown = now
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
        whole = self._job.words(self._done / self._total, self._units) if self._total else ""
        return "  ".join(part for part in (whole, *parts, note) if part)

    def _show(self, line: str) -> None:
        if self._terminal:
            line = line[: shutil.get_terminal_size().columns - 1]  # one that wraps cannot be rewritten
            self._stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            self._stream.write(line + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Remove a terminal's line; results say the rest."""
        self._job.passed(self._units)
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
