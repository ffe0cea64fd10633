"""Real loops: jitter, quantisation, lost packets, and actuators that are slow, dead around zero, or loose."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, as_controller
from plants.core.signals import noise
from plants.excitation import Sine, Step, WhiteNoise
from tests.reference.closed_loop_twin import Twin, plain_record

VDP = plants.get("van_der_pol")
H, SAMPLE = 0.01, 4
LAW = PID(sample_time=H * SAMPLE)
GAINS = (3.0, 0.8, 1.5)
BUSY = sscq.Situation(
    "busy", 0.7 + Sine(0.3, 0.4) + Step(0.4, at=1.2), WhiteNoise(0.2, hold=0.05), initial=(-0.4, 0.3), t_end=2.4, seed=7
)


def recorded(situation, law=LAW, gains=GAINS, plant=VDP):
    """Record of one loop, run as plain Python, without its last row, which no sample was made for."""
    run = plain_record(plant, law, situation, gains, H)
    return replace(run, time=run.time[:-1], signals=run.signals[:-1])


def drawn(situation, kind, count):
    """Numbers between 0 and 1 that a situation draws for its samples."""
    key = noise.stream_key(situation.name, situation.seed, kind)
    return 0.5 + noise.samples(noise.UNIFORM, count, key) / np.sqrt(12.0)


def seen(run):
    """Output that the controller works with, at every sample."""
    return (run["reference position"] - run["error position"])[::SAMPLE]


def test_halves_are_rounded_up():
    """A plant at rest at 2.5 steps of a converter whose step is a power of 2."""
    still = replace(VDP, derivative=lambda t, x, u, w, p: (0.0 * u[0], 0.0 * x[0]))
    for place, expected in ((0.625, 0.75), (-0.625, -0.5), (0.5, 0.5)):
        run = recorded(replace(BUSY, reference=0.0, initial=(place, 0.0), quantisation=0.25, t_end=0.04), plant=still)
        assert seen(run)[0] == expected


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
