"""A log of one loop: its rows, what is missing in them, and what was found on the way.

log = read_log("log.csv", columns={"measured": "TIC101.PV"})
log.records()                                        # what filters read, gap by gap
log.findings                                         # what an engineer should know of it
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from plants.core.reading.files import FileError
from plants.identification.record import LoopRecord
from sscq.identification.reading import cells, signs
from sscq.identification.reading.table import LogTable, read_table

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from sscq.identification.reading.signs import LogFinding

    Array = NDArray[np.float64]

LARGEST = 2_000_000
"""Rows of the grid: more are refused."""

_COLUMNS = ("set_point", "measured", "output")
OUTPUT_UNITS = ("%", "fraction", "mA")
_GAP = 30.0  # rows: a longer hole begins a new stretch, in which a filter starts anew
_SHORTEST = 20  # rows of a stretch that can tell anything
_FINER = (1, 2, 4)  # parts of a row on whose grid irregular rows may lie
_OFF_GRID, _MOST_OFF = 0.1, 0.05  # of a part; share of the rows that may be farther off
_HOUR = 3600.0


@dataclass(frozen=True, eq=False)
class Log:
    """Rows of a loop, `step` seconds apart, or about as far.

    Attributes
    ----------
    name : str
    step : float
        [s]
    set_point, measured, output : array [n]
        In the units of the log; of the output in per cent where it was told to be something else. NaN where a measured
        value is missing; set point and output hold their last value.
    automatic : array of bool [n], or None
        None: the log has no column for the mode.
    stretches : tuple of (first, end)
        Rows between which no long gap lies.
    findings : tuple of LogFinding
    instants : array [n], optional
        Seconds from the first row, where rows come irregularly; None: they are `step` apart.
    grid : Log, optional
        Of such rows, the same with each at the nearest place of a finer grid: what needs equal distances reads
        :attr:`on_grid`.
    """

    name: str
    step: float
    set_point: Array
    measured: Array
    output: Array
    automatic: NDArray[np.bool_] | None
    stretches: tuple[tuple[int, int], ...]
    findings: tuple[LogFinding, ...] = ()
    instants: Array | None = None
    grid: Log | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.measured)

    @property
    def time(self) -> Array:
        """Seconds from the first row [n]."""
        return np.asarray(self.step * np.arange(len(self)), float) if self.instants is None else self.instants

    @property
    def on_grid(self) -> Log:
        """The log with rows of equal distance."""
        return self if self.grid is None else self.grid

    def averaged(self, most: int) -> Log:
        """Return the log with at most so many rows: means of several neighbours, of those that are measured."""
        several = -(-len(self) // most)
        if several == 1:
            return self
        n = len(self) // several
        blocks = {name: getattr(self, name)[: n * several].reshape(n, several) for name in _COLUMNS}
        known = np.isfinite(blocks["measured"])
        count = known.sum(axis=1)
        total = np.where(known, blocks["measured"], 0.0).sum(axis=1)
        measured = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        modes = None if self.automatic is None else self.automatic[: n * several].reshape(n, several)
        stretches = tuple((a // several, min(n, -(-b // several))) for a, b in self.stretches if a // several < n)
        return replace(
            self,
            step=self.step * several,
            set_point=blocks["set_point"].mean(axis=1),
            measured=measured,
            output=blocks["output"].mean(axis=1),
            automatic=None if modes is None else np.asarray(modes.all(axis=1)),
            stretches=stretches,
            instants=None if self.instants is None else self.instants[: n * several : several],
            grid=None if self.grid is None else self.grid.averaged(most),
        )

    def records(self) -> tuple[LoopRecord, ...]:
        """Return what filters read, a record a stretch.

        Raises
        ------
        ValueError
            If no stretch is long enough.
        """
        long = [(a, b) for a, b in self.stretches if np.isfinite(self.measured[a:b]).sum() >= _SHORTEST]
        if not long:
            raise ValueError(f"{self.name} has no stretch of {_SHORTEST} measured rows without a long gap")
        times = [None if self.instants is None else self.instants[a:b] - self.instants[a] for a, b in long]
        return tuple(
            LoopRecord(self.measured[a:b], self.output[a:b], self.step, each)
            for (a, b), each in zip(long, times, strict=True)
        )


def read_log(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    *,
    output_limits: tuple[float, float] = (0.0, 100.0),
    output_unit: str | None = None,
    sort: bool = False,
) -> Log:
    """Read a log.

    Parameters
    ----------
    path : path
        Of a CSV file, see :func:`sscq.identification.reading.table.read_table`.
    columns : mapping, optional
        From "time", "set_point", "measured", "output", "mode" to the file's own names.
    output_limits : (low, high)
        Of the output.
    output_unit : {"%", "fraction", "mA"}, optional
        What the output's column is in; fraction and mA (4 to 20) become per cent. None: asked for where it is in doubt.
    sort : bool
        Whether rows whose times do not increase are put in order.

    Raises
    ------
    FileError
        If it is no log: the message says where and what to do.
    """
    table = read_table(path, columns)
    time = cells.seconds(table)
    values = {
        key: cells.numbers(table.columns[key], decimal_comma=table.decimal_comma)
        for key in _SIGNALS
        if key in table.columns
    }
    findings = list(_missing(table, {key: words for key, (_, words) in values.items()}))
    found = {key: column for key, (column, _) in values.items()}
    for key, column in found.items():
        if not np.isfinite(column).any():
            raise FileError(f"{table.name}: no row of {table.titles[key]!r} ({key}) is a number")
    if "mode" in table.columns:
        found["automatic"] = cells.modes(table).astype(float)
    if "set_point" not in found:
        _check_manual(table.name, found["automatic"])
        found["set_point"] = found["measured"]
    found["output"] = _in_per_cent(table.name, found["output"], output_limits, output_unit)
    time, found, dropped = _in_order(table, time, found, sort=sort)
    findings += dropped
    log, uneven = _on_grid(table.name, time, found)
    findings += [*uneven, *signs.findings(log.measured, log.output, output_limits)]
    return replace(log, findings=tuple(findings))


_SIGNALS = ("set_point", "measured", "output")


def _check_manual(name: str, automatic: Array) -> None:
    """A log without set points has to be in manual throughout."""
    if automatic.any():
        raise FileError(
            f"{name} has no column for set_point, and {int(automatic.sum())} of its rows are not in manual: name the "
            "column with --columns set_point=NAME"
        )


def _missing(table: LogTable, words: Mapping[str, Counter[str]]) -> Iterator[LogFinding]:
    for key, counts in words.items():
        if counts:
            told = ", ".join(f"{word!r} {n} times" for word, n in counts.most_common(4))
            kinds = len(counts) - 4
            more = f" and {kinds} other words" if kinds > 0 else ""
            text = f"{table.titles[key]}: {sum(counts.values())} rows without a number ({told}{more})"
            advice = "they are left out; where the word means a fault of the sensor, see to it"
            yield signs.LogFinding("note", "missing", text, advice)


def _in_per_cent(name: str, output: Array, limits: tuple[float, float], unit: str | None) -> Array:
    """The output in the unit of its limits; asks where a log seems to be in another one."""
    if unit is not None and unit not in OUTPUT_UNITS:
        raise FileError(f"the unit of the output is one of {', '.join(OUTPUT_UNITS)}, got {unit!r}")
    if unit == "fraction":
        return 100.0 * output
    if unit == "mA":
        return (output - 4.0) / 16.0 * 100.0
    low, high = float(np.nanmin(output)), float(np.nanmax(output))
    if unit is None and limits == (0.0, 100.0) and high > low:
        for guess, (least, most) in {"fraction": (-0.01, 1.01), "mA": (3.8, 20.5)}.items():
            if least <= low and high <= most:
                raise FileError(
                    f"{name}: the output runs from {low:g} to {high:g}, its limits are 0 and 100: is it in another "
                    f"unit ({guess})? Say --output-unit={guess}, or --output-unit=% if it is in per cent"
                )
    return output


def _in_order(
    table: LogTable, time: Array, found: dict[str, Array], *, sort: bool
) -> tuple[Array, dict[str, Array], list[LogFinding]]:
    """Rows with increasing times; equal rows at equal times are one."""
    findings, lines = [], np.array(table.lines)
    if sort and (np.diff(time) < 0.0).any():
        order = np.argsort(time, kind="stable")
        findings.append(
            signs.LogFinding("note", "sorted", f"{int((np.diff(time) < 0.0).sum())} rows were out of order", "")
        )
        time, lines, found = time[order], lines[order], {key: column[order] for key, column in found.items()}
    apart = np.diff(time)
    if (apart < 0.0).any():
        k = int(np.argmax(apart < 0.0)) + 1
        hour = abs(-apart[k - 1] - _HOUR) < 0.1 * _HOUR
        why = " (an hour: as when summer time ends; write time stamps with their zone, or in UTC)" if hour else ""
        raise FileError(
            f"{table.name}, line {lines[k]}: the time goes back by {-apart[k - 1]:g} s{why}; put the rows in order, or "
            "read them with --sort"
        )
    same = np.concatenate([[False], apart == 0.0])
    for twice in np.flatnonzero(same).tolist():
        if any(not _equal(column[twice], column[twice - 1]) for column in found.values()):
            raise FileError(
                f"{table.name}, line {lines[twice]}: a second row for the same time with other values; keep one of them"
            )
    if same.any():
        findings.append(
            signs.LogFinding("note", "duplicates", f"{int(same.sum())} rows stood there twice and count once", "")
        )
        time, found = time[~same], {key: column[~same] for key, column in found.items()}
    if len(time) < 2:
        raise FileError(f"{table.name} has fewer than two rows with different times")
    return time, found, findings


def _equal(one: float, other: float) -> bool:
    return one == other or (np.isnan(one) and np.isnan(other))


def _on_grid(name: str, time: Array, found: dict[str, Array]) -> tuple[Log, list[LogFinding]]:
    """Rows of equal distance: where rows come irregularly, of a finer grid with missing rows between.

    Where they lie on none, rows keep the times that they have, and the finest grid stands beside them.
    """
    apart = np.diff(time)
    usual = float(np.median(apart))
    for parts in _FINER:
        between, off = _apart(apart, usual / parts)
        if off <= _MOST_OFF:
            break
    rows = np.concatenate([[0], np.cumsum(between)]).astype(np.int64)
    step = float(time[-1] / rows[-1])
    if rows[-1] >= LARGEST:
        raise FileError(
            f"{name} covers {rows[-1] + 1} rows of {step:g} s, more than {LARGEST}: cut it to the part with the moves, "
            "or export it with a longer period"
        )
    gaps = np.flatnonzero(between > _GAP * parts)
    log, findings = _placed(name, rows, step, gaps, found), []
    if off > _MOST_OFF:
        text = f"rows come irregularly: {100.0 * off:.0f} % are not on a grid of {step:.3g} s"
        advice = (
            "plants are drawn by each row's own time; parameters of equations (--plant) count rows at the nearest "
            "place of the grid, the assessment by their number: log with a fixed period if fast lags matter"
        )
        findings.append(signs.LogFinding("warning", "jitter", text, advice))
        own = _placed(name, np.arange(len(time)), usual, gaps, found)
        log = replace(own, instants=time - time[0], grid=log)
    if len(gaps):
        text = f"{len(gaps)} gaps of up to {apart.max():g} s part the log into {len(gaps) + 1} stretches"
        findings.append(signs.LogFinding("note", "gaps", text, ""))
    return log, findings


def _placed(name: str, rows: NDArray[np.int64], step: float, gaps: NDArray[np.intp], found: dict[str, Array]) -> Log:
    """The log whose rows have these places; behind those before `gaps` a new stretch begins."""
    n = int(rows[-1]) + 1
    measured = np.full(n, np.nan)
    measured[rows] = found["measured"]
    held = {key: _held(rows, column, n) for key, column in found.items() if key != "measured"}
    begins, ends = [0, *rows[gaps + 1].tolist()], [*(rows[gaps] + 1).tolist(), n]
    automatic = held["automatic"] > 0.5 if "automatic" in held else None
    stretches = tuple(zip(begins, ends, strict=True))
    return Log(name, step, held["set_point"], measured, held["output"], automatic, stretches)


def _apart(apart: Array, step: float) -> tuple[Array, float]:
    """How many rows of a grid lie between rows, and the share of rows that are off it.

    Row by row: a period that is not quite the median does not drift off the grid.
    """
    between = np.maximum(np.round(apart / step), 1.0)
    return between, float((np.abs(apart / step - between) > _OFF_GRID * np.maximum(between, 1.0)).mean())


def _held(rows: NDArray[np.int64], column: Array, n: int) -> Array:
    """A column on the grid that holds its last value; before the first one it is that."""
    known = np.isfinite(column)
    place = np.searchsorted(rows[known], np.arange(n), side="right") - 1
    return np.asarray(column[known][np.maximum(place, 0)])
