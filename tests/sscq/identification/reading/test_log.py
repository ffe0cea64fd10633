"""Logs as they come: names, separators, times, words, units, gaps; and what is refused, in a sentence with its cure."""

from __future__ import annotations

import numpy as np
import pytest

from plants.core.reading.files import FileError
from sscq.identification.reading.log import read_log
from tests.plants.identification.reference_logs import R1

HEADER = "time,set_point,measured,output"


def rows(n=60, start=0.0, step=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y, u = 50.0 + 0.1 * np.cumsum(rng.standard_normal(n)), 40.0 + 0.2 * np.cumsum(rng.standard_normal(n))
    return [[start + step * k, 50.0, float(y[k]), float(u[k])] for k in range(n)]


def written(path, lines, header=HEADER, separator=","):
    def cell(value):
        return f"{value:.6f}" if isinstance(value, float) else str(value)

    text = [header, *(separator.join(map(cell, line)) for line in lines)]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def log(tmp_path):
    """Read rows, written to a file."""

    def read(lines, header=HEADER, separator=",", **options):
        return read_log(written(tmp_path / "log.csv", lines, header, separator), **options)

    return read


def codes(found):
    return [finding.code for finding in found.findings]


def test_a_log_comes_back_as_it_was_written(log):
    r, y, u = R1.run()
    found = log([[float(k), r[k], y[k], u[k]] for k in range(600)])
    assert found.step == 1.0
    assert found.measured == pytest.approx(y, abs=1e-6)
    assert found.output == pytest.approx(u, abs=1e-6)
    assert found.set_point == pytest.approx(r, abs=1e-6)
    assert found.automatic is None
    assert found.findings == ()
    (record,) = found.records()
    assert len(record) == len(found) == 600
    assert found.time[-1] == 599.0


@pytest.mark.parametrize(
    "header", ["Date,SP,PV,OP", "TIMESTAMP;setpoint;y;mv", "t\tset point [C]\tprocess value (C)\tCO"]
)
def test_columns_go_by_usual_names(log, header):
    separator = next(sign for sign in ",;\t" if sign in header)
    assert len(log(rows(), header, separator)) == 60


def test_columns_may_be_named(log):
    header = "t,TIC101.SP,TIC101.PV,TIC101.OP,FI7.PV"
    named = {"set_point": "TIC101.SP", "measured": "TIC101.PV", "output": "TIC101.OP"}
    lines = [[*row, 7.0] for row in rows()]
    assert log(lines, header, columns=named).measured[3] == pytest.approx(lines[3][2], abs=1e-6)


@pytest.mark.parametrize(
    ("header", "columns", "message"),
    [
        (
            "t,sp,TIC101.PV,op",
            {},
            "no column for measured: it has t, sp, TIC101.PV, op; name it with --columns measured=",
        ),
        ("t,sp,pv,op,y", {}, "'pv' and 'y' may both be measured; choose with --columns measured=pv"),
        ("t,sp,pv,op", {"measured": "PVV"}, "no column 'PVV' for measured; did you mean"),
        ("t,sp,pv,op", {"level": "pv"}, "columns are time, set_point, measured, output, mode, got level"),
        ("t,sp,pv,op", {"set_point": "pv"}, "one column is used twice"),
    ],
)
def test_columns_that_are_not_clear(log, header, columns, message):
    lines = [[*row, 1.0] for row in rows()] if header.count(",") == 4 else rows()
    with pytest.raises(FileError, match=message):
        log(lines, header, columns=columns)


def test_decimal_commas_with_semicolons(log):
    lines = [[str(value).replace(".", ",") for value in row] for row in rows()]
    found = log(lines, HEADER.replace(",", ";"), ";")
    assert found.measured[5] == pytest.approx(rows()[5][2])
    assert found.step == 1.0


@pytest.mark.parametrize(
    "stamp",
    [
        lambda k: f"2026-11-03 14:{k // 60:02d}:{k % 60:02d}", lambda k: f"2026-11-03T14:{k // 60:02d}:{k % 60:02d}.000Z",
        lambda k: f"03.11.2026 14:{k // 60:02d}:{k % 60:02d}",
        lambda k: f"2026-11-03T14:{k // 60:02d}:{k % 60:02d}+01:00",
    ],
)  # fmt: skip
def test_time_stamps(log, stamp):
    found = log([[stamp(k), *row[1:]] for k, row in enumerate(rows(100))])
    assert (found.step, len(found)) == (1.0, 100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[30].__setitem__(0, 12.0), "line 32: the time goes back by 17 s; put the rows in order"),
        (lambda lines: lines[30].__setitem__(0, 29.0), "line 32: a second row for the same time with other values"),
        (lambda lines: lines[30].__setitem__(0, "noon"), "line 32: 'noon' is no time in seconds"),
        (
            lambda lines: lines[0].__setitem__(0, "11/03/2026 14:00"),
            "'11/03/2026 14:00' is no time: expected seconds, or",
        ),
    ],
)
def test_times_that_are_none(log, change, message):
    lines = rows()
    change(lines)
    with pytest.raises(FileError, match=message):
        log(lines)


