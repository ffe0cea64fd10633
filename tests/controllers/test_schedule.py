"""Gain schedules: their values at and between knots and nodes, on floats, arrays and traced numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers import PID, ConstantGains, GainTable, ManualStation, TimeGains, TwoDegreePID, gain_names
from controllers.probes import gains_at
from plants.core.tracing.trace import trace

TIMES = (0.0, 1.0, 2.5)
THETA = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 0.25, 0.125)
ROWS = np.reshape(THETA, (3, 3))
# Interpolation adds differences: the sum at a node may be off by a few roundings of numbers up to 6.
ROUNDING = 1e-14


def gains(schedule, t=0.0, s=(0.0, 0.0), theta=THETA):
    values, k = schedule.gains(t, s, (), theta)
    assert k == ()
    return values


# ----------------------------------------------------------------------------------------------------------- constant


def test_constant_gains_are_theta():
    assert gains(ConstantGains(), theta=(3.0, 2.0, 1.0)) == (3.0, 2.0, 1.0)
    assert ConstantGains().theta_names == ("kp", "ki", "kd")
    assert ConstantGains().tick is None


def test_routed_entries_come_from_plant_outputs():
    law = PID(anti_windup="back_calculation", tracking_time=1.0, external_reset=True)
    both = gain_names((law, law))
    schedule = ConstantGains(both, routed=(("applied_2", "valve"), ("applied_1", "pump")))
    assert schedule.theta_names == ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    assert schedule.signals == ("valve", "pump")
    s = (0.1, 0.2, 0.3, 0.4, 7.0, 8.0)
    assert gains(schedule, s=s, theta=(1, 2, 3, 4, 5, 6)) == (1, 2, 3, 8.0, 4, 5, 6, 7.0)


def test_names_of_several_channels():
    assert gain_names(PID()) == gain_names([PID()]) == ("kp", "ki", "kd")
    assert gain_names((PID(), TwoDegreePID())) == ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2", "b_2")


# --------------------------------------------------------------------------------------------------------------- time


def test_piecewise_gains_change_at_their_knots():
    schedule = TimeGains(TIMES)
    before = np.nextafter(1.0, 0.0) - 1e-6
    for t, row in ((-1.0, 0), (0.0, 0), (before, 0), (1.0, 1), (2.4, 1), (2.5, 2), (99.0, 2)):
        assert gains(schedule, t) == tuple(ROWS[row])


def test_piecewise_knot_is_reached_by_the_sample_that_is_rounded_below_it():
    step, k = 0.1, 3
    assert k * step != 0.3  # 0.30000000000000004
    schedule = TimeGains((0.0, k * step), gain_names=("kp",))
    assert gains(schedule, 0.3, theta=(1.0, 2.0)) == (2.0,)


def test_linear_gains_reproduce_knots_and_are_linear_between():
    schedule = TimeGains(TIMES, kind="linear")
    for t in np.linspace(-1.0, 4.0, 41):
        expected = [np.interp(t, TIMES, ROWS[:, j]) for j in range(3)]
        np.testing.assert_allclose(gains(schedule, float(t)), expected, atol=ROUNDING)


def test_one_knot_is_constant_gains():
    for kind in ("piecewise", "linear"):
        assert gains(TimeGains((0.0,), kind=kind), 5.0, theta=(1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)


def test_time_gains_name_their_parameters_knot_after_knot():
    schedule = TimeGains((0.0, 0.5), gain_names=("kp", "ki"))
    assert schedule.theta_names == ("kp@0", "ki@0", "kp@0.5", "ki@0.5")


def test_timetable_of_a_manual_station():
    station = ManualStation(PID(), ramp=1.0)
    schedule = TimeGains((0.0, 4.0, 6.0), gain_names=gain_names(station))
    automatic, manual = (1.0, 2.0, 3.0, 0.0, 0.0), (1.0, 2.0, 3.0, 1.0, 0.7)
    theta = (*automatic, *manual, *automatic)
    assert gains(schedule, 3.0, theta=theta) == automatic
    assert gains(schedule, 5.0, theta=theta) == manual


# -------------------------------------------------------------------------------------------------------------- table


@given(x=st.floats(-10.0, 10.0))
def test_table_is_linear_between_nodes_and_constant_outside(x):
    nodes = (-2.0, 0.5, 3.0)
    expected = [np.interp(x, nodes, ROWS[:, j]) for j in range(3)]
    np.testing.assert_allclose(gains(GainTable("height", nodes), s=(9.0, 9.0, x)), expected, atol=ROUNDING)


@pytest.mark.parametrize(
    ("signal", "transform", "value"),
    [
        ("error", "identity", -2.0),
        ("error_rate", "identity", 0.5),
        ("error", "magnitude", 2.0),
        ("error_2", "square", 9.0),
        ("error_rate_2", "identity", 4.0),
        ("height", "square", 0.25),
    ],
)
def test_table_reads_its_signal(signal, transform, value):
    table = GainTable(signal, (-10.0, 10.0), transform=transform, gain_names=("kp",))
    assert table.signals == (("height",) if signal == "height" else ())
    s = (-2.0, 0.5, -3.0, 4.0) + ((0.5,) if signal == "height" else ())
    assert gains(table, s=s, theta=(-10.0, 10.0)) == pytest.approx((value,), abs=ROUNDING)


def test_an_output_whose_name_ends_in_a_number_is_an_output():
    for name in ("x_2", "errors", "error_0", "tank_error_rate"):
        assert GainTable(name, (0.0, 1.0)).signals == (name,)


def test_searched_scale_stretches_the_nodes():
    table = GainTable("q", (0.0, 1.0), transform="square", search_scale=True)
    assert len(table.theta_names) == 7
    theta = (1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 4.0)
    for q, share in ((0.0, 0.0), (1.0, 0.25), (2.0, 1.0), (9.0, 1.0)):
        expected = (1.0 + 4.0 * share, 2.0 + 4.0 * share, 3.0 + 4.0 * share)
        assert gains(table, s=(0.0, 0.0, q), theta=theta) == pytest.approx(expected, abs=ROUNDING)


# ----------------------------------------------------------------------------------- what margins see of the schedules


def seen(table, theta, near=None):
    """Signals [n, n_places] of a table's probes, and its gains there [n, n_places, n_gains]."""
    rows = np.atleast_2d(theta)
    probes = table.probes(rows, near or {}, 16)
    place = {"error": 0, "error_rate_2": 3}.get(table.signal, -1)
    return probes.signals[place], gains_at(table, rows, probes)


