"""Records of several situations: side by side in one call, to the last bit as one after the other."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import GaussianFilter, WhiteNoise
from sscq.loop.closed_loop import ClosedLoop, Snapshot
from sscq.loop.quality import ALL_MEASURES
from sscq.loop.record import Recorder
from sscq.situations.situation_sets import repeated

VDP = plants.get("van_der_pol")
GAINS = (3.0, 0.5, 1.0)
NOISE = WhiteNoise(0.3, hold=0.1)
SITUATIONS = [
    *(sscq.Situation(f"noise {k}", 0.1 * k, NOISE, initial=(0.1 * k, 0.0), t_end=0.5, seed=k) for k in range(18)),
    sscq.Situation("longer", 1.0, NOISE, t_end=0.8, seed=3),
    sscq.Situation("lost at once", 1.0, NOISE, initial=(1e4, 0.0), t_end=0.5, seed=4),
]


@pytest.fixture(scope="module")
def recorder():
    return Recorder(VDP, PID(), SITUATIONS, 0.01)


def test_records_side_by_side_are_those_one_after_the_other(recorder):
    """More situations than lanes, two horizons, one rollout that ends early."""
    together = dict(recorder.several(GAINS, range(len(SITUATIONS))))
    assert sorted(together) == list(range(len(SITUATIONS)))
    for number, found in together.items():
        alone = recorder(GAINS, number)
        np.testing.assert_array_equal(found.time, alone.time)
        np.testing.assert_array_equal(found.signals, alone.signals)
        assert found.evaluations == alone.evaluations
    assert not np.array_equal(together[0].signals, together[1].signals)
    assert np.ptp(together[19].group("states"), axis=0).max() == 0.0  # stands still where it was lost


def test_only_what_is_asked_for_is_run_and_told(recorder):
    assert [number for number, _ in recorder.several(GAINS, [18, 4, 2])] == [4, 2, 18]  # of a group in the order asked


def test_a_call_with_other_streams_leaves_the_situations_own_alone():
    """What a call needs is kept from one generation to the next; continuations have keys of their own."""
    loop, theta = ClosedLoop(VDP, PID(), SITUATIONS[:2], 0.01), np.array([GAINS])
    first = loop.run(theta, [0, 1], keep=True)
    other = loop.run(theta, [0, 1], keys=[("another", 1), ("another", 2)])
    again = loop.run(theta, [0, 1], keep=True)
    np.testing.assert_array_equal(first.measures, again.measures)
    assert not np.array_equal(first.measures, other.measures)
    longer = loop.run(theta, [0, 1], n_steps=20, snapshot=first.snapshot)
    assert not np.array_equal(longer.measures, first.measures)
    np.testing.assert_array_equal(loop.run(theta, [0, 1]).measures, first.measures)


def test_a_repeated_loop_is_one_built_for_the_repetition():
    """Noise, its start in the stationary state, sensor noise; and the loop repeated stays as it was."""
    situations = [
        sscq.Situation("shaped", 1.0, GaussianFilter(0.3, 2.0), noise=0.01, t_end=0.5, seed=2),
        sscq.Situation("white", 0.5, NOISE, noise=0.02, t_end=0.5, seed=5),
    ]
    theta = np.array([GAINS, (1.0, 1.0, 1.0)])
    loop = ClosedLoop(VDP, PID(), situations, 0.01)
    before = loop.evaluate(theta)
    found = loop.repeated(3).evaluate(theta)
    built = ClosedLoop(VDP, PID(), repeated(situations, 3), 0.01).evaluate(theta)
    for name in ALL_MEASURES:
        np.testing.assert_array_equal(found.until_lost[name], built.until_lost[name])
        np.testing.assert_array_equal(loop.evaluate(theta).until_lost[name], before.until_lost[name])
    assert (found.iae != before.iae).all()


def test_a_snapshot_of_other_situations_is_refused():
    loop, theta = ClosedLoop(VDP, PID(), SITUATIONS[:2], 0.01), np.array([GAINS])
    with pytest.raises(ValueError, match=r"the snapshot has shape \(1, 3\), expected \(2, "):
        loop.run(theta, [0, 1], snapshot=Snapshot(np.zeros((1, 3)), 0))
