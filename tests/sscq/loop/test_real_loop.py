"""Real loops: jitter, quantisation, lost packets, and actuators that are slow, dead around zero, or loose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, as_controller
from plants.core.signals import noise
from plants.excitation import Sine, Step, WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.record import Recorder
from tests.reference.closed_loop_twin import Twin, uncompiled

VDP = plants.get("van_der_pol")
H, SAMPLE = 0.01, 4
LAW = PID(sample_time=H * SAMPLE)
GAINS = (3.0, 0.8, 1.5)
BUSY = sscq.Situation(
    "busy", 0.7 + Sine(0.3, 0.4) + Step(0.4, at=1.2), WhiteNoise(0.2, hold=0.05), initial=(-0.4, 0.3), t_end=2.4, seed=7
)


def recorded(situation, law=LAW, gains=GAINS, plant=VDP):
    """Record of one loop, run as plain Python, without its last row, which no sample was made for."""
    recorder = object.__new__(Recorder)
    recorder.controller = law
    recorder.loop = ClosedLoop(plant, law, (situation,), H, observe=True, lanes=1)
    with uncompiled():
        run = recorder(gains)
    return replace(run, time=run.time[:-1], signals=run.signals[:-1])


def drawn(situation, kind, count):
    """Numbers between 0 and 1 that a situation draws for its samples."""
    key = noise.stream_key(situation.name, situation.seed, kind)
    return 0.5 + noise.samples(noise.UNIFORM, count, key) / np.sqrt(12.0)


def held(values, lost, first):
    """Values of every sample; where one is lost the last one again, before any `first`."""
    found = []
    for value, gone in zip(values, lost, strict=True):
        found.append((found[-1] if found else first) if gone else value)
    return np.array(found)


def seen(run):
    """Output that the controller works with, at every sample."""
    return (run["reference position"] - run["error position"])[::SAMPLE]


# ----------------------------------------------------------------------------------------------------------- sensors


def test_measurements_are_rounded_to_multiples():
    run = recorded(replace(BUSY, quantisation={"position": 0.0713}))
    steps = seen(run) / 0.0713
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)  # rounding of r - y
    np.testing.assert_array_less(np.abs(seen(run) - run["position"][::SAMPLE]), 0.5 * 0.0713 + 1e-12)
    assert len(np.unique(np.round(steps))) > 10
    rate = run["error rate position"][::SAMPLE]  # of the other measurement, which is not rounded
    assert len(np.unique(rate)) == len(rate)


def test_halves_are_rounded_up():
    """A plant at rest at 2.5 steps of a converter whose step is a power of 2."""
    still = replace(VDP, derivative=lambda t, x, u, w, p: (0.0 * u[0], 0.0 * x[0]))
    for place, expected in ((0.625, 0.75), (-0.625, -0.5), (0.5, 0.5)):
        run = recorded(replace(BUSY, reference=0.0, initial=(place, 0.0), quantisation=0.25, t_end=0.04), plant=still)
        assert seen(run)[0] == expected


def test_differences_are_taken_from_what_arrives():
    """One converter step between two samples is a rate of one step a sample, however slow the plant was."""
    law = replace(LAW, rate_source="difference")
    situation = replace(BUSY, reference=0.0, quantisation=0.0713, dropout=0.3, output_delay=1.5 * H * SAMPLE)
    run = recorded(situation, law)
    arrived = seen(run)
    # Division by the sample time makes 1e-15 of rounding 1e-13.
    rate = np.diff(arrived, prepend=arrived[0]) / (H * SAMPLE)
    np.testing.assert_allclose(-run["error rate position"][::SAMPLE], rate, atol=1e-12)


def test_lost_measurements_leave_the_last_one():
    situation = next(s for s in (replace(BUSY, dropout=0.4, seed=k) for k in range(99)) if drawn(s, "dropout", 1) < 0.4)
    lost = drawn(situation, "dropout", 60) < 0.4
    lost[0] = False  # the first packet arrives: there is nothing to hold
    for gains in (GAINS, (6.0, 0.1, 3.0)):  # the same packets for every candidate
        run = recorded(situation, gains=gains)
        np.testing.assert_allclose(seen(run), held(run["position"][::SAMPLE], lost, None), atol=1e-14)
    assert 10 < lost.sum() < 40  # of 60; 24 expected, standard deviation 3.8


def test_lost_commands_leave_the_last_input():
    plant = replace(VDP, inputs=(replace(VDP.inputs[0], nominal=0.3),))
    situation = next(
        s
        for s in (replace(BUSY, command_dropout=0.4, seed=k) for k in range(99))
        if drawn(s, "command_dropout", 1) < 0.4
    )
    lost = drawn(situation, "command_dropout", 60) < 0.4
    run = recorded(situation, plant=plant)
    expected = held(run["command position"][::SAMPLE], lost, 0.3)
    assert expected[0] == 0.3
    np.testing.assert_array_equal(run["force"], np.repeat(expected, SAMPLE))


def test_jittered_samples_are_taken_between_two():
    """Against the plant's own motion at the jittered instants, from a step much smaller than the sample."""
    law, sample = PID(sample_time=20 * H), 20
    situation = replace(BUSY, excitation=Sine(0.3, 0.7), jitter=0.8, t_end=8.0)
    run = recorded(situation, law, (1.0, 0.3, 1.0))
    ages = 0.8 * drawn(situation, "jitter", 40) * sample * H
    t = run.time[::sample]
    true = np.interp(t - ages, run.time, run["position"])
    got = (run["reference position"] - run["error position"])[::sample]
    # A straight line over a sample: T^2 / 8 times the largest acceleration.
    bound = (sample * H) ** 2 / 8.0 * np.abs(np.diff(run["velocity"]) / H).max()
    assert np.abs(got - true)[1:].max() < bound
    assert got[0] == pytest.approx(run["position"][0], abs=1e-14)  # the first one is in time
    # Without jitter it would be seen wrong by ages * velocity, many times as much.
    assert np.abs(run["position"][::sample] - true).max() > 4.0 * np.abs(got - true)[1:].max()
    assert ages.min() < 0.1 * 0.8 * sample * H
    assert ages.max() > 0.9 * 0.8 * sample * H