@pytest.mark.parametrize("transform", ["identity", "magnitude", "square"])
@pytest.mark.parametrize("signal", ["error", "error_rate_2", "height"])
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("near", [(-np.inf, np.inf), (-0.6, 0.25), (0.1, np.inf)])
def test_all_gains_of_a_table_near_a_point_are_between_those_that_are_seen(transform, signal, scale, near):
    """Every place is near, and between two of them next to each other the gains move along a line, of one gain."""
    nodes = (0.0, 0.7, 1.0, 2.0) if transform != "identity" else (-1.0, -0.4, 0.5, 2.0)
    names = ("kp", "ki")
    rows = np.random.default_rng(2).uniform(1.0, 9.0, (4, 2))
    table = GainTable(signal, nodes, transform=transform, search_scale=scale is not None, gain_names=names)
    theta = np.append(rows.ravel(), [] if scale is None else [scale])
    places, found = seen(table, theta, {"height": near})
    if signal != "height":
        near = (-np.inf, np.inf)  # errors come to any value
    assert near[0] <= places.min() < places.max() <= near[1]
    x = np.linspace(max(near[0], -3.0), min(near[1], 3.0), 500)
    s = [np.zeros(500)] * 5
    s[{"error": 0, "error_rate_2": 3}.get(signal, 4)] = x
    given = np.stack(gains(table, s=tuple(s[:4] if signal != "height" else s), theta=tuple(theta)), axis=1)
    assert np.ptp(given, axis=0).min() > 0.5
    corners = found[0]
    for row in given:  # on one of the lines between two that are seen
        ahead = corners[None] - corners[:, None]
        length = np.maximum((ahead**2).sum(axis=-1), 1e-30)
        along = np.clip(((row - corners[:, None]) * ahead).sum(axis=-1) / length, 0.0, 1.0)
        beside = np.abs(corners[:, None] + along[..., None] * ahead - row).max(axis=-1)
        assert beside.min() < 1e-9


