"""Signals: declared forms, recorded data with its errors, forming filters, and their compiled values."""

import math

import numpy as np
import pytest

import plants
from plants import Plant, Quantity
from plants.excitation import (
    PRBS,
    Bump,
    BumpRate,
    Chirp,
    Constant,
    ExponentialFilter,
    GammaFilter,
    GaussianFilter,
    NonlinearFilter,
    PeakFilter,
    Ramp,
    RayleighFilter,
    Recorded,
    Road,
    Signal,
    Sine,
    Step,
    TabulatedFilter,
    UniformFilter,
    UniformPeakFilter,
    WheelRoad,
    WheelRoadRate,
    WhiteNoise,
    as_signal,
    multisine,
)
from plants.excitation.identification import _TAPS
from tests.reference.closed_loop_twin import uncompiled
from tests.reference.self_test.streams import Streams

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
MORE = {
    "mean": Recorded((0.0, 0.01, 0.02, 2.0), (0.0, 1.0, -1.0, 3.0), "mean"),
    "rayleigh": RayleighFilter(1.5, 0.4),
    "tabulated": TabulatedFilter((-1.0, 0.0, 3.0), (0.2, 1.0, 0.0), 0.8),
    "exponential": ExponentialFilter(2.0, 1.0),
    "gamma": GammaFilter(2.0, 1.0),
    "peak": PeakFilter(2.0, 0.5, 0.1),
    "uniform_peak": UniformPeakFilter(2.0, 0.5, 0.1),
    "nonlinear": NonlinearFilter(c0=0.2),
    "road": Road("C", 20.0),
    "wheel": WheelRoad("C", 20.0, right=True),
    "wheel_rate": WheelRoadRate("C", 20.0, rear=True),
    "bump": Bump(0.1, 5.0, 2.0, 10.0),
    "bump_rate": BumpRate(0.1, 5.0, 2.0, 10.0),
    "prbs": PRBS(0.5, hold=0.1, order=7),
    "chirp": Chirp(0.5, 0.1, 2.0, 30.0),
    "fast_chirp": Chirp(0.5, 0.1, 2.0, 30.0, "exponential"),
    "multisine": multisine(0.7, 0.1, 0.4, 4),
}
ALL = SIGNALS | MORE
RANDOM = [name for name, part in ALL.items() if getattr(part, "random", False) and not isinstance(part, Recorded)]


def probe_derivative(t, x, u, w, p):
    return tuple(w)


def probe(signals):
    return Plant(
        name="signal_probe",
        states=tuple(Quantity(f"integral_{name}", "1") for name in signals),
        disturbances=tuple(Quantity(name, "1") for name in signals),
        derivative=probe_derivative,
    )


PROBE = probe(SIGNALS)


@pytest.fixture(scope="module")
def run():
    """All kinds of signals in one compiled run: each is a disturbance, and a state is its integral."""
    return plants.simulate(PROBE, T_END, STEP, disturbances=SIGNALS, seed=7, name="probe")


@pytest.fixture(scope="module")
def more():
    """The kinds with more rows, sub-steps or formulas, in the printed kernel as plain Python: nothing is compiled."""
    with uncompiled():
        return plants.simulate(probe(MORE), T_END, STEP, disturbances=MORE, integrator="euler", seed=7, name="probe")


@pytest.mark.slow
def test_the_compiled_kernel_of_all_kinds_gives_what_its_text_says(run, more):
    both = plants.simulate(probe(ALL), T_END, STEP, disturbances=ALL, integrator="euler", seed=7, name="probe")
    for name in ALL:
        expected = (run if name in SIGNALS else more)[name]
        np.testing.assert_allclose(both[name], expected, rtol=1e-9, atol=1e-10, err_msg=name)


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