def test_mixed_zones_and_the_end_of_summer_time_are_refused(log):
    stamps = [f"2026-10-25T02:{k:02d}:00" for k in range(60)]
    lines = rows(120)
    for k, line in enumerate(lines):
        line[0] = stamps[k % 60]
    with pytest.raises(FileError, match="line 62: the time goes back by 3540 s .an hour: as when summer time ends"):
        log(lines)
    for k, line in enumerate(lines):
        line[0] = stamps[k % 60] + ("+02:00" if k < 60 else "+01:00")
    assert log(lines).step == 60.0
    lines[7][0] = stamps[7]
    with pytest.raises(FileError, match="line 9: time stamps with and without a time zone"):
        log(lines)


def test_rows_out_of_order_are_sorted_on_request(log):
    lines = rows()
    lines[10], lines[11] = lines[11], lines[10]
    found = log(lines, sort=True)
    assert found.measured == pytest.approx([row[2] for row in rows()], abs=1e-6)
    assert codes(found) == ["sorted"]


def test_rows_that_stand_there_twice_count_once(log):
    lines = rows()
    found = log([*lines[:20], lines[19], *lines[20:]])
    assert len(found) == 60
    assert [finding.text for finding in found.findings] == ["1 rows stood there twice and count once"]


@pytest.mark.parametrize("word", ["", "NaN", "Bad", "I/O Timeout", "=1+1", "1e999", "<b>"])
def test_words_in_the_place_of_numbers_are_missing_rows(log, word):
    lines = rows()
    lines[7][2] = lines[8][2] = word
    found = log(lines)
    assert np.flatnonzero(~np.isfinite(found.measured)).tolist() == [7, 8]
    (finding,) = found.findings
    assert f"2 rows without a number ({word or 'empty'!r} 2 times)" in finding.text


def test_output_and_set_point_hold_over_missing_cells(log):
    lines = rows()
    lines[7][3], lines[0][1] = "Bad", ""
    found = log(lines)
    assert found.output[7] == found.output[6]
    assert found.set_point[0] == 50.0


@pytest.mark.parametrize(("scale", "shift", "unit"), [(0.01, 0.0, "fraction"), (0.16, 4.0, "mA")])
def test_other_units_of_the_output_are_asked_for(log, scale, shift, unit):
    lines = [[*row[:3], shift + scale * row[3]] for row in rows()]
    with pytest.raises(FileError, match=f"is it in another unit .{unit}.. Say --output-unit={unit}"):
        log(lines)
    assert log(lines, output_unit=unit).output == pytest.approx([row[3] for row in rows()], abs=1e-3)
    assert log(lines, output_unit="%").output == pytest.approx([line[3] for line in lines], abs=1e-5)


def test_an_unknown_unit_is_refused(log):
    with pytest.raises(FileError, match="one of %, fraction, mA, got 'volt'"):
        log(rows(), output_unit="volt")


