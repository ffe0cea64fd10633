"""Frequency weightings against the standard's table, and the sampled filters against them and against scipy."""

import numpy as np
import pytest
from scipy import signal

from plants.ride import WD, WE, WEIGHTINGS, WK, vibration_dose, vibration_total, weighted_rms
from plants.ride.weightings import LONGEST_STEP, sampled

# ISO 2631-1:1997, table 3: factors x 1000 at the nominal frequencies of one-third octaves.
FREQUENCIES = np.array([
    0.1, 0.125, 0.16, 0.2, 0.25, 0.315, 0.4, 0.5, 0.63, 0.8, 1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0, 10.0, 12.5,
    16.0, 20.0, 25.0, 31.5, 40.0, 50.0, 63.0, 80.0, 100.0, 125.0, 160.0, 200.0, 250.0, 315.0, 400.0,
])  # fmt: skip
TABLE = {
    "Wk": (31.2, 48.6, 79.0, 121, 182, 263, 352, 418, 459, 477, 482, 484, 494, 531, 631, 804, 967, 1039, 1054, 1036, 988,
           902, 768, 636, 513, 405, 314, 246, 186, 132, 88.7, 54.0, 28.5, 15.2, 7.90, 3.98, 1.95),
    "Wd": (62.4, 97.3, 158, 243, 365, 530, 713, 853, 944, 992, 1011, 1008, 968, 890, 776, 642, 512, 409, 323, 253, 202, 161,
           125, 100, 80.0, 63.2, 49.4, 38.8, 29.5, 21.1, 14.1, 8.63, 4.55, 2.43, 1.26, 0.64, 0.31),
}  # fmt: skip
IN_BAND = FREQUENCIES <= 80.0
ERROR = {1e-3: 1e-4, 2e-3: 1.5e-3, 5e-3: 4.2e-2}
"""What the module's text states, by step [s]."""


def magnitude(weighting, frequency, step):
    """Of the sampled sections."""
    z, result = np.exp(-2j * np.pi * frequency * step), 1.0
    for b0, b1, b2, a1, a2 in sampled(weighting, step):
        result = result * (b0 + b1 * z + b2 * z * z) / (1.0 + a1 * z + a2 * z * z)
    return np.abs(result)


@pytest.mark.parametrize("name", TABLE)
def test_the_formulas_give_the_standards_table(name):
    """To the table's rounding: half a unit of the third digit (of 31.2: 0.2 %), and of the last printed one."""
    found = 1e3 * np.abs(WEIGHTINGS[name].response(FREQUENCIES))
    expected = np.array(TABLE[name])
    digit = np.where(expected < 1.0, 0.01, np.where(expected < 10.0, 0.01, np.where(expected < 100.0, 0.1, 1.0)))
    assert (np.abs(found - expected) <= np.maximum(0.52 * digit, 0.002 * expected)).all()


def test_that_of_rotations_is_the_horizontal_one_an_octave_lower():
    """We turns at 1 Hz where Wd turns at 2 Hz (table A.1); the band limits are the same."""
    f = FREQUENCIES[:-1]

    def band(frequency):
        s = 2j * np.pi * frequency
        return np.prod([np.abs(np.polyval(b[::-1], s) / np.polyval(a[::-1], s)) for b, a in WD.band], axis=0)

    expected = np.abs(WD.response(2.0 * f)) / band(2.0 * f) * band(f)
    np.testing.assert_allclose(np.abs(WE.response(f)), expected, rtol=1e-12)


@pytest.mark.parametrize("step", ERROR)
@pytest.mark.parametrize("name", WEIGHTINGS)
def test_sampled_magnitudes_are_the_standards_up_to_80_hz(name, step):
    exact = np.abs(WEIGHTINGS[name].response(FREQUENCIES[IN_BAND]))
    error = np.abs(magnitude(WEIGHTINGS[name], FREQUENCIES[IN_BAND], step) / exact - 1.0)
    assert error.max() < ERROR[step]


@pytest.mark.parametrize("step", [0.01, 0.02, LONGEST_STEP])
@pytest.mark.parametrize("name", WEIGHTINGS)
def test_at_long_steps_what_there_is_of_the_band_is_right(name, step):
    f = np.geomspace(0.1, 0.4 / step, 100)
    np.testing.assert_allclose(magnitude(WEIGHTINGS[name], f, step), np.abs(WEIGHTINGS[name].response(f)), rtol=0.042)


@pytest.mark.parametrize("step", [1e-5, 1e-3, LONGEST_STEP])
@pytest.mark.parametrize("name", WEIGHTINGS)
def test_sections_are_stable_and_without_delay(name, step):
    """Zeros within the unit circle too (on it: the high-pass's at 0): no section is later than it need be."""
    for b0, b1, b2, a1, a2 in sampled(WEIGHTINGS[name], step):
        assert np.abs(np.roots([1.0, a1, a2])).max() < 1.0
        assert np.abs(np.roots([b0, b1, b2])).max() < 1.0 + 1e-6


def by_hand(measure, a, step):
    m = measure.initial
    for k, value in enumerate(a.tolist()):
        m = measure.updated(k * step, (value,), (), (), (), m, step)
    return measure.value(m, len(a) * step)


def acceleration(t, x, u, w, p):
    return x[0]


@pytest.mark.parametrize("name", WEIGHTINGS)
def test_a_random_signal_is_filtered_as_scipy_does(name):
    """Sections as scipy's `sosfilt`; both are direct form II, so only sums round otherwise."""
    step, a = 1e-3, np.random.default_rng(3).standard_normal(4000)
    sections = [(b0, b1, b2, 1.0, a1, a2) for b0, b1, b2, a1, a2 in sampled(WEIGHTINGS[name], step)]
    felt = signal.sosfilt(np.array(sections), a)
    found = by_hand(weighted_rms("a", acceleration, name), a, step)
    assert found == pytest.approx(np.sqrt(np.mean(felt**2)), rel=1e-10)
    dose = by_hand(vibration_dose("a", acceleration, WEIGHTINGS[name]), a, step)
    assert dose == pytest.approx((step * np.sum(felt**4)) ** 0.25, rel=1e-10)


def test_a_total_is_the_root_of_the_sum_of_squares():
    """Heave and pitch, with the standard's 0.4 m for pitch; each as it would be alone."""
    a = np.random.default_rng(4).standard_normal(2000)

    def pitch(t, x, u, w, p):
        return 3.0 * x[0] + 0.1

    total = by_hand(vibration_total("a", [(acceleration, "Wk", 1.0), (pitch, WE, 0.4)]), a, 1e-3)
    heave, turn = (by_hand(weighted_rms("a", *one), a, 1e-3) for one in ((acceleration, "Wk"), (pitch, "We")))
    assert total == pytest.approx(np.hypot(heave, 0.4 * turn), rel=1e-12)


def test_unknown_weightings_and_too_long_steps_are_refused():
    with pytest.raises(ValueError, match="no weighting 'wk' .known: Wk, Wd, We"):
        weighted_rms("a", acceleration, "wk")
    with pytest.raises(ValueError, match=r"at most 0\.05 s"):
        sampled(WK, 0.06)
    with pytest.raises(ValueError, match=r"at most 0\.05 s"):
        sampled(WK, 0.0)
