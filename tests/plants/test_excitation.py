"""Signals: declared forms, recorded data with its errors, forming filters, and their compiled values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import plants
from plants import Plant, Quantity
from plants.core import noise
from plants.excitation import (
    Constant,
    GaussianFilter,
    Ramp,
    Recorded,
    Signal,
    Sine,
    Step,
    UniformFilter,
    WhiteNoise,
    as_signal,
)

STEP, T_END = 0.05, 40.0
SIGNALS = {
    "step": Step(1.5, at=0.7),
    "sine": Sine(0.5, 0.3, 0.2),
    "ramp": Ramp(2.0, 1.0, 1.25),
    "sum": 1.0 + Step(-1.0, at=2.0) + Ramp(0.5, 0.0, 8.0) + Step(3.0, at=4.0),
    "gaussian_noise": WhiteNoise(0.25, hold=0.2),
    "gaussian_filter": GaussianFilter(2.0, 0.8),
    "uniform_filter": UniformFilter(1.2, 1.0),
    "held": Recorded.held((1.0, -2.0, 0.5), 0.5, gain=2.0),
    "linear": Recorded((0.0, 1.0, 3.0), (0.0, 4.0, -4.0), "linear"),
    "late": Recorded((1.0, 1.7), (3.0, 5.0)),
}


def probe_derivative(t, x, u, w, p):
    return tuple(w)


PROBE = Plant(
    name="signal_probe",
    states=tuple(Quantity(f"integral_{name}", "1") for name in SIGNALS),
    disturbances=tuple(Quantity(name, "1") for name in SIGNALS),
    derivative=probe_derivative,
)


@pytest.fixture(scope="module")
def run():
    """All kinds of signals in one compiled run: each is a disturbance, and a state is its integral."""
    return plants.simulate(PROBE, T_END, STEP, disturbances=SIGNALS, seed=7, name="probe")


def test_declared_signals_have_their_values(run):
    t = run.time
    np.testing.assert_array_equal(run["step"], np.where(t > 0.7 - 1e-6, 1.5, 0.0))
    np.testing.assert_allclose(run["sine"], 0.5 * np.sin(2.0 * np.pi * 0.3 * t + 0.2), atol=1e-15)
    np.testing.assert_allclose(run["ramp"], 2.0 * np.clip(t - 1.0, 0.0, 0.25), atol=1e-15)
    total = 1.0 - (t > 2.0 - 1e-6) + 0.5 * np.minimum(t, 8.0) + 3.0 * (t > 4.0 - 1e-6)
    np.testing.assert_allclose(run["sum"], total, atol=1e-15)


def test_signals_are_smooth_or_held_within_a_step(run):
    t = run.time
    sine = 0.5 / (2.0 * np.pi * 0.3) * (np.cos(0.2) - np.cos(2.0 * np.pi * 0.3 * t + 0.2))
    # rk4 integrates a smooth signal by Simpson's rule, whose error is t h^4 / 2880 times its 4th derivative: 1e-9.
    np.testing.assert_allclose(run["integral_sine"], sine, atol=2e-9)
    # A jump at a multiple of the step is integrated exactly, as nothing is evaluated inside a step.
    np.testing.assert_allclose(run["integral_step"], 1.5 * np.maximum(t - 0.7, 0.0), atol=1e-12)
    held = np.concatenate([[0.0], np.cumsum(STEP * run["gaussian_noise"][:-1])])
    np.testing.assert_allclose(run["integral_gaussian_noise"], held, atol=1e-12)


def test_recorded_series_are_held_or_interpolated_and_end_with_their_last_value(run):
    t = run.time
    held = 2.0 * np.array([1.0, -2.0, 0.5])[np.minimum((t / 0.5 + 1e-6).astype(int), 2)]
    np.testing.assert_array_equal(run["held"], held)
    np.testing.assert_allclose(run["linear"], np.interp(t, (0.0, 1.0, 3.0), (0.0, 4.0, -4.0)), atol=1e-12)
    np.testing.assert_array_equal(run["late"], np.where(t > 1.7 - 1e-6, 5.0, 3.0))


def units(channel, code, count):
    return noise.samples(code, count, noise.stream_key("probe", 7, f"w_{channel}"))


def test_white_noise_is_the_counter_based_stream_held(run):
    samples = np.repeat(0.5 * units("gaussian_noise_whitenoise0", noise.GAUSSIAN, 201), 4)[: len(run.time)]
    np.testing.assert_allclose(run["gaussian_noise"], samples, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("channel", "kind"), [("gaussian_filter", "gaussianfilter0"), ("uniform_filter", "uniformfilter0")]
)
def test_forming_filters_are_their_python_twins(run, channel, kind):
    part = SIGNALS[channel]
    settings, substeps = part.settings(STEP), part.feed(STEP).substeps
    count = len(run.time)
    drawn = units(f"{channel}_{kind}", noise.GAUSSIAN, count * substeps)
    start = f"{channel}_{kind}/start"
    state = part.start(units(start, noise.GAUSSIAN, 1)[0], units(start, noise.UNIFORM, 1)[0])
    twin = []
    for k in range(count):
        for sub in range(substeps):
            state = part.advance(state, drawn[k * substeps + sub], settings)
        twin.append(state)
    assert substeps == {"gaussian_filter": 1, "uniform_filter": 3}[channel]
    np.testing.assert_allclose(run[channel], twin, rtol=1e-11, atol=1e-12)  # rounding of 800 recursive steps


def test_the_same_seed_and_name_give_the_same_signals_and_others_do_not(run):
    again = plants.simulate(PROBE, 1.0, STEP, disturbances=SIGNALS, seed=7, name="probe")
    np.testing.assert_array_equal(again.signals, run.signals[: len(again.time)])
    other = plants.simulate(PROBE, 1.0, STEP, disturbances=SIGNALS, seed=8, name="probe")
    assert not np.any(other["gaussian_filter"] == again["gaussian_filter"])


def stationary(part, chains, step, times):
    """States [len(times), chains] of independent filters that start as the signal does; from NumPy's own generator."""
    rng = np.random.default_rng(4)
    state = part.start(rng.standard_normal(chains), math.sqrt(12.0) * (rng.uniform(size=chains) - 0.5))
    settings, found, now = part.settings(step), [], 0.0
    for time in times:
        while now < time - 1e-9:
            for _ in range(part.feed(step).substeps):
                state = part.advance(state, rng.standard_normal(chains), settings)
            now += step
        found.append(np.array(state))
    return np.array(found)


