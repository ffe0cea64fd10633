"""How far a job is: rate and time left, on standard error."""

from __future__ import annotations

import math
import re
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TextIO

from experiments.runtime.side_by_side import LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SILENT_UNTIL = 2.0  # s; a shorter job says nothing
_TERMINAL_EVERY = 0.1  # s between updates of a terminal's line
_PLAIN_EVERY = 5.0  # s between lines in a file or pipe
_RATE_OVER = 15.0  # s over which the rate forgets: jobs speed up when kernels are compiled


@dataclass(frozen=True)
class PlannedWork:
    """What a stage of a job will take: units of work, whose pace is measured, and seconds beside them."""

    units: float
    seconds: float = 0.0


@dataclass(frozen=True)
class ProgressNote:
    """How far a job is: the share that is done and the seconds left, NaN while unknown, and the line that says so."""

    share: float
    seconds_left: float
    line: str


@dataclass
class _Running:
    """A stage that is being computed: since when, units of its parts that are over, units of the present part."""

    start: float
    passed: float = 0.0
    part: float = 0.0


class JobProgress:
    """How far a job of several stages is; it stands before the line of the present stage.

    Times of stages that are still to come follow from the pace of those before, or are those of the same stage of
    another search ("tables" for "tables_search_2"), where that is done. Where stages run side by side, the time left is
    what that has saved so far.

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

    Attributes
    ----------
    relay : callable or None
        In a process beside others: takes what `heard` is to be given in the process that began it, and lines to show.
    listener : callable or None
        Takes a :class:`ProgressNote` whenever a line is due, also where none is shown.
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
        self._running: dict[str, _Running] = {}
        self._ended = set[str]()
        self._busy, self._present = 0.0, ""
        self.begun = self.last_shown = clock()
        self.relay: Callable[[list[Any]], None] | None = None
        self.listener: Callable[[ProgressNote], object] | None = None

    def also(self, stage: str, work: PlannedWork) -> None:
        """Plan a stage that turned out to be needed, behind all that have been done; a job without a plan stays so."""
        if self._planned and stage not in self._planned:
            done = [k for k, name in enumerate(self._names) if name in self._took or name in self._ended]
            self._planned[stage] = work
            self._names.insert(max(done, default=-1) + 1, stage)

    def begin(self, stage: str) -> None:
        """Say that a stage is computed from here on; all planned before those that are, are done or will not be."""
        self._relay("begin", stage)
        self._present = stage
        self._running[stage] = _Running(self._clock())

    def end(self, stage: str) -> None:
        """Say that a stage is finished; one that was not begun is an earlier session's."""
        self._relay("end", stage)
        self._ended.add(stage)
        if one := self._running.pop(stage, None):
            self._took[stage] = self._clock() - one.start
            self._busy += self._took[stage]

    def passed(self, units: float | None, stage: str = "") -> None:
        """Count units of a stage, else the present one, as done: a part of it is over. None: all of them."""
        stage = stage or self._present
        self._relay("passed", units, stage)
        if one := self._running.get(stage):
            one.passed, one.part = one.passed + (self._units(stage) if units is None else units), 0.0

    def at(self, share: float, units: float | None = None, stage: str = "") -> None:
        """Set which share of a part of a stage, else the present one, is done; the part's units, None: all it has."""
        stage = stage or self._present
        self._relay("at", share, units, stage)
        if one := self._running.get(stage):
            one.part = share * (self._units(stage) if units is None else units) if self._units(stage) else share

    def heard(self, message: Sequence[Any]) -> None:
        """Take what the `relay` of a process beside others was given: a method's name and its arguments."""
        name, *arguments = message
        methods: dict[str, Callable[..., None]]
        methods = {"begin": self.begin, "end": self.end, "passed": self.passed, "at": self.at}
        methods[name](*arguments)

    def _relay(self, *message: Any) -> None:
        if self.relay is not None:
            self.relay(list(message))

    def _units(self, stage: str) -> float:
        return self._planned.get(stage, PlannedWork(0.0)).units

    def words(self) -> str:
        """Return how far the job is, such as ``design 37%, 4 min 10 s left``; empty where that is not known yet."""
        share, left = self.state()
        return "" if math.isnan(share) else f"{self._label} {share:.0%}, {duration(left)} left"

    def state(self) -> tuple[float, float]:
        """Return the share that is done, and the seconds left; NaN where that is not known yet."""
        running = {name: one for name, one in self._running.items() if name in self._planned}
        if not running:
            return math.nan, math.nan
        now = self._clock()
        first = min(map(self._names.index, running))
        before = [n for k, n in enumerate(self._names) if n in self._took and (k < first or n in self._ended)]
        pace = self._pace(before, running, now)
        if pace is None:
            return math.nan, math.nan
        passed = {*before, *running}
        elapsed = sum(now - one.start for one in running.values())
        spent = sum(self._took[name] for name in before) + elapsed
        left = sum((1.0 - self._share(name, one)) * self._expected(name, pace) for name, one in running.items())
        left += sum(self._expected(name, pace) for name in self._names[first + 1 :] if name not in passed)
        at_once = max(1.0, (self._busy + elapsed) / (now - self.begun)) if now > self.begun else 1.0
        return spent / (spent + left), left / at_once

    def _share(self, name: str, one: _Running) -> float:
        units = self._units(name)
        return min(1.0, (one.passed + one.part) / units if units else one.part)

    def _pace(self, before: list[str], running: Mapping[str, _Running], now: float) -> float | None:
        """Seconds a unit, of the stages before and what is done of the present ones."""
        units = sum(
            self._units(name) * (1.0 if name in before else self._share(name, running[name]))
            for name in (*before, *running)
        )
        seconds = sum(self._took[name] - self._planned[name].seconds for name in before)
        seconds += sum(now - one.start - self._planned[name].seconds for name, one in running.items())
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
        if now - self._job.begun >= _SILENT_UNTIL and now - self._job.last_shown >= every:
            self._job.last_shown = now
            if self._total:
                self._job.at(self._done / self._total, self._units)
            self.show(self._line(note))

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

    def show(self, line: str) -> None:
        """Show a line now, behind how far the job is; in a process beside others, where that was begun."""
        if self._quiet and self._job.listener is None:
            return
        if self._job.relay is not None:
            self._job.relay([LINE, line])
            return
        if self._job.listener is not None:
            self._job.listener(ProgressNote(*self._job.state(), line))
        if self._quiet:
            return
        line = "  ".join(part for part in (self._job.words(), line) if part)
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
        self.clear()

    def clear(self) -> None:
        """Remove a terminal's line for the moment."""
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