def test_modes(log):
    words = ["Auto", "MAN", "", "cascade", "1", "0"]
    lines = [[*row, words[k % 6]] for k, row in enumerate(rows())]
    found = log(lines, HEADER + ",mode")
    assert found.automatic[:6].tolist() == [True, False, False, True, True, False]
    lines[5][4] = "perhaps"
    with pytest.raises(FileError, match="line 7: 'perhaps' is no mode: expected auto, manual, cascade, 1 or 0"):
        log(lines, HEADER + ",mode")


def test_a_log_in_stretches(log):
    lines = [*rows(60), *rows(50, start=1000.0, seed=1)]
    found = log(lines)
    assert found.stretches == ((0, 60), (1000, 1050))
    assert [len(record) for record in found.records()] == [60, 50]
    assert [finding.code for finding in found.findings] == ["gaps"]
    assert "1 gaps of up to 941 s part the log into 2 stretches" in found.findings[0].text


def test_missing_rows_stay_in_the_stretch(log):
    lines = [row for k, row in enumerate(rows()) if not 20 <= k < 30]
    found = log(lines)
    assert len(found) == 60
    assert np.flatnonzero(~np.isfinite(found.measured)).tolist() == list(range(20, 30))


def test_irregular_rows_lie_on_a_finer_grid_or_are_told(log):
    half = [row for k, row in enumerate(rows(121, step=0.5)) if k % 2 == 0 or k in {11, 31, 51}]
    found = log(half)
    assert found.step == 0.5
    assert np.isfinite(found.measured).sum() == len(half)
    rng = np.random.default_rng(0)
    shaken = [[row[0] + float(rng.uniform(-0.3, 0.3)), *row[1:]] for row in rows(200)]
    found = log(shaken)
    assert codes(found) == ["jitter"]
    (record,) = found.records()
    times = np.array([row[0] for row in shaken]) - shaken[0][0]
    assert record.times == pytest.approx(times)  # the filter takes each row at its own time
    assert record.measured.all()
    assert found.step == pytest.approx(1.0, rel=0.03)
    means = found.averaged(100)
    assert (len(means), means.instants.tolist()) == (100, found.instants[::2].tolist())
    assert found.on_grid.instants is None
    places = np.flatnonzero(np.isfinite(found.on_grid.measured))
    assert found.on_grid.step * places == pytest.approx(times, abs=2.0)  # roundings to a quarter of a row, summed up
    assert log(rows()).on_grid.grid is None


def test_holes_in_a_log_with_irregular_rows_are_no_missing_rows(log):
    """Gaps as between a counter's pulses: none is missing; the longest one parts the log."""
    rng = np.random.default_rng(1)
    apart = rng.exponential(1.0, 300)
    apart[100] = 90.0
    lines = [[time, *row[1:]] for time, row in zip(np.cumsum(apart), rows(300), strict=True)]
    found = log(lines)
    assert len(found) == 300
    assert np.isfinite(found.measured).all()
    assert found.stretches == ((0, 100), (100, 300))
    first, second = found.records()
    assert second.times[0] == 0.0
    assert np.diff(second.times) == pytest.approx(apart[101:], abs=1e-5)
    assert first.duration + second.duration == pytest.approx(apart[1:].sum() - 90.0 + 2.0 * found.step)


def test_a_period_that_is_not_quite_the_usual_one_does_not_drift(log):
    """Stamps in milliseconds of a clock that is slow by a third of a per cent, over two hours."""
    lines = rows(1800)
    for k, line in enumerate(lines):
        line[0] = round(1.0033 * k, 3)
    found = log(lines)
    assert found.findings == ()
    assert len(found) == 1800
    assert found.step == pytest.approx(1.0033, rel=1e-5)


