"""Rollouts side by side: each is the same, bit for bit, whatever runs beside it, and agrees with a slow twin."""

from dataclasses import replace

import numpy as np
import pytest

import controllers
import plants
import sscq
from plants.core.kernel.run import grid, thread_count
from plants.excitation import Ramp, Sine, Step, WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.measures import DAMPED
from sscq.loop.quality import ALL_MEASURES
from tests.reference.closed_loop_twin import Twin

STEP, T_END = 0.01, 6.0
_POSITION, _VELOCITY = plants.get("van_der_pol").states
VDP = replace(  # a narrow region, so that bad gains leave it, and limits that good ones meet
    plants.get("van_der_pol"), name="narrow", states=(replace(_POSITION, low=-3.0, high=3.0), _VELOCITY)
)  # fmt: skip
LAW = controllers.PID(
    sample_time=0.02, derivative_filter_time=0.05, limits=(-6.0, 6.0), rate_source="difference"
)  # fmt: skip
PLAIN = sscq.Situation(name="plain", reference=1.5, initial={"position": 0.1}, t_end=T_END)
# Everything that a situation can bring; beside it the plain one must stay what it is alone.
RICH = sscq.Situation(
    name="rich", reference=0.5 + Step(0.3, at=2.0) + Sine(0.2, 0.15, 0.4), excitation=WhiteNoise(0.3, hold=0.1),
    initial=(-0.4, 0.2), parameters={"mu": 1.4}, delay=0.035, output_delay=0.04, noise=0.02, limits=(-2.5, 2.5),
    t_end=T_END, seed=9,
)  # fmt: skip
# Further parts of the same signals: products in a sum are rounded alike however many terms the sum has.
BUSY = replace(
    RICH, name="busy", excitation=RICH.excitation + Sine(0.3, 0.4), reference=RICH.reference + Ramp(0.1, 1.0)
)
# Sensors, links and actuators that lose something.
WORN = replace(
    RICH, name="worn", jitter=0.6, quantisation=0.0137, dropout=0.15, command_dropout=0.1, rate_limit=17.0,
    dead_zone=0.11, backlash=0.073,
)  # fmt: skip
GAINS = np.random.default_rng(0).uniform((1.0, 0.2, 1.0), (6.0, 2.0, 4.0), (37, 3))


def same(a, b):
    for name in ALL_MEASURES:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.diverged_at, b.diverged_at)


def same_but(quality, together, candidates):
    """The measures are those of some candidates of the batch, bit for bit."""
    for name in ALL_MEASURES:
        expected = getattr(together, name)[:, candidates]
        np.testing.assert_array_equal(getattr(quality, name), expected, err_msg=name)


@pytest.fixture(scope="module")
def loop():
    return ClosedLoop(VDP, LAW, (PLAIN, RICH, BUSY, WORN), STEP)


@pytest.fixture(scope="module")
def together(loop):
    return loop.evaluate(GAINS, threads=1)


PARTS = [*np.arange(37)[:, None], *(np.arange(n) for n in (2, 15, 16, 17, 32, 33))]
PARTS.append(np.random.default_rng(1).permutation(np.repeat(np.arange(37), 2)))


@pytest.mark.parametrize("candidates", PARTS, ids=len)
def test_a_rollout_does_not_depend_on_lanes_order_or_neighbours(loop, together, candidates):
    """Each alone, lanes partly filled, all twice in another order."""
    same_but(loop.evaluate(GAINS[candidates], threads=1), together, candidates)


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(loop, together, threads):
    same(loop.evaluate(GAINS, threads=threads), together)


def test_a_diverging_rollout_changes_no_bit_of_its_neighbours(loop, together):
    wild = GAINS.copy()
    wild[[0, 5, 20, 36]] = (-50.0, 0.0, 0.0)  # pushes away from the reference
    wild[7] = (1e300, 0.0, -1e300)  # overflows
    quality = loop.evaluate(wild, threads=1)
    gone, kept = [0, 5, 20, 36], [k for k in range(37) if k not in {0, 5, 7, 20, 36}]
    assert (quality.diverged_at[0, gone] < T_END).all()  # the rich situation's bounds keep it inside
    frozen = loop.run(wild, [0], keep=True, threads=1).snapshot.rows[gone, 0]
    assert (np.abs(frozen) < 3.0).all()  # where it left the region, not beyond
    assert np.isnan(quality.diverged_at[:, kept]).all()
    for name in ALL_MEASURES:
        found = getattr(quality, name)
        np.testing.assert_array_equal(found[:, kept], getattr(together, name)[:, kept], err_msg=name)
        assert np.isfinite(quality.until_lost[name][:, gone]).all()


