"""The filters of logs: published reference values, the compiled one against the slow one, and its own sums."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from plants.identification.lane_filter import each_log_likelihood
from plants.identification.likelihood import log_likelihoods
from plants.identification.oscillating import OSCILLATING
from plants.identification.record import LoopRecord
from plants.identification.row import ExactStep, curved
from plants.identification.slow_filter import bent, filtered, smoothed
from plants.identification.two_lags import TWO_LAGS
from plants.identification.uneven_filter import most_pieces
from tests.plants.identification.reference_logs import INPUT, LOOPS

PARAMETERS = TWO_LAGS.parameters
CURVE = PARAMETERS.index("curve")
SUMS = {
    "R1": (31800.197958, 25470.211820, 54.478741, 42.567316),
    "R2": (31326.460041, 23394.587660, 55.548601, 40.972657),
    "R3": (30873.015245, 24603.577247, 54.043627, 43.271024),
}
LIKELIHOODS = {  # as it is; with a curve of 0.02; with rows 100 to 119 missing
    "R1": (626.836799, 626.150223, 602.728991),
    "R2": (1029.123912, 1017.181829, 993.611494),
    "R3": (727.050807, 721.705652, 702.948637),
}
SEEN = {  # variances in rows 10 and 599, innovations in rows 10 and 300
    "R1": (0.05713979, 0.04871200, 0.14265934, 0.26648668),
    "R2": (0.01661669, 0.01156312, -0.07995811, -0.07635449),
    "R3": (0.04085019, 0.02598635, -0.20705653, 0.11418747),
}


class AboutForty(LoopRecord):
    """A record whose input is counted from 40, as the reference values count it."""

    @property
    def origin(self):
        return super().origin[0], INPUT


@pytest.fixture(scope="module")
def logs():
    return {name: loop.run() for name, loop in LOOPS.items()}


def of(loop, **changes):
    values = {
        "slope": loop.slope, "decay": loop.decay, "lag": max(loop.lag, 0.3), "dead_time": loop.dead_time,
        "noise": loop.noise, "load": 0.1, "walk": 0.05, "load_time": 5.0, "curve": 0.0,
    }  # fmt: skip
    return np.array([(values | changes)[name] for name in PARAMETERS])


@pytest.mark.parametrize("name", LOOPS)
def test_the_logs_are_those_of_the_reference(logs, name):
    _, y, u = logs[name]
    assert (y.sum(), u.sum(), y[100], u[100]) == pytest.approx(SUMS[name], abs=6e-7)


@pytest.mark.parametrize("name", LOOPS)
def test_reference_values(logs, name):
    """Computed for the reference in another program, to the digits that it prints."""
    _, y, u = logs[name]
    gap = y.copy()
    gap[100:120] = np.nan
    cases = [(y, of(LOOPS[name])), (y, of(LOOPS[name], curve=0.02)), (gap, of(LOOPS[name]))]
    for (output, parameters), expected in zip(cases, LIKELIHOODS[name], strict=True):
        record = AboutForty(output, u, 1.0)
        assert filtered(TWO_LAGS, record, parameters).log_likelihood == pytest.approx(expected, abs=6e-7)
        assert log_likelihoods(TWO_LAGS, [record], parameters)[0] == pytest.approx(expected, abs=6e-7)
    found = filtered(TWO_LAGS, AboutForty(y, u, 1.0), of(LOOPS[name]))
    seen = (*found.variance[[10, 599]], *found.innovation[[10, 300]])
    assert seen == pytest.approx(SEEN[name], abs=6e-9)


def drawn(n, rng):
    """Parameters of all kinds: stable, integrating, unstable, late, fast, curved."""
    found = np.column_stack([
        np.exp(rng.uniform(-5.0, 0.0, n)), np.where(rng.random(n) < 0.2, 0.0, rng.uniform(-5e-4, 0.2, n)),
        np.exp(rng.uniform(-1.0, 4.0, n)), rng.uniform(0.0, 40.0, n), np.exp(rng.uniform(-4.0, 1.0, n)),
        np.exp(rng.uniform(-5.0, 1.0, n)), np.exp(rng.uniform(-6.0, 0.0, n)), np.exp(rng.uniform(-1.0, 4.0, n)),
        0.03 * rng.standard_normal(n),
    ])  # fmt: skip
    found[0, CURVE], found[1, PARAMETERS.index("dead_time")] = 0.0, 7.0
    found[2, PARAMETERS.index("lag")] = 1.0 / found[2, 1] if found[2, 1] > 0.0 else 3.0  # two equal lags
    return found


def oscillating(n, rng):
    gain, damping, period = (
        np.exp(rng.uniform(-2.0, 2.0, n)),
        rng.uniform(0.1, 1.0, n),
        np.exp(rng.uniform(-0.5, 4.0, n)),
    )
    return np.column_stack([gain, damping, period, drawn(n, rng)[:, 3:]])


def as_they_come(n, rng):
    """Times of rows: most of them about a second apart, some close behind each other, one a long time after the last."""
    apart = rng.uniform(0.3, 1.7, n)
    apart[10:14], apart[40] = 0.05, 12.0
    return np.cumsum(apart)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize(("structure", "draw"), [(TWO_LAGS, drawn), (OSCILLATING, oscillating)])
def test_lanes_are_the_slow_filter_and_one_lane(logs, structure, draw, uneven):
    """To 1e-9 of fifty parameter sets, gaps included; and to the bit, whatever stands in the other lanes."""
    rng = np.random.default_rng(0)
    n = 200 if uneven else 600  # the slow filter parts uneven rows one by one
    y, u = (column[:n] for column in logs["R1"][1:])
    y = np.where(rng.random(n) < 0.1, np.nan, y)
    record = LoopRecord(y, u, 1.0, as_they_come(n, rng) if uneven else None)
    parameters, sense = draw(50, rng), np.where(rng.random(50) < 0.3, -1.0, 1.0)
    together = log_likelihoods(structure, [record], parameters, sense, threads=2)
    slow = [filtered(structure, record, *one).log_likelihood for one in zip(parameters, sense, strict=True)]
    assert together == pytest.approx(np.array(slow), rel=1e-9)
    alone = [log_likelihoods(structure, [record], *one)[0] for one in zip(parameters, sense, strict=True)]
    assert (together == alone).all()


@pytest.mark.parametrize(
    ("structure", "draw", "scaled"), [(TWO_LAGS, drawn, "slope"), (OSCILLATING, oscillating, "gain")]
)
def test_the_unit_of_the_output_does_not_matter(logs, structure, draw, scaled):
    """In thousandths of it each counted row has the density of a number a thousand times as small."""
    _, y, u = logs["R1"]
    rng, unit, names = np.random.default_rng(2), 1e-3, structure.parameters
    parameters = draw(20, rng)
    other = parameters.copy()
    other[:, [names.index(scaled), names.index("noise")]] *= unit
    one = log_likelihoods(structure, [LoopRecord(y, u, 1.0)], parameters)
    small = log_likelihoods(structure, [LoopRecord(unit * y, u, 1.0)], other, spans=(100.0 * unit, 100.0))
    assert small - one == pytest.approx(np.full(20, -597 * np.log(unit)), rel=1e-6)


def test_records_are_counted_one_by_one(logs):
    """A short one beside a long one counts what it counts alone."""
    (_, y, u), (_, other, given) = logs["R1"], logs["R3"]
    records = [LoopRecord(y, u, 1.0), LoopRecord(other[:211], given[:211], 1.0)]
    parameters = drawn(20, np.random.default_rng(1))
    each = each_log_likelihood(TWO_LAGS, records, parameters)
    for record, found in zip(records, each, strict=True):
        assert found == pytest.approx(log_likelihoods(TWO_LAGS, [record], parameters), rel=1e-12)
    assert log_likelihoods(TWO_LAGS, records, parameters) == pytest.approx(each.sum(axis=0), rel=1e-15)


def two_lags_matrix(slope, decay, lag):
    return [[-1.0 / lag, 0.0, 1.0 / lag], [slope, -decay, 0.0], [0.0, 0.0, 0.0]]


def oscillating_matrix(gain, damping, period):
    return [[-2.0 * damping / period, -1.0 / period**2, gain / period**2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("structure", "matrix", "values"),
    [
        (TWO_LAGS, two_lags_matrix, (0.3, 0.2, 1.5)), (TWO_LAGS, two_lags_matrix, (0.3, 0.0, 1.5)),
        (TWO_LAGS, two_lags_matrix, (0.3, -0.05, 40.0)), (OSCILLATING, oscillating_matrix, (2.0, 0.1, 1.5)),
        (OSCILLATING, oscillating_matrix, (0.5, 0.999, 7.0)),
    ],
)  # fmt: skip
def test_exact_steps_are_matrix_exponentials(structure, matrix, values):
    for h in (0.0, 0.01, 2.0, 30.0):
        step, exact = ExactStep.of(structure, np.array([values]), h), expm(h * np.array(matrix(*values)))
        assert step.states[0] == pytest.approx(exact[:2, :2], rel=1e-9, abs=1e-12)
        assert step.input[0] == pytest.approx(exact[:2, 2], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("decay", [0.0, 1e-13, 2.0 / 3.0, 2.0 / 3.0 * (1.0 + 1e-9)])
def test_the_step_has_no_seams(decay):
    """An integrator and two equal lags are the limits of their neighbours."""
    near = [ExactStep.of(TWO_LAGS, np.array([[0.3, d, 1.5]]), 2.0) for d in (decay, decay + 1e-5)]
    assert near[0].states == pytest.approx(near[1].states, rel=1e-4)
    assert near[0].input == pytest.approx(near[1].input, rel=1e-4)


def test_a_curve_that_fades_is_a_line():
    u = np.array([-30.0, -1.0, 0.0, 2.0, 40.0])
    assert curved(u, 0.0).tolist() == u.tolist()
    assert curved(u, 1e-9) == pytest.approx(u, rel=1e-7)
    assert curved(u, 0.02) == pytest.approx((np.exp(0.02 * u) - 1.0) / 0.02, rel=1e-12)
    assert bent(np.array([9.0, 16.0, 25.0])).tolist() == [9.0, 16.0, 24.0]


def test_a_load_that_steps_is_found_by_all_rows_together(logs):
    """The known step of two per cent in R1, within three standard deviations away from it, and between before."""
    _, y, u = logs["R1"]
    state, covariance = smoothed(filtered(TWO_LAGS, AboutForty(y, u, 1.0), of(LOOPS["R1"])))
    load = state[:, 2] + state[:, 3]
    deviation = np.sqrt(covariance[:, 2, 2] + covariance[:, 3, 3] + 2.0 * covariance[:, 2, 3])
    known = np.where(np.arange(len(y)) >= 350, -2.0, 0.0)
    away = np.abs(np.arange(len(y)) - 350) > 30
    inside = np.abs(load - known)[away] < 3.0 * deviation[away]
    assert inside.mean() > 0.97


@pytest.mark.parametrize(
    ("output", "given", "step", "message"),
    [
        ([1.0, 2.0], [1.0], 1.0, "columns of equal length"),
        ([1.0, 2.0], [1.0, np.nan], 1.0, "input must be finite in all rows, row 1 is not"),
        ([np.nan, np.nan], [1.0, 1.0], 1.0, "no row has a measured output"),
        ([1.0, 2.0], [1.0, 1.0], 0.0, "a positive time apart, got 0.0 s"),
    ],
)
def test_records_that_are_none(output, given, step, message):
    with pytest.raises(ValueError, match=message):
        LoopRecord(np.array(output), np.array(given), step)


def test_records_of_different_steps_and_wrong_parameters_are_refused():
    column = np.arange(5.0)
    with pytest.raises(ValueError, match="one distance between rows"):
        log_likelihoods(TWO_LAGS, [LoopRecord(column, column, 1.0), LoopRecord(column, column, 0.5)], np.ones((1, 9)))
    with pytest.raises(ValueError, match="must have 9 columns"):
        log_likelihoods(TWO_LAGS, [LoopRecord(column, column, 1.0)], np.ones((1, 8)))


@pytest.mark.parametrize("structure", [TWO_LAGS, OSCILLATING])
def test_a_plant_that_passes_nothing_on_has_a_likelihood_too(logs, structure):
    _, y, u = logs["R1"]
    values = {"decay": 0.02, "lag": 3.0, "damping": 0.5, "period": 9.0, "dead_time": 2.0, "load_time": 5.0}
    values |= {"slope": 0.0, "gain": 0.0, "noise": 0.2, "load": 0.1, "walk": 0.05, "curve": 0.0}
    parameters = np.array([values[name] for name in structure.parameters])
    record = LoopRecord(y, u, 1.0)
    expected = filtered(structure, record, parameters).log_likelihood
    assert log_likelihoods(structure, [record], parameters)[0] == pytest.approx(expected, rel=1e-9)


def test_even_rows_are_uneven_ones_too(logs):
    """Row numbers as times: every piece but one has no length, or the part that the dead time leaves."""
    _, y, u = logs["R2"]
    parameters = drawn(20, np.random.default_rng(3))
    even, uneven = LoopRecord(y, u, 1.0), LoopRecord(y, u, 1.0, 7.0 + np.arange(600.0))
    assert log_likelihoods(TWO_LAGS, [uneven], parameters) == pytest.approx(
        log_likelihoods(TWO_LAGS, [even], parameters), rel=1e-9
    )
    both = log_likelihoods(TWO_LAGS, [even, uneven], parameters)
    assert both == pytest.approx(2.0 * log_likelihoods(TWO_LAGS, [even], parameters), rel=1e-9)


def test_a_row_has_as_many_pieces_as_changes_may_fall_into_it():
    u = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 4.0])
    record = LoopRecord(np.zeros(6), u, 1.0, np.array([0.0, 1.0, 2.0, 2.5, 3.0, 6.0]))
    assert record.changes.tolist() == [0, 2, 3, 5]
    assert most_pieces(record) == 4  # three seconds: the first change with two more, or three in a row
    assert record.duration == 7.0
    steps = LoopRecord(np.zeros(6), np.ones(6), 1.0, np.arange(6.0))
    assert most_pieces(steps) == 2


@pytest.mark.parametrize("times", [[0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, 1.0, np.nan]])
def test_times_increase(times):
    with pytest.raises(ValueError, match="times must be 3 finite numbers that increase"):
        LoopRecord(np.zeros(3), np.zeros(3), 1.0, np.array(times))


def test_of_a_record_of_three_rows_none_counts(logs):
    _, y, u = logs["R1"]
    parameters, long = drawn(5, np.random.default_rng(3)), LoopRecord(y, u, 1.0)
    short = LoopRecord(y[:3], u[:3], 1.0)
    assert filtered(TWO_LAGS, short, parameters[0]).log_likelihood == 0.0
    assert (log_likelihoods(TWO_LAGS, [short], parameters) == 0.0).all()
    both = log_likelihoods(TWO_LAGS, [short, long], parameters)
    assert (both == log_likelihoods(TWO_LAGS, [long], parameters)).all()


def test_records_with_irregular_rows_need_no_common_distance(logs):
    _, y, u = logs["R1"]
    times = as_they_come(50, np.random.default_rng(1))
    several = [LoopRecord(y[:50], u[:50], step, step * times) for step in (1.0, 1.01)]
    parameters = drawn(5, np.random.default_rng(3))
    alone = [log_likelihoods(TWO_LAGS, [one], parameters) for one in several]
    assert (log_likelihoods(TWO_LAGS, several, parameters) == alone[0] + alone[1]).all()