def test_jitter_of_a_steady_motion_is_an_error_of_its_rate():
    """Divided by the nominal sample time: v (1 - J (share_k - share_k-1)), of standard deviation v J / sqrt(6)."""
    steady = replace(VDP, derivative=lambda t, x, u, w, p: (0.5 + 0.0 * x[0], 0.0 * u[0]))
    law = replace(LAW, rate_source="difference")
    situation = replace(BUSY, reference=0.0, initial=(-1.0, 0.0), jitter=0.6, t_end=4.0)
    rate = -recorded(situation, law, plant=steady)["error rate position"][::SAMPLE]
    shares = drawn(situation, "jitter", 100)
    # From the third sample on: nothing was before the first one. Rounding of 1e-16 over the sample time.
    np.testing.assert_allclose(rate[2:], 0.5 * (1.0 - 0.6 * np.diff(shares)[1:]), rtol=1e-12)
    # 100 numbers tell their standard deviation to 10 %: three of its standard errors, doubled for the correlation.
    assert rate[2:].std() == pytest.approx(0.5 * 0.6 / np.sqrt(6.0), rel=0.4)


# ---------------------------------------------------------------------------------------------------------- actuators


def test_a_slow_actuator_moves_within_the_sample():
    run = recorded(replace(BUSY, rate_limit=9.0))
    u, wanted = run["force"], run["command position"]
    way = np.diff(u, prepend=0.0)
    assert np.abs(way).max() <= 9.0 * H * (1.0 + 1e-12)
    late = ~np.isclose(u, wanted, atol=1e-12)
    np.testing.assert_allclose(np.abs(way[late]), 9.0 * H, rtol=1e-9)  # at full speed wherever it is behind,
    assert (np.sign(way[late]) == np.sign(wanted - u)[late]).all()  # and towards what is wanted
    assert 10 < late.sum() < 230
    assert any(late[k] and not late[k + 1] and (k + 1) % SAMPLE for k in range(len(late) - 1))


def test_a_slow_actuator_leaves_its_stop_at_once():
    """The rate limit acts behind the bounds: a command beyond them does not wind the drive up."""
    run = recorded(replace(BUSY, reference=Step(3.0, 0.4) + Step(-6.0, 1.0), limits=(-1.0, 1.0), rate_limit=30.0))
    u, wanted = run["force"], np.clip(run["command position"], -1.0, 1.0)
    turn = next(k for k in range(60, len(u)) if u[k - 1] == 1.0 and wanted[k] < 1.0)
    assert run["command position"][turn - 1] > 1.5
    assert u[turn] < 1.0


def test_a_dead_zone_takes_its_width():
    run = recorded(replace(BUSY, dead_zone={"force": 0.4}))
    command = run["command position"]
    np.testing.assert_allclose(run["force"], np.sign(command) * np.maximum(np.abs(command) - 0.4, 0.0), atol=1e-14)
    assert (run["force"] == 0.0).sum() > 5