def test_a_compressed_history_is_told_and_refused(log):
    r, y, u = R1.run()
    line = np.interp(np.arange(600.0), np.arange(0.0, 600.0, 12.0), y[::12])
    held = y[np.arange(600) // 10 * 10]
    for made_up in (line, held):
        found = log([[float(k), r[k], made_up[k], u[k]] for k in range(600)])
        assert [(f.severity, f.code) for f in found.findings] == [("refusal", "compressed")]
    partly = np.where(np.arange(600) % 4 < 3, y[np.arange(600) // 4 * 4], y)
    assert [f.severity for f in log([[float(k), r[k], partly[k], u[k]] for k in range(600)]).findings] == ["warning"]


def test_a_sensor_that_rounds_is_no_history(log):
    r, y, u = R1.run()
    rounded = np.round(y / 0.5) * 0.5
    assert log([[float(k), r[k], rounded[k], u[k]] for k in range(600)]).findings == ()


@pytest.mark.parametrize("quantum", [0.5, 0.3223])
def test_a_sensor_that_rounds_and_a_log_that_rounds_once_more(log, quantum):
    """As a converter of ten bits does, whose degrees are printed with two places, of a slow temperature: most rows repeat."""
    t = np.arange(800.0)
    y = 20.9 + 34.0 * (1.0 - np.exp(-t / 160.0))
    rows = [[k, 20.9, round(20.9 + quantum * round((v - 20.9) / quantum), 2), 50.0 * (k > 5)] for k, v in zip(t, y)]  # noqa: B905
    assert log(rows).findings == ()


def test_a_log_in_manual_needs_no_set_point(log):
    lines = [[row[0], *row[2:], "manual"] for row in rows()]
    found = log(lines, "time,pv,op,mode")
    assert found.set_point.tobytes() == found.measured.tobytes()
    assert not found.automatic.any()
    lines[7][3] = "auto"
    with pytest.raises(FileError, match="has no column for set_point, and 1 of its rows are not in manual"):
        log(lines, "time,pv,op,mode")
    with pytest.raises(FileError, match="--columns set_point=NAME; a log in manual needs none where a column mode"):
        log([row[:3] for row in lines], "time,pv,op")


def test_columns_in_each_others_place_are_told(log):
    r, y, u = R1.run()
    held = np.where(np.arange(600) % 5 > 2, u[np.maximum(np.arange(600) - 2, 0)], u)
    held[1:][np.arange(599) % 5 < 2] = held[:-1][np.arange(599) % 5 < 2]
    assert codes(log([[float(k), r[k], held[k], y[k]] for k in range(600)])) == ["swapped"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"), (b"PK\x03\x04rest", "a zip file or a spreadsheet, not a CSV"),
        (b"a,b\n1,\x002\n", "no text, not a CSV"), (b"\x1f\x8b\x08\x00", "no text, not a CSV"),
        (b"one two\n1 2\n", "no comma, semicolon or tab"), (b"time,sp,pv,op\n", "a header and no rows"),
        (b"x," * 50_000, "a line of more than 65536 characters"),
        (b"time,sp,pv,op\n0,1,2,3\n", "fewer than two rows with different times"),
        (b"time,sp,pv,op\n0,1,a,3\n1,1,b,3\n", "no row of 'pv' .measured. is a number"),
        (b"time,sp,pv,op\n0,1,2,3\n1,1,2,3\n2,1,3,4\n9e9,1,2,3\n", "more than 2000000: cut it to the part with the moves"),
    ],
)  # fmt: skip
def test_what_is_no_log(tmp_path, content, message):
    path = tmp_path / "log.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message):
        read_log(path)


def test_a_short_log_has_no_record(log):
    with pytest.raises(ValueError, match="no stretch of 20 measured rows"):
        log(rows(12)).records()


def test_long_logs_are_averaged(log):
    """Means of four rows, of those that are measured; a block without one is missing; stretches and modes go along."""
    lines = [[*row, "auto" if k < 50 else "man"] for k, row in enumerate(rows(120))]
    for k in (4, 5, 6, 7, 9):
        lines[k][2] = "Bad"
    whole = log(lines, HEADER + ",mode")
    fewer = whole.averaged(30)
    assert (len(fewer), fewer.step, fewer.stretches) == (30, 4.0, ((0, 30),))
    assert fewer.output == pytest.approx(whole.output.reshape(30, 4).mean(axis=1))
    assert np.isnan(fewer.measured[1])
    assert fewer.measured[2] == pytest.approx(whole.measured[[8, 10, 11]].mean())
    assert fewer.automatic.tolist() == [True] * 12 + [False] * 18
    assert whole.averaged(120) is whole
    assert len(whole.averaged(50)) == 40
