"""Progress lines: rate and time left, seldom, and none for short or quiet jobs."""

import io

import pytest

from experiments.runtime.progress import JobProgress, PlannedWork, Progress, duration


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def work(stream, seconds, pace, **settings):
    """Advance by one unit every `pace` seconds and return what was written."""
    clock = Clock()
    total = round(seconds / pace)
    with Progress(total, "search", "loops", stream=stream, clock=clock, **settings) as progress:
        for _ in range(total):
            clock.now += pace
            progress.advance()
    return stream.getvalue()


def test_a_job_below_two_seconds_says_nothing():
    assert work(Terminal(), 1.9, 0.01) == ""
    assert work(io.StringIO(), 1.9, 0.01) == ""


def test_a_quiet_job_says_nothing():
    assert work(Terminal(), 60.0, 0.01, quiet=True) == ""


def test_a_terminal_is_written_at_most_ten_times_a_second_and_left_clean():
    text = work(Terminal(), 12.0, 0.001)
    updates = text.split("\r")[1:-2]
    assert 90 <= len(updates) <= 101  # ten seconds after the two silent ones
    assert "\n" not in text
    assert text.endswith(" \r")


def test_lines_in_a_file_come_every_few_seconds():
    lines = work(io.StringIO(), 60.0, 1 / 128).splitlines()
    assert 11 <= len(lines) <= 12
    assert lines[0] == "search  640/7680 loops    8%  128 loops/s  55 s left"


def test_the_rate_follows_a_job_that_becomes_faster():
    clock, stream = Clock(), io.StringIO()
    progress = Progress(10_000, "search", "loops", stream=stream, clock=clock)
    for pace, seconds in ((1.0, 30), (0.01, 60)):
        for _ in range(round(seconds / pace)):
            clock.now += pace
            progress.advance()
    rate = float(stream.getvalue().splitlines()[-1].split("  ")[-2].split()[0])
    assert rate == pytest.approx(100.0, rel=0.05)  # e^(-60/15) = 2 % of the slow start is left


def test_a_resumed_job_counts_only_its_own_work_for_the_rate():
    clock, stream = Clock(), io.StringIO()
    progress = Progress(1000, "search", "loops", stream=stream, clock=clock, done=900)
    for _ in range(60):
        clock.now += 0.125  # exact in binary, so that the line comes at the 40th unit
        progress.advance(note="best 1.5")
    assert stream.getvalue() == "search  940/1000 loops   94%  8 loops/s  8 s left  best 1.5\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.7, "1 min 0 s"), (125, "2 min 5 s"), (4320, "1 h 12 min"), (-1.0, "0 s")]
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


PLAN = {
    "fixed": PlannedWork(100.0),
    "net": PlannedWork(0.0, 5.0),
    "tables": PlannedWork(200.0),
    "tables_search_2": PlannedWork(200.0),
}


def test_the_time_left_of_a_job_follows_from_the_pace_of_its_stages():
    clock = Clock()
    job = JobProgress("design", PLAN, clock=clock)
    job.at(0.5)
    assert job.words() == ""
    job.begin("fixed")
    job.at(0.0)
    assert job.words() == ""
    clock.now += 10.0
    job.at(0.5)
    assert job.words() == "design 10%, 1 min 35 s left"  # 10 s of 10 + 10 + 5 + 2 * 40
    job.passed(None)
    clock.now += 10.0
    job.end("fixed")
    job.begin("tables")
    clock.now += 20.0
    job.at(0.5, 100.0)
    assert job.words() == "design 30%, 1 min 33 s left"  # 150 units took 40 s: 350 are left


def test_a_stage_takes_what_it_took_in_another_search():
    clock = Clock()
    job = JobProgress("design", PLAN, {"fixed": 10.0, "net": 5.0, "tables": 85.0}, clock)
    job.begin("tables_search_2")
    clock.now += 1.0
    job.at(0.2)
    assert job.words() == "design 60%, 1 min 8 s left"


def test_what_an_earlier_session_did_counts_as_done():
    clock = Clock()
    job = JobProgress("design", PLAN, {"fixed": 10.0, "net": 5.0}, clock)
    job.end("fixed")
    job.end("net")
    job.begin("tables")
    job.at(0.0)
    assert job.words() == "design 27%, 40 s left"


def test_the_job_stands_before_the_line_of_its_stage_and_a_line_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    for stream in (io.StringIO(), Terminal()):
        clock = Clock()
        job = JobProgress("design", PLAN, clock=clock)
        job.begin("fixed")
        with Progress(100, "fixed: fixed PID", "loops", job=job, stream=stream, clock=clock) as line:
            clock.now += 10.0
            line.advance(50)
        shown = stream.getvalue().strip("\r\n ").split("\r")[0]
        assert shown.startswith("design 10%, 1 min 35 s left  fixed: ")
        assert (len(shown) < 40) == stream.isatty()


def test_an_unplanned_stage_says_nothing_of_the_job():
    job = JobProgress("design", PLAN)
    job.begin("choice")
    job.at(0.5)
    assert job.words() == ""


def test_a_stage_that_turns_out_to_be_needed_joins_the_plan():
    clock = Clock()
    job = JobProgress("design", {"a": PlannedWork(10.0), "b": PlannedWork(10.0)}, clock=clock)
    job.begin("a")
    clock.now += 10.0
    job.end("a")
    job.also("more", PlannedWork(20.0))
    job.also("more", PlannedWork(99.0))  # known
    job.begin("more")
    assert job.state() == (0.25, 30.0)  # 10 s of 40: its own 20 and those of b are to come
    silent = JobProgress()
    silent.also("more", PlannedWork(20.0))
    silent.begin("more")
    assert silent.words() == ""


def test_stages_side_by_side_share_what_is_left():
    """Two stages of 100 units at 10 s each so far, half done: 10 s of work each and two at once."""
    clock, told = Clock(), []
    job = JobProgress("design", {"one": PlannedWork(100.0), "two": PlannedWork(100.0)}, clock=clock)
    beside = JobProgress("design", {"one": PlannedWork(100.0), "two": PlannedWork(100.0)}, clock=clock)
    beside.relay = told.append
    for stage in ("one", "two"):
        beside.begin(stage)
    for message in told:
        job.heard(message)
    clock.now += 10.0
    for stage in ("one", "two"):
        job.at(0.5, None, stage)
    assert job.words() == "design 50%, 10 s left"
    job.end("two")
    assert job.words() == "design 75%, 3 s left"  # 150 units took 20 s of work: 50 are left, two at once