def test_play_is_crossed_at_every_turn():
    width = 0.5
    run = recorded(replace(BUSY, backlash=width))
    u, command = run["force"], run["command position"]
    assert np.abs(command - u).max() <= 0.5 * width + 1e-12
    way = np.diff(u)
    moving = np.abs(way) > 1e-12
    # Whoever moves the plant is in contact, on the side that it pushes from.
    np.testing.assert_allclose((command - u)[1:][moving], 0.5 * width * np.sign(way[moving]), atol=1e-12)
    assert (way[moving] > 0.0).any()
    assert (way[moving] < 0.0).any()
    assert (
        ~moving & (np.abs(np.diff(command)) > 1e-6)
    ).sum() > 5  # in the play the command moves and the plant does not


# ---------------------------------------------------------------------------------------------------- all of it at once

TWO = replace(  # a second channel, without a rate output, and a second input, coupled to the first
    VDP, name="two", inputs=(replace(VDP.inputs[0], nominal=0.1), replace(VDP.inputs[0], name="other", nominal=-0.2)),
    channels=(VDP.channels[0], replace(VDP.channels[0], output="velocity", rate=None, low=-4.0, high=3.0)),
    derivative=lambda t, x, u, w, p: (x[1] + 0.3 * u[1], p[0] * (1.0 - x[0] * x[0]) * x[1] - x[0] + u[0] + w[0]),
)  # fmt: skip
OPTIONS = {
    "jitter": (0.3, 1.0),
    "quantisation": ({"position": 0.0317}, {"position": 0.0173, "velocity": 0.0713}),
    "dropout": (0.1, 0.6),
    "command_dropout": (0.1, 0.6),
    "rate_limit": (11.3, {"force": 31.7}),
    "dead_zone": (0.137, {"force": 0.313}),
    "backlash": (0.211, {"force": 0.513}),
    "delay": (0.02, 0.0351),
    "output_delay": (0.04, 0.0517),
    "noise": (0.02, {"position": 0.01, "velocity": 0.02}),
    "limits": ((-2.0, 2.5),),
}


def random_situation(rng, number):
    """Every option with a chance of six in ten; one of its values."""
    chosen = [name for name in OPTIONS if rng.random() < 0.6]
    values = {name: OPTIONS[name][rng.integers(len(OPTIONS[name]))] for name in chosen}
    return replace(BUSY, name=f"any {number}", seed=number, t_end=1.6, **values)


@pytest.mark.parametrize("plant", [VDP, TWO], ids=lambda plant: plant.name)
@pytest.mark.parametrize("seed", range(10))
def test_any_combination_agrees_with_the_slow_twin(seed, plant):
    rng = np.random.default_rng([seed, len(plant.channels)])
    situation, sample = random_situation(rng, seed), (1, 2, SAMPLE)[seed % 3]
    situation = replace(situation, output_delay=situation.output_delay * sample / SAMPLE)
    source = ("output", "difference")[rng.integers(2)]
    law = PID(limits=(-5.0, 6.0), derivative_filter_time=0.05, sample_time=sample * H, rate_source=source)
    several = (law, replace(law, limits=(-4.0, 3.0)))[: len(plant.channels)]
    gains = rng.uniform(0.5, 1.0, 3 * len(several)) * np.tile((4.0, 1.0, 1.5), len(several))
    measures, trace = Twin(plant, several, lambda *_: gains, situation, H, sample).run()
    run = recorded(situation, as_controller(several, len(several)), gains, plant)
    for group, key in (("states", "x"), ("inputs", "u"), ("command", "command"), ("signals", "seen")):
        # Rounding over 160 steps of a stable loop, divided by the sample time in rates: measured up to 1e-12.
        np.testing.assert_allclose(run.group(group), [row[key] for row in trace], rtol=1e-9, atol=1e-10, err_msg=group)
    assert measures["iae"] == pytest.approx(
        H * np.abs(run.group("reference") - run.group("outputs")[:, : len(several)]).sum(), rel=1e-9
    )


def test_situations_side_by_side_are_each_alone():
    """One kernel with all features, its lanes situations that have one each: the bits of a kernel with that one only."""
    several = [replace(BUSY, name="none of it", t_end=0.8)]
    several += [replace(several[0], name=name, **{name: values[-1]}) for name, values in OPTIONS.items()]
    theta = np.array([GAINS])
    law = replace(LAW, rate_source="difference")
    with uncompiled():
        together = ClosedLoop(VDP, law, several, H, lanes=2)
        quality = together.evaluate(theta, threads=1)
        assert len(together.groups()) == 3  # beside delays nothing keeps situations out of one chunk
        for k, situation in enumerate(several):
            alone = ClosedLoop(VDP, law, (situation,), H, lanes=2).evaluate(theta, threads=1)
            for name, values in alone.values.items():
                np.testing.assert_array_equal(values[0], quality.values[name][k], err_msg=f"{name} in {situation.name}")
    assert len(np.unique(quality.iae)) == len(several)