# Bounds of 5 standard errors of independent chains: on fresh seeds each fails once in two million.
def test_the_gaussian_filter_is_stationary_with_its_variance_and_correlation():
    variance, rate, chains = 2.0, 0.5, 1_000_000
    x = stationary(GaussianFilter(variance, rate), chains, 0.5, (0.0, 2.0, 4.0))
    for state in x:
        assert abs(state.mean()) < 5.0 * math.sqrt(variance / chains)
        assert abs(state.var() / variance - 1.0) < 5.0 * math.sqrt(2.0 / chains)
        assert stats.kstest(state, stats.norm(scale=math.sqrt(variance)).cdf).pvalue > 5e-7
    for k, lag in ((1, 2.0), (2, 4.0)):
        correlation = np.corrcoef(x[0], x[k])[0, 1]
        expected = math.exp(-rate * lag)
        assert abs(correlation - expected) < 5.0 * (1.0 - expected**2) / math.sqrt(chains)


def test_the_uniform_filter_is_stationary_with_its_density_and_correlation():
    width, rate, chains = 1.5, 1.0, 100_000
    x = stationary(UniformFilter(width, rate), chains, 0.1, (0.0, 1.0, 3.0))
    for state in x:
        assert np.abs(state).max() <= width
        assert abs(state.mean()) < 5.0 * width / math.sqrt(3.0 * chains)
        # Euler-Maruyama with sub-steps of 0.02 / a, reflected: its own bias of the variance is below 1 %; the standard
        # error of a uniform variance is sqrt(0.8 / n) of it.
        assert abs(state.var() * 3.0 / width**2 - 1.0) < 0.01 + 5.0 * math.sqrt(0.8 / chains)
        assert stats.kstest(state, stats.uniform(-width, 2.0 * width).cdf).statistic < 0.01  # as the method asks
    for k, lag in ((1, 1.0), (2, 3.0)):
        correlation = np.corrcoef(x[0], x[k])[0, 1]
        # Within 0.02 of exp(-a lag), as the method asks; the standard error is 0.003.
        assert abs(correlation - math.exp(-rate * lag)) < 0.02