def test_a_table_is_seen_at_its_nodes_and_between():
    """Stabilising gains are no convex set."""
    places, found = seen(GainTable("error", (0.0, 1.0, 3.0)), THETA)
    assert {0.0, 0.5, 1.0, 2.0, 3.0} < set(places[0].tolist())
    np.testing.assert_allclose(found[0][np.isin(places[0], (0.0, 1.0, 3.0))], ROWS, atol=ROUNDING)


def test_candidates_of_a_search_stretch_the_places_with_their_nodes():
    table = GainTable("height", (0.0, 1.0), transform="square", search_scale=True)
    theta = np.array([[1.0, 2.0, 3.0, 5.0, 6.0, 7.0, scale] for scale in (4.0, 0.25)])
    places, found = seen(table, theta)
    assert places.max(axis=1).tolist() == [2.0, 0.5]
    assert places.min(axis=1).tolist() == [-2.0, -0.5]
    np.testing.assert_allclose(found[0], found[1], atol=ROUNDING)


@pytest.mark.parametrize(("signal", "expected"), [("height", [1.5, 9.0]), ("error", [1.0, 1.0])])
def test_a_table_at_rest(signal, expected):
    """Without an error; of an output, that of the point."""
    table = GainTable(signal, (0.0, 1.0), gain_names=("kp",))
    outputs = [np.array([[0.0625, 3.0]])] if signal == "height" else []
    theta = np.array([[1.0, 9.0]])
    found = gains_at(table, theta, table.at_rest(theta, outputs))[0, :, 0]
    np.testing.assert_array_equal(found, expected if signal == "height" else expected[:1])
    assert table.settled is table


@pytest.mark.parametrize("schedule", [ConstantGains(), ConstantGains(routed=(("kd", "valve"),)), TimeGains(TIMES)])
def test_gains_that_no_signal_moves_are_not_passed_through(schedule):
    assert schedule.probes(np.zeros((1, len(schedule.theta_names))), {}, 16) is None


# --------------------------------------------------------------------------------------- arrays, traced numbers, errors

SCHEDULES = {
    "constant": ConstantGains(),
    "piecewise": TimeGains(TIMES),
    "linear": TimeGains(TIMES, kind="linear"),
    "table": GainTable("height", (-1.0, 0.0, 1.0)),
    "scaled table": GainTable("error", (0.0, 0.5, 1.0), transform="square", search_scale=True),
}


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_arrays_floats_and_traced_numbers_give_the_same_gains(schedule):
    rng = np.random.default_rng(5)
    n = 32
    names = ("e", "e_rate", *schedule.signals)
    t, s = rng.uniform(-1.0, 4.0, n), tuple(rng.uniform(-2.0, 2.0, n) for _ in names)
    theta = tuple(rng.uniform(0.5, 9.0, n) for _ in schedule.theta_names)
    values = gains(schedule, t, s, theta)
    program = trace(schedule.gains, "t", names, (), schedule.theta_names)
    for lane in range(n):
        one = (float(t[lane]), tuple(float(x[lane]) for x in s), tuple(float(x[lane]) for x in theta))
        alone = gains(schedule, *one)
        assert tuple(x[lane] for x in values) == alone
        assert program(one[0], *one[1], *one[2]) == alone
    assert schedule.initial() == ()
    assert schedule.n_states == 0


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda: TimeGains(()), ValueError, "at least one entry"),
        (lambda: TimeGains((0.0, 0.0)), ValueError, "increase strictly"),
        (lambda: TimeGains((0.0, 1.0), kind="linaer"), ValueError, "did you mean 'linear'"),
        (lambda: TimeGains((0.0,), tick=-1.0), ValueError, "tick must be positive"),
        (lambda: ConstantGains("kp"), TypeError, r'write \("kp",\)'),
        (lambda: ConstantGains(("kp", "kp")), ValueError, "different names"),
        (lambda: ConstantGains(routed=(("aplied", "valve"),)), ValueError, "gain to route"),
        (lambda: GainTable("error", (1.0, 0.0)), ValueError, "nodes must increase"),
        (lambda: GainTable("error", (0.0, 1.0), transform="abs"), ValueError, "known: identity, magnitude, square"),
    ],
)
def test_schedules_are_checked(build, error, says):
    with pytest.raises(error, match=says):
        build()
