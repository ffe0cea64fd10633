"""The extended Kalman filter: against the closed form where the plant is linear, and against plain NumPy where it is not."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants.identification.extended_filter import ExtendedFilter
from plants.identification.grey_box import GreyBox
from plants.identification.record import LoopRecord
from plants.identification.slow_filter import SKIPPED, VAGUE, bent, filtered
from plants.identification.two_lags import TWO_LAGS
from tests.plants.identification.reference_logs import R2

TANKS = plants.get("two_tanks")
HOLES = ("upper hole", "lower hole")


def linear():
    """R2's loop about its rest, with a gap, and its plant with a step of the integrator far below its lags."""
    _, y, u = R2.run()
    record = LoopRecord(y, u, 1.0)
    output = np.where(np.arange(len(y)) // 20 == 5, np.nan, y - record.origin[0])
    nominal = {"slope": 0.02, "decay": 0.0, "lag": 3.0, "L": 4.0, "curve": 0.0}
    parameters = tuple(replace(q, nominal=nominal[q.name]) for q in plants.get("two_lags").parameters)
    plant = replace(plants.get("two_lags"), parameters=parameters, step=0.05)
    return GreyBox(plant, ("slope", "lag"), 1.0), LoopRecord(output, u - record.origin[1], 1.0)


def start_of(record, parameters):
    """What the closed form knows before the first row."""
    begun = TWO_LAGS.start(np.atleast_2d(parameters), (100.0, 100.0))
    covariance = np.diag([begun.variance[0], 4.0 * parameters[4] ** 2 + 1.0, VAGUE, 0.0])
    covariance[0, 2] = covariance[2, 0] = begun.shared[0]
    return np.array([record.input[0], record.output[0], 0.0, 0.0]), covariance


@pytest.mark.parametrize(
    "given",
    [
        (0.02, 3.0, 4.0, 0.1, 0.1, 0.05, 5.0),
        (0.025, 2.0, 3.3, 0.12, 0.1, 0.03, 4.0),
        (0.015, 4.0, 0.4, 0.2, 0.2, 0.1, 9.0),
    ],
)
def test_of_a_linear_plant_it_is_the_closed_form(given):
    box, record = linear()
    slope, lag, *rest = given
    parameters = np.array([slope, 0.0, lag, *rest, 0.0])
    expected, start = filtered(TWO_LAGS, record, parameters), start_of(record, parameters)
    found = ExtendedFilter(box)
    (value,) = found.log_likelihoods([record], np.array(given), starts=[start])
    assert value == pytest.approx(expected.log_likelihood, rel=1e-9)
    seen = found.seen(record, np.array(given), start)
    # A row's own errors are those of the integrator: (0.05 / lag)^5 a step, of moves of some units.
    assert seen.innovation == pytest.approx(expected.innovation, abs=1e-8, nan_ok=True)
    assert seen.variance == pytest.approx(expected.variance, rel=1e-9, nan_ok=True)


def test_a_lane_does_not_depend_on_its_neighbours():
    box, record = linear()
    rng = np.random.default_rng(1)
    several = np.array([0.02, 3.0, 4.0, 0.1, 0.1, 0.05, 5.0]) * np.exp(0.3 * rng.standard_normal((40, 7)))
    starts = [start_of(record, np.array([0.02, 0.0, 3.0, 4.0, 0.1, 0.1, 0.05, 5.0, 0.0]))]
    together = ExtendedFilter(box).log_likelihoods([record], several, threads=2, starts=starts)
    alone = ExtendedFilter(box, lanes=1).log_likelihoods([record], several, threads=1, starts=starts)
    assert (together == alone).all()
    assert np.unique(together).size == 40


def tanks(loaded=""):
    """A log of two tanks whose voltage steps, and a filter that fits both holes."""
    rng = np.random.default_rng(3)
    voltage = np.repeat([0.0, 1.5, -2.0, 0.5], 30)
    levels = np.cumsum(0.001 * voltage) + 0.15 + 5e-4 * rng.standard_normal(len(voltage))
    box = GreyBox(TANKS, HOLES, 1.0, loaded=loaded)
    return box, LoopRecord(levels, voltage, 1.0), np.array([2.0e-5, 1.6e-5, 1.3, 5e-4, 0.1, 0.05, 4.0])


def slowly(box, record, parameters, start):
    """The filter in plain NumPy, with slopes by central differences."""
    n_x, n = len(box.plant.states), box.unknowns
    p = box.values(parameters[None])[0]
    late, noise, load, walk, load_time = parameters[len(box.fitted) :]
    fading, rows = np.exp(-box.step / load_time), int(late / box.step)
    part = late / box.step - rows
    mean, covariance = start[0].copy(), start[1].copy()
    covariance[-1, -1] = load**2

    def moved(z, before, after):
        x = z[:n_x]
        for command, share in ((before, part), (after, 1.0 - part)):
            for _ in range(box.parts):
                x = np.array(box.moved(0.0, x, command, z[n_x], p, share * box.step / box.parts))
        return x

    def slopes(function, z):
        steps = 1e-6 * np.maximum(np.abs(z), 1e-2)
        return np.array([(function(z + e) - function(z - e)) / (2.0 * e.sum()) for e in np.diag(steps)]).T

    total = 0.0
    for k in range(len(record)):
        at = [record.input[max(k - rows - late_by, 0)] for late_by in (1, 0)]
        if record.measured[k]:
            row = np.zeros(n)
            reduced = np.append(mean[:n_x], mean[-2] + mean[-1])
            out = slopes(lambda z, u=at[0]: np.array([box.measured(0.0, z[:n_x], u, z[n_x], p)]), reduced)[0]
            row[:n_x], row[n_x:] = out[:n_x], out[n_x]
            expected = box.measured(0.0, mean[:n_x], at[0], mean[-2] + mean[-1], p)
            variance, innovation = row @ covariance @ row + noise**2, record.output[k] - expected
            gain = covariance @ row / variance
            mean, covariance = mean + gain * innovation, covariance - np.outer(gain, row @ covariance)
            if k >= SKIPPED:
                total -= 0.5 * float(np.log(variance) + bent(innovation**2 / variance))
        reduced = np.append(mean[:n_x], mean[-2] + mean[-1])
        inner = slopes(lambda z, at=at: moved(z, *at), reduced)
        forward = np.eye(n)
        forward[:n_x, :n_x], forward[:n_x, n_x:], forward[-1, -1] = inner[:, :n_x], inner[:, [n_x]], fading
        mean = np.array([*moved(reduced, *at), mean[-2], fading * mean[-1]])
        covariance = forward @ covariance @ forward.T
        covariance[-2, -2] += walk**2 * box.step
        covariance[-1, -1] += load**2 * (1.0 - fading**2)
    return total


@pytest.mark.parametrize("loaded", ["", "inflow"])
def test_of_a_nonlinear_plant_it_is_a_slow_filter_with_differences(loaded):
    box, record, parameters = tanks(loaded)
    parameters[4:6] *= box.load_scale
    (found,) = ExtendedFilter(box).log_likelihoods([record], parameters)
    # Central differences lose half the digits of the slopes, to which the likelihood is flat.
    assert found == pytest.approx(slowly(box, record, parameters, box.start(record)), rel=1e-5)


def test_loads_on_a_disturbance_count_as_much_as_those_on_the_command():
    box = tanks("inflow")[0]
    assert box.load_scale == pytest.approx(TANKS.nominal()[3], rel=1e-9)  # a volt is that much flow
    assert tanks()[0].load_scale == 1.0


def test_several_records_add():
    box, record, parameters = tanks()
    found = ExtendedFilter(box)
    one = found.log_likelihoods([record], parameters)
    assert found.log_likelihoods([record, record], parameters) == pytest.approx(2.0 * one)


def test_a_filter_that_runs_away_has_no_likelihood():
    box, record, parameters = tanks()
    parameters[0] = 1e3
    assert ExtendedFilter(box).log_likelihoods([record], parameters).tolist() == [-np.inf]


@pytest.mark.parametrize(
    ("plant", "fitted", "loaded", "message"),
    [
        ("two_tanks", (), "", "say which parameters the log is to tell: area"),
        ("two_tanks", ("hole",), "", "no parameter 'hole'"),
        ("two_tanks", ("area", "area"), "", "named twice"),
        ("two_tanks", ("area",), "rain", "no disturbance 'rain'"),
        ("two_lags", ("L",), "", "is the dead time"),
        ("unicycle", ("gravity",), "", "a log is of one loop"),
    ],
)
def test_what_no_filter_can_be_made_of_is_refused(plant, fitted, loaded, message):
    with pytest.raises(ValueError, match=message):
        GreyBox(plants.get(plant), fitted, 1.0, loaded=loaded)


def test_only_positive_parameters_are_fitted():
    lags = plants.get("two_lags")
    parameters = tuple(replace(q, nominal=0.0) if q.name == "decay" else q for q in lags.parameters)
    with pytest.raises(ValueError, match="only positive parameters are fitted, as logarithms; decay is 0"):
        GreyBox(replace(lags, parameters=parameters), ("decay",), 1.0)


def test_wrong_rows_and_columns_are_refused():
    box, record, parameters = tanks()
    found = ExtendedFilter(box)
    with pytest.raises(ValueError, match=r"7 columns \(upper hole, lower hole, dead_time"):
        found.log_likelihoods([record], parameters[:3])
    with pytest.raises(ValueError, match="1 s apart"):
        found.log_likelihoods([LoopRecord(record.output, record.input, 2.0)], parameters)
