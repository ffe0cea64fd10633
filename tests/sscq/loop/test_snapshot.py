"""Snapshots: windows joined end to end are one long run, bit for bit, whatever the loop remembers."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller
from controllers.schedule import MemorylessSchedule
from plants.core.elementary import clip
from plants.excitation import (
    PRBS,
    GammaFilter,
    GaussianFilter,
    NonlinearFilter,
    PeakFilter,
    RayleighFilter,
    Recorded,
    Sine,
    Step,
    UniformFilter,
    WhiteNoise,
)
from sscq.loop.closed_loop import ClosedLoop, Snapshot
from tests.reference.closed_loop_twin import uncompiled

_POSITION, _VELOCITY = plants.get("van_der_pol").states
VDP = replace(plants.get("van_der_pol"), states=(replace(_POSITION, low=-2.6, high=2.6), _VELOCITY))
STEP = 0.01


@dataclass(frozen=True)
class Learning(MemorylessSchedule):
    """A schedule with a memory: kp follows the integral of the error, kd the measured velocity."""

    tick: float = 0.04
    signals: tuple[str, ...] = ("velocity",)
    theta_names: tuple[str, ...] = ("kp", "ki", "kd", "growth")
    n_states: int = 1

    def initial(self):
        return (0.1,)

    def gains(self, t, s, k, theta):
        z = clip(k[0] + self.tick * s[0], -1.0, 1.0)
        return (theta[0] + theta[3] * z, theta[1], theta[2] + 0.1 * s[-1] * s[-1]), (z,)


LAW = PID(limits=(-6.0, 5.0), rate_limit=200.0, derivative_filter_time=0.05, sample_time=0.02)
SITUATIONS = (
    sscq.Situation(
        "all that remembers", 0.5 + Step(0.3, at=2.0) + Sine(0.2, 0.15), GaussianFilter(0.2, 3.0) + WhiteNoise(0.1, 0.07),
        delay=0.035, output_delay=0.03, noise={"position": 0.02, "velocity": 0.01}, limits=(-4.0, 4.0), t_end=24.0, seed=4,
        jitter=0.4, quantisation=0.01, dropout=0.2, command_dropout=0.1, rate_limit=40.0, dead_zone=0.1, backlash=0.2,
    ),
    sscq.Situation(
        "recorded", Step(-0.5, at=11.0), Recorded.held(tuple(np.sin(np.arange(300.0) ** 2)), 0.07) + UniformFilter(0.6, 2.0),
        {"mu": 1.5}, (1.0, 0.0), delay=0.035, output_delay=0.03, t_end=24.0, seed=8,
    ),
)  # fmt: skip
SITUATIONS += (replace(SITUATIONS[0], name="beside it", initial=(1.0, -1.0), seed=5),)
GAINS = np.array([[4.0, 1.0, 2.0, 0.8], [3.0, 0.5, 3.0, -0.5]])
# From one step up, not at multiples of the sample (2) or the tick (4), and across the noise's blocks of 1 024 numbers.
WINDOWS = (1, 2, 130, 891, 3, 700, 673)


@pytest.fixture(scope="module")
def loop():
    return ClosedLoop(VDP, Controller((LAW,), Learning()), SITUATIONS, STEP, observe=True)


def remembered(loop):
    """Rows that the future depends on, ring rows included: not the sums of the measures."""
    kept = np.ones(loop.design.rows.count + 100, dtype=bool)
    for name in ("steps", *(f"q_{name}" for name in loop.measures)):
        kept[loop.design.rows.span(name)] = False
    return kept


@pytest.mark.parametrize("number", [0, 1])
def test_windows_joined_end_to_end_are_one_run(loop, number):
    rows = [*range(*loop.design.rows.span("x").indices(10**6)), loop.design.rows.first["command"]]
    whole = loop.run(GAINS[:1], [number], n_steps=sum(WINDOWS), keep=True, record=rows, threads=1)
    snapshot, records, measures = None, [], []
    for n_steps in WINDOWS:
        part = loop.run(GAINS[:1], [number], n_steps=n_steps, snapshot=snapshot, keep=True, record=rows, threads=1)
        assert part.steps[0] == n_steps
        snapshot = part.snapshot
        records.append(part.record[:-1, :, 0])
        measures.append(part.measures[0])
    assert snapshot.step == whole.snapshot.step == sum(WINDOWS)
    np.testing.assert_array_equal(np.vstack(records), whole.record[:-1, :, 0])
    kept = remembered(loop)[: snapshot.rows.shape[1]]
    np.testing.assert_array_equal(snapshot.rows[:, kept], whole.snapshot.rows[:, kept])
    for name, parts, total in zip(loop.measures, np.transpose(measures), whole.measures[0], strict=True):
        if name in {"overshoot", "peak_command"}:
            assert parts.max() == total, name
        elif name == "settling_time":
            assert parts[parts > 0.0][-1] == total
        else:  # the same terms, summed window by window
            assert parts.sum() == pytest.approx(total, rel=1e-11), name


def test_many_rollouts_go_on_from_their_own_snapshots(loop):
    """Both situations and two candidates: each start goes on with each candidate as it would alone."""
    assert [0, 2] in loop.groups()
    before = {number: loop.run(GAINS[:1], [number], n_steps=333, keep=True, threads=1).snapshot for number in (0, 2)}
    both = Snapshot(np.vstack([s.rows for s in before.values()]), 333)
    together = loop.run(GAINS, [0, 2], n_steps=200, snapshot=both, threads=1)
    alone = [
        loop.run(GAINS[k : k + 1], [number], n_steps=200, snapshot=snapshot, threads=1).measures[0]
        for number, snapshot in before.items()
        for k in (0, 1)
    ]
    np.testing.assert_array_equal(together.measures, alone)
    assert len(np.unique(together.measures[:, 0])) == 4


def test_a_snapshot_is_not_changed_by_going_on(loop):
    snapshot = loop.run(GAINS[:1], [0], n_steps=50, keep=True, threads=1).snapshot
    copy = snapshot.rows.copy()
    first, again = (loop.run(GAINS[:1], [0], n_steps=50, snapshot=snapshot, threads=1).measures for _ in range(2))
    np.testing.assert_array_equal(snapshot.rows, copy)
    np.testing.assert_array_equal(first, again)


def test_other_keys_are_another_future_from_the_same_present(loop):
    """A continuation draws other numbers, but goes on from the state of the forming filter."""
    snapshot = loop.run(GAINS[:1], [0], n_steps=400, keep=True, threads=1).snapshot
    rows = [
        loop.design.rows.first[name] for name in ("w_excitation_gaussianfilter0_held", "w_excitation_whitenoise0_held")
    ]
    own = loop.run(GAINS[:1], [0], n_steps=60, snapshot=snapshot, record=rows, threads=1).record[:, :, 0]
    key = [("another", 1)]
    other = loop.run(GAINS[:1], [0], n_steps=60, snapshot=snapshot, keys=key, record=rows, threads=1).record[:, :, 0]
    # One step of the filter: its noise has a standard deviation of sqrt(0.2 * 2 * 3 * 0.01) = 0.11.
    assert 0.0 < abs(own[0, 0] - other[0, 0]) < 6.0 * np.sqrt(2.0) * 0.11
    held = 6  # steps until the white noise, held for 7, is drawn again: step 406 is the first multiple behind 400
    np.testing.assert_array_equal(own[:held, 1], other[:held, 1])
    assert (own[held:, 1] != other[held:, 1]).all()
    again = loop.run(GAINS[:1], [0], n_steps=60, snapshot=snapshot, keys=key, record=rows, threads=1).record[:, :, 0]
    np.testing.assert_array_equal(again, other)


def test_a_snapshot_of_another_loop_is_refused(loop):
    snapshot = loop.run(GAINS[:1], [0], n_steps=5, keep=True, threads=1).snapshot
    with pytest.raises(ValueError, match="the snapshot has shape"):
        loop.run(GAINS[:1], [0, 1], n_steps=5, snapshot=snapshot)
    with pytest.raises(ValueError, match="the snapshot has shape"):
        loop.run(GAINS[:1], [0], n_steps=5, snapshot=replace(snapshot, rows=snapshot.rows[:, 1:]))


def test_a_rollout_that_has_diverged_stays_so(loop):
    wild = np.array([[-8.0, 0.0, -1.0, 0.0]])
    first = loop.run(wild, [1], n_steps=900, keep=True, threads=1)
    assert 0 < first.steps[0] < 900
    second = loop.run(GAINS[:1], [1], n_steps=900, snapshot=first.snapshot, keep=True, threads=1)
    assert second.steps[0] == 0
    x = loop.design.rows.span("x")
    np.testing.assert_array_equal(second.snapshot.rows[:, x], first.snapshot.rows[:, x])


def test_filters_of_several_states_go_on_from_their_snapshot():
    """Also where another situation has none of them: that one runs as it would alone, bit for bit."""
    excitation = (
        PeakFilter(0.1, 1.0) + GammaFilter(4.0, 1.0) + NonlinearFilter(c0=0.2) + PRBS(0.1, 0.07) + RayleighFilter(0.1, 4.0)
    )  # fmt: skip
    shaken = sscq.Situation("shaken", 0.5, excitation, t_end=2.0, seed=4)
    calm = sscq.Situation("calm", 0.5, Sine(0.2, 0.5), t_end=2.0, seed=4)
    law = Controller((LAW,), Learning())
    with uncompiled():
        loop = ClosedLoop(VDP, law, (shaken, calm), STEP, observe=True, lanes=1)
        rows = [*range(*loop.design.rows.span("x").indices(10**6))]
        whole, beside = (
            loop.run(GAINS[:1], [k], n_steps=60, keep=True, record=rows, threads=1) for k in (0, 1)
        )  # fmt: skip
        first = loop.run(GAINS[:1], [0], n_steps=23, keep=True, threads=1)
        second = loop.run(GAINS[:1], [0], n_steps=37, snapshot=first.snapshot, keep=True, record=rows, threads=1)
        alone = ClosedLoop(VDP, law, (calm,), STEP, observe=True, lanes=1)
        rows = [*range(*alone.design.rows.span("x").indices(10**6))]
        own = alone.run(GAINS[:1], [0], n_steps=60, record=rows, threads=1)
    np.testing.assert_array_equal(second.record[:, :, 0], whole.record[23:, :, 0])
    kept = remembered(loop)[: whole.snapshot.rows.shape[1]]
    np.testing.assert_array_equal(second.snapshot.rows[:, kept], whole.snapshot.rows[:, kept])
    np.testing.assert_array_equal(beside.record[:, :, 0], own.record[:, :, 0])
