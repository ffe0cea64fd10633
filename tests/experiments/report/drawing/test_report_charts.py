"""Drawings and written numbers of the run report: nothing is lost on the way to paper."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from experiments.report.drawing.axes import ChartAxis, keep_extremes, path, ticks
from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.heat_map import Surface, heat_map
from experiments.report.drawing.html import Html, element
from experiments.report.drawing.interval_chart import IntervalRow, Mark, interval_chart
from experiments.report.drawing.numbers import bracketed, interval, number, percent
from experiments.report.records.results import Estimate


def parse(drawing):
    return ET.fromstring(drawing)


@given(
    values=hnp.arrays(float, st.integers(1, 400), elements=st.floats(allow_infinity=True)), limit=st.integers(10, 200)
)
def test_decimation_keeps_extremes(values, limit):
    picks = keep_extremes(values, limit)
    assert len(picks) <= max(limit, 2)
    assert np.all(np.diff(picks) > 0)
    assert (picks[0], picks[-1]) == (0, len(values) - 1)
    finite = values[np.isfinite(values)]
    if finite.size:
        kept = values[picks][np.isfinite(values[picks])]
        assert (kept.min(), kept.max()) == (finite.min(), finite.max())
    if finite.size < len(values):
        assert not np.isfinite(values[picks]).all()  # a gap stays a gap


def test_decimation_keeps_every_spike():
    values = np.zeros(10_000)
    spikes = np.arange(20, 10_000, 50)  # 200 spikes, never two in one of the 299 buckets of 33 samples
    values[spikes] = np.linspace(-1.0, 1.0, len(spikes))
    picks = keep_extremes(values, 600)
    assert set(spikes) <= set(picks)


def test_of_equal_samples_the_first_of_a_bucket_is_kept():
    assert keep_extremes(np.zeros(100), 22).tolist() == [*range(0, 100, 10), 99]  # ten buckets of ten, and the end


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(-500, 1500)), min_size=2, max_size=60))
def test_paths_read_back(points):
    # What the page's script does: start, then relative steps.
    x, y = np.array(points, dtype=float).T
    steps = [int(n) for n in re.findall(r"-?\d+", path(x, y))]
    if "h1" in path(x, y):
        steps = steps[:2]
    back = np.cumsum(np.array(steps).reshape(-1, 2), axis=0)
    assert back[0].tolist() == list(points[0])
    assert back[-1].tolist() == list(points[-1])
    assert (back[:, 0].min(), back[:, 0].max()) == (x.min(), x.max())
    assert (back[:, 1].min(), back[:, 1].max()) == (y.min(), y.max())


def test_gaps_break_a_path():
    y = np.array([1.0, np.nan, 3.0, 4.0, np.inf, np.nan])
    assert path(np.arange(6.0), y) == "M0 1h1M2 3l1 1"


def test_limits_and_axes_of_a_line_chart():
    x = np.linspace(0.0, 1.0, 50)
    drawing = line_chart(LineChart("u", (Curve(x, 30.0 * x, "a"),), "N", limits=(-20.0, 20.0)))
    root = parse(drawing)
    assert len(root.findall(".//path[@class='limit']")) == 2
    texts = [t.text for t in root.iter("text")]
    assert {"u [N]", "t [s]", "0", "20", "−20"} <= set(texts)


@given(low=st.floats(-1e6, 1e6), span=st.floats(1e-3, 1e6))
def test_ticks_lie_inside_and_are_few(low, span):
    found = ticks(low, low + span, 4)
    assert 2 <= len(found) <= 12
    slack = 1e-6 * (span + abs(low) * 1e-6)
    assert all(low - slack <= t <= low + span + slack for t in found)


def test_curves_that_may_leave_the_chart_do_not_set_its_range():
    x = np.linspace(0.0, 1.0, 50)
    curves = (Curve(x, np.full(50, 2.0), "near"), Curve(x, 1e6 * x, "far", sets_range=False))
    plot = parse(line_chart(LineChart("y", curves))).find(".//svg[@class='plot']")
    low, high = map(float, plot.get("data-y").split())
    assert low < 2.0 < high < 10.0


def test_marks_beyond_an_interval_chart_stand_at_its_edge():
    near, far = Mark(-0.1, "near"), Mark(40.0, "far", sets_range=False)
    drawing = interval_chart(
        (IntervalRow("one", (near,)), IntervalRow("other", (far,))), "changes", zero=0.0, as_percent=True
    )
    root = parse(drawing)
    assert len(root.findall(".//circle")) == 1
    (triangle,) = root.findall(".//path[@class='dot']")
    assert triangle.find("title").text == "far"
    assert 0.0 < float(triangle.get("d")[1:].split()[0]) < 460.0


@given(low=st.floats(-5.0, 5.0).map(lambda x: round(x, 6)), span=st.floats(1e-3, 10.0))
def test_named_ticks_of_interval_charts_do_not_overlap(low, span):
    rows = (IntervalRow("one", (Mark(low, "a"), Mark(low + span, "b")), "note"),)
    ticks_ = [t for t in parse(interval_chart(rows, "x")).iter("text") if t.get("class") == "tick mid"]
    places = [(float(t.get("x")), 5.5 * len(t.text)) for t in ticks_]  # a letter of 11 px is hardly wider than 5.5 px
    assert places
    assert all(b - a >= 0.5 * (wa + wb) for (a, wa), (b, wb) in pairwise(places))


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1.0, 100.0, ["1", "2", "5", "10", "20", "50", "100"]),
        (1.9, 3.1, ["2", "2.25", "2.5", "2.75", "3"]),
        (0.5, 1e4, ["1", "10", "100", "1000", "10000"]),
    ],
)
def test_a_logarithmic_axis_has_more_than_two_ticks(low, high, labels):
    assert [label for _, label in ChartAxis(low, high, 200.0, log=True).ticks()] == labels


def test_axis_places_ends():
    axis = ChartAxis(1.0, 100.0, 200.0, log=True, downwards=True)
    np.testing.assert_allclose(axis.place(np.array([1.0, 10.0, 100.0])), [2000.0, 1000.0, 0.0], atol=1e-9)
    assert np.isnan(axis.place(np.array([0.0, -1.0, np.nan]))).all()


def test_a_constant_surface_is_drawn():
    surface = Surface("kp", "e", "e_rate", np.arange(3.0), np.arange(2.0), np.full((2, 3), 4.0))
    texts = [t.text for t in parse(heat_map(surface)).iter("text")]
    assert "4" in texts


def test_the_taught_range_is_framed():
    surface = Surface("kp", "e", "e_rate", np.arange(5.0), np.arange(5.0), np.eye(5), taught=(1.0, 3.0, 1.0, 2.0))
    (frame,) = parse(heat_map(surface)).findall("rect[@class='taught']")
    # Cells are one wide and the axes go half a cell beyond the ends: 240 px for 5 cells.
    assert float(frame.get("width")) == pytest.approx(2 * 240 / 5, abs=0.2)
    assert float(frame.get("height")) == pytest.approx(240 / 5, abs=0.2)


def test_heat_map_colours_follow_the_values():
    x = np.linspace(0.0, 1.0, 12)
    surface = Surface("kp", "e", "e_rate", x, np.arange(2.0), np.tile(x, (2, 1)))
    cells = parse(heat_map(surface)).findall("svg[@class='cells']/path")
    starts = [int(c.get("d").split()[0][1:]) for c in cells]
    colours = [int(c.get("class")[1:]) for c in cells]
    assert starts == sorted(starts)
    assert colours == sorted(colours)
    assert (colours[0], colours[-1]) == (0, 11)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (4.8341, "4.834"),
        (-0.118206, "−0.1182"),
        (63.25468, "63.25"),
        (12345.6, "12346"),
        (1.23e-7, "1.23·10⁻⁷"),
        (2e9, "2·10⁹"),
        (0.0, "0"),
        (float("inf"), "∞"),
        (float("nan"), "not available"),
        (None, "not available"),
    ],
)
def test_numbers_as_written(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("change", "written"), [(-0.312, "−31.2\u00a0%"), (0.004, "+0.4\u00a0%"), (0.0, "0\u00a0%"), (13.1, "14.1\u00a0×")]
)
def test_changes_as_written(change, written):
    assert percent(change) == written


def test_narrow_intervals_get_a_digit_more():
    estimate = Estimate(-0.1159, -0.1164, -0.1155)
    assert bracketed(estimate).replace("\u00a0", " ") == "−11.6 % [−11.64 … −11.55]"
    assert bracketed(Estimate(-0.15, -0.2, -0.1)).replace("\u00a0", " ") == "−15.0 % [−20.0 … −10.0]"
    assert interval(estimate).endswith("−11.64 … −11.55\u00a0%")
    assert bracketed(Estimate(0.5)) == "+50.0\u00a0%"


@given(st.text())
def test_any_text_is_one_text_node(value):
    root = parse(element("p", value, title=value))
    cleaned = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", value)
    assert (root.text or "").replace("\r", "\n") == cleaned.replace("\r\n", "\n").replace("\r", "\n")
    assert list(root) == []
    assert Html(element("b", Html("<i/>"))) == "<b><i/></b>"


def test_labels_of_rows_are_whole():
    label = "knowledge base (rule-based gain schedule), refined in closed loop at equal travel"
    drawn = interval_chart((IntervalRow(label, (Mark(1.0, "x"),)),), "test", axis="cost J")
    rows = re.findall(r'class="row">([^<]*)<', drawn)
    assert " ".join(rows).strip() == label
    assert len(rows) > 2
    assert "…" not in drawn
    assert "cost J →" in drawn


@pytest.mark.parametrize("scale", [1.0, 3e-7, 2e8])
@pytest.mark.parametrize("offset", [0.0, 1.0, 3.14159])
def test_ticks_of_a_chart_are_distinct_and_fit(scale, offset):
    for spread in (1.0, 1e-3, 1e-7):
        y = scale * (offset + spread * np.linspace(0.0, 1.0, 9))
        drawn = line_chart(LineChart("kp", (Curve(np.arange(9.0), y, "x"),), "N/m", x_label=""))
        names = re.findall(r'class="tick end">([^<]*)<', drawn)
        assert len(set(names)) == len(names) > 1
        assert max(map(len, names)) <= 7
        assert re.search(r'class="label">[^<]*kp \[N/m\] over t \[s\]<', drawn)