def test_neutral_features_leave_the_bits_unchanged(together):
    for row, situation in enumerate((PLAIN, RICH)):
        alone = ClosedLoop(VDP, LAW, (situation,), STEP).evaluate(GAINS, threads=1)
        for name in ALL_MEASURES:
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(together, name)[row], err_msg=name)


def test_what_is_observed_is_what_is_evaluated(loop, together):
    """The record's kernel keeps and looks at more, and moves the same."""
    observed = ClosedLoop(VDP, LAW, (RICH,), STEP, observe=True)
    ends = [one.run(GAINS[:3], [number], keep=True, threads=1) for one, number in ((loop, 1), (observed, 0))]
    assert observed.measures == (*loop.measures, DAMPED)
    np.testing.assert_array_equal(ends[0].measures, ends[1].measures[:, :-1])
    np.testing.assert_array_equal(*(end.snapshot.rows[:, :2] for end in ends))
    trajectory = sscq.record(VDP, LAW, GAINS[0], RICH, STEP)
    error = trajectory["reference position"] - trajectory["position"]
    # The sums of the record are the same terms in another order of rounding.
    assert STEP * np.sum(error[:-1] ** 2) == pytest.approx(float(together.ise[1, 0]), rel=1e-12)
    assert STEP * np.sum(np.abs(error[:-1])) == pytest.approx(float(together.iae[1, 0]), rel=1e-12)
    assert STEP * np.sum(trajectory["command position"][:-1] ** 2) == pytest.approx(
        float(together.effort[1, 0]), rel=1e-12
    )
    plant, controller = (trajectory[f"entropy rate {part}"][:-1] for part in ("plant", "controller"))
    assert STEP * np.sum(np.abs(plant - controller)) == pytest.approx(
        float(together.entropy_difference_abs[1, 0]), rel=1e-12
    )


def test_windows_joined_end_to_end_are_one_run(loop):
    whole = loop.run(GAINS[:1], [1], n_steps=500, keep=True, threads=1)
    first = loop.run(GAINS[:1], [1], n_steps=170, keep=True, threads=1)
    second = loop.run(GAINS[:1], [1], n_steps=330, snapshot=first.snapshot, keep=True, threads=1)
    sums = loop.design.rows.first["steps"]
    np.testing.assert_array_equal(second.snapshot.rows[:, :sums], whole.snapshot.rows[:, :sums])
    assert second.snapshot.step == whole.snapshot.step == 500
    places = [loop.measures.index(name) for name in ("ise", "iae", "effort", "entropy_controller")]
    parts = first.measures[:, places] + second.measures[:, places]
    np.testing.assert_allclose(parts, whole.measures[:, places], rtol=1e-13)


@pytest.mark.parametrize("candidate", [0, 3, 11])
@pytest.mark.parametrize(("row", "situation"), [(0, PLAIN), (1, RICH), (3, WORN)])
def test_the_kernel_agrees_with_the_slow_twin(together, row, situation, candidate):
    measures, _ = Twin(VDP, [LAW], lambda *_: GAINS[candidate], situation, STEP, sample=2).run()
    for name in ALL_MEASURES:
        # Rounding grows with the motion's own sensitivity over 600 steps; measured up to 1e-12.
        expected = pytest.approx(measures.get(name, 0.0), rel=1e-9, abs=1e-11)
        assert float(getattr(together, name)[row, candidate]) == expected, name


def test_gains_of_any_kind_are_taken(together):
    kinds = [
        GAINS.astype(np.float32),
        GAINS[::2],
        np.asfortranarray(GAINS),
        GAINS.tolist(),
        np.round(GAINS).astype(int),
    ]
    read_only = GAINS.copy()
    read_only.flags.writeable = False
    for gains in (*kinds, read_only):
        sscq.evaluate(VDP, LAW, gains, (PLAIN, RICH, BUSY, WORN), STEP)
    assert len(np.unique(together.ise)) == together.ise.size  # and the kernel does tell candidates apart


@pytest.mark.parametrize(("starts", "candidates"), [(1, 1), (3, 5), (2, 16), (4, 17), (7, 1), (2, 40)])
def test_every_rollout_has_one_lane(starts, candidates):
    where = grid(starts, candidates, 16)
    used = where.lane_out.ravel() >= 0
    order = np.argsort(where.lane_out.ravel()[used])
    np.testing.assert_array_equal(where.lane_out.ravel()[used][order], np.arange(starts * candidates))
    np.testing.assert_array_equal(where.lane_start.ravel()[used][order], np.repeat(np.arange(starts), candidates))
    np.testing.assert_array_equal(where.lane_theta.ravel()[used][order], np.tile(np.arange(candidates), starts))
    if candidates >= 16:
        assert (where.lane_start == where.lane_start[:, :1]).all()  # lanes that share their noise


def test_the_number_of_threads_is_positive():
    assert thread_count(None) >= 1
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        thread_count(0)
