"""The page of slopes says what was measured, and which loops miss the aim."""

from benchmarks import slopes
from experiments.runtime.timing import Timing


def row(plant, back, lanes=0.0):
    both = Timing((back, 2.0 * back))
    timings = {"run": Timing((0.001, 0.002)), "there and back": both, "one segment": both}
    errors = {1e-4: 3e-5, 1e-6: 2e-9}
    memory = {1000: 0.5, 64000: 3.0}
    return slopes.SlopesRow(plant, 2, "PID", 3, 1000, timings, errors, 1.5e-15, lanes, memory)


def test_the_page_shows_what_misses_the_aim_and_what_differs():
    rows = [row("one", 0.0035), row("other", 0.0072, lanes=1e-3)]
    text = slopes.page(rows, {"processor": "some"}, {"third": "no way back"})
    assert "| one | PID | 2 | 3 | 1000 | 23.4 | 3.5 | 3.5 | 3.5 | 6 |" in text
    assert "| one | PID | 2 | 3 | 1.5e-15 | the same bits | 2.0e-09 | 1e-06 |" in text
    assert "| other | PID | 2 | 3 | 1.5e-15 | 1.0e-03 | 2.0e-09 | 1e-06 |" in text
    assert "| one | PID | 2 | 0.50 | 3.00 | 6.0 times |" in text
    words = " ".join(text.split())
    assert "met by 1 of 2 loops (medians; above it: other with a PID 7.20)." in words
    assert "third: no way back." in words
