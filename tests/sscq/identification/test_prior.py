"""Densities before a log: that they are densities, what they forbid, and that coordinates and parameters are one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

from plants.identification.record import LoopRecord
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.prior import LoopScales, OscillatingPrior, TwoLagsPrior

STEP = 1.0
SCALES = LoopScales(step=STEP, length=600.0, output_range=6.0, input_range=12.0, noise=0.1, longest_dead_time=75.0)
PRIOR = TwoLagsPrior(SCALES)
PLACE = {name: k for k, name in enumerate(TWO_LAGS.parameters)}
USUAL = {
    "slope": 0.05, "decay": 0.02, "lag": 4.0, "dead_time": 3.0, "noise": 0.1, "load": 1.0, "walk": 0.1, "load_time": 5.0,
    "curve": 0.0,
}  # fmt: skip


def at(**changes):
    return PRIOR.coordinates(np.array([[(USUAL | changes)[name] for name in TWO_LAGS.parameters]]))


def density(name, values, start=None):
    """The density along one coordinate."""
    places = np.repeat(at() if start is None else start, len(values), axis=0)
    places[:, PLACE[name]] = values
    return np.exp(PRIOR.log_density(places) - PRIOR.log_density(at())[0])


def test_coordinates_and_parameters_are_one():
    rng = np.random.default_rng(0)
    drawn = PRIOR.draws(500, rng)
    assert np.isfinite(PRIOR.log_density(drawn)).mean() > 0.9
    there = PRIOR.parameters(drawn)
    assert PRIOR.coordinates(there) == pytest.approx(drawn, rel=1e-12, abs=1e-12)
    assert (there[:, PLACE["decay"]] == 0.0).any()
    unstable = PRIOR.parameters(at(decay=-0.0005))
    assert unstable[0, PLACE["decay"]] == pytest.approx(-0.0005)


@pytest.mark.parametrize(
    "changes",
    [
        {"decay": -0.001}, {"decay": 1.01 / STEP}, {"lag": 0.19 * STEP}, {"lag": 51.0}, {"dead_time": -0.1},
        {"dead_time": 75.1}, {"noise": 5e-4}, {"load_time": 0.29 * STEP}, {"load_time": 61.0},
        {"decay": 0.0, "lag": 61.0}, {"decay": 0.001, "lag": 201.0},
    ],
)  # fmt: skip
def test_what_is_forbidden(changes):
    """Each a little beyond a bound: two lags, the slower of which is the decay's, and no dead time before now."""
    assert PRIOR.log_density(at(**changes))[0] == -np.inf
    assert np.isfinite(PRIOR.log_density(at())[0])


def test_normal_and_hyperbolic_densities():
    curve = 0.03
    assert density("curve", np.array([curve]))[0] == pytest.approx(math.exp(-0.5))
    assert density("dead_time", np.array([0.0, 8.0])) == pytest.approx([5.0 / 2.0, 5.0 / 10.0])
    unstable, stable = density("decay", np.array([-0.1, 1e-9]), at(lag=4.0))
    assert unstable / stable == pytest.approx(math.exp(-1.0) * math.log(200.0 / 0.2) / math.log(60.0 / 0.2), rel=1e-6)


@pytest.mark.parametrize("decay", [0.2, 0.02, 0.004, 0.0, -0.0005])
def test_the_lag_has_a_density_of_one_whatever_the_decay(decay):
    start = at(decay=decay, lag=1.0)
    known = PRIOR.log_density(start)[0] + math.log(math.log(_slowest(decay) / 0.2))
    low, high = math.log(0.2), math.log(_slowest(decay))
    places = np.linspace(low + 1e-9, high - 1e-9, 2001)
    values = density("lag", places, start) * math.exp(PRIOR.log_density(at())[0] - known)
    assert integrate.simpson(values, x=places) == pytest.approx(1.0, abs=1e-3)


def _slowest(decay):
    return min(200.0, 1.0 / decay) if decay > 0.0 else 60.0


def test_ranges_are_those_of_the_records():
    time = np.arange(600.0)
    record = LoopRecord(50.0 + np.sin(time / 20.0), 40.0 + 2.0 * np.cos(time / 30.0), STEP)
    scales = LoopScales.of([record])
    assert scales.output_range == pytest.approx(3.0 / math.sqrt(2.0), rel=0.02)
    assert scales.input_range == pytest.approx(6.0 / math.sqrt(2.0), rel=0.02)
    assert (scales.length, scales.longest_dead_time) == (600.0, 75.0)
    assert LoopScales.of([record], longest_dead_time=9.0).longest_dead_time == 9.0
    noisy = LoopRecord(50.0 + 0.3 * np.random.default_rng(0).standard_normal(600), record.input, STEP)
    assert LoopScales.of([noisy]).noise == pytest.approx(0.3, rel=0.1)


def test_oscillating_plants_have_a_damping_below_one():
    prior = OscillatingPrior(SCALES)
    drawn = prior.draws(500, np.random.default_rng(0))
    assert np.isfinite(prior.log_density(drawn)).mean() > 0.99
    assert prior.coordinates(prior.parameters(drawn)) == pytest.approx(drawn, rel=1e-12, abs=1e-12)
    for name, value in (("damping", 0.09), ("damping", 1.01), ("period", math.log(0.4)), ("period", math.log(151.0))):
        changed = drawn[:1].copy()
        changed[:, prior.place(name)] = value
        assert prior.log_density(changed)[0] == -np.inf