def test_signals_add_up():
    signal = 1.0 + Step(2.0, at=1.0) + Sine(0.5, 0.25)
    assert isinstance(signal, Signal)
    assert {type(part) for part in signal.parts} == {Constant, Step, Sine}
    assert signal.at(0.5) == pytest.approx(1.0 + 0.5 * math.sin(math.pi / 4.0))
    assert signal.at(3.0) == pytest.approx(3.0 + 0.5 * math.sin(1.5 * math.pi))
    assert (Step(1.0, at=3.0) + Step(1.0, at=2.0)).last_jump() == 3.0
    assert as_signal(np.int64(3)).at(0.0) == 3.0
    assert as_signal(None).parts == as_signal(0.0).parts == ()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Step(math.nan), "Step: height must be a finite number, got nan"),
        (lambda: Sine(1.0, 0.0), r"Sine: frequency must be positive, got 0\.0"),
        (lambda: WhiteNoise(-1.0), "variance must not be negative"),
        (lambda: WhiteNoise(1.0, density="gausian"), "density is 'gaussian' or 'uniform', got 'gausian'"),
        (lambda: GaussianFilter(0.0, 1.0), "variance must be positive"),
        (lambda: UniformFilter(1.0, -1.0), "bandwidth must be positive"),
        (lambda: Recorded((0.0, 1.0), (1.0,)), "as many times as values, at least one; got 2 and 1"),
        (lambda: Recorded((0.0, 0.0), (1.0, 2.0)), "must increase strictly"),
        (lambda: Recorded((0.0, 1.0), (1.0, math.nan)), "row 1 has time 1.0 s, value nan"),
        (lambda: Recorded((0.0,), (1.0,), "cubic"), "interpolation is 'hold' or 'linear', got 'cubic'"),
        (lambda: Recorded((0.0,), (1.0,), gain=math.nan), "Recorded: gain must be a finite number, got nan"),
        (lambda: Ramp(1.0, 5.0, 3.0), r"stop_time must be after start_time, got 3\.0 s and 5\.0 s"),
        (lambda: as_signal("1.5"), "a signal is a finite number, a part such as .*; got '1.5'"),
        (lambda: as_signal(math.inf), "a signal is a finite number"),
    ],
)
def test_signals_that_are_none_are_refused(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_a_hold_time_that_does_not_fit_the_step_is_refused():
    signals = SIGNALS | {"gaussian_noise": WhiteNoise(1.0, hold=0.12)}
    with pytest.raises(ValueError, match=r"gaussian_noise.*hold time 0\.12 s must be a multiple of the step 0\.05 s"):
        plants.simulate(PROBE, 1.0, STEP, disturbances=signals)


def test_a_log_that_ends_before_the_start_stays_at_its_last_value():
    run = plants.simulate(PROBE, 1.0, STEP, disturbances=SIGNALS | {"late": Recorded((-5.0, -4.0), (1.0, 2.0))})
    assert (run["late"] == 2.0).all()


GOOD = "# measured on the rig\ntime, force ,level\n0.0,1.0,5\n\n0.5,2.0,6\n1.0,-1.0,7\n"


def written(path, text):
    file = path / "series.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_csv_columns_are_found_by_name_or_number(tmp_path):
    file = written(tmp_path, GOOD)
    by_name, by_number = Recorded.from_csv(file, "level"), Recorded.from_csv(file, 2, interpolation="linear")
    assert by_name.values == by_number.values == (5.0, 6.0, 7.0)
    assert by_name.time == (0.0, 0.5, 1.0)
    assert by_number.interpolation == "linear"
    assert Recorded.from_csv(written(tmp_path, "0,1\n1,2\n")).values == (1.0, 2.0)  # no header
    assert Recorded.from_csv(written(tmp_path, "\ufeff0,1\n1,2\n")).values == (1.0, 2.0)  # as spreadsheets write it
    assert Recorded.from_csv(written(tmp_path, ",force\n0,1\n1,2\n"), "force").values == (1.0, 2.0)


@pytest.mark.parametrize(
    ("text", "column", "told"),
    [
        (GOOD.replace("2.0,6", "nan,6"), "force", r"series\.csv, line 5: \['0\.5', 'nan', '6'\].*must be finite"),
        (GOOD.replace("1.0,-1.0", "inf,-1.0"), "force", r"series\.csv, line 6: .*must be finite"),
        (GOOD.replace("2.0,6", "two,6"), "force", r"series\.csv, line 5: .*expected numbers in columns 0 and 1"),
        (GOOD.replace("0.5,2.0,6", "0.5"), "force", r"series\.csv, line 5: .*expected numbers"),
        (GOOD, "forse", r"no column 'forse'; its header is \['time', 'force', 'level'\]"),
        ("0,1\n1,2\n", "force", "no column 'force'; its header is missing"),
        (",1\n1,2\n", 1, r"series\.csv, line 1: \['', '1'\], expected numbers"),
        ("time,force\n", "force", r"series\.csv holds no series"),
        (GOOD.replace("1.0,-1.0", "0.5,-1.0"), "force", r"series\.csv, line 6: .*the times must increase"),
    ],
)
def test_csv_errors_name_file_and_line(tmp_path, text, column, told):
    with pytest.raises(ValueError, match=told):
        Recorded.from_csv(written(tmp_path, text), column)
