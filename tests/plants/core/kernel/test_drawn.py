"""Random numbers drawn beforehand: which are, where they lie, and that they are the streams' own.

That whole runs do not change a bit is asked in tests/sscq/loop/test_bit_equality.py.
"""

import numpy as np
import pytest

from plants.core.kernel.drawn import RepeatedStreams, drawn
from plants.core.kernel.kernel import Stream
from plants.core.kernel.signal_bank import stream_arrays
from plants.core.signals import noise
from plants.core.signals.signal import Feed

NAMES = ("push", "sensor", "log", "none")
SERIES = (0.5, -1.0, 2.0)
KEYS = [("one", 3), ("two", 2**40)]
COUNTS = (1500, 300, 3, 1)


def feeds(ahead=0):
    noisy = Feed(noise.GAUSSIAN, ahead=ahead), Feed(noise.UNIFORM)
    return [[*noisy, Feed(noise.RECORDED, series=SERIES), Feed(noise.OFF)], [*noisy, Feed(noise.OFF), Feed(noise.OFF)]]


def test_all_that_is_random_becomes_a_series_of_the_streams_own_numbers():
    streams = stream_arrays(feeds(), NAMES, KEYS)
    codes, keys, series = drawn(streams, COUNTS)
    assert codes.tolist() == [[noise.RECORDED] * 3 + [noise.OFF], [noise.RECORDED] * 2 + [noise.OFF] * 2]
    for place, (name, seed) in enumerate(KEYS):
        for number, code in enumerate((noise.GAUSSIAN, noise.UNIFORM)):
            own = noise.samples(code, COUNTS[number], noise.stream_key(name, seed, NAMES[number]))
            # The reference's log, sin and cos are those of Python: they round otherwise than the compiled ones.
            np.testing.assert_allclose(series[keys[place, number, 4], : COUNTS[number]], own, rtol=1e-13, atol=1e-14)
    log = series[keys[0, 2, 4]]
    assert log[:3].tolist() == list(SERIES)
    assert (log[3:] == SERIES[-1]).all()


def test_a_stream_that_is_ahead_begins_later():
    ((_, keys, series), (_, late_keys, late)) = (
        drawn(stream_arrays(feeds(ahead), NAMES, KEYS), COUNTS) for ahead in (0, 3)
    )
    np.testing.assert_array_equal(late[late_keys[0, 0, 4], :1000], series[keys[0, 0, 4], 3:1003])


def test_what_has_no_random_numbers_stays_as_it_is():
    streams = stream_arrays([[Feed(noise.OFF)] * 4], NAMES, KEYS[:1])
    assert drawn(streams, COUNTS) is streams


@pytest.mark.parametrize("lack", [0, 1])
def test_what_has_no_room_stays_as_it_is(lack):
    """Two streams in each of two situations, and the recorded one: five rows of two blocks."""
    streams = stream_arrays(feeds(), NAMES, KEYS)
    found = drawn(streams, COUNTS, 5 * 2 * 1024 * 8 - lack)
    assert (found is streams) == bool(lack)


def test_who_runs_once_draws_nothing_beforehand():
    streams = stream_arrays(feeds(), NAMES, KEYS)
    again = RepeatedStreams(streams, COUNTS)
    first, second, third = (again.of_run() for _ in range(3))
    assert first is streams
    assert (second[0] == noise.RECORDED).any()
    assert third is second


@pytest.mark.parametrize(("every", "substeps", "count"), [(1, 1, 101), (10, 1, 11), (7, 1, 15), (1, 3, 303)])
def test_a_run_reads_so_many_samples(every, substeps, count):
    """Step k reads sample k // every or, with sub-steps, those from k * substeps on; the last look is at step 100."""
    stream = Stream("push", "row", "every", substeps)
    assert stream.count(every, 100) == count