@pytest.mark.parametrize("channel", RANDOM)
def test_many_streams_at_once_are_those_of_the_kernel(run, more, channel):
    """What the self-test checks is what a simulation gets: states of several numbers, sub-steps, several units."""
    part, found = ALL[channel], run if channel in SIGNALS else more
    name = f"w_{channel}_{type(part).__name__.lower()}0"
    streams = Streams(part, STEP, [("probe", 7, name), ("probe", 8, name)])
    values = np.repeat(streams.values(-(-len(run.time) // streams.every)), streams.every, axis=0)[: len(run.time)]
    # Rounding of 800 recursive steps, with the kernel's own sine and cosine (2 ulp), times the slopes of the filters.
    np.testing.assert_allclose(found[channel], values[:, 0], rtol=1e-9, atol=1e-10)
    assert np.any(values[:, 1] != values[:, 0])


def test_a_part_that_a_situation_does_not_have_leaves_its_bits():
    """A kernel with all kinds, of which another situation has none: neutral numbers give exactly 0, not NaN."""
    for channel in RANDOM:
        part = ALL[channel]
        zeros = (0.0,) * part.n_settings
        state = (0.0,) * part.n_states if part.n_states > 1 else 0.0
        unit = (1.7,) * part.n_units if part.n_units > 1 else 1.7
        moved = part.advance(state, unit, zeros)
        if part.n_settings > 1 or part.n_states > 1:
            assert np.all(np.array(moved) == 0.0), channel
        assert part.value(0.0, zeros, moved) == 0.0, channel


def test_chirps_run_from_their_first_to_their_last_frequency(more):
    t = more.time
    linear = 2.0 * np.pi * (0.1 * t + 0.5 * 1.9 / 30.0 * np.minimum(t, 30.0) ** 2)
    linear += np.where(t > 30.0, 2.0 * np.pi * 1.9 * (t - 30.0), 0.0)
    np.testing.assert_allclose(more["chirp"], 0.5 * np.sin(linear), atol=1e-12)
    ratio = math.log(20.0)
    grown = 2.0 * np.pi * 0.1 * 30.0 / ratio * np.expm1(ratio * np.minimum(t, 30.0) / 30.0)
    grown += np.where(t > 30.0, 2.0 * np.pi * 2.0 * (t - 30.0), 0.0)
    np.testing.assert_allclose(more["fast_chirp"], 0.5 * np.sin(grown), atol=1e-11)


def test_a_prbs_is_balanced_and_white_over_its_period(more):
    period, held = 127, more["prbs"][::2]
    np.testing.assert_array_equal(more["prbs"][1::2], held[: len(more["prbs"][1::2])])
    one = held[:period] / 0.5
    np.testing.assert_array_equal(held[period : 2 * period], held[:period])
    assert set(one) == {-1.0, 1.0}
    assert abs(one.sum()) == 1.0
    for lag in range(1, period):
        assert one @ np.roll(one, lag) == -1.0


@pytest.mark.parametrize("order", [3, 4, 5, 6, 7, 9, 10, 11])
def test_every_register_runs_through_its_full_period(order):
    values = Streams(PRBS(1.0, 0.1, order), 0.1, [("a", 3, "b")]).values(2 * (2**order - 1))[:, 0]
    half = 2**order - 1
    np.testing.assert_array_equal(values[:half], values[half:])
    spectrum = np.abs(np.fft.fft(values[:half])) ** 2  # a shorter period would leave lines out
    np.testing.assert_allclose(spectrum[1:], half + 1.0, rtol=1e-6)


def times(a, b, polynomial, order):
    """Product of two polynomials over two elements modulo a third; bit k is the coefficient of x^k."""
    product = 0
    for k in range(order):
        product ^= (a << k) * (b >> k & 1)
    for k in range(2 * order - 2, order - 1, -1):
        product ^= (polynomial << (k - order)) * (product >> k & 1)
    return product


def power_of_x(exponent, polynomial, order):
    result, factor = 1, 2
    while exponent:
        result = times(result, factor, polynomial, order) if exponent & 1 else result
        factor, exponent = times(factor, factor, polynomial, order), exponent >> 1
    return result


@pytest.mark.parametrize(("order", "tap"), _TAPS.items())
def test_the_taps_are_of_primitive_trinomials(order, tap):
    """Also of registers too long to run through: x has the order 2^n - 1 and no divisor of it."""
    trinomial, period = 1 << order | 1 << tap | 1, 2**order - 1
    assert power_of_x(period, trinomial, order) == 1
    rest, primes = period, set()
    for prime in range(3, 1 << 16, 2):
        while rest % prime == 0:
            primes.add(prime)
            rest //= prime
    for prime in (primes | {rest}) - {1}:  # what has no divisor below 2^16 is prime: it is below 2^32
        assert power_of_x(period // prime, trinomial, order) != 1


def test_a_multisine_has_its_lines_and_a_low_peak(more):
    period = round(10.0 / STEP)
    x = more["multisine"][:period]
    lines = np.abs(np.fft.rfft(x)) / period
    np.testing.assert_allclose(lines[1:5], 0.5 * 0.7 * math.sqrt(0.5), atol=1e-12)
    np.testing.assert_allclose(np.delete(lines, range(1, 5)), 0.0, atol=1e-12)
    assert x.std() == pytest.approx(0.7, rel=1e-9)
    t = np.linspace(0.0, 10.0, 4000)
    many, chance = (multisine(1.0, 0.1, 2.0, 20, seed=seed) for seed in (None, 5))
    peaks = [np.abs([signal.at(s) for s in t]).max() for signal in (many, chance)]
    # Schroeder's phases give 1.91; equal ones would give sqrt(2 * 20) = 6.3.
    assert peaks[0] < 2.0
    assert peaks[1] > 2.1


def test_means_over_steps_keep_the_integral_of_a_fine_series(more):
    time, values = MORE["mean"].time, MORE["mean"].values
    fine = np.linspace(0.0, STEP, 50_001)
    assert more["mean"][0] == pytest.approx(np.trapezoid(np.interp(fine, time, values), fine) / STEP, abs=1e-6)
    total = np.trapezoid(values, time)
    assert more["integral_mean"][round(2.0 / STEP)] == pytest.approx(total, abs=1e-9)
    assert more["mean"][-1] == 3.0


def test_the_same_seed_and_name_give_the_same_signals_and_others_do_not(run):
    again = plants.simulate(PROBE, 1.0, STEP, disturbances=SIGNALS, seed=7, name="probe")
    np.testing.assert_array_equal(again.signals, run.signals[: len(again.time)])
    other = plants.simulate(PROBE, 1.0, STEP, disturbances=SIGNALS, seed=8, name="probe")
    assert not np.any(other["gaussian_filter"] == again["gaussian_filter"])


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
        (lambda: Recorded((0.0,), (1.0,), "cubic"), "interpolation is 'hold', 'linear' or 'mean', got 'cubic'"),
        (lambda: Recorded((0.0,), (1.0,), gain=math.nan), "Recorded: gain must be a finite number, got nan"),
        (lambda: Chirp(1.0, 0.0, 2.0, 1.0), "Chirp: start_frequency must be positive"),
        (lambda: Chirp(1.0, 1.0, 2.0, 1.0, "log"), "sweep is 'linear' or 'exponential', got 'log'"),
        (lambda: PRBS(1.0, 0.1, 8), "PRBS: order must be one of 3, 4, 5, 6, 7, 9, 10, .*, got 8"),
        (lambda: multisine(1.0, 2.0, 1.0, 5), "needs low < high and 2 to 40 sines, got 2.0 and 1.0 Hz, 5 sines"),
        (lambda: RayleighFilter(0.0, 1.0), "RayleighFilter: scale must be positive"),
        (lambda: GammaFilter(1.0, -1.0), "GammaFilter: bandwidth must be positive"),
        (lambda: PeakFilter(1.0, 1.0, 0.0), "PeakFilter: damping must be positive"),
        (lambda: NonlinearFilter(c0=0.0), "NonlinearFilter: c0 must be positive"),
        (lambda: NonlinearFilter(c3=-0.1), "c1, c2 and c3 must not be negative"),
        (lambda: Road("F", 20.0), "road_class is one of A, B, C, D, E, got 'F'"),
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
